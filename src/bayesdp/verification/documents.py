"""Documents as they are handed over: JSON that says each thing once, of a known version, undamaged.

A signed document is valid only where its signature fits. The kernel decides what a document states,
and whether that holds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bayesdp import kernel
from bayesdp.certificate import FORMAT, OUTSIDE, VERSION, canonical, content_of, digest_of
from bayesdp.errors import UnsupportedError
from bayesdp.kernel import Verdict
from bayesdp.signature import Origin, check_signature
from bayesdp.strict_json import each_key_once, no_number

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

MOST_DIGITS = 309
"""The most digits of a whole number: no double has more."""
_TOO_DEEP = "it is nested too deeply"
_ESCAPED = rb"\ud"
"""How a canonical text begins half a letter; some letters are written there as two halves."""
_NOT_CHECKED = "not checked"
NOT_SIGNED: Origin = "not signed"


def read(text: str) -> object:
    """Parsed JSON, strictly: a key that is given twice, or a number beyond all doubles, is refused.

    Instead of a refused document, or of a text that is not JSON, an object without a format is
    returned, which is never valid.
    """

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
            object_pairs_hook=each_key_once,
            parse_constant=no_number,
            parse_int=whole,
            parse_float=double,
        )
    except RecursionError:
        return {"format": None, "problem": _TOO_DEEP}
    except ValueError as error:
        return {"format": None, "problem": str(error)}


def check(document: object) -> Verdict:
    """The kernel's verdict on a certificate whose signature, if it has one, and digest fit.

    Every face of the package that says whether a certificate holds asks this function. A signature
    that doesn't fit the content makes a certificate INVALID, and one that can't be checked here,
    without the extra `signing`, makes it UNKNOWN. Who signed it makes no difference: anybody can
    make a key.

    A document that is nested too deeply to be read is UNKNOWN. INVALID are a document that JSON
    can't hold, and one with half a letter (a lone surrogate): JSON allows it, but nobody can be
    shown it.
    """
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        problem = document.get("problem") if isinstance(document, Mapping) else None
        if problem == _TOO_DEEP:
            return _too_deep()
        why = f": {problem}" if isinstance(problem, str) else ""
        return _invalid("format", f"this is not a bayesdp certificate{why[:200]}")
    version = document.get("version")
    if version != VERSION or type(version) is not int:
        wrote = "another version of bayesdp wrote it, verify it with that one"
        version_words = (
            f"version {repr(version)[:40]}: {wrote}" if "version" in document else _NO_VERSION
        )
        return Verdict("UNKNOWN", (), "version", version_words)
    try:
        content = content_of(document)
        text = canonical(content)
        intact = document.get("digest") == digest_of(text)
        # The canonical text shows whether the content may have half a letter; what is outside of it
        # is looked at in any case.
        outside = {key: document[key] for key in OUTSIDE if key in document}
        json.dumps(document if _ESCAPED in text else outside, ensure_ascii=False).encode()
    except RecursionError:
        return _too_deep()
    except (TypeError, ValueError) as error:
        return _invalid("content", f"malformed: {error!r}")
    origin = signed_by(document)
    if origin == "FORGED":
        return _invalid(
            "signature", "FORGED, it does not fit the content and the key that it names"
        )
    if not intact:
        return _invalid("digest", "it is not that of the content")
    verdict = kernel.check(document)
    if verdict and origin.startswith(_NOT_CHECKED):
        return Verdict("UNKNOWN", (), "signature", origin)
    return verdict


def signed_by(document: object, trusted: Sequence[Ed25519PublicKey] = ()) -> str:
    """Who signed a document, in the words of `check_signature`, or why that can't be checked here.

    A signature can't be checked without the extra `signing`.
    """
    try:
        return check_signature(document if isinstance(document, Mapping) else {}, trusted)
    except UnsupportedError as error:
        return f"{_NOT_CHECKED}: {error}"
    except RecursionError:
        return f"{_NOT_CHECKED}: {_TOO_DEEP}"


def _too_deep() -> Verdict:
    return Verdict("UNKNOWN", (), "content", _TOO_DEEP)


_NO_VERSION = "no version is stated: other software wrote it, or somebody changed it"
"""Why a certificate without its key `version` is not judged."""


def _invalid(step: str, reason: str) -> Verdict:
    return Verdict("INVALID", (), step, reason)
