"""What a ledger has stored of a release, for whoever asks again with the same key.

The ledger keeps a result as plain data, durably and before anybody sees it. So a process that died
after that can be answered, at no cost and with the very same numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bayesdp.accounting.accounts.account import to_the_second
from bayesdp.accounting.costs.rounded import up_words
from bayesdp.accounting.ledger import Ledger
from bayesdp.accounting.log.contents import decoded
from bayesdp.certificate import Certificate
from bayesdp.errors import InputError, Refusal, require_shown, unknown_name
from bayesdp.numbers import UpperBound
from bayesdp.release.words import cost_words

if TYPE_CHECKING:
    from bayesdp.release.results.release import Release

IDENTITY, SOURCE = "identity", "source"
"""What a request says of a study beside its key: the digest that identical studies share, and that
of where its table is."""


@dataclass(frozen=True, slots=True)
class StoredRelease:
    """A release as its ledger keeps it: nothing was drawn and nothing was spent to get it.

    `id` is its name in the ledger, `time` when it was made (ISO 8601), `key` the one that it was
    asked for with. `document` is what `Release.to_dict` has given: its results, the certificate and
    the level. `paid` says that this call has paid too, and another one was quicker.
    """

    id: str
    time: str
    key: str
    document: Mapping[str, Any]
    paid: bool = False

    @property
    def certificate(self) -> Certificate:
        """Its certificate."""
        return Certificate.from_dict(self.document["certificate"])

    @property
    def level(self) -> UpperBound:
        """The level of this release alone, an epsilon in nats."""
        return UpperBound(self.document["level"])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, the same as the release has given when it was made."""
        return dict(self.document)

    def __getitem__(self, name: str) -> list[dict[str, Any]]:
        """The results of the query of this name as plain data, one for each group and cell.

        Raises `UnknownNameError`, a `KeyError`, with the names that there are.
        """
        results = self.document["results"]
        kept = [dict(result) for result in results if result["query"] == name]
        if not kept:
            raise unknown_name("release", name, [result["query"] for result in results])
        return kept

    def __repr__(self) -> str:
        return f"StoredRelease({self.id[:8]}: {len(self.document['results'])} results)"

    def __str__(self) -> str:
        paid = "Nothing was spent now."
        if self.paid:
            paid = "Another call with this key was quicker, so this is the answer; both have paid."
        notion = str(self.document["certificate"]["claim"]["notion"]).upper()
        cost = cost_words(self.document["dp_epsilon"], self.document.get("dp_rho", 0.0))
        return "\n".join(
            [
                *map(_line, self.document["results"]),
                f"{cost}, {notion} level {up_words(self.level)}",
                f"This is what was stored at {to_the_second(self.time)} under the key "
                f"'{self.key}', as release {self.id}. {paid}",
            ]
        )


def _line(result: Mapping[str, Any]) -> str:
    """A result in one line: where it belongs, its value, and how far it may be off."""
    places = [str(result[part]) for part in ("group", "cell") if result.get(part) is not None]
    name = ", ".join([result["query"], *places])
    if "value" not in result:
        return f"{name}: {result.get('outputs', result.get('releases'))}"
    words = f"{name}: {result['value']!r}"
    if "error" in result:
        words += f" +- {up_words(result['error']['value'])}"
    return f"{words} {result.get('unit', '')}".rstrip()


def _shown(stored: StoredRelease) -> tuple[str, Certificate]:
    """What is shown of a stored release, and its certificate."""
    return str(stored), stored.certificate


def _checked(stored: StoredRelease, ledger: Ledger) -> StoredRelease:
    """The stored release. Raises `LedgerError` for a result that no release has stored."""
    with ledger.decoding():
        decoded(_shown, stored)
    return stored


LONGEST_KEY = 200


class AnsweredError(Exception):
    """That a key has its answer already, which is `stored`: nothing is debited."""

    def __init__(self, stored: StoredRelease) -> None:
        super().__init__(stored.id)
        self.stored = stored


@dataclass(frozen=True, slots=True)
class Asked:
    """A release that is asked for with a `key`: of a study's `identity`, from its `source`.

    `identity` is the digest that identical studies share, `source` where the study says that its
    table is; `None` for a table in memory. Raises `InputError` for a key that isn't one line of 1
    to 200 visible letters.
    """

    key: str
    identity: str
    source: str | None = None

    def __post_init__(self) -> None:
        key: object = self.key
        if not isinstance(key, str) or not key.strip() or len(key) > LONGEST_KEY:
            raise InputError(
                "key", key, expected=f"a text of 1 to {LONGEST_KEY} letters, such as 'june-2026'"
            )
        require_shown(key, "key")

    def request(self) -> dict[str, str]:
        """What the ledger keeps of it beside the queries. Where a table is, stands as a digest."""
        source = {} if self.source is None else {SOURCE: self._source()}
        return {"key": self.key, IDENTITY: self.identity, **source}

    def _source(self) -> str:
        return hashlib.sha256(str(self.source).encode("utf-8", "surrogatepass")).hexdigest()

    def stored(self, ledger: Ledger, dataset: str) -> StoredRelease | None:
        """What the `ledger` has stored of it, of this `dataset`; as `among` says.

        Raises `LedgerError` for a result that no release has stored.
        """
        stored = self.among(ledger.releases(dataset)) if ledger.exists() else None
        return None if stored is None else _checked(stored, ledger)

    def among(self, releases: Sequence[Mapping[str, Any]]) -> StoredRelease | None:
        """What is stored of it: of several the result that was stored first, `None` without any.

        `releases` are those of its data set, as `Ledger.releases` has them. One that was paid for
        and has no certificate, because it failed or its process died, is none. Raises `InputError`
        for a key that another study of the data set has used, or the study with another source.
        """
        stored = list[tuple[int, StoredRelease]]()
        for release in releases:
            request = release["request"]
            if not isinstance(request, Mapping) or request.get("key") != self.key:
                continue
            if request.get(IDENTITY) != self.identity:
                raise self._taken(release, "as it was then, which declares something else")
            source = self.request().get(SOURCE)
            if request.get(SOURCE, source) != source:
                raise self._taken(release, "with another data.source")
            result = release.get("result")
            if isinstance(result, Mapping) and "certificate" in result:
                kept = StoredRelease(release["id"], release["time"], self.key, result)
                stored.append((release["stored"], kept))
        return min(stored, key=lambda pair: pair[0])[1] if stored else None

    def require_unanswered(self, releases: Sequence[Mapping[str, Any]]) -> None:
        """Raises `AnsweredError` where `among` these releases there is an answer."""
        stored = self.among(releases)
        if stored is not None:
            raise AnsweredError(stored)

    def once(
        self, ledger: Ledger, dataset: str, release: Callable[[], Release]
    ) -> Release | StoredRelease:
        """What is stored of it, else what `release` makes: so that every call has one answer.

        `release` debits `dataset` with `request` in the `ledger`, and `require_unanswered` in the
        same transaction. Of calls at the same time which have all paid, the result that was stored
        first is the answer of all. Raises what `release` raises.
        """
        stored = self.stored(ledger, dataset)
        if stored is not None:
            return stored
        try:
            made = release()
        except AnsweredError as error:
            return _checked(error.stored, ledger)
        except Refusal:
            stored = self.stored(ledger, dataset)  # it may have used up the budget
            if stored is None:
                raise
            return stored
        first = self.stored(ledger, dataset)
        return made if first is None or first.id == made.id else replace(first, paid=True)

    def _taken(self, release: Mapping[str, Any], how: str) -> InputError:
        return InputError(
            "key",
            self.key,
            expected=f"a key of this study's own: release {release['id']} of "
            f"'{release['dataset']}' was asked for with it, by '{release['study']}' {how}",
            remedy="Use another key, also after an edit of the study.",
        )
