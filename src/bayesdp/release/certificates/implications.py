"""The certificate of what follows from given levels of notions.

It has one chain of steps for each claim. A conversion of DP on the way is the certificate's usual
conversion step; where the kernel proves it at a level a little above the package's, the steps above
it start from that one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bayesdp
from bayesdp import kernel
from bayesdp.certificate import Certificate, Step
from bayesdp.errors import InputError
from bayesdp.numbers import UpperBound
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.release.certificates.derivation import plain_details
from bayesdp.theorems import leakage
from bayesdp.theorems.relations import BY_NAME, Relation
from bayesdp.theorems.relations.search import Implications, Implied


def implications_certificate(
    implications: Implications, notions: Sequence[str] = (), *, seconds: float = 30.0
) -> Certificate:
    """A certificate of these notions' levels (default: of all that follow).

    The kernel re-derives every step: level maps, hypotheses that the population shows, conversions.
    Raises `InputError` for a notion that doesn't follow, and `Refusal` where the kernel proves no
    level of a conversion.
    """
    wanted = list(notions) or [implied.notion for implied in implications.implied]
    for notion in wanted:
        if notion not in implications:
            raise InputError("notion", notion, expected="a notion that follows from the given ones")
    population = implications.population
    builder = _Builder(implications, seconds)
    chains = tuple(builder.chain(implications[notion]) for notion in wanted)
    claims = [dict(chain.conclusion) for chain in chains]
    body = {
        "software": f"bayesdp {bayesdp.__version__}",
        "rounding": kernel.ROUNDING,
        "claim": {
            "claims": claims,
            "parameters": {"size": implications.size, "default": implications.default},
        },
        "population": None if population is None else population.spec(),
        "declared": list(implications.assume),
    }
    derivation = Step("relations", {"claims": claims}, {}, chains)
    document = plain_details(Certificate(body, derivation).to_dict())
    return Certificate(
        plain_details(body) | {"assumptions": kernel.relation_assumptions(document)}, derivation
    )


class _Builder:
    """Chains of steps; conversions are proved once."""

    def __init__(self, implications: Implications, seconds: float) -> None:
        self.implications, self.seconds = implications, seconds
        self.conversions: dict[tuple[str, float], Step] = {}

    def chain(self, implied: Implied) -> Step:
        """The steps from a given level to this one."""
        level = self.implications.given[implied.start]
        step = Step("given", {"notion": implied.start, "level": level})
        for passed in implied.path:
            relation = BY_NAME[passed.relation]
            evidence: dict[str, Any] = {"hypotheses": list(relation.hypotheses)}
            if relation.converts is not None:
                conversion = self._conversion(relation, level)
                evidence["conversion"] = conversion.to_dict()
                level = UpperBound(float(conversion.conclusion["epsilon"]))
            else:
                level = relation.level(level, self.implications.size)
            conclusion = {"notion": relation.conclusion, "level": level}
            step = Step(f"relation:{relation.name}", conclusion, evidence, (step,))
        return step

    def _conversion(self, relation: Relation, level: UpperBound) -> Step:
        key = relation.name, level
        if key not in self.conversions:
            population, adversary = self.implications.population, relation.converts
            assert population is not None
            assert adversary is not None
            report = leakage(
                population,
                level,
                adversary=adversary,
                secrets="unbounded",
                seconds=self.seconds,
            )
            self.conversions[key] = conversion_certificate(population, report).derivation
        return self.conversions[key]
