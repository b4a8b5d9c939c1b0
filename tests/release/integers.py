"""The integers of a release before noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bayesdp.release import Study
from bayesdp.tables.sums.scan import Totals, run
from bayesdp.verification import verify

Integers = Callable[[Study], dict[str, Any]]


def integers_of(monkeypatch: pytest.MonkeyPatch, *verdicts: str) -> Integers:
    """A function that releases a study, and returns the integers of each query by group.

    The table has to be as declared, and the certificate's verdict one of the `verdicts`, by default
    one that it is valid.
    """
    seen: list[Totals] = []

    def watched(*given: Any) -> Totals:
        seen.append(run(*given))
        return seen[-1]

    monkeypatch.setattr("bayesdp.release.drawing.table.run", watched)

    def released(study: Study) -> dict[str, Any]:
        assert study.inspect() == []
        release = study.release()
        assert verify(release.certificate).verdict in (verdicts or ("VALID", "VALID ASSUMING"))
        return {query.name: dict(seen[-1][query.name].values) for query in study.spec.queries}

    return released
