"""Programs whose posteriors count on a study's population: factor, notes, certificate, refusals."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bayesdp import kernel
from bayesdp.errors import UnsupportedError
from bayesdp.programs.dependence import COUNTED, IGNORED
from bayesdp.release.price.plan import make_plan
from tests.release.program_studies import PEOPLE, POPULATION, asks, study

DECLARED = PEOPLE.replace(
    "prior=normal(170, sd=20))", 'prior=normal(170, sd=20), dependence="declared")'
)
GAUSSIAN = {"model": "gaussian", "size": 2, "max_correlation": 0.44, "covers": ["height"]}
SERIES = {"model": "autoregressive", "coefficient": 0.5, "length": 3, "covers": ["height"]}
BY_TIME = {"home": None}


def sd_of(folder: Path, text: str, population: dict[str, Any] | None, **more: Any) -> Any:
    """The constants in the likelihood of the planned program, multiplied."""
    made = study(folder, asks("height"), text=text, population=population, **more)
    (program,) = make_plan(made.spec).programs
    (derive,) = (c for c in program.core.body if hasattr(c, "value"))
    expr = derive.value.args[-1].args[1].args[0]
    number = Fraction(1)
    for part in expr.walk():
        if part.op == "const":
            factor = part.data[0]
            assert isinstance(factor, Fraction)
            number *= factor
    return number


def test_the_factor_is_the_populations(tmp_path: Path) -> None:
    assert sd_of(tmp_path, PEOPLE, POPULATION) == 8
    assert sd_of(tmp_path, DECLARED, POPULATION) == 8 * Fraction(1_414_213_563, 10**9)
    assert sd_of(tmp_path, DECLARED, GAUSSIAN) == pytest.approx(8 * 1.2, rel=1e-8)
    independent = {"model": "independent", "covers": ["height"]}
    assert sd_of(tmp_path, DECLARED, independent) == 8


def test_a_release_says_what_its_posterior_makes_of_dependence(tmp_path: Path) -> None:
    spreads = {}
    for text, note in ((PEOPLE, IGNORED), (DECLARED, COUNTED)):
        folder = tmp_path / note[:12]
        folder.mkdir()
        made = study(folder, asks("height"), text=text)
        checked = make_plan(made.spec).programs[0]
        assert note.removesuffix(".") in checked.notes
        result = made.release()
        posterior = result["height"].value
        assert posterior.notes[-1] == note
        assert note in result["height"].to_dict()["outputs"][0]["notes"]
        certificate = result.certificate
        assert kernel.check(certificate.to_dict())
        spreads[note] = posterior.sd
    assert set(spreads) == {IGNORED, COUNTED}


def test_independent_records_have_no_note(tmp_path: Path) -> None:
    for population, budget in (
        ({"model": "independent", "covers": ["height"]}, {"epsilon": 4.0}),
        (None, {"notion": "dp", "epsilon": 4.0}),
    ):
        folder = tmp_path / str(len(budget))
        folder.mkdir()
        result = study(folder, asks("height"), population=population, budget=budget).release()
        assert not {IGNORED, COUNTED} & set(result["height"].value.notes)


def test_numbers_alone_have_no_note(tmp_path: Path) -> None:
    made = study(tmp_path, asks("northern"))
    (program,) = make_plan(made.spec).programs
    assert program.remark == ()
    summed = PEOPLE.replace(
        "-> Private[Normal]", "-> Private[Real]"
    ).replace(
        "return noise_aware(laplace(statistics(model), epsilon=1 / 2))",
        "return noise_aware(laplace(statistics(model), epsilon=1 / 2)).mean",
    )  # fmt: skip
    (program,) = make_plan(study(tmp_path, asks("height"), text=summed).spec).programs
    assert program.remark == (IGNORED,)


@pytest.mark.parametrize("population", [None, {"model": "unknown", "records": 8}])
def test_a_population_that_bounds_no_correlation_is_refused(
    tmp_path: Path, population: dict[str, Any] | None
) -> None:
    budget = {"notion": "dp", "epsilon": 4.0} if population is None else {"epsilon": 40.0}
    covers = {} if population is None else {"covers": ["height", "smokes"]}
    made = study(
        tmp_path, asks("height"), text=DECLARED, budget=budget,
        population=population and {**population, **covers},
    )  # fmt: skip
    with pytest.raises(
        UnsupportedError, match=r"query\[0\]\.program.*one that bounds correlations"
    ):
        made.check()
    assert not (tmp_path / "ledger.db").exists()


def test_the_cost_is_that_of_the_program_alone(tmp_path: Path) -> None:
    plans = [
        make_plan(study(tmp_path, asks("height"), text=text, population=GAUSSIAN).spec)
        for text in (PEOPLE, DECLARED)
    ]
    first, second = (plan.programs[0] for plan in plans)
    assert first.dp_epsilon == second.dp_epsilon == 0.5
    assert first.kind == second.kind
    assert plans[0].level == plans[1].level
