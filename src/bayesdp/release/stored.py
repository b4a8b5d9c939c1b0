"""What a ledger has stored of a release, for whoever asks again with the same key.

The ledger keeps a result as plain data, durably and before anybody sees it. So a process that died
after that can be answered, at no cost and with the very same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bayesdp.accounting.account import to_the_second
from bayesdp.accounting.contents import decoded
from bayesdp.accounting.ledger import Ledger
from bayesdp.accounting.rounded import up_words
from bayesdp.certificate import Certificate
from bayesdp.errors import InputError, unknown_name
from bayesdp.numbers import UpperBound
from bayesdp.release.results import cost_words

IDENTITY = "identity"
"""What a request says of a study beside its key: the digest that identical studies share."""


@dataclass(frozen=True, slots=True)
class StoredRelease:
    """A release as its ledger keeps it: nothing was drawn and nothing was spent to get it.

    `id` is its name in the ledger, `time` when it was made (ISO 8601), `key` the one that it was
    asked for with. `document` is what `Release.to_dict` has given: its results, the certificate and
    the level.
    """

    id: str
    time: str
    key: str
    document: Mapping[str, Any]

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
        notion = str(self.document["certificate"]["claim"]["notion"]).upper()
        cost = cost_words(self.document["dp_epsilon"], self.document.get("dp_rho", 0.0))
        return "\n".join(
            [
                *map(_line, self.document["results"]),
                f"{cost}, {notion} level {up_words(self.level)}",
                f"This is what was stored at {to_the_second(self.time)} under the key "
                f"'{self.key}', as release {self.id}. Nothing was spent now.",
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


def checked_key(key: object) -> str:
    """A key of a release: a text that isn't empty. Raises `InputError` for anything else."""
    if not isinstance(key, str) or not key.strip() or len(key) > LONGEST_KEY:
        raise InputError(
            "key", key, expected=f"a text of 1 to {LONGEST_KEY} letters, such as 'june-2026'"
        )
    return key


LONGEST_KEY = 200


def stored_release(ledger: Ledger, dataset: str, key: str, identity: str) -> StoredRelease | None:
    """What is stored of a release that was asked for with this `key`; `None` if nothing is.

    The release is one of the `dataset` in the `ledger`, of the study with the digest `identity`.
    One that was paid for and has no certificate, because it failed or its process died, is none.
    Raises `InputError` for a key that another study of the data set has used, and `LedgerError` for
    a result that no release has stored.
    """
    if not ledger.exists():
        return None
    stored = None
    for release in ledger.releases(dataset):
        request = release["request"]
        if not isinstance(request, Mapping) or request.get("key") != key:
            continue
        if request.get(IDENTITY) != identity:
            raise InputError(
                "key",
                key,
                expected=f"a key of this study's own: release {release['id']} of '{dataset}' was "
                f"asked for with it, by '{release['study']}' as it was then, which declares "
                "something else",
                remedy="Use another key, also after an edit of the study.",
            )
        result = release.get("result")
        if isinstance(result, Mapping) and "certificate" in result:
            stored = StoredRelease(release["id"], release["time"], key, result)
            with ledger.decoding():
                decoded(_shown, stored)
    return stored
