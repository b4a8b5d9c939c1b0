"""Certificates are written so that people can read them, and read back as they were."""

from __future__ import annotations

import json

from bayesdp.certificate import in_short


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
