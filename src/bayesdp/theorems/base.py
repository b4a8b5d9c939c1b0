"""What a theorem is: an object with a statement, hypotheses that name the failed one, a bound.

### 2.1 Worst-case conversion (new)

**Definition.** `L_pi(eps)` is the supremum of the leakage over *all* eps-DP mechanisms.

**Statement.** Call `g : W^n -> (0, inf)` *log-Lipschitz* if `g(x) <= e^eps g(x')` for adjacent `x,
x'`. For a finite domain

```text
L_pi(eps) = max over (i, K), x_i, x_i', x_K of
            sup over log-Lipschitz g of  ln E[g(X) | x_i, x_K] - ln E[g(X) | x_i', x_K].
```

**Proof.** At most: for an eps-DP mechanism and an output `y` the function `g = P[y | .]` is
log-Lipschitz (limits take care of the value 0). At least: a log-Lipschitz `g` is bounded. Let `0 <
c <= (1 - e^-eps) / max g`. The mechanism with two outcomes and `P[1 | x] = c g(x)` is eps-DP: for
the outcome 1 by assumption, and for the outcome 0 because `1 - c g(x) <= 1 <= e^eps (1 - c max g)
<= e^eps (1 - c g(x'))`. Its outcome 1 has the ratio of `g`. ∎

So `L_pi` is the sharp answer to "what does eps-DP mean for this population", and *any* DP mechanism
can be calibrated with its inverse. A single mechanism can leak less than `L_pi`.

**Floor.** `L_pi(eps) >= eps` as soon as some record has two possible values (given `x_K`), for
every class: take `g = e^eps` where `X_i` has the one value and 1 elsewhere. So the noise multiplier
`target / eps` is at least 1.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from bayesdp.errors import finite_number
from bayesdp.leakage.deadline import NEVER, Deadline
from bayesdp.notions import Adversary, Bound, Cost, OfTime, Secrets, Tightness
from bayesdp.numbers import NOT_NEGATIVE, LowerBound, UpperBound
from bayesdp.populations import Population


@dataclass(frozen=True, slots=True)
class Question:
    """Who attacks what: everything that a theorem looks at apart from the cost.

    `population`, `adversary` and `secrets` are as in `bayesdp.leakage`. `has_other_values`: records
    have values of which the population says nothing; they lose the whole cost about those, so no
    level is below it, even where the population leaves no record two values.

    `seconds` is the time that a theorem may take for one level. One that should take longer, by an
    estimate from the size of the model, is refused at once. One that is still at work after
    `stop_after` seconds (after `seconds` where it is `None`) is stopped and refused: a longer
    `stop_after` lets a busier machine find a level again that was found before. `deadline` is when
    everything must be ready, of which this level may be a part (a calibration asks for many);
    engines stop at whichever comes first. The theorem `family` asks every theorem about every
    member, and each of them may take `seconds`; with Gaussian noise each point of its curve counts
    as a level. `beaten` is a level that is known already, where only the lowest is asked for: a
    theorem that can't be below it may answer with any level that it proves.

    Raises `InputError` unless `seconds` is a finite number above 0.
    """

    population: Population
    adversary: Adversary = "any"
    secrets: Secrets = "bounded"
    seconds: float = 1.0
    deadline: Deadline = field(default=NEVER, compare=False)
    stop_after: float | None = None
    has_other_values: bool = False
    beaten: float = math.inf

    def __post_init__(self) -> None:
        check_seconds(self.seconds)

    @property
    def informed(self) -> bool:
        """Whether the adversary knows every record except the attacked one."""
        return self.adversary == "informed"

    @property
    def group_size(self) -> int:
        """The most records, the attacked one included, whose values the adversary has to guess."""
        return 1 if self.informed else self.population.group_size


def check_seconds(seconds: object, key: str = "seconds") -> float:
    """The time limit as a double. Raises `InputError` unless it is a finite number above 0."""
    return finite_number(key, seconds, expected="a finite number of seconds above 0")


def too_slow(seconds: float, question: Question) -> OfTime:
    """The reason for refusing a theorem whose estimate is above the question's time limit."""
    about = float(f"{seconds:.2g}")
    why = f"it would take about {about:g} s for one level, and {question.seconds:g} s are allowed"
    return OfTime(why, seconds)


EXACT = 1e-9
"""How close, relative to it, a level must lie to what some mechanism certainly leaks."""


def tightness(epsilon: UpperBound, attained: LowerBound) -> Tightness:
    """Exact where a finite level is attained up to `EXACT`, else an upper bound.

    `attained` is rounded down: some mechanisms of the cost leak at least that, or come as near to
    it as one likes. It is 0 where nothing is known; a level of 0 is attained.
    """
    return "exact" if epsilon - attained <= EXACT * epsilon < math.inf else "upper"


P = TypeVar("P", bound=Population)
"""The population that a theorem is handed: of one of its models."""


class Theorem(ABC, Generic[P]):
    """One conversion from DP to BDP.

    Callers ask `concerns`, then `refusal`, which names the failed hypothesis or is `None`; then
    `bound` may be called. A subclass is stateless. It names its `models` and implements `level`,
    and `applies`, `failed_hypothesis` and `seconds_for` where it needs them. They are handed the
    population, which is of one of the `models`. Bounds are upper bounds on `L_pi` (theory 2.1) that
    include rounding, and are monotone in the cost.

    Informed adversaries know all other records, so only the attacked one can change: their level is
    the DP level, whatever the population (theory 3.2). It is said here for all theorems but those
    that know more (`treats_informed`).
    """

    name: ClassVar[str]
    statement: ClassVar[str]
    source: ClassVar[str]
    uses: ClassVar[str]
    """What the theorem knows about the population."""
    ignores: ClassVar[str]
    """What it makes no use of: knowing it might buy a lower level."""

    asks_others: ClassVar[bool] = False
    """Whether it asks other theorems, each of which has its own time."""
    ends_early: ClassVar[bool] = False
    """Whether it stops once it can't get below `Question.beaten`: so it is asked after others that
    take as long."""
    secrets_in_intervals: ClassVar[bool] = False
    """Whether it is about secret values inside the intervals that mechanisms clip to."""
    covers_vague_knowledge: ClassVar[bool] = False
    """Whether it holds for people with vague knowledge of single other records, too."""
    models: tuple[type[P], ...]
    """The models that it is about."""
    treats_informed: ClassVar[bool] = False
    """Whether `failed_hypothesis` and `level` are asked about informed adversaries too."""

    # -- what callers ask

    def concerns(self, population: Population) -> bool:
        """Whether the theorem is about this population at all; if not, it is not even listed."""
        return isinstance(population, self.models) and self.applies(population)

    def refusal(self, question: Question, cost: Cost) -> str | None:
        """The failed hypothesis in words, or `None`."""
        if self._by_definition(question):
            return None
        return self.failed_hypothesis(self._population(question), question, cost)

    def bound(self, question: Question, cost: Cost) -> Bound:
        """The level. Call only where `refusal` is `None`."""
        if self._by_definition(question):
            return self._bound(UpperBound(cost.dp_epsilon))
        return self.level(self._population(question), question, cost)

    def expected_seconds(self, question: Question) -> float:
        """About how long it takes for one level: theorems are asked in this order.

        A cheap estimate, 0 for closed forms; the theorem concerns the question's population.
        """
        if self._by_definition(question):
            return 0.0
        return self.seconds_for(self._population(question), question)

    def _by_definition(self, question: Question) -> bool:
        return question.informed and not self.treats_informed

    def _population(self, question: Question) -> P:
        """The question's population, which is of one of the theorem's models."""
        population = question.population
        assert isinstance(population, self.models), self.name
        return population

    # -- what a theorem says (`population` is of one of its models)

    def applies(self, population: P) -> bool:
        """Whether it is about this population of its models."""
        return True

    def failed_hypothesis(self, population: P, question: Question, cost: Cost) -> str | None:
        """The failed hypothesis in words, or `None`."""
        return None

    @abstractmethod
    def level(self, population: P, question: Question, cost: Cost) -> Bound:
        """The level, where no hypothesis fails."""

    def seconds_for(self, population: P, question: Question) -> float:
        """About how long `level` takes; 0 where it is refused at once."""
        return 0.0

    def renyi(self, question: Question, cost: Cost, alpha: float) -> UpperBound | None:
        """A bound, rounded up, on the Rényi divergence of order `alpha` between two secrets.

        The divergence is that of the laws of all outputs given each secret and what the adversary
        knows; it may be bounded through laws of which these are mixtures with the same weights
        (theory 2.5). The bound is linear in the costs: a pure cost adds to it by itself, a zCDP
        cost `alpha` times. `None` where the theorem has no such form. Call only where `refusal` is
        `None`.
        """
        return None

    def _bound(
        self, epsilon: UpperBound, attained: LowerBound = NOT_NEGATIVE, **evidence: Any
    ) -> Bound:
        """The theorem's level `epsilon`, with its evidence.

        `attained`, if any, is what the theorem shows to be leaked (see `tightness`).
        """
        tight = tightness(epsilon, attained)
        return Bound(self.name, epsilon, tight, self.source, evidence)


AnyTheorem = Theorem[Any]
"""A theorem about populations of any model."""
