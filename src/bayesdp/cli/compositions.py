"""`compose`: what several releases cost together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesdp.cli.common import AdversaryOption, Json, app, console, guarded, print_json

if TYPE_CHECKING:
    from bayesdp.accounting.what_if import WhatIf


@app.command()
@guarded
def compose(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='JSON: {"population": {...}, "releases": [{"name", "dp_epsilon" or "rho" or '
            '"channel", "block"}, ...]}.',
        ),
    ],
    population: Annotated[
        str | None,
        typer.Option(metavar="POP", help="Another population than the file's: a file or JSON."),
    ] = None,
    delta: Annotated[
        float, typer.Option(help="The delta of the levels: needed for zCDP costs.")
    ] = 0.0,
    adversary: AdversaryOption = "any",
    seconds: Annotated[float, typer.Option(help="Time that a theorem may take.")] = 1.0,
    as_json: Json = False,
) -> None:
    """What releases cost together: what the rules of the literature claim, and what is true."""
    from bayesdp.accounting.what_if import read_releases, what_if
    from bayesdp.populations import load

    found = what_if(
        read_releases(file),
        None if population is None else load(population),
        adversary=adversary,
        delta=delta,
        seconds=seconds,
    )
    if as_json:
        print_json(found.to_dict())
    else:
        _show(console(), found)


def _show(to: Any, found: WhatIf) -> None:
    from rich.table import Table

    from bayesdp.accounting.rounded import up
    from bayesdp.report.dependence import clean

    table = Table("release", "block", "DP cost", "level alone", box=None, pad_edge=False)
    for one in found.releases:
        mechanism = one.mechanism
        cost = "-"
        if mechanism.rho is not None:
            cost = f"rho {up(mechanism.rho)}"
        elif mechanism.dp_epsilon is not None:
            cost = up(mechanism.dp_epsilon)
        table.add_row(mechanism.name, _block(one.block), cost, up(one.bdp))
    to.print(table)
    assuming = "".join(f", {clean(one)}" for one in found.assuming)
    at = f" at delta {found.delta:g}" if found.delta > 0.0 else ""
    lines = [
        "",
        f"Naive claim (levels add up, disjoint blocks cost the largest): {found.naive:.5g}{at}",
        f"Proved level: {up(found.sound)}{at} ({found.reason}){assuming}",
    ]
    if found.condition is not None:
        lines.append(found.condition.words())
    if found.price is not None:
        rho = f", rho {up(found.price.rho)}" if found.price.rho > 0.0 else ""
        lines.append(f"DP cost of all together: {up(found.price.dp_epsilon)}{rho}")
    if found.exact is not None:
        lines.append(f"Exact leakage of these channels together: {found.exact:.5g}")
        lines.append(f"  attained by {found.attack}" if found.attack else "")
    if found.violated:
        lines.append("The naive claim is FALSE here: the channels leak more.")
    elif not found.proved:
        lines.append("Nothing justifies the naive claim: no theorem proves it here.")
    else:
        lines.append("The naive claim holds here: the proved level is no higher.")
    for line in lines:
        to.print(line, markup=False, highlight=False)
    if found.price is not None:
        to.print("\nWhy the DP cost is what it is:", markup=False)
        for line in found.price.step.lines():
            to.print(f"  {line}", markup=False, highlight=False)


def _block(block: Any) -> str:
    if block is None:
        return "everything"
    if "records" in block:
        return f"records {', '.join(map(str, block['records']))}"
    if "column" in block:
        return f"{block['column']} in {', '.join(map(str, block['values']))}"
    return f"{block['private']} = {block['value']} (private)"
