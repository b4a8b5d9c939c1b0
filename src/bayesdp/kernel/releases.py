"""A certificate of a release: its queries, its claim, its results, and the data set's state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from bayesdp.kernel.approximate import dp_level
from bayesdp.kernel.arithmetic import UnknownError, agree, at_least, ball, exact, follows, require
from bayesdp.kernel.blocks import check_block
from bayesdp.kernel.collected import check_collected, check_collected_results
from bayesdp.kernel.composition import (
    Cost,
    SecretsInterval,
    Spent,
    as_zcdp,
    check_own_delta,
    close,
    compose,
    declared_cost,
    is_gaussian,
    is_sum_of,
    own_delta,
    spent,
    summed,
)
from bayesdp.kernel.conversions import check_delta, conversion_level, counted, read_conversion
from bayesdp.kernel.found_groups import check_found, check_found_results
from bayesdp.kernel.judgement import GAUSSIAN_RULES
from bayesdp.kernel.program_queries import program_query
from bayesdp.kernel.program_results import check_program_results
from bayesdp.kernel.programs.effort import Effort
from bayesdp.kernel.queries import Grid, Shape, condition, moved, shape
from bayesdp.kernel.results import NoiseStep, check_results, is_zcdp
from bayesdp.kernel.row_counts import check_row_counts
from bayesdp.kernel.rules.markov_count import count_mechanism
from bayesdp.kernel.stated import (
    check_query,
    check_together,
    same,
    stated_columns,
    stated_population,
)
from bayesdp.statements.assumptions import ROUNDING
from bayesdp.statements.certificates import (
    AnyValues,
    BoundedValues,
    CollectedResult,
    DpClaim,
    FoundResult,
    NumberResult,
    QuantileResult,
    ReleaseCertificate,
    Secrets,
    SeriesResult,
)
from bayesdp.statements.chains import Chain
from bayesdp.statements.column_sets import label
from bayesdp.statements.columns import Columns, Impute
from bayesdp.statements.conditions import columns_of
from bayesdp.statements.conversions import Conversion
from bayesdp.statements.costs import (
    CollectedStep,
    Composition,
    LaplaceNoise,
    PermuteAndFlipStep,
    ProgramStep,
    PureChoice,
    ThresholdedStep,
)
from bayesdp.statements.gaussian import GaussianVectors
from bayesdp.statements.populations import law_of
from bayesdp.statements.steps import ApproximateStep, DataSetStep

MOST_ALLOWED = 10**6
"""Nats: what a study may ask its ledger to keep to. A larger total says nothing to anybody."""

_WITH_RULES = ProgramStep | CollectedStep | ThresholdedStep
"""Steps of queries that have rules in files of their own; the others are numbers with noise."""

ANY_VALUES = AnyValues(kind="any values that the population gives a positive probability")
LevelStep = Composition | DataSetStep | ApproximateStep | Conversion


class _Release:
    """One certificate, its declarations at hand. `document` is what else stands there."""

    def __init__(self, stated: ReleaseCertificate, document: Mapping[str, Any]) -> None:
        self.body, self.document = stated, document
        self.root, self.claim = stated.derivation, stated.claim
        self.composition = self.root.composition
        self.effort = Effort()
        self.rows_per_record = stated.rows_per_record
        plain = stated.population
        self.population = None if plain is None else stated_population(plain)
        self.columns = stated_columns(stated.columns)
        for step in self.composition.premises:
            check_query(step.evidence.query, self.columns)
        check_together(stated, self.population, self.columns)
        names = self.population.covers if self.population is not None else ()
        self.covers = sorted(label(name, self.columns[name]) for name in names)
        self.independent = sorted(
            label(name, column)
            for name, column in self.columns.items()
            if column.independent and column.is_private
        )

    def check(self) -> None:
        body, (own, *_) = self.body, self.root.premises
        if body.rounding != ROUNDING:
            raise UnknownError("it rounds in a way that is not known here", "rounding")
        shapes, spends = self.queries()
        level = self.level(own, spends)
        concluded = self.root.conclusion
        at_least(concluded.epsilon, level, "release: epsilon")
        follows(own.conclusion.epsilon, concluded.epsilon, "release: epsilon")
        follows(concluded.epsilon, self.claim.epsilon, "claim: epsilon")
        agree(self.claim.delta, concluded.delta, "delta", "claim")
        self.check_claim(own, level, spends)
        self.check_data_set(spends, level)
        queries = self.composition.premises
        numbers = [q for q in queries if not isinstance(q, _WITH_RULES)]
        last = len(body.results) - len(self.program_steps())
        perturbed = [r for r in body.results[:last] if isinstance(r, CollectedResult)]
        groups = [r for r in body.results[:last] if isinstance(r, FoundResult)]
        check_found_results(groups, self.found_steps())
        first = last - len(perturbed) - len(groups)
        of_tables = NumberResult | QuantileResult | SeriesResult
        shown = [result for result in body.results[:first] if isinstance(result, of_tables)]
        require(len(shown) == first, "numbers come first, as many as were asked for", "results")
        check_collected_results(perturbed, self.collected_steps(), body.n, self.columns)
        # Records of several rows: only where all have as many are their rows counted.
        rows = body.n * self.rows_per_record
        counts = check_results(shown, rows, numbers, shapes, self.columns)
        of_rows = self.population if self.rows_per_record == 1 else None
        check_row_counts(counts, rows, self.columns, of_rows)
        check_program_results(self.document["results"][last:], self.program_steps(), self.columns)

    def program_steps(self) -> list[ProgramStep]:
        """The steps of programs."""
        return [step for step in self.composition.premises if isinstance(step, ProgramStep)]

    def found_steps(self) -> list[ThresholdedStep]:
        """The steps of groups that are found in the data."""
        return [step for step in self.composition.premises if isinstance(step, ThresholdedStep)]

    def collected_steps(self) -> list[CollectedStep]:
        """The steps of perturbed answers."""
        return [step for step in self.composition.premises if isinstance(step, CollectedStep)]

    # -- what was asked, and what it costs under DP ----------------------------------------

    def queries(self) -> tuple[list[Shape], list[Spent]]:
        """The shape of each query of numbers, and all spends; each is derived again."""
        where, conclusion, claim = "composition", self.composition.conclusion, self.claim
        shapes: list[Shape] = []
        described: list[Mapping[str, Any]] = []
        for step in self.composition.premises:
            if not isinstance(step, _WITH_RULES):
                asked = self.shape(step)
                shapes.append(asked)
                self.check_spend(step, asked, f"{step.rule}: {step.evidence.query.name}")
        spoken = self.covers, self.independent
        check_found(self.found_steps(), self.body, self.columns, self.of_the_table(), spoken)
        check_collected(
            self.collected_steps(), self.body, self.columns, self.covers, self.independent
        )
        for program in self.program_steps():
            asked_of = program_query(
                program, self.body, self.columns, self.covers, self.independent, self.effort
            )
            described.append(asked_of.described)
        require(
            same(self.document.get("programs", []), described),
            "programs: others are described than asked",
            "programs",
        )
        spends = spent(
            spend
            for step in self.composition.premises
            for spend in (
                step.evidence.spends if isinstance(step, ProgramStep) else (step.evidence.spend,)
            )
        )
        gaussian = any(priced.rho > 0 for priced in spends)
        reason = f"dp_rho: {claim.dp_rho!r} is claimed; some noise is Gaussian: {gaussian}"
        require((claim.dp_rho > 0.0) == gaussian, reason, "claim")
        for what, due, concluded, claimed in zip(
            ("dp_epsilon", "dp_rho"),
            summed(spends),
            (conclusion.epsilon, conclusion.rho),
            (claim.dp_epsilon, claim.dp_rho),
            strict=True,
        ):
            at_least(concluded, ball(due), f"{where}: {what}")
            at_least(claimed, ball(due), f"claim: {what}")
            sums = close(Fraction(concluded), due) and close(Fraction(claimed), due)
            require(sums, f"{what} is not the sum of the spends", "claim")
        check_own_delta(conclusion.delta, spends, where)
        if isinstance(claim, DpClaim):
            check_own_delta(claim.dp_delta, spends, "claim")
        return shapes, spends

    def shape(self, step: NoiseStep) -> Shape:
        query, columns = step.evidence.query, self.columns
        balanced = self.body.balanced is not None
        return shape(
            query, columns, self.body.unit, self.covers, self.independent, balanced=balanced
        )

    def check_spend(self, step: NoiseStep, asked: Shape, where: str) -> None:
        """The entry of the ledger for one query: every part of it is derived again."""
        evidence, spend, body = step.evidence, step.evidence.spend, self.body
        zcdp = is_zcdp(step)
        grid = None if evidence.grid is None else Grid.read(evidence.grid)
        if grid is not None:
            agree((grid.low, grid.high), asked.interval, "the grid's bounds", where)
            agree(grid.masked, asked.masked, "whether the grid is masked", where)
        grids = [Grid.read(part) for part in evidence.grids or ()]
        if asked.intervals:
            bounds = tuple((part.low, part.high) for part in grids)
            agree(bounds, asked.intervals, "the grids' bounds", where)
            require(not any(part.masked for part in grids), "a grid of products is masked", where)
            require(len({part.bits for part in grids}) == 1, "grids differ in their steps", where)
            grid = grids[0]
        groups = len(asked.keys or (None,))
        rows, in_group = evidence.query.rows_that_count(self.rows_per_record, groups)
        due = moved(asked, grid, rows, in_group, squared=zcdp)
        sensitivity = sensitivity_of(step)
        part = asked.probability.denominator if asked.probability is not None else 1
        fineness = asked.series.fineness if asked.series is not None else 1
        steps = 2 ** (asked.power * grid.bits) if grid is not None else part
        largest = body.n * self.rows_per_record * steps * fineness
        require(largest < 2**62, "the sums don't fit 64-bit integers", where)
        enough = sensitivity >= due
        require(enough, f"a sensitivity of {sensitivity} is claimed, {due} is due", where)
        length = grid.step**asked.power if grid is not None else Fraction(1, part)
        if asked.moments:
            length = Fraction(1, steps)
        elif asked.intervals:
            length = grids[0].step * grids[1].step
        length /= fineness
        agree(Fraction(*evidence.step), Fraction(length), "step", where)
        cost = self.cost_of_noise(step, sensitivity, where)
        compared = {
            "query": (spend.query, evidence.query.name),
            "dataset": (spend.dataset, body.dataset),
            "unit": (spend.unit, body.protected_unit),
            "kind": (spend.kind, asked.kind),
            "column": (spend.column, asked.column),
            "reads": (spend.reads, asked.reads),
            "mechanism": (spend.mechanism, self.mechanism(step, asked)),
            "conclusion": (step.conclusion.kind, asked.kind),
        }
        for what, (stated, derived) in compared.items():
            agree(stated, derived, what, where)
        check_block(spend.block, evidence.query.where, self.of_the_table(), where)
        if asked.kind == "lipschitz":
            assert grid is not None
            agree(spend.interval, asked.interval, "interval", where)
            # The extra steps on their own: pure costs grow with them, zCDP with their square.
            extra = cost * (grid.slack**2 if zcdp else grid.slack)
            at_least(spend.slack, ball(extra), where)
            require(close(Fraction(spend.slack), extra), "slack is more than the grid adds", where)

    def of_the_table(self) -> Columns:
        """The columns whose cells the table itself has: none for sure where its rows have parts."""
        if self.body.parts is not None:
            return {}
        looked_up = {name for other in self.body.joined for name in other.columns}
        return {name: column for name, column in self.columns.items() if name not in looked_up}

    def cost_of_noise(self, step: NoiseStep, sensitivity: int, where: str) -> Fraction:
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

    def mechanism(self, step: NoiseStep, asked: Shape) -> str:
        """More than the noise, if the query claims it: a count over one complete series."""
        query, body = step.evidence.query, self.body
        if query.tightness == "dp":
            return step.rule
        require(
            step.rule == "discrete-laplace",
            "tightness is claimed for other noise than discrete Laplace",
            query.name,
        )
        chain = self.population
        require(
            isinstance(chain, Chain),
            "tightness is claimed, and the population is not one complete series",
            query.name,
        )
        assert isinstance(chain, Chain)
        roles = {getattr(column, "role", None) for column in self.columns.values()}
        single = "series" not in roles and "order" in roles and body.n == chain.length
        of_rows = body.unit == "row" and self.claim.notion == "bdp"
        require(of_rows, "tightness is claimed of rows under bdp only", query.name)
        require(
            single,
            "tightness is claimed, and the population is not one complete series",
            query.name,
        )
        plain = query.kind in ("count", "proportion") and asked.keys is None
        read = columns_of(condition(query.where or ""))
        reads = read == set(chain.covers) and len(chain.covers) == 1
        require(plain and reads, "no count of a covered state over all records", query.name)
        column = self.columns[chain.covers[0]]
        source = self.columns.get(getattr(column, "source", ""), column)
        imputed = any(isinstance(read.missing, Impute) for read in (column, source))
        require(
            not imputed,
            "tightness is claimed of a column whose missing values are imputed",
            query.name,
        )
        return count_mechanism(chain.length)

    # -- what it means --------------------------------------------------------------------

    def cost(self, spends: Sequence[Spent], secrets: str) -> tuple[Cost, SecretsInterval]:
        """The sum of the spends, and the interval of secrets that it needs.

        Raises `InvalidError` if a spend reads a column that is neither covered nor independent.
        """
        for priced in spends:
            if priced.spend.dataset != self.body.dataset:
                continue  # of the same people: what is read there stands among the assumptions
            unspoken = set(priced.spend.reads) - set(self.covers) - set(self.independent)
            require(
                not unspoken,
                f"the population says nothing of {sorted(unspoken)}",
                priced.spend.query,
            )
        return compose(spends, self.population, self.covers, self.interval(secrets))

    def interval(self, secrets: str) -> tuple[Fraction, Fraction] | None:
        """Where secrets lie: the declared bounds of the one column that a Gaussian law covers."""
        population = self.population
        vectors = isinstance(population, GaussianVectors)
        scalar = is_gaussian(population) and not vectors and secrets == "bounded"
        names = population.covers if population is not None and scalar else ()
        bounds = getattr(self.columns[names[0]], "bounds", None) if len(names) == 1 else None
        return None if bounds is None else (Fraction(bounds[0]), Fraction(bounds[1]))

    def level(self, step: LevelStep, spends: Sequence[Spent]) -> arb:
        """The level that the release's own step proves, from what is declared and spent."""
        if not isinstance(step, Conversion):
            return _dp_level(step, spends)
        require(own_delta(spends) == 0, "mechanisms have deltas of their own", step.rule)
        evidence = step.evidence
        declared = law_of(self.body.population or {})
        place = self.interval(evidence.secrets)
        interval = None if place is None else tuple(float(end) for end in place)
        for what, stated, due in (
            ("population", evidence.population, declared),
            ("covers", sorted(evidence.covers), self.covers),
            ("independent", sorted(evidence.independent), self.independent),
            ("interval", evidence.interval, interval),
        ):
            require(same(stated, due), f"{what} is not what is declared", step.rule)
        cost, _ = self.cost(spends, evidence.secrets)
        zcdp, _ = self.cost(as_zcdp(spends), evidence.secrets)
        as_counted = counted(step) == "zcdp"
        together, parts = (zcdp, as_zcdp(spends)) if as_counted else (cost, spends)
        # The theorems about Gaussian populations look at kinds, the others at sums alone.
        split = is_gaussian(self.population)
        _check_cost(step, together, None if split else parts)
        mechanism = self.one_mechanism(spends)
        named = evidence.details.get("mechanism", mechanism)
        agree(named, mechanism, "mechanism", step.rule)
        return conversion_level(step, read_conversion(step, cost, mechanism, zcdp))

    def one_mechanism(self, spends: Sequence[Spent]) -> str | None:
        """What all spends are, where all read the one covered column of all records."""
        mechanisms = {priced.spend.mechanism for priced in spends}
        alike = len(self.covers) == 1 and all(
            list(priced.spend.reads) == self.covers and priced.spend.block is None
            for priced in spends
        )
        return mechanisms.pop() if alike and len(mechanisms) == 1 else None

    def secrets(self, step: LevelStep, spends: Sequence[Spent]) -> Secrets:
        """Where secret values must lie for the level, in the words of the claim."""
        if not isinstance(step, Conversion) or step.rule not in GAUSSIAN_RULES:
            return ANY_VALUES
        if step.conclusion.adversary == "informed":
            return ANY_VALUES
        _, place = self.cost(spends, step.evidence.secrets)
        if place is None:
            return ANY_VALUES
        named = "intervals" if isinstance(place, Mapping) else "interval"
        return BoundedValues.model_validate({"kind": "bounded", named: place})

    def check_claim(self, step: LevelStep, level: arb, spends: Sequence[Spent]) -> None:
        claim, budget = self.claim, self.root.evidence
        kept_to = self.body.data_set.total
        require(budget.total <= kept_to, "it may spend more than the ledger allows", "release")
        reason = f"a total above {MOST_ALLOWED} nats limits nothing"
        require(kept_to <= MOST_ALLOWED, reason, "data_set")
        at_least(claim.epsilon, level, "claim: epsilon")
        reason = f"epsilon: {claim.epsilon!r} is claimed, the budget is {budget.total!r}"
        require(claim.epsilon <= budget.total, reason, "claim")
        check_delta(claim.delta, _delta(step))
        check_delta(self.root.conclusion.delta, _delta(step))
        reason = f"delta: {claim.delta!r} is claimed, the budget's is {budget.delta!r}"
        require(claim.delta <= budget.delta, reason, "claim")
        if claim.notion == "bdp":
            assert isinstance(step, Conversion)
            agree(claim.adversary, step.conclusion.adversary, "adversary", "claim")
            agree(
                _as_stated(claim.secrets),
                _as_stated(self.secrets(step, spends)),
                "secrets",
                "claim",
            )

    def check_public_blocks(self, spends: Sequence[Spent]) -> None:
        """The columns by which spends are divided are named, and nobody protects them."""
        blocks = [priced.spend.block for priced in spends]
        due = tuple(sorted({block.column for block in blocks if block is not None}))
        agree(self.body.public_blocks, due, "public_blocks", "public_blocks")
        for name in due:
            public = name not in self.columns or not self.columns[name].is_private
            require(public, f"{name!r} is private", "public_blocks")

    def check_data_set(self, spends: Sequence[Spent], own_level: arb) -> None:
        """All spends of the data set together, under the same reading.

        Without earlier ones they are the release's own, whose step is then the only one.
        """
        state, name, body = self.body.data_set, "data_set", self.body
        own, step = self.root.premises[0], self.root.premises[-1]
        units = {body.dataset: body.protected_unit}
        for spend in state.earlier_spends:
            if body.people is None:
                agree(spend.dataset, body.dataset, "dataset", name)
            agree(spend.unit, units.setdefault(spend.dataset, spend.unit), "unit", name)
        due_steps = 2 if state.earlier_spends else 1
        agree(len(self.root.premises), due_steps, "number of premises", name)
        together = [*spent(state.earlier_spends), *spends]
        for priced in together:
            agree(priced.spend.people, body.people, "people", name)
        self.check_public_blocks(together)
        if isinstance(own, Conversion) and isinstance(step, Conversion):
            agree(step.conclusion.adversary, own.conclusion.adversary, "adversary", name)
        is_own = step is own and not state.earlier_spends
        level = own_level if is_own else self.level(step, together)
        at_least(state.level, level, "data_set: level")
        stated = (state.dp_epsilon, state.dp_rho)
        for what, stated_cost, due in zip(
            ("dp_epsilon", "dp_rho"), stated, summed(together), strict=True
        ):
            at_least(stated_cost, ball(due), f"data_set: {what}")
            require(close(Fraction(stated_cost), due), f"{what} is not the sum of the spends", name)
        check_own_delta(state.dp_delta, together, name)
        check_delta(state.delta, _delta(step))
        most = self.root.evidence.delta
        reason = f"delta: {state.delta!r} is stated, the budget's is {most!r}"
        require(state.delta <= most, reason, name)
        agree(state.level, step.conclusion.epsilon, "level", name)
        reason = f"level: {state.level!r} is stated, the total is {state.total!r}"
        require(state.level <= state.total, reason, name)
        agree(_as_stated(state.secrets), _as_stated(self.secrets(step, together)), "secrets", name)


def sensitivity_of(step: NoiseStep) -> int:
    """How far one record moves the query, or a score: in l1, or the square of it in l2."""
    evidence = step.evidence
    if isinstance(evidence, LaplaceNoise | PureChoice):
        return evidence.sensitivity
    return evidence.sensitivity_squared


def _as_stated(secrets: Secrets) -> dict[str, Any]:
    """As it stands on the certificate."""
    return secrets.model_dump(exclude_none=True)


def _delta(step: LevelStep) -> float:
    return getattr(step.conclusion, "delta", 0.0)


def _dp_level(step: LevelStep, spends: Sequence[Spent]) -> arb:
    """The DP level of spends: their sum, or at a delta what a Rényi divergence gives."""
    if not isinstance(step, ApproximateStep):
        pure, rho = summed(spends)
        require(rho == 0, "Gaussian noise has no level without a delta", step.rule)
        check_own_delta(step.conclusion.delta, spends, step.rule)
        return ball(pure)
    check_own_delta(step.evidence.own_delta, spends, step.rule)
    parts = as_zcdp(spends) if counted(step) == "zcdp" else spends
    together, _ = compose(parts, None, [])
    _check_cost(step, together, parts)
    level = dp_level(step, together)
    at_least(step.conclusion.epsilon, level, "approximate-dp: epsilon")
    return level


def _check_cost(
    step: Conversion | ApproximateStep, together: Cost, spends: Sequence[Spent] | None
) -> None:
    """The cost that a step states is the sum of the spends; by kind where none are given."""
    stated = declared_cost(step.evidence.cost)
    sums = stated.is_close(together) if spends is None else is_sum_of(stated, together, spends)
    require(sums, "cost: it is not the sum of the spends", step.rule)


def check_release(stated: ReleaseCertificate, document: Mapping[str, Any]) -> None:
    """`InvalidError` or `UnknownError` unless everything follows."""
    _Release(stated, document).check()
