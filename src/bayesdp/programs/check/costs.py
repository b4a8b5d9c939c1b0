"""What commands cost: one release, then sequences, branches and partitions. Exact fractions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from bayesdp.programs.check.intervals import Context, Interval, bounds, of_type, one_bound
from bayesdp.programs.check.lemmas import Size, beta_binomial, dirichlet, gamma_poisson, normal
from bayesdp.programs.check.refine import Refinements
from bayesdp.programs.check.refusals import Rejected, Stopped, Unknown
from bayesdp.programs.check.rows import columns
from bayesdp.programs.check.sensitivity import World, constant_of, is_private, number, sensitivity
from bayesdp.programs.ir import Branch, Command, Derive, Expr, Parts, Program, Release, plain

Pair = tuple[Fraction, Fraction]
NOTHING: Pair = (Fraction(0), Fraction(0))


@dataclass(frozen=True)
class Price:
    """A release's cost under the program's adjacency, and where one record only enters or leaves.

    `entering` is None where no bound is known. `node` is its part of the derivation.
    """

    cost: Pair
    entering: Pair | None
    node: dict[str, Any]


class Costs:
    """Prices every command of a program."""

    def __init__(
        self, program: Program, world: World, refinements: Refinements, least: int
    ) -> None:
        self.program, self.world = program, world
        self.refinements, self.least = refinements, least
        self.kinds: list[tuple[str, str, tuple[Fraction, Fraction] | None]] = []

    # -- commands ------------------------------------------------------------------------------

    def sequence(self, commands: Sequence[Command]) -> Price:
        """Costs of commands one after the other add up."""
        prices = [self.command(one) for one in commands]
        cost = _added([one.cost for one in prices])
        entering = [one.entering for one in prices]
        known = [one for one in entering if one is not None]
        both = _added(known) if len(known) == len(entering) else None
        return Price(cost, both, {"sequence": [one.node for one in prices]})

    def command(self, command: Command) -> Price:
        """The price of one command."""
        if isinstance(command, Release):
            return self.release(command)
        if isinstance(command, Derive):
            self.derived(command)
            return Price(NOTHING, NOTHING, {"derive": command.name})
        if isinstance(command, Branch):
            self.public_only(command.test)
            sides = [self.sequence(command.then), self.sequence(command.otherwise)]
            cost = _dearest([one.cost for one in sides])
            entering = [one.entering for one in sides]
            known = [one for one in entering if one is not None]
            both = _dearest(known) if len(known) == 2 else None
            return Price(cost, both, {"branch": [one.node for one in sides]})
        return self.parts(command)

    def parts(self, command: Parts) -> Price:
        """Pieces of a partition: in parallel if each part reads its own piece only."""
        prices = [self.sequence(commands) for _, commands in command.parts]
        node: dict[str, Any] = {
            "parts": {
                "column": command.column,
                "public": command.public,
                "confined": all(
                    _confined(commands, command.column, label) for label, commands in command.parts
                ),
                "of": [one.node for one in prices],
            }
        }
        cost = self._of_parts([one.cost for one in prices], prices, command, node)
        entering = [one.entering for one in prices]
        known = [one for one in entering if one is not None]
        if len(known) != len(entering):
            return Price(cost, None, node)
        both = _dearest(known) if node["parts"]["confined"] else _added(known)
        return Price(cost, both, node)

    def _of_parts(
        self, costs: list[Pair], prices: list[Price], command: Parts, node: Mapping[str, Any]
    ) -> Pair:
        if not node["parts"]["confined"]:
            return _added(costs)
        if command.public or self.world.adjacency == "add-remove":
            return _dearest(costs)
        moving = [one.entering for one in prices]
        if any(one is None for one in moving):
            raise Rejected(
                "type",
                f"'{command.column}' is private: a record that changes it leaves one piece and "
                "enters another, and what that costs here is not known.",
                command.where,
                "Declare the column Public[...], or release counts and sums of each piece.",
            )
        a = [one for one in moving if one is not None]
        pairs = [_added([x, y]) for i, x in enumerate(a) for y in a[i + 1 :]]
        return _dearest([*costs, *pairs])

    # -- public expressions --------------------------------------------------------------------

    def derived(self, command: Derive) -> None:
        """What is derived reads public and released values only."""
        self.public_only(command.value)

    def public_only(self, expr: Expr) -> None:
        """Refuse private data in an expression that is not released."""
        if is_private(expr, self.world) or _has_rows(expr, self.world):
            raise Rejected(
                "private-output", "A private value is used without a release.", expr, "Release it."
            )

    # -- releases --------------------------------------------------------------------------------

    def release(self, release: Release) -> Price:
        """The price of a release."""
        price = _RELEASES[release.op](self, release)
        return replace(price, node={"release": release.name, "rule": release.op} | price.node)

    def _option(self, release: Release, name: str) -> Fraction:
        found = constant_of(dict(release.options)[name])
        if found is None or (name in ("epsilon", "delta", "power") and found <= 0):
            raise Rejected(
                "static", f"{name} is a number above 0, known beforehand.", release.where
            )
        return found

    def laplace(self, release: Release) -> Price:
        """Laplace noise of scale sensitivity / epsilon on every entry: the l1 norm counts."""
        epsilon = self._option(release, "epsilon")
        moved = sensitivity(release.args[0], "l1", self.world)
        self._assert(release, "sensitivity", moved.value, "sensitivity")
        scale = dict(release.options).get("sensitivity", moved.value)
        entering = self._share(release, "l1", scale, epsilon)
        self._kind(release)
        return Price(
            (epsilon, Fraction(0)),
            None if entering is None else (entering, Fraction(0)),
            self._node(release, epsilon, Fraction(0), "l1", moved.value, moved.by, entering),
        )

    def gaussian(self, release: Release) -> Price:
        """Gaussian noise: the l2 norm counts, and (epsilon, delta) is a point of its curve."""
        epsilon, delta = self._option(release, "epsilon"), self._option(release, "delta")
        if delta >= 1:
            raise Rejected("static", "delta is below 1.", release.where)
        moved = sensitivity(release.args[0], "l2", self.world)
        sigma = dict(release.options).get("sigma")
        if sigma is not None:
            self._sigma(release, sigma, moved.constant, epsilon, delta)
        entering = self._share(release, "l2", moved.value, Fraction(1))
        self._kind(release, gaussian=True)
        # A smaller move has a smaller divergence at the same epsilon: the pair itself is a bound.
        no_more = entering is not None and entering <= 1
        return Price(
            (epsilon, delta),
            (epsilon, delta) if no_more else None,
            self._node(release, epsilon, delta, "l2", moved.value, moved.by, entering),
        )

    def _sigma(
        self,
        release: Release,
        sigma: Expr,
        squared: Fraction | None,
        eps: Fraction,
        delta: Fraction,
    ) -> None:
        from bayesdp.programs.check.noise import gaussian_delta

        given = constant_of(sigma)
        if given is None or squared is None or given <= 0:
            raise Unknown("unproved", "An asserted sigma is held against a constant only.", sigma)
        whole = _whole(release.args[0], self.world)
        reached = gaussian_delta(given, squared, eps, whole and len_of(release, self.world) == 1)
        if reached > delta:
            raise Rejected(
                "noise",
                f"Noise of standard deviation {float(given):g} has delta {float(reached):.6g} at "
                f"epsilon {float(eps):g}, and {float(delta):g} is stated.",
                sigma,
                "Leave sigma out: it is then calibrated.",
            )

    def exponential(self, release: Release) -> Price:
        """The exponential mechanism: the score's sensitivity scales the noise."""
        epsilon = self._option(release, "epsilon")
        score, candidates = release.args
        self.public_only(candidates)
        moved, by = self._score(score, candidates, self.world, release)
        self._assert(release, "sensitivity", moved, "sensitivity")
        scale = dict(release.options).get("sensitivity", moved)
        try:
            small, _ = self._score(score, candidates, self.world.entering(), release)
            entering = self._ratio(small, scale, epsilon)
        except Stopped:
            entering = None
        self.kinds.append(("any", "", None))
        return Price(
            (epsilon, Fraction(0)),
            None if entering is None else (entering, Fraction(0)),
            self._node(release, epsilon, Fraction(0), "score", moved, by, entering),
        )

    def _score(
        self, score: Expr, candidates: Expr, world: World, release: Release
    ) -> tuple[Expr, str]:
        if score.op == "hellinger":
            return number(self._hellinger(score.args[0].args[0], world)), "hellinger"
        variable = str(score.data[0])
        context = world.context.knowing(variable, candidate_bounds(candidates, world.context))
        inner = World(world.adjacency, context, world.fold)
        found = sensitivity(score.args[0], "l1", inner)
        return found.value, found.by

    def _hellinger(self, model: Expr, world: World) -> Fraction:
        data, likelihood, prior = model.args
        family = str(likelihood.data[0])
        read = columns(data.args[0]) | {c for c, _ in _pieces(data)}
        public = world.adjacency == "replace-one" and read <= world.public
        whole = not read
        size = Size(public, self.least if whole else 1)
        entering = world.adjacency == "add-remove"
        numbers = [constant_of(one) for one in prior.args] if prior.op == "prior" else [None]
        known = [one for one in numbers if one is not None]
        if len(known) != len(numbers) or any(one <= 0 for one in known[-1:]):
            raise Unknown("unproved", "The prior's parameters are not known beforehand.", prior)
        if family in ("bernoulli", "categorical", "poisson") and min(known) <= 0:
            raise Rejected("prior", "The prior's parameters are above 0.", prior)
        if family == "bernoulli":
            return beta_binomial(known[0], known[1], size, entering)
        if family == "categorical":
            return dirichlet(known, entering or not public)
        each = one_bound(data.args[1], world.context)
        if each.low is None or each.high is None or each.width is None:
            raise Rejected("bounds", "A record's value has no bounds.", data, "Clip it.")
        if family == "poisson":
            if each.low < 0:
                raise Rejected("bounds", "Counts are at least 0.", data, "clip(value, 0, high)")
            return gamma_poisson(known[0], each.high if entering or not public else each.width)
        if family == "normal" and public and not entering:
            sd = constant_of(likelihood.args[0])
            if sd is None or sd <= 0:
                raise Unknown("unproved", "The standard deviation is not known.", likelihood)
            return normal(each.width, known[1], sd, size.least)
        raise Unknown(
            "unproved",
            f"No bound is known on how far a {family} posterior moves when the number of its "
            "records is private.",
            model,
        )

    def per_record_exponential(self, release: Release) -> Price:
        """Each record answers on its own: the cost is one record's, not the sum."""
        epsilon = self._option(release, "epsilon")
        _, score, candidates = release.args
        self.public_only(candidates)
        variable = str(score.data[0])
        context = self.world.context.knowing(
            variable, candidate_bounds(candidates, self.world.context)
        )
        width = one_bound(score.args[0], context).width
        if width is None:
            raise Rejected("bounds", "A record's score has no bounds.", score, "Clip it.")
        return self._answers(release, epsilon, width)

    def randomized_response(self, release: Release) -> Price:
        """Each record answers on its own."""
        return self._answers(release, self._option(release, "epsilon"), Fraction(1))

    def _answers(self, release: Release, epsilon: Fraction, width: Fraction) -> Price:
        data = release.args[0]
        read = columns(data.args[0]) | {c for c, _ in _pieces(data)}
        if self.world.adjacency != "replace-one" or not read <= self.world.public:
            raise Rejected(
                "private-output",
                "One answer for each record tells how many records there are.",
                release.where,
            )
        bounds(data.args[1], self.world.context)
        self.kinds.append(("any", "", None))
        node = self._node(release, epsilon, Fraction(0), "score", number(width), "one record", None)
        return Price((epsilon, Fraction(0)), None, node)

    def posterior_sample(self, release: Release) -> Price:
        """One draw from a grid posterior with clipped log-likelihood: 2 power (high - low)."""
        low, high = self._option(release, "low"), self._option(release, "high")
        power = self._option(release, "power")
        model, grid = release.args
        self.public_only(grid)
        data = model.args[0]
        if not low < high:
            raise Rejected(
                "bounds", "The log-likelihood is held between low < high.", release.where
            )
        read = columns(data.args[0]) | {c for c, _ in _pieces(data)}
        largest = max(-low, high, Fraction(0))
        if self.world.adjacency == "add-remove":
            moved = largest
        elif read <= self.world.public:
            moved = high - low
        else:
            moved = max(high, Fraction(0)) - min(low, Fraction(0))
        epsilon = 2 * power * moved
        self.kinds.append(("any", "", None))
        entering = 2 * power * largest
        node = self._node(
            release, epsilon, Fraction(0), "log-likelihood", number(moved), "clipped", entering
        )
        return Price((epsilon, Fraction(0)), (entering, Fraction(0)), node)

    # -- helpers -----------------------------------------------------------------------------------

    def _assert(self, release: Release, option: str, derived: Expr, code: str) -> None:
        asserted = dict(release.options).get(option)
        if asserted is None:
            return
        self.public_only(asserted)
        given, needed = constant_of(asserted), constant_of(derived)
        if given is not None and needed is not None:
            if given < needed:
                raise Rejected(
                    code,
                    f"sensitivity={_shown(given)} is asserted, and one record can move this by "
                    f"{_shown(needed)}.",
                    asserted,
                    f"Write sensitivity={_shown(needed)}, or leave it out.",
                )
            return
        self.refinements.at_least(asserted, derived, code, "the asserted sensitivity is enough")

    def _share(
        self, release: Release, norm: str, scale: Expr, epsilon: Fraction
    ) -> Fraction | None:
        """The cost where one record only enters or leaves, with the noise as it is."""
        try:
            small = sensitivity(
                release.args[0], "l1" if norm == "l1" else "l2", self.world.entering()
            )
        except Stopped:
            return None
        return self._ratio(small.value, scale, epsilon)

    def _ratio(self, small: Expr, scale: Expr, epsilon: Fraction) -> Fraction | None:
        a, b = constant_of(small), constant_of(scale)
        if a is None or b is None:
            return epsilon if small == scale else None
        if b == 0:
            return Fraction(0) if a == 0 else None
        return epsilon * a / b

    def _node(
        self,
        release: Release,
        epsilon: Fraction,
        delta: Fraction,
        norm: str,
        value: Expr,
        by: str,
        entering: Fraction | None,
    ) -> dict[str, Any]:
        kind, column, interval = self.kinds[-1]
        return {
            "epsilon": str(epsilon),
            "delta": str(delta),
            "sensitivity": {"norm": norm, "value": plain(value), "by": by},
            "entering": None if entering is None else str(entering),
            "kind": kind,
            "column": column or None,
            "interval": None if interval is None else [str(one) for one in interval],
        }

    def _kind(self, release: Release, gaussian: bool = False) -> None:
        """Lipschitz: noise on a multiple of a sum of one clipped column over all records."""
        del gaussian
        found = lipschitz(release.args[0], self.world)
        self.kinds.append(("any", "", None) if found is None else ("lipschitz", found[0], found[1]))


_RELEASES = {
    "laplace": Costs.laplace,
    "gaussian": Costs.gaussian,
    "exponential": Costs.exponential,
    "per-record-exponential": Costs.per_record_exponential,
    "randomized-response": Costs.randomized_response,
    "posterior-sample": Costs.posterior_sample,
}


def lipschitz(expr: Expr, world: World) -> tuple[str, tuple[Fraction, Fraction]] | None:
    """The column and interval if the value is a multiple of sum(clip(column)) over all records."""
    if world.adjacency != "replace-one":
        return None
    if expr.op in ("mul", "div", "neg"):
        private = [one for one in expr.args if is_private(one, world)]
        return lipschitz(private[0], world) if len(private) == 1 else None
    if expr.op != "sum":
        return None
    data = expr.args[0]
    if data.data[0] or data.args[0] != Expr("const", (), (True,)):
        return None
    value, inside = data.args[1], None
    if value.op == "clip":
        low, high = constant_of(value.args[1]), constant_of(value.args[2])
        if low is None or high is None:
            return None
        value, inside = value.args[0], (low, high)
    if value.op != "field":
        return None
    kind = world.context.columns[str(value.data[0])]
    if kind.kind not in ("real", "int") or kind.public:
        return None
    declared = of_type(kind)
    assert declared.low is not None
    assert declared.high is not None
    low, high = inside or (declared.low, declared.high)
    return str(value.data[0]), (max(low, declared.low), min(high, declared.high))


def candidate_bounds(candidates: Expr, context: Context) -> Interval:
    """Where numeric candidates lie."""
    if candidates.op == "values":
        parts = [one_bound(one, context) for one in candidates.args]
        lows = [one.low for one in parts if one.low is not None]
        highs = [one.high for one in parts if one.high is not None]
        return (
            Interval(min(lows), max(highs)) if len(lows) == len(parts) == len(highs) else Interval()
        )
    if candidates.op in ("linspace", "range"):
        low, high = (one_bound(one, context) for one in candidates.args[:2])
        ends = [low.low, low.high, high.low, high.high]
        known = [one for one in ends if one is not None]
        return Interval(min(known), max(known)) if len(known) == len(ends) else Interval()
    return Interval()


def len_of(release: Release, world: World) -> int:
    """How many numbers a release has."""
    found = bounds(release.args[0], world.context)
    return len(found) if isinstance(found, tuple) else 1


def _whole(expr: Expr, world: World) -> bool:
    """Whether the value is a whole number: sums of Bool and Int columns."""
    if expr.op == "count":
        return True
    if expr.op == "sum":
        return _whole_row(expr.args[0].args[1], world)
    if expr.op in ("add", "sub", "neg", "mul"):
        return all(_whole(one, world) for one in expr.args)
    value = constant_of(expr)
    return value is not None and value.denominator == 1


def _whole_row(expr: Expr, world: World) -> bool:
    if expr.op == "field":
        return world.context.columns[str(expr.data[0])].kind in ("bool", "int")
    if expr.op == "const":
        value = constant_of(expr)
        return value is not None and value.denominator == 1
    if expr.op in ("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "onehot"):
        return True
    if expr.op in ("add", "sub", "mul", "neg", "abs", "min", "max", "clip"):
        return all(_whole_row(one, world) for one in expr.args)
    return expr.op == "if" and all(_whole_row(one, world) for one in expr.args[1:])


def _has_rows(expr: Expr, world: World) -> bool:
    """Whether an expression holds private rows other than in a sum that is public."""
    if expr.op in ("sum", "count"):
        return False
    if expr.op == "data":
        return True
    return any(_has_rows(one, world) for one in expr.args)


def _confined(commands: Sequence[Command], column: str, label: str) -> bool:
    """Whether all private data that commands read lies in one piece."""
    for one in commands:
        if isinstance(one, Release):
            if not all(_inside(arg, column, label) for arg in one.args):
                return False
        elif isinstance(one, Branch):
            if not (_confined(one.then, column, label) and _confined(one.otherwise, column, label)):
                return False
        elif isinstance(one, Parts) and not all(
            _confined(part, column, label) for _, part in one.parts
        ):
            return False
    return True


def _inside(expr: Expr, column: str, label: str) -> bool:
    if expr.op == "data":
        return (column, label) in _pieces(expr)
    return all(_inside(one, column, label) for one in expr.args)


def _pieces(data: Expr) -> tuple[tuple[str, str], ...]:
    found = data.data[0]
    assert isinstance(found, tuple)
    return tuple((str(one[0]), str(one[1])) for one in found if isinstance(one, tuple))


def _added(costs: Sequence[Pair]) -> Pair:
    return (sum((e for e, _ in costs), Fraction(0)), sum((d for _, d in costs), Fraction(0)))


def _dearest(costs: Sequence[Pair]) -> Pair:
    return (
        max((e for e, _ in costs), default=Fraction(0)),
        max((d for _, d in costs), default=Fraction(0)),
    )


def _shown(value: Fraction) -> str:
    return str(value) if value.denominator in (1, 2, 4, 5, 10) else f"{float(value):.10g}"
