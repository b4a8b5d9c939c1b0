"""What all commands share: the application, options, messages and exit statuses."""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer
from typer.core import TyperCommand, TyperGroup

from bayesdp.errors import (
    BayesdpError,
    InputError,
    Refusal,
    finite_number,
    lines_as_shown,
    password_hidden,
)
from bayesdp.notions import Adversary, Kind, Secrets

if TYPE_CHECKING:
    from rich.console import Console


_PASSWORD = (
    "An argument is a URL with a password, which the shell and the list of processes show to "
    "others. Write ${NAME} in its place, in single quotes, for the environment's variable NAME, or "
    "set PGPASSWORD; then choose a new password. What a study reads is named in its file, as "
    "data.source."
)


class _Flags:
    """A command whose flags have no type in its help: they take no value.

    An option of one value that is given twice is refused: the first value would be lost.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, after a look for passwords and for options that are given twice.

        Whatever reads an argument may repeat it: one with a password goes no further.
        """
        if any(password_hidden(arg) != arg for arg in args) and not ctx.resilient_parsing:
            ctx.fail(_PASSWORD)
        parser = self.make_parser(ctx)  # type: ignore[attr-defined]  # of a command, which comes next
        _, _, typed = parser.parse_args(args=list(args))
        for param in typed if not ctx.resilient_parsing else ():
            single = param.param_type_name == "option" and not (param.is_flag or param.multiple)
            if single and typed.count(param) > 1:
                ctx.fail(f"Option '{param.opts[0]}' takes one value, and is given more than once.")
        rest: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]  # the same
        return rest

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, each flag without a metavar."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # of a command, which comes next
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params


class _Command(_Flags, TyperCommand):
    """One command."""


class _Group(_Flags, TyperGroup):
    """Several commands under one name."""


def _help(example: str, text: str) -> str:
    """The text of help, which begins with an example."""
    return f"Example: {example}\n\n{text}"


def group(name: str, example: str, text: str) -> typer.Typer:
    """A group of commands under one name; its help starts with the example."""
    commands = typer.Typer(no_args_is_help=True)
    app.add_typer(commands, name=name, cls=_Group, help=_help(example, text), short_help=text)
    return commands


app = typer.Typer(
    cls=_Group,
    help=_help(
        "bayesdp demo", "Bayesian differential privacy for records that depend on each other."
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

P = ParamSpec("P")

PopulationText = Annotated[
    str,
    typer.Argument(
        metavar="POP",
        help="A population: a TOML or JSON file, a study file (its population), or inline JSON.",
    ),
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


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """A command whose errors, where raised on purpose, become a message and an exit status."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with patience():
                command(*args, **kwargs)
        except BayesdpError as raised:
            error = _as_typed(raised, kwargs)
            status = 1 if isinstance(error, Refusal) else 2
            if kwargs.get("as_json"):
                print_json({"error": str(error), "status": status})
            words = lines_as_shown(str(error))
            typer.echo(f"{'Refused' if status == 1 else 'Error'}: {words}", err=True)
            raise typer.Exit(status) from None

    return run


PATIENCE = 10.0
"""Seconds after which a command says that it is still at work."""


@contextlib.contextmanager
def patience() -> Iterator[None]:
    """Say how long a command has taken, once that is long, where standard error is a terminal.

    A large table is read by an engine that tells no share of what is done. The line is taken away
    at the end.
    """
    if not sys.stderr.isatty():
        yield
        return
    finished, start = threading.Event(), time.monotonic()

    def show() -> None:
        pause = PATIENCE
        while not finished.wait(pause):
            pause = PATIENCE / 10
            words = f"At work for {time.monotonic() - start:.0f} s. Ctrl+C stops it."
            sys.stderr.write(f"\r{words}\033[K")
            sys.stderr.flush()
        if pause < PATIENCE:
            sys.stderr.write("\r\033[K")

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        finished.set()
        thread.join()


def command(
    group: typer.Typer, example: str, name: str | None = None
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Make a function a command of this name, or of its own; its help starts with the example."""

    def added(function: Callable[P, None]) -> Callable[P, None]:
        text = inspect.getdoc(function) or ""
        short = " ".join(text.split("\n\n", maxsplit=1)[0].split())
        add = group.command(name, cls=_Command, help=_help(example, text), short_help=short)
        return add(guarded(function))

    return added


_OPTIONS = {
    "dp_epsilon": "epsilon",
    "dp_delta": "delta",
    "bdp_epsilon": "target",
    "bdp_delta": "delta",
    **{name: name for name in ("adversary", "delta", "kind", "secrets", "seconds", "sensitivity")},
    "value": "column",
    **{name: name for name in ("cluster", "column", "cuts", "role", "series", "states", "time")},
    "where": "where",
    "orders": "order",
    "time_format": "time-format",
    **{name: name for name in ("rows", "seed", "without")},
    **{name: name for name in ("confidence", "gaps", "length", "missing", "order", "size", "step")},
}
"""The options of commands, by the names that the arguments have in Python."""


def _as_typed(error: BayesdpError, given: Mapping[str, object]) -> BayesdpError:
    """The error with the option that was typed in place of the argument's name."""
    option = _OPTIONS.get(error.key, "") if isinstance(error, InputError) else ""
    if isinstance(error, InputError) and option.replace("-", "_") in given:
        return error.at(f"--{option}")
    return error


def say(text: str, *, err: bool = True) -> None:
    """Print a message, on standard error unless said otherwise.

    Names in it, of files or of columns, are shown as letters, whatever they hold.
    """
    typer.echo(lines_as_shown(text), err=err)


def print_json(document: object) -> None:
    """Print one JSON document on standard output."""
    sys.stdout.write(json.dumps(document, indent=2, allow_nan=False, default=str) + "\n")


def console() -> Console:
    """Rich's console on standard output."""
    from rich.console import Console

    return Console()


def positive(value: float, key: str, *, zero: bool = False) -> float:
    """A finite number of nats above 0; with `zero`, 0 is accepted too.

    Raises `InputError` at `key` for anything else.
    """
    bound = "at least 0" if zero else "above 0"
    return finite_number(key, value, expected=f"a finite number of nats {bound}", zero=zero)


def positive_seconds(value: float) -> float:
    """A time limit in seconds. Raises `InputError` for a number that is not above 0."""
    from bayesdp.theorems import check_seconds

    return check_seconds(value, "--seconds")


def progress() -> Callable[[float], None]:
    """A function that shows a share as a line on standard error, where that is a terminal."""

    def show(share: float) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{share:4.0%}" + ("\n" if share >= 1.0 else ""))
            sys.stderr.flush()

    return show


def written(path: Path, text: str) -> None:
    """Write a certificate to a new file. Raises `InputError` where it can't be written."""
    from bayesdp.report.output import check_target, replace_file

    check_target(path, "certificate")
    try:
        replace_file(path, text)
    except (OSError, ValueError) as error:
        raise InputError(
            "--certificate", str(path), expected=f"a file to write to ({error})"
        ) from None


def check_figure(path: Path, *, reserved: Sequence[Path] = ()) -> None:
    """Refuse a name that is not a figure's, or a file that must not be overwritten."""
    from bayesdp.report.output import check_target

    if path.suffix != ".svg":
        raise InputError("--figure", str(path), expected="a file name that ends in .svg")
    check_target(path, "figure", reserved=reserved)


def write_figure(path: Path, text: str) -> None:
    """Write a figure. Raises `InputError` where it can't be written."""
    from bayesdp.report.output import replace_file

    try:
        replace_file(path, text)
    except (OSError, ValueError) as error:
        raise InputError("--figure", str(path), expected=f"a file to write to ({error})") from None
