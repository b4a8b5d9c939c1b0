"""Files that commands read may begin with a byte order mark."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bayesdp.accounting.what_if.releases import read_releases
from bayesdp.causal import CausalModel
from bayesdp.leakage.channel import read_channel
from bayesdp.leakage.profile.files import read_model

CHANNEL = [[0.75, 0.25], [0.25, 0.75]]
POPULATION = {"model": "independent"}
NODE = {"name": "a", "role": "data", "states": 2, "table": [0.5, 0.5]}


@pytest.mark.parametrize(
    ("read", "document"),
    [
        (read_channel, {"channel": CHANNEL}),
        (read_model, {"population": POPULATION, "channel": CHANNEL}),
        (read_releases, {"population": POPULATION, "releases": []}),
        (lambda path: CausalModel.load(str(path)), {"model": "causal", "nodes": [NODE]}),
    ],
)
def test_documents(tmp_path: Path, read: Callable[[Path], Any], document: dict[str, Any]) -> None:
    files = tmp_path / "plain.json", tmp_path / "marked.json"
    for path, encoding in zip(files, ("utf-8", "utf-8-sig"), strict=True):
        path.write_text(json.dumps(document), encoding=encoding)
    assert read(files[1]) == read(files[0])
