"""Changes of one place of a document: every leaf, list and object, each to values of all sorts."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Iterator
from typing import Any

Path = tuple[Any, ...]
HOSTILE: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 0.5, -1.0, 1e308, -1e308, 5e-324, 10**18, 10**400, math.inf,
    "nan", "1", "", "any", [], {}, [0.0, 1.0], [[]], {"a": 1},
)  # fmt: skip


def leaves(node: Any, path: Path = ()) -> Iterator[Path]:
    """Every place of a document but the whole: leaves, lists and objects."""
    if path:
        yield path
    if isinstance(node, dict | list):
        inside = node.items() if isinstance(node, dict) else enumerate(node)
        for key, part in inside:
            yield from leaves(part, (*path, key))


def at(document: Any, path: Path) -> Any:
    """What stands at a place."""
    for key in path:
        document = document[key]
    return document


def put(document: Any, path: Path, value: Any) -> Any:
    """A copy of the document with another value at a place."""
    changed = copy.deepcopy(document)
    at(changed, path[:-1])[path[-1]] = copy.deepcopy(value)
    return changed


def named(path: Path) -> str:
    """A place without its numbers in lists."""
    return ".".join("*" if isinstance(key, int) else str(key) for key in path)


def others(value: Any) -> Iterator[Any]:
    """Values of all sorts, and those that are near to this one."""
    yield from HOSTILE
    if isinstance(value, bool):
        yield int(value)
    elif isinstance(value, int | float):
        yield from (2 * value, value / 2, -value, str(value), value + 1, value * (1 - 1e-9))
        yield math.nextafter(value, math.inf)
        yield from ([value], float(value) if abs(value) < 1e300 else value)
    elif isinstance(value, str):
        yield from (value + " ", value.upper(), [value], {value: 1}, value + "\u202e")
    elif isinstance(value, list):
        yield from (value[::-1], value + value, value[:-1], value[1:], [*value, None])
        yield dict.fromkeys(map(str, value))
        if value:
            yield [*value, value[0]]
    elif isinstance(value, dict):
        yield from (list(value), value | {"note": 1}, [value])
        for key in value:
            yield {item: part for item, part in value.items() if item != key}


def other_values(document: Any, path: Path) -> Iterator[Any]:
    """What may stand at a place of a document instead of what does."""
    value = at(document, path)
    for other in others(value):
        if type(other) is not type(value) or other != value:
            yield other


# -- what is harmless, and why ----------------------------------------------------------------

_WEAKER = re.compile(
    r"claim\.(epsilon|delta)|data_set\.delta|claim\.claims\..*level|derivation(\.premises\.\*)*(\.evidence\.conversion)?"
    r"\.conclusion\.(epsilon|level|claims.*)"
)
_LEDGER = re.compile(r"data_set\.earlier_spends.*")
_WITNESS = re.compile(
    r".*\.details(\.proofs.*|\.steps|\.closed.*|\.messages.*|\.radius|\.row_sums.*|\.target)?|.*\.entering|.*\.delta\.alpha\.\*"
)
_VALUE = re.compile(r"results\.\*\.value")
_ERROR = re.compile(r"results\.\*\.(error|simultaneous|rank_error)\.(confidence|value|rows)")
_GROUP = re.compile(r"results\.\*\.group")
_BETWEEN = re.compile(r"results\.\*\.between\.confidence")
_COMPUTED = re.compile(r"results\.\*\.(outputs|releases).*")
_PROGRAM = re.compile(r".*\.evidence\.program\..*")
_DECLARED = re.compile(r"columns(\..*)?|.*\.query\.(bins\.\*|candidates\.\*|probability)")
_CAP = re.compile(r".*\.query\.(max_\w+|total_bounds(\.\*)?)")
PROGRAM = "another program with the same cost: the text itself is the statement"
DECLARED = "another declaration, which says no two things: the rules are about that one"
_LESS = ("details", "block")
"""A proof is a witness; and a spend on no block alone counts for all records."""
_WHERE = re.compile(r".*\.where")
_BLOCK = re.compile(r".*\.spend\.block(\.values(\.\*)?)?")
_ORDER = re.compile(
    r"population\.covers|.*\.evidence\.covers|.*\.reads|columns.*|.*\.query\.column|.*\.query\.by"
)


def _same_but_for_groups(old: list[Any], new: list[Any]) -> bool:
    """Whether results are the same, in the same order, but for groups that are not shown."""
    left = [result for result in old if result in new or result["kind"] != "found_groups"]
    return new == left


def why_harmless(path: Path, old: Any, new: Any) -> str | None:
    """Why a certificate with this change may be valid; `None` if it may not."""
    name = named(path)
    numbers = all(isinstance(item, int | float) and type(item) is not bool for item in (old, new))
    if numbers and old == new:
        return "1 and 1.0 are one number"
    if numbers and old <= new <= old * (1 + 1e-9) + 1e-300:
        return "a sum is rounded up"
    if _WEAKER.fullmatch(name) and numbers and new > old:
        return "a claim may be weaker than what follows"
    if name.endswith("conclusion.delta") and numbers and 0 < new < old:
        return "what follows at a smaller delta follows at a larger one"
    if _BLOCK.fullmatch(name):
        return "engines may take these texts for one, or the block is larger than need be"
    if _WITNESS.fullmatch(name):
        return "a witness of a proof: another one proves no more than what is claimed"
    if _LEDGER.fullmatch(name):
        return "what the ledger says of earlier releases is assumed"
    if _VALUE.fullmatch(name) and numbers:
        return "released values are whole steps, or candidates, and which is random"
    if _ERROR.fullmatch(name) and numbers:
        weaker = new < old if name.endswith("confidence") else new > old
        return "an error may be larger, or less certain" if weaker else None
    if _GROUP.fullmatch(name) and isinstance(old, str) and isinstance(new, str):
        return "which groups are found in the data is what the release tells"
    if name == "results" and isinstance(new, list) and _same_but_for_groups(old, new):
        return "of groups that are found in the data, any may be too small to be shown"
    if _BETWEEN.fullmatch(name) and numbers:
        return "an interval of few numbers is the same at another confidence"
    if _COMPUTED.fullmatch(name):
        return "what a program returned is assumed"
    if _PROGRAM.fullmatch(name):
        return PROGRAM
    if _WHERE.fullmatch(name) and isinstance(new, str) and new.strip() == old.strip():
        return "a space after a condition"
    if _DECLARED.fullmatch(name):
        return DECLARED
    if _CAP.fullmatch(name) and _counts_less(path, old, new):
        return "less of a record counts than what the noise is for"
    if _ORDER.fullmatch(name) and type(new) is type(old) and _sorted(old) == _sorted(new):
        return "columns in another order"
    if name == "population.source" or (name == "population" and _bare(old) == _bare(new)):
        return "who vouches for a population stands among the assumptions"
    if isinstance(old, dict) and isinstance(new, dict) and new.items() <= old.items():
        absent = [
            part
            for key, part in old.items()
            if not (key in new or key in _LESS or _DECLARED.fullmatch(f"{name}.{key}"))
        ]
        return "an absent part is 0, or none" if all(_nothing(part) for part in absent) else None
    return None


def _counts_less(path: Path, old: Any, new: Any) -> bool:
    """Whether a cap of a query lets no more through than the old one does."""
    if isinstance(old, list):
        return (
            isinstance(new, list)
            and list(map(type, new)) == [float, float]
            and old[0] <= new[0] < new[1] <= old[1]
        )
    numbers = isinstance(new, int | float) and type(new) is not bool
    lower_end = path[-1] == 0
    return numbers and (new >= old if lower_end else new <= old)


def _bare(population: Any) -> Any:
    if not isinstance(population, dict):
        return population
    return {key: part for key, part in population.items() if key != "source"}


def _nothing(part: Any) -> bool:
    if isinstance(part, dict):
        return all(_nothing(value) for value in part.values())
    return part in (None, 0.0, [])


def _sorted(node: Any) -> str:
    return json.dumps(
        sorted(map(json.dumps, node)) if isinstance(node, list) else node, sort_keys=True
    )
