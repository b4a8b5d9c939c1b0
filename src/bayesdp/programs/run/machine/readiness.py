"""What is refused before a program's cost is debited: all of it is decided by public values.

The last step is a rehearsal: each release on one made-up record, with the noise's true scale and no
noise, so that a scale that no sampler takes is met with nothing spent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesdp.errors import InputError, Refusal, UnsupportedError
from bayesdp.kernel.programs.reading import ONE
from bayesdp.kernel.programs.rows import labels_of
from bayesdp.programs.ir import (
    AFTER,
    Branch,
    Command,
    Derive,
    Expr,
    Program,
    Release,
    expression,
    flat,
    names_of,
)
from bayesdp.programs.run.draws import choices
from bayesdp.programs.run.draws.gaussian import sigma_of
from bayesdp.programs.run.machine.machine import Machine
from bayesdp.programs.run.numerics.hidden_counts import AddedNoise, require_pairs
from bayesdp.programs.run.numerics.observed import Noisy
from bayesdp.programs.run.posteriors.private_totals import require_scale
from bayesdp.programs.run.tables.columns import CellValues, Rows, inside
from bayesdp.programs.run.tables.loading import check_types
from bayesdp.programs.run.tables.transitions import check_places
from bayesdp.programs.run.values.private import MOST_ROWS, PrivateValues
from bayesdp.programs.run.values.public import PublicValues
from bayesdp.programs.verdict import ProgramVerdict
from bayesdp.programs.whole_numbers import is_whole

if TYPE_CHECKING:
    from bayesdp.arrays import Ints

MOST_STATES = 1000


def prepared(program: Program) -> None:
    """Refuse what the interpreter can't run, before data is read. Raises `UnsupportedError`."""
    check_types(program)
    _check_commands(program, program.body)


def ready(program: Program, verdict: ProgramVerdict, rows: Rows) -> None:
    """Refuse what can be refused before anything is released; public values alone decide it.

    Raises `Refusal` for a verdict other than ACCEPTED, `UnsupportedError` for what the interpreter
    can't run, and `InputError` for a number of records that the program doesn't admit, and for
    noise that is too large for its sampler (an epsilon close to 0). `Rehearsal` names the one case
    in which that isn't known beforehand.
    """
    if verdict.verdict != "ACCEPTED":
        raise Refusal(
            f"{program.name} is {verdict.verdict}: {verdict.reason} Nothing was released or spent."
        )
    prepared(program)
    _import_all()
    if program.adjacency == "replace-one":
        _check_size(program, verdict, rows)
        _check_places(program, rows)
    Rehearsal(program, verdict, rows).run()


def _import_all() -> None:
    """Load the libraries that a run needs: an interrupt while they load must cost nothing."""
    from importlib import import_module

    for name in ("opendp.prelude", "scipy.integrate", "scipy.special", "scipy.stats"):
        import_module(name)


def _check_size(program: Program, verdict: ProgramVerdict, rows: Rows) -> None:
    n = rows.size
    if n < 1:
        raise InputError("table", n, expected="at least one row")
    if n > MOST_ROWS:
        raise InputError(
            "table",
            n,
            expected=f"at most {MOST_ROWS} rows",
            remedy="Use queries instead of a program, or a table of fewer rows.",
        )
    if verdict.n is not None and verdict.n != n:
        raise InputError(
            "table",
            n,
            expected=f"{verdict.n} rows, for which the program was checked",
            remedy="Check it for the size that the table has, or for every size.",
        )
    values = PublicValues(program, rows)
    for condition in program.requires:
        if not values.value(condition):
            raise InputError(
                "table",
                n,
                expected=f"a number of rows that the preconditions of {program.name} admit",
                remedy="Its require(...) lines state them.",
            )


def _check_places(program: Program, rows: Rows) -> None:
    """Refuse rows that share a step, where transitions are counted and it is known which."""
    values = PublicValues(program, rows)
    for release in flat(program.body):
        for argument in release.args if isinstance(release, Release) else ():
            for part in argument.walk():
                if part.op == "transitions" and names_of(part) <= set(values.names):
                    check_places(values.filled(part), values.row_values)


def _check_commands(program: Program, commands: Sequence[Command]) -> None:
    kinds = dict(program.record)
    for command in commands:
        if isinstance(command, Release):
            if command.op == "randomized-response":
                states = len(labels_of(command.args[0].args[1], kinds))
                if states > MOST_STATES:
                    raise UnsupportedError(
                        "randomized_response",
                        states,
                        expected=f"at most {MOST_STATES} labels",
                        remedy="Merge labels.",
                    )
            if command.op == "posterior-sample" and program.adjacency != "replace-one":
                family = command.args[0].args[1].data[0]
                if family == "poisson":
                    raise UnsupportedError(
                        "posterior_sample",
                        "a poisson model under add-remove",
                        expected="a public number of records, which share the exposure",
                        remedy="Leave adjacency out of @program.",
                    )
        elif isinstance(command, Derive):
            _check_derived(command.value, program)
        elif isinstance(command, Branch):
            _check_commands(program, command.then)
            _check_commands(program, command.otherwise)
        else:
            for _, part in command.parts:
                _check_commands(program, part)


def _check_derived(value: Expr, program: Program) -> None:
    if value.op not in ("plug-in", "noise-aware", "nuts"):
        return
    model = value.args[-1]
    family = str(model.args[1].data[0])
    if value.op == "nuts" and family == "linear_model":
        from bayesdp.programs.run.posteriors.linear_regression import require_numpyro

        require_numpyro()
    released = {
        command.name: command for command in flat(program.body) if isinstance(command, Release)
    }
    answers = released.get(str(model.args[0].data[0])) if model.args[0].data else None
    if answers is None or answers.op in ("laplace", "gaussian"):
        return
    numeric = answers.op == "per-record-exponential"
    if numeric and (value.op == "nuts" or family not in ("normal", "poisson", "answered_line")):
        raise UnsupportedError(
            value.op.replace("-", "_"),
            "a model of per_record_exponential answers",
            expected="plug_in or noise_aware of a normal or poisson model or of a line",
        )
    if not numeric and family not in ("bernoulli", "categorical", "chances"):
        raise UnsupportedError(
            value.op.replace("-", "_"),
            f"a {family} model of randomized_response answers",
            expected="bernoulli or categorical",
        )


class Rehearsal(Machine):
    """A run of every release on made-up records, so that what can't be run is known beforehand.

    No private value is at hand here, so none can decide anything: private columns hold one record
    with the least values. Grids and scales don't depend on rows, and public columns and the number
    of rows are the true ones. Both sides of a branch are rehearsed unless its condition is known. A
    release that reads an earlier released value (a factor, the end of a clip) is passed over: its
    grid, and so its scale in steps, depends on that value, and is known only once that has been
    paid for.
    """

    def __init__(self, program: Program, verdict: ProgramVerdict, rows: Rows) -> None:
        replaced = program.adjacency == "replace-one"
        public = {
            name: rows.columns[name] for name, kind in program.record if kind.public and replaced
        }
        # Under add-remove the number of records is private: nothing may depend on it.
        known = Rows(public, rows.size if replaced else 1)
        super().__init__(program, verdict, known, _NoNoise())
        self.values = PublicValues(program, known)
        self.private = PrivateValues(self.values, _made_up(program))
        self.later: set[str] = set()

    def command(self, command: Command, node: Mapping[str, Any]) -> None:
        """Rehearse a command, if everything that it reads is known beforehand."""
        if isinstance(command, Release):
            self.later.add(command.name)
            options = [option for _, option in command.options]
            sensitivity = node["sensitivity"]["value"]
            for argument in command.args:
                choices.numbers_in(argument, self.private, self._known)
            if self._known(*command.args, *options, expression(sensitivity)):
                self.release(command, node)
            elif self._known(*options, expression(sensitivity)):
                self._noise_of_counts(command, node)
        elif isinstance(command, Derive):
            if command.value.op in AFTER or not self._known(command.value):
                self.later.add(command.name)
                self._countable(command.value)
            else:
                super().command(command, node)
            self._divisors(command.value)
        elif isinstance(command, Branch) and not self._known(command.test):
            self._divisors(command.test)
            sides, before = (command.then, command.otherwise), self.values.forgiving
            self.values.forgiving = True
            for side, step in zip(sides, node["branch"], strict=True):
                self.sequence(side, step)
            self.values.forgiving = before
            # Which side gives a value is not known.
            self.later.update(inner.name for inner in flat((command,)) if isinstance(inner, Derive))
        else:
            super().command(command, node)

    def _noise_of_counts(self, release: Release, node: Mapping[str, Any]) -> None:
        """Note the noise of counts that a released value selects: its scale doesn't depend on it.

        How many records there are together is known where no private column has a say in it.
        """
        counts = release.args[0]
        if (
            release.op not in ("laplace", "gaussian")
            or counts.op not in ("sum", "count")  # else it is not a model's statistic
            or not is_whole(counts, self.values.kinds, self.values.whole)
        ):
            return
        scale = (
            self.calibration(release, node).laplace(Fraction(1), Fraction(0))
            if release.op == "laplace"
            else float(sigma_of(release, node, self.values))
        )
        total = counts
        if counts.op == "sum":
            rows = counts.args[0]
            total = Expr("count", (Expr("data", (rows.args[0], ONE), rows.data),))
        zeros = (Fraction(0),) * len(self.values.context.ranges(counts))
        size = None if self.values.context.moved(total) else 0
        self.noisy[release.name] = Noisy(zeros, AddedNoise(release.op, scale), size)

    def _countable(self, expr: Expr) -> None:
        """Refuse the posterior of counts whose noise is known to be too large to sum over."""
        if expr.op not in ("noise-aware", "nuts"):
            return
        model = expr.args[-1]
        name = str((expr.args[0] if len(expr.args) > 1 else model.args[0]).data[0])
        source, family = self.noisy.get(name), model.args[1].data[0]
        if not isinstance(source, Noisy) or source.size is not None:
            return
        if family == "bernoulli":
            require_scale(source.noise)
        elif family == "categorical":
            require_pairs(source.noise, len(source.values))

    def run(self) -> Any:
        """Rehearse all commands. Of the returned values only the known divisors are computed."""
        self.sequence(self.program.body, self.verdict.derivation)
        for returned in self.program.returns:
            self._divisors(returned)

    def _divisors(self, expr: Expr) -> None:
        """Find the divisors that are 0 for sure, such as the size of a public piece."""
        if expr.op in ("data", "fold"):
            return  # rows: what they divide by is proved not to be 0
        if expr.op == "div" and self._known(expr.args[1]):
            self.values.value(Expr("div", (ONE, expr.args[1])))
        # Which side of a choice is taken may not be known: only its condition is sure.
        for part in expr.args[:1] if expr.op == "if" else expr.args:
            self._divisors(part)

    def selection(self, release: Release, node: Mapping[str, Any]) -> choices.Selection:
        """A choice with its scale; the scores of posteriors, which take long, are left out."""
        if release.op == "exponential" and release.args[0].op == "hellinger":
            score, candidates = release.args
            calibration = self.calibration(release, node)
            *_, scale = choices.hellinger_law(score, candidates, self.private, calibration)
            return choices.Selection((None,), (0,), scale)
        return super().selection(release, node)

    def _known(self, *expressions: Expr) -> bool:
        return not any(names_of(expr) & self.later for expr in expressions)


class _NoNoise:
    """Samplers that draw nothing."""

    def laplace(self, values: Sequence[int], scale: float) -> Sequence[int]:
        return values

    def gaussian(self, values: Sequence[int], scale: float) -> Sequence[int]:
        return values

    def choose(self, scores: Sequence[int], scale: float) -> int:
        return 0

    def choose_each(self, scores: Ints, scale: float) -> Sequence[int]:
        return [0] * len(scores)

    def respond(self, codes: Sequence[int], states: int, dp_epsilon: float) -> Sequence[int]:
        return codes


def _made_up(program: Program) -> Rows:
    """One record with the least value of every column."""
    columns: dict[str, CellValues] = {}
    types = {"bool": np.bool_, "category": np.int64}
    for name, kind in program.record:
        least = inside(kind)[0] if kind.low is not None and kind.high is not None else 0.0
        columns[name] = np.asarray([least]).astype(types.get(kind.kind, np.float64))
    return Rows(columns, 1)
