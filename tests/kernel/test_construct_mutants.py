"""Checks of `kernel/programs` that are lost: a certificate shows each of them.

They are those of releases, distances, persons, transitions and models, by which programs with
hypotheses, perturbed answers, Dirichlet candidates, chains and persons are priced.
"""
# ruff: noqa: E501 (a name is in one piece)

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from bayesdp import kernel
from bayesdp.programs.certificate import program_certificate
from bayesdp.programs.check.checker import check
from bayesdp.programs.source import core_of, read_text
from tests.effort import in_full
from tests.kernel import construct_lies, construct_releases, construct_stories
from tests.kernel.battery import Shown
from tests.kernel.mutants import Mutant, mutants_of_programs
from tests.kernel.program_lies import LIES, lied
from tests.kernel.program_texts import HEAD, TEXTS
from tests.kernel.reached import Certificates
from tests.kernel.test_forgeries import refused, renewed
from tests.kernel.test_mutants import caught

ASKED = (
    "distances ",
    "persons ",
    "releases ",
    "transitions ",
    "levels Scope.after",
    "levels Scope.likelihood",
    "levels Scope.observed",
    "levels Scope._lies",
)
"""Modules of `kernel/programs`, and functions in them."""
EQUIVALENT: dict[str, str] = {
    "_gaussian: without require(delta < 1)": "All deltas of a program add up to less than 1, which is asked in the end.",
    "_laplace: without kind_of_value(release, setting.scope)": "It is asked for again where the kind of what is released is noted.",
    "_option: without require(value is not None)": "Nothing can't be compared with 0, or multiplied, in the next lines: the certificate is malformed.",
    "hellinger: without allow(place.finite, data)": "The width and the largest value of a range without an end are refused where they are asked for.",
    "log_r: without require(a > 0)": "The parameters of a prior are above 0, which is asked for where its model is read.",
    "of_counts: without require(shape > 0 and shift >= 0)": "A prior's shape is above 0, which its model says, and no range has a width below 0.",
    "of_labels: without require(len(low) >= 2)": "A beta prior has two parameters and a Dirichlet prior has at least two, which its model says.",
    "of_means: without require(prior_sd > 0 and sd > 0 and (records >= 1))": "Both are above 0, which the model says, and at least one record is admitted.",
    "replaced_of: without require(others >= 0)": "At least one record is admitted by every precondition.",
    "transition_moves: without check_transitions(transitions, context)": "The same is asked where the kind of the private counts is read.",
}
"""Mutants that make no wrong certificate valid, each with the reason."""


def chosen() -> list[Mutant]:
    """Each check that is lost, and each other call."""
    return [
        mutant
        for mutant in mutants_of_programs()
        if mutant.kind in ("dropped", "lost") and _place(mutant).startswith(ASKED)
    ]


def _place(mutant: Mutant) -> str:
    return f"{mutant.module.rpartition('.')[2]} {mutant.function}"


def shown() -> Iterator[Shown]:
    """The honest certificates, and the lies about them and about programs of other tests."""
    yield from (Shown(document, True) for document in construct_stories.valid())
    yield from (Shown(document, False) for document in construct_lies.forged())
    honest = {}
    for name, text in TEXTS.items():
        program = core_of(read_text(HEAD + text, name), None, {})
        honest[name] = json.loads(program_certificate(program, check(program)).to_json())
        yield Shown(honest[name], True)
    for name, change in LIES.values():
        yield Shown(lied(honest[name], change), False)


@pytest.mark.parametrize("name", [*construct_stories.CONSTRUCTS, *construct_stories.OTHERS])
def test_the_honest_ones_are_valid(name: str) -> None:
    said = kernel.check(construct_stories.honest(name))
    assert said.verdict == "VALID ASSUMING", said


@pytest.mark.parametrize("lie", construct_lies.LIES)
def test_lies_are_found_out(lie: str) -> None:
    said = kernel.check(construct_lies.lying(lie))
    assert said.verdict in ("INVALID", "UNKNOWN")
    assert said.step != "digest"


@pytest.mark.parametrize("lie", construct_releases.FORGED)
def test_lies_about_releases_are_found_out(lie: str) -> None:
    document = construct_releases.honest()
    construct_releases.FORGED[lie](document)
    assert document != construct_releases.honest()
    refused(renewed(document), "")


def test_each_reason_is_of_a_mutant() -> None:
    names = {mutant.name for mutant in chosen()}
    assert len(names) >= 100
    assert EQUIVALENT.keys() <= names
    assert all(len(reason) > 40 for reason in EQUIVALENT.values())


@pytest.mark.prove
@pytest.mark.skipif(not in_full(), reason="asked by `make prove`, and by each share of it")
def test_checks_that_are_lost_are_seen() -> None:
    certificates = Certificates(shown())
    asked = [mutant for mutant in chosen() if mutant.name not in EQUIVALENT]
    survivors = [item.name for item in asked if not caught(item, certificates.showing(item))]
    assert not survivors
