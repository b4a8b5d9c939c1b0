"""`leakage` and `calibrate`: from DP to BDP and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesdp.cli.common import (
    AdversaryOption,
    Json,
    KindOption,
    PopulationText,
    SecretsOption,
    app,
    command,
    console,
    positive,
    print_json,
    progress,
    written,
)
from bayesdp.errors import InputError, finite_number
from bayesdp.notions import Adversary, ApproxDP, Kind, LeakageReport, Secrets
from bayesdp.numbers import as_upper_bound

if TYPE_CHECKING:
    from bayesdp.populations import Population
    from bayesdp.theorems import Question

_EPSILON = "Add --epsilon 1.0, for example, or --rho with --delta for Gaussian noise."


@command(app, """bayesdp leakage '{"model":"clusters","size":3}' --epsilon 0.5""")
def leakage(
    population: PopulationText,
    epsilon: Annotated[
        float | None,
        typer.Option(help="The DP cost, in nats. With --mechanism: its own unless given."),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(
            help="The mechanism's DP delta: levels are then (epsilon, delta). With --rho: the "
            "level's."
        ),
    ] = None,
    rho: Annotated[
        float | None,
        typer.Option(help="The zCDP cost of Gaussian noise, instead of or beside --epsilon."),
    ] = None,
    adversary: AdversaryOption = "any",
    kind: KindOption = "any",
    secrets: SecretsOption = "bounded",
    seconds: Annotated[
        float, typer.Option(help="Time that a theorem may take; slower ones are refused.")
    ] = 30.0,
    mechanism: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help='Also what {"channel": [...]} in FILE leaks, exactly.'),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the best level's certificate, for `verify`."),
    ] = None,
    as_json: Json = False,
) -> None:
    """What a DP cost means for a population: every theorem that applies, and why others don't."""
    from bayesdp.populations import load

    request = _Asked(load(population), adversary, kind, secrets, seconds, certificate, as_json)
    if mechanism is not None:
        _nothing_beside_mechanism({"--certificate": certificate, "--delta": delta, "--rho": rho})
        _channel_leakage(request, mechanism, epsilon)
    elif rho is not None:
        _gaussian_leakage(request, epsilon or 0.0, rho, delta)
    elif epsilon is None:
        raise InputError("--epsilon", expected="a DP cost, in nats", remedy=_EPSILON, shown=False)
    else:
        positive(epsilon, "--epsilon", zero=True)
        if delta is None:
            _pure_leakage(request, epsilon)
        else:
            stated = ApproxDP(as_upper_bound(epsilon), as_upper_bound(delta))
            _approximate_leakage(request, stated)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What `leakage` was asked, whatever the cost is: the options that all costs share."""

    population: Population
    adversary: Adversary
    kind: Kind
    secrets: Secrets
    seconds: float
    certificate: Path | None
    as_json: bool

    @property
    def question(self) -> Question:
        """The question to theorems."""
        from bayesdp.theorems import Question

        return Question(self.population, self.adversary, self.secrets, self.seconds)

    def report(self, dp_epsilon: float) -> LeakageReport:
        """Every level of a pure cost."""
        return self.population.leakage(
            dp_epsilon,
            adversary=self.adversary,
            kind=self.kind,
            secrets=self.secrets,
            seconds=self.seconds,
        )

    def certify(self, report: Callable[[], LeakageReport]) -> None:
        """Write the best level's certificate where `--certificate` asks for it."""
        if self.certificate is not None:
            from bayesdp.release.certificates.certify import conversion_certificate
            from bayesdp.report.numbers import level_words

            best = report().best
            proved = conversion_certificate(self.population, report())
            written(self.certificate, proved.to_json() + "\n")
            level, theorem = proved.derivation.conclusion["epsilon"], proved.derivation.rule
            if theorem != best.theorem or level > best.epsilon * (1.0 + 1e-6):
                typer.echo(
                    f"The certificate's level is {level_words(level)}, by {theorem}: the lowest "
                    "that can be verified in the time that a verdict may take.",
                    err=True,
                )


def _nothing_beside_mechanism(given: Mapping[str, object]) -> None:
    """Refuse the options that mean nothing for a channel: its level is exact."""
    for name, value in given.items():
        if value is not None:
            raise InputError(
                name,
                str(value),
                expected="nothing beside --mechanism, whose level is exact",
                remedy=f"Leave {name} out.",
            )


def _pure_leakage(request: _Asked, epsilon: float) -> None:
    """What a pure cost means, with advice on what would lower the level."""
    report = request.report(epsilon)
    request.certify(lambda: report)
    from bayesdp.theorems.advice import advice
    from bayesdp.theorems.zeros import zeros_hint

    offers = advice(request.population, report)
    hint = zeros_hint(request.population, report.best.theorem)
    if request.as_json:
        remarks = {
            "advice": [offer.to_dict() for offer in offers],
            **({"hint": hint} if hint else {}),
        }
        print_json(report.to_dict() | remarks)
        return
    from bayesdp.report.levels import show_leakage

    show_leakage(console(), report, offers, hint)


def _channel_leakage(request: _Asked, path: Path, epsilon: float | None) -> None:
    """The exact leakage of one channel, beside the bounds for every channel of its DP level."""
    from bayesdp.leakage.channel import channel_leakage, read_channel

    exact = channel_leakage(
        request.population, read_channel(path), adversary=request.adversary, progress=progress()
    )
    own = exact.tensor.dp
    if epsilon is not None and positive(epsilon, "--epsilon", zero=True) * (1.0 + 1e-9) < own:
        raise InputError(
            "--epsilon",
            epsilon,
            expected=f"at least the mechanism's own {own:.9g}",
            remedy="Leave --epsilon out: the mechanism has its own cost.",
        )
    dp_epsilon = exact.dp_epsilon if epsilon is None else max(epsilon, exact.dp_epsilon)
    report = request.report(dp_epsilon) if dp_epsilon < float("inf") else None
    if request.as_json:
        none: dict[str, Any] = {
            "dp_epsilon": None,
            "adversary": request.adversary,
            "bounds": [],
            "refused": [],
        }
        plain = report.to_dict() if report is not None else none | {"best": None}
        print_json(plain | {"exact": exact.to_dict()})
        return
    from bayesdp.report.levels import show_exact, show_leakage

    if report is not None:
        show_leakage(console(), report)
    show_exact(console(), exact)


def _approximate_leakage(request: _Asked, cost: ApproxDP) -> None:
    """What a stated (epsilon, delta) means."""
    if request.kind != "any":
        raise InputError(
            "--kind",
            request.kind,
            expected="nothing beside --delta: an (epsilon, delta) says nothing of its kind",
            remedy="For Gaussian noise of a kind: --rho.",
        )
    from bayesdp.theorems import approximate
    from bayesdp.theorems.with_delta import stated_report

    report = approximate(request.question, cost)
    request.certify(lambda: stated_report(request.question, cost))
    if request.as_json:
        print_json(report.to_dict())
    else:
        from bayesdp.report.levels import show_approximate

        show_approximate(console(), report)
    if not report.bounds:
        raise typer.Exit(1)


def _gaussian_leakage(request: _Asked, epsilon: float, rho: float, delta: float | None) -> None:
    """What a zCDP cost means at a delta, alone or together with a pure cost."""
    from bayesdp.notions import Cost
    from bayesdp.theorems.with_delta import report_with_delta

    positive(epsilon, "--epsilon", zero=True)
    finite_number("--rho", rho, expected="a finite zCDP cost above 0")
    if delta is None:
        raise InputError(
            "--delta",
            expected="a probability beside --rho: Gaussian noise has no level without one",
            remedy="Add --delta 1e-6, for example.",
            shown=False,
        )
    report = report_with_delta(request.question, Cost.of(epsilon, request.kind, rho=rho), delta)
    request.certify(lambda: report)
    if request.as_json:
        print_json(report.to_dict())
        return
    from bayesdp.report.levels import show_leakage

    show_leakage(console(), report)


@command(app, """bayesdp calibrate '{"model":"clusters","size":3}' --target 1""")
def calibrate(
    population: PopulationText,
    target: Annotated[float, typer.Option(help="The BDP level that must not be exceeded.")],
    delta: Annotated[
        float | None,
        typer.Option(help="The target's delta: discrete Gaussian noise is calibrated instead."),
    ] = None,
    sensitivity: Annotated[
        int, typer.Option(min=1, help="With --delta: steps by which one record changes the result.")
    ] = 1,
    adversary: AdversaryOption = "any",
    kind: KindOption = "any",
    secrets: SecretsOption = "bounded",
    seconds: Annotated[
        float,
        typer.Option(help="Time that a theorem may take for one level; 60 times that in all."),
    ] = 1.0,
    as_json: Json = False,
) -> None:
    """The largest DP budget whose certified level stays within a BDP target."""
    from bayesdp.populations import load

    loaded = load(population)
    positive(target, "--target")
    if delta is None and sensitivity != 1:
        raise InputError(
            "--sensitivity",
            sensitivity,
            expected="1, or --delta beside it",
            remedy="Leave it out: a DP budget holds for every sensitivity.",
        )
    if delta is not None:
        for option, value, usual in (("--kind", kind, "any"), ("--secrets", secrets, "bounded")):
            if value != usual:
                raise InputError(option, value, expected=f"'{usual}', or no --delta beside it")
        from bayesdp.calibration import calibrate_gaussian

        noise = calibrate_gaussian(
            loaded, target, delta, sensitivity=sensitivity, adversary=adversary, seconds=seconds
        )
        if as_json:
            print_json(noise.to_dict())
        else:
            from bayesdp.report.levels import show_gaussian

            show_gaussian(console(), noise)
        return
    answer = loaded.calibrate(
        target, adversary=adversary, kind=kind, secrets=secrets, seconds=seconds
    )
    if as_json:
        print_json(answer.to_dict())
        return
    from bayesdp.report.levels import show_calibration

    show_calibration(console(), answer)
