"""What every theorem must do: a class that the test of each theorem inherits.

A subclass names its theorem and gives small populations with the truth about them by brute force,
pairs of populations that differ in names only, and questions whose hypotheses fail, with the words
that name the failed one. What is asked are the theorem's own levels, before a report raises those
below the DP cost to it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest

from bayesdp.notions import ADVERSARIES, Adversary, Cost, Kind
from bayesdp.populations import Population, parse
from bayesdp.theorems import REGISTRY, Question, Theorem
from bayesdp.theorems.secret import has_secret
from tests.oracles import chains
from tests.oracles.populations import Discrete, Normal
from tests.theorems.mistakes import TESTED, TOO_LOW, Mistake, is_changed

EPSILONS = (0.0, 1e-6, 0.04, 0.5, 1.7, 4.0)
BELOW = 1e-9
"""How far brute force may be above a level: its own rounding."""

SAME = 1e-6
"""How far levels of the same population under other names may be apart, relative to them."""


ONE = Cost(any=1.0)


@dataclass(frozen=True)
class Case:
    """A population, and what some mechanism of a cost certainly leaks there: `truth(eps, who)`."""

    population: Population
    truth: Callable[[float, Adversary], float]


@dataclass(frozen=True)
class Failed:
    """A question that the theorem refuses, and words of the reason that name the hypothesis."""

    words: str
    population: Population
    cost: Cost = ONE
    adversary: Adversary = "any"
    options: tuple[tuple[str, Any], ...] = ()


def discrete(joint: Any = None, **spec: Any) -> Case:
    """A discrete population with its worst mechanism; `joint` where the spec has no law."""
    law = np.asarray(chains.from_spec(spec) if joint is None else joint, dtype=float)
    return Case(parse(spec), Discrete(law).leaks)


def normal(covariance: Any, **spec: Any) -> Case:
    """A Gaussian population with the most that its records move together."""
    spec = spec or {"model": "gaussian", "covariance": np.asarray(covariance).tolist()}
    return Case(parse(spec), Normal(np.asarray(covariance, dtype=float)).leaks)


class TheoremConformance:
    """Inherit, name the theorem, and say what it is about."""

    name: ClassVar[str]
    kind: ClassVar[Kind] = "any"
    speaks_of_small_costs: ClassVar[bool] = True
    """Whether its level goes to 0 with the cost."""
    unchanged_by: ClassVar[frozenset[str]] = frozenset()
    """Mistakes of `TOO_LOW` that change no level: the theorem uses nothing that they are about."""

    def cases(self) -> Sequence[Case]:
        """Small populations that the theorem says something about."""
        raise NotImplementedError

    def renamed(self) -> Sequence[tuple[Population, Population]]:
        """Pairs of populations that differ in the names of records or of values only."""
        return ()

    def failures(self) -> Sequence[Failed]:
        """Questions with a failed hypothesis; none for theorems without a hypothesis."""
        return ()

    # -- the theorem's word

    @property
    def theorem(self) -> Theorem:
        return next(theorem for theorem in REGISTRY if theorem.name == self.name)

    @property
    def known(self) -> tuple[Case, ...]:
        """The cases, each with a truth that is computed once."""
        return _known(type(self))

    def level(
        self, population: Population, dp_epsilon: float, adversary: Adversary = "any"
    ) -> float | None:
        """The theorem's own level; `None` where it is refused."""
        return _level(self.theorem, population, Cost.of(dp_epsilon, self.kind), adversary)

    def levels(self) -> list[tuple[Case, Adversary, list[tuple[float, float]]]]:
        """For each case and adversary class that it answers: costs with levels, both rising."""
        answers = []
        for case, adversary in itertools.product(self.known, ADVERSARIES):
            rows = [(eps, self.level(case.population, eps, adversary)) for eps in EPSILONS]
            answered = [(eps, level) for eps, level in rows if level is not None]
            if answered:
                answers.append((case, adversary, answered))
        return answers

    def answered(self) -> list[Adversary]:
        """The classes of adversaries that it answers."""
        answered = {adversary for _, adversary, _ in self.levels()}
        return [adversary for adversary in ADVERSARIES if adversary in answered]

    def changed_by(self, mistake: Mistake, classes: tuple[Adversary, ...]) -> bool:
        """Whether a mistake about these classes of adversaries changes some level."""
        wrong = _mistaken(type(self), mistake, classes)
        return any(
            is_changed(wrong.level(case.population, eps, adversary), level)
            for case, adversary, rows in self.levels()
            for eps, level in rows
        )

    # -- what holds for all of them

    def test_a_reader_learns_what_it_says_and_what_it_leaves_out(self) -> None:
        theorem = self.theorem
        assert len(self.answered()) > 1
        assert "informed" in self.answered()
        for words in (theorem.statement, theorem.source, theorem.uses, theorem.ignores):
            assert words.strip()
        assert theorem.models

    def test_no_level_is_below_brute_force(self) -> None:
        for case, adversary, rows in self.levels():
            for eps, level in rows:
                truth = case.truth(eps, adversary)
                assert level >= truth - BELOW, (case.population, adversary, eps, level, truth)

    def test_levels_grow_with_the_cost(self) -> None:
        for case, adversary, rows in self.levels():
            grown = [level for _, level in rows]
            assert grown == sorted(grown), (case.population, adversary, rows)

    def test_at_least_the_cost_where_a_record_has_two_possible_values(self) -> None:
        for case, adversary, rows in self.levels():
            if has_secret(case.population, adversary):
                for eps, level in rows:
                    assert level >= eps * (1.0 - 1e-12), (case.population, adversary, eps, level)

    def test_nothing_spent_is_nothing_told(self) -> None:
        for case, adversary, rows in self.levels():
            eps, level = rows[0]
            if eps == 0.0 and (self.speaks_of_small_costs or adversary == "informed"):
                assert level < 1e-300, (case.population, adversary, level)

    def test_somebody_who_may_know_records_learns_no_less_than_somebody_who_knows_none(
        self,
    ) -> None:
        for case in self.known:
            for eps in EPSILONS:
                most = self.level(case.population, eps, "any")
                least = self.level(case.population, eps, "uninformed")
                if most is not None and least is not None:
                    assert most >= least * (1.0 - BELOW) - BELOW, (
                        case.population,
                        eps,
                        most,
                        least,
                    )

    def test_somebody_who_knows_all_other_records_learns_the_cost_at_most(self) -> None:
        for case in self.known:
            for eps in EPSILONS:
                level = self.level(case.population, eps, "informed")
                assert level is None or level <= eps * (1.0 + BELOW), (case.population, eps, level)

    def test_names_of_records_and_values_do_not_matter(self) -> None:
        for first, second in self.renamed():
            for adversary, eps in itertools.product(ADVERSARIES, EPSILONS):
                here = self.level(first, eps, adversary)
                there = self.level(second, eps, adversary)
                if here is None or there is None:
                    assert here is there, (first, second, adversary)
                else:
                    assert here == pytest.approx(there, rel=SAME, abs=BELOW), (first, second)

    def test_a_refusal_names_the_failed_hypothesis(self) -> None:
        for failed in self.failures():
            question = Question(failed.population, failed.adversary, **dict(failed.options))
            assert self.theorem.concerns(failed.population)
            reason = self.theorem.refusal(question, failed.cost)
            assert reason is not None, failed
            assert failed.words in reason, (reason, failed)

    # -- and what shows that these tests would notice

    @pytest.mark.parametrize("name", TOO_LOW)
    def test_levels_that_are_too_low_are_seen(self, name: str) -> None:
        """Whichever class of adversaries the mistake is made for.

        Where `any` and `uninformed` have the same levels, it is made for both.
        """
        mistake, about = TOO_LOW[name]
        classes = [(adversary,) for adversary in self.answered() if adversary in about]
        if "taken for uninformed" in self.unchanged_by and ("uninformed",) in classes:
            classes = [("any", "uninformed"), *classes[2:]]
        for mistaken in classes:
            changed = self.changed_by(mistake, mistaken)
            assert changed is (name not in self.unchanged_by), mistaken
            if changed:
                wrong = _mistaken(type(self), mistake, mistaken)
                assert any(_fails(wrong, test) for test in FROM_BELOW), mistaken

    @pytest.mark.parametrize("test", TESTED)
    def test_each_test_can_fail(self, test: str) -> None:
        mistake, adversary = TESTED[test]
        answered = self.answered()
        if adversary in answered and (adversary == "informed" or "any" in answered):
            assert _fails(_mistaken(type(self), mistake, (adversary,)), test)


FROM_BELOW = (
    "test_no_level_is_below_brute_force",
    "test_at_least_the_cost_where_a_record_has_two_possible_values",
)


@cache
def _known(held: type[TheoremConformance]) -> tuple[Case, ...]:
    return tuple(replace(case, truth=cache(case.truth)) for case in held().cases())


@cache
def _level(
    theorem: Theorem, population: Population, cost: Cost, adversary: Adversary
) -> float | None:
    question = Question(population, adversary, seconds=60.0)
    assert theorem.concerns(population)
    if theorem.refusal(question, cost) is not None:
        return None
    return theorem.bound(question, cost).epsilon


@cache
def _mistaken(
    held: type[TheoremConformance], mistake: Mistake, classes: tuple[Adversary, ...]
) -> TheoremConformance:
    """The tests of a theorem whose levels for some classes of adversaries are mistaken."""

    class Mistaken(held):  # type: ignore[misc, valid-type]
        def cases(self) -> Sequence[Case]:
            return _known(held)

        def level(
            self, population: Population, dp_epsilon: float, who: Adversary = "any"
        ) -> float | None:
            right: float | None = super().level(population, dp_epsilon, who)
            if right is None or who not in classes:
                return right
            wrong = mistake(super().level, population, dp_epsilon, who)
            return right if wrong is None else wrong

    return Mistaken()


def _fails(held: TheoremConformance, test: str) -> bool:
    try:
        getattr(held, test)()
    except AssertionError:
        return True
    return False


def theorems_held(base: type[TheoremConformance] = TheoremConformance) -> set[str]:
    """The names of the theorems whose tests inherit the class."""
    names = {base.name} if "name" in vars(base) else set()
    return names.union(*(theorems_held(subclass) for subclass in base.__subclasses__()))
