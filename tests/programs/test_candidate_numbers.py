"""How many candidates there are: nothing stops a run that has been paid for."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesdp.errors import InputError
from bayesdp.programs.check.candidates import MOST_CANDIDATES
from bayesdp.programs.check.checker import ProgramVerdict, check
from bayesdp.programs.run import run
from bayesdp.programs.source import ProgramError, core_of, read_text
from tests.programs.run.helpers import IMPORTS, Noted

NUMBER = "exponential(score=lambda t: t * sum(r.x for r in db), candidates={}, epsilon=1)"
LAW = "exponential(score=hellinger(infer(observe((r.b for r in db), bernoulli, prior=beta(1, 1)))), candidates={}, epsilon=1)"  # noqa: E501
ANSWER = "per_record_exponential((r.x for r in db), score=lambda x, c: -abs(x - c), candidates={}, epsilon=1)"  # noqa: E501
SAMPLE = "posterior_sample(observe((r.b for r in db), bernoulli, prior=beta(1, 1)), grid={}, log_likelihood=(-3, 0), power=0.1)"  # noqa: E501
RELEASED = "k = laplace(count(r for r in db if r.b), epsilon=1)\n    "

ROW = """
@record
class Row:
    x: Real[0, 1]
    b: Bool
    z: Public[Bool]
"""


def text(release: str, candidates: str, before: str = "") -> str:
    kind = "Beta" if "hellinger" in release else "Real"
    returned = f"return {release.format(candidates)}"
    if release is ANSWER:
        returned = f"a = {release.format(candidates)}\n    return 1"
    head = f"{IMPORTS}{ROW}\n@program\ndef f(db: Database[Row]) -> Private[{kind}]:\n"
    return f"{head}    {before}{returned}\n"


def verdict(
    release: str, candidates: str, before: str = "", n: int | None = None
) -> ProgramVerdict:
    try:
        return check(core_of(read_text(text(release, candidates, before), "t.py"), None, {}), n)
    except ProgramError as error:
        actual = error.diagnostic
        return ProgramVerdict(
            "REJECTED", code=actual.code, reason=actual.message, accepted=actual.accepted
        )


FEW = {
    "no posteriors": (LAW, "posteriors_of(beta(1, 1), n=db.size - 5)", ""),
    "fewer than none": (LAW, "posteriors_of(beta(1, 1), n=-1)", ""),
    "no prior": (LAW, "posteriors_of(beta(k, 1), n=3)", RELEASED),
    "a short grid": (NUMBER, "linspace(0, 1, db.size - 3)", ""),
    "one point": (NUMBER, "linspace(0, 1, db.size)", ""),
    "a public count": (NUMBER, "linspace(0, 1, count(r for r in db if r.z))", ""),
    "an empty range": (NUMBER, "range(5, 5)", ""),
    "a range that goes the other way": (NUMBER, "range(5, 1)", ""),
    "an axis without a point": (LAW, "grid_of(beta, a=range(1, 1), b=range(1, 3))", ""),
    "an axis without a parameter": (LAW, "grid_of(beta, a=range(-5, 1), b=range(1, 3))", ""),
    "an axis that ends anywhere": (LAW, "grid_of(beta, a=linspace(k, k, 3), b=(1, 2))", RELEASED),
    "noise below": (NUMBER, "linspace(0, 1, min(k, 10))", RELEASED),
    "noise below a size": (LAW, "posteriors_of(beta(1, 1), n=min(k, 10))", RELEASED),
    "answers": (ANSWER, "linspace(0, 1, db.size)", ""),
    "samples": (SAMPLE, "linspace(0, 1, db.size)", ""),
}
MANY = {
    "posteriors": (LAW, f"posteriors_of(beta(1, 1), n={10**10})", ""),
    "one too many": (LAW, f"posteriors_of(beta(1, 1), n={MOST_CANDIDATES})", ""),
    "a grid": (NUMBER, f"linspace(0, 1, {10**10})", ""),
    "a range": (NUMBER, f"range(0, {10**11})", ""),
    "a range by twos": (NUMBER, f"range(0, {2 * MOST_CANDIDATES + 2}, 2)", ""),
    "two axes": (LAW, "grid_of(beta, a=linspace(1, 2, 2000), b=linspace(1, 2, 2000))", ""),
    "noise above": (NUMBER, "linspace(0, 1, max(k, 2))", RELEASED),
    "noise above a size": (LAW, "posteriors_of(beta(1, 1), n=max(k, 2))", RELEASED),
    "too wide a clip": (NUMBER, f"linspace(0, 1, clip(k, 2, {10**9}))", RELEASED),
    "noise on one axis, the size on the other": (
        LAW,
        "grid_of(beta, a=linspace(1, 2, clip(k, 2, 9)), b=linspace(1, 2, db.size + 1))",
        RELEASED,
    ),
    "answers": (ANSWER, f"range(0, {10**11})", ""),
    "samples": (SAMPLE, f"linspace(0, 1, {10**11})", ""),
}


@pytest.mark.parametrize("name", FEW)
def test_there_may_be_too_few(name: str) -> None:
    actual = verdict(*FEW[name])
    assert actual.verdict == "REJECTED", actual
    assert actual.code in ("arguments", "prior", "size")
    assert actual.accepted or "whole number" in actual.reason


@pytest.mark.parametrize("name", MANY)
def test_there_may_be_too_many(name: str) -> None:
    actual = verdict(*MANY[name])
    assert (actual.verdict, actual.code) == ("REJECTED", "size"), actual


@pytest.mark.parametrize(
    "candidates",
    [
        "linspace(0, 1, k / 2)",
        "linspace(0, 1, v[0])",
        "linspace(0, 1, clip(k, 2.5, 10))",
        "linspace(0, 1, 2.5)",
    ],
)
def test_a_number_of_points_is_whole(candidates: str) -> None:
    """Noise on a vector has one step for all entries, so counts beside a real sum aren't whole."""
    both = "v = laplace((count(r for r in db if r.b), sum(r.x for r in db)), epsilon=1)\n    "
    actual = verdict(NUMBER, candidates, RELEASED + both)
    assert actual.verdict == "REJECTED"
    assert "whole number" in actual.reason


ENOUGH = {
    "the size": (LAW, "posteriors_of(beta(1, 1), n=db.size)", ""),
    "a hundred thousand": (LAW, "posteriors_of(beta(1, 1), n=100_000)", ""),
    "a million": (LAW, "posteriors_of(beta(1, 1), n=1_000_000)", ""),
    "held by max": (NUMBER, "linspace(0, 1, max(db.size - 3, 2))", ""),
    "required": (NUMBER, "linspace(0, 1, db.size - 3)", "require(db.size >= 5)\n    "),
    "noise held": (NUMBER, "linspace(0, 1, clip(k, 2, 1000))", RELEASED),
    "noise held, posteriors": (LAW, "posteriors_of(beta(1, 1), n=clip(k, 0, 50))", RELEASED),
    "an axis with some parameters": (LAW, "grid_of(beta, a=range(-5, 2), b=range(1, 3))", ""),
    "one candidate": (NUMBER, "range(5, 6)", ""),
}


@pytest.mark.parametrize("name", ENOUGH)
def test_enough(name: str) -> None:
    actual = verdict(*ENOUGH[name])
    assert actual.verdict == "ACCEPTED", actual


def test_a_size_that_is_known_to_the_checker() -> None:
    grid = "linspace(0, 1, db.size)"
    assert verdict(NUMBER, grid).verdict == "REJECTED"
    assert verdict(NUMBER, grid, n=1).verdict == "REJECTED"
    assert verdict(NUMBER, grid, n=2).verdict == "ACCEPTED"
    assert verdict(NUMBER, grid, n=10**7).code == "size"


TABLE = {"x": [0.5] * 9, "b": [True] * 9, "z": [False] * 9}
SQUARED = "max(db.size * db.size * db.size * db.size * db.size * db.size * db.size, 2)"
AT_RUN = {
    "posteriors": (LAW, f"posteriors_of(beta(1, 1), n={SQUARED})", ""),
    "a grid": (NUMBER, f"linspace(0, 1, {SQUARED})", ""),
    "after a release": (NUMBER, f"linspace(0, 1, {SQUARED})", RELEASED),
    "beside a released value": (
        "exponential(score=lambda t: k * t * sum(r.x for r in db), candidates={}, epsilon=1)",
        f"linspace(0, clip(k, 1, 2), {SQUARED})",
        RELEASED.replace("laplace(", "clip(laplace(").replace("1)\n", "1), 0, 9)\n"),
    ),
    "together": (
        LAW,
        "grid_of(beta, a=linspace(1, 2, db.size * 400 + 2), b=linspace(1, 2, db.size * 400 + 2))",
        "",
    ),
    "beside a range": (
        LAW,
        "grid_of(beta, a=linspace(1, 2, db.size * 20000 + 2), b=range(1, 11))",
        "",
    ),
    "no parameter": (LAW, "grid_of(beta, a=linspace(-1, 5 - db.size, 3), b=(1, 2))", ""),
    "answers": (ANSWER, f"linspace(0, 1, {SQUARED})", ""),
    "samples": (SAMPLE, f"linspace(0, 1, {SQUARED})", ""),
}


@pytest.mark.parametrize("name", AT_RUN)
def test_what_follows_from_the_size_is_refused_before_the_debit(name: str, tmp_path: Path) -> None:
    release, candidates, before = AT_RUN[name]
    core = core_of(read_text(text(release, candidates, before), "t.py"), None, {})
    actual, noted = check(core), Noted()
    assert actual.verdict == "ACCEPTED", actual
    with pytest.raises(InputError, match="candidates"):
        run(core, actual, TABLE, ledger=tmp_path / "l.db", dataset="d", dp_epsilon=9.0,
            samplers=noted)  # fmt: skip
    assert noted.seen == []
    assert not (tmp_path / "l.db").exists()


@pytest.mark.parametrize("shift", [-(10**6), 0, 10**6])
def test_whatever_is_released_the_run_ends(shift: int, tmp_path: Path) -> None:
    for i, name in enumerate(("noise held", "noise held, posteriors")):
        core = core_of(read_text(text(*ENOUGH[name]), "t.py"), None, {})
        run(core, None, TABLE, ledger=tmp_path / f"{i}.db", dataset="d", dp_epsilon=9.0,
            samplers=Noted(shift))  # fmt: skip
