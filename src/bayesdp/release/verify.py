"""`bayesdp.verify`: the kernel's verdict on a certificate.

Everything is decided by `bayesdp.kernel`, which reads the certificate as plain JSON and imports
nothing else of this package. What can't be seen without the data and the ledger: whether the
numbers are those that were released, and whether spends were left out together with all that they
add up to.
"""

from __future__ import annotations

from bayesdp.certificate import Certificate
from bayesdp.kernel import Verdict, check

Verification = Verdict


def verify(certificate: Certificate, *, intact: bool = True) -> Verdict:
    """The verdict on a certificate in memory. `intact` says whether its digest agreed."""
    if not intact:
        reason = "the content does not agree with the digest"
        return Verdict("INVALID", (), "digest", reason)
    return check(certificate.to_dict())
