"""JSON and TOML documents: one meaning, or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesdp.errors import InputError
from bayesdp.populations import load
from bayesdp.populations.files import MOST_DIGITS, read_json, read_toml

TWICE = '{"model": "clusters", "size": 9, "size": 2}'


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '{"b": [{"a": 1, "c": 2, "a": 2}]}'])
def test_a_key_that_stands_twice_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="'a' stands twice"):
        read_json(text)


def test_the_same_key_in_two_objects_is_fine() -> None:
    assert read_json('[{"a": 1}, {"a": {"a": 2}}]') == [{"a": 1}, {"a": {"a": 2}}]


def test_whole_numbers_beyond_doubles_are_refused() -> None:
    most = "9" * MOST_DIGITS
    assert read_json(f"[{most}]") == [int(most)]
    assert read_toml(f"a = [{{ b = {most} }}]")["a"][0]["b"] == int(most)
    for sign in ("", "-"):
        with pytest.raises(ValueError, match="digits"):
            read_json(f'{{"a": [{sign}{most}9]}}')
        with pytest.raises(ValueError, match="digits"):
            read_toml(f"a = [{{ b = {sign}{most}9 }}]")


def test_populations_are_read_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'size' stands twice"):
        load(TWICE)
    file = tmp_path / "p.json"
    file.write_text(TWICE, encoding="utf-8")
    with pytest.raises(InputError, match="'size' stands twice"):
        load(str(file))
    with pytest.raises(InputError, match="digits"):
        load(f'{{"model": "clusters", "size": {"1" * 400}}}')
