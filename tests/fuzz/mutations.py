"""Random damage to documents, texts and bytes that were valid."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

NUMBERS: tuple[Any, ...] = (
    *(0, 1, -1, 2, 3, 7, 100, 10**6, 2**31, 2**53, 2**53 + 1, 2**63, 2**64, 10**30, 10**400),
    *(0.0, -0.0, 0.5, 1.0, 1e-300, 5e-324, 1e300, 1.7976931348623157e308, -1e308, 1e-12, 1e12),
    *(0.1, 0.9999999999999999, 1.0000000000000002, float("inf"), float("nan"), True, None),
)
TEXTS = (
    *("", " ", "a", "any", "dp", "bdp", "markov", "stationary", "from data", "../../etc/passwd"),
    *("=1+1", "<script>alert(1)</script>", "\x1b[31mred", "\u202eabc", "a\u0000b", "\ud83d\ude00"),
    *(
        "1",
        "1e5",
        "nan",
        "x" * 300,
        "𝔘𝔫𝔦",
        "é",
        "e\u0301",
        "a\nb",
        "a\tb",
        "'",
        '"',
        "\\",
        "${HOME}",
    ),
    *(
        "a == 1",
        "x > 0 and (y < 1",
        "not not a",
        "(" * 60 + "a" + ")" * 60,
        "%s%n",
        "{0}",
        "[red]x",
    ),
)
WORDS = (
    *("model", "size", "transition", "length", "records", "probabilities", "factors"),
    *("between", "table", "edges", "grid", "states", "precision", "covariance"),
    *("coefficient", "members", "order", "initial", "kind", "column", "where", "by"),
    *("weighted_by", "bounds", "role", "cuts", "epsilon", "delta", "noise", "spend"),
    *("source", "population", "budget", "query", "unit", "n", "max_rows"),
)


def parts(document: Any) -> list[tuple[Any, Any]]:
    """Every place of a document: a container and a key or an index."""
    places: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting:
        container = waiting.pop()
        keys = container if isinstance(container, dict) else range(len(container))
        for key in keys:
            places.append((container, key))
            if isinstance(container[key], dict | list):
                waiting.append(container[key])
    return places


def damaged(document: Any, random: Random, most: int = 3) -> Any:
    """A copy of a document of tables and lists in which a few parts are changed."""
    document = copy.deepcopy(document)
    for _ in range(random.randint(1, most)):
        places = parts(document)
        if not places:
            break
        container, key = random.choice(places)
        _change(container, key, document, random)
    return document


def _is_double(value: Any) -> bool:
    """A number that doubles hold: whole numbers may be larger."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and not 2**1000 < abs(value) < float("inf")


def _change(container: Any, key: Any, document: Any, random: Random) -> None:
    value = container[key]
    action = random.randrange(9)
    if action == 0:
        del container[key]
    elif action == 1:
        container[key] = random.choice(NUMBERS)
    elif action == 2:
        container[key] = random.choice(TEXTS)
    elif action == 3:
        other, place = random.choice(parts(document))
        container[key] = copy.deepcopy(other[place])
    elif action == 4 and _is_double(value):
        container[key] = random.choice(
            [-value, value + 1, value * 2, value / 2, value * 1e-12, value * (1 + 1e-15), [value]]
        )
    elif action == 5 and isinstance(container, list):
        container[key:key] = [copy.deepcopy(value)] * random.choice([1, 2, 5, 40])
    elif action == 6 and isinstance(value, dict):
        value[random.choice([*WORDS, *TEXTS])] = random.choice([*NUMBERS, *TEXTS, [], {}])
    elif action == 7 and isinstance(value, str):
        container[key] = text_damaged(value, random)
    else:
        nested: Any = value
        for _ in range(random.choice([1, 2, 10, 60])):
            nested = [nested] if random.random() < 0.5 else {"a": nested}
        container[key] = random.choice([nested, [], {}, [value, value]])


def text_damaged(text: str, random: Random, most: int = 3) -> str:
    """A text with a few pieces dropped, doubled, moved or put in."""
    for _ in range(random.randint(1, most)):
        start = random.randint(0, len(text))
        stop = min(len(text), start + random.choice([0, 1, 1, 2, 5, 20, 200]))
        piece = text[start:stop]
        put = random.choice(
            [
                *("", "", piece * 2, piece[::-1], piece.upper(), random.choice(TEXTS)),
                str(random.choice(NUMBERS)),
                random.choice(WORDS),
                chr(random.choice([0, 9, 10, 13, 34, 39, 44, 59, 91, 123, 0x202E, 0x2028, 0xFEFF])),
            ]
        )
        text = text[:start] + put + text[stop:]
        if random.random() < 0.1:
            other = random.randint(0, len(text))
            text = text[:other] + piece + text[other:]
    return text


def bytes_damaged(content: bytes, random: Random, most: int = 4) -> bytes:
    """Bytes with a few flipped, cut, doubled or put in."""
    changed = bytearray(content)
    for _ in range(random.randint(1, most)):
        place = random.randint(0, max(len(changed) - 1, 0))
        action = random.randrange(6)
        if action == 0 and changed:
            changed[place] ^= 1 << random.randrange(8)
        elif action == 1 and changed:
            changed[place] = random.choice([0, 1, 0x7F, 0x80, 0xFF, 10, 13, 34, 44])
        elif action == 2:
            del changed[place : place + random.choice([1, 4, 100])]
        elif action == 3:
            changed[place:place] = changed[place : place + random.choice([1, 4, 100])]
        elif action == 4:
            changed[place : place + 4] = random.choice(
                [b"\xff\xff\xff\x7f", b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x01\0\0\0"]
            )
        elif random.random() < 0.2:
            del changed[place:]
    return bytes(changed)


def as_json(document: Any, random: Random) -> str:
    """The text of a document; some have a key twice."""
    try:
        text = json.dumps(document, ensure_ascii=random.random() < 0.5)
    except (ValueError, RecursionError):
        return "[" * 5000 + "]" * 5000
    if random.random() < 0.05 and text.startswith("{") and len(text) > 2:
        text = text[:-1] + ", " + text[1:]
    return text
