"""What docs/trust.md says of tests: each file that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TRUST = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
_NAMED = re.compile(r"`([\w/.]+(?:\.py|\.txt|/))`")


def named() -> list[tuple[str, str]]:
    """The files and folders in each line, with the folder that the line named last before.

    `tests/release/test_replay.py` gives its folder to `test_every_kind.py` beside it.
    """
    pairs = []
    for line in TRUST.splitlines():
        folder = ""
        for name in _NAMED.findall(line):
            if "/" in name:
                folder = name if name.endswith("/") else name.rpartition("/")[0] + "/"
            pairs.append((name, folder))
    return pairs


def test_each_test_that_is_named_is_there() -> None:
    pairs = named()
    assert len(pairs) > 20
    missing = [
        name
        for name, folder in pairs
        if not (ROOT / (name if "/" in name else folder + name)).exists()
    ]
    assert not missing


def test_each_promise_names_a_test() -> None:
    rows = [line for line in TRUST.splitlines() if line.startswith("| ")]
    rows = [row for row in rows if not row.startswith("| promise")]
    assert len(rows) > 15
    for row in rows:
        _, promise, how, last, _ = re.split(r"(?<!\\)\|", row)
        excused = "not promised" in how or "not there yet" in how
        assert last.strip() or "not there yet" in how
        assert _NAMED.search(how) or excused, promise


def test_no_promise_stands_twice() -> None:
    """Two histories that are put together leave both versions of a row."""
    promises = [line.split("|")[1].strip() for line in TRUST.splitlines() if line.startswith("| ")]
    promises = [promise for promise in promises if promise != "promise"]
    assert len(promises) == len(set(promises))
