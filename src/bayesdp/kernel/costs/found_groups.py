"""Counts by groups that are found in the data: their cost, their threshold, and what is shown.

Each group in which rows count gets discrete Laplace noise, and is shown where its noisy count is at
least the threshold. Replacing a record, of which at most `M` rows count, in at most `k` groups and
at most `m` in each, moves the counts of groups that other records are in, too, by at most `2 M` in
l1. Any other group that it leaves or enters has at most `m` rows: it is shown with a probability of
at most `P(m + Z >= threshold)`, and there are at most `k` that it leaves and `k` that it enters. So
all shown groups together are `(2 M / b, delta)`-DP if that probability is at most `delta / k`
(theory 4, "Groups that are found in the data").
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from bayesdp.kernel.arithmetic import agree, at_least, ball, require, watched
from bayesdp.kernel.costs.blocks import check_block, truth
from bayesdp.kernel.costs.queries import condition, labels
from bayesdp.kernel.steps.tails import laplace_tail
from bayesdp.statements.certificates import ReleaseCertificate
from bayesdp.statements.columns import Columns, Found
from bayesdp.statements.conditions import columns_of
from bayesdp.statements.costs import ThresholdedStep
from bayesdp.statements.results import FoundResult
from bayesdp.statements.spends import LAPLACE, THRESHOLDED


def reached(scale: Fraction, rows: int, threshold: int) -> arb:
    """`P(rows + Z >= threshold) = a^t / (1 + a)`, `a = e^(-1/b)`, or less where `t` is below 0.

    `t` is the threshold less the rows, and the `scale` is `b`.
    """
    steps = Fraction(threshold - rows)
    return (-ball(steps / scale)).exp() / (1 + (-ball(1 / scale)).exp())


def check_found(
    steps: Sequence[ThresholdedStep],
    body: ReleaseCertificate,
    columns: Columns,
    of_the_table: Columns,
    spoken: tuple[list[str], list[str]],
) -> None:
    """`InvalidError` unless the cost and the threshold of each query of found groups follow.

    `columns` are as declared, `of_the_table` those whose cells the table itself has. `spoken` are
    the labels of the columns that the population covers, and of those that tell nothing about other
    records.
    """
    for step in steps:
        evidence, query, spend = step.evidence, step.evidence.query, step.evidence.spend
        where = f"{step.rule}: {query.name}"
        undeclared = isinstance(columns[query.by], Found)
        require(undeclared, "groups are found in a column whose groups are declared", where)
        rows, in_group, groups = query.reach(body.rows_per_record)
        require(body.n * body.rows_per_record < 2**62, "counts don't fit 64-bit integers", where)
        due = 2 * rows
        enough = evidence.sensitivity >= due
        require(enough, f"a sensitivity of {evidence.sensitivity} is claimed, {due} is due", where)
        scale = Fraction(evidence.scale)
        cost = evidence.sensitivity / scale
        at_least(spend.dp_epsilon, ball(cost), f"{where}: cost")
        chance = groups * reached(scale, in_group, evidence.threshold)
        rare = bool(chance <= ball(Fraction(query.delta)))
        require(rare, "a group of one record is shown with more than its delta", where)
        read = columns_of(condition(query.where)) if query.where is not None else frozenset()
        compared = {
            "query": (spend.query, query.name),
            "dataset": (spend.dataset, body.dataset),
            "unit": (spend.unit, body.protected_unit),
            "kind": (spend.kind, "any"),
            "column": (spend.column, None),
            "reads": (spend.reads, labels(columns, {query.by, *read}, *spoken)),
            "mechanism": (spend.mechanism, THRESHOLDED),
            "delta": (spend.dp_delta, query.delta),
            "concluded cost": (step.conclusion.epsilon, spend.dp_epsilon),
            "concluded delta": (step.conclusion.delta, query.delta),
        }
        for what, (stated, derived) in compared.items():
            agree(stated, derived, what, where)
        check_block(spend.block, query.where, of_the_table, where)


def check_found_results(results: Sequence[FoundResult], steps: Sequence[ThresholdedStep]) -> None:
    """`InvalidError` unless each shown group is one of a query's, with its noise and error.

    The groups of a query stand in the order of their names, each of them once. None has a name that
    fails the query's condition, whatever other columns hold: no row of it would count.
    """
    due: list[FoundResult] = []
    for step in steps:
        watched()
        query = step.evidence.query
        name, where = query.name, query.where
        tree = condition(where) if where is not None else None
        groups = {result.group: result for result in results if result.query == name}
        for group in sorted(groups):
            watched()
            counts = tree is None or truth(tree, query.by, group) is not False
            require(counts, "it shows a group that the condition leaves out", f"result: {name}")
            _check_group(groups[group], step, f"result: {name}")
        due += [groups[group] for group in sorted(groups)]
    in_order = due == list(results)
    reason = "groups stand out of order or twice, or are of a query that nobody asked"
    require(in_order, reason, "results")


def _check_group(result: FoundResult, step: ThresholdedStep, where: str) -> None:
    """A whole number that reaches the threshold, with the noise of its query and its error."""
    evidence = step.evidence
    agree(result.threshold, evidence.threshold, "threshold", where)
    reaches = result.value.is_integer() and evidence.threshold <= result.value < 2**63
    require(reaches, f"{result.value!r} is not a count that reaches the threshold", where)
    agree(result.dp_epsilon, step.conclusion.epsilon, "DP cost", where)
    agree(result.noise.distribution, LAPLACE, "distribution", where)
    agree(result.noise.scale, evidence.scale, "scale of the noise", where)
    agree(result.noise.step, 1.0, "step of the noise", where)
    _check_error(result, Fraction(evidence.scale), where)


def _check_error(result: FoundResult, scale: Fraction, where: str) -> None:
    """The error is the least whole number that the noise exceeds as seldom as it may."""
    error, allowed = result.error.value, ball(1 - Fraction(result.error.confidence))
    whole = error.is_integer()
    require(whole, "its error is not a number of rows", where)
    # Whole numbers that a double doesn't tell apart are unseen.
    steps = int(error)
    unseen = steps >> 51
    enough = bool(laplace_tail(scale, steps + unseen) <= allowed)
    require(enough, "its error is understated", where)
    least = steps == 0 or not bool(laplace_tail(scale, steps - 1 - unseen) <= allowed)
    require(least, "its error is overstated", where)
