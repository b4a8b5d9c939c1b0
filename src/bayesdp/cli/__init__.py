"""The command line. Exit status: 0 done, 1 the answer is negative or unknown, 2 wrong input.

With `--json` standard output holds one JSON document and nothing else; messages go to standard
error. Heavy libraries are imported inside the commands, so that help is immediate. One file for
each group of commands; the order of the imports is the order in which help lists them.
"""

from __future__ import annotations

import gc
from typing import Annotated

import typer

# isort: off
from bayesdp.cli import conversions  # noqa: F401
from bayesdp.cli import profiles  # noqa: F401
from bayesdp.cli import fits  # noqa: F401
from bayesdp.cli import compositions  # noqa: F401
from bayesdp.cli import studies  # noqa: F401
from bayesdp.cli import certificates  # noqa: F401
from bayesdp.cli import audits  # noqa: F401
from bayesdp.cli import synthetic  # noqa: F401
from bayesdp.cli import explanations  # noqa: F401
from bayesdp.cli import ledgers  # noqa: F401
from bayesdp.cli import causal  # noqa: F401
from bayesdp.cli import notions  # noqa: F401
from bayesdp.cli import programs  # noqa: F401

# isort: on
from bayesdp.cli.common import app

__all__ = ["app", "main"]


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        import bayesdp

        typer.echo(f"bayesdp {bayesdp.__version__}")
        raise typer.Exit(0)


def main() -> None:
    """The entry point.

    A command reads documents of millions of parts and ends: looking for garbage among them again
    and again takes a third of its time, and looking through all of them at the end a twentieth.
    """
    gc.set_threshold(1_000_000, 50, 50)
    try:
        app()
    finally:
        gc.freeze()
