"""Pufferfish: any secrets about any records, in declared pairs (theory 5.1 h).

#### h. Pufferfish

A secret is an event about the database; `pairs` of secrets must not be told apart. The level is the
largest `|ln P[y | s, pi] - ln P[y | s', pi]|` over outputs, pairs and members of the family under
which both have positive probability. *BDP is an instance*: the pairs "`x_i` and `x_K`" against
"`x_i'` and `x_K`", for all `i` and `K`, and the family `{pi}`. *A household's secret* is "somebody
here is ill" against "nobody here is": no single record's value. Without declared secrets the
profile takes "somebody has value v" against "nobody has", for every v.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesdp.arrays import Bools
from bayesdp.errors import InputError, check_keys, did_you_mean
from bayesdp.leakage.profile.model import (
    NOTHING,
    AttainedLevel,
    Index,
    LawAndChannel,
    Witness,
    larger,
)

SecretPair = tuple["Secret", "Secret"]


@dataclass(frozen=True, eq=False)
class Secret:
    """An event about the database: `databases` is True where it holds, one axis per record."""

    name: str
    databases: Bools

    def __invert__(self) -> Secret:
        """The secret that this secret does not hold."""
        return Secret(f"not {self.name}", ~self.databases)

    def __and__(self, other: Secret) -> Secret:
        """The secret that both hold."""
        return Secret(f"{self.name} and {other.name}", self.databases & other.databases)


def some(
    sizes: Index, records: Sequence[int], values: Sequence[int], name: str, at_least: int = 1
) -> Secret:
    """The secret that at least `at_least` of these records have one of these values.

    `sizes` are the numbers of values of all records; `records` and `values` are numbers from 0.
    """
    grid = np.indices(sizes)
    count = sum((np.isin(grid[j], values).astype(int) for j in records), np.zeros(sizes, int))
    return Secret(name, np.asarray(count >= at_least))


def pufferfish(models: Sequence[LawAndChannel], pairs: Sequence[SecretPair]) -> AttainedLevel:
    """The largest `|ln P[y | s] - ln P[y | s']|` over pairs, outcomes and members.

    A pair counts under a member that gives both secrets positive probability.
    """
    largest = NOTHING
    if not pairs:
        return largest
    events = np.stack([secret.databases.ravel() for pair in pairs for secret in pair]).astype(float)
    for member, model in enumerate(models):
        chance = events @ model.joint.ravel()
        flat = model.channel.reshape(-1, model.channel.shape[-1])
        hits = events @ (model.joint.reshape(-1, 1) * flat)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(hits / chance[:, None])
            differences = np.abs(logs[0::2] - logs[1::2])
        differences = np.where(np.isnan(differences), -1.0, differences)
        row, outcome = np.unravel_index(int(np.argmax(differences)), differences.shape)
        if differences[row, outcome] < 0.0:
            continue
        first, second = pairs[int(row)]
        if logs[2 * row, outcome] < logs[2 * row + 1, outcome]:
            first, second = second, first
        by = Witness(
            int(outcome),
            secrets=(first.name, second.name),
            member=member if len(models) > 1 else None,
        )
        largest = larger(largest, model.attained(float(differences[row, outcome]), by))
    return largest


def household_pairs(sizes: Index) -> tuple[SecretPair, ...]:
    """The default pairs: for each value that somebody has it, against that nobody has it."""
    out = []
    for value in range(max(sizes)):
        holders = [j for j in range(len(sizes)) if value < sizes[j]]
        somebody = some(sizes, holders, (value,), f"somebody has value {value}")
        out.append((somebody, Secret(f"nobody has value {value}", ~somebody.databases)))
    return tuple(out)


def declared_pairs(spec: Any, sizes: Index, key: str = "pufferfish") -> tuple[SecretPair, ...]:
    """The pairs in a spec. Raises `InputError` about `key` for anything else.

    `{"secrets": [{"name", "values", "records", "at_least"}...], "pairs": [[name, name]...]}`: a
    secret says that at least `at_least` (default 1) of `records` (default all) have one of
    `values`. Without `pairs` every secret is paired with its negation; `"not NAME"` names that.
    """
    if not isinstance(spec, Mapping) or not isinstance(spec.get("secrets"), list):
        raise InputError(key, spec, expected='{"secrets": [...]}, and maybe "pairs"')
    check_keys(key, spec, ("secrets", "pairs"))
    named: dict[str, Secret] = {}
    for position, declaration in enumerate(spec["secrets"]):
        secret = _declared(declaration, sizes, f"{key}.secrets[{position}]")
        if secret.name in named:
            raise InputError(f"{key}.secrets[{position}].name", secret.name, expected="a new name")
        named[secret.name] = secret
    named |= {f"not {name}": ~secret for name, secret in named.items()}
    pairs = spec.get("pairs")
    if pairs is None:
        return tuple((named[n], named[f"not {n}"]) for n in named if f"not {n}" in named)
    out = []
    for position, pair in enumerate(pairs if isinstance(pairs, list) else [pairs]):
        place = f"{key}.pairs[{position}]"
        if not isinstance(pair, list) or len(pair) != 2:
            raise InputError(place, pair, expected="two names of secrets")
        for name in pair:
            if not isinstance(name, str) or name not in named:
                raise InputError(
                    place, name, expected="a secret", remedy=did_you_mean(str(name), named)
                )
        out.append((named[pair[0]], named[pair[1]]))
    return tuple(out)


def _declared(given: Any, sizes: Index, key: str) -> Secret:
    if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
        raise InputError(key, given, expected='an object such as {"name": "ill", "values": [1]}')
    check_keys(key, given, ("name", "records", "values", "at_least"))
    records: Any = given.get("records", list(range(len(sizes))))
    values: Any = given.get("values")
    for name, wanted, below in (
        ("records", records, len(sizes)),
        ("values", values, max(sizes)),
    ):
        fits = isinstance(wanted, list) and wanted and all(_whole(v, below) for v in wanted)
        if not fits or len(set(wanted)) != len(wanted):
            raise InputError(
                f"{key}.{name}", wanted, expected=f"different whole numbers from 0 to {below - 1}"
            )
    at_least = given.get("at_least", 1)
    if not _whole(at_least, len(records) + 1) or at_least == 0:
        raise InputError(f"{key}.at_least", at_least, expected=f"from 1 to {len(records)}")
    return some(sizes, records, values, given["name"], at_least)


def _whole(value: Any, below: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < below
