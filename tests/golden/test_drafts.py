"""First drafts of useful programs, as a statistician would write them.

`drafts/` holds each as a text. Its first line says what must come of it: the cost that it is
accepted with, or a part of the message, which names the construct to use. A draft becomes a better
one by a change of the language, never by a change of the draft.
"""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from bayesdp.programs.checked_files import refused, verdict_in
from bayesdp.programs.language_names import SURFACE
from bayesdp.programs.source import read_text
from bayesdp.programs.source.syntax.diagnostics import ProgramError

FOLDER = Path(__file__).parent / "drafts"
DRAFTS = sorted(FOLDER.glob("*.txt"))
ACCEPTED = re.compile(r"# ACCEPT \(([\d./]+), ([\d./]+)\)\n")
REFUSED = re.compile(r"# (REJECT|UNKNOWN) (.+)\n")
IMPORTS = f"from bayesdp.programs import {', '.join(sorted(SURFACE))}\n"
RECORD = (FOLDER / "record").read_text(encoding="utf-8")
"""All drafts are about one table."""


@pytest.mark.parametrize("path", DRAFTS, ids=lambda path: path.stem)
def test_a_draft_gets_its_verdict(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    try:
        verdict = verdict_in(read_text(IMPORTS + RECORD + text, path.name))
    except ProgramError as error:
        verdict = refused(error, None)
    if due := ACCEPTED.match(text):
        assert verdict.verdict == "ACCEPTED", str(verdict)
        cost = tuple(map(Fraction, due.groups()))
        assert (verdict.dp_epsilon, verdict.dp_delta) == cost
        return
    due = REFUSED.match(text)
    assert due is not None, "the first line says what must come of the draft"
    outcome = {"REJECT": "REJECTED", "UNKNOWN": "UNKNOWN"}[due[1]]
    assert verdict.verdict == outcome
    assert due[2] in f"{verdict.reason} {verdict.accepted}"


def test_how_many_are_accepted() -> None:
    """The number only grows."""
    accepted = [path for path in DRAFTS if ACCEPTED.match(path.read_text(encoding="utf-8"))]
    assert len(accepted) >= LEAST_ACCEPTED
    assert len(DRAFTS) >= LEAST_DRAFTS


LEAST_ACCEPTED, LEAST_DRAFTS = 108, 115
