"""Checks of `kernel/programs` that are lost: a certificate shows each of them."""
# ruff: noqa: E501 (a name is in one piece)

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from bayesdp import kernel
from bayesdp.kernel.arithmetic import InvalidError
from bayesdp.kernel.programs import assumptions_of
from bayesdp.programs.certificate import program_certificate
from bayesdp.programs.check.checker import check
from bayesdp.programs.source import core_of, read_text
from tests.effort import in_full
from tests.kernel import (
    bound_lies,
    construct_lies,
    construct_releases,
    construct_stories,
    rule_lies,
    rule_stories,
)
from tests.kernel.battery import Shown
from tests.kernel.mutants import Mutant, mutants_of_programs
from tests.kernel.program_lies import LIES, lied
from tests.kernel.program_texts import HEAD, TEXTS
from tests.kernel.reached import Certificates
from tests.kernel.test_forgeries import refused, renewed
from tests.kernel.test_mutants import caught

EQUIVALENT: dict[str, str] = {
    "AdjacencyContext._computed: without allow(fits, node)": "The shorter vector is asked for an entry that it does not have, which fails.",
    "AdjacencyContext._leaf: without allow(value in self.program.columns, node)": "A column that there is not is looked up in the next line, which fails.",
    "AdjacencyContext.ranges: without allow(_whole(node) < len(whole), node)": "An entry that there is not is looked up in the next line, which fails.",
    "Cases.decide: without raise NotThisRuleError": "A column that is a condition holds truth values, which its kind asks for.",
    "Effort.take: without raise UnknownError()": "It bounds what is computed, which is a matter of time: the answer would be the same.",
    "Problem._operation: without raise UnprovedError(node)": "What has no tree is in no text, and what solvers were not asked is UNKNOWN too.",
    "Problem.term: without raise UnprovedError(node)": "A label has no numerator, which the next line asks for.",
    "Problem.term: without raise UnprovedError(node) (2)": "There is no rule for data either, which the arguments of these are or hold.",
    "Problem.term: without raise UnprovedError(node) (3)": "There is no rule for entries of vectors either, and a step or precondition is one number.",
    "Range.largest: without require(self.finite)": "An infinity is not a fraction: the next line fails.",
    "Range.width: without require(self.finite)": "An infinity is not a fraction: the next line fails.",
    "Scope._column: without allow(name in self.context.program.columns, at)": "A column that there is not is looked up in the next line, which fails.",
    "Scope.data: without require(node.op == 'data')": "Only data has pieces, which are read in the next line: for any other operation that fails.",
    "Scope.private: without check_transitions(node, self.context)": "The same is asked where it is said how far the counts move.",
    "Setting.by_rule: without require(entries is not None)": "The rule goes through the entries in the next line, which fails for nothing.",
    "Setting.by_rule: without require(value is not None)": "No stated number is shown to be at least as large as nothing.",
    "Setting.enough_for: without raise": "Only a slow certificate shows it: tests/kernel/test_time_limit.py asks what one may take.",
    "Values.high: without raise NotImplementedError": "It says what a column has to have, and is called by nobody.",
    "Values.kind: without raise NotImplementedError": "It says what a column has to have, and is called by nobody.",
    "Values.labels: without raise NotImplementedError": "It says what a column has to have, and is called by nobody.",
    "Values.low: without raise NotImplementedError": "It says what a column has to have, and is called by nobody.",
    "Walk._together: without raise RefusedError(reason, command)": "What is not known is gone through in the next line, which fails.",
    "Walk.command: without require(node is not None or self.making)": "A sequence that is read has one node for each command, and none of them is nothing.",
    "Walk.parts: without allow(column is not None, reason, command)": "A column that there is not has no labels, which are asked for in the next lines.",
    "Walk.parts: without require(len(nodes) == len(command.parts))": "The next lines go through both lists, and refuse lists of different lengths.",
    "Walk.proposed: without raise InvalidError()": "A certificate has a node for each release: only the checker proposes, by a method of its own.",
    "Walk.sequence: without require(len(nodes) == len(commands))": "The next line goes through both lists, and refuses lists of different lengths.",
    "_branches: without raise NotThisRuleError": "It bounds what is compared, which is a matter of time: the answer would be the same.",
    "_by_structure: without raise UnprovedError(node) (2)": "Each operation that private values may have has a case above, which their kind asks for.",
    "_entry: without raise RefusedError(node)": "Numbers and vectors have a case above; what else there is has another kind, for which it is refused.",
    "_few: without raise NotThisRuleError": "It bounds what is compared, which is a matter of time: the answer would be the same.",
    "_furthest: without bounded(Fraction(under))": "It bounds what is computed, which is a matter of time: the answer would be the same.",
    "_furthest: without context.effort.take(work)": "It bounds what is computed, which is a matter of time: the answer would be the same.",
    "_furthest: without effort.take(len(rows) * len(against) * len(summands))": "It bounds what is computed, which is a matter of time: the answer would be the same.",
    "_gaussian: without require(delta < 1)": "All deltas of a program add up to less than 1, which is asked in the end.",
    "_known_factor: without allow(place.finite, reason, factor)": "The largest distance from 0 of what has no end is asked for next, which is refused.",
    "_number: without raise NotExactError": "Labels and vectors are not calculated with: the kind of what is added up asks for that.",
    "_option: without require(value is not None)": "Nothing can't be compared with 0, or multiplied, in the next lines: the certificate is malformed.",
    "_pieces: without _differences([*args[0], *args[1]], args[2], critical)": "Past all other roots both sides are continuous, and their difference is one of finitely many without a root: where pieces cross, it can't change its sign.",
    "_pieces: without _differences(args[0], args[1], critical)": "Past all other roots both sides are continuous, and their difference is one of finitely many without a root: where pieces cross, it can't change its sign.",
    "_pieces: without _differences(first, second, critical)": "Past all other roots both sides are continuous, and their difference is one of finitely many without a root: where pieces cross, it can't change its sign.",
    "_pieces: without raise NotThisError (2)": "It bounds what is compared, which is a matter of time: the answer would be the same.",
    "_sizes: without require(sizes.low <= n <= sizes.high)": "Such a number breaks a precondition, and each of them is asked for at this number.",
    "_total: without ball(0)": "It sets the precision, which the balls of the next line set too.",
    "_trees: without require(len(stack) > 1)": "There is no list left that holds the one that ends: the next lines fail.",
    "assumptions_of: without check_claim(derivation.conclusion, derived)": "Only who makes certificates asks it; the kernel's verdict checks the claim itself.",
    "cases: without context.effort.take(4 * steps)": "It bounds what is computed, which is a matter of time: the answer would be the same.",
    "check_admitted: without require(sizes.low <= n <= sizes.high)": "Such a number breaks a precondition, and each of them is asked for in the next lines.",
    "check_claim: without at_least(double, ball(claimed))": "The next line asks for the very double that is the exact number, rounded up.",
    "check_claim: without require(kind == 'lipschitz')": "What is not Lipschitz has no interval, which is asked for in the last line.",
    "derive: without raise UnknownError()": "Statements are nested 200 deep at most, for which there is room; and nothing follows from no derivation, so that it would be INVALID.",
    "enumerated: without context.effort.take(len(settings) * nodes)": "It bounds what is computed, which is a matter of time: the answer would be the same.",
    "hellinger: without allow(place.finite, data)": "The width and the largest value of a range without an end are refused where they are asked for.",
    "holds_for_all_sizes: without effort.take(max(0, top + 1 - low) * nodes)": "It bounds what is computed, which is a matter of time: the answer would be the same.",
    "joint: without raise RefusedError(unlimited[0])": "The least of no bounds is asked for in the next line, which fails.",
    "log_r: without require(a > 0)": "The parameters of a prior are above 0, which is asked for where its model is read.",
    "number: without raise InvalidError()": "How far a fold moves is compared with 0, which fails for what is not a number.",
    "of_counts: without require(shape > 0 and shift >= 0)": "A prior's shape is above 0, which its model says, and no range has a width below 0.",
    "of_labels: without require(len(low) >= 2)": "A beta prior has two parameters and a Dirichlet prior has at least two, which its model says.",
    "of_means: without require(prior_sd > 0 and sd > 0 and (records >= 1))": "Both are above 0, which the model says, and at least one record is admitted.",
    "read_text: without require(isinstance(command, tuple) and len(command) > 1)": "A word, and a list of one, is neither a declaration nor an assertion, which is asked next.",
    "replaced_of: without require(others >= 0)": "At least one record is admitted by every precondition.",
    "transition_moves: without check_transitions(transitions, context)": "The same is asked where the kind of the private counts is read.",
    "value: without raise NotThisError": "A literal that is not a number has no case below either, and ends in the last line.",
    "value: without raise NotThisError (2)": "The pieces of both sides are taken before, which refuses the same operations.",
}
"""Mutants that make no wrong certificate valid, each with the reason."""


SMALL = rule_lies.LIES | bound_lies.LIES
"""Lies about small programs."""


def chosen() -> list[Mutant]:
    """Each check that is lost, and each other call."""
    return [mutant for mutant in mutants_of_programs() if mutant.kind in ("dropped", "lost")]


def shown() -> Iterator[Shown]:
    """The honest certificates, and the lies about them and about programs of other tests."""
    for honest_ones in (construct_stories.valid(), rule_stories.valid()):
        yield from (Shown(document, True) for document in honest_ones)
    small = (lie() for lie in SMALL.values())
    for lies in (construct_lies.forged(), small, construct_releases.forged()):
        yield from (Shown(document, False) for document in lies)
    yield Shown(construct_releases.honest(), True)
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


@pytest.mark.parametrize("lie", SMALL)
def test_lies_about_small_programs_are_found_out(lie: str) -> None:
    said = kernel.check(SMALL[lie]())
    assert said.verdict in ("INVALID", "UNKNOWN")
    assert said.step != "digest"


def test_small_programs_are_valid() -> None:
    for document in rule_stories.valid():
        said = kernel.check(document)
        assert said.verdict == "VALID ASSUMING", said


@pytest.mark.parametrize("lie", construct_releases.FORGED)
def test_lies_about_releases_are_found_out(lie: str) -> None:
    document = construct_releases.honest()
    construct_releases.FORGED[lie](document)
    assert document != construct_releases.honest()
    refused(renewed(document), "")


def test_each_reason_is_of_a_mutant() -> None:
    names = {mutant.name for mutant in chosen()}
    assert len(names) >= 250
    assert EQUIVALENT.keys() <= names
    assert all(len(reason) > 40 for reason in EQUIVALENT.values())


def test_what_a_cost_rests_on_is_said_of_a_cost_that_follows() -> None:
    derivation = construct_stories.honest("near")["derivation"]
    assert assumptions_of(derivation) == construct_stories.honest("near")["assumptions"]
    derivation["conclusion"].update(epsilon=0.5, exact={"epsilon": "1/2", "delta": "0"})
    with pytest.raises(InvalidError, match="is what follows"):
        assumptions_of(derivation)


@pytest.mark.prove
@pytest.mark.skipif(not in_full(), reason="asked by `make prove`, and by each share of it")
def test_checks_that_are_lost_are_seen() -> None:
    certificates = Certificates(shown())
    survivors = {item.name for item in chosen() if not caught(item, certificates.showing(item))}
    assert survivors == EQUIVALENT.keys()
