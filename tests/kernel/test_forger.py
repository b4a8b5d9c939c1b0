"""Nothing that the random forger makes is valid and says more than is true."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

from bayesdp.errors import BayesdpError
from bayesdp.kernel import check
from tests.effort import runs
from tests.kernel.all_kinds import KINDS, certificate
from tests.kernel.forger import forged, only_harmless
from tests.kernel.leaves import at
from tests.kernel.truth import truth

pytestmark = pytest.mark.prove
PARTS = 20
TRIES = runs(100_000) // PARTS
SLOW = ("grid", "program release")
"""Read once in a while only: their proofs take long."""


@pytest.mark.parametrize("part", range(PARTS))
def test_no_forgery_is_valid_and_false(part: int) -> None:
    rng = np.random.default_rng(700 + part)
    verdicts: Counter[str] = Counter()
    quick = [kind for kind in KINDS if kind not in SLOW]
    for number in range(max(TRIES, 1)):
        kinds = KINDS if number % 50 == 0 else quick
        name, other = (kinds[int(rng.integers(len(kinds)))] for _ in range(2))
        base = certificate(name)
        document = forged(rng, base, certificate(other))
        verdict = check(document)
        verdicts[verdict.verdict] += 1
        if not verdict or only_harmless(base, document):
            continue
        try:
            false = truth(document)
        except BayesdpError as error:
            false = f"the package refuses it: {error}"
        assert false is None, (name, other, false, json.dumps(document))
    assert verdicts["INVALID"] > 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_claim_below_the_truth_is_seen(kind: str) -> None:
    document = certificate(kind)
    assert truth(document) is None
    claimed: list[tuple[Any, ...]] = [("claim", "epsilon"), ("data_set", "level")]
    if kind == "relations":
        number = len(document["claim"]["claims"])
        claimed = [("claim", "claims", place, "level") for place in range(number)]
    for *inside, last in claimed:
        lower = certificate(kind)
        if inside[0] in lower:
            # A ledger's level with a delta is at orders fixed beforehand, which are not the best.
            at(lower, tuple(inside))[last] *= 0.5 if inside == ["data_set"] else 0.999
            assert truth(lower) is not None, last
