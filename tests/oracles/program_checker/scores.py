"""How far a score moves: Hellinger distances by the lemmas, other scores by the rules."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from bayesdp.programs.ir import Expr, columns
from tests.oracles.program_checker.intervals import Interval, one_bound
from tests.oracles.program_checker.kinds import candidate_bounds
from tests.oracles.program_checker.lemmas import (
    Size,
    beta_binomial,
    dirichlet,
    gamma_poisson,
    normal,
)
from tests.oracles.program_checker.refusals import Rejected, Unknown
from tests.oracles.program_checker.sensitivity import (
    AdjacencyContext,
    constant_of,
    number,
    pieces_of,
    sensitivity,
)

PARAMETERS = {"beta": 2, "normal": 2, "gamma": 2}
COUNTED = ("bernoulli", "categorical", "poisson")


def score_moves(score: Expr, candidates: Expr, world: AdjacencyContext) -> tuple[Expr, str]:
    """How far the score of any candidate moves, and by which rule."""
    if score.op == "hellinger":
        model = score.args[0].args[0]
        moved = hellinger(model, world)
        _of_one_family(candidates, model.args[2])
        return number(moved), "hellinger"
    actual = sensitivity(score.args[0], "l1", inside_score(score, candidates, world))
    return actual.value, actual.by


def _of_one_family(candidates: Expr, prior: Expr) -> None:
    """Distances are computed inside one family: candidates are of the posterior's."""
    offered = {"grid-of": candidates.data[:1], "posteriors-of": ("beta",)}.get(candidates.op)
    if offered != prior.data[:1]:
        raise Rejected(
            "type",
            "The candidates are of another family than the posterior.",
            candidates,
            f"grid_of({prior.data[0]}, ...) or, for a beta prior, posteriors_of(prior, n=...).",
        )


def inside_score(score: Expr, candidates: Expr, world: AdjacencyContext) -> AdjacencyContext:
    """What is known inside a score: where the candidates lie."""
    name = str(score.data[0])
    if name in world.context.public:
        raise Rejected("name", f"'{name}' already has a value here.", score)
    return world.knowing(name, candidate_bounds(candidates, world.context))


def hellinger(model: Expr, world: AdjacencyContext) -> Fraction:
    """The largest distance of posteriors of neighbours. Raises `Rejected` or `Unknown`."""
    data, likelihood, prior = model.args
    family = str(likelihood.data[0])
    known = _parameters(prior, family)
    size, entering = size_of(data, world), world.adjacency == "add-remove"
    if family == "bernoulli":
        return beta_binomial(known[0], known[1], size, entering)
    if family == "categorical":
        return dirichlet(known, entering)
    each = one_bound(data.args[1], world.context)
    if each.low is None or each.high is None or each.width is None:
        raise Rejected("bounds", "A record's value has no bounds.", data, "Clip it.")
    if family == "poisson":
        if each.low < 0:
            raise Rejected("bounds", "Counts are at least 0.", data, "clip(value, 0, high)")
        return gamma_poisson(known[0], each.width if size.public else each.high)
    if family == "normal" and size.public:
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


def size_of(data: Expr, world: AdjacencyContext) -> Size:
    """Whether the number of rows is public; the admitted sizes are of the whole database only."""
    read = columns(data.args[0]) | {column for column, _ in pieces_of(data)}
    public = world.adjacency == "replace-one" and read <= world.public
    low = world.context.size.low
    return Size(public, least_rows(world.context.size) if not read and low is not None else 1)


def least_rows(size: Interval) -> int:
    """The fewest rows where a record can be replaced."""
    return max(1, ceil(size.low)) if size.low is not None else 1


def _parameters(prior: Expr, family: str) -> list[Fraction]:
    actual = [constant_of(argument) for argument in prior.args] if prior.op == "prior" else []
    known = [item for item in actual if item is not None]
    if not known or len(known) != len(actual):
        raise Unknown(
            "unproved",
            "How far the posterior moves is known for a prior that is written out only.",
            prior,
            "Write its numbers: beta(1, 1); or release laplace(statistics(model), epsilon=...), "
            "which takes any prior.",
        )
    if len(known) != PARAMETERS.get(str(prior.data[0]), max(len(known), 2)):
        raise Rejected("prior", "A prior with another number of parameters.", prior)
    positive = known if family in COUNTED else known[-1:]
    if min(positive) <= 0:
        raise Rejected("prior", "The prior's parameters are above 0.", prior)
    return known
