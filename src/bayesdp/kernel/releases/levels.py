"""The level of spends: what the release's own step proves, from what is declared and spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from bayesdp.kernel.arithmetic import agree, at_least, ball, require
from bayesdp.kernel.conversions.approximate import dp_level
from bayesdp.kernel.conversions.conversion import conversion_level, counted, read_conversion
from bayesdp.kernel.costs.composition import (
    Cost,
    SecretsInterval,
    Spent,
    as_zcdp,
    check_own_delta,
    compose,
    declared_cost,
    is_gaussian,
    is_sum_of,
    own_delta,
    summed,
)
from bayesdp.kernel.judgement import GAUSSIAN_RULES
from bayesdp.kernel.reading import same
from bayesdp.kernel.releases.declaration import Declaration
from bayesdp.statements.claims import AnyValues, BoundedValues, Secrets
from bayesdp.statements.conversions import Conversion
from bayesdp.statements.costs import Composition
from bayesdp.statements.gaussian import GaussianVectors
from bayesdp.statements.populations import law_of
from bayesdp.statements.steps import ApproximateStep, DataSetStep

ANY_VALUES = AnyValues(kind="any values that the population gives a positive probability")
LevelStep = Composition | DataSetStep | ApproximateStep | Conversion


def cost_of(
    declared: Declaration, spends: Sequence[Spent], secrets: str
) -> tuple[Cost, SecretsInterval]:
    """The sum of the spends, and the interval of secrets that it needs.

    Raises `InvalidError` if a spend reads a column that is neither covered nor independent.
    """
    for priced in spends:
        if priced.spend.dataset != declared.body.dataset:
            continue  # of the same people: what is read there stands among the assumptions
        unspoken = set(priced.spend.reads) - set(declared.covers) - set(declared.independent)
        require(
            not unspoken,
            f"the population says nothing of {sorted(unspoken)}",
            priced.spend.query,
        )
    return compose(
        spends, declared.population, declared.covers, secrets_interval(declared, secrets)
    )


def secrets_interval(declared: Declaration, secrets: str) -> tuple[Fraction, Fraction] | None:
    """Where secrets lie: the declared bounds of the one column that a Gaussian law covers."""
    population = declared.population
    vectors = isinstance(population, GaussianVectors)
    scalar = is_gaussian(population) and not vectors and secrets == "bounded"
    names = population.covers if population is not None and scalar else ()
    bounds = getattr(declared.columns[names[0]], "bounds", None) if len(names) == 1 else None
    return None if bounds is None else (Fraction(bounds[0]), Fraction(bounds[1]))


def level_of(declared: Declaration, step: LevelStep, spends: Sequence[Spent]) -> arb:
    """The level that the release's own step proves, from what is declared and spent."""
    if not isinstance(step, Conversion):
        return _dp_level(step, spends)
    require(own_delta(spends) == 0, "mechanisms have deltas of their own", step.rule)
    evidence = step.evidence
    law = law_of(declared.body.population or {})
    place = secrets_interval(declared, evidence.secrets)
    interval = None if place is None else tuple(float(end) for end in place)
    for what, stated, due in (
        ("population", evidence.population, law),
        ("covers", sorted(evidence.covers), declared.covers),
        ("independent", sorted(evidence.independent), declared.independent),
        ("interval", evidence.interval, interval),
    ):
        require(same(stated, due), f"{what} is not what is declared", step.rule)
    cost, _ = cost_of(declared, spends, evidence.secrets)
    zcdp, _ = cost_of(declared, as_zcdp(spends), evidence.secrets)
    as_counted = counted(step) == "zcdp"
    together, parts = (zcdp, as_zcdp(spends)) if as_counted else (cost, spends)
    # The theorems about Gaussian populations look at kinds, the others at sums alone.
    split = is_gaussian(declared.population)
    _check_cost(step, together, None if split else parts)
    mechanism = single_mechanism(declared, spends)
    named = evidence.details.get("mechanism", mechanism)
    agree(named, mechanism, "mechanism", step.rule)
    return conversion_level(step, read_conversion(step, cost, mechanism, zcdp))


def single_mechanism(declared: Declaration, spends: Sequence[Spent]) -> str | None:
    """What all spends are, where all read the one covered column of all records."""
    mechanisms = {priced.spend.mechanism for priced in spends}
    alike = len(declared.covers) == 1 and all(
        list(priced.spend.reads) == declared.covers and priced.spend.block is None
        for priced in spends
    )
    return mechanisms.pop() if alike and len(mechanisms) == 1 else None


def secrets_of(declared: Declaration, step: LevelStep, spends: Sequence[Spent]) -> Secrets:
    """Where secret values must lie for the level, in the words of the claim."""
    if not isinstance(step, Conversion) or step.rule not in GAUSSIAN_RULES:
        return ANY_VALUES
    if step.conclusion.adversary == "informed":
        return ANY_VALUES
    _, place = cost_of(declared, spends, step.evidence.secrets)
    if place is None:
        return ANY_VALUES
    named = "intervals" if isinstance(place, Mapping) else "interval"
    return BoundedValues.model_validate({"kind": "bounded", named: place})


def as_stated(secrets: Secrets) -> dict[str, Any]:
    """As it stands on the certificate."""
    return secrets.model_dump(exclude_none=True)


def delta_of(step: LevelStep) -> float:
    """The delta of the level that a step concludes; 0 where there is none."""
    return getattr(step.conclusion, "delta", 0.0)


def _dp_level(step: LevelStep, spends: Sequence[Spent]) -> arb:
    """The DP level of spends: their sum, or at a delta what a Rényi divergence gives."""
    if not isinstance(step, ApproximateStep):
        pure, rho = summed(spends)
        require(rho == 0, "Gaussian noise has no level without a delta", step.rule)
        check_own_delta(step.conclusion.delta, spends, step.rule)
        return ball(pure)
    check_own_delta(step.evidence.own_delta, spends, step.rule)
    parts = as_zcdp(spends) if counted(step) == "zcdp" else spends
    together, _ = compose(parts, None, [])
    _check_cost(step, together, parts)
    level = dp_level(step, together)
    at_least(step.conclusion.epsilon, level, "approximate-dp: epsilon")
    return level


def _check_cost(
    step: Conversion | ApproximateStep, together: Cost, spends: Sequence[Spent] | None
) -> None:
    """The cost that a step states is the sum of the spends; by kind where none are given."""
    stated = declared_cost(step.evidence.cost)
    sums = stated.is_close(together) if spends is None else is_sum_of(stated, together, spends)
    require(sums, "cost: it is not the sum of the spends", step.rule)
