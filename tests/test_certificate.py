"""Certificates are written so that people can read them, and read back as they were."""

from __future__ import annotations

import json
import math

import pytest

from bayesdp.certificate import Certificate, Step, content_of, digest, in_short
from bayesdp.numbers import UpperBound


def test_lists_of_plain_values_stand_on_one_line_and_nothing_changes():
    document = {
        "flows": [[0, 1, 0.5], [2, 3, 1e-9]],
        "text": 'x [ y ] z, "[\n1 ]" \\',
        "deep": [[], [{}], ["a ] b", "c"], [[1], 2]],
    }
    text = in_short(document)
    assert json.loads(text) == document
    assert "[0, 1, 0.5]" in text
    assert len(text.splitlines()) < len(json.dumps(document, indent=1).splitlines())


def in_short_plainly(value, line="\n"):
    """The same text by the standard encoder, value by value."""
    if isinstance(value, dict) and value:
        inner = [
            f"{line} {json.dumps(key)}: {in_short_plainly(part, line + ' ')}"
            for key, part in value.items()
        ]
        return "{" + ",".join(inner) + line + "}"
    if isinstance(value, list) and any(isinstance(part, dict | list) for part in value):
        inner = [f"{line} {in_short_plainly(part, line + ' ')}" for part in value]
        return "[" + ",".join(inner) + line + "]"
    return json.dumps(value, ensure_ascii=False)


def test_texts_are_those_of_the_standard_encoder():
    numbers = [0.1, -0.0, 1e16, 1e-7, 5, True, None, UpperBound(0.3), "n\u00e4h"]
    document = {"all": numbers, "each": dict(enumerate_names(numbers)), "rows": [[1, 2.5], [0.1]]}
    document |= {"empty": [{}, [], ""], "bound": UpperBound(1e-300), "one": [UpperBound(2.0)]}
    assert in_short(document) == in_short_plainly(document)
    for number in (math.inf, -math.inf, math.nan):
        for refused in ([number], {"x": number}, [[0.5, number]]):
            with pytest.raises(ValueError, match="JSON"):
                in_short({"value": refused})


def test_each_value_of_a_long_list_stands_on_one_line():
    nodes = [{"name": f"p{i}", "table": [[0.5, 0.5], [0.1, 0.9]]} for i in range(101)]
    assert in_short({"nodes": nodes[:100]}) == in_short_plainly({"nodes": nodes[:100]})
    text = in_short({"nodes": nodes})
    assert json.loads(text) == {"nodes": nodes}
    assert '\n  {"name": "p0", "table": [[0.5, 0.5], [0.1, 0.9]]},\n' in text
    assert len(text.splitlines()) == len(nodes) + 4
    for odd in ('}, {"name": "p1"', [{"inside": 1}, {"inside": 2}], [], {}):  # looks like two nodes
        others = [*nodes[:100], {"name": odd}]
        text = in_short({"nodes": others})
        assert json.loads(text) == {"nodes": others}
        assert len(text.splitlines()) == len(others) + 4
    mixed = [*nodes, [1, {"a": 2}, {"b": 3}], 4.5]
    assert json.loads(in_short({"nodes": mixed})) == {"nodes": mixed}
    nodes[100]["table"][1][1] = math.nan
    with pytest.raises(ValueError, match="JSON"):
        in_short({"nodes": nodes})


def enumerate_names(values):
    return ((f"n{place}", value) for place, value in enumerate(values))


def test_a_certificate_that_is_changed_later_keeps_its_digest():
    certificate = Certificate({"n": 3}, Step("independent", {"epsilon": 1.0}))
    before = certificate.to_dict()
    assert before["digest"] == digest(content_of(before))
    certificate.body["n"] = 4
    assert certificate.to_dict()["digest"] == before["digest"]
    assert digest(content_of(certificate.to_dict())) != before["digest"]
