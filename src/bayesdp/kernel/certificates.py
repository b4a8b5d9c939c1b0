"""The whole certificate: its text, its digest, and the verdict on it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from bayesdp.kernel.arithmetic import (
    MOST_SECONDS,
    InvalidError,
    UnknownError,
    at_least,
    ball,
    follows,
    limited,
    require,
)
from bayesdp.kernel.assumptions import assumptions
from bayesdp.kernel.composition import close, declared_cost
from bayesdp.kernel.conversions import check_delta, conversion_level, read_conversion
from bayesdp.kernel.judgement import ROUNDING, Verdict
from bayesdp.kernel.programs import check_program
from bayesdp.kernel.relations import check_relations
from bayesdp.kernel.releases import check_release
from bayesdp.kernel.stated import same, stated_certificate, stated_population
from bayesdp.statements.certificates import (
    FORMAT,
    VERSION,
    ConversionCertificate,
    ProgramCertificate,
    RelationsCertificate,
    ReleaseCertificate,
)
from bayesdp.statements.steps import Stated

MOST_DIGITS = 309
"""Of a whole number: no double has more."""


def read(text: str) -> object:
    """Parsed JSON. A document that says a thing twice, or a number beyond all doubles, is refused.

    What is refused is an object without a format, which no verdict is valid of.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError("a key is given twice")
        return dict(pairs)

    def constant(word: str) -> Any:
        raise ValueError(f"{word} is no number")

    def whole(digits: str) -> int:
        if len(digits) > MOST_DIGITS:
            raise ValueError(f"a number of {len(digits)} digits is beyond all doubles")
        return int(digits)

    def double(digits: str) -> float:
        number = float(digits)
        if not math.isfinite(number):
            raise ValueError(f"{digits[:40]} is beyond all doubles")
        return number

    try:
        return json.loads(
            text,
            object_pairs_hook=unique,
            parse_constant=constant,
            parse_int=whole,
            parse_float=double,
        )
    except (ValueError, RecursionError) as error:
        return {"format": None, "problem": str(error)}


def check(document: object) -> Verdict:
    """The verdict on a certificate, given as parsed JSON; UNKNOWN where it takes too long."""
    with limited(MOST_SECONDS):
        return _check(document)


def _check(document: object) -> Verdict:
    try:
        if not isinstance(document, Mapping) or document.get("format") != FORMAT:
            problem = document.get("problem") if isinstance(document, Mapping) else None
            why = f": {problem}" if isinstance(problem, str) else ""
            raise InvalidError(f"this is not a bayesdp certificate{why[:200]}", "format")
        if document.get("version") != VERSION or type(document["version"]) is not int:
            raise UnknownError(f"version {document.get('version')!r}", "version")
        content = {key: value for key, value in document.items() if key not in _OUTSIDE}
        require(
            document.get("digest") == digest(content), "it is not that of the content", "digest"
        )
        # Half a letter (a lone surrogate) is JSON, and no text that anybody could be shown.
        json.dumps(document, ensure_ascii=False).encode()
        stated = stated_certificate(document)
        if isinstance(stated, ProgramCertificate):
            return Verdict("VALID ASSUMING", check_program(document))
        if isinstance(stated, RelationsCertificate):
            return Verdict("VALID ASSUMING", check_relations(stated))
        if isinstance(stated, ReleaseCertificate):
            check_release(stated, document)
        else:
            _check_conversion(stated)
        due = tuple(assumptions(document))
        told = "they are not those that the level rests on"
        require(stated.assumptions == due, told, "assumptions")
        return Verdict("VALID ASSUMING", due)
    except UnknownError as found:
        return Verdict("UNKNOWN", (), found.step or "content", found.reason)
    except InvalidError as found:
        return Verdict("INVALID", (), found.step or "content", found.reason)
    except RecursionError:
        return Verdict("UNKNOWN", (), "content", "it is nested too deeply")
    except _MALFORMED as error:
        # Whatever is malformed makes a certificate invalid, and never the kernel fail.
        return Verdict("INVALID", (), "content", f"malformed: {error!r}")


_OUTSIDE = ("digest", "signature")
_MALFORMED = (
    LookupError, TypeError, ValueError, ArithmeticError, AttributeError, AssertionError,
    SyntaxError, MemoryError,
)  # fmt: skip


def digest(content: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _check_conversion(stated: ConversionCertificate) -> None:
    """A certificate of a conversion alone: of any mechanism with the stated DP cost."""
    step, claim = stated.derivation, stated.claim
    if stated.rounding != ROUNDING:
        raise UnknownError("it rounds in a way that is not known here", "rounding")
    cost = declared_cost(step.evidence.cost)
    conversion = replace(read_conversion(step, cost), alone=True)
    shown = {k: v for k, v in stated.population.items() if k not in ("source", "covers")}
    stated_population(stated.population)
    require(same(shown, step.evidence.population), "two populations are named", "population")
    due = (step.conclusion.adversary, step.evidence.secrets, step.evidence.cost)
    for what, told, derived in zip(
        ("adversary", "secrets", "cost"),
        (claim.adversary, claim.secrets, claim.cost),
        due,
        strict=True,
    ):  # All mechanisms of this cost are meant: about larger costs it would be a stronger claim.
        require(told == derived, f"another {what} than derived", "claim")
    check_delta(claim.delta, step.conclusion.delta)
    at_least(claim.dp_epsilon, ball(conversion.total), "claim: dp_epsilon")
    sum_of_doubles = conversion.total * (1 + Fraction(1, 10**12))
    require(Fraction(claim.dp_epsilon) <= sum_of_doubles, "dp_epsilon is not the cost", "claim")
    rho = Fraction(claim.dp_rho)
    require(close(rho, conversion.rho) and rho >= conversion.rho, "dp_rho", "claim")
    proof = conversion.proof
    dp_delta = proof.dp_delta if isinstance(proof, Stated) else 0.0
    require(claim.dp_delta == dp_delta, "another dp_delta", "claim")
    at_least(claim.epsilon, conversion_level(step, conversion), "claim: epsilon")
    follows(step.conclusion.epsilon, claim.epsilon, "claim: epsilon")
