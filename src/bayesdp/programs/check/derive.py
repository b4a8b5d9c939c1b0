"""Derives a program's cost by the kernel's rules: what each release states is proposed here.

The kernel goes through the commands (`Walk`) and holds every proposal against its own rules. What a
release states is the least that they give; how far a fold moves is asked of solvers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from flint import arb

from bayesdp.kernel.arithmetic import InvalidError, UnknownError
from bayesdp.kernel.programs.costs import CommandsCost, Walk
from bayesdp.kernel.programs.effort import Effort
from bayesdp.kernel.programs.levels import ValueKind
from bayesdp.kernel.programs.ranges import AdjacencyContext, folded
from bayesdp.kernel.programs.refusals import UnprovedError
from bayesdp.kernel.programs.releases import (
    bound_variable,
    candidates_of,
    hellinger,
    kind_of_value,
    lipschitz,
    whole,
)
from bayesdp.kernel.programs.sensitivities import Norm, SensitivityBound
from bayesdp.kernel.programs.setting import Setting
from bayesdp.numbers import up_words
from bayesdp.programs.check.candidates import check_candidates
from bayesdp.programs.check.divisors import facts
from bayesdp.programs.check.explain import Explanations
from bayesdp.programs.check.refine import Refinements
from bayesdp.programs.check.refusals import Rejected, Stopped, Undecided
from bayesdp.programs.ir import Branch, Command, Derive, Expr, Release, plain
from bayesdp.programs.number_text import distinct_decimals
from bayesdp.statements.base import exact_text
from bayesdp.statements.program_steps import Node, SequenceNode

TEN_DIGITS = 10**10
EnteringCost = Fraction | None
"""The cost where one record only enters or leaves; `None` where no bound is known."""
ReleaseKinds = tuple[str, str | None, tuple[Fraction, Fraction] | None]
ANY: ReleaseKinds = ("any", None, None)


class Derivation(Walk):
    """The kernel's walk over a program that has no derivation yet.

    The methods raise `Rejected` for what no rule allows, `Undecided` where solvers don't decide.
    """

    def __init__(self, setting: Setting, refinements: Refinements, explain: Explanations) -> None:
        super().__init__(setting, making=True)
        self.refinements, self.explain = refinements, explain

    # -- commands ------------------------------------------------------------------------------

    def command(
        self, command: Command, node: Node | None, names: Mapping[str, ValueKind]
    ) -> CommandsCost:
        """Derive the node of a command, explaining it before the rules see it."""
        if isinstance(command, Derive):
            self.explain.public(command.value, self.scope(names), noted=True)
        if isinstance(command, Branch):
            self.explain.public(command.test, self.scope(names), noted=True)
        return super().command(command, node, names)

    def side(
        self,
        command: Branch,
        holds: bool,
        node: SequenceNode | None,
        names: Mapping[str, ValueKind],
    ) -> CommandsCost:
        """Derive a side of a branch, which knows whether the test holds."""
        outside = self.explain.facts
        self.explain.facts = (*outside, *facts(command.test, holds))
        spent = super().side(command, holds, node, names)
        self.explain.facts = outside
        return spent

    # -- releases ------------------------------------------------------------------------------

    def proposed(self, release: Release, setting: Setting) -> dict[str, Any]:
        """The node of a release: the least sensitivity, and the cost of entering with its noise."""
        self._arguments(release, setting)
        # What may be tried for one release doesn't depend on how many there are.
        context = replace(setting.context, effort=Effort())
        own = replace(setting, scope=replace(setting.scope, context=context))
        step = _RELEASES[release.op](self, release, own)
        return {"release": release.name, "rule": release.op} | step

    def _arguments(self, release: Release, setting: Setting) -> None:
        """Candidates, likelihoods and priors are public; scores see one candidate."""
        scope = setting.scope
        if release.op in ("exponential", "per-record-exponential"):
            *_, score, candidates = release.args
            self.explain.public(candidates, scope)
            check_candidates(candidates, scope.context)
            if score.op != "hellinger":
                place = candidates_of(candidates, scope)
                if place is not None:
                    scope = bound_variable(score, place, setting).scope
        for argument in release.args:
            self.explain.look(argument, scope)
            model = argument.args[0].args[0] if argument.op == "hellinger" else argument
            if model.op == "observe":
                self.explain.public(model.args[1], scope)
                self.explain.public(model.args[2], scope)

    def laplace(self, release: Release, setting: Setting) -> dict[str, Any]:
        """Laplace noise of scale sensitivity / epsilon on every entry: the l1 norm counts."""
        kind_of_value(release, setting.scope)
        epsilon = _option(release, "epsilon")
        value, context = release.args[0], setting.context
        bound = _least(setting, value, "l1", context)
        self._check_asserted(release, bound.value, setting)
        scale = dict(release.options).get("sensitivity", bound.value)
        entering = _entering_cost(setting, value, "l1", scale, epsilon)
        return _step(epsilon, "l1", bound.value, bound.by, entering, lipschitz(value, context))

    def gaussian(self, release: Release, setting: Setting) -> dict[str, Any]:
        """Gaussian noise: the l2 norm counts, and (epsilon, delta) is a point of its curve."""
        kind = kind_of_value(release, setting.scope)
        epsilon, delta = _option(release, "epsilon"), _option(release, "delta")
        if delta >= 1:
            raise Rejected("static", "delta is below 1.", release.where)
        value = release.args[0]
        bound = _least(setting, value, "l2", setting.context)
        sigma = dict(release.options).get("sigma")
        if sigma is not None:
            exact = kind.name == "number" and whole(value, setting.context)
            _check_sigma(sigma, folded(bound.value), epsilon, delta, exact)
        entering = _entering_cost(setting, value, "l2", bound.value, Fraction(1))
        return _step(epsilon, "l2", bound.value, bound.by, entering, delta=delta)

    def exponential(self, release: Release, setting: Setting) -> dict[str, Any]:
        """The exponential mechanism: the score's sensitivity scales the noise."""
        score, candidates = release.args
        entering: EnteringCost
        if score.op == "hellinger":
            model = score.args[0].args[0]
            setting.scope.observed(model)
            epsilon = _option(release, "epsilon")
            value = rounded_up(hellinger(model, setting, setting.context))
            by = "hellinger"
            _of_one_family(candidates, model.args[2])
            self._check_asserted(release, value, setting)
            scale = dict(release.options).get("sensitivity", value)
            try:
                small = rounded_up(hellinger(model, setting, setting.context.entering()))
                entering = _ratio(small, scale, epsilon)
            except InvalidError:
                entering = None
            return _step(epsilon, "score", value, by, entering)
        place = candidates_of(candidates, setting.scope)
        if place is None:
            raise Rejected("type", "Numbers are wanted as candidates here.", candidates)
        inner, scored = bound_variable(score, place, setting), score.args[0]
        inner.scope.private(scored)
        epsilon = _option(release, "epsilon")
        bound = _least(inner, scored, "l1", inner.context)
        self._check_asserted(release, bound.value, setting)
        scale = dict(release.options).get("sensitivity", bound.value)
        entering = _entering_cost(inner, scored, "l1", scale, epsilon)
        return _step(epsilon, "score", bound.value, bound.by, entering)

    def per_record_exponential(self, release: Release, setting: Setting) -> dict[str, Any]:
        """A choice for each record: the cost is that of one record, not the sum."""
        data, score, candidates = release.args
        setting.scope.data(data)
        place = candidates_of(candidates, setting.scope)
        if place is None:
            raise Rejected("type", "Numbers are wanted as candidates here.", candidates)
        inner = bound_variable(score, place, setting)
        inner.scope.row(score.args[0])
        inner.scope.exact_divisors(score.args[0])
        epsilon = _option(release, "epsilon")
        width = inner.context.range(score.args[0])
        if not width.finite:
            raise Rejected("bounds", "A record's score has no bounds.", score, "Clip it.")
        return _step(epsilon, "score", number(width.width()), "one record", None)

    def randomized_response(self, release: Release, setting: Setting) -> dict[str, Any]:
        """Randomized response: each record answers on its own."""
        setting.scope.data(release.args[0])
        epsilon = _option(release, "epsilon")
        return _step(epsilon, "score", number(Fraction(1)), "one record", None)

    def posterior_sample(self, release: Release, setting: Setting) -> dict[str, Any]:
        """One draw from a grid posterior with clipped log-likelihood: 2 power (high - low).

        Half of that where a record enters or leaves, even if 0 is not in the interval (theory 8.5).
        """
        model, grid = release.args
        setting.scope.observed(model)
        low, high, power = (_option(release, name) for name in ("low", "high", "power"))
        self.explain.public(grid, setting.scope)
        check_candidates(grid, setting.context)
        if not low < high:
            raise Rejected(
                "bounds", "The log-likelihood is held between low < high.", release.where
            )
        entering = power * (high - low)
        epsilon = entering if setting.context.adjacency == "add-remove" else 2 * entering
        return _step(epsilon, "log-likelihood", number(high - low), "clipped", entering)

    def above_threshold(self, release: Release, setting: Setting) -> dict[str, Any]:
        """The first query above a threshold: the query that moves farthest scales the noise."""
        queries, threshold = release.args
        self.explain.public(threshold, setting.scope)
        epsilon = _option(release, "epsilon")
        bounds = [_least(setting, query, "l1", setting.context) for query in queries.args]
        value = _largest([bound.value for bound in bounds])
        if value is None:
            raise Undecided(
                "unproved",
                "Which query moves farthest is known with the table only.",
                release.where,
                "Divide by the number of records after the release, or release the queries apart.",
            )
        self._check_asserted(release, value, setting)
        scale = dict(release.options).get("sensitivity", value)
        costs = [_entering_cost(setting, query, "l1", scale, epsilon) for query in queries.args]
        known = [cost for cost in costs if cost is not None]
        entering = max(known) if len(known) == len(costs) else None
        by = next(bound.by for bound in bounds if bound.value == value)
        return _step(epsilon, "score", value, by, entering)

    def _check_asserted(self, release: Release, derived: Expr, setting: Setting) -> None:
        asserted = dict(release.options).get("sensitivity")
        if asserted is None:
            return
        self.explain.public(asserted, setting.scope)
        asserted_number, derived_number = folded(asserted), folded(derived)
        if asserted_number is None or derived_number is None:
            self.refinements.enough(asserted, derived)
        elif asserted_number < derived_number:
            less, least = distinct_decimals(asserted_number, derived_number)
            raise Rejected(
                "sensitivity",
                f"sensitivity={less} is asserted, and one record can move this by {least}.",
                asserted,
                f"Write sensitivity={least}, or leave it out.",
            )


_RELEASES = {
    "laplace": Derivation.laplace,
    "gaussian": Derivation.gaussian,
    "exponential": Derivation.exponential,
    "per-record-exponential": Derivation.per_record_exponential,
    "randomized-response": Derivation.randomized_response,
    "posterior-sample": Derivation.posterior_sample,
    "above-threshold": Derivation.above_threshold,
}


# -- helpers -------------------------------------------------------------------------------------


def number(value: Fraction) -> Expr:
    """A number as a constant expression."""
    return Expr("const", (), (value,))


def _largest(values: Sequence[Expr]) -> Expr | None:
    """The largest of numbers, or what all of them are; None where that is not known."""
    numbers = [folded(value) for value in values]
    known = [value for value in numbers if value is not None]
    if len(known) == len(numbers):
        return number(max(known))
    return values[0] if all(value == values[0] for value in values) else None


def _option(release: Release, name: str) -> Fraction:
    value = folded(dict(release.options)[name])
    if value is None or (name in ("epsilon", "delta", "power") and value <= 0):
        raise Rejected("static", f"{name} is a number above 0, known beforehand.", release.where)
    return value


def _check_sigma(
    sigma: Expr, squared: Fraction | None, epsilon: Fraction, delta: Fraction, exact: bool
) -> None:
    from bayesdp.programs.check.noise import gaussian_delta

    asserted_sigma = folded(sigma)
    if asserted_sigma is None or squared is None or asserted_sigma <= 0:
        raise Undecided(
            "unproved",
            "An asserted sigma is held against a constant only, and this is known with the table.",
            sigma,
            "Leave sigma out: it is then calibrated. Or write the number.",
        )
    reached = gaussian_delta(asserted_sigma, squared, epsilon, exact)
    if reached > delta:
        raise Rejected(
            "noise",
            f"Noise of standard deviation {exact_text(float(asserted_sigma))} has delta "
            f"{up_words(float(reached))} at epsilon {exact_text(float(epsilon))}, and "
            f"{exact_text(float(delta))} is stated.",
            sigma,
            "Leave sigma out: it is then calibrated.",
        )


def _of_one_family(candidates: Expr, prior: Expr) -> None:
    """Distances are computed inside one family: candidates are of the posterior's."""
    family, size = prior.data[:1], len(prior.args)
    offered, many = candidates.data[:1], size
    if candidates.op == "posteriors-of":
        before = candidates.args[0]
        offered = before.data[:1] if before.op == "prior" else ("beta",)
        many = len(before.args) if before.op == "prior" else size
    if offered != family or many != size:
        raise Rejected(
            "type",
            "The candidates are of another family than the posterior.",
            candidates,
            f"grid_of({prior.data[0]}, ...) or, for a beta or dirichlet prior, "
            "posteriors_of(prior, n=...) of as many labels.",
        )


def rounded_up(distance: arb) -> Expr:
    """A distance with ten digits, rounded up; at most 1, like every distance."""
    if not distance < 1:  # also a ball so wide that its ends would be huge numbers
        return number(Fraction(1))
    upper = (distance.upper() * TEN_DIGITS).ceil().unique_fmpz()
    rounded = Fraction(1) if upper is None else Fraction(int(upper), TEN_DIGITS)
    return number(min(rounded, Fraction(1)))


def _least(
    setting: Setting, value: Expr, norm: Norm, context: AdjacencyContext
) -> SensitivityBound:
    """The least bound of all rules, or of the quick ones where the others would take too long."""
    try:
        return setting.sensitivity(value, norm, context)
    except UnprovedError:
        raise
    except UnknownError:
        return setting.sensitivity(value, norm, context, thorough=False)


def _entering_cost(
    setting: Setting, value: Expr, norm: Norm, scale: Expr, epsilon: Fraction
) -> EnteringCost:
    """The cost where one record only enters or leaves, with the noise as it is."""
    try:
        small = _least(setting, value, norm, setting.context.entering())
    except (InvalidError, Stopped):
        return None
    return _ratio(small.value, scale, epsilon)


def _ratio(small: Expr, scale: Expr, epsilon: Fraction) -> EnteringCost:
    a, b = folded(small), folded(scale)
    if a is None or b is None:
        return epsilon if small == scale else None
    if b == 0:
        return Fraction(0) if a == 0 else None
    return epsilon * a / b


def _step(
    epsilon: Fraction,
    norm: str,
    value: Expr,
    by: str,
    entering: EnteringCost,
    kind: ReleaseKinds = ANY,
    delta: Fraction = Fraction(0),
) -> dict[str, Any]:
    name, column, interval = kind
    return {
        "epsilon": str(epsilon),
        "delta": str(delta),
        "sensitivity": {"norm": norm, "value": plain(value), "by": by},
        "entering": None if entering is None else str(entering),
        "kind": name,
        "column": column,
        "interval": None if interval is None else [str(end) for end in interval],
    }
