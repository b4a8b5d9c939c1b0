"""Whose release it is: the name that a study declares, or the login name.

The name is a record for people, not a proof: whoever can release can write any name. No host name
is kept.
"""

from __future__ import annotations

import getpass

from bayesdp.accounting.spend import check_text
from bayesdp.errors import as_shown, require_shown

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
