"""What surrounds the kernel when a certificate is verified: its text, its digest, the wording.

`documents` reads a text strictly and holds a document against its signature and its digest before
the kernel judges it; `verifier` asks the solvers again that a certificate relies on, and is
`bayesdp.verify`; `claims` says what a valid certificate claims. How to sign is in
`bayesdp.signature`.
"""

from __future__ import annotations

from bayesdp.verification.documents import check, read, signed_by
from bayesdp.verification.verifier import (
    Checkable,
    Verification,
    is_json,
    reader_of,
    text_of,
    verdict_on,
    verify,
)

__all__ = [
    "Checkable",
    "Verification",
    "check",
    "is_json",
    "read",
    "reader_of",
    "signed_by",
    "text_of",
    "verdict_on",
    "verify",
]
