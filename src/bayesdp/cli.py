"""The command line. Exit status: 0 done, 1 the answer is no or unknown, 2 the input is wrong.

With `--json` standard output holds one JSON document and nothing else; messages go to standard
error. Heavy libraries are imported inside the commands, so that help is immediate.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ParamSpec

import typer

from bayesdp.errors import BayesdpError, InputError, Refusal
from bayesdp.notions import Adversary, Kind, Secrets

app = typer.Typer(
    help="Bayesian differential privacy for records that depend on each other.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
ledger_app = typer.Typer(help="The durable budget.", no_args_is_help=True)
app.add_typer(ledger_app, name="ledger")
key_app = typer.Typer(help="Keys to sign certificates with.", no_args_is_help=True)
app.add_typer(key_app, name="key")

P = ParamSpec("P")

PopulationText = Annotated[
    str, typer.Argument(metavar="POP", help="A population: a TOML or JSON file, or inline JSON.")
]
CertificatePath = Annotated[Path, typer.Argument(metavar="CERT", help="A certificate (JSON).")]
StudyPath = Annotated[Path, typer.Argument(metavar="STUDY", help="A study file (TOML).")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
AdversaryOption = Annotated[Adversary, typer.Option(help="Who attacks: what they may know.")]
KindOption = Annotated[
    Kind, typer.Option(help="Which mechanisms: any, or Lipschitz in the clipped values.")
]
SecretsOption = Annotated[
    Secrets, typer.Option(help="Whether secret values lie inside the clipping interval.")
]


def _guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Turn the errors that we raise on purpose into a message and an exit status."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except BayesdpError as error:
            status = 1 if isinstance(error, Refusal) else 2
            if kwargs.get("as_json"):
                _print_json({"error": str(error), "status": status})
            typer.echo(f"{'Refused' if status == 1 else 'Error'}: {error}", err=True)
            raise typer.Exit(status) from None

    return run


def _print_json(document: object) -> None:
    sys.stdout.write(json.dumps(document, indent=2, allow_nan=False, default=str) + "\n")


def _console() -> Any:
    from rich.console import Console

    return Console()


def _positive(value: float, key: str, *, zero: bool = False) -> float:
    if not (value > 0.0 or (zero and value == 0.0)) or value == float("inf"):
        bound = "at least 0" if zero else "above 0"
        raise InputError(key, value, expected=f"a finite number of nats {bound}")
    return value


@app.command()
@_guarded
def leakage(
    population: PopulationText,
    epsilon: Annotated[
        float | None,
        typer.Option(help="The DP cost, in nats. With --mechanism: its own unless given."),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(help="The mechanism's DP delta: levels are then (epsilon, delta)."),
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

    loaded = load(population)
    if certificate is not None and (mechanism is not None or delta is not None):
        raise InputError(
            "--certificate", str(certificate), expected="nothing with --mechanism or --delta"
        )
    if mechanism is not None:
        if delta is not None:
            raise InputError("--delta", delta, expected="nothing here: --mechanism is exact")
        options = {"kind": kind, "secrets": secrets, "seconds": seconds}
        _channel_leakage(loaded, mechanism, epsilon, adversary, options, as_json)
        return
    if epsilon is None:
        raise InputError("--epsilon", expected="a DP cost, in nats", remedy="Missing.", shown=False)
    _positive(epsilon, "--epsilon", zero=True)
    if delta is not None:
        _approximate_leakage(loaded, epsilon, delta, adversary, secrets, seconds, as_json)
        return
    report = loaded.leakage(
        epsilon, adversary=adversary, kind=kind, secrets=secrets, seconds=seconds
    )
    if certificate is not None:
        from bayesdp.release.certify import conversion_certificate

        _written(certificate, conversion_certificate(loaded, report).to_json() + "\n")
    from bayesdp.theorems.advice import advice

    offers = advice(loaded, report)
    if as_json:
        _print_json(report.to_dict() | {"advice": [offer.to_dict() for offer in offers]})
        return
    from bayesdp.report.terminal import show_leakage

    show_leakage(_console(), report, offers)


def _channel_leakage(
    population: Any,
    path: Path,
    epsilon: float | None,
    adversary: Adversary,
    options: dict[str, Any],
    as_json: bool,
) -> None:
    """The exact leakage of one channel beside the bounds on all of its DP level."""
    from bayesdp.leakage.channel import channel_leakage, read_channel

    exact = channel_leakage(
        population, read_channel(path), adversary=adversary, progress=_progress()
    )
    own = exact.tensor.dp
    if epsilon is not None and _positive(epsilon, "--epsilon", zero=True) * (1.0 + 1e-9) < own:
        raise InputError("--epsilon", epsilon, expected=f"at least the mechanism's own {own:.9g}")
    dp_epsilon = exact.dp_epsilon if epsilon is None else max(epsilon, exact.dp_epsilon)
    report = None
    if dp_epsilon < float("inf"):
        report = population.leakage(dp_epsilon, adversary=adversary, **options)
    if as_json:
        none: dict[str, Any] = {
            "dp_epsilon": None,
            "adversary": adversary,
            "bounds": [],
            "refused": [],
        }
        plain = report.to_dict() if report is not None else none | {"best": None}
        _print_json(plain | {"exact": exact.to_dict()})
        return
    from bayesdp.report.terminal import show_exact, show_leakage

    if report is not None:
        show_leakage(_console(), report)
    show_exact(_console(), exact)


def _progress() -> Callable[[float], None]:
    """A line on standard error, where that is a terminal."""

    def show(share: float) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{share:4.0%}" + ("\n" if share >= 1.0 else ""))
            sys.stderr.flush()

    return show


def _approximate_leakage(
    population: Any,
    epsilon: float,
    delta: float,
    adversary: Adversary,
    secrets: Secrets,
    seconds: float,
    as_json: bool,
) -> None:
    from bayesdp.theorems import Question, approximate

    report = approximate(Question(population, adversary, secrets, seconds), epsilon, delta)
    if as_json:
        _print_json(report.to_dict())
    else:
        from bayesdp.report.terminal import show_approximate

        show_approximate(_console(), report)
    if not report.bounds:
        raise typer.Exit(1)


@app.command()
@_guarded
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
        float, typer.Option(help="Time that a theorem may take for one of the levels tried.")
    ] = 1.0,
    as_json: Json = False,
) -> None:
    """The largest DP budget whose certified level stays within a BDP target."""
    from bayesdp.populations import load

    loaded = load(population)
    _positive(target, "--target")
    if delta is not None:
        from bayesdp.calibration import calibrate_gaussian

        noise = calibrate_gaussian(
            loaded, target, delta, sensitivity=sensitivity, adversary=adversary, seconds=seconds
        )
        if as_json:
            _print_json(noise.to_dict())
        else:
            from bayesdp.report.terminal import show_gaussian

            show_gaussian(_console(), noise)
        return
    answer = loaded.calibrate(
        target, adversary=adversary, kind=kind, secrets=secrets, seconds=seconds
    )
    if as_json:
        _print_json(answer.to_dict())
        return
    from bayesdp.report.terminal import show_calibration

    show_calibration(_console(), answer)


@app.command()
@_guarded
def check(
    study: StudyPath,
    data: Annotated[
        bool, typer.Option("--data", help="Hold the table against the study (for the curator).")
    ] = False,
    as_json: Json = False,
) -> None:
    """Price a study without reading data: costs, noise, errors, what is left of the budget."""
    from bayesdp.release import Study

    loaded = Study.load(study)
    findings = None
    if data:
        findings = [
            {"code": finding.code, "message": finding.message} for finding in loaded.inspect()
        ]
    answer = loaded.check()
    refused = answer.preview.refusal is not None or bool(findings)
    if as_json:
        from bayesdp.report.plain import check_document

        document = check_document(answer)
        _print_json(document if findings is None else document | {"findings": findings})
    else:
        from bayesdp.report.terminal import show_check

        show_check(_console(), answer)
        for finding in findings or ():
            typer.echo(f"Curator only: {finding['message']}", err=True)
        if findings == []:
            typer.echo("The table is as the study declares it.", err=True)
    if refused:
        raise typer.Exit(1)


@app.command()
@_guarded
def release(
    study: StudyPath,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write an HTML report.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where to write the certificate (default: beside STUDY)."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Release the study's numbers once: debit the budget durably, then draw the noise."""
    from bayesdp.release import Study

    loaded = Study.load(study)
    _check_outputs(loaded, certificate, report)
    done = loaded.release()
    path = certificate or study.with_name(f"{study.stem}-{done.id[:8]}.certificate.json")
    saved = _write(path, done.certificate.to_json() + "\n")
    if report is not None:
        from bayesdp.report.html import write_report
        from bayesdp.report.sections import study_section

        try:
            write_report(report, [study_section(loaded, done, saved)])
        except (OSError, ValueError) as error:
            typer.echo(f"The report could not be written: {error}", err=True)
    if as_json:
        _print_json(done.to_dict())
        return
    from bayesdp.report.terminal import show_release

    show_release(_console(), done, loaded.spec.budget.notion)
    if saved:
        typer.echo(f"Certificate: {saved}", err=True)


def _check_outputs(study: Any, certificate: Path | None, report: Path | None) -> None:
    """Nothing is overwritten, and that is known before anything is spent."""
    from bayesdp.report.output import check_target

    reserved = study.ledger_files
    if certificate is not None:
        check_target(certificate, "certificate", reserved=reserved)
        reserved = (*reserved, certificate)
    if report is not None:
        check_target(report, "report", reserved=reserved)


def _write(path: Path, text: str) -> str:
    """Write a file; the release itself is in the ledger already, so a failure is only told."""
    from bayesdp.report.output import replace_file

    try:
        replace_file(path, text)
    except (OSError, ValueError) as error:
        typer.echo(f"The certificate could not be written ({error}); the ledger has it.", err=True)
        return ""
    return str(path)


def _written(path: Path, text: str) -> None:
    from bayesdp.report.output import check_target, replace_file

    check_target(path, "certificate")
    try:
        replace_file(path, text)
    except (OSError, ValueError) as error:
        raise InputError(
            "--certificate", str(path), expected=f"a file to write to ({error})"
        ) from None


def _text(path: Path, key: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(key, str(path), expected=f"a readable file ({error})") from None


@app.command()
@_guarded
def verify(
    cert: CertificatePath,
    public_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also ask for a signature by this key (see key new)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Re-derive a certificate, without the data, and say who signed it."""
    from bayesdp.kernel import check as check_certificate

    document = _certificate(cert)
    found = check_certificate(document)
    origin = _origin(document, public_key)
    if as_json:
        _print_json(found.to_dict() | {"signature": origin})
    else:
        typer.echo(found.verdict + (f" ({found.step}: {found.reason})" if found.step else ""))
        for assumption in found.assuming:
            typer.echo(f"  - {assumption}")
        if "signature" in document or public_key is not None:
            typer.echo(f"Signature: {origin}")
    missing = public_key is not None and origin != "signed by a trusted key"
    if not found.verdict.startswith("VALID") or missing or origin == "FORGED":
        raise typer.Exit(1)


def _certificate(path: Path) -> dict[str, Any]:
    from bayesdp.certificate import Certificate
    from bayesdp.kernel import read

    Certificate.load(path)  # says what is wrong with a file that is no certificate
    document = read(_text(path, "CERT"))
    assert isinstance(document, dict)
    return document


def _origin(document: dict[str, Any], public_key: Path | None) -> str:
    """The signature's standing. Only who asks for one needs the extra that checks it."""
    from bayesdp.errors import UnsupportedError
    from bayesdp.signature import check_signature, read_public_key

    if public_key is not None:
        return check_signature(document, [read_public_key(public_key)])
    try:
        return check_signature(document)
    except UnsupportedError as error:
        return f"not checked ({error})"


@app.command()
@_guarded
def sign(
    cert: CertificatePath,
    key: Annotated[Path, typer.Option(metavar="FILE", help="The private key (see key new).")],
) -> None:
    """Add a signature to a certificate: it says who vouches for it, not that it is right."""
    from bayesdp import signature

    signature.sign_file(cert, _certificate(cert), signature.read_private_key(key))
    typer.echo(f"Signed: {cert}")


@key_app.command("new")
@_guarded
def key_new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The public key goes to FILE.pub.")],
) -> None:
    """Make a key: FILE is to be kept secret, FILE.pub to be handed out."""
    from bayesdp.signature import write_key

    public = write_key(file)
    typer.echo(f"Private key: {file} (keep it secret)\nPublic key: {public}")


LedgerOption = Annotated[
    str, typer.Option("--ledger", metavar="URL", help="The ledger: a path or sqlite:///PATH.")
]


@ledger_app.command("show")
@_guarded
def ledger_show(ledger: LedgerOption = "ledger.db", as_json: Json = False) -> None:
    """What is spent and what is left, by data set."""
    from bayesdp.accounting.composition import level
    from bayesdp.accounting.ledger import Ledger

    kept = Ledger(ledger, level=level)
    datasets, refusals = kept.show(), kept.refusals()
    if as_json:
        _print_json({"datasets": datasets, "refusals": refusals})
        return
    from bayesdp.report.terminal import show_ledger

    show_ledger(_console(), datasets, refusals)


@ledger_app.command("register")
@_guarded
def ledger_register(study: StudyPath, as_json: Json = False) -> None:
    """Add a study's reading (population, adversary, total) to its data set's budget."""
    from bayesdp.release import Study
    from bayesdp.release.plan import declared_columns, reading_of

    loaded = Study.load(study)
    reading = reading_of(loaded.spec)
    data = loaded.spec.data
    columns = declared_columns(loaded.spec)
    loaded.ledger().register(data.dataset, data.unit, reading, **columns)
    if as_json:
        _print_json({"dataset": loaded.spec.data.dataset, "reading": reading.to_dict()})
    else:
        typer.echo(f"Registered for '{loaded.spec.data.dataset}': {reading.words()}")


@app.command()
@_guarded
def demo(
    report: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the report.")] = Path(
        "demo-report.html"
    ),
) -> None:
    """Release two studies of real correlated records, and write a report."""
    from bayesdp.report.demo import run_demo

    run_demo(_console(), report)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        import bayesdp

        typer.echo(f"bayesdp {bayesdp.__version__}")
        raise typer.Exit(0)


def main() -> None:
    """The entry point."""
    app()


if __name__ == "__main__":
    main()
