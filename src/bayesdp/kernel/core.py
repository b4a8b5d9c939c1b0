"""What a certificate is, its conversion steps, and the verdict."""

from __future__ import annotations

import hashlib
import importlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from flint import arb

from bayesdp.kernel.arithmetic import (
    MOST_SECONDS,
    InvalidError,
    UnknownError,
    ball,
    double_up,
    exact,
    limited,
    require,
)
from bayesdp.kernel.composition import Column, Cost, close, counted, declared_cost
from bayesdp.kernel.stated import as_text, stated_population

FORMAT = "bayesdp-certificate"
VERSION = 1
MOST_DIGITS = 309
"""Of a whole number: no double has more."""
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

DIVERGENCE_RULES = GAUSSIAN_RULES | {"independent", "cluster-size"}
"""Theorems that bound Rényi divergences too: they couple databases, whatever reads them."""


_CHAINS, _GRAPHS = frozenset({"markov"}), frozenset({"graph", "tree", "network"})
_MODELS: Mapping[str, frozenset[str]] = {
    "markov": _CHAINS,
    "graph": _GRAPHS,
    "tree": frozenset({"tree", "network"}),
    "finite": _CHAINS | _GRAPHS | {"finite"},
    "gaussian": frozenset({"gaussian"}),
    "autoregressive": frozenset({"autoregressive"}),
    "independent": frozenset({"independent"}),
    "family": frozenset({"family"}),
}
"""By the first word of a rule's name: the models that it is about. Groups are of any model."""


@dataclass(frozen=True)
class Verdict:
    """VALID ASSUMING, INVALID or UNKNOWN; `step` and `reason` say where and why not valid.

    A verdict is true where the certificate is valid, and false for all else.
    """

    verdict: Literal["VALID", "VALID ASSUMING", "INVALID", "UNKNOWN"]
    assuming: tuple[str, ...] = ()
    step: str = ""
    reason: str = ""

    def __bool__(self) -> bool:
        """Whether the certificate is valid."""
        return self.verdict in ("VALID", "VALID ASSUMING")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        plain = {"verdict": self.verdict, "assuming": list(self.assuming), "step": self.step}
        return plain | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True)
class Conversion:
    """A step from DP to BDP: everything that a rule may use.

    Costs are exact: `any` and `lipschitz` by kind of mechanism, `slack` for the grid, and beside
    them the zCDP costs of Gaussian noise; `columns` has (column, width, cost, slack, zCDP cost, its
    slack) for vector records. `details` is evidence that the rule re-proves. `mechanism` is what
    all spends are, where the release shows that they are.

    `proof` says how the level follows at `delta` (`approximate`); `alpha` is the Rényi order of the
    divergence that a rule bounds, `None` for a pure level. `zcdp` are the costs with the pure ones
    counted as zCDP, and `alone` that the mechanism is any with the stated cost. `beside` says that
    records have values that the population doesn't speak about, in independent columns.
    """

    rule: str
    population: Any
    adversary: str
    secrets: str
    any: Fraction
    lipschitz: Fraction
    slack: Fraction
    columns: tuple[Column, ...]
    details: Mapping[str, Any]
    premises: tuple[Mapping[str, Any], ...]
    mechanism: str | None = None
    rho_any: Fraction = Fraction(0)
    rho_lipschitz: Fraction = Fraction(0)
    rho_slack: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    proof: Mapping[str, Any] | None = None
    alpha: Fraction | None = None
    zcdp: Cost | None = None
    alone: bool = False
    beside: bool = False

    @property
    def total(self) -> Fraction:
        """The pure DP cost of everything."""
        return self.any + self.lipschitz + sum((one[2] for one in self.columns), Fraction(0))

    @property
    def rho(self) -> Fraction:
        """The zCDP cost of everything that is Gaussian noise."""
        columns = sum((one[4] for one in self.columns), Fraction(0))
        return self.rho_any + self.rho_lipschitz + columns

    def of_group(self, size: int) -> Fraction:
        """What `size` records that change together cost: `m eps`, or `m eps + alpha m^2 rho`."""
        pure = size * self.total
        return pure if self.alpha is None else pure + self.alpha * size**2 * self.rho


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
    from bayesdp.kernel.assumptions import assumptions
    from bayesdp.kernel.declared import check_declared
    from bayesdp.kernel.relations import check_relations
    from bayesdp.kernel.releases import check_release

    try:
        if not isinstance(document, Mapping) or document.get("format") != FORMAT:
            problem = document.get("problem") if isinstance(document, Mapping) else None
            why = f": {problem}" if isinstance(problem, str) else ""
            raise InvalidError(f"this is not a bayesdp certificate{why[:200]}", "format")
        if document.get("version") != VERSION or type(document["version"]) is not int:
            stated = repr(document.get("version"))[:40]
            raise UnknownError(
                f"version {stated}: another version of bayesdp wrote it, verify it with that one",
                "version",
            )
        content = {key: value for key, value in document.items() if key not in _OUTSIDE}
        require(
            document.get("digest") == digest(content), "it is not that of the content", "digest"
        )
        # Half a letter (a lone surrogate) is JSON, and no text that anybody could be shown.
        json.dumps(document, ensure_ascii=False).encode()
        check_declared(document)
        if document["derivation"]["rule"] == "relations":
            return Verdict("VALID ASSUMING", check_relations(document))
        if document["derivation"]["rule"] == "program":
            from bayesdp.kernel.programs import check_program

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
    from bayesdp.kernel.assumptions import assumptions
    from bayesdp.kernel.releases import ROUNDING

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


def check_delta(claimed: object, step: Mapping[str, Any]) -> None:
    """A claim's delta is a probability below 1, and not below the one that the step derives."""
    number, derived = exact(claimed, "delta"), exact(step["conclusion"].get("delta", 0.0), "delta")
    require(0 <= derived <= number < 1, "delta is below what is derived, or no delta", "claim")
    none = number == 0 or "delta" in step["conclusion"]
    require(none, "a delta is claimed, and none is derived", "claim")


# -- conversion -------------------------------------------------------------------------


def count_mechanism(length: int) -> str:
    """How a spend names discrete Laplace noise on the count over one series without gaps."""
    return f"discrete-laplace on a count over a complete series of {length}"


def read_conversion(
    step: Mapping[str, Any],
    cost: Cost,
    mechanism: str | None = None,
    zcdp: Cost | None = None,
) -> Conversion:
    """The step with this cost, its statements checked against each other.

    `zcdp` is the cost with every pure part counted as zCDP, for steps that count so.
    """
    rule, evidence, conclusion = step["rule"], step["evidence"], step["conclusion"]
    if rule not in RULES:
        raise UnknownError("no rule of this name", str(rule))
    require(conclusion["notion"] == "bdp", "another notion than BDP", rule)
    require(conclusion["adversary"] in ADVERSARIES, "no such adversary", rule)
    require(evidence["secrets"] in ("bounded", "unbounded"), "no such secrets", rule)
    spent = cost
    if counted(step) == "zcdp":
        require(zcdp is not None and zcdp.total == 0, "costs are not at hand as zCDP", rule)
        spent = zcdp or cost
    return Conversion(
        rule,
        stated_population(evidence["population"]),
        conclusion["adversary"],
        evidence["secrets"],
        spent.any,
        spent.lipschitz,
        spent.slack,
        spent.columns,
        evidence.get("details", {}),
        tuple(step["premises"]),
        mechanism,
        spent.rho_any,
        spent.rho_lipschitz,
        spent.rho_slack,
        exact(conclusion.get("delta", 0.0), "delta"),
        evidence.get("delta"),
        zcdp=zcdp,
        beside=bool(evidence.get("independent")),
    )


def conversion_level(step: Mapping[str, Any], conversion: Conversion) -> arb:
    """The level that the rule proves; the step must not claim less."""
    derived = proved(conversion)
    at_least(step["conclusion"]["epsilon"], derived, conversion.rule)
    return derived


def proved(conversion: Conversion) -> arb:
    """The level that follows, at the conversion's delta."""
    if conversion.proof is not None:
        from bayesdp.kernel.approximate import level

        return level(conversion)
    # Under a family, each member's step has its own proof.
    without = conversion.rho == 0 or conversion.rule == "family"
    require(without, "Gaussian noise has no level without a delta", conversion.rule)
    return bounded(conversion)


def bounded(conversion: Conversion) -> arb:
    """The rule's bound: of the level, or of the divergence of order `alpha` that a secret makes.

    Never below the DP cost, which every theorem allows for; but 0 where the rule finds that no
    record has two possible values, and records have no other values either.
    """
    models = _MODELS.get(conversion.rule.split("-")[0])
    about = models is None or conversion.population.model in models
    require(about, "it is about other populations", conversion.rule)
    total = ball(conversion.of_group(1))
    divergence = conversion.rule in DIVERGENCE_RULES
    require(conversion.alpha is None or divergence, "it bounds no divergence", conversion.rule)
    of_members = conversion.rule == "family" and conversion.rho > 0
    listed = conversion.rule == "family" and bool(conversion.premises)
    looked_into = conversion.rule == "finite-law"
    if conversion.adversary == "informed" and not (of_members or listed or looked_into):
        from bayesdp.kernel.described import check_numbers

        check_numbers(conversion.population)
        return total
    if conversion.rule == "cluster-size":
        from bayesdp.kernel.described import check_numbers

        check_numbers(conversion.population)
    if conversion.rule in GAUSSIAN_RULES:
        moved = conversion.lipschitz + conversion.rho_lipschitz > 0 or bool(conversion.columns)
        nothing = conversion.any == conversion.rho_any == 0
        require(moved or nothing, "no mechanism is Lipschitz", conversion.rule)
        require(conversion.secrets == "bounded", "secrets must be bounded", conversion.rule)
    if conversion.total == conversion.rho == 0 and not listed:
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
    nothing = looked_into and not conversion.beside and derived.is_zero()
    return derived if nothing else derived.max(total)


def certified_level(step: Mapping[str, Any]) -> float:
    """The level of a conversion step, as a double that is certainly not below the proved one.

    For the package, which states this number. `InvalidError` where a hypothesis fails, and
    `TooSlowError` where a verdict would be UNKNOWN because its proof takes too long.
    """
    with limited(MOST_SECONDS * 0.6):  # a whole certificate has several steps
        return _certified_level(step)


def _certified_level(step: Mapping[str, Any]) -> float:
    from bayesdp.kernel.approximate import RULE, dp_level

    cost, zcdp = declared_cost(step), None
    under = [step, *step["premises"]] if step["rule"] == "family" else [step]
    for one in under:
        zcdp = declared_cost(one) if counted(one) == "zcdp" else zcdp
    if step["rule"] == RULE:
        return double_up(dp_level(step, cost, zcdp))
    mechanism = step["evidence"].get("details", {}).get("mechanism")
    conversion = read_conversion(step, cost, mechanism, zcdp)
    return double_up(proved(replace(conversion, alone=True)))


def at_least(claimed: object, derived: arb, what: str) -> None:
    """A claim may be weaker than what is derived, not stronger."""
    number = exact(claimed, what)
    require(
        derived.is_finite() and bool(ball(number) >= derived),
        f"{float(number)!r} is claimed, and {_shown(derived)} is what follows",
        what,
    )


def follows(concluded: object, claimed: object, what: str) -> None:
    """What is claimed may be weaker than the conclusion that it rests on, not stronger."""
    below = exact(concluded, what) <= exact(claimed, what)
    require(below, f"{concluded!r} is concluded, and {claimed!r} is claimed", what)


def same(one: Any, other: Any) -> bool:
    """Whether two pieces of plain data say the same; 1 and 1.0 do."""
    return as_text(_plain(one)) == as_text(_plain(other))


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
