"""Conversions with a delta: from pure and zCDP costs to an (epsilon, delta) level (2.5, 3.10).

A release with Gaussian noise has, under its conversion, a composition of which the conclusion is

    {"notion": "dp", "epsilon": E, "rho": R}

`E` the sum of the pure costs, `R` of the zCDP costs. A conversion step with a delta is

    {"rule": THEOREM,
     "conclusion": {"notion": "bdp", "epsilon": e, "delta": d, "adversary": ADVERSARY},
     "evidence": {
       "population": ..., "covers": [...], "independent": [...], "secrets": ..., "interval": [...],
       "cost": {"any": .., "lipschitz": .., "slack": .., "rho_any": .., "rho_lipschitz": ..,
                "rho_slack": .., "by_column": [{"column", "width", "dp_epsilon", "slack", "rho",
                "rho_slack"}, ...]},
       "delta": {"counted": "pure" | "zcdp",
                 "way": "renyi" | "point",
                 "alpha": [p, q],
                 "dp_epsilon": .., "dp_delta": ..},
       "details": {...}},
     "premises": [the composition]}

`interval` stands there as without a delta. `counted` says how pure spends enter `cost`: as such, or
each of them as zCDP of `eps^2 / 2` (then `any`, `lipschitz` and `slack` are 0). `alpha = p / q > 1`
is the Rényi order of the proof.

* `renyi`: the theorem turns the cost (E, R) of one record into that (E', R') of a secret, and the
  level is a point of its curve: `d >= exp((alpha - 1) (E' + alpha R' - e)) / (alpha - 1)
  (1 - 1/alpha)^alpha`. For `independent`, `cluster-size`, the Gaussian theorems, `family` of them.
* `point`: `(dp_epsilon, dp_delta)` is a point of the curve of (E, R). The theorem says that `e` is
  a level of every mechanism of the pure cost `dp_epsilon` and of kind `any`, and
  `d >= dp_delta (exp(e) - 1) / (exp(dp_epsilon) - 1)` (theory 3.10). For every theorem; `details`
  are those of the pure level. `dp_epsilon` and `dp_delta` stand there only with this way, and with
* `stated`, in certificates of a conversion alone: the mechanism is any with that `(dp_epsilon,
  dp_delta)`, and `cost` is `dp_epsilon`. The same as `point`, without `alpha`.

Where a family has no `delta` in its evidence, under it stands, besides the composition, one such
step for each member; with a `stated` pair, one pure step for each. A step of notion DP has the rule
`approximate-dp`, the conclusion `{"notion": "dp", "epsilon": e, "delta": d}` and in its evidence
`cost` and `delta` (`renyi`) alone; and `own_delta`, where mechanisms have deltas of their own. They
add up to it, it is a part of `d`, and the order has the rest (theory 2.6b). Pure costs beside
deltas are never counted as zCDP. No conversion is of such costs.

A level of pure costs may stand under a claim with one, since a delta
of 0 is below it: such a step needs no `delta` in its conclusion and has none in its evidence.

Who reads a release calls `composition.as_zcdp` on its spends, `composition.compose` on both, and
hands the two costs to `conversions.read_conversion` (or to `dp_level`), which takes the cost that
the step counts by.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from flint import arb

from bayesdp.kernel.arithmetic import at_least, ball, require
from bayesdp.kernel.conversions.bounds import bounded
from bayesdp.kernel.costs.composition import Cost
from bayesdp.kernel.judgement import Conversion, OfMember
from bayesdp.statements.conversions import Point, Renyi
from bayesdp.statements.steps import ApproximateStep


def level(conversion: Conversion, of_member: OfMember) -> arb:
    """The least level at the conversion's delta that its proof gives."""
    proof, rule = conversion.proof, conversion.rule
    assert proof is not None
    delta = _probability(conversion.delta, rule)
    require(conversion.total + conversion.rho > 0, "nothing is spent", rule)
    if isinstance(proof, Renyi):
        alpha = _order(proof.alpha, rule)
        return bounded(replace(conversion, alpha=alpha)) + reserve(alpha, delta)
    dp_epsilon = Fraction(proof.dp_epsilon)
    dp_delta = _probability(Fraction(proof.dp_delta), rule)
    require(dp_epsilon > 0, "dp_epsilon is not above 0", rule)
    if isinstance(proof, Point):
        alpha = _order(proof.alpha, rule)
        due = ball(replace(conversion, alpha=alpha).of_group(1)) + reserve(alpha, dp_delta)
        at_least(proof.dp_epsilon, due, f"{rule}: dp_epsilon")
    else:
        require(
            conversion.for_any_mechanism and conversion.rho == 0, "a DP delta is not derived", rule
        )
        require(dp_epsilon == conversion.total, "dp_epsilon is not the cost", rule)
    pure = bounded(_pure(conversion, dp_epsilon), of_member)
    due = ball(dp_delta) * _growth(pure, dp_epsilon)
    require(bool(due <= ball(delta)), "its delta does not follow", rule)
    return pure


def _pure(conversion: Conversion, dp_epsilon: Fraction) -> Conversion:
    """The same step for every mechanism of this pure cost: nothing is known of its kind.

    Its delta is 0, so that members of a family are asked for pure levels too.
    """
    return replace(
        conversion,
        cost=Cost(any=dp_epsilon),
        mechanism=None,
        delta=Fraction(0),
        proof=None,
        alpha=None,
        zcdp=None,
    )


def _growth(pure: arb, dp_epsilon: Fraction) -> arb:
    """What a delta is multiplied by: `(e^L - 1) / (e^eps - 1)`, `L` a level of all eps-DP (3.10).

    The event's probability plus `delta / (e^eps - 1)` is log-Lipschitz with `eps`, so its means for
    two secrets are within a factor of `e^L`.
    """
    if bool(pure <= ball(dp_epsilon)):
        return arb(1)
    return pure.upper().expm1() / ball(dp_epsilon).expm1()


def dp_level(step: ApproximateStep, spent: Cost) -> arb:
    """The DP level of what the step counts; the step may not claim less."""
    alpha = _order(step.evidence.delta.alpha, step.rule)
    rest = Fraction(step.conclusion.delta) - Fraction(step.evidence.own_delta)
    delta = _probability(rest, step.rule)
    return ball(spent.total + alpha * spent.rho) + reserve(alpha, delta)


def reserve(alpha: Fraction, delta: Fraction) -> arb:
    """How far above `D_alpha` the epsilon of this delta lies; at least 0.

    `(ln(1/delta) - ln(alpha)) / (alpha - 1) + ln(1 - 1/alpha)`: theory 2.5.
    """
    above = -ball(delta).log() - ball(alpha).log()
    value: arb = above / ball(alpha - 1) + ball((alpha - 1) / alpha).log()
    return value.max(arb(0))


def _order(fraction: tuple[int, int], rule: str) -> Fraction:
    alpha = Fraction(*fraction)
    require(1 < alpha <= 10**18, "alpha is not a Rényi order above 1", rule)
    require(alpha - 1 >= Fraction(1, 10**9), "alpha is too close to 1", rule)
    return alpha


def _probability(delta: Fraction, rule: str) -> Fraction:
    require(0 < delta < 1, "delta is not a probability between 0 and 1", rule)
    return delta
