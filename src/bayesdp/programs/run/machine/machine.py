"""The interpreter: runs a checked program's commands, one after the other, and nothing else.

It reads the same representation as the checker and takes the noise's sensitivity from the
checker's derivation, node by node. `session.run` starts it, after `readiness.ready` and the debit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from bayesdp.kernel.arithmetic import InvalidError, UnknownError
from bayesdp.kernel.programs.effort import Effort
from bayesdp.kernel.programs.ranges import folded
from bayesdp.kernel.programs.rows import labels_of
from bayesdp.kernel.programs.sensitivities import Norm, RulesAllowed, sensitivity_of
from bayesdp.kernel.programs.transitions import states_of
from bayesdp.programs.ir import (
    AFTER,
    Branch,
    Command,
    Derive,
    Expr,
    Program,
    Release,
    expression,
)
from bayesdp.programs.run.draws import choices
from bayesdp.programs.run.draws.channels import channel_of
from bayesdp.programs.run.draws.gaussian import noisy_steps
from bayesdp.programs.run.draws.noise import (
    NoiseCalibration,
    Samplers,
    below,
    in_units,
    response,
)
from bayesdp.programs.run.draws.thresholds import first_above
from bayesdp.programs.run.machine.predictive import from_law
from bayesdp.programs.run.machine.terminal_sign import waiting
from bayesdp.programs.run.numerics.hidden_counts import AddedNoise
from bayesdp.programs.run.numerics.observed import Answers, Noisy
from bayesdp.programs.run.posteriors import from_releases
from bayesdp.programs.run.results.diagnostics import exact_samples
from bayesdp.programs.run.results.distributions import Joint, Samples
from bayesdp.programs.run.results.program_result import ProgramResult, display_value
from bayesdp.programs.run.tables.columns import Rows
from bayesdp.programs.run.tables.transitions import consecutive
from bayesdp.programs.run.values.private import PrivateValues, width_of
from bayesdp.programs.run.values.public import PublicValues
from bayesdp.programs.run.values.returned_noise import EXACT, Spread
from bayesdp.programs.verdict import ProgramVerdict
from bayesdp.programs.whole_numbers import is_whole


class Machine:
    """One run of a program."""

    def __init__(
        self, program: Program, verdict: ProgramVerdict, rows: Rows, samplers: Samplers
    ) -> None:
        self.program, self.verdict, self.samplers = program, verdict, samplers
        self.values = PublicValues(program, rows)
        self.private = PrivateValues(self.values)
        self.noisy: dict[str, Noisy | Answers] = {}
        self.released: dict[str, Any] = {}
        self.added: dict[str, Spread] = {}
        """The noise that each release added to every entry."""
        self.reads_released_only = False
        """Whether the command that runs now reads released and public values only."""

    def __repr__(self) -> str:
        return f"<a run of {self.program.name}>"

    def run(self) -> ProgramResult:
        """Run every command, and evaluate what is returned."""
        self.sequence(self.program.body, self.verdict.derivation)
        self.reads_released_only = True
        exact = tuple(self.values.value(returned) for returned in self.program.returns)
        return ProgramResult(
            self.program.name,
            tuple(display_value(value) for value in exact),
            self.program.return_types,
            exact,
            self.verdict.dp_epsilon,
            self.verdict.dp_delta,
            {name: display_value(value) for name, value in self.released.items()},
        )

    # -- commands ------------------------------------------------------------------------------

    def sequence(self, commands: Sequence[Command], node: Mapping[str, Any]) -> None:
        """Run commands one after the other, each with its node of the derivation."""
        for command, step in zip(commands, node["sequence"], strict=True):
            self.command(command, step)

    def command(self, command: Command, node: Mapping[str, Any]) -> None:
        """Run one command: what it releases or derives is kept under its name."""
        self.reads_released_only = isinstance(command, Derive)
        if isinstance(command, Release):
            assert node["release"] == command.name
            with waiting(f"{self.program.name}: {command.op.replace('-', ' ')}"):
                value = self.release(command, node)
            self.values.names[command.name] = value
            self.released[command.name] = value
        elif isinstance(command, Derive):
            self.values.names[command.name] = self.derived(command.value)
        elif isinstance(command, Branch):
            side = 0 if self.values.value(command.test) else 1
            self.sequence((command.then, command.otherwise)[side], node["branch"][side])
        else:
            for (_, part), step in zip(command.parts, node["parts"]["of"], strict=True):
                self.sequence(part, step)

    # -- releases --------------------------------------------------------------------------------

    def release(self, release: Release, node: Mapping[str, Any]) -> Any:
        """The released value of a release command."""
        if release.op == "laplace":
            return self.laplace(release, node)
        if release.op == "gaussian":
            return self.gaussian(release, node)
        if release.op == "randomized-response":
            return self._respond(release)
        if release.op == "per-record-exponential":
            calibration = self.calibration(release, node)
            numbers = choices.per_record(release, self.private, calibration, self.samplers)
            channel = channel_of(release, self.private, calibration)
            self.noisy[release.name] = answers = Answers(numbers, channel=channel)
            return answers
        if release.op == "above-threshold":
            calibration = self.calibration(release, node)
            return first_above(release, self.private, calibration, self.samplers)
        return self.selection(release, node).draw(self.samplers)

    def selection(self, release: Release, node: Mapping[str, Any]) -> choices.Selection:
        """The softmax from which a release chooses, as data. Private."""
        if release.op == "posterior-sample":
            return choices.posterior_sample(release, self.private)
        assert release.op == "exponential"
        return choices.exponential(release, self.private, self.calibration(release, node))

    def calibration(self, release: Release, node: Mapping[str, Any]) -> NoiseCalibration:
        """The sensitivity that scales a release's noise: asserted, or the derivation's, at n."""
        derived = self.values.number(expression(node["sensitivity"]["value"]))
        asserted = dict(release.options).get("sensitivity")
        sensitivity = derived
        if asserted is not None:
            sensitivity = max(derived, self.values.number(asserted))
        entering = node.get("entering")
        return NoiseCalibration(
            Fraction(node["epsilon"]), sensitivity, None if entering is None else Fraction(entering)
        )

    def laplace(self, release: Release, node: Mapping[str, Any]) -> Any:
        """The value with discrete Laplace noise on every entry."""
        expr = self.values.filled(release.args[0])
        calibration = self.calibration(release, node)
        calibration = replace(
            calibration, sensitivity=max(calibration.sensitivity, self._now(expr, "l1"))
        )
        amount = self.private.amount(expr)
        if not calibration.sensitivity:
            self.added[release.name] = EXACT
            return self._noted(release, amount.totals, "laplace", 0.0)
        steps = calibration.steps(amount)
        scale = calibration.laplace(steps.unit, steps.slack)
        noisy = tuple(int(number) for number in self.samplers.laplace(steps.whole, scale))
        self.added[release.name] = Spread("laplace", scale, steps.unit)
        values = self._on_whole(release, steps.value(noisy))
        return self._noted(release, values, "laplace", in_units(scale, steps.unit))

    def gaussian(self, release: Release, node: Mapping[str, Any]) -> Any:
        """The value with discrete Gaussian noise on every entry."""
        expr = self.values.filled(release.args[0])
        squared = self.values.number(expression(node["sensitivity"]["value"]))
        squared = max(squared, self._now(expr, "l2"))
        amount = self.private.amount(expr)
        if not squared:
            self.added[release.name] = EXACT
            return self._noted(release, amount.totals, "gaussian", 0.0)
        steps, scale = noisy_steps(release, node, squared, amount, self.values)
        noisy = tuple(int(number) for number in self.samplers.gaussian(steps.whole, scale))
        self.added[release.name] = Spread("gaussian", scale, steps.unit)
        values = self._on_whole(release, steps.value(noisy))
        return self._noted(release, values, "gaussian", in_units(scale, steps.unit))

    def _on_whole(self, release: Release, values: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        """The noisy values, rounded where whole numbers had to be drawn on another grid.

        Entries of a row's vector, and what exceeds doubles, are summed on one. Rounding is free, as
        everything that follows.
        """
        if not is_whole(release.args[0], self.values.kinds, self.values.whole):
            return values
        return tuple(Fraction(round(value)) for value in values)

    def _now(self, expr: Expr, norm: Norm) -> Fraction:
        """The sensitivity at the values that public names have now.

        It is never more than the derivation's, which holds for all values: a second look.
        """
        context = replace(self.values.context, effort=Effort())
        try:
            now = folded(sensitivity_of(expr, norm, context, RulesAllowed(_no_fold)).value)
        except InvalidError:
            return Fraction(0)
        return now if now is not None else Fraction(0)

    def _noted(
        self, release: Release, values: tuple[Fraction, ...], kind: str, scale: float
    ) -> Any:
        """The released number or vector; what is publicly known of it is noted."""
        expr = release.args[0]
        size: int | None = None
        labels: tuple[str, ...] = ()
        known: tuple[Fraction | None, ...] = ()
        if expr.op == "sum":
            data, group = expr.args[0], expr.args[0].args[1]
            size = self.values.public_size(data)
            if group.op == "onehot":
                labels = labels_of(group.args[0], self.values.kinds)
                labels = labels if len(labels) == len(values) else ()  # whole numbers have none
            if group.op == "mul" and group.args[0].op == "onehot":
                labels = labels_of(group.args[0].args[0], self.values.kinds)
            if group.op == "moments" and group.args[0].op == "tuple":
                known = tuple(folded(entry) for entry in group.args[0].args)
        runs = 0
        if expr.op == "transitions":
            filled = self.values.filled(expr)
            pairs = consecutive(filled, self.values.row_values)
            size, runs = len(pairs.before), pairs.runs
            labels = states_of(filled, self.values.kinds)
        self.noisy[release.name] = Noisy(
            values, AddedNoise(kind, max(scale, 1e-12)), size, labels, known, runs
        )
        return values[0] if width_of(self.values.filled(expr)) is None else values

    def _respond(self, release: Release) -> Answers:
        data = self.values.filled(release.args[0])
        labels = labels_of(data.args[1], self.values.kinds)
        # Odds above e^700 to 1 change nothing, and doubles end there.
        epsilon = below(min(self.values.number(dict(release.options)["epsilon"]), Fraction(700)))
        row_mask = self.private.rows.mask(data)
        codes = self.private.rows.codes(data.args[1])
        held = codes if row_mask is None else codes[row_mask]
        import numpy as np

        drawn = self.samplers.respond(held.tolist(), len(labels), epsilon)
        channel = response(len(labels), epsilon).channel()
        answers = Answers(
            np.asarray(drawn, dtype=np.int64), labels, float(channel[0][0]), float(channel[0][1])
        )
        self.noisy[release.name] = answers
        return answers

    # -- after the release ---------------------------------------------------------------------

    def derived(self, expr: Expr) -> Any:
        """The value of a derived name: a posterior, or an expression of released values."""
        if expr.op not in AFTER:
            return self.values.value(expr)
        if expr.op in ("law", "draws", "predictive"):
            return from_law(expr, self.values)
        model = expr.args[-1]
        name = str(expr.args[0].data[0]) if len(expr.args) > 1 else str(model.args[0].data[0])
        source, likelihood = self.noisy[name], model.args[1]
        if len(expr.args) > 1 and model.args[0].op == "public":
            feature, response = source, self.noisy[str(model.args[0].data[0])]
            return from_releases.through_answers(feature, response, model, self.values)
        prior = from_releases.prior_of(model.args[2], self.values)
        if expr.op != "nuts":
            return from_releases.derived(expr.op, source, likelihood, prior, self.values)
        many = expr.data[0]
        assert isinstance(many, int | Fraction)
        draws = int(many)
        if likelihood.data[0] == "linear_model" and isinstance(source, Noisy):
            from bayesdp.programs.run.posteriors.linear_regression import nuts

            return nuts(source, float(self.values.number(likelihood.args[0])), prior, draws)
        posterior = from_releases.derived("noise-aware", source, likelihood, prior, self.values)
        if isinstance(posterior, Samples):
            return posterior
        names = posterior.names if isinstance(posterior, Joint) else (posterior.family,)
        return exact_samples(posterior, draws, names)


def _no_fold(_: Expr) -> Fraction:
    raise UnknownError("solvers are not asked while a program runs")
