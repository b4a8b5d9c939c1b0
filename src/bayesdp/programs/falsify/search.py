"""The search: all neighbours over the witnesses, all outcome classes, all obligations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

from bayesdp.programs.falsify import losses
from bayesdp.programs.falsify.contributions import Contributions
from bayesdp.programs.falsify.findings import CheckedObligation, Findings
from bayesdp.programs.falsify.paths import Path, paths
from bayesdp.programs.falsify.releases import Trial
from bayesdp.programs.falsify.values import Evaluator, ExpressionValue, Fails, Opaque
from bayesdp.programs.falsify.witnesses import (
    Neighbours,
    WitnessRows,
    expressions,
    pairs,
    witness_rows,
)
from bayesdp.programs.ir import Branch, Command, Derive, Expr, Parts, Program, Release, nodes

if TYPE_CHECKING:
    from bayesdp.programs.verdict import ProgramVerdict

MOST_PAIRS = 6000
SIZE = Expr("public", (), ("db.size",))
READERS = ("sum", "count", "fold", "transitions")
LINEAR = ("sum", "count", "tuple", "item", "add", "sub", "neg", "mul", "div", "if")


def falsify(
    program: Program, verdict: ProgramVerdict, n_max: int = 4, most_pairs: int = MOST_PAIRS
) -> Findings:
    """Look for neighbouring databases on which a claim of an accepted verdict is wrong.

    Databases have up to `n_max` records over each column's witnesses; if the program requires more,
    as many as it admits, and up to `n_max - 1` more. Checked are every obligation
    of the derivation (sensitivities, distances of posteriors, bounds, what is said to be public,
    costs of entering) and the law of the whole transcript against the claimed epsilon and delta.
    `most_pairs` limits how many pairs are tried for one number of records and outcome class;
    `Findings.left_out` says if pairs or witnesses were left out; databases that the program can't
    tell apart are compared once (`contributions`). That nothing is found proves nothing about other
    databases.
    """
    search = _Search(program, verdict, most_pairs)
    search.findings.sizes = search.sizes(n_max)
    for size in search.findings.sizes:
        search.of_size(size)
    return search.findings


@dataclass
class _Search:
    program: Program
    verdict: ProgramVerdict
    most: int

    def __post_init__(self) -> None:
        self.findings = Findings()
        self.witnesses: WitnessRows = witness_rows(self.program)
        self.kinds = dict(self.program.record)
        self.add_remove = self.program.adjacency == "add-remove"
        if not self.witnesses.all:
            self.findings.left_out.add("values of columns")
        body = [*expressions(self.program.body), *self.program.returns]
        self.ordered = any(node.op == "fold" for expr in body for node in nodes(expr))
        self.sized = any(node == SIZE for expr in body for node in nodes(expr))

    def sizes(self, most: int) -> list[int]:
        """The numbers of records of the larger database."""
        if self.verdict.n is not None:
            return [self.verdict.n]
        admitted = [size for size in range(1, most + 1) if self._admits(size)]
        if not admitted and not self.add_remove:
            least = next((size for size in range(most + 1, 5000) if self._admits(size)), None)
            if least is None:
                return []
            admitted = [size for size in range(least, least + most) if self._admits(size)]
        if len(admitted) > 2 and not self.sized and self._all_sums(self.program.body):
            return [admitted[0], admitted[-1]]  # the same shifts whatever the other records
        return admitted or list(range(1, most + 1))

    def _all_sums(self, commands: Sequence[Command]) -> bool:
        for command in commands:
            if isinstance(command, Release) and not independent_of_others(command):
                return False
            if isinstance(command, Branch) and not self._all_sums(
                (*command.then, *command.otherwise)
            ):
                return False
            if isinstance(command, Parts) and not all(
                self._all_sums(part) for _, part in command.parts
            ):
                return False
        return True

    def _admits(self, size: int) -> bool:
        names: dict[str, ExpressionValue] = {"db.size": Fraction(size)}
        try:
            return all(
                bool(Evaluator((), {}, names).value(condition, ()))
                for condition in self.program.requires
            )
        except (ZeroDivisionError, Opaque):
            return False

    def of_size(self, size: int) -> None:
        """Compare all pairs of databases with this number of records, on all paths."""
        for path in paths(self.program, self.verdict.derivation, None if self.add_remove else size):
            at = Evaluator(self.witnesses.rows, self.kinds, path.names)
            try:
                self._bounds(path, at)
                trials = [Trial(release, node, at, size) for release, node in path.releases]
                self._law(path, trials, at, size)
                if not self.add_remove:
                    self._entering(path, trials, size)
            except Fails:
                failed = CheckedObligation("row can't fail", "", inf, Fraction(0))
                self.findings.see(failed, None, self.witnesses.rows, path.names)
            except ArithmeticError:  # it divides by 0, or leaves the range of doubles
                self.findings.left_out.add("what leaves the range of doubles")

    # -- pairs -----------------------------------------------------------------------------------

    def _pairs(
        self, size: int, read: Contributions, *, entering: bool, alike: bool
    ) -> Iterator[Neighbours]:
        rows = self.witnesses.rows
        records = pairs(rows, self.kinds, read.kind_of, entering=entering)
        if not records:  # all that may replace each other are alike: any two of them
            records = pairs(rows, self.kinds, range(len(rows)), entering=entering)[:1]
        if len(records) > self.most:
            self.findings.left_out.add("pairs of records")
        records = records[: self.most]
        most = max(1, self.most // max(1, len(records)))
        others, complete = read.rests(size - 1, ordered=self.ordered, alike=alike, most=most)
        if not complete:
            self.findings.left_out.add("the other records of a table")
        for rest in others:
            for here, there in records:
                for at in range(size if self.ordered else 1):
                    self.findings.pairs += 1
                    yield Neighbours(rest, at, here, there)

    # -- the law of the transcript -----------------------------------------------------------------

    def _law(self, path: Path, trials: list[Trial], at: Evaluator, size: int) -> None:
        public = self._public(path)
        read = Contributions(at, trials, public)
        alike = all(independent_of_others(trial.release) for trial in trials)
        # Public sums are additive too: whether they differ is up to the records that differ.
        alike &= all(part.op in ("sum", "count") for expr in public for part in _readings(expr))
        worst: tuple[float, losses.Loss, Neighbours] | None = None
        epsilon, delta = self.verdict.dp_epsilon, self.verdict.dp_delta
        for pair in self._pairs(size, read, entering=self.add_remove, alike=alike):
            compared = [self._compared(trial, pair, path) for trial in trials]
            total = losses.together([loss for loss in compared if loss is not None])
            self._same(public, at, pair, path)
            score = total.pure if not delta else total.squared**0.5 + total.forward
            if worst is None or score > worst[0]:
                worst = (score, total, pair)
        if worst is None:
            return
        _, total, pair = worst
        true = total.epsilon(float(delta))
        self._see(CheckedObligation("law", "", true, epsilon), pair, path)

    def _compared(self, trial: Trial, pair: Neighbours, path: Path) -> losses.Loss | None:
        try:
            findings, loss = trial.compare(pair)
        except Opaque:
            self.findings.skipped.add(trial.release.name)
            return None
        for finding in findings:
            self._see(finding, pair, path)
        return loss

    def _see(self, finding: CheckedObligation, pair: Neighbours | None, path: Path) -> None:
        self.findings.see(finding, pair, self.witnesses.rows, path.names)

    # -- a record that enters or leaves ------------------------------------------------------------

    def _entering(self, path: Path, trials: list[Trial], size: int) -> None:
        priced_trials = [trial for trial in trials if trial.node["entering"] is not None]
        alike = all(independent_of_others(trial.release) for trial in priced_trials)
        if not priced_trials:
            return
        read = Contributions(priced_trials[0].at, priced_trials, ())
        for pair in self._pairs(size, read, entering=True, alike=alike):
            for trial in priced_trials:
                claimed = Fraction(trial.node["entering"])
                try:
                    findings, loss = trial.compare(pair)
                except Opaque:
                    continue
                true: Fraction | float = max(loss.forward, loss.backward)
                if trial.release.op == "gaussian":
                    true, claimed = Fraction(findings[0].true), claimed * trial.claimed
                self._see(trial.obliged("entering", true, claimed), pair, path)

    # -- what is public, and bounds ----------------------------------------------------------------

    def _public(self, path: Path) -> list[Expr]:
        """Expressions that read data and must be the same on neighbours."""
        public: list[Expr] = list(self.program.returns)
        for command, _ in path.steps:
            public += _public_parts(command)
        return [expr for expr in public if any(True for _ in _readings(expr))]

    def _same(self, public: Sequence[Expr], at: Evaluator, pair: Neighbours, path: Path) -> None:
        for expr in public:
            for part in _readings(expr):
                if at.value(part, pair.left) != at.value(part, pair.right):
                    self._see(CheckedObligation("public", "", inf, Fraction(0)), pair, path)

    def _bounds(self, path: Path, at: Evaluator) -> None:
        """Every row value lies inside the bounds that the checker works with."""
        from bayesdp.kernel.programs.ranges import ANY, AdjacencyContext
        from bayesdp.programs.check.reading import read

        places = {
            name: (ANY,) * len(value) if isinstance(value, tuple) else (ANY,)
            for name, value in path.names.items()
        }
        core = read(self.program)
        context = AdjacencyContext(core, ANY, core.adjacency, places)
        for release, _ in path.releases:
            for data in (n for arg in release.args for n in nodes(arg) if n.op == "data"):
                if any(node.op == "public" for node in nodes(data)):
                    continue
                claimed = context.ranges(data.args[1])
                for row in self.witnesses.rows:
                    if at.keeps_row(data, row):
                        value = at.of_row(data.args[1], row)
                        if not _inside(value, claimed):
                            self._see(
                                CheckedObligation("bounds", release.name, inf, Fraction(0)),
                                None,
                                path,
                            )


def _inside(value: ExpressionValue, claimed: Sequence[Any]) -> bool:
    if isinstance(value, str):
        return True
    parts = value if isinstance(value, tuple) else (Fraction(value),)
    return all(
        bounds.low <= part <= bounds.high for part, bounds in zip(parts, claimed, strict=True)
    )


def _public_parts(command: Command) -> list[Expr]:
    if isinstance(command, Derive):
        return [command.value]
    if isinstance(command, Branch):
        return [command.test]
    if not isinstance(command, Release):
        return []
    parts = [expr for _, expr in command.options]
    if command.op in ("exponential", "per-record-exponential"):
        parts.append(command.args[-1])
    if command.op in ("posterior-sample", "above-threshold"):
        parts.append(command.args[1])
    for arg in command.args:
        parts += [part for node in nodes(arg) if node.op == "observe" for part in node.args[1:]]
    return parts


def _readings(expr: Expr) -> Iterator[Expr]:
    """Where an expression reads the table: its outermost sums, folds and so on."""
    if expr.op in READERS:
        yield expr
        return
    for arg in expr.args:
        yield from _readings(arg)


def _reads_data(expr: Expr) -> bool:
    return any(node.op in (*READERS, "observe") for node in nodes(expr))


def independent_of_others(release: Release) -> bool:
    """Whether the shift depends on the records that differ only: sums, scaled."""
    if release.op in ("randomized-response", "per-record-exponential"):
        return True
    return release.op in ("laplace", "gaussian") and _is_linear(release.args[0])


def _is_linear(expr: Expr) -> bool:
    """Whether a value is linear in sums over the table, with public numbers as its factors."""
    if not _reads_data(expr) or expr.op in ("sum", "count"):
        return True
    private = [_reads_data(arg) for arg in expr.args]
    if expr.op == "mul" and all(private):
        return False
    if expr.op in ("div", "if") and private[expr.op == "div"]:
        return False  # what is divided by, or asked, is private
    return expr.op in LINEAR and all(map(_is_linear, expr.args))
