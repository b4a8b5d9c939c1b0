"""All notions side by side, for one channel and one population or family (theory 5.1).

### 5.1 The notions, and how their levels are computed

`P[y | x]` is a channel with finitely many databases and outputs, `pi` a finite law. `bayesdp
profile` computes every level below; a level speaks about this channel, not about all mechanisms of
the same DP cost.

Levels are double-precision values; `error` in the profile bounds how far off they are. Each
evaluator is tested against posterior tables that are searched over beliefs
(`tests/oracles/notions.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from bayesdp.errors import InputError, UnsupportedError
from bayesdp.leakage.channel import record_namer, value_name
from bayesdp.leakage.profile.classical import (
    bayesian,
    differential_privacy,
    group_privacy,
    independent_records,
    strong_adversary,
)
from bayesdp.leakage.profile.deltas import Deltas, deltas
from bayesdp.leakage.profile.effects import causal_effect
from bayesdp.leakage.profile.membership import membership_privacy, membership_privacy_of_prior
from bayesdp.leakage.profile.model import (
    NOTHING,
    AttainedLevel,
    Index,
    LawAndChannel,
    larger,
    require_small,
)
from bayesdp.leakage.profile.pufferfish import (
    SecretPair,
    declared_pairs,
    household_pairs,
    pufferfish,
)
from bayesdp.leakage.profile.semantic import (
    bayesian_semantic_privacy,
    known_semantic_privacy,
    semantic_privacy,
)
from bayesdp.leakage.tensor import channel_of
from bayesdp.notions import (
    ADVERSARIES,
    CATALOGUE,
    Adversary,
    NotionClaim,
    NotionKey,
    ScopeKind,
)
from bayesdp.numbers import Exact, plain_number
from bayesdp.populations import Family, Population
from bayesdp.populations.joint import NoJointError, joint_of, sizes_of

Default = int | Sequence[int] | None

_MOST_JOINT = 2**20
"""Members of a family with more cells are refused."""
_BDP: Mapping[Adversary, NotionKey] = MappingProxyType(
    {"any": "bdp", "uninformed": "bdp-uninformed", "informed": "bdp-informed"}
)


@dataclass(frozen=True)
class Profile:
    """The exact level of every notion, and what attains it.

    `levels` has each key of the catalogue, in the notion's unit, infinite ones included, each right
    up to `error`. `group` holds the levels for groups of 1, 2, .. records. `bsp_known` is BSP
    for adversaries who know `x_S`, `mp_of_prior` MP for the population's own belief only.
    `default` is the value that replaces a record, one for each record; None stands for the worst
    of all. `default_covers` is False if the default is not possible beside every `x_S`: then
    `bsp` says nothing about those.
    """

    population: Population
    models: tuple[LawAndChannel, ...]
    levels: Mapping[NotionKey, AttainedLevel]
    group: tuple[AttainedLevel, ...]
    bsp_known: AttainedLevel
    mp_of_prior: AttainedLevel
    default: Index | None
    default_covers: bool
    error: float

    def level(self, notion: NotionKey) -> Exact:
        """The level of a notion in its unit; for `group-dp` that of all records at once."""
        return self.levels[notion].level

    @property
    def dp(self) -> Exact:
        """The DP level, on all databases."""
        return self.level("dp")

    @property
    def bdp(self) -> dict[Adversary, Exact]:
        """The BDP level for each class of adversaries."""
        return {name: self.level(_BDP[name]) for name in ADVERSARIES}

    @property
    def sp(self) -> Exact:
        """Semantic privacy, between 0 and 1."""
        return self.level("sp")

    @property
    def bsp(self) -> Exact:
        """Bayesian semantic privacy, between 0 and 1."""
        return self.level("bsp")

    @property
    def mp(self) -> Exact:
        """Positive membership privacy, over all beliefs on the attacked record."""
        return self.level("mp")

    @property
    def do(self) -> Exact:
        """The effect of setting one record by intervention."""
        return self.level("causal-do")

    @property
    def see(self) -> Exact:
        """The effect of seeing one record: the uninformed BDP level."""
        return self.level("bdp-uninformed")

    def delta(self, epsilon: float) -> Deltas:
        """The smallest delta of DP and BDP at `epsilon`; the largest over a family's members."""
        parts = [deltas(model, epsilon) for model in self.models]
        worst = {name: max(member.bdp[name] for member in parts) for name in ADVERSARIES}
        return Deltas(epsilon, parts[0].dp, worst)

    def claims(self) -> Iterator[NotionClaim]:
        """Every level as a claim with its scope: the level with its error, rounded up."""
        relative: ScopeKind = "family" if isinstance(self.population, Family) else "population"
        for key, attained in self.levels.items():
            notion = CATALOGUE[key]
            size = len(self.group) if key == "group-dp" else None
            level = min(attained.level.upper, notion.largest)
            if notion.relative:
                about = self.population.describe()
                yield NotionClaim(key, level, relative, about)
            else:
                yield NotionClaim(key, level, "all", size=size)

    def attained(self, level: AttainedLevel) -> str:
        """What attains a level, as a sentence without its full stop; empty if nothing does."""
        return _words(self.population, level)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `profile --json` prints it; infinite levels are None, and named."""
        named = {key: attained.level for key, attained in self.levels.items()}
        infinite = [key for key, level in named.items() if math.isinf(level)]
        return {
            "dp": plain_number(self.dp),
            "bdp": {name: plain_number(level) for name, level in self.bdp.items()},
            "sp": self.sp,
            "bsp": self.bsp,
            "mp": plain_number(self.mp),
            "causal": {"do": plain_number(self.do), "see": plain_number(self.see)},
            "strong_dp": plain_number(self.level("strong-dp")),
            "independent_bdp": plain_number(self.level("independent-bdp")),
            "group_dp": [plain_number(level.level) for level in self.group],
            "pufferfish": plain_number(self.level("pufferfish")),
            "bsp_known": self.bsp_known.level,
            "mp_of_prior": plain_number(self.mp_of_prior.level),
            "default": None if self.default is None else list(self.default),
            "default_covers": self.default_covers,
            "infinite": infinite,
            "error": self.error,
            "scope": "family" if isinstance(self.population, Family) else "population",
            "attained_by": {
                key: None if attained.by is None else attained.by.to_dict()
                for key, attained in self._all()
            },
            "words": {key: self.attained(attained) for key, attained in self._all()},
        }

    def _all(self) -> Iterator[tuple[str, AttainedLevel]]:
        yield from self.levels.items()
        yield "bsp-known", self.bsp_known
        yield "mp-of-prior", self.mp_of_prior


def profile(
    population: Population,
    channel: Any,
    default: Default = None,
    *,
    secrets: Mapping[str, Any] | None = None,
) -> Profile:
    """The exact level of every notion of the catalogue for one channel, and what attains it.

    `channel` is a nested array `P[y | x]`: one axis for each record, the last for outcomes, rows
    that sum to 1 within 1e-9. The population must be a finite law over as many records, or a
    family of such laws: then relative levels are the largest over its members. `default` is the
    value (its number) that replaces a record in `sp` and `bsp`: one for all records, or one for
    each; by default the worst of all. `secrets` declares Pufferfish secrets and pairs (theory
    5.1 h); by default, for every value, "somebody has it" against "nobody has it". Raises
    `InputError` naming the argument, `UnsupportedError` for what has no small law. Source: theory
    5.1.

    >>> from bayesdp.populations import Finite
    >>> twins = Finite(probabilities=[[0.5, 0.0], [0.0, 0.5]])
    >>> half = profile(twins, [[[0.75, 0.25], [0.5, 0.5]], [[0.5, 0.5], [0.25, 0.75]]])
    >>> round(half.dp, 4), round(half.bdp["any"], 4), round(half.do, 4)
    (0.6931, 1.0986, 0.5108)
    """
    members = population.members if isinstance(population, Family) else (population,)
    models = _models(members, channel)
    sizes = models[0].sizes
    default_values = _defaults(default, sizes)
    tried = [tuple(range(size)) for size in sizes]
    if default_values is not None:
        tried = [(value,) for value in default_values]
        for model in models:
            _require_possible(model, default_values)
    pairs = household_pairs(sizes) if secrets is None else declared_pairs(secrets, sizes)
    return _evaluated(population, models, tried, default_values, pairs)


def _evaluated(
    population: Population,
    models: tuple[LawAndChannel, ...],
    tried: Sequence[Sequence[int]],
    chosen: Index | None,
    pairs: Sequence[SecretPair],
) -> Profile:
    first = models[0]
    group = group_privacy(first)
    levels: dict[NotionKey, AttainedLevel] = {
        "dp": differential_privacy(first),
        "strong-dp": strong_adversary(first),
        "group-dp": group[-1],
        "independent-bdp": independent_records(first),
        "sp": semantic_privacy(first, tried),
        "pufferfish": pufferfish(models, pairs),
    }
    bsp_known = of_prior = NOTHING
    for number, model in enumerate(models):
        relative: dict[NotionKey, AttainedLevel] = {
            _BDP[name]: level for name, level in bayesian(model).items()
        }
        relative |= {
            "bsp": bayesian_semantic_privacy(model, tried),
            "mp": membership_privacy(model),
            "causal-do": causal_effect(model),
        }
        many = len(models) > 1
        for key, attained in relative.items():
            levels[key] = larger(levels.get(key, NOTHING), _of_member(attained, number, many))
        known, prior = known_semantic_privacy(model, tried), membership_privacy_of_prior(model)
        bsp_known = larger(bsp_known, _of_member(known, number, many))
        of_prior = larger(of_prior, _of_member(prior, number, many))
    ordered = MappingProxyType({key: levels[key] for key in CATALOGUE})
    return Profile(
        population,
        models,
        ordered,
        group,
        bsp_known,
        of_prior,
        chosen,
        chosen is None or all(_covers(model, chosen) for model in models),
        first.error,
    )


def _models(members: Sequence[Population], channel: Any) -> tuple[LawAndChannel, ...]:
    """One model for each member; the channel is checked against the first member's records."""
    models: list[LawAndChannel] = []
    for member in members:
        try:
            sizes = sizes_of(member)
            if models and sizes != models[0].sizes:
                raise InputError(
                    "population.members",
                    f"records of {models[0].sizes} and of {sizes} values",
                    expected="members about the same records",
                )
            checked = models[0].channel if models else None
            if checked is None:
                require_small(sizes, 1)
                checked = channel_of(channel, sizes)
                require_small(sizes, checked.shape[-1])
            models.append(LawAndChannel.of(joint_of(member, _MOST_JOINT), checked))
        except NoJointError as error:
            raise UnsupportedError(
                "population",
                member.model,
                expected="a finite law of few records, or a family of such laws",
                remedy=f"Here {error}." if str(error).startswith("the ") else f"Here: {error}.",
            ) from None
    return tuple(models)


def _defaults(default: Default, sizes: Index) -> Index | None:
    """The default of each record, checked."""
    if default is None:
        return None
    values: list[Any] = [default] * len(sizes)
    if isinstance(default, list | tuple):
        values = list(default)
    fits = len(values) == len(sizes) and all(
        isinstance(value, int) and not isinstance(value, bool) and 0 <= value < size
        for value, size in zip(values, sizes, strict=False)
    )
    if not fits:
        raise InputError(
            "default",
            default,
            expected="the number of a value that every record has, or one such number for each "
            f"record; they have {', '.join(map(str, sizes))} values, counted from 0",
        )
    return tuple(values)


def _require_possible(model: LawAndChannel, default: Index) -> None:
    """`InputError` for a default that a record never has: `bsp` would say nothing."""
    for i, value in enumerate(default):
        law = model.joint.sum(axis=tuple(j for j in range(model.records) if j != i))
        if law[value] == 0.0:
            raise InputError(
                "default",
                value,
                expected=f"a value that record {i} has with positive probability",
                remedy="Bayesian semantic privacy replaces the record by something possible.",
            )


def _covers(model: LawAndChannel, default: Index) -> bool:
    """Whether the default is possible beside every possible setting of the others."""
    for i, value in enumerate(default):
        others = model.joint.sum(axis=i) > 0.0
        if bool((others & (model.joint.take(value, axis=i) == 0.0)).any()):
            return False
    return True


def _of_member(level: AttainedLevel, number: int, many: bool) -> AttainedLevel:
    if level.by is None or not many:
        return level
    return replace(level, by=replace(level.by, member=number))


def _words(population: Population, attained: AttainedLevel) -> str:
    by = attained.by
    if by is None or attained.level == 0.0:
        return ""
    name = record_namer(population)

    def at(records: Index, values: Index) -> str:
        pairs = zip(records, values, strict=True)
        return ", ".join(f"{name(j)} = {value_name(population, j, v)}" for j, v in pairs)

    sentence = f"outcome {by.outcome}"
    if by.secrets is not None:
        sentence += f": '{by.secrets[0]}' against '{by.secrets[1]}'"
    elif by.unlikely:
        sentence += f": {at(by.records, by.likely)} against {at(by.records, by.unlikely)}"
    else:
        sentence += f": {at(by.records, by.likely)}"
    if by.known:
        sentence += f", to one who knows {at(by.known, by.known_values)}"
    if by.default is not None and by.record is not None:
        sentence += f", where {name(by.record)} is replaced by "
        sentence += value_name(population, by.record, by.default)
    if by.member is not None:
        sentence += f", under member {by.member}"
    return sentence + (", in the limit of beliefs" if by.limit else "")
