"""The results of a release: that they are what was asked for, with the noise and error derived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from bayesdp.kernel.arithmetic import ball, exact, require, whole
from bayesdp.kernel.queries import Columns, Grid, Shape
from bayesdp.kernel.stated import same
from bayesdp.kernel.tails import gaussian_tail, laplace_tail

NOISES = {"discrete-laplace": laplace_tail, "discrete-gaussian": gaussian_tail}
"""The rules about a query's noise, each with its law's tail."""


Shown = tuple[Mapping[str, Any], object, int]
"""A query, the group that a result is about, and over how many rows it is."""


def check_results(
    results: Sequence[Mapping[str, Any]],
    n: int,
    steps: Sequence[Mapping[str, Any]],
    shapes: Sequence[Shape],
    columns: Columns,
) -> list[Shown]:
    """`InvalidError` unless each result was noised as its query's step says.

    Gives the numbers of rows that are shown, which are for `row_counts` to check.
    """
    return _Results(results, n, steps, shapes, columns).check()


class _Results:
    """Each released number was noised as derived, and its error is that of the noise."""

    def __init__(
        self,
        results: Sequence[Mapping[str, Any]],
        n: int,
        steps: Sequence[Mapping[str, Any]],
        shapes: Sequence[Shape],
        columns: Columns,
    ) -> None:
        self.results, self.n, self.columns = results, n, columns
        self.steps, self.shapes = steps, shapes

    def check(self) -> list[Shown]:
        due = [
            (step, asked, key, cell)
            for step, asked in zip(self.steps, self.shapes, strict=True)
            for key in (asked.keys or (None,))
            for cell in (asked.cells or (None,))
        ]
        require(len(due) == len(self.results), "not as many as were asked for", "results")
        shown: list[Shown] = []
        for result, (step, asked, key, cell) in zip(self.results, due, strict=True):
            query = step["evidence"]["query"]
            where = f"result: {query['name']}"
            named = (query["name"], query["kind"], key, cell)
            found = tuple(result.get(part) for part in ("query", "kind", "group", "cell"))
            require(same(found, named), f"{found!r} stands where {named!r} is due", where)
            require(result["unit"] == self.unit(query), "another unit", where)
            self.value(result, step, asked, where)
            gaussian = step["rule"] == "discrete-gaussian"
            cost, concluded = ("dp_rho", "rho") if gaussian else ("dp_epsilon", "epsilon")
            its_own = exact(result[cost]) == exact(step["conclusion"][concluded])
            require(its_own, "its DP cost is not that of its step", where)
            self.noise(result, step, where)
            if "rows" in result:
                shown.append((query, key, whole(result["rows"], "rows", 1)))
        return shown

    def unit(self, query: Mapping[str, Any]) -> str:
        """The unit of what is released: a column's for sums and means of it."""
        summed = query["kind"] in ("sum", "mean")
        return str(self.columns[query["column"]].get("unit", "") if summed else "")

    def value(
        self, result: Mapping[str, Any], step: Mapping[str, Any], asked: Shape, where: str
    ) -> None:
        """A whole number of steps, in 64 bits: no noise gives anything in between.

        Sums of values that don't start at 0 are over public numbers of rows, which a certificate
        tells of the whole table only.
        """
        query, stated = step["evidence"]["query"], exact(result["value"])
        length, offset = Fraction(*step["evidence"]["step"]), Fraction(0)
        averaged = result["kind"] in ("mean", "proportion")
        rows = whole(result["rows"], "rows", 1) if averaged else 1
        if asked.sums and not asked.masked:
            if not averaged and ("where" in query or "by" in query):
                return
            over = rows if averaged else self.n
            offset = exact(Grid.read(step["evidence"]["grid"]).low) * over
        near = round((stated * rows - offset) / length)
        found = (total for total in (near - 1, near, near + 1) if abs(total) <= 2**63)
        on_grid = any(float((offset + length * total) / rows) == stated for total in found)
        require(on_grid, f"{result['value']!r} is no whole number of steps", where)

    def noise(self, result: Mapping[str, Any], step: Mapping[str, Any], where: str) -> None:
        noise, error = result["noise"], result["error"]
        require(noise["distribution"] == step["rule"], "another distribution", where)
        require(noise["scale"] == step["evidence"]["scale"], "another noise scale", where)
        length = Fraction(*step["evidence"]["step"])
        averaged = result["kind"] in ("mean", "proportion")
        require(("rows" in result) == averaged, "rows belong to averages", where)
        if averaged:
            length /= whole(result["rows"], "rows", 1)
        require(noise["step"] == float(length), "another step", where)
        confidence = exact(error["confidence"])
        require(Fraction(1, 2) <= confidence < 1, "no such confidence", where)
        value, step_length = exact(error["value"]), exact(noise["step"])
        k = round(value / step_length)
        on_grid = k >= 0 and abs(k * step_length - value) <= value / 2**52
        require(on_grid, "its error is not a number of steps", where)
        tail, scale = NOISES[step["rule"]], exact(noise["scale"])
        allowed, unseen = ball(1 - confidence), k >> 51  # steps that a double doesn't tell apart
        require(bool(tail(scale, k + unseen) <= allowed), "its error is understated", where)
        # Both tails are the same function in the tool, which writes the least such number.
        least = k == 0 or not bool(tail(scale, k - 1 - unseen) <= allowed)
        require(least, "its error is overstated", where)
