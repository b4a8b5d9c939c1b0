"""Certificates: what was claimed, why it holds, and what it rests on, as data.

A certificate is a derivation tree. The root states the level of a release; under it stands the
conversion (one theorem), under that the composition of DP costs, under that one step for each
query. `bayesdp verify` re-derives every step without the data.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from bayesdp.errors import InputError, text_of_file
from bayesdp.strict_json import no_number

FORMAT = "bayesdp-certificate"
VERSION = 1
OUTSIDE = ("digest", "signature")
"""The parts of a document that its digest doesn't cover."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a derivation: a rule (a theorem's name), its conclusion, evidence and premises."""

    rule: str
    conclusion: Mapping[str, Any]
    evidence: Mapping[str, Any] = field(default_factory=dict)
    premises: tuple[Step, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The step as plain data for JSON, with the steps below it."""
        return {
            "rule": self.rule,
            "conclusion": dict(self.conclusion),
            "evidence": dict(self.evidence),
            "premises": [premise.to_dict() for premise in self.premises],
        }

    @classmethod
    def from_dict(cls, data: object, key: str = "derivation") -> Step:
        """The inverse of `to_dict`. Raises `InputError` naming the step where data is malformed."""
        if not isinstance(data, Mapping):
            raise InputError(key, data, expected="a step of a derivation, an object")
        keys = (
            ("rule", str, "a text"),
            ("conclusion", Mapping, "an object"),
            ("evidence", Mapping, "an object"),
            ("premises", list, "a list of steps"),
        )
        for name, kind, expected in keys:
            if not isinstance(data.get(name), kind):
                raise InputError(f"{key}.{name}", data.get(name), expected=expected)
        return cls(
            data["rule"],
            data["conclusion"],
            data["evidence"],
            tuple(
                cls.from_dict(premise, f"{key}.premises[{i}]")
                for i, premise in enumerate(data["premises"])
            ),
        )


@dataclass(frozen=True, slots=True)
class Certificate:
    """A release's certificate.

    `body` holds what was released and under which assumptions; `derivation` why the level holds.
    The digest is over both: it detects damage, and says nothing about who wrote the certificate. A
    signature (`bayesdp.signature`) is not a part of either.

    `stated_digest` is the digest that stood in the document from which this was read, `None` where
    it was made here. `signature_part` is that document's part `"signature"`, as a mapping with this
    key, empty where it had none. A damaged certificate keeps its digest, and one that was changed
    keeps its signature, so it stays one that no verifier accepts.
    """

    body: Mapping[str, Any]
    derivation: Step
    stated_digest: str | None = field(default=None, compare=False, repr=False)
    signature_part: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    _own_digest: str | None = field(default=None, init=False, compare=False, repr=False)

    @property
    def intact(self) -> bool:
        """Whether the content agrees with the digest that was read with it."""
        if self.stated_digest is None:
            return True
        try:
            return self.stated_digest == digest(self._content())
        except (TypeError, ValueError, RecursionError):  # not JSON, so no digest agrees with it
            return False

    def to_dict(self) -> dict[str, Any]:
        """Plain data with format, version and digest: the stated digest, if it was read.

        A signature that was read is kept. The digest is computed once: a body that is changed after
        that no longer agrees with it.
        """
        content = self._content()
        if self.stated_digest is None and self._own_digest is None:
            object.__setattr__(self, "_own_digest", digest(content))
        outside = {"digest": self.stated_digest or self._own_digest, **self.signature_part}
        return content | outside

    def _content(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            **self.body,
            "derivation": self.derivation.to_dict(),
        }

    def to_json(self) -> str:
        """The certificate as a JSON document. Lists of plain values stand on one line."""
        return in_short(self.to_dict())

    @classmethod
    def from_dict(cls, data: object) -> Certificate:
        """The inverse of `to_dict`. Raises `InputError` unless it is of this version."""
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            raise InputError(
                "CERT",
                expected="a bayesdp certificate",
                remedy=f'It has "format": "{FORMAT}".',
                shown=False,
            )
        if data.get("version") != VERSION or type(data["version"]) is not int:
            raise InputError(
                "CERT.version",
                data.get("version"),
                expected=f"{VERSION}",
                remedy="Another version of bayesdp wrote it: verify it with that version.",
            )
        body = {
            key: value
            for key, value in data.items()
            if key not in ("format", "version", "derivation", *OUTSIDE)
        }
        step = Step.from_dict(data.get("derivation"))
        signed = {key: data[key] for key in ("signature",) if key in data}
        return cls(body, step, str(data.get("digest", "no digest")), signed)

    @classmethod
    def load(cls, path: str | Path) -> tuple[Certificate, bool]:
        """The certificate of a file, and whether its digest agrees with its content.

        Raises `InputError` for a file that can't be read, or is not a certificate of this version.
        """
        path = Path(path)
        text = text_of_file(path, "CERT")
        try:
            certificate = cls.from_dict(
                json.loads(text, parse_constant=no_number, parse_int=_whole)
            )
        except InputError:
            raise
        except (ValueError, RecursionError) as error:
            raise InputError("CERT", str(path), expected=f"a JSON document ({error})") from None
        return certificate, certificate.intact


def content_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """The content that digests and signatures cover: everything but themselves."""
    return {key: value for key, value in document.items() if key not in OUTSIDE}


def canonical(content: Mapping[str, Any]) -> bytes:
    """The canonical JSON text of this content, which digests and signatures cover."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode()


def digest(content: Mapping[str, Any]) -> str:
    """The SHA-256 of the canonical JSON, in hex."""
    return digest_of(canonical(content))


def digest_of(text: bytes) -> str:
    """The SHA-256 of a canonical text, in hex."""
    return "sha256:" + hashlib.sha256(text).hexdigest()


def _whole(digits: str) -> int | float:
    """A whole number. One beyond all doubles is infinite, which no digest agrees with."""
    return int(digits) if len(digits) <= _MOST_DIGITS else math.copysign(math.inf, float(digits))


_MOST_DIGITS = 310


def in_short(document: Mapping[str, Any]) -> str:
    """The document as JSON with an indentation.

    A list of plain values stands on one line, and so does each value of a list of more than 100.
    """
    parts: list[str] = []
    _write(document, "\n", parts)
    return "".join(parts)


_encoded = json.JSONEncoder(allow_nan=False, ensure_ascii=False).encode
_quoted = lru_cache(maxsize=1000)(_encoded)
"""The text of a key, of which a document has few."""


def _write(value: Any, line: str, parts: list[str]) -> None:
    """Add a value's text to the parts; `line` is a line break with the indentation so far."""
    if isinstance(value, _LISTS):
        if not _is_nested(value):
            parts.append(_in_line(value))
            return
        long = len(value) > _LONG  # such as the nodes of a large network
        if long and (text := _of_mappings(value, line)) is not None:
            parts.append(text)
            return
        opening = "["
        for inner in value:
            parts.append(f"{opening}{line} ")
            if long:
                parts.append(_encoded(inner))
            else:
                _write(inner, line + " ", parts)
            opening = ","
        parts.append(line + "]")
    elif type(value) not in _PLAIN and isinstance(value, Mapping) and value:
        opening = "{"
        for key, inner in value.items():
            parts.append(f"{opening}{line} {_quoted(str(key))}: ")
            _write(inner, line + " ", parts)
            opening = ","
        parts.append(line + "}")
    else:
        parts.append(_encoded(value))


def _of_mappings(values: list[Any] | tuple[Any, ...], line: str) -> str | None:
    """A list of mappings, each on one line, encoded in one call; `None` where that can't be told.

    Between two mappings stands `}, {`. Where the text has it only as often as that, it has it
    nowhere else.
    """
    if not all(type(value) is dict for value in values):
        return None
    text = _encoded(values)
    if text.count("}, {") != len(values) - 1:
        return None
    inner = text[1:-1].replace("}, {", f"}},{line} {{")
    return f"[{line} {inner}{line}]"


def _is_nested(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether there are lists or mappings among the values."""
    if _PLAIN.issuperset(map(type, values)):
        return False
    return any(isinstance(value, (*_LISTS, Mapping)) for value in values)


def _in_line(values: list[Any] | tuple[Any, ...]) -> str:
    """Plain values as JSON. A large document has many short lists of numbers."""
    if _NUMBERS.issuperset(map(type, values)):
        text = ", ".join(map(repr, values))
        if "n" not in text:  # as in nan and inf, which are refused below
            return f"[{text}]"
    return _encoded(values)


_LONG = 100
"""Of a list of more values each stands on one line: that is short, and quickly written."""
_LISTS = (list, tuple)
_NUMBERS = frozenset({int, float})
_PLAIN = frozenset({str, bool, int, float, type(None)})
