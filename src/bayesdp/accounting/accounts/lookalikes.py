"""Names of data sets, and of analysts, that a reader takes for one another.

A data set's budget is kept under its name, so the same people under a name that only looks the same
would have a fresh budget, and an analyst a second share. `skeleton` is what is left of a name for a
reader's eye, and `stem` what the names of several extracts of one table have in common.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from bayesdp.errors import LedgerError, as_shown

_TWINS = (
    "аa вb сc ԁd еe ғf ɡg нh һh іi їi јj кk ӏl мm пn оo рp ԛq гr ѕs тt ѵv ԝw хx уy зz "  # Cyrillic
    "αa βb ϲc δd εe ϝf ηh ιi ϳj κk λl μm νv οo ρp σo τt υu ωw χx γy ζz "  # Greek
    "օo սu ոn հh ցg զq "  # Armenian
    "ıi ɩi ɑa ɪi ʟl ɴn ʀr ʏy øo łl đd ħh ŧt 0o 1l il |l"
)
"""Letters, as they are when folded, and the Latin letter that each is taken for."""
_CAPITALS = str.maketrans({"Ν": "n", "Υ": "y"})
"""Greek capitals that look like a Latin letter whose small one they don't look like."""
_TABLE = str.maketrans({pair[0]: pair[1] for pair in _TWINS.split()})


def skeleton(name: str) -> str:
    """The name without what a reader's eye passes over: capitals, accents, widths, separators.

    Letters of other alphabets that look like Latin ones count as those, and `0`, `1`, `I` and `l`
    as `o` and `l`.
    """
    plain = unicodedata.normalize("NFKC", name).translate(_CAPITALS)
    folded = unicodedata.normalize("NFKD", plain.casefold())
    letters = (letter for letter in folded if unicodedata.category(letter)[0] in "LNS")
    return "".join(letters).translate(_TABLE).translate(_TABLE)


def lookalike(name: str, names: Iterable[str]) -> str | None:
    """The first of the other `names` that looks like this one; `None` if none does."""
    its_skeleton = skeleton(name)
    if not its_skeleton:  # signs only
        return None
    return next(
        (other for other in names if other != name and skeleton(other) == its_skeleton), None
    )


_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
]
_TIMES = re.compile(rf"(?<![a-z])(?:{'|'.join(_MONTHS)})(?![a-z])|[qhw]?[0-9]+")
"""Names of months, and numbers, also of quarters, halves and weeks."""


def stem(name: str) -> str | None:
    """What is left of a name without months and numbers; `None` where it has none of them."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    without, many = _TIMES.subn(" ", plain)
    return "".join(letter for letter in without if letter.isalpha()) if many else None


def are_extracts(name: str, other: str) -> bool:
    """Whether two names look like those of extracts: they differ in months and numbers alone.

    >>> are_extracts("wages-2026-01", "wages-2026-02"), are_extracts("January", "february")
    (True, True)
    >>> are_extracts("wages-2026-01", "prices-2026-01"), are_extracts("north", "south")
    (False, False)
    """
    stems = stem(name), stem(other)
    return stems[0] == stems[1] and None not in stems


def require_new_name(dataset: str, names: Iterable[str]) -> None:
    """`LedgerError` for a name that looks like another of the ledger's `names`.

    It would have a fresh budget.
    """
    other = lookalike(dataset, names)
    if other is not None:
        raise LedgerError(
            "data.dataset",
            dataset,
            expected=f"a name that does not look like '{other}', which is in this ledger",
            remedy="If the same people are meant, use that name. If not, "
            "'bayesdp ledger register STUDY' registers another data set of this name.",
        )


def require_known_analyst(analyst: str, names: Iterable[str]) -> None:
    """`LedgerError` for a new analyst whose name looks like another of the ledger's `names`.

    The same person would have two shares, or one under a name that no study says.
    """
    known = set(names)
    other = None if analyst in known else lookalike(analyst, sorted(known))
    if other is not None:
        raise LedgerError(
            "analyst",
            analyst,
            expected=f"a name that does not look like '{as_shown(other)}', who is in this ledger",
            remedy="If the same person is meant, use that name. If not, let the other one try a "
            "release first: refused or not, it writes down this name as it is.",
        )
