"""Damaged inputs get an answer or a clear refusal: the corpus is replayed, and others are tried.

`python -m tests.fuzz --minutes 120` tries more; what it found stands in the corpus once mended.
"""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.effort import in_full, runs
from tests.fuzz import targets
from tests.fuzz.mutations import NUMBERS, bytes_damaged, damaged, parts, text_damaged
from tests.fuzz.targets import TARGETS, Target, prepare, run

CORPUS = Path(__file__).parent / "corpus.jsonl"


def corpus() -> list[tuple[str, bytes]]:
    """The inputs that are kept, each with its target; files of ledgers are compressed."""
    lines = map(json.loads, CORPUS.read_text(encoding="ascii").splitlines())
    return [(line["target"], _content(line)) for line in lines]


def _content(line: dict[str, str]) -> bytes:
    if "packed" in line:
        return zlib.decompress(base64.b85decode(line["packed"]))
    return base64.b85decode(line["input"])


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    prepare()


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_kept_gets_an_answer_or_a_refusal(target: str) -> None:
    kept = [content for name, content in corpus() if name == target]
    assert kept
    for content in kept:
        assert run(TARGETS[target], content) is None, content


@pytest.mark.prove
@pytest.mark.parametrize("target", TARGETS)
def test_what_is_damaged_gets_an_answer_or_a_refusal(target: str) -> None:
    @settings(
        max_examples=runs(400 if in_full() else 100),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(st.randoms(use_true_random=False))
    def no_problem(random: Random) -> None:
        content = TARGETS[target].make(random)
        problem = run(TARGETS[target], content)
        assert problem is None, f"{problem}\n{content!r}"

    no_problem()


# -- the limits are seen -----------------------------------------------------------------------


def made(*command: str) -> Target:
    return Target("x.json", lambda random: b"{}", (command,))


def test_a_traceback_a_silent_command_and_a_hang_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(text: str) -> None:
        if text == "slow":
            while True:
                pass
        if text != "silent":
            raise KeyError(text)

    monkeypatch.setattr("bayesdp.populations.load", failing)
    monkeypatch.setattr("bayesdp.cli.conversions.typer.echo", lambda *args, **named: None)
    command = ("notions", "--given", "dp=1", "--population")
    assert "KeyError" in (run(made(*command, "boom"), b"{}") or "")
    monkeypatch.setattr(targets, "SECONDS", 0.2)
    assert "long" in (run(made(*command, "slow"), b"{}") or "")
    monkeypatch.setattr(targets, "BYTES", 1)
    assert "GiB" in (run(made("notions", "--given", "dp=1"), b"{}") or "")


def test_damage_is_of_every_kind_and_leaves_the_original_alone() -> None:
    document = {"a": [1, 2, {"b": "text"}], "c": 0.5}
    before = json.dumps(document)
    seen = {repr(damaged(document, Random(seed))) for seed in range(300)}
    assert len(seen) > 150
    assert json.dumps(document) == before
    assert len(parts(document)) == 6
    assert any(repr(number) in text for text in seen for number in NUMBERS)
    assert len({text_damaged("one two three", Random(seed)) for seed in range(100)}) > 80
    assert len({bytes_damaged(b"one two three", Random(seed)) for seed in range(100)}) > 50


def test_the_corpus_is_small() -> None:
    assert CORPUS.stat().st_size < 200_000
    assert {name for name, _ in corpus()} == set(TARGETS)
