"""What strict readers of JSON refuse, wherever it stands."""

from __future__ import annotations

import json

import pytest

from bayesdp.strict_json import each_key_once, no_number


def read(text: str):
    return json.loads(text, object_pairs_hook=each_key_once, parse_constant=no_number)


def test_what_says_each_thing_once_is_read() -> None:
    assert read('{"a": [1, {"a": 2}], "b": {}}') == {"a": [1, {"a": 2}], "b": {}}


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "\\u0061": 2}}]'])
def test_a_key_that_is_given_twice_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^a key is given twice$"):
        read(text)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_a_word_is_not_a_number(word: str) -> None:
    with pytest.raises(ValueError, match=f"^{word} is not a number$"):
        read(f'{{"a": {word}}}')
