"""The certificate of an accepted program: its representation, the derivation of its cost, a claim.

It holds for every table that the program runs on, so it is made once, without data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bayesdp
from bayesdp.certificate import Certificate, Step
from bayesdp.errors import InputError, Refusal
from bayesdp.kernel import ROUNDING
from bayesdp.numbers import float_above
from bayesdp.programs.ir import Program, plain

if TYPE_CHECKING:
    from pathlib import Path

    from bayesdp.programs.verdict import ProgramVerdict


def claim_of(program: Program, verdict: ProgramVerdict) -> dict[str, Any]:
    """The claim of a program's certificate: exact numbers as texts, and the doubles above them."""
    interval = verdict.interval
    return {
        "notion": "dp",
        "epsilon": float_above(verdict.dp_epsilon),
        "delta": float_above(verdict.dp_delta),
        "exact": {"epsilon": str(verdict.dp_epsilon), "delta": str(verdict.dp_delta)},
        "kind": verdict.kind,
        "column": verdict.column,
        "interval": None if interval is None else [str(end) for end in interval],
        "adjacency": program.adjacency,
    }


def derivation_of(program: Program, verdict: ProgramVerdict) -> Step:
    """The only step of the derivation, with everything that the kernel needs to derive the cost."""
    # Asserted sensitivities are compared by the kernel itself; about folds it relies on solvers.
    folds = [
        dict(obligation) for obligation in verdict.obligations if "fold" in str(obligation["what"])
    ]
    evidence = {
        "program": plain(program),
        "n": verdict.n,
        "derivation": verdict.derivation,
        "obligations": folds,
        "solvers": list(verdict.solvers) if folds else [],
    }
    return Step("program", claim_of(program, verdict), evidence)


def assumptions_of(derivation: Step) -> list[str]:
    """The assumptions of a program's certificate, in the kernel's words.

    Raises `InvalidError` where the kernel doesn't confirm the derivation.
    """
    from bayesdp.kernel.programs import assumptions_of

    return assumptions_of(derivation.to_dict())


def certificate_with(derivation: Step, assumptions: list[str]) -> Certificate:
    """The certificate of a derivation that rests on these assumptions."""
    body = {
        "software": f"bayesdp {bayesdp.__version__}",
        "rounding": ROUNDING,
        "claim": dict(derivation.conclusion),
        "assumptions": assumptions,
    }
    return Certificate(body, derivation)


def program_certificate(program: Program, verdict: ProgramVerdict) -> Certificate:
    """The certificate of an accepted program (theory 8). Raises `Refusal` for any other verdict."""
    if verdict.verdict != "ACCEPTED":
        raise Refusal(f"The program is {verdict.verdict}: it has no certificate. {verdict.reason}")
    derivation = derivation_of(program, verdict)
    return certificate_with(derivation, assumptions_of(derivation))


def write_program_certificate(program: Program, verdict: ProgramVerdict, path: Path) -> Certificate:
    """Write the certificate as JSON; `bayesdp verify` reads it.

    Raises `Refusal` for a program that isn't accepted, `InputError` for a file that can't be
    written.
    """
    certificate = program_certificate(program, verdict)
    try:
        path.write_text(certificate.to_json() + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(
            "--certificate", str(path), expected=f"a file that can be written ({error})"
        ) from None
    return certificate
