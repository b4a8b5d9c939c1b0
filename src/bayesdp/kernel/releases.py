"""A certificate of a release: its queries, its claim, its results, and the data set's state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from bayesdp.kernel.approximate import RULE as DP_RULE
from bayesdp.kernel.approximate import dp_level
from bayesdp.kernel.arithmetic import UnknownError, at_least, ball, exact, follows, require, whole
from bayesdp.kernel.assumptions import assumptions
from bayesdp.kernel.blocks import cells_of, check_block
from bayesdp.kernel.composition import (
    Cost,
    as_zcdp,
    close,
    compose,
    counted,
    declared_cost,
    held,
    is_gaussian,
    summed,
)
from bayesdp.kernel.conversions import check_delta, conversion_level, read_conversion
from bayesdp.kernel.judgement import GAUSSIAN_RULES, ROUNDING
from bayesdp.kernel.program_queries import RULE as PROGRAM
from bayesdp.kernel.program_queries import program_query
from bayesdp.kernel.program_results import check_program_results
from bayesdp.kernel.programs.effort import Effort
from bayesdp.kernel.queries import Grid, Shape, condition, label, moved, shape
from bayesdp.kernel.results import NOISES, check_results
from bayesdp.kernel.row_counts import check_row_counts
from bayesdp.kernel.rules.markov_count import count_mechanism
from bayesdp.kernel.stated import (
    check_together,
    same,
    stated_columns,
    stated_population,
    stated_query,
)
from bayesdp.statements.chains import Chain
from bayesdp.statements.conditions import columns_of
from bayesdp.statements.gaussian import GaussianVectors
from bayesdp.statements.steps import COMPOSITION

COLUMN_KEYS = frozenset(
    {"bounds", "states", "from", "cuts", "where", "role", "step", "public", "independent"}
    | {"unit", "missing"}
)
CONCLUDED = {"dp_epsilon": "epsilon", "dp_rho": "rho"}
MOST_ALLOWED = 10**6
"""Nats: what a study may ask its ledger to keep to. A larger total says nothing to anybody."""

ANY_VALUES = {"kind": "any values that the population gives a positive probability"}


class _Release:
    """One certificate, its declarations at hand."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.body = document
        self.root = document["derivation"]
        self.claim = document["claim"]
        self.columns: Mapping[str, Mapping[str, Any]] = document["columns"]
        self.n = whole(document["n"], "n", 1)
        self.effort = Effort()
        rows = document["rows_per_unit"]
        require((rows is None) == (document["unit"] == "row"), "rows of a record", "unit")
        self.rows_per_record = 1 if rows is None else whole(rows, "rows_per_unit", 1)
        plain = document["population"]
        self.population: Any = None if plain is None else stated_population(plain)
        for name, column in self.columns.items():
            require(set(column) <= COLUMN_KEYS, f"unknown keys of column {name!r}", "columns")
        names = self.population.covers if self.population is not None else ()
        self.declared = stated_columns(self.columns)
        for query in self.asked():
            stated_query(query, self.declared)
        check_together(document, self.population, self.declared)
        self.covers = sorted(label(name, self.columns[name]) for name in names)
        self.independent = sorted(
            label(name, column)
            for name, column in self.columns.items()
            if column.get("independent") is True
            and not (column.get("public") is True or "role" in column)
        )

    def asked(self) -> Iterator[Mapping[str, Any]]:
        """The queries, in order."""
        step = self.root["premises"][0]
        while step["rule"] != COMPOSITION:
            step = step["premises"][0]
        yield from (premise["evidence"]["query"] for premise in step["premises"])

    def check(self) -> None:
        premises = self.root["premises"]
        if self.body["rounding"] != ROUNDING:
            raise UnknownError("it rounds in a way that is not known here", "rounding")
        notion = self.claim["notion"]
        require(notion in ("dp", "bdp") and 1 <= len(premises) <= 2, "no such release", "release")
        require(self.root["conclusion"]["notion"] == notion, "another notion", "release")
        composition = premises[0]
        if composition["rule"] != "sequential-composition":
            composition = composition["premises"][0]
        require(notion == "dp" or composition is not premises[0], "no conversion", "release")
        require(composition["rule"] == "sequential-composition", "DP costs come first", "release")
        shapes, spends = self.queries(composition)
        level = self.level(premises[0], spends)
        at_least(self.root["conclusion"]["epsilon"], level, "release: epsilon")
        reached = premises[0]["conclusion"]
        follows(reached["epsilon"], self.root["conclusion"]["epsilon"], "release: epsilon")
        follows(self.root["conclusion"]["epsilon"], self.claim["epsilon"], "claim: epsilon")
        told = self.root["conclusion"].get("delta", 0.0)
        require(same(told, self.claim["delta"]), "another delta than concluded", "claim")
        self.check_claim(premises[0], level, spends)
        self.check_data_set(premises, spends)
        results, steps = self.body["results"], composition["premises"]
        numbers = [one for one in steps if one["rule"] != PROGRAM]
        programs = [one for one in steps if one["rule"] == PROGRAM]
        first = len(results) - len(programs)
        require(first >= 0, "not as many as were asked for", "results")
        shown = check_results(results[:first], self.n, numbers, shapes, self.columns)
        check_row_counts(shown, self.n, self.declared, self.population)
        check_program_results(results[first:], programs, self.columns)

    # -- what was asked, and what it costs under DP ----------------------------------------

    def queries(
        self, composition: Mapping[str, Any]
    ) -> tuple[list[Shape], list[Mapping[str, Any]]]:
        evidence, conclusion = composition["evidence"], composition["conclusion"]
        where = composition["rule"]
        require(evidence["adjacency"] == "replace one record", "another adjacency", where)
        require(conclusion["notion"] == "dp" and composition["premises"], "no costs", where)
        shapes: list[Shape] = []
        spends: list[Mapping[str, Any]] = []
        told: list[Mapping[str, Any]] = []
        for step in composition["premises"]:
            if step["rule"] == PROGRAM:
                found = program_query(step, self.body, self.covers, self.independent, self.effort)
                self.spoken(found.spends[0]["reads"], found.told["query"])
                told.append(found.told)
                spends += found.spends
                continue
            require(not told, "programs come last", "composition")
            if step["rule"] not in NOISES:
                raise UnknownError("no rule of this name", str(step["rule"]))
            where = f"{step['rule']}: {step['evidence']['query']['name']}"
            asked = self.shape(step["evidence"]["query"])
            shapes.append(asked)
            spends.append(self.spend(step, asked, where))
        require(self.body.get("programs", []) == told, "another program", "programs")
        rules = {step["rule"] for step in composition["premises"]} - {PROGRAM}
        require(len(rules) <= 1, "noise of two kinds", "composition")
        gaussian = any(exact(spend.get("rho", 0.0)) > 0 for spend in spends)
        require((self.claim.get("dp_rho", 0.0) > 0.0) == gaussian, "another noise", "claim")
        names = [step["evidence"]["query"]["name"] for step in composition["premises"]]
        require(len(set(names)) == len(names), "two queries of one name", "composition")
        total, rho = summed(spends)
        at_least(conclusion["epsilon"], ball(total), "sequential-composition: epsilon")
        at_least(self.claim["dp_epsilon"], ball(total), "claim: dp_epsilon")
        at_least(conclusion.get("rho", 0.0), ball(rho), "sequential-composition: rho")
        at_least(self.claim.get("dp_rho", 0.0), ball(rho), "claim: dp_rho")
        for what, due in (("dp_epsilon", total), ("dp_rho", rho)):
            stated = (self.claim.get(what, 0.0), conclusion.get(CONCLUDED[what], 0.0))
            told_close = all(close(exact(one), due) for one in stated)
            require(told_close, f"{what} is not the sum of the spends", "claim")
        return shapes, spends

    def shape(self, query: Mapping[str, Any]) -> Shape:
        asked = shape(query, self.columns, self.body["unit"], self.covers, self.independent)
        self.spoken(asked.reads, query["name"])
        return asked

    def spoken(self, reads: Sequence[str], name: str) -> None:
        """The population speaks about all private columns that a query reads."""
        if self.claim["notion"] == "bdp":
            unspoken = set(reads) - set(self.covers) - set(self.independent)
            require(not unspoken, f"nothing is said of {sorted(unspoken)}", name)

    def spend(self, step: Mapping[str, Any], asked: Shape, where: str) -> Mapping[str, Any]:
        """The entry of the ledger for one query, every part of it derived again."""
        evidence, spend = step["evidence"], step["evidence"]["spend"]
        gaussian = step["rule"] == "discrete-gaussian"
        grid = Grid.read(evidence["grid"]) if asked.sums else None
        if grid is not None:
            require((grid.low, grid.high) == asked.interval, "the grid's bounds", where)
            require(grid.masked == asked.masked, "the grid's anchor", where)
        due = moved(asked, grid, self.rows_per_record, squared=gaussian)
        named = "sensitivity_squared" if gaussian else "sensitivity"
        sensitivity = whole(evidence[named], named, 1)
        largest = self.n * self.rows_per_record * (2**grid.bits if grid is not None else 1)
        require(largest < 2**62, "the sums don't fit 64-bit integers", where)
        require(sensitivity >= due, f"{named} {sensitivity} is claimed, {due} is due", where)
        numerator, denominator = evidence["step"]
        length = Fraction(whole(numerator, "step"), whole(denominator, "step", 1))
        require(length == (grid.step if grid is not None else 1), "the grid's step", where)
        scale = exact(evidence["scale"])
        require(scale > 0, "the noise has no scale", where)
        cost = self.cost_of_noise(step, sensitivity, scale, where)
        told = {
            "query": (spend["query"], evidence["query"]["name"]),
            "dataset": (spend["dataset"], self.body["dataset"]),
            "unit": (spend["unit"], self.body["unit"]),
            "kind": (spend["kind"], asked.kind),
            "column": (spend["column"], asked.column),
            "reads": (sorted(spend["reads"]), sorted(asked.reads)),
            "mechanism": (spend["mechanism"], self.mechanism(step, asked)),
            "delta": (spend["dp_delta"], 0.0),
            "conclusion": (step["conclusion"]["kind"], asked.kind),
            "notion": (step["conclusion"]["notion"], "dp"),
        }
        for what, (stated, derived) in told.items():
            require(stated == derived, f"{what}: {stated!r} is stated, {derived!r} is due", where)
        check_block(spend, evidence["query"], self.columns, where)
        if asked.kind != "lipschitz":
            bare = spend["interval"] is None and spend["slack"] == 0.0
            require(bare, "an interval or slack of kind any", where)
        else:
            require(tuple(spend["interval"]) == asked.interval, "the clipping interval", where)
            assert grid is not None
            # The extra steps on their own: pure costs grow with them, zCDP with their square.
            relative = grid.slack**2 if gaussian else grid.slack
            at_least(spend["slack"], ball(cost * relative), where)
            stated = close(exact(spend["slack"]), cost * relative)
            require(stated, "slack is more than the grid adds", where)
        return dict(spend)

    def cost_of_noise(
        self, step: Mapping[str, Any], sensitivity: int, scale: Fraction, where: str
    ) -> Fraction:
        """What the spend says that the noise costs, which must not be less than it does.

        Discrete Laplace noise of scale b: two results at distance s differ by at most e^(s/b).
        Discrete Gaussian noise of scale b: zCDP of D^2 / (2 b^2) at a distance D in l2.
        """
        spend, conclusion = step["evidence"]["spend"], step["conclusion"]
        gaussian = step["rule"] == "discrete-gaussian"
        kept, none = ("rho", "dp_epsilon") if gaussian else ("dp_epsilon", "rho")
        cost = sensitivity / (2 * scale * scale) if gaussian else Fraction(sensitivity) / scale
        at_least(spend[kept], ball(cost), f"{where}: cost")
        concluded = "rho" if gaussian else "epsilon"
        at_least(conclusion[concluded], ball(exact(spend[kept])), where)
        told = close(exact(conclusion[concluded]), exact(spend[kept]))
        require(told, "it concludes another cost than it spends", where)
        require(spend.get(none, 0.0) == 0.0, f"{none} beside another kind of cost", where)
        return exact(spend[kept])

    def mechanism(self, step: Mapping[str, Any], asked: Shape) -> str:
        """More than the noise, if the query claims it: a count over one complete series."""
        query: Mapping[str, Any] = step["evidence"]["query"]
        tightness = query.get("tightness", "dp")
        require(tightness in ("dp", "mechanism"), "no such tightness", query["name"])
        if tightness == "dp":
            return str(step["rule"])
        require(step["rule"] == "discrete-laplace", "tightness with another noise", query["name"])
        chain = self.population
        require(isinstance(chain, Chain), "no complete series", query["name"])
        covers, length = chain.covers, chain.length
        roles = [column.get("role") for column in self.columns.values()]
        single = "series" not in roles and "order" in roles and self.n == length
        plain = query["kind"] in ("count", "proportion") and asked.keys is None
        reads = columns_of(condition(query["where"])) == set(covers) and len(covers) == 1
        require(self.body["unit"] == "row" and self.claim["notion"] == "bdp", "unit", query["name"])
        require(single, "no complete series", query["name"])
        require(plain and reads, "no count of a covered state over all records", query["name"])
        column = self.columns[covers[0]]
        source = self.columns.get(column.get("from", covers[0]), {})
        imputed = any(isinstance(one.get("missing"), Mapping) for one in (column, source))
        require(not imputed, "values are imputed", query["name"])
        return count_mechanism(length)

    # -- what it means --------------------------------------------------------------------

    def cost(self, spends: Sequence[Mapping[str, Any]], secrets: object) -> tuple[Cost, Any]:
        """What the spends add up to, and where it needs secrets to lie."""
        for spend in spends:
            unspoken = set(spend["reads"]) - set(self.covers) - set(self.independent)
            require(not unspoken, f"nothing is said of {sorted(unspoken)}", spend["query"])
        return compose(spends, self.population, sorted(self.covers), self.interval(secrets))

    def interval(self, secrets: object) -> tuple[Fraction, Fraction] | None:
        """Where secrets lie: the declared bounds of the one column that a Gaussian law covers."""
        vectors = isinstance(self.population, GaussianVectors)
        scalar = is_gaussian(self.population) and not vectors and secrets == "bounded"
        names: Sequence[str] = self.population.covers if scalar else []
        bounds = self.columns[names[0]].get("bounds") if scalar and len(names) == 1 else None
        return None if bounds is None else (exact(bounds[0]), exact(bounds[1]))

    def level(self, step: Mapping[str, Any], spends: Sequence[Mapping[str, Any]]) -> Any:
        if self.claim["notion"] == "dp":
            return _dp_level(step, spends)
        evidence = step["evidence"]
        plain = self.body["population"]
        declared = {k: v for k, v in plain.items() if k not in ("source", "covers")}
        for what, stated, due in (
            ("population", evidence["population"], declared),
            ("covers", sorted(evidence["covers"]), self.covers),
            ("independent", sorted(evidence["independent"]), self.independent),
        ):
            require(same(stated, due), f"{what} is not what is declared", step["rule"])
        place = self.interval(evidence["secrets"])
        told = None if place is None else [float(end) for end in place]
        require(same(evidence.get("interval"), told), "other secrets", step["rule"])
        cost, _ = self.cost(spends, evidence["secrets"])
        zcdp, _ = self.cost(as_zcdp(spends), evidence["secrets"])
        as_counted = counted(step) == "zcdp"
        spent, parts = (zcdp, as_zcdp(spends)) if as_counted else (cost, spends)
        # The theorems about Gaussian populations look at kinds, the others at sums alone.
        split = is_gaussian(self.population)
        _check_cost(step, spent, None if split else parts)
        mechanisms = {spend["mechanism"] for spend in spends}
        one_column = len(self.covers) == 1 and all(list(s["reads"]) == self.covers for s in spends)
        one_column = one_column and all(spend.get("block") is None for spend in spends)
        mechanism = mechanisms.pop() if one_column and len(mechanisms) == 1 else None
        named = evidence.get("details", {}).get("mechanism", mechanism)
        require(named == mechanism, "another mechanism", step["rule"])
        return conversion_level(step, read_conversion(step, cost, mechanism, zcdp))

    def secrets(self, step: Mapping[str, Any], spends: Sequence[Mapping[str, Any]]) -> Any:
        """Where secret values must lie for the level, in the words of the claim."""
        if step["rule"] not in GAUSSIAN_RULES or step["conclusion"]["adversary"] == "informed":
            return ANY_VALUES
        _, place = self.cost(spends, step["evidence"]["secrets"])
        if place is None:
            return ANY_VALUES
        if isinstance(place, Mapping):
            return {"kind": "bounded", "intervals": {name: list(place[name]) for name in place}}
        return {"kind": "bounded", "interval": place}

    def check_claim(
        self, step: Mapping[str, Any], level: Any, spends: Sequence[Mapping[str, Any]]
    ) -> None:
        claim, budget = self.claim, exact(self.root["evidence"]["total"])
        kept_to = exact(self.body["data_set"]["total"])
        require(0 < budget <= kept_to, "it may spend more than the ledger allows", "release")
        require(kept_to <= MOST_ALLOWED, "a total that limits nothing", "data_set")
        at_least(claim["epsilon"], level, "claim: epsilon")
        require(exact(claim["epsilon"]) <= budget, "the level is above the budget", "claim")
        check_delta(claim["delta"], step)
        check_delta(self.root["conclusion"].get("delta", 0.0), step)
        kept = exact(self.root["evidence"].get("delta", 0.0))
        require(exact(claim["delta"]) <= kept, "delta is above the budget's", "claim")
        if claim["notion"] == "bdp":
            require(claim["scope"] == "the declared population", "another scope", "claim")
            due = step["conclusion"]["adversary"]
            require(claim["adversary"] == due, "another adversary than derived", "claim")
            require(same(claim["secrets"], self.secrets(step, spends)), "other secrets", "claim")
        require(
            list(self.body["assumptions"]) == assumptions(self.body),
            "they are not those that the level rests on",
            "assumptions",
        )

    def check_public_blocks(self, spends: Sequence[Mapping[str, Any]]) -> None:
        """The columns by which spends are divided are named, and nobody protects them."""
        places = [cells_of(spend) for spend in spends]
        due = sorted({place[0] for place in places if place is not None})
        require(self.body.get("public_blocks", []) == due, "other columns divide", "public_blocks")
        for name in due:
            column = self.columns.get(name, {"public": True})
            public = column.get("public") is True or "role" in column
            require(public, f"{name!r} is private", "public_blocks")

    def check_data_set(
        self, premises: Sequence[Mapping[str, Any]], spends: Sequence[Mapping[str, Any]]
    ) -> None:
        """All spends of the data set together, under the same reading."""
        state, name = self.body["data_set"], "data_set"
        earlier = list(state["earlier_spends"])
        for spend in earlier:
            require(spend["dataset"] == self.body["dataset"], "another data set", "data_set")
            require(spend["unit"] == self.body["unit"], "another unit", "data_set")
        require(len(premises) == (2 if earlier else 1), "the wrong derivations", "data_set")
        together = [*earlier, *spends]
        self.check_public_blocks(together)
        step = premises[-1]
        if self.claim["notion"] == "bdp":
            due = premises[0]["conclusion"]["adversary"]
            require(step["conclusion"]["adversary"] == due, "another adversary", "data_set")
        level = self.level(step, together)
        at_least(state["level"], level, "data_set: level")
        for what, due in zip(("dp_epsilon", "dp_rho"), summed(together), strict=True):
            told = state[what] if what == "dp_epsilon" else state.get(what, 0.0)
            at_least(told, ball(due), f"data_set: {what}")
            require(close(exact(told), due), f"{what} is not the sum of the spends", name)
        check_delta(state.get("delta", 0.0), step)
        kept = exact(self.root["evidence"].get("delta", 0.0))
        require(exact(state.get("delta", 0.0)) <= kept, "delta is above the budget's", name)
        derived = exact(step["conclusion"]["epsilon"])
        require(exact(state["level"]) == derived, "level is not that of the derivation", name)
        require(exact(state["level"]) <= exact(state["total"]), "above the total", "data_set")
        bdp = self.claim["notion"] == "bdp"
        due_secrets = self.secrets(step, together) if bdp else ANY_VALUES
        require(same(state["secrets"], due_secrets), "other secrets", "data_set")


def _dp_level(step: Mapping[str, Any], spends: Sequence[Mapping[str, Any]]) -> arb:
    """The DP level of spends: their sum, or at a delta what a Rényi divergence gives."""
    pure, rho = summed(spends)
    if step["rule"] != DP_RULE:
        require(step["rule"] in ("sequential-composition", "data-set"), "no such rule", "release")
        require(rho == 0, "Gaussian noise has no level without a delta", step["rule"])
        return ball(pure)
    cost, _ = compose(spends, None, [])
    zcdp, _ = compose(as_zcdp(spends), None, [])
    as_counted = counted(step) == "zcdp"
    spent, parts = (zcdp, as_zcdp(spends)) if as_counted else (cost, spends)
    _check_cost(step, spent, parts)
    level = dp_level(step, cost, zcdp)
    at_least(step["conclusion"]["epsilon"], level, "approximate-dp: epsilon")
    return level


def _check_cost(
    step: Mapping[str, Any], spent: Cost, spends: Sequence[Mapping[str, Any]] | None
) -> None:
    """The cost that a step states is the sum of the spends; by kind where none are given."""
    stated, rule = declared_cost(step), step["rule"]
    sums = stated.is_close(spent) if spends is None else held(stated, spent, spends)
    require(sums, "cost: it is not the sum of the spends", rule)


def check_release(document: Mapping[str, Any]) -> None:
    """`InvalidError` or `UnknownError` unless everything follows."""
    _Release(document).check()
