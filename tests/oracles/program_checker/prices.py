"""What one release costs. Exact fractions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from bayesdp.programs.ir import Adjacency, Expr, Release, names_of, plain
from bayesdp.programs.number_text import distinct_decimals
from tests.oracles.program_checker.candidates import check_candidates
from tests.oracles.program_checker.divisors import Fact, check_divisor, divisor_note, facts
from tests.oracles.program_checker.intervals import bounds, column_type, one_bound
from tests.oracles.program_checker.kinds import ANY, Kind, lipschitz, whole
from tests.oracles.program_checker.parameters import check_parameters
from tests.oracles.program_checker.refine import Refinements
from tests.oracles.program_checker.refusals import Rejected, Stopped, Unknown
from tests.oracles.program_checker.rows import check_row
from tests.oracles.program_checker.scores import inside_score, score_moves, size_of
from tests.oracles.program_checker.sensitivity import (
    AdjacencyContext,
    Norm,
    Sensitivity,
    constant_of,
    is_private,
    number,
    pieces_of,
    sensitivity,
)

Pair = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Price:
    """A cost under the program's adjacency, and where one record only enters or leaves.

    `entering` is None where no bound is known. `node` is its part of the derivation.
    """

    cost: Pair
    entering: Pair | None
    node: dict[str, Any]


class Prices:
    """Prices releases. `world` knows what has been released so far; `kinds` collects theirs."""

    def __init__(self, world: AdjacencyContext, refinements: Refinements) -> None:
        self.world, self.refinements = world, refinements
        self.kinds: list[Kind] = []
        self.facts: tuple[Fact, ...] = ()
        """Public comparisons that hold here."""
        self.notes: list[str] = []
        """What is said of an accepted program."""
        self._known: dict[tuple[Expr, Norm, Adjacency], Sensitivity] = {}

    def moves(self, expr: Expr, norm: Norm, world: AdjacencyContext) -> Sensitivity:
        """`sensitivity`, asked once where no released value is read."""
        if not names_of(expr) <= {"db.size"}:
            return sensitivity(expr, norm, world)
        key = (expr, norm, world.adjacency)
        if key not in self._known:
            self._known[key] = sensitivity(expr, norm, world)
        return self._known[key]

    # -- public expressions --------------------------------------------------------------------

    def after(self, expr: Expr) -> None:
        """What is computed of released and public values: its divisors may be 0, and are noted."""
        self.public_only(expr, noted=True)

    def public_only(self, expr: Expr, *, noted: bool = False) -> None:
        """Refuse private data in an expression that is not released, and names without a value."""
        if is_private(expr, self.world) or has_rows(expr):
            raise Rejected(
                "private-output", "A private value is used without a release.", expr, "Release it."
            )
        self.well_formed(expr, self.world, noted=noted)

    def well_formed(
        self,
        expr: Expr,
        world: AdjacencyContext,
        known: tuple[Fact, ...] = (),
        *,
        noted: bool = False,
    ) -> None:
        """Names have values, and what is computed of one record can't fail (see `check_row`).

        `known` are comparisons that hold beside the program's own. With `noted`, public divisors
        that may be 0 are noted instead of refused.
        """
        if expr.op == "data":
            for argument in expr.args:
                check_row(argument, world.context)
            bounds(expr.args[1], world.context)
            for column, _ in pieces_of(expr):
                column_type(Expr("field", (), (column,), expr.where), world.context)
            return
        if expr.op == "public" and str(expr.data[0]) not in world.context.public:
            raise Rejected("name", f"'{expr.data[0]}' has no value here.", expr)
        if expr.op in ("prior", "likelihood"):
            check_parameters(expr, world.context)
        for i, argument in enumerate(expr.args):
            if expr.op == "fold" and i == 1:
                check_row(argument, world.context, step=True)
            elif expr.op == "if" and i > 0:
                self.well_formed(
                    argument, world, (*known, *facts(expr.args[0], i == 1)), noted=noted
                )
            else:
                self.well_formed(argument, world, known, noted=noted)
        if expr.op == "div" and not is_private(expr, world):
            holding = (*self.facts, *known)
            if not noted:
                check_divisor(expr.args[1], world.context, holding)
            elif (note := divisor_note(expr.args[1], world.context, holding)) is not None:
                self.notes.append(note)

    # -- releases --------------------------------------------------------------------------------

    def release(self, release: Release) -> Price:
        """The price of a release."""
        if release.name in self.world.context.public:
            raise Rejected("name", f"'{release.name}' already has a value.", release.where)
        self._arguments(release)
        price = _RELEASES[release.op](self, release)
        return replace(price, node={"release": release.name, "rule": release.op} | price.node)

    def _arguments(self, release: Release) -> None:
        """Candidates, likelihoods and priors are public; scores see one candidate."""
        world = self.world
        if release.op in ("exponential", "per-record-exponential"):
            *_, score, candidates = release.args
            self.public_only(candidates)
            check_candidates(candidates, world.context)
            if score.op != "hellinger":
                world = inside_score(score, candidates, world)
        for argument in release.args:
            if argument.op == "row-score":
                check_row(argument.args[0], world.context)
            else:
                self.well_formed(argument, world)
            model = argument.args[0].args[0] if argument.op == "hellinger" else argument
            if model.op == "observe":
                self.public_only(model.args[1])
                self.public_only(model.args[2])

    def _option(self, release: Release, name: str) -> Fraction:
        actual = constant_of(dict(release.options)[name])
        if actual is None or (name in ("epsilon", "delta", "power") and actual <= 0):
            raise Rejected(
                "static", f"{name} is a number above 0, known beforehand.", release.where
            )
        return actual

    def laplace(self, release: Release) -> Price:
        """Laplace noise of scale sensitivity / epsilon on every entry: the l1 norm counts."""
        epsilon = self._option(release, "epsilon")
        moved = self.moves(release.args[0], "l1", self.world)
        self._check_asserted(release, moved.value)
        scale = dict(release.options).get("sensitivity", moved.value)
        entering = self._share(release, "l1", scale, epsilon)
        actual = lipschitz(release.args[0], self.world)
        self.kinds.append(ANY if actual is None else ("lipschitz", actual[0], actual[1]))
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
        moved = self.moves(release.args[0], "l2", self.world)
        sigma = dict(release.options).get("sigma")
        if sigma is not None:
            self._sigma(release, sigma, moved.constant, epsilon, delta)
        entering = self._share(release, "l2", moved.value, Fraction(1))
        self.kinds.append(ANY)
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
        from tests.oracles.program_checker.noise import gaussian_delta

        given = constant_of(sigma)
        if given is None or squared is None or given <= 0:
            raise Unknown("unproved", "An asserted sigma is held against a constant only.", sigma)
        item = not isinstance(bounds(release.args[0], self.world.context), tuple)
        exact = item and whole(release.args[0], self.world)
        reached = gaussian_delta(given, squared, eps, exact)
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
        moved, by = score_moves(score, candidates, self.world)
        self._check_asserted(release, moved)
        scale = dict(release.options).get("sensitivity", moved)
        try:
            small, _ = score_moves(score, candidates, self.world.entering())
            entering = self._ratio(small, scale, epsilon)
        except Stopped:
            entering = None
        self.kinds.append(ANY)
        return Price(
            (epsilon, Fraction(0)),
            None if entering is None else (entering, Fraction(0)),
            self._node(release, epsilon, Fraction(0), "score", moved, by, entering),
        )

    def per_record_exponential(self, release: Release) -> Price:
        """Each record answers on its own: the cost is one record's, not the sum."""
        epsilon = self._option(release, "epsilon")
        _, score, candidates = release.args
        inside = inside_score(score, candidates, self.world)
        width = one_bound(score.args[0], inside.context).width
        if width is None:
            raise Rejected("bounds", "A record's score has no bounds.", score, "Clip it.")
        return self._answers(release, epsilon, width)

    def randomized_response(self, release: Release) -> Price:
        """Each record answers on its own."""
        return self._answers(release, self._option(release, "epsilon"), Fraction(1))

    def _answers(self, release: Release, epsilon: Fraction, width: Fraction) -> Price:
        data = release.args[0]
        if not size_of(data, self.world).public:
            raise Rejected(
                "private-output",
                "One answer for each record tells how many records there are.",
                release.where,
            )
        self.kinds.append(ANY)
        node = self._node(release, epsilon, Fraction(0), "score", number(width), "one record", None)
        return Price((epsilon, Fraction(0)), None, node)

    def posterior_sample(self, release: Release) -> Price:
        """One draw from a grid posterior with clipped log-likelihood: 2 power (high - low).

        Half of that where a record enters or leaves, even if 0 is not in the interval (theory 8.5).
        """
        low, high = self._option(release, "low"), self._option(release, "high")
        power = self._option(release, "power")
        grid = release.args[1]
        self.public_only(grid)
        check_candidates(grid, self.world.context)
        if not low < high:
            raise Rejected(
                "bounds", "The log-likelihood is held between low < high.", release.where
            )
        moved = high - low
        entering = power * moved
        epsilon = entering if self.world.adjacency == "add-remove" else 2 * entering
        self.kinds.append(ANY)
        node = self._node(
            release, epsilon, Fraction(0), "log-likelihood", number(moved), "clipped", entering
        )
        return Price((epsilon, Fraction(0)), (entering, Fraction(0)), node)

    # -- helpers -----------------------------------------------------------------------------------

    def _check_asserted(self, release: Release, derived: Expr) -> None:
        asserted = dict(release.options).get("sensitivity")
        if asserted is None:
            return
        self.public_only(asserted)
        given, needed = constant_of(asserted), constant_of(derived)
        if given is not None and needed is not None:
            if given < needed:
                less, least = distinct_decimals(given, needed)
                raise Rejected(
                    "sensitivity",
                    f"sensitivity={less} is asserted, and one record can move this by {least}.",
                    asserted,
                    f"Write sensitivity={least}, or leave it out.",
                )
            return
        self.refinements.enough(asserted, derived)

    def _share(
        self, release: Release, norm: Norm, scale: Expr, epsilon: Fraction
    ) -> Fraction | None:
        """The cost where one record only enters or leaves, with the noise as it is."""
        try:
            small = self.moves(release.args[0], norm, self.world.entering())
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
            "column": column if kind == "lipschitz" else None,
            "interval": None if interval is None else [str(item) for item in interval],
        }


_RELEASES = {
    "laplace": Prices.laplace,
    "gaussian": Prices.gaussian,
    "exponential": Prices.exponential,
    "per-record-exponential": Prices.per_record_exponential,
    "randomized-response": Prices.randomized_response,
    "posterior-sample": Prices.posterior_sample,
}


def has_rows(expr: Expr) -> bool:
    """Whether an expression holds private rows other than in a sum that is public."""
    if expr.op in ("sum", "count"):
        return False
    if expr.op in ("data", "field", "acc", "fold"):
        return True
    return any(has_rows(argument) for argument in expr.args)
