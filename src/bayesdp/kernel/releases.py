"""A certificate of a release: its queries, its claim, its results, and the data set's state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from bayesdp.kernel.arithmetic import UnknownError, ball, exact, require, whole
from bayesdp.kernel.core import (
    GAUSSIAN_RULES,
    Cost,
    at_least,
    compose,
    conversion_level,
    count_mechanism,
    declared_cost,
    read_conversion,
    same,
)
from bayesdp.kernel.populations import ALL_RECORDS, group_size, members_of_factors
from bayesdp.kernel.queries import Grid, Shape, label, names_in, shape

ADVERSARY_WORDS = {
    "any": "whoever they are: any set of the other records may be known to them exactly",
    "uninformed": "they know the population, and none of the records",
    "informed": "they know every record except the one they attack",
}
ROUNDING = "every level is re-proved in ball arithmetic and rounded up"
"""How the levels of a certificate are rounded."""

COLUMN_KEYS = frozenset(
    {"bounds", "states", "from", "cuts", "where", "role", "step", "public", "independent"}
    | {"unit", "missing"}
)
ANY_VALUES = {"kind": "any values that the population gives a positive probability"}


class _Release:
    """One certificate, its declarations at hand."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.body = document
        self.root = document["derivation"]
        self.claim = document["claim"]
        self.columns: Mapping[str, Mapping[str, Any]] = document["columns"]
        self.n = whole(document["n"], "n", 1)
        rows = document["rows_per_unit"]
        require((rows is None) == (document["unit"] == "row"), "rows of a record", "unit")
        self.rows_per_record = 1 if rows is None else whole(rows, "rows_per_unit", 1)
        self.population = document["population"] or {"model": None}
        for name, column in self.columns.items():
            require(set(column) <= COLUMN_KEYS, f"unknown keys of column {name!r}", "columns")
        names = self.population.get("covers", [])
        for name in names:
            column = self.columns[name]
            private = not (column.get("public") is True or "role" in column)
            require(private and column.get("independent") is not True, "covers", "population")
        self.covers = sorted(label(name, self.columns[name]) for name in names)
        self.independent = sorted(
            label(name, column)
            for name, column in self.columns.items()
            if column.get("independent") is True
            and not (column.get("public") is True or "role" in column)
        )

    def check(self) -> None:
        premises = self.root["premises"]
        if self.body["rounding"] != ROUNDING:
            raise UnknownError("it rounds in a way that is not known here", "rounding")
        notion = self.claim["notion"]
        require(notion in ("dp", "bdp") and 1 <= len(premises) <= 2, "no such release", "release")
        require(self.root["conclusion"]["notion"] == notion, "another notion", "release")
        composition = premises[0] if notion == "dp" else premises[0]["premises"][0]
        require(composition["rule"] == "sequential-composition", "DP costs come first", "release")
        shapes, spends = self.queries(composition)
        level = self.level(premises[0], spends)
        at_least(self.root["conclusion"]["epsilon"], level, "release: epsilon")
        self.check_claim(premises[0], level, spends)
        self.check_data_set(premises, spends)
        _Results(self, composition["premises"], shapes).check()

    # -- what was asked, and what it costs under DP ----------------------------------------

    def queries(
        self, composition: Mapping[str, Any]
    ) -> tuple[list[Shape], list[Mapping[str, Any]]]:
        evidence, conclusion = composition["evidence"], composition["conclusion"]
        where = composition["rule"]
        require(evidence["adjacency"] == "replace one record", "another adjacency", where)
        require(conclusion["notion"] == "dp" and composition["premises"], "no costs", where)
        shapes, spends = [], []
        for step in composition["premises"]:
            if step["rule"] != "discrete-laplace":
                raise UnknownError("no rule of this name", str(step["rule"]))
            where = f"discrete-laplace: {step['evidence']['query']['name']}"
            asked = self.shape(step["evidence"]["query"])
            shapes.append(asked)
            spends.append(self.spend(step, asked, where))
        names = [step["evidence"]["query"]["name"] for step in composition["premises"]]
        require(len(set(names)) == len(names), "two queries of one name", "composition")
        total = sum((exact(spend["dp_epsilon"]) for spend in spends), Fraction(0))
        at_least(conclusion["epsilon"], ball(total), "sequential-composition: epsilon")
        at_least(self.claim["dp_epsilon"], ball(total), "claim: dp_epsilon")
        return shapes, spends

    def shape(self, query: Mapping[str, Any]) -> Shape:
        asked = shape(query, self.columns, self.body["unit"], self.covers, self.independent)
        if self.claim["notion"] == "bdp":
            unspoken = set(asked.reads) - set(self.covers) - set(self.independent)
            require(not unspoken, f"nothing is said of {sorted(unspoken)}", query["name"])
        return asked

    def spend(self, step: Mapping[str, Any], asked: Shape, where: str) -> Mapping[str, Any]:
        """The entry of the ledger for one query, every part of it derived again."""
        evidence, spend = step["evidence"], step["evidence"]["spend"]
        grid = Grid.read(evidence["grid"]) if asked.sums else None
        due = self.rows_per_record * (2 if asked.cells is not None else 1)
        if grid is not None:
            require((grid.low, grid.high) == asked.interval, "the grid's bounds", where)
            require(grid.masked == asked.masked, "the grid's anchor", where)
            due = self.rows_per_record * grid.sensitivity
        sensitivity = whole(evidence["sensitivity"], "sensitivity", 1)
        largest = self.n * self.rows_per_record * (2**grid.bits if grid is not None else 1)
        require(largest < 2**62, "the sums don't fit 64-bit integers", where)
        require(sensitivity >= due, f"sensitivity {sensitivity} is claimed, {due} is due", where)
        numerator, denominator = evidence["step"]
        length = Fraction(whole(numerator, "step"), whole(denominator, "step", 1))
        require(length == (grid.step if grid is not None else 1), "the grid's step", where)
        scale = exact(evidence["scale"])
        require(scale > 0, "the noise has no scale", where)
        # Discrete Laplace noise of scale b: two results at distance s differ by at most e^(s/b).
        cost = ball(Fraction(sensitivity) / scale)
        at_least(spend["dp_epsilon"], cost, f"{where}: cost")
        at_least(step["conclusion"]["epsilon"], ball(exact(spend["dp_epsilon"])), where)
        told = {
            "query": (spend["query"], evidence["query"]["name"]),
            "dataset": (spend["dataset"], self.body["dataset"]),
            "unit": (spend["unit"], self.body["unit"]),
            "kind": (spend["kind"], asked.kind),
            "column": (spend["column"], asked.column),
            "reads": (sorted(spend["reads"]), sorted(asked.reads)),
            "mechanism": (spend["mechanism"], self.mechanism(step["evidence"]["query"], asked)),
            "delta": (spend["dp_delta"], 0.0),
            "conclusion": (step["conclusion"]["kind"], asked.kind),
            "notion": (step["conclusion"]["notion"], "dp"),
        }
        for what, (stated, derived) in told.items():
            require(stated == derived, f"{what}: {stated!r} is stated, {derived!r} is due", where)
        if asked.kind == "lipschitz":
            require(tuple(spend["interval"]) == asked.interval, "the clipping interval", where)
            assert grid is not None
            at_least(spend["slack"], ball(exact(spend["dp_epsilon"]) * grid.slack), where)
        return dict(spend)

    def mechanism(self, query: Mapping[str, Any], asked: Shape) -> str:
        """More than the noise, if the query claims it: a count over one complete series."""
        tightness = query.get("tightness", "dp")
        require(tightness in ("dp", "mechanism"), "no such tightness", query["name"])
        if tightness == "dp":
            return "discrete-laplace"
        chain, covers = self.population, self.population.get("covers", [])
        length = whole(chain.get("length", 0), "length", 1)
        roles = [column.get("role") for column in self.columns.values()]
        single = "series" not in roles and "order" in roles and self.n == length
        plain = query["kind"] in ("count", "proportion") and asked.keys is None
        reads = names_in(query["where"]) == set(covers) and len(covers) == 1
        require(self.body["unit"] == "row" and self.claim["notion"] == "bdp", "unit", query["name"])
        require(chain.get("model") == "markov" and single, "no complete series", query["name"])
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
        scalar = self.population.get("model") in ("gaussian", "autoregressive")
        scalar = scalar and "columns" not in self.population and secrets == "bounded"
        names = self.population.get("covers", [])
        bounds = self.columns[names[0]].get("bounds") if scalar and len(names) == 1 else None
        return None if bounds is None else (exact(bounds[0]), exact(bounds[1]))

    def level(self, step: Mapping[str, Any], spends: Sequence[Mapping[str, Any]]) -> Any:
        if self.claim["notion"] == "dp":
            return ball(sum((exact(spend["dp_epsilon"]) for spend in spends), Fraction(0)))
        evidence = step["evidence"]
        declared = {k: v for k, v in self.population.items() if k not in ("source", "covers")}
        for what, stated, due in (
            ("population", evidence["population"], declared),
            ("covers", sorted(evidence["covers"]), self.covers),
            ("independent", sorted(evidence["independent"]), self.independent),
        ):
            require(same(stated, due), f"{what} is not what is declared", step["rule"])
        if self.population.get("model") in ALL_RECORDS:
            require(self.n <= _described(self.population), "more records than described", "n")
        place = self.interval(evidence["secrets"])
        told = None if place is None else [float(end) for end in place]
        require(same(evidence.get("interval"), told), "other secrets", step["rule"])
        cost, _ = self.cost(spends, evidence["secrets"])
        stated = declared_cost(step)
        split = self.population.get("model") in ("gaussian", "autoregressive")
        for part in ("any", "lipschitz", "slack") if split else ("total",):
            one, other = getattr(stated, part), getattr(cost, part)
            require(_close(one, other), f"cost: {part} is not the sum of the spends", step["rule"])
        require(
            [c[0] for c in stated.columns] == [c[0] for c in cost.columns]
            and all(
                _close(a, b)
                for one, other in zip(stated.columns, cost.columns, strict=True)
                for a, b in zip(one[1:], other[1:], strict=True)
            ),
            "cost: by_column is not the sum of the spends",
            step["rule"],
        )
        mechanisms = {spend["mechanism"] for spend in spends}
        counted = len(self.covers) == 1 and all(list(s["reads"]) == self.covers for s in spends)
        mechanism = mechanisms.pop() if counted and len(mechanisms) == 1 else None
        return conversion_level(step, read_conversion(step, cost, mechanism))

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
        at_least(claim["epsilon"], level, "claim: epsilon")
        require(exact(claim["epsilon"]) <= budget, "the level is above the budget", "claim")
        require(claim["delta"] == 0.0, "delta is not 0", "claim")
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

    def check_data_set(
        self, premises: Sequence[Mapping[str, Any]], spends: Sequence[Mapping[str, Any]]
    ) -> None:
        """All spends of the data set together, under the same reading."""
        state = self.body["data_set"]
        earlier = list(state["earlier_spends"])
        for spend in earlier:
            require(spend["dataset"] == self.body["dataset"], "another data set", "data_set")
            require(spend["unit"] == self.body["unit"], "another unit", "data_set")
            require(exact(spend["dp_epsilon"]) > 0 and spend["dp_delta"] == 0.0, "cost", "data_set")
        require(len(premises) == (2 if earlier else 1), "the wrong derivations", "data_set")
        together = [*earlier, *spends]
        step = premises[-1]
        if self.claim["notion"] == "bdp":
            due = premises[0]["conclusion"]["adversary"]
            require(step["conclusion"]["adversary"] == due, "another adversary", "data_set")
        level = self.level(step, together)
        at_least(state["level"], level, "data_set: level")
        total = sum((exact(spend["dp_epsilon"]) for spend in together), Fraction(0))
        at_least(state["dp_epsilon"], ball(total), "data_set: dp_epsilon")
        told = exact(state["dp_epsilon"])
        require(_close(told, total), "dp_epsilon is not the sum of the spends", "data_set")
        require(
            exact(state["level"]) == exact(step["conclusion"]["epsilon"])
            if self.claim["notion"] == "bdp"
            else _close(exact(state["level"]), total),
            "level is not that of the derivation",
            "data_set",
        )
        require(exact(state["level"]) <= exact(state["total"]), "above the total", "data_set")
        if self.claim["notion"] == "bdp":
            due_secrets = self.secrets(step, together)
            require(same(state["secrets"], due_secrets), "other secrets", "data_set")


def check_release(document: Mapping[str, Any]) -> None:
    """`InvalidError` or `UnknownError` unless everything follows."""
    _Release(document).check()


class _Results:
    """Each released number was noised as derived, and no error is understated."""

    def __init__(
        self, release: _Release, steps: Sequence[Mapping[str, Any]], shapes: Sequence[Shape]
    ) -> None:
        self.results = release.body["results"]
        self.n = release.n
        self.steps, self.shapes = steps, shapes

    def check(self) -> None:
        due = [
            (step, asked, key, cell)
            for step, asked in zip(self.steps, self.shapes, strict=True)
            for key in (asked.keys or (None,))
            for cell in (asked.cells or (None,))
        ]
        require(len(due) == len(self.results), "not as many as were asked for", "results")
        sizes: dict[str, int] = {}
        for result, (step, _, key, cell) in zip(self.results, due, strict=True):
            query = step["evidence"]["query"]
            where = f"result: {query['name']}"
            named = (query["name"], query["kind"], key, cell)
            found = tuple(result.get(part) for part in ("query", "kind", "group", "cell"))
            require(found == named, f"{found!r} stands where {named!r} is due", where)
            exact(result["value"])
            stated, proven = exact(result["dp_epsilon"]), exact(step["conclusion"]["epsilon"])
            require(stated >= proven, "its DP cost is understated", where)
            self.noise(result, step, where)
            if "rows" in result:
                sizes[query["name"]] = sizes.get(query["name"], 0) + result["rows"]
        for step, asked in zip(self.steps, self.shapes, strict=True):
            rows = sizes.get(step["evidence"]["query"]["name"])
            if rows is not None:
                whole_table = rows == self.n or (asked.public_part and 0 < rows <= self.n)
                require(whole_table, f"averages over {rows} rows of {self.n}", "results")

    def noise(self, result: Mapping[str, Any], step: Mapping[str, Any], where: str) -> None:
        noise, error = result["noise"], result["error"]
        require(noise["distribution"] == "discrete-laplace", "another distribution", where)
        require(noise["scale"] == step["evidence"]["scale"], "another noise scale", where)
        length = Fraction(*step["evidence"]["step"])
        averaged = result["kind"] in ("mean", "proportion")
        require(("rows" in result) == averaged, "rows belong to averages", where)
        if averaged:
            length /= whole(result["rows"], "rows", 1)
        require(noise["step"] == float(length), "another step", where)
        confidence = exact(error["confidence"])
        require(0 < confidence < 1, "no such confidence", where)
        steps = exact(error["value"]) / exact(noise["step"])
        # P(|Z| > k) = 2 a^(k+1) / (1 + a), a = e^(-1/scale), for the k that the error allows.
        k = int(steps * (1 + Fraction(1, 2**50)))
        scale = exact(noise["scale"])
        tail = 2 * (-ball(Fraction(k + 1) / scale)).exp() / (1 + (-ball(1 / scale)).exp())
        require(k >= 0 and bool(tail <= ball(1 - confidence)), "its error is understated", where)


def assumptions(document: Mapping[str, Any]) -> list[str]:
    """Everything that the level rests on and that nobody checked, from what is declared."""
    claim = document["claim"]
    said = []
    if "columns" in document:
        said += _about_records(document)
    else:
        said.append("the mechanism has the stated DP cost, and is of the stated kind")
    if claim["notion"] == "bdp":
        population = document["population"]
        vouched = population.get("source") or "nobody is named as vouching for it"
        said.append(
            f"the records depend on each other as the population of model "
            f"'{population.get('model')}' declares; {vouched}"
        )
        said += _about_assignment(population)
        said.append(
            f"the adversary is '{claim['adversary']}': {ADVERSARY_WORDS[claim['adversary']]}"
        )
        if isinstance(claim["secrets"], Mapping) and claim["secrets"]["kind"] == "bounded":
            said.append(
                f"secret values lie {_place(claim['secrets'])}; for values outside, the level is "
                "the size of the group times the DP cost"
            )
        elif claim["secrets"] == "bounded":
            said.append("secret values lie inside the interval that the mechanism clips to")
    for name, column in document.get("columns", {}).items():
        private = not (column.get("public") is True or "role" in column)
        if private and column.get("independent") is True:
            said.append(
                f"column '{name}' is declared independent: given a record's own covered columns, "
                "it tells nothing about other records and they tell nothing about it"
            )
    if "results" in document:
        said.append("noise is drawn from OpenDP's discrete Laplace sampler")
    return said


def _about_records(document: Mapping[str, Any]) -> list[str]:
    said = ["adjacency is: replace one record; the number of records and who is in are public"]
    unit = document["unit"]
    said.append(
        "a record is one row of the table"
        if unit == "row"
        else f"a record is all rows with the same {unit}, at most {document['rows_per_unit']}"
    )
    public = [
        name
        for name, column in document["columns"].items()
        if column.get("public") is True or "role" in column
    ]
    if public:
        said.append(f"not protected, because declared public: {', '.join(public)}")
    return said


def _about_assignment(population: Mapping[str, Any]) -> list[str]:
    """Which row is which record of the model: not checked, and not to depend on values."""
    model = population.get("model")
    if model in ALL_RECORDS or (model == "gaussian" and "size" not in population):
        return [
            "different rows are different records of the model, and which row is which does not "
            "depend on private values"
        ]
    return []


def _place(secrets: Mapping[str, Any]) -> str:
    if "intervals" in secrets:
        each = (
            f"between {a:g} and {b:g} ({name})" for name, (a, b) in secrets["intervals"].items()
        )
        return ", ".join(each)
    low, high = secrets["interval"]
    return f"between {low:g} and {high:g}"


def _described(population: Mapping[str, Any]) -> int:
    """How many records the model describes at most."""
    if population["model"] == "unknown":
        return group_size(population)
    return members_of_factors(population)[0]


def _close(stated: Fraction, derived: Fraction) -> bool:
    """A sum of doubles, rounded up."""
    return derived * (1 - Fraction(1, 10**12)) <= stated <= derived * (1 + Fraction(1, 10**9))
