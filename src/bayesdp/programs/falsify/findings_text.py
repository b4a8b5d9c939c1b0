"""The falsifier's findings, in words and as plain data."""

from __future__ import annotations

from fractions import Fraction
from math import isinf
from typing import TYPE_CHECKING, Any

from bayesdp.programs.falsify.findings import CheckedObligation, Findings, MeasuredNumber
from bayesdp.programs.number_text import decimal, distinct_decimals, rounded_up, suggested
from bayesdp.programs.verdict import NEIGHBOURS

if TYPE_CHECKING:
    from bayesdp.programs.falsify.values import RecordValues
    from bayesdp.programs.ir import Constant
    from bayesdp.programs.verdict import ProgramVerdict

COUNTEREXAMPLE, NOTHING_FOUND = "COUNTEREXAMPLE", "NOTHING FOUND"
MEASURED = {
    "law": "the epsilon of everything that is released",
    "sensitivity": "how far the value moves (squared where the noise is Gaussian)",
    "lipschitz": "how far the value moves for so far a move of the column",
    "distance": "the distance of the two posteriors",
    "answer": "the epsilon of one record's answer",
    "entering": "what a record that enters or leaves costs (for Gaussian noise: its move, squared)",
    "noise": "the delta of the noise",
}
BROKEN = {
    "public": "what is said to be public differs",
    "bounds": "a row's value lies outside the bounds that were derived",
    "row can't fail": "a row's value can't be computed",
}
"""Obligations that hold or don't: nothing is measured."""


def in_words(verdict: ProgramVerdict, findings: Findings) -> str:
    """The findings on one program as a terminal shows them."""
    name = f" {verdict.name}" if verdict.name else ""
    cost = f"({decimal(verdict.dp_epsilon)}, {decimal(verdict.dp_delta)})"
    claim = f"claimed is {cost}-differential privacy {NEIGHBOURS[verdict.adjacency]}."
    sizes = [str(size) for size in findings.sizes]
    listed = " or ".join([", ".join(sizes[:-1]), sizes[-1]] if len(sizes) > 1 else sizes)
    lines = [
        f"{COUNTEREXAMPLE if findings.excess else NOTHING_FOUND}{name}: {claim}",
        f"Pairs of neighbouring tables that were compared: {findings.pairs}, of {listed or 'no'} "
        f"record{'s' * (sizes != ['1'])}; {_selection(findings)}.",
        f"The largest loss among them is {findings.tightness:.3f} of the claimed cost.",
    ]
    for name in sorted(findings.skipped):
        lines.append(f"Not compared: '{name}', whose law depends on a released distribution.")
    for finding in findings.excess:
        lines += _shown(finding)
    if not findings.excess:
        lines.append(
            "This says nothing about other tables; the proof that was checked covers all of them."
        )
    return "\n".join(lines)


def _selection(findings: Findings) -> str:
    if findings.complete:
        return "all that the program can tell apart, made of the values that were tried"
    return "a selection of those that can be made of the values that were tried"


def _shown(finding: CheckedObligation) -> list[str]:
    release = f" of '{finding.release}'" if finding.release else ""
    if finding.obligation in BROKEN:
        lines = [f"Wrong{release}: {BROKEN[finding.obligation]}."]
    else:
        claimed, true = _numbers(finding)
        lines = [
            f"Wrong{release}: {MEASURED[finding.obligation]} is {true}, claimed at most {claimed}."
        ]
    witness = finding.witness
    if witness is None:
        return lines
    lines.append(f"  - one table:   {_table(witness.left)}")
    lines.append(f"  - the other:   {_table(witness.right)}")
    if witness.released:
        before = ", ".join(f"{name} = {value}" for name, value in witness.released)
        lines.append(f"  - public then: {before}")
    return lines


def _numbers(finding: CheckedObligation) -> tuple[str, str]:
    claimed, true = finding.claimed, finding.true
    if isinstance(claimed, Fraction) and isinstance(true, Fraction):
        return distinct_decimals(claimed, true)
    return _number(claimed), _number(true)


def _number(value: MeasuredNumber) -> str:
    return suggested(value) if isinstance(value, Fraction) else f"{value:.12g}"


def _table(rows: tuple[RecordValues, ...]) -> str:
    return (
        "; ".join(
            ", ".join(f"{name} = {_cell(value)}" for name, value in row.items()) or "(a record)"
            for row in rows
        )
        or "(no record)"
    )


def _cell(value: Constant) -> str:
    return suggested(value) if isinstance(value, Fraction) else str(value)


def as_data(verdict: ProgramVerdict, findings: Findings) -> dict[str, Any]:
    """The findings on one program as `bayesdp program falsify --json` prints them."""
    return {
        "name": verdict.name,
        "found": bool(findings.excess),
        "dp_epsilon": rounded_up(verdict.dp_epsilon),
        "dp_delta": rounded_up(verdict.dp_delta),
        "exact": [str(verdict.dp_epsilon), str(verdict.dp_delta)],
        "adjacency": verdict.adjacency,
        "records": list(findings.sizes),
        "pairs": findings.pairs,
        "complete": findings.complete,
        "skipped": sorted(findings.skipped),
        "loss": _finite(findings.tightness),
        "counterexamples": [_as_data(finding) for finding in findings.excess],
    }


def _as_data(finding: CheckedObligation) -> dict[str, Any]:
    witness = finding.witness
    tables = None
    if witness is not None:
        tables = [
            [{name: _plain(value) for name, value in row.items()} for row in table]
            for table in (witness.left, witness.right)
        ]
    return {
        "obligation": finding.obligation,
        "release": finding.release or None,
        "true": _finite(finding.true),
        "claimed": _finite(finding.claimed),
        "tables": tables,
        "public": {} if witness is None else dict(witness.released),
    }


def _finite(value: MeasuredNumber) -> float | None:
    """JSON has no infinity."""
    return None if isinf(value) else float(value)


def _plain(value: Constant) -> object:
    return float(value) if isinstance(value, Fraction) else value
