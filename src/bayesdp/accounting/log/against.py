"""Compares a ledger with certificates, which show the releases that it has lost.

A certificate carries the number and the hash of its debit's entry. A ledger whose last entries were
cut off, an old copy that was put back, another ledger, and a history that somebody wrote and
chained anew don't have this entry.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from bayesdp.accounting.log.contents import Book, decoded
from bayesdp.accounting.log.entries import Head, LedgerFault, UndecodedError
from bayesdp.accounting.log.schema import Log

CertificateDocument = Mapping[str, Any]
"""A certificate as plain data."""


def entry_of(document: CertificateDocument) -> Head | None:
    """The entry that a certificate says its debit is; `None` for one that says none."""
    ledger_fields = document.get("ledger")
    if not isinstance(ledger_fields, Mapping):
        return None
    sequence, head = ledger_fields.get("sequence"), ledger_fields.get("head")
    if type(sequence) is not int or not isinstance(head, str):
        return None
    return Head(sequence, head)


def missing_words(log: Log, book: Book, document: CertificateDocument) -> str:
    """How the debit of a certificate is missing in a ledger, in words; empty if it is there.

    `log` and `book` are the ledger, `document` is the certificate. One from before certificates
    carried an entry is looked for by the name of its release.
    """
    entry, release = entry_of(document), document.get("release")
    debit = book.debits.get(release) if isinstance(release, str) else None
    if entry is None:
        return "" if debit is not None else "its release is not in the ledger"
    if entry.sequence > log.head.sequence:
        last = log.head.sequence
        return (
            f"its debit is entry {entry.sequence}, and the ledger ends with entry {last}: the last "
            "ones were cut off, or an older copy was put back, or this is another ledger"
        )
    if entry.sequence < 1 or log.entries[entry.sequence - 1].hash != entry.hash:
        return (
            f"its debit is entry {entry.sequence} with another hash: the history until there was "
            "written anew, or this is another ledger"
        )
    if debit is None or debit.entry.sequence != entry.sequence:
        return f"its release is not entry {entry.sequence} of the ledger"
    return ""


def certificate_faults(
    log: Log, book: Book, documents: Mapping[str, CertificateDocument]
) -> Iterator[LedgerFault]:
    """What certificates, by their names, say of a ledger that it doesn't say itself.

    `log` and `book` are the ledger. A certificate that has its debit must be the one that the
    ledger keeps, if it keeps a result.
    """
    for name, document in documents.items():
        words = missing_words(log, book, document)
        if not words:
            words = _other_result(log, book, document)
        if words:
            yield LedgerFault(f"certificate {name}", words)


def _other_result(log: Log, book: Book, document: CertificateDocument) -> str:
    """That the ledger keeps another certificate of the same release, or none; else empty."""
    debit = book.debits[str(document["release"])]
    if debit.result is None:
        return "the ledger has its debit and no result, though this one was handed out"
    try:
        kept_certificate = decoded(json.loads, log.result(debit.result)).get("certificate")
    except UndecodedError:
        return ""  # which is named where the ledger is held against itself
    if not isinstance(kept_certificate, Mapping) or kept_certificate.get("digest") != document.get(
        "digest"
    ):
        return "the ledger keeps another certificate of its release"
    return ""
