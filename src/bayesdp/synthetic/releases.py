"""Releases as their certificates state them: verified, and of one data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayesdp.certificate import Certificate
from bayesdp.errors import InputError, Refusal
from bayesdp.release.results.release import Release
from bayesdp.statements.certificates import ReleaseCertificate, read_certificate
from bayesdp.statements.column_sets import read_columns
from bayesdp.statements.columns import Columns
from bayesdp.verification import Checkable, Verification, reader_of, verdict_on

KEY = "releases"


@dataclass(frozen=True)
class VerifiedRelease:
    """The certificate of a release, which verifies, and the verdict with what it claims."""

    stated: ReleaseCertificate
    verdict: Verification
    columns: Columns


def read_releases(given: Checkable | Sequence[Checkable]) -> list[VerifiedRelease]:
    """The given releases, each as its certificate states it.

    Raises `InputError` for anything that can't be a release's certificate, for releases of several
    data sets, columns or sizes, and for a release that is given twice; `Refusal` where a
    certificate does not verify.
    """
    if isinstance(given, Certificate | Release | Mapping | str | Path):
        listed = {KEY: given}
    else:
        listed = {f"{KEY}[{i}]": release for i, release in enumerate(given)}
    if not listed:
        raise InputError(KEY, [], expected="at least one release or certificate")
    places = [str(r) if isinstance(r, Path) else key for key, r in listed.items()]
    releases = [_verified(r, key) for r, key in zip(listed.values(), places, strict=True)]
    for i, release in enumerate(releases[1:], start=1):
        _check_same(releases[0].stated, release.stated, places[i])
    ids = [release.stated.release for release in releases]
    for i, name in enumerate(ids):
        if name in ids[:i]:
            raise InputError(
                places[i],
                name,
                expected="each release once: its noise would count as if drawn twice",
            )
    return releases


def columns_of_all(releases: Sequence[VerifiedRelease]) -> Columns:
    """The columns that the releases declare, together."""
    plain: dict[str, Any] = {}
    for release in releases:
        plain |= release.stated.columns
    return read_columns(plain)


def _verified(given: Checkable, key: str) -> VerifiedRelease:
    document = reader_of(given, key)()
    verdict = verdict_on(document)
    if not verdict:
        raise Refusal(
            f"{key}: the certificate is {verdict.verdict} ({verdict.step}: {verdict.reason}). "
            "Synthetic data are made of releases whose certificate verifies."
        )
    stated = read_certificate(document)
    if not isinstance(stated, ReleaseCertificate):
        raise InputError(
            key,
            verdict.claim["subject"],
            expected="the certificate of a release, which holds released numbers",
        )
    if stated.unit != "row":
        raise InputError(
            key,
            stated.unit,
            expected="a release whose records are rows",
            remedy="Rows that belong to one record would be drawn apart from each other.",
        )
    return VerifiedRelease(stated, verdict, read_columns(stated.columns))


def _check_same(first: ReleaseCertificate, other: ReleaseCertificate, key: str) -> None:
    """`InputError` at `key` unless both are releases of one table, as far as they state it."""
    for part in ("dataset", "n", "parts"):
        due, stated = getattr(first, part), getattr(other, part)
        if stated != due:
            raise InputError(
                f"{key}.{part}",
                stated,
                expected=f"{due}, as in the first release: all are of the same table",
            )
    looked_up = _looked_up(first), _looked_up(other)
    for name in first.columns.keys() & other.columns.keys():
        alike = looked_up[0].get(name) == looked_up[1].get(name)
        if first.columns[name] != other.columns[name] or not alike:
            raise InputError(
                f"{key}.columns.{name}",
                expected="the declaration that the first release has, with the same states or "
                "bounds",
                remedy="Give releases of studies that declare the column alike.",
                shown=False,
            )


def _looked_up(release: ReleaseCertificate) -> dict[str, tuple[str, tuple[str, ...]]]:
    """The columns that come from a public table: from which, and looked up by which columns."""
    return {name: (join.table, join.by) for join in release.joined for name in join.columns}
