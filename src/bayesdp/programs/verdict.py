"""The verdict on a program: ACCEPTED with its cost, REJECTED with the place, or UNKNOWN.

It says itself in words, for a terminal, and as plain data, for JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from bayesdp import notebook
from bayesdp.programs.ir import Where
from bayesdp.programs.number_text import decimal, rounded_up

NEIGHBOURS = {
    "replace-one": "when one record is replaced",
    "add-remove": "when one record enters or leaves",
}
TRUSTED = (
    "the program file is read as its text says (parser and lowering)",
    "the interpreter computes what the intermediate representation says",
    "noise is drawn from OpenDP's samplers",
)


@dataclass(frozen=True)
class ProgramVerdict:
    """The checker's answer about a program, in words and as plain data.

    `dp_epsilon` and `dp_delta` are exact; `kind` is "lipschitz" where every release adds Laplace
    noise to a multiple of the sum of one clipped column (`column`, `interval`), else "any".
    """

    verdict: Literal["ACCEPTED", "REJECTED", "UNKNOWN"]
    dp_epsilon: Fraction = Fraction(0)
    dp_delta: Fraction = Fraction(0)
    kind: Literal["any", "lipschitz"] = "any"
    column: str | None = None
    interval: tuple[Fraction, Fraction] | None = None
    code: str = ""
    reason: str = ""
    accepted: str = ""
    where: Where | None = None
    derivation: dict[str, Any] = field(default_factory=dict)
    obligations: tuple[dict[str, Any], ...] = ()
    solvers: tuple[str, ...] = ()
    n: int | None = None
    name: str = ""
    adjacency: str = "replace-one"
    shown: str = ""  # the reason with the source line and a caret under the place
    notes: tuple[str, ...] = ()  # what the author may not have meant

    def __str__(self) -> str:
        return _in_words(self)

    def _repr_html_(self) -> str:
        """What a notebook shows: the words, with the caret under its place."""
        return notebook.verbatim(str(self))

    def to_dict(self) -> dict[str, Any]:
        """What `bayesdp program check --json` prints: the cost, or the place of a refusal."""
        return _as_data(self)

    @property
    def line(self) -> int | None:
        """The line of the source that the reason points at."""
        return None if self.where is None else self.where.line

    @property
    def trusted(self) -> tuple[str, ...]:
        """The assumptions of the verdict beyond the rules: the solvers that agreed."""
        if not self.obligations:
            return TRUSTED
        agreed = " and ".join(self.solvers)
        agreement = f"{agreed} agree" if len(self.solvers) > 1 else f"{agreed} alone says"
        many = f"{len(self.obligations)} obligation{'s' * (len(self.obligations) != 1)}"
        return (*TRUSTED, f"{agreement} that the negation of {many} can't be satisfied")


def unconfirmed(step: str, reason: str) -> ProgramVerdict:
    """The verdict UNKNOWN, because the kernel stops at a step of the derivation."""
    return ProgramVerdict(
        "UNKNOWN",
        code="kernel",
        reason=f"The kernel does not confirm this cost ({step or 'program'}: {reason}).",
    )


def _in_words(verdict: ProgramVerdict) -> str:
    """What a terminal shows."""
    name = f" {verdict.name}" if verdict.name else ""
    if verdict.verdict != "ACCEPTED":
        return f"{verdict.verdict}{name} ({verdict.code})\n{verdict.shown or verdict.reason}"
    cost = f"({decimal(verdict.dp_epsilon)}, {decimal(verdict.dp_delta)})"
    sizes = "every number of records that it admits"
    if verdict.n is not None:
        sizes = f"{verdict.n} record{'s' * (verdict.n != 1)}"
    lines = [
        f"ACCEPTED{name}: {cost}-differentially private {NEIGHBOURS[verdict.adjacency]}, "
        f"for {sizes}.",
        f"Kind: {_kind(verdict)}",
        *(f"Note: {note}" for note in verdict.notes),
        "Trusted:",
        *(f"  - {premise}" for premise in verdict.trusted),
    ]
    return "\n".join(lines)


def _kind(verdict: ProgramVerdict) -> str:
    if verdict.kind == "any" or verdict.interval is None:
        return "any (a population converts its cost as that of any mechanism)."
    low, high = (decimal(end) for end in verdict.interval)
    summed = f"'{verdict.column}'" if verdict.column else "the records"  # that are one number each
    return (
        f"lipschitz (every release adds Laplace noise to a multiple of the sum of {summed}, "
        f"clipped to [{low}, {high}])."
    )


def _as_data(verdict: ProgramVerdict) -> dict[str, Any]:
    where = verdict.where
    accepted = verdict.verdict == "ACCEPTED"
    return {
        "name": verdict.name,
        "verdict": verdict.verdict,
        "dp_epsilon": rounded_up(verdict.dp_epsilon) if accepted else None,
        "dp_delta": rounded_up(verdict.dp_delta) if accepted else None,
        "exact": [str(verdict.dp_epsilon), str(verdict.dp_delta)] if accepted else None,
        "adjacency": verdict.adjacency if accepted else None,
        "kind": verdict.kind if accepted else None,
        "column": verdict.column,
        "interval": None if verdict.interval is None else [float(end) for end in verdict.interval],
        "n": verdict.n,
        "code": verdict.code or None,
        "reason": verdict.reason or None,
        "accepted": verdict.accepted or None,
        "line": verdict.line,
        "place": None if where is None else [where.line, where.column, where.end],
        "shown": verdict.shown or None,
        "notes": list(verdict.notes),
        "solvers": list(verdict.solvers),
        "trusted": list(verdict.trusted) if accepted else [],
    }
