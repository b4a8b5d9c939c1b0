"""Who wrote a certificate: Ed25519 signatures, with the extra `signing`.

The kernel proves that a certificate's levels follow; it can't know who wrote it, and anybody can
write a certificate of numbers that were never released. A signature says that the holder of a key
vouches for it, and nothing about its mathematics. What is signed is the canonical JSON of the
document without its digest and without the signature.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayesdp.certificate import canonical, content_of, digest, in_short
from bayesdp.errors import InputError, Refusal, UnsupportedError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

ALGORITHM = "ed25519"
Origin = Literal["signed by a trusted key", "signed by an unknown key", "not signed", "FORGED"]


def new_key() -> Ed25519PrivateKey:
    """A new private key, from the operating system's randomness.

    Raises `UnsupportedError` without the extra `signing`, as every function here that uses a key.
    """
    _library()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.generate()


def sign(document: Mapping[str, Any], private_key: Ed25519PrivateKey) -> dict[str, Any]:
    """The document with `"signature"`: algorithm, public key and value, these two in base64.

    The digest, which doesn't cover signatures, stays as it is. Raises `Refusal` for a document that
    is signed already, and `InputError` for a document that JSON can't hold.
    """
    if "signature" in document:
        raise Refusal("The certificate is signed already. Sign the certificate as it was released.")
    try:
        content = canonical(content_of(document))
    except (TypeError, ValueError) as error:
        raise InputError("CERT", expected=f"a JSON document ({error})", shown=False) from None
    return {
        **document,
        "signature": {
            "algorithm": ALGORITHM,
            "public_key": _base64(private_key.public_key().public_bytes_raw()),
            "value": _base64(private_key.sign(content)),
        },
    }


def check_signature(
    document: Mapping[str, Any], trusted: Sequence[Ed25519PublicKey] | None = None
) -> Origin:
    """Whether the document is signed, and by whom.

    `"FORGED"` means that the signature doesn't fit this content and the key that it names. A
    signature by an unknown key proves nothing: anybody can make a key. Raises `UnsupportedError`
    for a signed document without the extra `signing`.
    """
    if "signature" not in document:
        return "not signed"
    _library()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    stated = document["signature"]
    try:
        if set(stated) != {"algorithm", "public_key", "value"} or stated["algorithm"] != ALGORITHM:
            return "FORGED"
        raw = base64.b64decode(stated["public_key"], validate=True)
        value = base64.b64decode(stated["value"], validate=True)
        Ed25519PublicKey.from_public_bytes(raw).verify(value, canonical(content_of(document)))
    except (InvalidSignature, TypeError, ValueError):
        return "FORGED"
    known = {key.public_bytes_raw() for key in trusted or ()}
    return "signed by a trusted key" if raw in known else "signed by an unknown key"


def sign_file(path: Path, document: Mapping[str, Any], private_key: Ed25519PrivateKey) -> None:
    """Sign the certificate that a file holds, in place: the file has the old text or the new text.

    `document` is what the file at `path` holds.

    Raises as `sign` does; `Refusal` for a damaged certificate; `InputError` where the file can't be
    written.
    """
    if document.get("digest") != digest(content_of(document)):
        raise Refusal("The certificate's content does not agree with its digest: it is damaged.")
    text = in_short(sign(document, private_key)) + "\n"
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except (OSError, UnicodeEncodeError) as error:
        beside.unlink(missing_ok=True)
        raise InputError("CERT", str(path), expected=f"a file to write to ({error})") from None


def write_key(path: Path) -> Path:
    """Write a new private key (PEM, readable by its owner alone), and return the public key's path.

    The public key stands beside it, in `path` with `.pub` added. Raises `InputError` where either
    file is there already (nothing is ever overwritten) or can't be written.
    """
    if not path.name:
        raise InputError("FILE", str(path), expected="the name of a file to write the key to")
    library = _serialization()
    key = new_key()
    public = path.with_name(path.name + ".pub")
    if public.exists():
        raise _there_already(public)
    _create(
        path,
        key.private_bytes(
            library.Encoding.PEM,
            library.PrivateFormat.PKCS8,
            library.NoEncryption(),
        ),
        0o600,
    )
    _create(
        public,
        key.public_key().public_bytes(
            library.Encoding.PEM, library.PublicFormat.SubjectPublicKeyInfo
        ),
        0o644,
    )
    return public


def read_private_key(path: Path) -> Ed25519PrivateKey:
    """The private key in a PEM file. Raises `InputError` for a file without an Ed25519 key."""
    library = _serialization()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = _loaded(lambda: library.load_pem_private_key(_read(path, "--key"), password=None))
    if isinstance(key, Ed25519PrivateKey):
        return key
    raise InputError(
        "--key",
        str(path),
        expected="a file with an Ed25519 private key without a password (PEM)",
        remedy="`bayesdp key new FILE` makes one.",
    )


def read_public_key(path: Path) -> Ed25519PublicKey:
    """The public key in a PEM file. Raises `InputError` for a file without an Ed25519 key."""
    library = _serialization()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key = _loaded(lambda: library.load_pem_public_key(_read(path, "--public-key")))
    if isinstance(key, Ed25519PublicKey):
        return key
    raise InputError(
        "--public-key",
        str(path),
        expected="a file with an Ed25519 public key (PEM)",
        remedy="`bayesdp key new FILE` writes it to FILE.pub.",
    )


def _loaded(load: Callable[[], object]) -> object:
    """The key that `load` reads; `None` where the file holds no key that can be read."""
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        return load()
    except (TypeError, ValueError, UnsupportedAlgorithm):
        return None


def _library() -> None:
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise UnsupportedError(
            "signing",
            expected="the Python package cryptography",
            remedy="Install it: pip install 'bayesdp[signing]'.",
            shown=False,
        ) from None


def _serialization() -> Any:
    _library()
    from cryptography.hazmat.primitives import serialization

    return serialization


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _there_already(path: Path) -> InputError:
    return InputError(
        "FILE",
        str(path),
        expected="a file that is not there yet",
        remedy="Keys are never overwritten.",
    )


def _create(path: Path, content: bytes, mode: int) -> None:
    try:
        # The mode is given at creation, so that no moment lets others read the key.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    except FileExistsError:
        raise _there_already(path) from None
    except OSError as error:
        raise InputError("FILE", str(path), expected=f"a path to write to ({error})") from None


def _read(path: Path, key: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(key, str(path), expected=f"a readable file ({error})") from None
