"""A hundred mutants of rules and of programs: what claims less than is true is caught.

A rule's mutant is caught by the falsifier, which finds neighbouring databases that the lower claim
is wrong for, or by what is pinned: the verdict, cost and kind of the program that gains by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from bayesdp.programs.check.checker import check
from bayesdp.programs.falsify import falsify
from bayesdp.programs.ir import Branch, Command, Expr, Parts, Program, Release
from tests.effort import runs
from tests.programs.mutant_probes import PROBES, SAMPLE, Probe, noisy, number, pieces
from tests.programs.mutants import EQUIVALENT, MUTANTS, Mutant, mutated, source
from tests.programs.probes import core

PAIRS = 150


def pinned(probe: Probe, actual: Any) -> bool:
    """Whether the verdict is the one that is written down, or dearer."""
    if actual.verdict != probe.verdict:
        return False
    if probe.verdict != "ACCEPTED":
        return True
    return bool(actual.dp_epsilon >= probe.cost and actual.kind == probe.kind)


def excess(program: Program, verdict: Any, pairs: int = PAIRS) -> set[str]:
    counterexample = falsify(program, verdict, n_max=3, most_pairs=pairs)
    return {item.obligation for item in counterexample.excess}


def caught(mutant: Mutant) -> bool:
    """Whether the probe's own verdict tells, or else the falsifier, which takes longer."""
    probe = PROBES[mutant.probe]()
    with mutated(mutant) as mutated_check:
        verdict: Any = mutated_check(probe.program)
        if not pinned(probe, verdict):
            return True
        ran = verdict.verdict == "ACCEPTED" and (probe.verdict == "ACCEPTED" or _runs(probe))
        return ran and bool(excess(probe.program, verdict))


def _runs(probe: Probe) -> bool:
    """Whether what is to be refused can be run at all."""
    odd = (
        *("counts below 0", "a grid of one point", "as many points as noise says"),
        *("too many points", "a clip that is too wide"),
    )
    return probe.program not in [PROBES[item]().program for item in odd]


@pytest.mark.parametrize("name", PROBES)
def test_probes_have_their_verdicts_and_no_excess(name: str) -> None:
    probe = PROBES[name]()
    verdict = check(probe.program)
    assert (verdict.verdict, verdict.kind) == (probe.verdict, probe.kind), verdict.reason
    if verdict.verdict == "ACCEPTED":
        # Rounded up where the cost is a quotient of constants.
        assert probe.cost <= verdict.dp_epsilon <= probe.cost * Fraction(7, 5)
        assert not excess(probe.program, verdict)


@pytest.mark.parametrize(
    "mutant", MUTANTS, ids=[f"{mutant.module}-{mutant.probe}" for mutant in MUTANTS]
)
def test_mutants_are_caught(mutant: Mutant) -> None:
    assert caught(mutant)


# -- mutants of programs: the claims are those of another one --------------------------------------


def rewritten(program: Program, change: Callable[[Expr], Expr]) -> Program:
    """Every expression of the program's commands changed, from the inside out."""

    def deep(expr: Expr) -> Expr:
        return change(Expr(expr.op, tuple(deep(argument) for argument in expr.args), expr.data))

    def command(item: Command) -> Command:
        if isinstance(item, Release):
            options = tuple((name, deep(value)) for name, value in item.options)
            return replace(item, args=tuple(deep(arg) for arg in item.args), options=options)
        if isinstance(item, Branch):
            return replace(item, then=commands(item.then), otherwise=commands(item.otherwise))
        if isinstance(item, Parts):
            return replace(item, parts=tuple((k, commands(part)) for k, part in item.parts))
        return item

    def commands(some: tuple[Command, ...]) -> tuple[Command, ...]:
        return tuple(command(item) for item in some)

    return replace(program, body=commands(program.body))


def constant(old: object, new: object) -> Callable[[Program], Program]:
    before, after = number(old), number(new)
    return lambda program: rewritten(program, lambda e: after if e == before else e)


def operation(old: str, new: Callable[[Expr], Expr]) -> Callable[[Program], Program]:
    return lambda program: rewritten(program, lambda e: new(e) if e.op == old else e)


def fourfold(expr: Expr) -> Expr:
    return Expr("mul", (number(4), expr))


def moved_pieces(program: Program) -> Program:
    """The partition by another, private column with two labels."""
    labels = {"north": "False", "south": "True"}

    def data(expr: Expr) -> Expr:
        pieces = tuple(("b", labels[label]) for _, label in expr.data[0])  # type: ignore[union-attr]
        return Expr("data", expr.args, (pieces,))

    changed = operation("data", data)(program)
    (item,) = (part for part in changed.body if isinstance(part, Parts))
    parts = tuple((labels[label], part) for label, part in item.parts)
    return replace(changed, body=(replace(item, column="b", public=False, parts=parts),))


def asserted() -> Probe:
    body = "require(db.size >= 20)\nlaplace(sum(r.x for r in db) / db.size, epsilon=1, "
    return Probe(core(body + "sensitivity=1 / 2)"))


def public_pieces() -> Probe:
    return Probe(pieces("p", "more = laplace(sum(r.x for r in piece), epsilon=1)"))


def sample(ends: str) -> Callable[[], Probe]:
    return lambda: Probe(core(SAMPLE.format("(r.b for r in db)", ends)))


PROGRAM_MUTANTS: dict[str, tuple[str | Callable[[], Probe], Callable[[Program], Program]]] = {
    "four times the sum": ("two sums", operation("sum", fourfold)),
    "a wider clip": ("clipped", constant(5, 7)),
    "no clip": ("filtered", operation("clip", lambda item: item.args[0])),
    "no filter's clip": ("at 2, entering", operation("clip", lambda item: fourfold(item.args[0]))),
    "Jeffreys prior": ("coin", constant(1, "1/2")),
    "Jeffreys prior behind a filter": ("coin behind a filter", constant(1, "1/2")),
    "a vaguer prior of a mean": ("mean", constant(3, 30)),
    "less noise in a mean's records": ("mean", constant(9, 2)),
    "a smaller shape": ("rate", constant(2, "1/2")),
    "a lower end of the log-likelihood": (sample("(-2, 0)"), constant(-2, -3)),
    "a sample with twice the power": ("sample", constant("1/4", "3/4")),
    "a sample with twice the power, entering": ("sample, entering", constant("1/4", "1/2")),
    "replaced, at the price of entering": (
        "count, entering",
        lambda program: replace(
            noisy("sum(onehot(r.c) for r in db)", "Vector"), body=(
                replace(program.body[0], args=noisy("sum(onehot(r.c) for r in db)", "Vector")
                        .body[0].args),)),
    ),
    "a partition by a private column": (public_pieces, moved_pieces),
    "a candidate further out": ("answers", constant(3, 30)),
    "a larger candidate": ("a score that grows with its candidate", constant(-3, -9)),
    "entries beyond 1": ("moments", operation("clip", fourfold)),
    "a fold of whole steps": ("fold", constant(2, 1)),
    "a size that isn't required": (asserted, lambda program: replace(program, requires=())),
    "a released factor with wider bounds": ("times a released value", constant(-7, -70)),
    "a released divisor nearer to 0": ("over a released value", constant(2, "1/9")),
    "the dearer side": ("branch", operation("field", fourfold)),
    "a private result": (
        "plain sum",
        lambda program: replace(program, returns=(program.body[0].args[0],)),
    ),
    "a smaller assertion": (asserted, constant("1/2", "1/4")),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAM_MUTANTS)
def test_claims_of_another_program_are_found_wrong(name: str) -> None:
    base, change = PROGRAM_MUTANTS[name]
    probe = PROBES[base]() if isinstance(base, str) else base()
    verdict = check(probe.program)
    assert verdict.verdict == "ACCEPTED"
    changed = change(probe.program)
    assert changed != probe.program
    assert excess(changed, verdict)


def test_equivalent_mutants_change_nothing() -> None:
    for mutant, proof in EQUIVALENT:
        assert len(proof) > 40
        for make in list(PROBES.values())[:: 1 + len(PROBES) // runs(len(PROBES))]:
            program = make().program
            before = check(program)
            with mutated(mutant) as mutated_check:
                after: Any = mutated_check(program)
            assert after.derivation == before.derivation
            assert after.verdict == before.verdict


def test_there_are_enough_and_none_twice() -> None:
    assert len(MUTANTS) + len(PROGRAM_MUTANTS) >= 100
    assert len(set(MUTANTS)) == len(MUTANTS)
    assert {mutant.probe for mutant in MUTANTS} == set(PROBES)
    assert all(source(mutant.name).count(mutant.old) == 1 for mutant in MUTANTS)
