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
    exact,
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
from bayesdp.kernel.stated import same, stated_certificate
from bayesdp.statements.certificates import FORMAT, VERSION

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
        stated_certificate(document)
        if document["derivation"]["rule"] == "relations":
            return Verdict("VALID ASSUMING", check_relations(document))
        if document["derivation"]["rule"] == "program":
            return Verdict("VALID ASSUMING", check_program(document))
        if document["derivation"]["rule"] == "release":
            check_release(document)
        else:
            _check_conversion(document)
        return Verdict("VALID ASSUMING", tuple(assumptions(document)))
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


def _check_conversion(document: Mapping[str, Any]) -> None:
    """A certificate of a conversion alone: of any mechanism with the stated DP cost."""
    step, claim = document["derivation"], document["claim"]
    if document["rounding"] != ROUNDING:
        raise UnknownError("it rounds in a way that is not known here", "rounding")
    conversion = replace(read_conversion(step, declared_cost(step)), alone=True)
    shown = {k: v for k, v in document["population"].items() if k not in ("source", "covers")}
    told = step["evidence"]["population"]
    require(same(shown, told), "two populations are named", "population")
    for key in ("notion", "adversary"):
        require(claim[key] == step["conclusion"][key], f"another {key} than derived", "claim")
    check_delta(claim["delta"], step)
    require(claim["scope"] == "the declared population", "another scope", "claim")
    require(claim["secrets"] == conversion.secrets, "other secrets than derived", "claim")
    # All mechanisms of this cost are meant: a claim about larger costs would be a stronger one.
    require(same(claim["cost"], step["evidence"]["cost"]), "another cost than derived", "claim")
    at_least(claim["dp_epsilon"], ball(conversion.total), "claim: dp_epsilon")
    sum_of_doubles = conversion.total * (1 + Fraction(1, 10**12))
    require(exact(claim["dp_epsilon"]) <= sum_of_doubles, "dp_epsilon is not the cost", "claim")
    told = exact(claim.get("dp_rho", 0.0))
    require(close(told, conversion.rho) and told >= conversion.rho, "dp_rho", "claim")
    stated = conversion.proof is not None and conversion.proof["way"] == "stated"
    due = conversion.proof["dp_delta"] if stated and conversion.proof else 0.0
    require(exact(claim.get("dp_delta", 0.0)) == exact(due), "another dp_delta", "claim")
    derived = conversion_level(step, conversion)
    at_least(claim["epsilon"], derived, "claim: epsilon")
    follows(step["conclusion"]["epsilon"], claim["epsilon"], "claim: epsilon")
    require(
        list(document["assumptions"]) == assumptions(document),
        "they are not those that the level rests on",
        "assumptions",
    )
