"""A certificate of a release: its queries, its claim, its results, and the data set's state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from bayesdp.kernel.arithmetic import UnknownError, agree, at_least, ball, follows, require
from bayesdp.kernel.conversions.conversion import check_delta
from bayesdp.kernel.costs.collected import check_collected, check_collected_results
from bayesdp.kernel.costs.composition import (
    Spent,
    check_own_delta,
    close,
    spent,
    summed,
)
from bayesdp.kernel.costs.found_groups import check_found, check_found_results
from bayesdp.kernel.costs.queries import AskedQuery
from bayesdp.kernel.programs.effort import Effort
from bayesdp.kernel.reading import same
from bayesdp.kernel.releases.declaration import Declaration
from bayesdp.kernel.releases.levels import LevelStep, as_stated, delta_of, level_of, secrets_of
from bayesdp.kernel.releases.noise_steps import as_asked, check_spend
from bayesdp.kernel.releases.program_queries import program_query
from bayesdp.kernel.releases.program_results import check_program_results
from bayesdp.kernel.releases.results import check_results
from bayesdp.kernel.releases.row_counts import check_row_counts
from bayesdp.statements.assumptions import ROUNDING
from bayesdp.statements.certificates import ReleaseCertificate
from bayesdp.statements.claims import DpClaim
from bayesdp.statements.conversions import Conversion
from bayesdp.statements.costs import (
    CollectedStep,
    ProgramStep,
    ThresholdedStep,
)
from bayesdp.statements.results import (
    CollectedResult,
    FoundResult,
    NumberResult,
    QuantileResult,
    SeriesResult,
)

MOST_ALLOWED = 10**6
"""Nats: what a study may ask its ledger to keep to. A larger total says nothing to anybody."""

_WITH_RULES = ProgramStep | CollectedStep | ThresholdedStep
"""Steps of queries that have rules in files of their own; the others are numbers with noise."""


class _Release:
    """One certificate, its declarations at hand. `document` is what else stands there."""

    def __init__(self, stated: ReleaseCertificate, document: Mapping[str, Any]) -> None:
        self.body, self.document = stated, document
        self.root, self.claim = stated.derivation, stated.claim
        self.composition = self.root.composition
        self.effort = Effort()
        self.declared = Declaration.read(stated)

    def check(self) -> None:
        body, (own, *_) = self.body, self.root.premises
        if body.rounding != ROUNDING:
            raise UnknownError("it rounds in a way that is not known here", "rounding")
        asked_queries, spends = self.queries()
        level = level_of(self.declared, own, spends)
        concluded = self.root.conclusion
        at_least(concluded.epsilon, level, "release: epsilon")
        follows(own.conclusion.epsilon, concluded.epsilon, "release: epsilon")
        follows(concluded.epsilon, self.claim.epsilon, "claim: epsilon")
        agree(self.claim.delta, concluded.delta, "delta", "claim")
        self.check_claim(own, level, spends)
        self.check_data_set(spends, level)
        self.check_answers(asked_queries)

    def check_answers(self, asked_queries: Sequence[AskedQuery]) -> None:
        """Results stand in an order: numbers, groups and perturbed answers, programs."""
        body, columns = self.body, self.declared.columns
        numbers = [q for q in self.composition.premises if not isinstance(q, _WITH_RULES)]
        last = len(body.results) - len(self.program_steps())
        perturbed = [r for r in body.results[:last] if isinstance(r, CollectedResult)]
        groups = [r for r in body.results[:last] if isinstance(r, FoundResult)]
        check_found_results(groups, self.found_steps())
        first = last - len(perturbed) - len(groups)
        of_tables = NumberResult | QuantileResult | SeriesResult
        shown = [result for result in body.results[:first] if isinstance(result, of_tables)]
        require(len(shown) == first, "numbers come first, as many as were asked for", "results")
        check_collected_results(perturbed, self.collected_steps(), body.n, columns)
        # Records of several rows: only where all have as many are their rows counted.
        rows = body.n * self.declared.rows_per_record
        counts = check_results(shown, rows, numbers, asked_queries, columns)
        of_rows = self.declared.population if self.declared.rows_per_record == 1 else None
        check_row_counts(counts, rows, columns, of_rows)
        check_program_results(self.document["results"][last:], self.program_steps(), columns)

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

    def queries(self) -> tuple[list[AskedQuery], list[Spent]]:
        """Each query of numbers as it is asked, and all spends; each is derived again."""
        where, conclusion, claim = "composition", self.composition.conclusion, self.claim
        declared, columns = self.declared, self.declared.columns
        covers, independent = declared.covers, declared.independent
        asked_queries: list[AskedQuery] = []
        described: list[Mapping[str, Any]] = []
        for step in self.composition.premises:
            if not isinstance(step, _WITH_RULES):
                asked = as_asked(declared, step)
                asked_queries.append(asked)
                check_spend(declared, step, asked, f"{step.rule}: {step.evidence.query.name}")
        own_columns, spoken = declared.of_the_table(), (covers, independent)
        check_found(self.found_steps(), self.body, columns, own_columns, spoken)
        check_collected(self.collected_steps(), self.body, columns, covers, independent)
        for program in self.program_steps():
            asked_of = program_query(program, self.body, columns, covers, independent, self.effort)
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
        return asked_queries, spends

    # -- what it means --------------------------------------------------------------------

    def check_claim(self, step: LevelStep, level: arb, spends: Sequence[Spent]) -> None:
        claim, budget = self.claim, self.root.evidence
        kept_to = self.body.data_set.total
        require(budget.total <= kept_to, "it may spend more than the ledger allows", "release")
        reason = f"a total above {MOST_ALLOWED} nats limits nothing"
        require(kept_to <= MOST_ALLOWED, reason, "data_set")
        at_least(claim.epsilon, level, "claim: epsilon")
        reason = f"epsilon: {claim.epsilon!r} is claimed, the budget is {budget.total!r}"
        require(claim.epsilon <= budget.total, reason, "claim")
        check_delta(claim.delta, delta_of(step))
        check_delta(self.root.conclusion.delta, delta_of(step))
        reason = f"delta: {claim.delta!r} is claimed, the budget's is {budget.delta!r}"
        require(claim.delta <= budget.delta, reason, "claim")
        if claim.notion == "bdp":
            assert isinstance(step, Conversion)
            agree(claim.adversary, step.conclusion.adversary, "adversary", "claim")
            agree(
                as_stated(claim.secrets),
                as_stated(secrets_of(self.declared, step, spends)),
                "secrets",
                "claim",
            )

    def check_public_blocks(self, spends: Sequence[Spent]) -> None:
        """The columns by which spends are divided are named, and nobody protects them."""
        blocks = [priced.spend.block for priced in spends]
        due = tuple(sorted({block.column for block in blocks if block is not None}))
        agree(self.body.public_blocks, due, "public_blocks", "public_blocks")
        for name in due:
            public = name not in self.declared.columns or not self.declared.columns[name].is_private
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
        level = own_level if is_own else level_of(self.declared, step, together)
        at_least(state.level, level, "data_set: level")
        stated = (state.dp_epsilon, state.dp_rho)
        for what, stated_cost, due in zip(
            ("dp_epsilon", "dp_rho"), stated, summed(together), strict=True
        ):
            at_least(stated_cost, ball(due), f"data_set: {what}")
            require(close(Fraction(stated_cost), due), f"{what} is not the sum of the spends", name)
        check_own_delta(state.dp_delta, together, name)
        check_delta(state.delta, delta_of(step))
        most = self.root.evidence.delta
        reason = f"delta: {state.delta!r} is stated, the budget's is {most!r}"
        require(state.delta <= most, reason, name)
        agree(state.level, step.conclusion.epsilon, "level", name)
        reason = f"level: {state.level!r} is stated, the total is {state.total!r}"
        require(state.level <= state.total, reason, name)
        agree(
            as_stated(state.secrets),
            as_stated(secrets_of(self.declared, step, together)),
            "secrets",
            name,
        )


def check_release(stated: ReleaseCertificate, document: Mapping[str, Any]) -> None:
    """`InvalidError` or `UnknownError` unless everything follows."""
    _Release(stated, document).check()
