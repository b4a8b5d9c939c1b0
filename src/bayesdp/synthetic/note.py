"""What a synthetic table is made of, as plain data: for the file beside it, and for readers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesdp.arrays import Ints
from bayesdp.errors import first_names
from bayesdp.synthetic.marginals import ReleasedMarginal, ReleasedMarginals
from bayesdp.synthetic.releases import VerifiedRelease
from bayesdp.verification.claims import claim_words

NOTE_FORMAT = "bayesdp-synthetic"
SAID = (
    "Made-up rows: none of them is a record of the table, and no table was read to make them.",
    "They are made of the noisy counts of the releases below and of nothing else, so making them "
    "cost nothing: they reveal no more than those releases do together.",
    "A number of the synthetic table has the error of the released numbers and more: take the "
    "released number where there is one.",
    "Rows are drawn apart from each other: which rows belong together and their order are not "
    "kept, and neither is anything else that was not counted.",
)
"""What holds of every synthetic table."""

GUESSED = (
    "No query read these pairs of columns together: their association in the table is what the "
    "other counts imply at most, and independence otherwise. It is not a finding."
)


_FORMULA = re.compile(r"[=+\-@\t\r]")


def without_formula(cell: Any) -> Any:
    """A cell as a file of CSV holds it: an apostrophe goes before what would be a formula.

    Spreadsheets compute texts that begin with `=`, `+`, `-` or `@`, and these come from whoever
    wrote the study. Numbers stay as they are, and so do texts that are numbers, or a sign alone.

    >>> [without_formula(cell) for cell in ("=1+1", "-5.0", "-", "yes", -5)]
    ["'=1+1", '-5.0', '-', 'yes', -5]
    """
    if not isinstance(cell, str) or len(cell) < 2 or not _FORMULA.match(cell):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def note_of(
    releases: Sequence[VerifiedRelease],
    released: ReleasedMarginals,
    atoms: Sequence[Ints],
    *,
    seed: int,
) -> dict[str, Any]:
    """The note of a synthetic table whose rows have these `atoms`, by attribute.

    Its key `agreement` compares the table with the released numbers, both as shares of all rows:
    how many of them are within the error that the release states, at its confidence.
    """
    total, rows = releases[0].stated.n, len(atoms[0])
    within = [_within(marginal, atoms, total / rows) for marginal in released.marginals]
    return {
        "format": NOTE_FORMAT,
        "said": list(SAID),
        "dataset": releases[0].stated.dataset,
        "rows": rows,
        "rows_of_the_table": total,
        "seed": seed,
        "software": releases[0].stated.software,
        "releases": [_release(release) for release in releases],
        "used": [_used(marginal, released) for marginal in released.marginals],
        "not_used": [
            {"release": query.release, "query": query.query, "why": query.why}
            for query in released.unused
        ],
        "agreement": {
            "numbers": sum(len(marginal.counts) for marginal in released.marginals),
            "within_their_error": int(sum(map(np.sum, within))),
        },
        "guessed": GUESSED,
        "never_together": [list(pair) for pair in released.apart()],
    }


def note_lines(note: Mapping[str, Any]) -> list[str]:
    """The note in a few lines, as they are shown at a terminal."""
    lines = [*note["said"]]
    for release in note["releases"]:
        lines.append(f"Release {release['release']} of {release['time']}:")
        lines += [f"  - {line}" for line in (*release["claims"], release["signature"])]
    agreement = note["agreement"]
    lines.append(
        f"{agreement['within_their_error']} of {agreement['numbers']} released numbers are within "
        "their error of the synthetic table's."
    )
    if note["not_used"]:
        unused = [f"{query['query']} ({query['why']})" for query in note["not_used"]]
        lines.append(f"Not used: {first_names(unused)}.")
    pairs = [f"{first} and {second}" for first, second in note["never_together"]]
    if pairs:
        lines.append(f"{GUESSED} {first_names(pairs)}.")
    return lines


def _release(release: VerifiedRelease) -> dict[str, Any]:
    stated, verdict = release.stated, release.verdict
    return {
        "release": stated.release,
        "time": stated.time,
        "digest": stated.digest,
        "verdict": verdict.verdict,
        "claims": claim_words(verdict.claim)[:-1],  # the digest stands above
        "assuming": list(verdict.assuming),
        "signature": verdict.signature
        if verdict.signature != "not signed"
        else "not signed, so nothing shows that its numbers are those that were released",
    }


def _used(marginal: ReleasedMarginal, released: ReleasedMarginals) -> dict[str, Any]:
    return {
        "release": marginal.release,
        "query": marginal.query,
        "columns": [released.attributes[i].name for i in marginal.clique],
        "numbers": len(marginal.counts),
    }


def _within(marginal: ReleasedMarginal, atoms: Sequence[Ints], scale: float) -> Any:
    """Whether each number is within its stated error, or a row, of the table's times `scale`."""
    codes = np.zeros(len(atoms[0]), dtype=np.int64)
    for position, size in zip(marginal.clique, marginal.shape, strict=True):
        codes = codes * size + atoms[position]
    places = marginal.places[codes]
    many = np.bincount(places[places >= 0], minlength=len(marginal.counts))
    return np.abs(many * scale - marginal.counts) <= np.maximum(marginal.errors, scale)
