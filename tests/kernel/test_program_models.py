"""Models in a program's certificate: laws that don't exist, and other laws, are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bayesdp import kernel
from bayesdp.programs.certificate import program_certificate
from bayesdp.programs.check.checker import check
from bayesdp.programs.source import core_of, read_text
from bayesdp.statements.program_models import ABOVE, ANYWHERE, AT_LEAST, LIKELIHOODS, PRIORS
from tests.kernel.program_lies import lied, program_of
from tests.programs.run.helpers import IMPORTS
from tests.programs.test_likelihood_programs import ROWS, text

ZERO = ["const", [], [{"number": "0"}]]
BELOW = ["const", [], [{"number": "-1"}]]


def honest(case: str) -> dict[str, Any]:
    program = core_of(read_text(IMPORTS + text(case), "test"), None, {})
    document: dict[str, Any] = json.loads(program_certificate(program, check(program)).to_json())
    assert kernel.check(document).verdict == "VALID ASSUMING"
    return document


def model(document: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """The likelihood and the prior behind the release."""
    [derived] = [part for part in program_of(document)["body"] if "derive" in part]
    about = derived["value"][1][-1]
    assert about[0] == "observe"
    return about[1][1], about[1][2]


def refused(document: dict[str, Any], change: Any) -> str:
    said = kernel.check(lied(document, change))
    assert said.verdict == "INVALID", said
    assert said.step != "digest"
    return str(said)


@pytest.mark.parametrize("case", ROWS)
def test_every_parameter_lies_where_its_law_exists(case: str) -> None:
    document = honest(case)
    for part, places in zip(model(document), places_of(document), strict=True):
        which = 0 if part[0] == "likelihood" else 1
        for i, place in enumerate(places):
            if place == ANYWHERE:
                continue

            def put(d: dict[str, Any], number: list[Any], which: int = which, i: int = i) -> None:
                model(d)[which][1][i] = number

            if place == ABOVE:
                refused(document, lambda d, put=put: put(d, ZERO))
            refused(document, lambda d, put=put: put(d, BELOW))
            if place == AT_LEAST:
                assert (
                    kernel.check(lied(document, lambda d, put=put: put(d, ZERO))).step != "program"
                )


def places_of(document: dict[str, Any]) -> list[tuple[str, ...]]:
    likelihood, prior = model(document)
    shapes = LIKELIHOODS[likelihood[2][0]][1], PRIORS[prior[2][0]]
    listed = [
        shape.of(len(part[1])) for shape, part in zip(shapes, (likelihood, prior), strict=True)
    ]
    return [places for places in listed if places is not None]


@pytest.mark.parametrize("case", ROWS)
def test_there_are_as_many_parameters_as_the_law_has(case: str) -> None:
    document = honest(case)
    likelihood, prior = model(document)
    for which, part in ((0, likelihood), (1, prior)):
        shape = PRIORS[part[2][0]] if which else LIKELIHOODS[part[2][0]][1]
        for many in range(len(part[1])):
            if shape.of(many) is None:
                refused(
                    document, lambda d, w=which, k=many: model(d)[w][1].__delitem__(slice(k, None))
                )
        if not shape.others:
            refused(
                document, lambda d, w=which: model(d)[w][1].append(["const", [], [{"number": "1"}]])
            )


@pytest.mark.parametrize("case", ROWS)
def test_a_prior_is_that_of_its_likelihood(case: str) -> None:
    document = honest(case)
    due = model(document)[1][2][0]
    for family in PRIORS:
        if family != due:
            refused(document, lambda d, f=family: model(d)[1][2].__setitem__(0, f))
    refused(document, lambda d: model(d)[1].__setitem__(0, "likelihood"))


@pytest.mark.parametrize("case", ["logistic", "pooled_shares", "mixture", "unknown_spread"])
def test_no_model_reads_private_rows(case: str) -> None:
    """A size or a prior that is a private sum, and a likelihood that nobody knows."""
    document = honest(case)
    private = ["sum", [["data", [["const", [], [True]], ["field", [], ["t"]]], [[]]]], []]
    for which in (0, 1):
        refused(document, lambda d, w=which: model(d)[w][1].__setitem__(0, private))
    refused(document, lambda d: model(d)[0][2].__setitem__(0, "cauchy"))
