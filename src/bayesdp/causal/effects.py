"""What learning a record changes, and what setting it changes: exact numbers for one model.

### 5.3 Seeing and doing

Does differential privacy assume that records are independent? No, if it is read as a statement
about what *setting* a record does; and yes, if it is read as one about what *learning* a record
says. This section makes both exact ([the same with examples](causality.md)).

**Objects.** A *structural causal model* here is an acyclic network of discrete nodes: latent
causes, attributes of people, and *data points* `X_1, ..., X_n`, the records; each node has a law
for each combination of its parents' values. The output `Y` is drawn from the channel `P[y | x]`,
given the data points. **Hypothesis:** data points have no child but the output. Then

* *seeing* is conditioning: `see_i = sup ln P[y | X_i = v] - ln P[y | X_i = v']`, over outcomes and
  values of positive probability. By definition it is the leakage of the joint law of the data
  points (`model.population()`) to an uninformed adversary (1);
* *doing* is intervening: the law of `X_i` is replaced by "is v" and all others stay (the *truncated
  factorisation*): `do_i = sup ln P[y | do(X_i = v)] - ln P[y | do(X_i = v')]`, over outcomes
  and *all* values.

**Statement.** In every such model, `do_i` is at most the DP level of the channel. Over all models
its supremum is the DP level.

**Proof.** Sum the truncated product over everything but `X_i` and the other data points. As `X_i`
has no child among the nodes, only its own law mentions it, and that one was replaced. So what is
left is the marginal law of the others, whatever the graph: `P[y | do(X_i = v)] = sum over x_-i of
P[x_-i] P[y | v, x_-i]`. The databases `(v, x_-i)` and `(v', x_-i)` are adjacent, so each term
changes by a factor of at most `e^eps`, and so does the sum. Equality: let the other data points be
certain. ∎

*The hypothesis is needed.* Let one data point be a parent of the other, which differs from it with
probability .1, and publish their count with discrete Laplace noise and eps = 1. Then `do_1 = 1 +
ln((.9 e + .1) / (.9 + .1 e)) = 1.7763`: setting the first sets the second along. Such an edge is
refused, and what is meant goes *between the attributes* that the data points record. There the same
number is what setting the *person* does, `do(R_1)`, and setting the record does 1.

**Seeing is neither more nor less.** Three identical relatives: see 3, do 1. A record and its
opposite: their count is known, so see 0, do 1. With independent data points the two are the same,
since conditioning on `X_i` leaves the law of the others alone. There is no bound on seeing in terms
of doing and none back, within one model.

**The definitions of Tschantz, Sen and Datta** (`tests/oracles/causal_definitions.py`) ask for a
level in *all* populations. The least levels for which they hold:

* *the DP level*: differential privacy; strong adversary; intervening on the whole database;
  intervening on one data point; independent Bayesian_0;
* *the largest log ratio between any two databases* (at most n times as much): Bayesian_0;
  intervening on an attribute.

**Proof.** *The first ones.* In a circle. DP gives whole-database intervention: setting all data
points leaves the channel. That gives data-point intervention: by the proof above, `do_i` averages
over it. That gives independent Bayesian_0: among mutually independent records conditioning is
intervening. That gives the strong adversary: for a database `x` take the population in which
`X_-i = x_-i` for certain and `X_i` has two values. That gives DP: take a population in which every
database is possible. *The second ones.* Both quantities compare averages of `P[y | x]` over
databases, so the largest ratio bounds them. Both reach it: given the extreme databases `a` and `b`,
which differ in record `i`, let a coin choose between them and condition on `X_i`; or let the
attribute `R_i`, recorded as `X_i`, cause all other attributes, so that `R_i = a_i` makes the
database `a` and everything else makes it `b` (but for record `i`), and set it. Databases that
differ in k records are k replacements apart. ∎

**Corrected.** The paper's definition of independent Bayesian_0 asks that each two records be
independent *given all others*. That is too little to be equivalent to DP: if `X1 = X2 = X3`, then
given the third the other two are constants, hence independent, and a 1-DP count leaks 3. We ask
for *mutual* independence. (Where every database has positive probability, pairwise independence
given all others does imply mutual independence, so only degenerate laws are concerned. *Proof:* `ln
P` then has no interaction of two coordinates at any setting of the others, so it is a sum of
functions of one coordinate each.)

**How it is computed** (`causal/elimination.py`). By variable elimination. A count or sum depends on
the data through a total, so factors carry one more axis for the partial total, and multiplying
factors convolves along it: twenty relatives given one gene need tables of 2 by 21 cells, not
`2^20`. *Clamping loses nothing:* discrete Laplace noise on a total in `{0, ..., T}` has, for every
outcome `y <= 0`, likelihoods proportional to those of 0, and likewise from `T` on, so the outcome
taken into `{0, ..., T}` is a sufficient statistic, and all levels stay. A level is right up to a
stated error, which counts roundings; a probability that double precision would take for 0 is
refused.

*Weaker dependence.* For the figure each data point follows its causes with probability `sqrt(s)`,
on its own, and is else drawn anew from its own law. Each keeps its law; for functions `f`, `g` of
two data points `Cov(f, g)` is multiplied by `s`, because both must follow.

*Source:* Tschantz, Sen and Datta (S&P 2020) for the causal reading; J. Pearl, *Causality*, for
interventions. Tested against enumeration of all nodes' settings (`tests/oracles/causal.py`), the
engine of 3.9 a, and pyAgrum's do-calculus.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from bayesdp.accounting.costs.rounded import up_words
from bayesdp.arrays import Floats
from bayesdp.causal.elimination import EliminationFactor, marginal, planned_cells
from bayesdp.causal.mechanism import Compiled, OfTotal
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.numbers import UNIT, Exact, UpperBound, plain_number

How = Literal["see", "do"]

MOST_WORK = 10**8
"""The most steps that `compare` takes, as `_refuse_work` counts them: a minute or two."""

_LOGARITHMS = 5600
"""Units for logarithms and exponentials whose arguments are up to 700."""


class LabelledNode(Protocol):
    """What effects need to know about a node: its name, and its values in order."""

    @property
    def name(self) -> str:
        """Its name in the model."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of its values."""

    @property
    def size(self) -> int:
        """The number of its values."""


class CausalStructure(Protocol):
    """What effects need to know about a causal model: `CausalModel` is the only such class."""

    @property
    def nodes(self) -> Sequence[LabelledNode]:
        """Every variable."""

    @property
    def data(self) -> tuple[int, ...]:
        """The places of the data points among the nodes."""

    def place(self, name: str) -> int:
        """The position of the node of this name. Raises `InputError` for others."""

    def factors(self, *, without: int | None = None) -> list[EliminationFactor]:
        """The tables; `without` is a node that is set, whose table is left out."""

    def compiled(self, mechanism: Any = None) -> Compiled:
        """A mechanism, or the model's own, made ready for the data points."""


@dataclass(frozen=True, slots=True)
class Attains:
    """Where the largest log ratio is reached.

    `outcome` has probability `likely` if the record's value is `value`, `unlikely` if `other`.
    """

    outcome: str
    value: str
    other: str
    likely: float
    unlikely: float


@dataclass(frozen=True, slots=True)
class Effect:
    """How much the output's law depends on one record: by seeing its value, or by setting it.

    `level` is the largest log ratio in nats, possibly infinite. `laws` holds the law of the output
    for each value, `None` for values that can't be learned because they have probability 0 (`see`
    only). `attains` is `None` where all laws are the same.
    """

    how: How
    record: str
    level: Exact
    attains: Attains | None
    values: tuple[str, ...]
    laws: tuple[tuple[float, ...] | None, ...]

    @property
    def epsilon(self) -> Exact:
        """The level, right up to its `error`."""
        return self.level

    @property
    def error(self) -> float:
        """How far the level may be off, on either side."""
        return self.level.error

    @property
    def upper(self) -> UpperBound:
        """An upper bound of the level, rounding included."""
        return self.level.upper

    @property
    def impossible(self) -> tuple[str, ...]:
        """The values that have probability 0 and were left out."""
        return tuple(v for v, law in zip(self.values, self.laws, strict=True) if law is None)

    def words(self) -> str:
        """What attains the level, as a sentence; empty where nothing does."""
        if self.attains is None:
            return ""
        best = self.attains
        verb = "is set to" if self.how == "do" else "is learned to be"
        ratio = "infinitely many" if best.unlikely == 0.0 else f"{math.exp(self.epsilon):.4g}"
        return (
            f"outcome {best.outcome} is {ratio} times as likely if {self.record} {verb} "
            f"'{best.value}' rather than '{best.other}'"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data; an infinite level is None."""
        best = self.attains
        return {
            "epsilon": plain_number(self.epsilon),
            "error": self.error,
            "attained_by": None
            if best is None
            else {
                "outcome": best.outcome,
                "value": best.value,
                "other": best.other,
                "probabilities": [best.likely, best.unlikely],
            },
            "impossible": list(self.impossible),
        }


@dataclass(frozen=True, slots=True)
class SeeingAndDoing:
    """What seeing and what setting each record changes, and the mechanism's own DP level.

    Levels are in nats.
    """

    dp_epsilon: float
    see: tuple[Effect, ...]
    do: tuple[Effect, ...]

    @property
    def most_seen(self) -> Effect:
        """The record whose value tells most."""
        return _first_largest(self.see)

    @property
    def most_done(self) -> Effect:
        """The record whose setting changes most."""
        return _first_largest(self.do)

    def to_dict(self) -> dict[str, Any]:
        """Plain data; infinite levels are None."""
        return {
            "dp": plain_number(self.dp_epsilon),
            "do": plain_number(self.most_done.epsilon),
            "see": plain_number(self.most_seen.epsilon),
            "records": [
                {"record": see.record, "do": do.to_dict(), "see": see.to_dict()}
                for see, do in zip(self.see, self.do, strict=True)
            ],
        }

    def reading(self) -> tuple[str, ...]:
        """What the two numbers mean, as sentences."""
        dp, do, see = self.dp_epsilon, self.most_done.epsilon, self.most_seen.epsilon
        error = max(self.most_done.error, self.most_seen.error)
        by_dp, by_do, by_see = (_factor(level, error) for level in (dp, do, see))
        said = [
            f"The mechanism is {up_words(dp, error)}-DP. So whatever is written into one record, "
            f"the probability of every outcome changes by a factor of at most {by_dp}; here by "
            f"at most {by_do}. That holds in every such model and assumes no independence."
        ]
        if see > dp + self.most_seen.error:
            said.append(
                f"Learning a record's value can change it by a factor of {by_see}, which is "
                f"more than DP bounds: the values of others come with it. {up_words(see, error)} "
                "is the level against an attacker who knows the model and no record."
            )
        else:
            said.append(
                f"Learning a record's value changes it by a factor of at most {by_see}: in "
                "this model dependence adds nothing to what DP bounds."
            )
        return tuple(said)


def compare(model: CausalStructure, channel: Any = None) -> SeeingAndDoing:
    """The effects of seeing and of setting each data point: `CausalModel.compare`.

    Raises `InputError` as `CausalModel.see`, and `UnsupportedError` for too many data points.
    """
    mechanism = model.compiled(channel)
    _refuse_work(model, mechanism)
    numbers = range(len(model.data))
    return SeeingAndDoing(
        mechanism.dp_epsilon,
        tuple(_effect(model, mechanism, "see", model.data[i]) for i in numbers),
        tuple(_effect(model, mechanism, "do", model.data[i]) for i in numbers),
    )


def _refuse_work(model: CausalStructure, mechanism: Compiled) -> None:
    """Refuse too many steps: for each effect, the nodes squared and a hundredth of the cells."""
    factors, first = _all_factors(model, model.factors(), mechanism), model.data[0]
    keep = [first] if isinstance(mechanism, OfTotal) else list(model.data)
    cells = planned_cells(factors, keep, [node.size for node in model.nodes])
    if isinstance(mechanism, OfTotal):
        cells += model.nodes[first].size * mechanism.kernel.size
    work = 2 * len(model.data) * (len(model.nodes) ** 2 + cells // 100)
    if work > MOST_WORK:
        raise UnsupportedError(
            "model",
            f"{len(model.data)} data points among {len(model.nodes)} nodes, {work:.3g} steps for "
            "the effects of all of them",
            expected=f"at most {MOST_WORK:.0e} steps (a minute or two)",
            remedy="Ask for the effects of one: `CausalModel.see` and `CausalModel.do`.",
        )


def effect(model: CausalStructure, channel: Any, how: How, record: str | int) -> Effect:
    """The effect of seeing or setting one data point: `CausalModel.see` and `CausalModel.do`.

    Raises `InputError` for a channel or record that the model doesn't have, `UnsupportedError` for
    a model that is too large.
    """
    mechanism = model.compiled(channel)
    if isinstance(record, str):
        return _effect(model, mechanism, how, model.place(record))
    if isinstance(record, bool) or not 0 <= record < len(model.data):
        raise InputError(
            "record", record, expected=f"a name, or a number from 0 to {len(model.data) - 1}"
        )
    return _effect(model, mechanism, how, model.data[record])


def _effect(model: CausalStructure, mechanism: Compiled, how: How, node: int) -> Effect:
    # Setting a node cuts it from its causes: its table leaves the product, all others stay
    # (the truncated factorisation). What is left is the law given each value that it is set to.
    factors = model.factors(without=node if how == "do" else None)
    joint, mass, roundings = _with_outcome(model, factors, mechanism, node)
    possible = [v for v in range(len(joint)) if mass[v] > 0.0]
    laws = joint[possible] / mass[possible, None]
    error = (4 * (roundings + 2 * len(model.nodes)) + _LOGARITHMS) * UNIT
    labels = model.nodes[node].labels
    level, attains = _worst(laws, [labels[v] for v in possible], mechanism, error)
    rows = dict(zip(possible, laws.tolist(), strict=True))
    return Effect(
        how,
        model.nodes[node].name,
        Exact(level, error),
        attains,
        labels,
        tuple(tuple(rows[v]) if v in rows else None for v in range(len(joint))),
    )


def _with_outcome(
    model: CausalStructure, factors: list[EliminationFactor], mechanism: Compiled, node: int
) -> tuple[Floats, Floats, int]:
    """`P[x_node, y]` and `P[x_node]` from the factors, and their roundings."""
    sizes = [variable.size for variable in model.nodes]
    factors = _all_factors(model, factors, mechanism)
    if isinstance(mechanism, OfTotal):
        joint = marginal(factors, [node], sizes)
        cells, rows = joint.table, mechanism.kernel[None]
        return _applied(cells, rows), cells.sum(axis=1), joint.roundings + cells.shape[1] + 2
    keep = list(model.data) if node in model.data else [*model.data, node]
    joint = marginal(factors, keep, sizes)
    axis = keep.index(node)
    table = np.moveaxis(joint.table[..., 0], axis, 0)
    channel = mechanism.channel
    channel = np.moveaxis(channel, axis, 0) if node in model.data else channel[None]
    cells = table.reshape(len(table), -1)
    rows = channel.reshape(len(channel), -1, channel.shape[-1])
    return _applied(cells, rows), cells.sum(axis=1), joint.roundings + cells.shape[1] + 2


def _all_factors(
    model: CausalStructure, factors: list[EliminationFactor], mechanism: Compiled
) -> list[EliminationFactor]:
    """The factors, and the scores of every data point if the mechanism sees only their total."""
    if not isinstance(mechanism, OfTotal):
        return factors
    scored = []
    for i, scores in zip(model.data, mechanism.scores, strict=True):
        marks = np.zeros((len(scores), max(scores) + 1))
        marks[np.arange(len(scores)), scores] = 1.0
        scored.append(EliminationFactor((i,), marks))
    return factors + scored


def _applied(cells: Floats, channel: Floats) -> Floats:
    """`sum over c of cells[v, c] channel[v or 0, c, y]`; refuses positive terms that round to 0."""
    out = np.empty((len(cells), channel.shape[-1]))
    try:
        with np.errstate(under="raise"):
            for y in range(channel.shape[-1]):
                out[:, y] = (cells * channel[..., y]).sum(axis=1)
    except FloatingPointError:
        raise UnsupportedError(
            "mechanism",
            "a probability so small",
            expected="probabilities of outcomes and databases above 1e-300",
            remedy="Double precision would take it for 0.",
        ) from None
    return out


def _worst(
    laws: Floats, labels: list[str], mechanism: Compiled, error: float
) -> tuple[float, Attains | None]:
    """The largest log ratio between two rows, and where; 0 if within rounding of 0."""
    if len(laws) < 2:
        return 0.0, None
    high, low = laws.max(axis=0), laws.min(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(high > 0.0, np.log(high) - np.log(low), -1.0)
    level = float(gap.max())
    if level <= error:
        return 0.0, None
    y = int(np.argmax(gap >= level - error))  # the first of all that are within rounding
    value, other = int(np.argmax(laws[:, y])), int(np.argmin(laws[:, y]))
    likely, unlikely = float(laws[value, y]), float(laws[other, y])
    return level, Attains(mechanism.outcomes[y], labels[value], labels[other], likely, unlikely)


def _first_largest(effects: tuple[Effect, ...]) -> Effect:
    """The first effect whose level is, within rounding, the largest."""
    largest = max(effects, key=lambda effect: effect.epsilon)
    return next(effect for effect in effects if effect.epsilon >= largest.epsilon - largest.error)


def _factor(value: float, error: float) -> str:
    """`e^1 = 2.719`, rounded up, or in words where that says nothing."""
    if value > 700.0:
        return "any number"
    if value < 1e-12:
        return "1 (not at all)"
    factor = math.exp(value)
    step = 10.0 ** (math.floor(math.log10(factor)) - 3)
    return f"e^{up_words(value, error)} = {math.ceil(factor / step) * step:.4g}"
