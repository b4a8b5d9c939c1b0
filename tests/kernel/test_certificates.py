"""Honest certificates of every theorem verify; those that say more than follows never do."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from bayesdp.populations import MarkovChain
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.verification import check, read
from tests.effort import runs
from tests.kernel.honest import OF_A_RELEASE, PRESENT, Honest, conversion_by, released
from tests.kernel.mutations import ONE_PLACE, PLAUSIBLE, changed

pytestmark = pytest.mark.prove
HONEST = runs(300, least=42)
MUTATED = runs(300, least=30)


def honest(seed: int, count: int, folder: Path) -> list[Honest]:
    """Two of three are conversions, theorem by theorem; the others are releases."""
    rng = np.random.default_rng(seed)
    rules = [rule for rule in PRESENT if rule != OF_A_RELEASE]
    made = []
    for number in range(count):
        if number % 3 == 2:
            made.append(released(rng, folder, number))
        else:
            made.append(conversion_by(rng, rules[(2 * (number // 3) + number % 3) % len(rules)]))
    return made


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> list[Honest]:
    return honest(91, HONEST, tmp_path_factory.mktemp("ledgers"))


def test_honest_certificates(pool: list[Honest]) -> None:
    rules = Counter(made.rule for made in pool)
    for made in pool:
        verdict = check(read(json.dumps(made.document)))
        assert verdict.verdict == "VALID ASSUMING", (verdict, made.document)
    assert set(rules) >= set(PRESENT), rules


def test_mutated_certificates(pool: list[Honest]) -> None:
    rng = np.random.default_rng(92)
    done: Counter[str] = Counter()
    for number in range(MUTATED):
        made = pool[number % len(pool)]
        changes = PLAUSIBLE if number % 3 == 0 else ONE_PLACE
        name, document = changed(rng, made, changes)
        verdict = check(read(json.dumps(document)))
        assert verdict.verdict in ("INVALID", "UNKNOWN"), (name, made.document, document)
        assert verdict.step != "digest", name
        done[name] += 1
    assert len(done) >= (len(PLAUSIBLE) + len(ONE_PLACE)) / 2, done


def test_a_certificate_of_a_chain_is_small() -> None:
    """Three states, second eigenvalue 0.7: `benchmarks/speed.py kernel` measures the time."""
    rows = np.array([[0.8, 0.15, 0.05], [0.1, 0.75, 0.15], [0.1, 0.1, 0.8]])
    assert sorted(np.abs(np.linalg.eigvals(rows)))[1] == pytest.approx(0.7)
    chain = MarkovChain(transition=rows.tolist(), length=10**6)
    text = conversion_certificate(chain, chain.leakage(1.0)).to_json()
    assert len(text.encode()) < 200_000
    assert check(read(text)).verdict == "VALID ASSUMING"
