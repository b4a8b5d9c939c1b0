"""A random forger: changes a certificate as somebody would who knows what the kernel compares.

It combines parts of two valid certificates, repeats entries of lists, adds keys of other models,
swaps words, names and numbers, moves entries and changes kinds of values. What is changed in one
place is changed wherever the same stands (most of the time), and assumptions and digest are made
anew. What a valid forgery really says is decided by `tests.kernel.truth`.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from bayesdp import kernel
from bayesdp.certificate import content_of, digest
from tests.kernel.all_kinds import POPULATIONS
from tests.kernel.leaves import DECLARED, HOSTILE, PROGRAM, at, leaves, named, why_harmless

Document = dict[str, Any]
Rng = np.random.Generator
Path = tuple[Any, ...]
_FIXED = {"digest", "format", "version", "assumptions", "not_protected", "rounding"}
_OTHER_KEYS: dict[str, tuple[Any, ...]] = {
    "parent": ("a",), "parents": ([], ["a"]), "law": ([0.5, 0.5],), "edges": ([], [[0, 1]]),
    "transition_lower": ([[0.1, 0.1], [0.1, 0.1]],), "initial": ([0.9, 0.9], "stationary"),
    "transition_upper": ([[0.9, 0.9], [0.9, 0.9]],), "size": (1, 2), "records": (1, 2, 4),
    "covariance": ([[1.0]], [[1.0, 0.99], [0.99, 1.0]]), "precision": ([[1.0]],),
    "factors": ([], [{"between": [0, 1], "table": [[1e3, 1], [1, 1e3]]}]), "length": (1, 4),
    "max_correlation": (0.0,), "order": (1, 2), "complete": (True, "perhaps"), "public": (True,),
    "independent": (True,), "role": ("cluster", "order"), "cuts": ([2.0],), "from": ("x", "ill"),
    "block": ({"column": "day", "values": [1]},), "tightness": ("mechanism",), "rho": (0.0,),
    "bounds": ([0.0, 1.0],), "states": ([0, 1], ["a", "a"], 2), "where": ("ill == 1", "day == 1"),
    "by": ("day", "ill"), "interval": ([0.0, 5.0], None), "bif": ("a.bif",), "grid": ([1, 1],),
    "roles": (["a", "b"],), "columns": (["x"],), "probabilities": ([0.5, 0.5],),
    "coefficient": (0.0,), "missing": ("refuse", {"impute": 0}, {"codes": [9], "impute": 1}),
    "sensitivity": (1,), "codes": ([0], [1.0], [True], []),
}  # fmt: skip


def forged(rng: Rng, base: Document, other: Document) -> Document:
    """The first certificate after one to three moves or more, with parts of the second."""
    document = copy.deepcopy(base)
    left = int(rng.integers(1, 4))
    while left > 0 or document == base:  # a move may find nothing to change
        places = [path for path in leaves(document) if path[0] not in _FIXED]
        path = places[int(rng.integers(len(places)))]
        _MOVES[int(rng.integers(len(_MOVES)))](rng, document, path, other)
        left -= 1
    try:
        if rng.random() < 0.95:
            document["assumptions"] = _assumptions(document)
    except Exception:  # what no assumptions can be derived of keeps those that it has
        pass
    try:
        return document | {"digest": digest(content_of(document))}
    except (TypeError, ValueError):
        return document


def _assumptions(document: Document) -> list[str]:
    rule = document["derivation"]["rule"]
    if rule == "relations":
        return kernel.relation_assumptions(document)
    return document["assumptions"] if rule == "program" else kernel.assumptions(document)


def _put(rng: Rng, document: Document, path: Path, new: Any) -> None:
    """A new value at a place, and wherever a key of the same name holds the same."""
    old = copy.deepcopy(at(document, path))
    at(document, path[:-1])[path[-1]] = copy.deepcopy(new)
    if rng.random() < 0.8:
        for twin in [leaf for leaf in leaves(document) if leaf[-1] == path[-1] and leaf != path]:
            try:
                if twin[0] not in _FIXED and json.dumps(at(document, twin)) == json.dumps(old):
                    at(document, twin[:-1])[twin[-1]] = copy.deepcopy(new)
            except (LookupError, TypeError):
                continue  # it stood inside of what was changed already


def _hostile(rng: Rng, document: Document, path: Path, other: Document) -> None:
    _put(rng, document, path, HOSTILE[int(rng.integers(len(HOSTILE)))])


def _near(rng: Rng, document: Document, path: Path, other: Document) -> None:
    value = at(document, path)
    if isinstance(value, bool):
        _put(rng, document, path, int(value))
    elif isinstance(value, int | float):
        value = value if abs(value) < 1e300 else 1
        factor = [0.5, 0.9, 0.999, 1 - 1e-9, 2, -1][int(rng.integers(6))]
        moved = value - 1 if isinstance(value, int) and rng.random() < 0.5 else value * factor
        whole = isinstance(value, int) and float(moved).is_integer()
        _put(rng, document, path, int(moved) if whole else moved)
    elif isinstance(value, str):
        words = [at(document, leaf) for leaf in leaves(document)]
        texts = [word for word in words if isinstance(word, str)]
        _put(rng, document, path, texts[int(rng.integers(len(texts)))])


def _repeat(rng: Rng, document: Document, path: Path, other: Document) -> None:
    value = at(document, path)
    if isinstance(value, list) and value:
        place, times = int(rng.integers(len(value))), int(rng.integers(1, 4))
        changed = [*value, *[value[place]] * times]
        _put(rng, document, path, changed)


def _drop(rng: Rng, document: Document, path: Path, other: Document) -> None:
    value = at(document, path)
    if isinstance(value, list) and value:
        place = int(rng.integers(len(value)))
        _put(rng, document, path, value[:place] + value[place + 1 :])
    elif isinstance(value, dict) and value:
        gone = list(value)[int(rng.integers(len(value)))]
        _put(rng, document, path, {key: part for key, part in value.items() if key != gone})


def _key(rng: Rng, document: Document, path: Path, other: Document) -> None:
    """A key of another model, column, query or spend."""
    value = at(document, path)
    if isinstance(value, dict):
        names = list(_OTHER_KEYS)
        name = names[int(rng.integers(len(names)))]
        values = _OTHER_KEYS[name]
        _put(rng, document, path, value | {name: values[int(rng.integers(len(values)))]})


def _graft(rng: Rng, document: Document, path: Path, other: Document) -> None:
    """What the other certificate has under a key of this name, or at this place."""
    twins = [leaf for leaf in leaves(other) if leaf[-1] == path[-1]]
    if twins:
        _put(rng, document, path, at(other, twins[int(rng.integers(len(twins)))]))


def _merge(rng: Rng, document: Document, path: Path, other: Document) -> None:
    """Both certificates' keys in one object, or both lists one after the other."""
    value = at(document, path)
    twins = [at(other, leaf) for leaf in leaves(other) if leaf[-1] == path[-1]]
    alike = [twin for twin in twins if type(twin) is type(value) and isinstance(twin, dict | list)]
    if alike:
        chosen = alike[int(rng.integers(len(alike)))]
        both = value | chosen if isinstance(value, dict) else value + chosen
        _put(rng, document, path, both)


def _move(rng: Rng, document: Document, path: Path, other: Document) -> None:
    """An entry of one list in another."""
    lists = [leaf for leaf in leaves(document) if isinstance(at(document, leaf), list)]
    here = [values for values in lists if at(document, values)]
    if here:
        source = here[int(rng.integers(len(here)))]
        target = lists[int(rng.integers(len(lists)))]
        entries = at(document, source)
        entry = copy.deepcopy(entries[int(rng.integers(len(entries)))])
        at(document, target).append(entry)
        if rng.random() < 0.5 and entry in entries:
            entries.remove(entry)


def _population(rng: Rng, document: Document, path: Path, other: Document) -> None:
    """Another population in the declaration and in the evidence, under the level that stands."""
    spec = list(POPULATIONS.values())[int(rng.integers(len(POPULATIONS)))]
    declared = document.get("population")
    if isinstance(declared, dict):
        mixed = declared | spec if rng.random() < 0.5 else spec | declared
        kept = {key: declared[key] for key in ("source", "covers") if key in declared}
        document["population"] = copy.deepcopy(mixed) | kept
        for leaf in leaves(document):
            if leaf[-1] == "population" and len(leaf) > 1:
                bare = {k: v for k, v in mixed.items() if k not in ("source", "covers")}
                with suppress(
                    LookupError, TypeError
                ):  # it stood inside of what was changed already
                    at(document, leaf[:-1])["population"] = copy.deepcopy(bare)


Move = Callable[[Rng, Document, Path, Document], None]
_MOVES: tuple[Move, ...] = (
    _hostile, _near, _near, _repeat, _repeat, _drop, _key, _key, _graft, _graft, _merge, _move,
    _population,
)  # fmt: skip


# -- what changed ------------------------------------------------------------------------------


def only_harmless(base: Document, document: Document) -> bool:
    """Whether every place that differs is one that may: by the list of single changes.

    What another declaration or another program means is left to `truth`.
    """
    return all(
        why_harmless(path, old, new) not in (None, DECLARED, PROGRAM)
        or named(path) == "assumptions"
        for path, old, new in _differences(base, document)
    )


def _differences(old: Any, new: Any, path: Path = ()) -> list[tuple[Path, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict) and set(old) == set(new):
        keys: list[Any] = [key for key in old if (*path, key) != ("digest",)]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        keys = list(range(len(old)))
    else:
        return [] if json.dumps(old) == json.dumps(new) else [(path, old, new)]
    if path == ("assumptions",):
        return []
    return [
        difference for key in keys for difference in _differences(old[key], new[key], (*path, key))
    ]


__all__ = ["forged", "only_harmless"]
