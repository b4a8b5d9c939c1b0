"""What the tests of tables share: nothing, and the engine is started for each table."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def tables_share_an_engine() -> None:
    """Not here."""
