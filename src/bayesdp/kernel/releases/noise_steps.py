"""Queries of numbers with noise: what each of them costs is derived again from its text."""

from __future__ import annotations

from fractions import Fraction

from bayesdp.kernel.arithmetic import agree, at_least, ball, exact, require
from bayesdp.kernel.costs.blocks import check_block
from bayesdp.kernel.costs.composition import close
from bayesdp.kernel.costs.queries import AskedQuery, Grid, asked_query, condition, sensitivity
from bayesdp.kernel.releases.declaration import Declaration
from bayesdp.kernel.releases.results import NoiseStep, is_zcdp
from bayesdp.kernel.rules.markov_count import count_mechanism
from bayesdp.statements.chains import Chain
from bayesdp.statements.columns import Impute
from bayesdp.statements.conditions import columns_of
from bayesdp.statements.costs import LaplaceNoise, PermuteAndFlipStep, PureChoice


def as_asked(declared: Declaration, step: NoiseStep) -> AskedQuery:
    """One query as it is asked, from what is declared."""
    query, columns = step.evidence.query, declared.columns
    balanced = declared.body.balanced is not None
    return asked_query(
        query, columns, declared.body.unit, declared.covers, declared.independent, balanced=balanced
    )


def check_spend(declared: Declaration, step: NoiseStep, asked: AskedQuery, where: str) -> None:
    """The entry of the ledger for one query: every part of it is derived again."""
    grids = _read_grids(step, asked, where)
    sensitivity = _check_integers(declared, step, asked, grids, where)
    cost = cost_of_noise(step, sensitivity, where)
    _check_entry(declared, step, asked, where)
    if asked.kind == "lipschitz":
        _check_slack(step, asked, grids[0], cost, where)


def _read_grids(step: NoiseStep, asked: AskedQuery, where: str) -> list[Grid]:
    """The grids of what is summed: of each column whose products are, else one; none of counts."""
    evidence = step.evidence
    grids = [Grid.read(part) for part in evidence.grids or ()]
    if asked.intervals:
        bounds = tuple((part.low, part.high) for part in grids)
        agree(bounds, asked.intervals, "the grids' bounds", where)
        require(not any(part.masked for part in grids), "a grid of products is masked", where)
        require(len({part.bits for part in grids}) == 1, "grids differ in their steps", where)
    elif evidence.grid is not None:
        grid = Grid.read(evidence.grid)
        agree((grid.low, grid.high), asked.interval, "the grid's bounds", where)
        agree(grid.masked, asked.masked, "whether the grid is masked", where)
        grids = [grid]
    return grids


def _check_integers(
    declared: Declaration, step: NoiseStep, asked: AskedQuery, grids: list[Grid], where: str
) -> int:
    """The sensitivity that is claimed of the integers, which must fit and have the stated step."""
    evidence, grid = step.evidence, grids[0] if grids else None
    groups = len(asked.keys or (None,))
    rows, in_group = evidence.query.rows_that_count(declared.rows_per_record, groups)
    due = sensitivity(asked, grid, rows, in_group, squared=is_zcdp(step))
    claimed = stated_move(step)
    enough = claimed >= due
    require(enough, f"a sensitivity of {claimed} is claimed, {due} is due", where)
    part = asked.probability.denominator if asked.probability is not None else 1
    fineness = asked.series.fineness if asked.series is not None else 1
    steps = 2 ** (asked.power * grid.bits) if grid is not None else part
    largest = declared.body.n * declared.rows_per_record * steps * fineness
    require(largest < 2**62, "the sums don't fit 64-bit integers", where)
    length = grid.step**asked.power if grid is not None else Fraction(1, part)
    if asked.moments:
        length = Fraction(1, steps)
    elif asked.intervals:
        length = grids[0].step * grids[1].step
    agree(Fraction(*evidence.step), Fraction(length) / fineness, "step", where)
    return claimed


def _check_entry(declared: Declaration, step: NoiseStep, asked: AskedQuery, where: str) -> None:
    """What the spend says of the query, beside its cost."""
    evidence, spend, body = step.evidence, step.evidence.spend, declared.body
    compared = {
        "query": (spend.query, evidence.query.name),
        "dataset": (spend.dataset, body.dataset),
        "unit": (spend.unit, body.protected_unit),
        "kind": (spend.kind, asked.kind),
        "column": (spend.column, asked.column),
        "reads": (spend.reads, asked.reads),
        "mechanism": (spend.mechanism, mechanism_of(declared, step, asked)),
        "conclusion": (step.conclusion.kind, asked.kind),
    }
    for what, (stated, derived) in compared.items():
        agree(stated, derived, what, where)
    check_block(spend.block, evidence.query.where, declared.of_the_table(), where)


def _check_slack(
    step: NoiseStep, asked: AskedQuery, grid: Grid, cost: Fraction, where: str
) -> None:
    """What rounding to a grid adds to the cost per distance, where that is what is stated."""
    spend = step.evidence.spend
    agree(spend.interval, asked.interval, "interval", where)
    # The extra steps on their own: pure costs grow with them, zCDP with their square.
    extra = cost * (grid.slack**2 if is_zcdp(step) else grid.slack)
    at_least(spend.slack, ball(extra), where)
    require(close(Fraction(spend.slack), extra), "slack is more than the grid adds", where)


def cost_of_noise(step: NoiseStep, sensitivity: int, where: str) -> Fraction:
    """What the spend says that the noise costs, which must not be less than it does.

    Discrete Laplace noise of scale b: two results at distance s differ by at most e^(s/b).
    Discrete Gaussian noise of scale b: zCDP of D^2 / (2 b^2) at a distance D in l2.
    A choice by scores that move by at most S: by exponential noise of scale b, 2 S / b; by the
    exponential mechanism zCDP of S^2 / (2 b^2) (theory 4 proves both).
    """
    scale, spend = Fraction(step.evidence.scale), step.evidence.spend
    if is_zcdp(step):
        cost, kept = sensitivity / (2 * scale * scale), spend.rho
        concluded, other = step.conclusion.rho, spend.dp_epsilon
    else:
        distances = 2 if isinstance(step, PermuteAndFlipStep) else 1
        cost, kept = distances * sensitivity / scale, spend.dp_epsilon
        concluded, other = step.conclusion.epsilon, max(spend.rho, step.conclusion.rho)
    at_least(kept, ball(cost), f"{where}: cost")
    at_least(concluded, ball(exact(kept)), where)
    same_cost = close(Fraction(concluded), Fraction(kept))
    require(same_cost, "it concludes another cost than it spends", where)
    require(other == 0.0, "a pure cost and a zCDP cost stand beside each other", where)
    return Fraction(kept)


def mechanism_of(declared: Declaration, step: NoiseStep, asked: AskedQuery) -> str:
    """More than the noise, if the query claims it: a count over one complete series."""
    query, body = step.evidence.query, declared.body
    if query.tightness == "dp":
        return step.rule
    require(
        step.rule == "discrete-laplace",
        "tightness is claimed for other noise than discrete Laplace",
        query.name,
    )
    chain = declared.population
    require(
        isinstance(chain, Chain),
        "tightness is claimed, and the population is not one complete series",
        query.name,
    )
    assert isinstance(chain, Chain)
    roles = {getattr(column, "role", None) for column in declared.columns.values()}
    single = "series" not in roles and "order" in roles and body.n == chain.length
    of_rows = body.unit == "row" and body.claim.notion == "bdp"
    require(of_rows, "tightness is claimed of rows under bdp only", query.name)
    require(
        single,
        "tightness is claimed, and the population is not one complete series",
        query.name,
    )
    plain = query.kind in ("count", "proportion") and asked.keys is None
    read = columns_of(condition(query.where or ""))
    reads = read == set(chain.covers) and len(chain.covers) == 1
    reason = "tightness is claimed of what is not a count of a covered state over all records"
    require(plain and reads, reason, query.name)
    column = declared.columns[chain.covers[0]]
    source = declared.columns.get(getattr(column, "source", ""), column)
    imputed = any(isinstance(read.missing, Impute) for read in (column, source))
    require(
        not imputed,
        "tightness is claimed of a column whose missing values are imputed",
        query.name,
    )
    return count_mechanism(chain.length)


def stated_move(step: NoiseStep) -> int:
    """How far one record moves the query, or a score: in l1, or the square of it in l2."""
    evidence = step.evidence
    if isinstance(evidence, LaplaceNoise | PureChoice):
        return evidence.sensitivity
    return evidence.sensitivity_squared
