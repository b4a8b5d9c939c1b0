"""Candidates of another family than the posterior's: no representation gets past the checker."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bayesdp.programs.check.checker import check
from bayesdp.programs.ir import Expr, Release
from bayesdp.programs.source import core_of, read_text
from tests.golden.corpus import ACCEPTED

AXIS = Expr("linspace", tuple(Expr("const", (), (item,)) for item in (1, 5, 5)))


@pytest.mark.parametrize(("family", "verdict"), [("beta", "ACCEPTED"), ("normal", "REJECTED")])
def test_distances_are_inside_one_family(family: str, verdict: str) -> None:
    actual = [
        core_of(source, name, {})
        for example in ACCEPTED
        if "posteriors_of" in example.text
        for source in [read_text(example.text)]
        for name in source.programs
    ]
    program = next(
        item for item in actual if isinstance(item.body[0], Release) and len(item.body) == 1
    )
    release = program.body[0]
    assert isinstance(release, Release)
    grid = Expr("grid-of", (AXIS, AXIS), (family,))
    changed = replace(release, args=(release.args[0], grid))
    assert check(replace(program, body=(changed,))).verdict == verdict
