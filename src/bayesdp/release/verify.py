"""`bayesdp.verify`: the kernel's verdict on a certificate.

Everything is decided by `bayesdp.kernel`, which reads the certificate as plain JSON and imports
nothing else of this package. What can't be seen without the data and the ledger: whether the
numbers are those that were released, and whether spends were left out together with all that they
add up to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesdp.certificate import Certificate
from bayesdp.errors import InputError
from bayesdp.kernel import Verdict, check

Verification = Verdict


def verify(certificate: Certificate | Mapping[str, Any], *, intact: bool = True) -> Verdict:
    """The verdict on a certificate in memory: a `Certificate`, or its document as plain data.

    `intact` says whether a `Certificate`'s digest agreed when it was loaded; a document's own is
    checked here. `InputError` for anything else, such as the name of a file.
    """
    if not isinstance(certificate, Certificate | Mapping):
        raise InputError(
            "certificate",
            certificate,
            expected="a Certificate or its document as a dict",
            remedy="Of a file: certificate, intact = Certificate.load(Path(FILE)), then "
            "verify(certificate, intact=intact), or `bayesdp verify FILE`.",
        )
    if not intact:
        reason = "the content does not agree with the digest"
        return Verdict("INVALID", (), "digest", reason)
    document = certificate.to_dict() if isinstance(certificate, Certificate) else dict(certificate)
    return check(document)
