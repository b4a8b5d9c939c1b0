"""What tests of posteriors share."""

from __future__ import annotations

import pytest

from bayesdp.programs.run.numerics import ensemble
from tests.effort import in_full


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ensembles take a part of their steps in `make test`: enough for what is asked of them."""
    if not in_full():
        monkeypatch.setattr(ensemble, "KEPT", 16)
