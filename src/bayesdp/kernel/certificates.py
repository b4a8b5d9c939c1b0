"""The whole certificate, and the verdict on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from bayesdp.kernel.arithmetic import (
    MOST_SECONDS,
    InvalidError,
    UnknownError,
    agree,
    at_least,
    ball,
    check_clock,
    follows,
    limited,
    require,
)
from bayesdp.kernel.conversions.conversion import check_delta, conversion_level, read_conversion
from bayesdp.kernel.conversions.relations import check_relations
from bayesdp.kernel.costs.composition import close, declared_cost
from bayesdp.kernel.judgement import Verdict
from bayesdp.kernel.programs import check_program
from bayesdp.kernel.reading import same, stated_certificate, stated_population
from bayesdp.kernel.releases.release import check_release
from bayesdp.statements.assumptions import ROUNDING, assumptions
from bayesdp.statements.certificates import (
    ConversionCertificate,
    ProgramCertificate,
    RelationsCertificate,
    ReleaseCertificate,
)
from bayesdp.statements.conversions import Stated
from bayesdp.statements.populations import law_of


def check(document: Mapping[str, Any]) -> Verdict:
    """The verdict on what a document states: parsed JSON, whose digest is not looked at here.

    UNKNOWN where it takes too long.
    """
    with limited(MOST_SECONDS):
        return _check(document)


def _check(document: Mapping[str, Any]) -> Verdict:
    try:
        assuming = _assuming(document)
        check_clock()
        return Verdict("VALID ASSUMING", assuming)
    except UnknownError as error:
        return Verdict("UNKNOWN", (), error.step or "content", error.reason)
    except InvalidError as error:
        return Verdict("INVALID", (), error.step or "content", error.reason)
    except RecursionError:
        return Verdict("UNKNOWN", (), "content", "it is nested too deeply")
    except MemoryError:
        return Verdict("UNKNOWN", (), "content", "it needs more memory than there is")
    except _MALFORMED as error:
        # The document has another form than the rules read. INVALID is the safe side: a mistake of
        # the kernel's own would be called so too.
        return Verdict("INVALID", (), "content", f"malformed: {error!r}")


_MALFORMED = (
    LookupError, TypeError, ValueError, ArithmeticError, AttributeError, AssertionError,
    SyntaxError,
)  # fmt: skip


def _assuming(document: Mapping[str, Any]) -> tuple[str, ...]:
    """What a certificate assumes; `InvalidError` or `UnknownError` unless everything follows."""
    stated = stated_certificate(document)
    if isinstance(stated, ProgramCertificate):
        return check_program(stated)
    if isinstance(stated, RelationsCertificate):
        return check_relations(stated)
    if isinstance(stated, ReleaseCertificate):
        check_release(stated, document)
    else:
        _check_conversion(stated)
    due = tuple(assumptions(document))
    reason = "they are not those that the level rests on"
    require(stated.assumptions == due, reason, "assumptions")
    return due


def _check_conversion(stated: ConversionCertificate) -> None:
    """A certificate of a conversion alone: of any mechanism with the stated DP cost."""
    step, claim = stated.derivation, stated.claim
    if stated.rounding != ROUNDING:
        raise UnknownError("it rounds in a way that is not known here", "rounding")
    cost = declared_cost(step.evidence.cost)
    conversion = replace(read_conversion(step, cost), for_any_mechanism=True)
    stated_population(stated.population)
    law = law_of(stated.population)
    reason = "population: the claim is about another one than the step that proves it"
    require(same(law, step.evidence.population), reason, "population")
    due = (step.conclusion.adversary, step.evidence.secrets, step.evidence.cost)
    for what, stated_part, derived in zip(
        ("adversary", "secrets", "cost"),
        (claim.adversary, claim.secrets, claim.cost),
        due,
        strict=True,
    ):  # All mechanisms of this cost are meant: about larger costs it would be a stronger claim.
        agree(stated_part, derived, what, "claim")
    check_delta(claim.delta, step.conclusion.delta)
    at_least(claim.dp_epsilon, ball(conversion.total), "claim: dp_epsilon")
    sum_of_doubles = conversion.total * (1 + Fraction(1, 10**12))
    reason = f"dp_epsilon: {claim.dp_epsilon!r} is claimed, the cost is {float(conversion.total)!r}"
    require(Fraction(claim.dp_epsilon) <= sum_of_doubles, reason, "claim")
    rho = Fraction(claim.dp_rho)
    reason = f"dp_rho: {claim.dp_rho!r} is claimed, the cost is {float(conversion.rho)!r}"
    require(close(rho, conversion.rho) and rho >= conversion.rho, reason, "claim")
    proof = conversion.proof
    dp_delta = proof.dp_delta if isinstance(proof, Stated) else 0.0
    agree(claim.dp_delta, dp_delta, "dp_delta", "claim")
    at_least(claim.epsilon, conversion_level(step, conversion), "claim: epsilon")
    follows(step.conclusion.epsilon, claim.epsilon, "claim: epsilon")
