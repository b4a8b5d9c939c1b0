"""Whose release it is: the name that a study declares, or the login name; and what each has spent.

The name is a record for people, not a proof: whoever can release can write any name. No host name
is kept.
"""

from __future__ import annotations

import getpass
from collections.abc import Mapping, Sequence
from typing import Any

from bayesdp.accounting.costs.field_checks import check_text
from bayesdp.accounting.costs.spend import Spend, total_cost
from bayesdp.errors import as_shown, require_shown
from bayesdp.numbers import sum_above

UNNAMED = "unknown"


def checked_analyst(name: str | None) -> str:
    """The analyst's name on one line; the login name where no name is given.

    Raises `InputError` for an empty name, and for one with letters that are not shown.
    """
    if name is None:
        return login_name()
    check_text("budget.analyst", name)
    require_shown(name, "budget.analyst")
    return name


def login_name() -> str:
    """The login name of this process; `unknown` where the system has none for it."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):  # as Python 3.13 says it, and as earlier ones did
        return UNNAMED
    return as_shown(name).strip() or UNNAMED


def by_analyst(
    releases: Sequence[Mapping[str, Any]], refused: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """What each analyst has spent of one data set, and asked for in vain, in the order of names.

    `releases` and `refused` are as a ledger lists them. `dp_epsilon`, `dp_rho` and `dp_delta` are
    what one record pays for the analyst's own `releases`, which are counted, as `total_cost` has
    it: costs add up, and of those on disjoint blocks the largest counts. What several analysts have
    spent together may therefore be less than the sum of their rows. `refused` counts the refused
    attempts; `refused_dp_epsilon` and `refused_dp_rho` are the sum of what each would have cost,
    as far as that is known, and `None` where it is known of none. All are rounded up.
    """
    rows = []
    for name in sorted({entry["analyst"] for entry in (*releases, *refused)}):
        own = [release for release in releases if release["analyst"] == name]
        spends = [Spend.from_dict(spend) for release in own for spend in release["spends"]]
        attempts = [attempt for attempt in refused if attempt["analyst"] == name]
        known = [attempt for attempt in attempts if attempt["dp_epsilon"] is not None]
        refused_sums = {
            part: sum_above(*(attempt[part] for attempt in known)) if known else None
            for part in ("dp_epsilon", "dp_rho")
        }
        cost = total_cost(spends)
        rows.append(
            {
                "analyst": name,
                "releases": len(own),
                "dp_epsilon": cost.dp_epsilon,
                "dp_rho": cost.rho,
                "dp_delta": cost.dp_delta,
                "refused": len(attempts),
                "refused_dp_epsilon": refused_sums["dp_epsilon"],
                "refused_dp_rho": refused_sums["dp_rho"],
            }
        )
    return rows
