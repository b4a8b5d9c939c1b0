"""What a certificate is, how DP costs compose, and the verdict."""

from __future__ import annotations

import hashlib
import importlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from flint import arb

from bayesdp.kernel.arithmetic import (
    InvalidError,
    UnknownError,
    ball,
    double_up,
    exact,
    require,
)

FORMAT = "bayesdp-certificate"
VERSION = 1
ADVERSARIES = ("any", "uninformed", "informed")
RULES = frozenset(
    {
        "autoregressive",
        "cluster-size",
        "family",
        "finite-law",
        "gaussian-covariance",
        "gaussian-equal-variances",
        "gaussian-max-correlation",
        "gaussian-vector",
        "gaussian-walk-summable",
        "graph-contraction",
        "graph-influence",
        "independent",
        "markov-contraction",
        "markov-count",
        "markov-influence",
        "markov-ratio",
        "markov-recursion",
        "markov-threshold",
        "markov-window",
        "tree-recursion",
    }
)
"""Every theorem that the kernel re-proves: the file of the same name in `rules/`."""

GAUSSIAN_RULES = frozenset(
    rule for rule in RULES if rule.startswith("gaussian-") or rule == "autoregressive"
)
"""Theorems about secrets inside the clipping intervals."""


@dataclass(frozen=True)
class Verdict:
    """VALID ASSUMING, INVALID or UNKNOWN; `step` and `reason` say where and why not valid."""

    verdict: Literal["VALID", "VALID ASSUMING", "INVALID", "UNKNOWN"]
    assuming: tuple[str, ...] = ()
    step: str = ""
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        plain = {"verdict": self.verdict, "assuming": list(self.assuming), "step": self.step}
        return plain | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True)
class Conversion:
    """A step from DP to BDP: everything that a rule may use.

    Costs are exact: `any` and `lipschitz` by kind of mechanism, `slack` for the grid; `columns` has
    (column, width, cost, slack) for vector records. `details` is evidence that the rule re-proves.
    `mechanism` is what all spends are, where the release shows that they are.
    """

    rule: str
    population: Mapping[str, Any]
    adversary: str
    secrets: str
    any: Fraction
    lipschitz: Fraction
    slack: Fraction
    columns: tuple[tuple[str, Fraction, Fraction, Fraction], ...]
    details: Mapping[str, Any]
    premises: tuple[Mapping[str, Any], ...]
    mechanism: str | None = None

    @property
    def total(self) -> Fraction:
        """The DP cost of everything."""
        return self.any + self.lipschitz + sum((one[2] for one in self.columns), Fraction(0))


def read(text: str) -> object:
    """Parsed JSON. A document that says a thing twice, or a number that is none, is refused."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError("a key is given twice")
        return dict(pairs)

    def constant(word: str) -> Any:
        raise ValueError(f"{word} is no number")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        return {"format": None, "problem": str(error)}


def check(document: object) -> Verdict:
    """The verdict on a certificate, given as parsed JSON."""
    from bayesdp.kernel.relations import check_relations
    from bayesdp.kernel.releases import assumptions, check_release

    try:
        if not isinstance(document, Mapping) or document.get("format") != FORMAT:
            raise InvalidError("this is no bayesdp certificate", "format")
        if document.get("version") != VERSION:
            raise UnknownError(f"version {document.get('version')!r}", "version")
        content = {key: value for key, value in document.items() if key not in _OUTSIDE}
        require(
            document.get("digest") == digest(content), "it is not that of the content", "digest"
        )
        # Half a letter (a lone surrogate) is JSON, and no text that anybody could be shown.
        json.dumps(document, ensure_ascii=False).encode()
        if document["derivation"]["rule"] == "relations":
            return Verdict("VALID ASSUMING", check_relations(document))
        if document["derivation"]["rule"] == "release":
            check_release(document)
        else:
            _check_conversion(document)
        return Verdict("VALID ASSUMING", tuple(assumptions(document)))
    except UnknownError as found:
        return Verdict("UNKNOWN", (), found.step or "content", found.reason)
    except InvalidError as found:
        return Verdict("INVALID", (), found.step or "content", found.reason)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        # Whatever is malformed makes a certificate invalid, and never the kernel fail.
        return Verdict("INVALID", (), "content", f"malformed: {error!r}")


_OUTSIDE = ("digest", "signature")


def digest(content: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _check_conversion(document: Mapping[str, Any]) -> None:
    """A certificate of a conversion alone: of any mechanism with the stated DP cost."""
    from bayesdp.kernel.releases import ROUNDING, assumptions

    step, claim = document["derivation"], document["claim"]
    if document["rounding"] != ROUNDING:
        raise UnknownError("it rounds in a way that is not known here", "rounding")
    conversion = read_conversion(step, declared_cost(step))
    shown = {k: v for k, v in document["population"].items() if k not in ("source", "covers")}
    require(same(shown, conversion.population), "two populations are named", "population")
    for key in ("notion", "adversary"):
        require(claim[key] == step["conclusion"][key], f"another {key} than derived", "claim")
    require(claim["delta"] == 0.0, "delta is not 0", "claim")
    require(claim["scope"] == "the declared population", "another scope", "claim")
    require(claim["secrets"] == conversion.secrets, "other secrets than derived", "claim")
    # All mechanisms of this cost are meant: a claim about larger costs would be a stronger one.
    require(same(claim["cost"], step["evidence"]["cost"]), "another cost than derived", "claim")
    at_least(claim["dp_epsilon"], ball(conversion.total), "claim: dp_epsilon")
    sum_of_doubles = conversion.total * (1 + Fraction(1, 10**12))
    require(exact(claim["dp_epsilon"]) <= sum_of_doubles, "dp_epsilon is not the cost", "claim")
    derived = conversion_level(step, conversion)
    at_least(claim["epsilon"], derived, "claim: epsilon")
    require(
        list(document["assumptions"]) == assumptions(document),
        "they are not those that the level rests on",
        "assumptions",
    )


# -- composition ------------------------------------------------------------------------


@dataclass(frozen=True)
class Cost:
    """DP costs by kind, exact."""

    any: Fraction = Fraction(0)
    lipschitz: Fraction = Fraction(0)
    slack: Fraction = Fraction(0)
    columns: tuple[tuple[str, Fraction, Fraction, Fraction], ...] = ()

    @property
    def total(self) -> Fraction:
        """The DP cost of everything."""
        return self.any + self.lipschitz + sum((one[2] for one in self.columns), Fraction(0))


def compose(
    spends: Sequence[Mapping[str, Any]],
    population: Mapping[str, Any],
    covers: Sequence[str],
    interval: tuple[Fraction, Fraction] | None = None,
) -> tuple[Cost, Any]:
    """The sum of spends by kind, and where their Lipschitz part needs secrets to be.

    `interval` is where secrets lie. A Lipschitz spend counts as such only under a Gaussian
    population that covers its column, and only if its clipping interval contains that one, so that
    no two secrets are further apart than it is wide (theory 2.2); else it is one of kind `any`.
    """
    model = population.get("model")
    if model == "gaussian" and "columns" in population:
        return _by_column(spends, population, covers)
    moved: list[Mapping[str, Any]] = []
    if model in ("gaussian", "autoregressive") and len(covers) == 1 and interval is not None:
        moved = [
            s
            for s in spends
            if s["kind"] == "lipschitz"
            and s["column"] == covers[0]
            and exact(s["interval"][0]) <= interval[0] < interval[1] <= exact(s["interval"][1])
        ]
    total = sum((exact(s["dp_epsilon"]) for s in spends), Fraction(0))
    lipschitz = sum((exact(s["dp_epsilon"]) for s in moved), Fraction(0))
    slack = sum((exact(s["slack"]) for s in moved), Fraction(0))
    where = [float(end) for end in interval] if moved and interval is not None else None
    return Cost(total - lipschitz, lipschitz, slack), where


def _by_column(
    spends: Sequence[Mapping[str, Any]], population: Mapping[str, Any], covers: Sequence[str]
) -> tuple[Cost, Any]:
    groups: dict[tuple[str, float, float], list[Mapping[str, Any]]] = {}
    other = Fraction(0)
    for spend in spends:
        known = spend["column"] in population["columns"] and spend["column"] in covers
        if spend["kind"] == "lipschitz" and known:
            low, high = spend["interval"]
            groups.setdefault((spend["column"], low, high), []).append(spend)
        else:
            other += exact(spend["dp_epsilon"])
    columns = []
    for (column, low, high), group in sorted(groups.items()):
        epsilon = sum((exact(one["dp_epsilon"]) for one in group), Fraction(0))
        slack = sum((exact(one["slack"]) for one in group), Fraction(0))
        columns.append((column, exact(high) - exact(low), epsilon, slack))
    bounds = dict(zip(population["columns"], population["bounds"], strict=True))
    return Cost(any=other, columns=tuple(columns)), bounds if columns else None


def declared_cost(step: Mapping[str, Any]) -> Cost:
    """The cost as the step states it: what a conversion alone is about."""
    cost = step["evidence"]["cost"]
    parts = [exact(cost[name], f"cost: {name}") for name in ("any", "lipschitz", "slack")]
    columns = tuple(
        (one["column"], exact(one["width"]), exact(one["dp_epsilon"]), exact(one["slack"]))
        for one in cost.get("by_column", [])
    )
    require(min(parts) >= 0 and all(c[1] > 0 and min(c[2:]) >= 0 for c in columns), "negative cost")
    return Cost(parts[0], parts[1], parts[2], columns)


# -- conversion -------------------------------------------------------------------------


def count_mechanism(length: int) -> str:
    """How a spend names discrete Laplace noise on the count over one series without gaps."""
    return f"discrete-laplace on a count over a complete series of {length}"


def read_conversion(
    step: Mapping[str, Any], cost: Cost, mechanism: str | None = None
) -> Conversion:
    """The step with this cost, its statements checked against each other."""
    rule, evidence, conclusion = step["rule"], step["evidence"], step["conclusion"]
    if rule not in RULES:
        raise UnknownError("no rule of this name", str(rule))
    require(conclusion["notion"] == "bdp", "another notion than BDP", rule)
    require(conclusion["adversary"] in ADVERSARIES, "no such adversary", rule)
    require(evidence["secrets"] in ("bounded", "unbounded"), "no such secrets", rule)
    return Conversion(
        rule,
        evidence["population"],
        conclusion["adversary"],
        evidence["secrets"],
        cost.any,
        cost.lipschitz,
        cost.slack,
        cost.columns,
        evidence.get("details", {}),
        tuple(step["premises"]),
        mechanism,
    )


def conversion_level(step: Mapping[str, Any], conversion: Conversion) -> arb:
    """The level that the rule proves; the step must not claim less."""
    derived = proved(conversion)
    at_least(step["conclusion"]["epsilon"], derived, conversion.rule)
    return derived


def proved(conversion: Conversion) -> arb:
    """The rule's bound. Never below the DP cost, which every theorem allows for."""
    total = ball(conversion.total)
    if conversion.adversary == "informed":
        return total
    if conversion.rule in GAUSSIAN_RULES:
        moved = conversion.lipschitz > 0 or bool(conversion.columns)
        require(moved or conversion.any == 0, "no mechanism is Lipschitz", conversion.rule)
        require(conversion.secrets == "bounded", "secrets must be bounded", conversion.rule)
    if conversion.total == 0:
        return total
    name = conversion.rule.replace("-", "_")
    try:
        module = importlib.import_module(f"bayesdp.kernel.rules.{name}")
    except ModuleNotFoundError:
        raise UnknownError("its rule is not installed", conversion.rule) from None
    try:
        derived: arb = module.bound(conversion)
    except InvalidError as found:
        found.step = found.step or conversion.rule
        raise
    return derived.max(total)


def certified_level(step: Mapping[str, Any]) -> float:
    """The level of a conversion step, as a double that is certainly not below the proved one.

    For the package, which states this number. `InvalidError` where a hypothesis fails.
    """
    mechanism = step["evidence"].get("details", {}).get("mechanism")
    return double_up(proved(read_conversion(step, declared_cost(step), mechanism)))


def at_least(claimed: object, derived: arb, what: str) -> None:
    """A claim may be weaker than what is derived, not stronger."""
    number = exact(claimed, what)
    require(
        derived.is_finite() and bool(ball(number) >= derived),
        f"{float(number)!r} is claimed, and {_shown(derived)} is what follows",
        what,
    )


def same(one: Any, other: Any) -> bool:
    """Whether two pieces of plain data say the same; 1 and 1.0 do."""
    return json.dumps(_plain(one), sort_keys=True) == json.dumps(_plain(other), sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


def _shown(value: arb) -> str:
    number = float(value.mid()) if value.is_finite() else math.inf
    return f"{number:.15g}"
