"""Data sets that look like further extracts of one table, and name no people in common.

Nothing shows that two tables are of the same people: no table is looked at for it. What is seen are
declarations: the same columns, and names or numbers of records that are nearly the same.
"""

from __future__ import annotations

from bayesdp.accounting.accounts.lookalikes import are_extracts
from bayesdp.accounting.ledger import Ledger
from bayesdp.release.price.plan import declared_columns
from bayesdp.release.spec.study import StudySpec

NEARLY = 0.2
"""Two numbers of records are nearly the same if they differ by at most this share of the larger."""


def extract_words(ledger: Ledger, study: StudySpec, name: str) -> str:
    """A warning if the study's data set looks like another of the `ledger`, with its own budget.

    Empty if it doesn't. `name` is the study's. If several look alike, the first one is named.
    """
    data, columns = study.data, declared_columns(study)
    flags = dict.fromkeys(columns["private"], True) | dict.fromkeys(columns["public"], False)
    for other in ledger.alike(data.dataset, flags):
        names = are_extracts(data.dataset, other["dataset"])
        if data.people is not None and other["people"] is not None:
            names = are_extracts(data.people, other["people"])
            if data.people == other["people"] or not names:
                continue  # the same people, or others on purpose
        studies = any(are_extracts(name, written) for written in other["studies"])
        if names or studies or _nearly(data.n, other["n"]):
            there = other["dataset"]
            return (
                f"The data set '{data.dataset}' has the same columns as '{there}', whose budget "
                "this ledger keeps apart. If some people are in both, nobody counts what is "
                f"learned of them together. Then let both name the same people{_how(other)}."
            )
    return ""


def _how(other: dict[str, object]) -> str:
    """How the two data sets come to name the same people, which one of them may do already."""
    if other["people"] is not None:
        return f': people = "{other["people"]}" in [data]'
    return (
        ': write people = "..." in [data] of both studies, and move what is in the ledger with '
        "`bayesdp ledger people`"
    )


def _nearly(n: object, other: object) -> bool:
    if not isinstance(n, int) or not isinstance(other, int):
        return False
    return min(n, other) >= (1.0 - NEARLY) * max(n, other)
