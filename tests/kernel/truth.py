"""What a valid certificate says, priced anew by the package: an oracle that never asks the kernel.

The level of a release follows from the noise that its results state, from the least that one record
moves each query, and from the population that is declared; that of a relation from the levels that
its assumptions give; that of a program from its representation.
"""

from __future__ import annotations

import ast
import copy
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

from bayesdp.notions import ColumnCost, Cost
from bayesdp.populations import parse
from bayesdp.programs import ir
from bayesdp.programs.run.machine.spends import spends_of
from bayesdp.tables.columns.declarations import parse_columns
from bayesdp.theorems import Question, report
from bayesdp.theorems.relations.search import implied
from bayesdp.theorems.with_delta import dp_bounds, report_with_delta
from tests.oracles.program_checker.verdict import ProgramVerdict
from tests.oracles.program_checker.verdict import check as check_program
from tests.oracles.series import ROOT_STEPS, furthest

Document = dict[str, Any]
SLACK = 1 - 1e-8
_GIVEN = re.compile(r"the mechanism has the given level (\S+) of ([a-z-]+)")
_SHOWN = re.compile(r"declared, not shown \(([a-z-]+)\): .*")


def truth(document: Document) -> str | None:
    """Why a valid certificate is false, as far as the package can tell; `None` where it is true."""
    rule = document["derivation"]["rule"]
    if rule == "relations":
        return _relations(document)
    if rule == "program":
        return _program(document["derivation"], document["claim"])
    if rule == "release":
        return _release(document)
    stated = document["claim"]["cost"]
    parts = ("any", "lipschitz", "slack", "rho_any", "rho_lipschitz", "rho_slack")
    columns = tuple(ColumnCost(**column) for column in stated.get("by_column", ()))
    spent = Cost(**{part: stated.get(part, 0.0) for part in parts}, by_column=columns)
    return _too_low(document, spent, document["claim"])


def _too_low(document: Document, cost: Cost, claim: Mapping[str, Any]) -> str | None:
    """Whether a claim with its delta is below what these costs mean for the population."""
    secrets = "bounded" if document["claim"]["secrets"] != "unbounded" else "unbounded"
    adversary = document["claim"]["adversary"]
    question = Question(parse(document["population"]), adversary, secrets, 5.0)
    delta = claim["delta"] if cost.rho > 0 else 0.0
    if cost.rho > 0 and not delta:
        return "Gaussian noise has no level without a delta"
    if delta:
        priced = report_with_delta(question, cost, delta, zcdp_cost=_as_zcdp(cost))
    else:
        priced = report(question, cost)
    return _below(claim["epsilon"], priced.best.epsilon, "epsilon")


def _below(claimed: float, due: float, what: str) -> str | None:
    return None if claimed >= due * SLACK else f"{what}: {claimed} is claimed, {due} is due"


def _as_zcdp(cost: Cost) -> Cost:
    """No more than this: pure costs as zCDP, as one mechanism of each kind."""
    pure = cost.any**2 / 2, cost.lipschitz**2 / 2
    if cost.by_column or pure == (0.0, 0.0):
        return cost
    return Cost(rho_any=cost.rho_any + pure[0], rho_lipschitz=cost.rho_lipschitz + pure[1])


# -- relations -----------------------------------------------------------------------------


def _relations(document: Document) -> str | None:
    """What follows from the levels and hypotheses that a reader is told of, and no others."""
    given: dict[str, float] = {}
    declared: list[str] = []
    for line in document["assumptions"]:
        if level := _GIVEN.fullmatch(line):
            given[level[2]] = min(float(level[1]), given.get(level[2], float("inf")))
        if hypothesis := _SHOWN.fullmatch(line):
            declared.append(hypothesis[1])
    population = document["population"] and parse(copy.deepcopy(document["population"]))
    parameters = document["claim"]["parameters"]
    due = implied(given, population, declared, **parameters, seconds=5.0)
    for claim in document["claim"]["claims"]:
        notion = claim["notion"]
        if notion not in due:
            return f"{notion} does not follow"
        if false := _below(claim["level"], due[notion].level, notion):
            return false
    return None


# -- programs ------------------------------------------------------------------------------


def _program(step: Document, claim: Document) -> str | None:
    """The checker's verdict on the representation, against what is claimed of it."""
    verdict = _verdict(step)
    if verdict.verdict != "ACCEPTED":
        return f"the checker says {verdict.verdict}: {verdict.reason}"
    for what, due in (("epsilon", verdict.dp_epsilon), ("delta", verdict.dp_delta)):
        if Fraction(claim["exact"][what]) < due or Fraction(claim[what]) < due:
            return f"{what}: {claim['exact'][what]} is claimed, {due} is due"
    if claim["kind"] == "any":
        return None
    interval = [str(end) for end in verdict.interval or ()]
    due_kind = (verdict.kind, verdict.column, interval)
    stated = (claim["kind"], claim["column"], claim["interval"])
    return None if stated == due_kind else f"kind: {stated} is claimed, {due_kind} is due"


def _verdict(step: Document) -> ProgramVerdict:
    return check_program(read_program(step["evidence"]["program"]), step["evidence"]["n"])


def read_program(data: Document) -> ir.Program:
    """The inverse of `ir.plain` for a whole program."""
    return ir.Program(
        name=data["name"],
        adjacency=data["adjacency"],
        database="people",
        record=tuple((name, _type(kind)) for name, kind in data["record"]),
        scalar=data["scalar"],
        parameters=tuple((name, _type(kind), _constant(v)) for name, kind, v in data["parameters"]),
        requires=tuple(map(ir.expression, data["requires"])),
        body=tuple(map(_command, data["body"])),
        returns=tuple(map(ir.expression, data["returns"])),
        return_types=tuple(data["return_types"]),
        declared_epsilon=_constant(data["declared"][0]),
        declared_delta=_constant(data["declared"][1]),
        source_hash=data["source"],
    )


def _constant(data: Any) -> Any:
    return ir.expression(["const", [], [data]]).data[0]


def _type(data: Document) -> ir.Type:
    low, high = _constant(data["low"]), _constant(data["high"])
    return ir.Type(data["kind"], low, high, tuple(data["labels"]), public=data["public"])


def _command(data: Document) -> ir.Command:
    if "release" in data:
        options = tuple((name, ir.expression(item)) for name, item in data["options"].items())
        return ir.Release(
            data["release"], data["op"], tuple(map(ir.expression, data["args"])), options
        )
    if "derive" in data:
        return ir.Derive(data["derive"], ir.expression(data["value"]))
    if "if" in data:
        sides = [tuple(map(_command, data[side])) for side in ("then", "else")]
        return ir.Branch(ir.expression(data["if"]), *sides)
    parts = tuple((label, tuple(map(_command, part))) for label, part in data["of"])
    return ir.Parts(data["parts"], data["public"], parts)


# -- releases ------------------------------------------------------------------------------

Item = dict[str, Any]
"""A spend: `epsilon` and `rho`; `column` and `interval` where it moves with that column's values;
`block`, a public column and its values, where it reads no other records."""


def _release(document: Document) -> str | None:
    parse_columns(copy.deepcopy(document["columns"]))
    names = [(item["query"], item.get("group"), item.get("cell")) for item in document["results"]]
    if len(set(map(repr, names))) < len(names):
        return "a result twice"
    spent: list[Item] = []
    for step in _queries(document["derivation"]["premises"][0]):
        if step["rule"] == "program":
            items = _program_items(document, step)
        elif step["rule"] == "randomized-response":
            items = [_answers(step["evidence"]["query"])]
        elif step["rule"] == "thresholded-laplace":
            items = _groups(document, step)
        else:
            items = _item(document, step)
        if isinstance(items, str):
            return items
        spent += items
    state = document["data_set"]
    earlier = [
        {
            "epsilon": Fraction(spend["dp_epsilon"]),
            "rho": Fraction(spend.get("rho", 0.0)),
            "column": spend["column"] if spend["kind"] == "lipschitz" else None,
            "interval": spend["interval"],
            "block": spend.get("block"),
            "answers": spend["column"] if "collection" in spend["mechanism"] else None,
            "delta": Fraction(spend["dp_delta"]),
            "dataset": spend["dataset"],
        }
        for spend in state["earlier_spends"]
    ]
    for item in spent:
        item["dataset"] = document["dataset"]
    own, whole = document["claim"], {**state, "epsilon": state["level"]}
    return _wrong_sums(document, spent, own) or _wrong_sums(document, [*earlier, *spent], whole)


def _wrong_sums(document: Document, items: Sequence[Item], claim: Mapping[str, Any]) -> str | None:
    """What these spends cost whoever pays most, against one claim and its sums."""
    claim = {"delta": 0.0, "dp_rho": 0.0, "dp_delta": 0.0} | claim
    answers = {
        (item["dataset"], item["answers"], item["epsilon"]): item
        for item in items
        if item.get("answers")
    }
    items = [*answers.values(), *(item for item in items if not item.get("answers"))]
    for paid in _who_pays(items):
        for what, key in (("epsilon", "dp_epsilon"), ("rho", "dp_rho")):
            due = float(sum((item[what] for item in paid), Fraction(0)))
            if false := _below(claim[key], due, key):
                return false
        cost = _cost(document, paid)
        own = float(sum((item.get("delta", Fraction(0)) for item in paid), Fraction(0)))
        if false := _below(claim["dp_delta"], own, "dp_delta"):
            return false
        if own and document["claim"]["notion"] == "bdp":
            false = "mechanisms with a delta of their own have no Bayesian level"
        elif own and cost.rho == 0 and claim["epsilon"] >= cost.dp_epsilon * SLACK:
            false = _below(claim["delta"], own, "delta")
        elif own:
            false = _own_and_gaussian(paid, claim, own)
        elif document["claim"]["notion"] == "bdp":
            false = _too_low(document, cost, claim)
        elif cost.rho == 0:
            false = _below(claim["epsilon"], cost.dp_epsilon, "epsilon")
        elif not claim["delta"]:
            false = "Gaussian noise has no level without a delta"
        else:
            ways = [dp_bounds(item, claim["delta"]) for item in (cost, _as_zcdp(cost))]
            due = min(bound.epsilon for bounds in ways for bound in bounds)
            false = _below(claim["epsilon"], due, "epsilon")
        if false:
            return false
    return None


def _own_and_gaussian(paid: Sequence[Item], claim: Mapping[str, Any], own: float) -> str | None:
    """A level with orders, where mechanisms have the part `own` of the delta for themselves."""
    if not claim["delta"] > own:
        return "no delta is left for an order"
    with_own = float(sum(item["epsilon"] for item in paid if item.get("delta")))
    others = float(sum(item["epsilon"] for item in paid if not item.get("delta")))
    rho = float(sum(item["rho"] for item in paid))
    ways = [Cost(any=with_own + others, rho_any=rho)]
    ways.append(Cost(any=with_own, rho_any=rho + others**2 / 2))
    rest = claim["delta"] - own
    due = min(bound.epsilon for cost in ways for bound in dp_bounds(cost, rest))
    return _below(claim["epsilon"], due, "epsilon")


def _who_pays(items: Sequence[Item]) -> Iterator[list[Item]]:
    """The spends that reach a person, for every value in the blocks' columns of each data set."""
    values: dict[tuple[str, str], list[str]] = {}
    for item in items:
        if item["block"]:
            values.setdefault((item["dataset"], item["block"]["column"]), []).extend(
                map(repr, item["block"]["values"])
            )
    for cell in product(*values.values()):
        here = dict(zip(values, cell, strict=True))
        yield [
            item
            for item in items
            if not item["block"]
            or here[item["dataset"], item["block"]["column"]] in map(repr, item["block"]["values"])
        ]


def _cost(document: Document, items: Sequence[Item]) -> Cost:
    """No more than these spends cost, by the kinds that help a Gaussian population."""
    spec = document["population"] or {}
    covers, vector = spec.get("covers", []), spec.get("columns")
    scalar = spec.get("model") in ("gaussian", "autoregressive") and vector is None
    moved = [item for item in items if scalar and covers == [item["column"]]]
    apart = [item for item in items if vector and item["column"] in vector]
    still = [item for item in items if item not in moved and item not in apart]

    def total(some: Sequence[Item], what: str) -> float:
        return float(sum((item[what] for item in some), Fraction(0)))

    columns = tuple(
        ColumnCost(
            item["column"],
            float(item["interval"][1] - item["interval"][0]),
            float(item["epsilon"]),
            rho=float(item["rho"]),
        )
        for item in apart
    )
    return Cost(
        any=total(still, "epsilon"),
        lipschitz=total(moved, "epsilon"),
        by_column=columns,
        rho_any=total(still, "rho"),
        rho_lipschitz=total(moved, "rho"),
    )


def _answers(query: Document) -> Item:
    """What answers cost whose odds under two states are `e^epsilon`."""
    cost = {"epsilon": Fraction(query["epsilon"]), "rho": Fraction(0), "answers": query["column"]}
    return cost | {"column": None, "interval": None, "block": None}


def _groups(document: Document, step: Document) -> list[Item] | str:
    """What counts by groups from data cost with their noise, and how often a group is shown alone.

    A record is in so many groups, with so many rows in each, that nobody else is in: by hand.
    """
    evidence, query = step["evidence"], step["evidence"]["query"]
    if document["columns"][query["by"]].get("groups") != "from data":
        return "groups that are declared"
    rows = document["rows_per_unit"] or document.get("max_rows") or 1
    each = min(rows, query.get("max_rows_per_group", rows))
    most = min(rows, query.get("max_rows", rows), query.get("max_groups", rows) * each)
    groups, in_group = min(query.get("max_groups", most), most), min(each, most)
    scale, threshold = Fraction(evidence["scale"]), evidence["threshold"]
    steps = threshold - in_group
    chance = math.exp(-steps / scale) / (1 + math.exp(-1 / scale))
    if steps < 1 or groups * chance * SLACK > query["delta"]:
        return "a threshold that one record reaches too often"
    return [
        {
            "epsilon": 2 * most / scale,
            "rho": Fraction(0),
            "column": None,
            "interval": None,
            "block": evidence["spend"].get("block"),
            "delta": Fraction(query["delta"]),
        }
    ]


def _queries(step: Document) -> list[Document]:
    if "query" in step["evidence"]:
        return [step]
    return [query for premise in step["premises"] for query in _queries(premise)]


def _item(document: Document, step: Document) -> list[Item] | str:
    """The least that a query can cost with its noise."""
    query, columns = step["evidence"]["query"], document["columns"]
    where, (rows, in_group) = query.get("where", ""), _counted_rows(document, query)
    result = next(item for item in document["results"] if item["query"] == query["name"])
    length = Fraction(result["noise"]["step"]) * result.get("rows", 1)
    scale, squared_times = Fraction(result["noise"]["scale"]), Fraction(1)
    private = any(_is_private(columns[name]) for name in _names(where))
    summed = query["kind"] == "series" and "by" in query and "column" in query
    smooth, parts = (
        query["kind"] in ("sum", "mean") or summed,
        2 if query["kind"] == "histogram" else 1,
    )
    if query["kind"] == "variance":
        low, high = columns[query["column"]]["bounds"]
        moved = rows * (Fraction(high) - Fraction(low)) ** 2 / length * Fraction(999_999, 1_000_000)
    elif query["kind"] in ("covariance", "regression"):
        moved, squared_times = _moved_products(query, columns, rows, length)
    elif smooth:
        low, high = columns[query["column"]]["bounds"]
        if "weighted_by" in query:
            least, most = columns[query["weighted_by"]]["bounds"]
            ends = [Fraction(x) * Fraction(w) for x in (low, high) for w in (least, most)]
            low, high = min(ends), max(ends)
        if private:  # a row may count as 0
            low, high = min(low, 0), max(high, 0)
        width = rows * (Fraction(high) - Fraction(low))
        if "total_bounds" in query:
            width = min(
                width, Fraction(query["total_bounds"][1]) - Fraction(query["total_bounds"][0])
            )
        moved = width / length * Fraction(999_999, 1_000_000)
    else:
        moved = Fraction(rows * parts)
    lipschitz = smooth and not private and document["unit"] == "row"
    lipschitz = lipschitz and "weighted_by" not in query
    block = step["evidence"]["spend"].get("block")
    if block and _reads_others(where, block, columns):
        return f"{query['name']} reads records outside of its block"
    zcdp = step["rule"] in ("discrete-gaussian", "exponential-mechanism")
    squared = moved * moved / parts * squared_times
    if query["kind"] == "quantile":
        moved, squared = _moved_ranks(query, rows, several=document["unit"] != "row")
        moved, squared = 2 * moved / length, squared / length**2
    squared *= Fraction(in_group, rows)
    if query["kind"] == "series":
        moved, squared = _moved_series(document, query, length, rows, in_group)
    return [
        {
            "epsilon": Fraction(0) if zcdp else moved / scale,
            "rho": squared / (2 * scale * scale) if zcdp else Fraction(0),
            "column": query["column"] if lipschitz else None,
            "interval": columns[query["column"]]["bounds"] if lipschitz else None,
            "block": block,
        }
    ]


def _moved_products(
    query: Document, columns: Document, rows: int, length: Fraction
) -> tuple[Fraction, Fraction]:
    """How far products move in l1, and what the square in l2 is of its square.

    Of a regression by replacing rows whose scaled values are ends, or `1 / (d + 1)` from 0.
    """
    if query["kind"] == "covariance":
        widths = [Fraction(_width(columns[name])) for name in query["column"]]
        return rows * widths[0] * widths[1] / length * Fraction(999_999, 1_000_000), Fraction(1)
    columns_of = 1 + len(query["on"] if isinstance(query["on"], list) else [query["on"]])
    moved, squared = _furthest_moments(columns_of)
    return rows * moved / length * Fraction(999_999, 1_000_000), squared / moved**2


@cache
def _furthest_moments(columns: int) -> tuple[Fraction, Fraction]:
    """How far moments of so many columns are from each other, in l1 and squared in l2."""
    part = columns + 1
    points = [_moments(point) for point in product((-part, -1, 1, part), repeat=columns)]
    apart = [[abs(a - b) for a, b in zip(*pair, strict=True)] for pair in product(points, points)]
    l1, l2 = max(map(sum, apart)), max(sum(entry**2 for entry in pair) for pair in apart)
    return Fraction(l1, part**2), Fraction(l2, part**4)


def _moments(point: tuple[int, ...]) -> list[int]:
    """The moments of one row, in units of `1 / (d + 1)^2`."""
    part = len(point) + 1
    products = (a * b for a, b in combinations_with_replacement(point, 2))
    return [*(part * value for value in point), *products]


def _width(column: Document) -> float:
    """From the least to the largest number of a column."""
    numbers = column.get("bounds") or column["states"]
    return float(max(numbers)) - float(min(numbers))


def _moved_series(
    document: Document, query: Document, length: Fraction, rows: int, in_period: int
) -> tuple[Fraction, Fraction]:
    """How far a record moves the sums of a series in l1, and the square in l2: by trying all."""
    columns, strategy = document["columns"], query["strategy"]
    day = columns[query.get("by", query.get("column", ""))]
    periods = len(day["states"]) if "states" in day else len(day["cuts"]) + 1
    stays = document["unit"] == "row" and "by" in query
    scale = Fraction(1)
    ends = (0, 1)
    if stays and "column" in query:
        low, high = columns[query["column"]]["bounds"]
        private = any(_is_private(columns[name]) for name in _names(query.get("where", "")))
        width = max(high, 0) - min(low, 0) if private else high - low
        steps = ROOT_STEPS if strategy == "square-root" else 1
        scale = Fraction(width) / steps / length * Fraction(999_999, 1_000_000)
    most, squared = furthest(strategy, periods, ends, rows, in_period, stays)
    return scale * most, scale * scale * squared


def _counted_rows(document: Document, query: Document) -> tuple[int, int]:
    """The most rows of a record that count for a query, and the most of them in one group."""
    rows = document["rows_per_unit"] or document.get("max_rows") or 1
    if "max_rows" in query:
        rows = min(rows, query["max_rows"])
    if "max_rows_per_group" not in query:
        return rows, rows
    groups = len(document["columns"][query["by"]]["states"])
    in_group = min(rows, query["max_rows_per_group"])
    return min(rows, in_group * min(groups, query.get("max_groups", groups))), in_group


def _moved_ranks(query: Document, rows: int, *, several: bool) -> tuple[Fraction, Fraction]:
    """How many rows the rank of a candidate can move, and the square, summed over groups.

    Where rows are replaced each moves it by a row; one that only leaves or enters a group, as when
    all of a record's rows change groups, by the larger of the two shares beside the quantile.
    """
    p = Fraction(str(query["probability"]))
    share = max(p, 1 - p) if several and "by" in query else Fraction(0)
    return max(Fraction(rows), 2 * rows * share), rows**2 * max(Fraction(1), 2 * share**2)


def _program_items(document: Document, step: Document) -> list[Item] | str:
    (typing,) = step["premises"]
    program, verdict = read_program(typing["evidence"]["program"]), _verdict(typing)
    if verdict.verdict != "ACCEPTED":
        return f"the checker says {verdict.verdict}: {verdict.reason}"
    if typing["evidence"]["n"] not in (None, document["n"]):
        return "a program of another number of records"
    spends = spends_of(
        verdict,
        program,
        dataset=document["dataset"],
        n=document["n"],
        names=step["evidence"]["fields"],
    )
    return [
        {
            "epsilon": Fraction(spend.dp_epsilon),
            "rho": Fraction(spend.rho),
            "column": spend.column,
            "interval": spend.interval,
            "block": None,
        }
        for spend in spends
    ]


def _names(where: str) -> list[str]:
    tree = ast.parse(where or "True", mode="eval")
    return sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})


def _is_private(column: Document) -> bool:
    return not (column.get("public") is True or "role" in column)


def _reads_others(where: str, block: Document, columns: Document) -> bool:
    """Whether a record outside of the block can satisfy the condition: by trying values."""
    names = [name for name in _names(where) if name != block["column"]]
    numbers = [float(text) for text in re.findall(r"\d+(?:\.\d+)?", where)]
    inside = set(map(repr, block["values"]))
    states = columns[block["column"]]["states"]
    tried = [
        columns[name].get("states") or [number + by for number in numbers for by in (-1, 0, 1)]
        for name in names
    ]
    text = compile(where, "condition", "eval")
    return any(
        eval(text, {}, {block["column"]: state, **dict(zip(names, cell, strict=True))})
        for state in states
        if repr(state) not in inside
        for cell in product(*tried)
    )


__all__ = ["read_program", "truth"]
