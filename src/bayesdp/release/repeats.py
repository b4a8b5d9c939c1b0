"""What this process has released: an identical study is released again on purpose only.

Running the cell of a notebook again must not spend a budget again. Two studies are identical if
they declare the same data set, columns, population, budget and queries, whatever table, ledger,
analyst and name they have: nothing here depends on what is in a table.
"""

from __future__ import annotations

import hashlib
from typing import Any

from bayesdp.accounting.canonical import canonical_json
from bayesdp.accounting.ledger import Ledger
from bayesdp.accounting.spend import Reading, Spend, total_cost
from bayesdp.errors import LedgerError, Refusal
from bayesdp.release.results import cost_words
from bayesdp.release.spec import StudySpec, describe_column

_RELEASED: dict[str, list[str]] = {}
"""The releases of this process in their order, by the digest of their study."""


def remember(study: str, release: str) -> None:
    """Remember that the study of this digest has been paid for."""
    _RELEASED.setdefault(study, []).append(release)


def require_new(study: str, ledger: Ledger) -> None:
    """Raises `Refusal` if this process has paid for a study of this digest in this ledger."""
    for release in reversed(_RELEASED.get(study, ())):
        kept = _stored_release(ledger, release)
        if kept is not None:
            raise Refusal(_words(kept))


def digest(study: StudySpec, reading: Reading) -> str:
    """A digest that is the same for identical studies. `reading` is that of the study."""
    plain = {
        "data": study.data.model_dump(exclude={"source"}),
        "columns": {name: describe_column(column) for name, column in study.columns.items()},
        "population": _population(study, reading),
        "budget": study.budget.model_dump(exclude={"ledger", "analyst"}),
        "queries": [query.model_dump(mode="json") for query in study.queries],
        "programs": {name: file.text for name, file in study.programs.items()},
    }
    return hashlib.sha256(canonical_json(plain).encode()).hexdigest()


def _population(study: StudySpec, reading: Reading) -> Any:
    """What the study declares of its population. The reading has it as text, which may be long."""
    population = study.population
    if population is None or reading.notion == "dp":
        return None if population is None else population.spec()
    return [reading.population_text, population.source, population.covers]


def _stored_release(ledger: Ledger, release: str) -> dict[str, Any] | None:
    """The release as the ledger keeps it; `None` where another ledger does."""
    if not ledger.path.exists():
        return None
    try:
        return ledger.release(release)
    except LedgerError as error:
        if error.key != "release":
            raise
        return None


def _words(kept: dict[str, Any]) -> str:
    cost = total_cost([Spend.from_dict(spend) for spend in kept["spends"]])
    names = ", ".join(f"'{name}'" for name in kept["request"]["queries"])
    done = "released" if kept["status"] == "released" else "paid for, and not finished"
    return (
        f"In this session an identical study was {done} before: {names} of the data set "
        f"'{kept['dataset']}', {cost_words(cost.dp_epsilon, cost.rho)}, at {kept['time']}. "
        f"What it released is in the ledger: study.ledger().release('{kept['id']}'). To spend as "
        "much again on new noise, say study.release(again=True). Nothing was released and nothing "
        "was spent."
    )
