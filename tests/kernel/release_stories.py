"""Forged releases of numbers: what agrees with itself everywhere, and not with what was derived."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from tests.kernel import (
    stories,
    test_forged_collected,
    test_forged_groups,
    test_forged_people,
    test_forged_quantiles,
    test_forged_series,
    test_forged_tables,
    test_own_deltas,
)
from tests.kernel.all_kinds import certificate
from tests.kernel.stories import queries_of
from tests.kernel.test_forgeries import renewed
from tests.kernel.test_keys import plain
from tests.release import test_max_rows, test_mechanism, test_products, test_variance
from tests.release.test_program_certificates import SHARP

Document = dict[str, Any]
Change = Callable[[Document], object]


@cache
def _counting() -> str:
    folder = Path(mkdtemp(prefix="bayesdp-counting-"))
    return json.dumps(plain(test_mechanism.study(folder).release().certificate))


def counting() -> Document:
    """A count over one complete series, whose mechanism the population's theorem is about."""
    document: Document = json.loads(_counting())
    return document


@cache
def _counting_twice() -> str:
    folder = Path(mkdtemp(prefix="bayesdp-counting-"))
    made = test_mechanism.study(folder, budget={"epsilon": 1.0, "spend": 0.5})
    made.release()
    return json.dumps(plain(made.release(again=True).certificate))


def counting_twice() -> Document:
    """The same, after an earlier one of its kind."""
    document: Document = json.loads(_counting_twice())
    return document


def _earlier_block(document: Document) -> None:
    """The earlier count was one of a part of the series, which the theorem is not about."""
    document["data_set"]["earlier_spends"][0]["block"] = {"column": "g", "values": ["a"]}
    document["public_blocks"] = ["g"]


def _finer(document: Document, number: int, place: int, share: int) -> None:
    """The steps of a query's grid are shorter, and so is the noise that its result shows."""
    evidence = queries_of(document)[number]["evidence"]
    length = Fraction(*evidence["step"]) / share
    evidence["step"] = [length.numerator, length.denominator]
    result = document["results"][place]
    result["noise"]["step"] /= share
    result["error"]["value"] /= share


def _narrower(document: Document) -> None:
    """The grid reaches half as far as the column's bounds do."""
    queries_of(document)[1]["evidence"]["grid"]["hi"] = 2.5
    _finer(document, 1, 1, 2)


def _between_steps(document: Document) -> None:
    result = document["results"][0]
    result["error"]["value"] += 0.3 * result["noise"]["step"]


def _longer_step(document: Document) -> None:
    result = document["results"][1]
    steps = round(result["error"]["value"] / result["noise"]["step"])
    result["noise"]["step"] = math.nextafter(result["noise"]["step"], math.inf)
    result["error"]["value"] = steps * result["noise"]["step"]


def _between_values(document: Document) -> None:
    document["results"][1]["value"] += 0.37 * document["results"][1]["noise"]["step"]


def _other_scale(document: Document) -> None:
    scale = document["results"][1]["noise"]["scale"]
    document["results"][1]["noise"]["scale"] = math.nextafter(scale, 0.0)


def _other_noise(document: Document) -> None:
    result = document["results"][0]
    result["noise"]["distribution"] = "discrete-gaussian"
    result["dp_rho"] = result.pop("dp_epsilon")


def _earlier_reads(document: Document) -> None:
    document["data_set"]["earlier_spends"][0]["reads"] = ["wages"]


def _less_slack(document: Document) -> None:
    """Of a Lipschitz query, in its spend and in all sums of spends."""
    for spend in (queries_of(document)[0]["evidence"]["spend"],):
        spend["slack"] *= 0.5
    for step in document["derivation"]["premises"]:
        step["evidence"]["cost"]["slack"] *= 0.5


def _less_slack_of_a_column(document: Document) -> None:
    for step in document["derivation"]["premises"]:
        (cost,) = step["evidence"]["cost"]["by_column"]
        cost["rho_slack"] *= 0.5


def _smaller_budget(document: Document) -> None:
    document["derivation"]["evidence"]["total"] *= 0.1


def _claim(**parts: Any) -> Change:
    return lambda document: document["claim"].update(parts)


def _no_delta(document: Document) -> None:
    """Gaussian noise, of which the pure cost is claimed, and no delta."""
    (approximate,) = document["derivation"]["premises"]
    (composition,) = approximate["premises"]
    document["derivation"]["premises"] = [composition]
    document["derivation"]["evidence"].pop("delta", None)
    level = composition["conclusion"]["epsilon"]
    for holder in (document["claim"], document["derivation"]["conclusion"]):
        holder |= {"epsilon": level, "delta": 0.0}
    document["data_set"] |= {"level": level, "delta": 0.0}


def _premise(change: Change) -> Change:
    return lambda document: change(document["derivation"]["premises"][-1])


def _cost(part: str, share: float) -> Change:
    def change(step: Document) -> None:
        step["evidence"]["cost"][part] *= share

    return change


def _concluded(share: float) -> Change:
    def change(step: Document) -> None:
        step["conclusion"]["epsilon"] *= share

    return change


def _mechanism(document: Document) -> None:
    details = document["derivation"]["premises"][0]["evidence"]["details"]
    details["mechanism"] = "discrete-laplace"


def _last_informed(document: Document) -> None:
    """The level of all spends is against another adversary than the release's own."""
    step = document["derivation"]["premises"][-1]
    level = step["evidence"]["cost"]["any"] + step["evidence"]["cost"]["lipschitz"]
    step["conclusion"] |= {"adversary": "informed", "epsilon": level}
    document["data_set"]["level"] = level


def _own_step_twice(document: Document) -> None:
    (step,) = document["derivation"]["premises"]
    document["derivation"]["premises"].append(copy.deepcopy(step) | {"premises": []})


def _above_the_total(document: Document) -> None:
    level = 2 * document["data_set"]["total"]
    document["data_set"]["level"] = level
    document["derivation"]["premises"][-1]["conclusion"]["epsilon"] = level


def _more_delta(document: Document) -> None:
    """A weaker claim, by more than the study may spend."""
    for holder in (document["claim"], document["derivation"]["conclusion"]):
        holder["delta"] *= 2


def _imputed(document: Document) -> None:
    document["columns"]["s"]["missing"] = {"impute": 0}


def _where(text: str) -> Change:
    def change(document: Document) -> None:
        queries_of(document)[0]["evidence"]["query"]["where"] = text

    return change


def _weighted_by(name: str) -> Change:
    def change(document: Document) -> None:
        queries_of(document)[0]["evidence"]["query"]["weighted_by"] = name

    return change


def _private_rows(document: Document) -> None:
    """A covariance of rows that are chosen by private values, of a spend on all records."""
    test_products.FORGED["private-condition-throughout"][1](document)
    test_products.evidence(document)["spend"]["block"] = None
    document["public_blocks"] = []


def _moments_of_labels(document: Document) -> None:
    """Of a regression on a public column of labels, which has a grid less."""
    stated = test_products.evidence(document)
    stated["query"]["on"] = ["x", "g"]
    stated["grids"].pop(1)
    stated["spend"]["reads"] = ["x", "y"]
    for shown in document["results"]:
        shown["cell"] = _called(shown["cell"], "g")


def _moments_of_one_name(document: Document) -> None:
    """A column that is called like the square of another one."""
    cells = [_called(shown["cell"], "x * x") for shown in document["results"]]
    renamed = json.loads(json.dumps(document).replace('"s"', '"x * x"'))
    document.clear()
    document.update(renamed)
    for shown, cell in zip(document["results"], cells, strict=True):
        shown["cell"] = cell
    test_products.evidence(document)["spend"]["reads"].sort()
    for holder in (document["population"], document["derivation"]["premises"][0]["evidence"]):
        holder["covers"].sort()


def _called(cell: str, name: str) -> str:
    """A moment where the column s has another name."""
    return " * ".join(name if factor == "s" else factor for factor in cell.split(" * "))


BOUNDED = {"kind": "bounded", "interval": [0.0, 5.0]}
FORGED: tuple[tuple[str, Change], ...] = (
    ("laplace release", _narrower),
    ("laplace release", lambda document: _finer(document, 0, 0, 2)),
    ("laplace release", lambda document: _finer(document, 1, 1, 2)),
    ("laplace release", _between_steps),
    ("laplace release", _longer_step),
    ("laplace release", _between_values),
    ("laplace release", _other_scale),
    ("laplace release", _other_noise),
    ("laplace release", lambda d: queries_of(d)[0]["conclusion"].update(rho=0.1)),
    ("laplace release", _earlier_reads),
    ("laplace release", _smaller_budget),
    ("laplace release", _claim(adversary="uninformed")),
    ("laplace release", _claim(secrets=BOUNDED)),
    ("laplace release", lambda d: d["data_set"].update(secrets=BOUNDED)),
    ("laplace release", _claim(dp_rho=5e-324)),
    ("laplace release", _last_informed),
    ("laplace release", _above_the_total),
    ("laplace alone", _own_step_twice),
    ("weighted release", _weighted_by("ill")),
    ("weighted release", _weighted_by("x")),
    ("weighted release", _weighted_by("pair")),
    ("weighted release", lambda d: queries_of(d)[0]["evidence"]["spend"].update(reads=["x"])),
    ("gaussian release", _more_delta),
    ("vectors", _less_slack_of_a_column),
    ("dp delta twice", lambda d: _concluded(0.9)(d["derivation"]["premises"][0])),
    ("delta conversion", lambda d: d["derivation"]["evidence"]["delta"].update(counted="zcdp")),
    ("covariance release", _less_slack),
    ("covariance release", lambda d: d["claim"]["secrets"].update(interval=[0.0, 4.0])),
    ("dp delta release", _no_delta),
    ("dp delta release", _premise(_cost("rho_any", 0.5))),
    ("dp delta release", _premise(_concluded(0.9))),
    ("gaussian release", _premise(_cost("rho_any", 0.5))),
    ("gaussian release", _premise(_concluded(0.9))),
    ("chain release", stories._stated_delta),
    ("counting", _mechanism),
    ("counting twice", _earlier_block),
    ("a covariance", _private_rows),
    ("a regression", _moments_of_labels),
    ("a regression", _moments_of_one_name),
    ("counting", _imputed),
    ("counting", _where("s == 0 or g == 'a'")),
    ("counting", _where("s == 1 and g == 'a'")),
    ("counting", lambda d: d["columns"]["t"].update(role="series")),
    ("counting", lambda d: d["population"].pop("complete")),
)


MADE: dict[str, Callable[[], Document]] = {
    "counting": counting,
    "counting twice": counting_twice,
    "a covariance": lambda: test_products.released("c"),
    "a regression": lambda: test_products.released("r"),
    "vectors": lambda: stories.honest("vectors"),
    "laplace alone": lambda: stories.honest("laplace alone"),
    "dp delta twice": lambda: stories.honest("dp delta twice"),
}


WITH_FORGERIES: tuple[Any, ...] = (
    test_forged_quantiles,
    test_forged_tables,
    test_products,
    test_forged_collected,
    test_forged_groups,
    test_forged_people,
    test_forged_series,
    test_own_deltas,
)
"""Tests that have certificates of their own by name, and what is forged of each."""


def honest() -> Iterator[Document]:
    """What is true, and no other story has."""
    yield counting()
    yield counting_twice()
    for name in test_forged_series.STUDIES:
        yield test_forged_series.released(name)
    for name in test_forged_people.STUDIES:
        yield test_forged_people.released(name)
    for name in test_forged_groups.STUDIES:
        yield test_forged_groups.released(name)
    for noise in test_own_deltas.NOISES:
        yield test_own_deltas.released(noise)


def forged() -> Iterator[Document]:
    """The forgeries; and each of another test's table, of a release with the costs of programs."""
    for name, change in FORGED:
        document = MADE[name]() if name in MADE else certificate(name)
        before = copy.deepcopy(document)
        change(document)
        assert document != before, name
        yield renewed(document)
    for module in WITH_FORGERIES:
        for name, change, _ in module.FORGED.values():
            document = module.released(name)
            change(document)
            yield renewed(document)
    for change, _ in test_variance.FORGED.values():
        document = test_variance.released()
        change(document)
        yield renewed(document)
    yield from test_max_rows.forged()
    for change, _ in SHARP.values():
        document = stories.honest("lipschitz")
        change(queries_of(document)[-1], document)
        yield renewed(document)
