"""Relations between notions of privacy: certificates of what follows from given levels.

The root of the derivation has the rule `relations` and one chain of steps for each claim: at its
end a `given` level, above it steps `relation:NAME`. `TABLE` is the kernel's own list of relations;
levels are exact fractions, or balls rounded up. Proofs: docs/theory.md 5.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from bayesdp.kernel.arithmetic import agree, at_least, ball, follows, require
from bayesdp.kernel.conversions.conversion import conversion_level, read_conversion
from bayesdp.kernel.conversions.hypotheses import NAMES, Facts
from bayesdp.kernel.costs.composition import declared_cost
from bayesdp.kernel.reading import stated_certificate, stated_population
from bayesdp.statements import conversions
from bayesdp.statements.assumptions import ROUNDING, assumptions
from bayesdp.statements.base import exact_text
from bayesdp.statements.certificates import RelationsCertificate
from bayesdp.statements.populations import Population, law_of
from bayesdp.statements.steps import RELATION, Given, NotionLevel, Relation

EVERYWHERE = "every-population"
PROBABILITIES = ("sp", "bsp")
ABSOLUTE = ("dp", "strong-dp", "group-dp", "independent-bdp", "sp")
"""Notions that are about the mechanism alone; all others are relative to a population."""

RELATIVE = ("bdp", "bdp-uninformed", "bdp-informed", "bsp", "mp", "causal-do", "pufferfish")

Map = Callable[[Fraction, int], arb]


def _same(level: Fraction, size: int) -> arb:
    return ball(level)


def _times_size(level: Fraction, size: int) -> arb:
    return ball(level * size)


def _distance(level: Fraction, size: int) -> arb:
    return (ball(level) / 2).tanh()


def _from_distance(level: Fraction, size: int) -> arb:
    require(level < 1, "a distance of 1 promises nothing")
    return 4 * ball(level).atanh()


@dataclass(frozen=True)
class RelationRow:
    """One relation. `converts` is the adversary of a conversion by the population's theorems."""

    premise: str
    conclusion: str
    level: Map = _same
    hypotheses: tuple[str, ...] = ()
    converts: str | None = None


TABLE: dict[str, RelationRow] = {
    "dp-to-strong-dp": RelationRow("dp", "strong-dp"),
    "strong-dp-to-dp": RelationRow("strong-dp", "dp"),
    "dp-to-group-dp": RelationRow("dp", "group-dp", _times_size),
    "group-dp-to-dp": RelationRow("group-dp", "dp"),
    "group-dp-to-bdp": RelationRow("group-dp", "bdp", _same, ("groups-within-size",)),
    "dp-to-independent-bdp": RelationRow("dp", "independent-bdp"),
    "independent-bdp-to-dp": RelationRow("independent-bdp", "dp"),
    "independent-bdp-to-bdp": RelationRow(
        "independent-bdp", "bdp", _same, ("mutual-independence",)
    ),
    "bdp-to-bdp-uninformed": RelationRow("bdp", "bdp-uninformed"),
    "bdp-to-bdp-informed": RelationRow("bdp", "bdp-informed"),
    "bdp-to-dp": RelationRow("bdp", "dp", _same, ("full-support",)),
    "bdp-informed-to-dp": RelationRow("bdp-informed", "dp", _same, ("full-support",)),
    "bdp-informed-to-bdp": RelationRow("bdp-informed", "bdp", _same, ("mutual-independence",)),
    "bdp-uninformed-to-group-dp": RelationRow("bdp-uninformed", "group-dp", _same, (EVERYWHERE,)),
    "dp-to-bdp": RelationRow("dp", "bdp", converts="any"),
    "dp-to-bdp-uninformed": RelationRow("dp", "bdp-uninformed", converts="uninformed"),
    "dp-to-bdp-informed": RelationRow("dp", "bdp-informed"),
    "bdp-to-bsp": RelationRow("bdp", "bsp", _distance),
    "bsp-to-bdp": RelationRow("bsp", "bdp", _from_distance, ("default-possible",)),
    "dp-to-sp": RelationRow("dp", "sp", _distance, ("default-in-domain",)),
    "sp-to-dp": RelationRow("sp", "dp", _from_distance),
    "bsp-to-sp": RelationRow("bsp", "sp", _same, ("full-support", "default-in-domain")),
    "sp-to-bsp": RelationRow("sp", "bsp", _same, ("mutual-independence",)),
    "bdp-to-mp": RelationRow("bdp", "mp"),
    "mp-to-bdp": RelationRow("mp", "bdp", _same, ("downward-scalable-family",)),
    "bdp-to-pufferfish": RelationRow("bdp", "pufferfish", _same, ("record-secrets",)),
    "pufferfish-to-bdp": RelationRow("pufferfish", "bdp", _same, ("record-secrets",)),
    "dp-to-causal-do": RelationRow("dp", "causal-do", _same, ("causal-structure",)),
    "causal-do-to-dp": RelationRow("causal-do", "dp", _same, ("causal-structure", EVERYWHERE)),
    "causal-do-to-bdp-uninformed": RelationRow(
        "causal-do", "bdp-uninformed", _same, ("causal-structure", "mutual-independence")
    ),
    "bdp-uninformed-to-causal-do": RelationRow(
        "bdp-uninformed",
        "causal-do",
        _same,
        ("causal-structure", "mutual-independence", "full-support"),
    ),
}


@dataclass(frozen=True)
class _Reached:
    """A step's conclusion. `everywhere`: for every population, if the given level is."""

    notion: str
    level: Fraction
    everywhere: bool


def check_relations(stated: RelationsCertificate) -> tuple[str, ...]:
    """What a certificate of relations assumes; `InvalidError` where a claim doesn't follow."""
    assuming = _assumed(stated)
    require(
        stated.assumptions == assuming, "they are not those that the levels rest on", "assumptions"
    )
    return assuming


def derived_assumptions(document: Mapping[str, Any]) -> list[str]:
    """What a certificate of relations assumes, for a document without its list of assumptions."""
    stated = stated_certificate({**document, "assumptions": []})
    assert isinstance(stated, RelationsCertificate)
    return list(_assumed(stated))


def _assumed(stated: RelationsCertificate) -> tuple[str, ...]:
    checked = _Document(stated)
    claims, chains = stated.claim.claims, stated.derivation.premises
    require(
        claims == stated.derivation.conclusion.claims,
        "claims: others are claimed than derived",
        "claim",
    )
    require(len(claims) == len(chains), "not one chain for each claim", "claim")
    for claim, chain in zip(claims, chains, strict=True):
        reached = checked.reach(chain)
        agree(claim.notion, reached.notion, "notion", "claim")
        at_least(claim.level, ball(reached.level), f"claim: {reached.notion}")
    return tuple(checked.assuming())


class _Document:
    """One certificate: what it declares, and what its steps turn out to rest on."""

    def __init__(self, stated: RelationsCertificate) -> None:
        agree(stated.rounding, ROUNDING, "rounding", "rounding")
        self.spec = stated.population
        self.population: Population | None = None
        if self.spec is not None:
            self.population = stated_population(law_of(self.spec))
        parameters = stated.claim.parameters
        self.size, self.default = parameters.size, Fraction(parameters.default)
        self.facts = Facts(self.population, stated.declared, self.default, self.size)
        self.given: list[tuple[str, float]] = []
        self.declared: set[str] = set()
        self.notions: set[str] = set()
        self.about_population = False

    def reach(self, step: Given | Relation) -> _Reached:
        """What a chain of steps proves."""
        above: list[Relation] = []
        while isinstance(step, Relation):
            above.append(step)
            (step,) = step.premises
        reached = self._given(step)
        for relation in reversed(above):
            reached = self._follow(relation, reached)
        return reached

    def _given(self, step: Given) -> _Reached:
        reached = _Reached(step.conclusion.notion, _level(step.conclusion), True)
        pair = reached.notion, step.conclusion.level
        if pair not in self.given:
            self.given.append(pair)
        self._seen(reached.notion)
        return reached

    def _follow(self, step: Relation, below: _Reached) -> _Reached:
        rule, conclusion = step.rule, step.conclusion
        name = rule.removeprefix(RELATION)
        require(name in TABLE, "no such relation", rule)
        row = TABLE[name]
        require(below.notion == row.premise, f"its premise is not a level of {row.premise}", rule)
        agree(conclusion.notion, row.conclusion, "notion of the conclusion", rule)
        hypotheses = step.evidence.hypotheses
        agree(hypotheses, row.hypotheses, "hypotheses", rule)
        for hypothesis in row.hypotheses:
            self.declared |= self.facts.rests_on(hypothesis)
        if EVERYWHERE in row.hypotheses:
            require(below.everywhere, "its premise is about one population", rule)
        inside = step.evidence.conversion
        require(
            (inside is None) == (row.converts is None),
            "a conversion is stated where nothing is converted, or is missing",
            rule,
        )
        if inside is None or row.converts is None:
            derived = row.level(below.level, self.size)
        else:
            derived = self._converted(inside, below, row.converts, conclusion.level)
        at_least(conclusion.level, derived, rule)
        self._seen(row.conclusion)
        about_this = bool(row.hypotheses) or row.converts is not None
        everywhere = row.conclusion in ABSOLUTE or (below.everywhere and not about_this)
        return _Reached(row.conclusion, _level(conclusion), everywhere)

    def _converted(
        self, step: conversions.Conversion, below: _Reached, adversary: str, concluded: float
    ) -> arb:
        """A conversion of any mechanism that has at most this DP level, under this population."""
        require(self.population is not None, "no population is declared", "population")
        cost = declared_cost(step.evidence.cost)
        conversion = read_conversion(step, cost)
        require(
            conversion.delta == 0,
            "the conversion has a delta, and the levels of notions have none",
            "conversion",
        )
        other = cost.lipschitz or cost.slack or cost.columns
        reason = f"cost: {float(cost.any)!r} is converted, {float(below.level)!r} is the DP level"
        require(cost.any >= below.level, reason, "conversion")
        require(not other, "cost: a level of DP is a cost of kind any alone", "conversion")
        agree(conversion.adversary, adversary, "adversary", "conversion")
        reason = "population: the conversion is about another one than is declared"
        require(conversion.population == self.population, reason, "conversion")
        self.about_population = True
        follows(step.conclusion.epsilon, concluded, "conversion")
        return conversion_level(step, conversion)

    def _seen(self, notion: str) -> None:
        require(notion in ABSOLUTE or notion in RELATIVE, f"no notion {notion!r}", "notion")
        self.notions.add(notion)

    def assuming(self) -> list[str]:
        """Everything that the claims rest on and that nobody checked."""
        said = [f"the mechanism has the given level {level!r} of {n}" for n, level in self.given]
        if self.notions & set(RELATIVE):
            said += self._about_population()
        if "group-dp" in self.notions:
            said.append(f"a group has at most {self.size} records")
        if self.notions & set(PROBABILITIES):
            said.append(f"the default record has the value {exact_text(float(self.default))}")
        said += [f"declared, not shown ({name}): {NAMES[name]}" for name in sorted(self.declared)]
        return said

    def _about_population(self) -> list[str]:
        if self.spec is None:
            return ["relative notions are relative to the population that given ones are about"]
        claim = {"notion": "bdp", "adversary": "any", "secrets": "unbounded"}
        rests_on: list[str] = assumptions({"claim": claim, "population": self.spec})
        return [words for words in rests_on[1:] if not words.startswith("the adversary is")]


def _level(conclusion: NotionLevel) -> Fraction:
    level = Fraction(conclusion.level)
    bounded = conclusion.notion in PROBABILITIES
    require(not bounded or level <= 1, "a distance above 1", "level")
    return level
