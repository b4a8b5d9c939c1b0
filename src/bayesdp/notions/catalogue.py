"""The notions of privacy as objects: what each says, over what, and how it reads in words.

`CATALOGUE` is the one list of them. Its keys are stable: theorems about relations, certificates,
the command line and the documentation cite them. Every notion with a number in nats is a bound on
a difference of log-probabilities; `sp` and `bsp` are bounds on a total variation distance.
Statements and proofs: theory 5.1.

#### a. Scope

`dp`, `strong-dp`, `group-dp`, `independent-bdp` and `sp` need no population. The levels of all
others are relative to one population, or to a family; then they are the largest over its members.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from types import MappingProxyType
from typing import Literal

from bayesdp.errors import InputError, did_you_mean

NotionKey = Literal[
    "dp",
    "strong-dp",
    "group-dp",
    "bdp",
    "bdp-uninformed",
    "bdp-informed",
    "independent-bdp",
    "sp",
    "bsp",
    "mp",
    "causal-do",
    "pufferfish",
]
ScopeKind = Literal["population", "family", "all"]
LevelUnit = Literal["nats", "probability"]

SCOPE_MEANING: Mapping[ScopeKind, str] = MappingProxyType(
    {
        "population": "for the declared population",
        "family": "for every member of the declared family of populations",
        "all": "whatever the population",
    }
)


@dataclass(frozen=True, slots=True)
class PrivacyNotion:
    """One notion of privacy: what a level of it says, in symbols and in words.

    `key` is its name everywhere, `title` its name in sentences. `definition` is the condition at a
    level, in symbols (theory 1); `parameters` what has to be given besides the level;
    `quantifies_over` what the condition must hold for; `scopes` the kinds of scope that a claim of
    it can have; `reads` a template for `in_words`. `unit` is "nats" for levels in [0, inf] and
    "probability" for levels in [0, 1]. `with_delta` tells whether there is an `(epsilon, delta)`
    version: the condition for events, up to an additive delta.
    """

    key: NotionKey
    title: str
    definition: str
    parameters: tuple[str, ...]
    quantifies_over: str
    scopes: tuple[ScopeKind, ...]
    reads: str
    source: str
    unit: LevelUnit = "nats"
    with_delta: bool = False

    @property
    def name(self) -> str:
        """The key: the notion's name in theorems, certificates and on the command line."""
        return self.key

    @property
    def relative(self) -> bool:
        """Whether the level depends on a population or family as well as on the channel."""
        return self.scopes != ("all",)

    @property
    def least(self) -> float:
        """The smallest level: nothing is learned."""
        return 0.0

    @property
    def largest(self) -> float:
        """The level that promises nothing."""
        return math.inf if self.unit == "nats" else 1.0

    @property
    def validity(self) -> str:
        """The range of levels, in words."""
        if self.unit == "nats":
            return "0 or more nats; infinite promises nothing"
        return "from 0 to 1; 1 promises nothing"

    def check_level(self, level: float, key: str = "level") -> float:
        """The level itself if it lies in the range, else `InputError`."""
        if not self.least <= level <= self.largest:
            raise InputError(key, level, expected=f"a level of {self.key}: {self.validity}")
        return float(level)

    def in_words(self, level: float, *, size: int | None = None) -> str:
        """What this level promises, as one or two plain sentences.

        `size` is the number of records of the group, for `group-dp` alone. Raises `InputError` for
        a level out of range, and for a group without a size of at least 1.
        """
        self.check_level(level)
        if "size" in self.parameters and (size is None or size < 1):
            raise InputError("size", size, expected="a number of records of at least 1")
        if level == self.largest:
            return f"{self.title}: nothing is promised."
        if self.unit == "probability":
            return self.reads.format(points=_up(level, 1, percent=True))
        return self.reads.format(
            factor=_factor(level),
            after=_up(believed(0.1, level) * _MORE, 1, percent=True) if level else "10",
            size=size,
        )


@dataclass(frozen=True, slots=True)
class NotionClaim:
    """A level of a notion and the populations that it holds for.

    `level` in the notion's unit; `delta` only where the notion has such a version; `size` the size
    of the group for `group-dp`. `about` names the population or family in words. Raises
    `InputError` for a level, scope or parameter that the notion doesn't have.
    """

    notion: NotionKey
    level: float
    scope: ScopeKind
    about: str = ""
    delta: float = 0.0
    size: int | None = None

    def __post_init__(self) -> None:
        notion = notion_of(self.notion)
        notion.check_level(self.level)
        if self.scope not in notion.scopes:
            raise InputError(
                "scope", self.scope, expected=f"for {self.notion} one of {', '.join(notion.scopes)}"
            )
        if not 0.0 <= self.delta < 1.0 or (self.delta > 0.0 and not notion.with_delta):
            expected = "a delta in [0, 1)" if notion.with_delta else f"no delta with {self.notion}"
            raise InputError("delta", self.delta, expected=expected)
        if ("size" in notion.parameters) != (self.size is not None and self.size >= 1):
            sized = "size" in notion.parameters
            expected = "at least 1" if sized else f"no size with {self.notion}"
            raise InputError("size", self.size, expected=expected)

    def in_words(self) -> str:
        """The promise and whom it holds for."""
        sentence = notion_of(self.notion).in_words(self.level, size=self.size).rstrip(".")
        if self.delta > 0.0:
            # Not "except with probability delta": delta bounds a difference of probabilities.
            sentence += (
                f", with an allowance of {_digits_up(self.delta, 3)} in the probability of outputs"
            )
        named = f" ({self.about})" if self.about else ""
        return f"{sentence}; {SCOPE_MEANING[self.scope]}{named}."


def believed(before: float, level: float) -> float:
    """The most that a belief `before` can become at this level, `b e^e / (1 - b + b e^e)`.

    `before` is a probability, `level` is in nats and may be infinite. A belief of 0 or 1 stays. In
    double precision, not rounded outward. Source: theory 1.
    """
    if before <= 0.0 or before >= 1.0:
        return before
    return before / (before + (1.0 - before) * math.exp(-level))


def notion_of(key: str) -> PrivacyNotion:
    """The notion with this key, else `InputError` that names the closest one."""
    notion = next((known for known in CATALOGUE.values() if known.key == key), None)
    if notion is None:
        raise InputError(
            "notion",
            key,
            expected="a notion of the catalogue",
            remedy=did_you_mean(str(key), CATALOGUE),
        )
    assert isinstance(notion, PrivacyNotion)
    return notion


_MORE = 1.0 + 1e-14
"""A factor above the rounding error of a few operations in double precision."""


def _up(value: float, places: int, *, percent: bool = False) -> str:
    """Rounded up to so many decimals: words must not promise more than the level does."""
    exact = Decimal(repr(value)).scaleb(2) if percent else Decimal(repr(value))
    rounded = exact.quantize(Decimal(1).scaleb(-places), ROUND_CEILING).normalize()
    return f"{min(rounded, Decimal(100)) if percent else rounded:f}"


def _digits_up(value: float, digits: int) -> str:
    """Rounded up to so many digits."""
    exact = Decimal(repr(value))
    unit = Decimal(1).scaleb(exact.adjusted() + 1 - digits)
    return f"{float(exact.quantize(unit, ROUND_CEILING)):g}"


def _factor(level: float) -> str:
    if level == 0.0:
        return "1"
    if level > 15.0:
        return f"e^{_digits_up(level, 4)}"
    return _up(math.exp(level) * _MORE, 2)


_ODDS = (
    "multiplies the odds between any two values of {what} by at most {{factor}}: a suspicion of "
    "10 % becomes at most {{after}} %"
)

_NOTIONS = (
    PrivacyNotion(
        key="dp",
        title="differential privacy",
        definition="P[y | x] <= e^eps P[y | x'] for all outputs y and all databases x, x' that "
        "differ in one record",
        parameters=(),
        quantifies_over="all pairs of databases that differ in one record, possible or not",
        scopes=("all",),
        reads="Replacing one record changes the probability of no output by more than the factor "
        "{factor}.",
        source="Dwork, McSherry, Nissim & Smith 2006; theory 1",
        with_delta=True,
    ),
    PrivacyNotion(
        key="strong-dp",
        title="privacy against the strong adversary",
        definition="P[x_i | y, x_-i] / P[x_i' | y, x_-i] <= e^eps P[x_i | x_-i] / P[x_i' | x_-i] "
        "for every prior and every database x_-i of the others",
        parameters=(),
        quantifies_over="all priors, and adversaries who know every record but the one attacked",
        scopes=("all",),
        reads="For someone who knows every other record, the output "
        + _ODDS.format(what="the last one")
        + ".",
        source="Li, Qardaji, Su, Wu & Yang 2013; theory 5.1 b",
        with_delta=True,
    ),
    PrivacyNotion(
        key="group-dp",
        title="group privacy",
        definition="P[y | x] <= e^level P[y | x'] for all outputs y and all databases x, x' that "
        "differ in at most `size` records",
        parameters=("size",),
        quantifies_over="all pairs of databases that differ in at most `size` records",
        scopes=("all",),
        reads="Replacing {size} records at once changes the probability of no output by more than "
        "the factor {factor}.",
        source="Dwork & Roth 2014, Theorem 2.2; theory 5.1 b",
        with_delta=True,
    ),
    PrivacyNotion(
        key="bdp",
        title="Bayesian differential privacy, any adversary",
        definition="P[y | x_i, x_K] <= e^level P[y | x_i', x_K] for all outputs y, records i, sets "
        "K of others and values of positive probability; the unknown records follow the "
        "population given x_i and x_K",
        parameters=("population",),
        quantifies_over="records, sets of other records known exactly, and their possible values",
        scopes=("population", "family", "all"),
        reads="For anyone who knows the population and any of the other records, the output "
        + _ODDS.format(what="one record")
        + ".",
        source="Yang, Sato & Nakagawa 2015; theory 1",
        with_delta=True,
    ),
    PrivacyNotion(
        key="bdp-uninformed",
        title="Bayesian differential privacy, adversary without records (Bayesian_0)",
        definition="P[y | x_i] <= e^level P[y | x_i'] for all outputs y, records i and values of "
        "positive probability; all other records follow the population given x_i",
        parameters=("population",),
        quantifies_over="records and their possible values",
        scopes=("population", "family", "all"),
        reads="For anyone who knows the population and none of the records, the output "
        + _ODDS.format(what="one record")
        + ".",
        source="Tschantz, Sen & Datta 2020, Definition 3; theory 1",
        with_delta=True,
    ),
    PrivacyNotion(
        key="bdp-informed",
        title="Bayesian differential privacy, adversary who knows all others",
        definition="P[y | x] <= e^level P[y | x'] for all outputs y and all databases x, x' of "
        "positive probability that differ in one record",
        parameters=("population",),
        quantifies_over="pairs of possible databases that differ in one record",
        scopes=("population", "family", "all"),
        reads="For someone who knows every other record, the output "
        + _ODDS.format(what="the last one")
        + ", as long as the population admits both.",
        source="Yang, Sato & Nakagawa 2015; theory 1",
        with_delta=True,
    ),
    PrivacyNotion(
        key="independent-bdp",
        title="Bayesian differential privacy for independent records",
        definition="level-BDP (any adversary) for every population in which all records are "
        "mutually independent",
        parameters=(),
        quantifies_over="all product laws on the databases",
        scopes=("all",),
        reads="If the records are mutually independent, then for anyone who knows any of the "
        "others the output " + _ODDS.format(what="one record") + ".",
        source="Yang, Sato & Nakagawa 2015; Tschantz, Sen & Datta 2020, Definition 4 (corrected); "
        "theory 5.1 c",
        with_delta=True,
    ),
    PrivacyNotion(
        key="sp",
        title="semantic privacy",
        definition="TV(b_0[. | y], b_i[. | y]) <= level for every belief b on databases, record i "
        "and output y: b_0 is the posterior from the real mechanism, b_i the one from the "
        "mechanism run with record i replaced by the default",
        parameters=("default",),
        quantifies_over="all beliefs on databases, records and outputs",
        scopes=("all",),
        reads="Whatever someone believed, their final belief about the whole table differs from "
        "what it would be without your record by at most {points} percentage points for any event.",
        source="Kasiviswanathan & Smith 2014; Zhao 2019, Definition 1; theory 5.1 d",
        unit="probability",
    ),
    PrivacyNotion(
        key="bsp",
        title="Bayesian semantic privacy",
        definition="TV(b_0[x_i, x_S | y], b_i[x_i, x_S | y]) <= level for every record i, set S of "
        "others, output y and belief b on (x_i, x_S) that the population admits; all other "
        "records follow the population given (x_i, x_S), in the comparison given (default, x_S)",
        parameters=("population", "default"),
        quantifies_over="records, sets of others, and beliefs on both on the population's support",
        scopes=("population", "family", "all"),
        reads="Whatever someone believed about your record and some others, their final belief "
        "about these differs by at most {points} percentage points for any event from what it "
        "would be if your record were the default.",
        source="Zhao 2019, Definition 2; theory 5.1 e",
        unit="probability",
    ),
    PrivacyNotion(
        key="mp",
        title="membership privacy (positive)",
        definition="P[x_i | y, x_S] <= e^level P[x_i | x_S] and P[not x_i | y, x_S] >= e^-level "
        "P[not x_i | x_S] for every record i, known x_S, output y and belief on x_i; all other "
        "records follow the population given (x_i, x_S)",
        parameters=("population", "beliefs"),
        quantifies_over="records, known values of others, and beliefs on the attacked record",
        scopes=("population", "family", "all"),
        reads="The output multiplies the probability of a value of one record by at most {factor}, "
        "and that of it not being this value by no less than 1/{factor}.",
        source="Li, Qardaji, Su, Wu & Yang 2013; Zhao 2019, Definition 3; theory 5.1 f",
    ),
    PrivacyNotion(
        key="causal-do",
        title="causal effect of one record",
        definition="P[y | do(X_i = v)] <= e^level P[y | do(X_i = v')] for all outputs y, records i "
        "and values v, v'; the other records keep their own law",
        parameters=("population",),
        quantifies_over="records and values that one could set them to, possible or not",
        scopes=("population", "family", "all"),
        reads="Setting one record by intervention, all others left as they are, changes the "
        "probability of no output by more than the factor {factor}.",
        source="Tschantz, Sen & Datta 2020; theory 5.1 g",
        with_delta=True,
    ),
    PrivacyNotion(
        key="pufferfish",
        title="Pufferfish privacy",
        definition="P[y | s, pi] <= e^level P[y | s', pi] for all outputs y, discriminative pairs "
        "(s, s') of secrets and members pi of the family under which both are possible",
        parameters=("secrets", "pairs", "family"),
        quantifies_over="the declared pairs of secrets and the declared family",
        scopes=("population", "family"),
        reads="For anyone whose knowledge is a member of the declared family, the output "
        "multiplies the odds between the two secrets of any declared pair by at most {factor}.",
        source="Kifer & Machanavajjhala 2014; theory 5.1 h",
        with_delta=True,
    ),
)

CATALOGUE: Mapping[NotionKey, PrivacyNotion] = MappingProxyType(
    {notion.key: notion for notion in _NOTIONS}
)
"""Every notion by its key, from the classical ones to the relative ones."""
