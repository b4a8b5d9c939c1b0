"""Packed texts are read back as they were written, and nothing else is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import packed
from tests.golden.packed import Packed, written

TEXTS = {"a": "one\n\n  two\n", "b": "== three ===\n"}


def test_texts_come_back_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "kind.txt").write_text(written(TEXTS), encoding="utf-8")
    assert Packed("kind", tmp_path).texts() == TEXTS


@pytest.mark.parametrize("text", ["no last line", "a\n=== b\nc\n"])
def test_a_text_that_would_be_read_otherwise_is_not_written(text: str) -> None:
    with pytest.raises(ValueError, match="name"):
        written({"name": text})


@pytest.mark.parametrize(
    "file",
    [
        "stray\n=== a\ntext\n",
        "=== b\ntext\n=== a\ntext\n",
        "=== a\ntext\n=== a\nother\n",
        "=== a\nno last line",
    ],
)
def test_other_files_are_refused(file: str, tmp_path: Path) -> None:
    (tmp_path / "kind.txt").write_text(file, encoding="utf-8")
    with pytest.raises(ValueError, match=r"line|sorted"):
        Packed("kind", tmp_path).texts()


def test_another_text_fails_or_is_written_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kind.txt").write_text(written(TEXTS), encoding="utf-8")
    kind = Packed("kind", tmp_path)
    monkeypatch.setattr(packed, "REFRESH", False)
    kind.compare("a", TEXTS["a"])
    with pytest.raises(AssertionError):
        kind.compare("a", "other\n")
    assert kind.texts() == TEXTS
    monkeypatch.setattr(packed, "REFRESH", True)
    kind.compare("a", "other\n")
    assert kind.texts() == TEXTS | {"a": "other\n"}
