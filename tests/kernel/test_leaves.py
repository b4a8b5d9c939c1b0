"""One change of one place of a certificate: refused, or harmless for a written reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayesdp.certificate import content_of, digest
from bayesdp.kernel import check
from bayesdp.report.explain import explain
from tests.effort import runs
from tests.kernel.all_kinds import KINDS, certificate
from tests.kernel.leaves import at, leaves, named, other_values, put, why_harmless

pytestmark = pytest.mark.prove
SHARE = runs(1000) / 1000
"""Of all changes: a complete search tries every one, any other a quarter of its share."""


def sealed(document: dict[str, Any]) -> dict[str, Any]:
    """With the digest of its content; of one that is not a JSON there is none."""
    content = content_of(document)
    try:
        return content | {"digest": digest(content)}
    except ValueError:
        return content | {"digest": "sha256:0"}


@pytest.mark.parametrize("kind", KINDS)
def test_one_place_changed(kind: str) -> None:
    document = certificate(kind)
    places = [path for path in leaves(document) if path != ("digest",)]
    rng = np.random.default_rng(len(kind))
    share = SHARE if SHARE == 1.0 else SHARE / 4
    tried, unread, broken = 0, [], []
    for path in places:
        for value in other_values(document, path):
            if rng.random() > share:
                continue
            tried += 1
            changed = put(document, path, value)
            hostile = sealed(changed)
            verdict = check(hostile)
            assert verdict.step != "digest" or hostile["digest"] == "sha256:0"
            if verdict and why_harmless(path, at(document, path), at(changed, path)) is None:
                unread.append((named(path), at(document, path), at(changed, path)))
            if tried % 20 == 0:
                explained = explain(hostile)
                assert explained.holds == bool(verdict)
                broken += [] if explained.text() else [path]
    assert tried > 0
    assert not unread, str(unread[:20])
    assert not broken
