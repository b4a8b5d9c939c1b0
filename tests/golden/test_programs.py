"""Programs that must be accepted, with their cost, and programs that must not, with their place.

The first line of each file says what must come out: `# ACCEPT (epsilon, delta): why`, or
`# REJECT code: why`, or `# UNKNOWN code: why`. The whole message stands beside it as a golden text.
After a deliberate change of words: BAYESDP_REFRESH_GOLDEN=1, run this file, read the difference.
"""

from __future__ import annotations

import os
import re
from fractions import Fraction
from pathlib import Path

import pytest

from bayesdp.programs.source import CODES, read_file
from bayesdp.programs.source.diagnostics import ProgramError, unseen
from bayesdp.programs.verdicts import refused, verdict_in

FOLDER = Path(__file__).parent / "programs"
ACCEPTED = sorted((FOLDER / "accepted").glob("*.py"))
REJECTED = sorted((FOLDER / "rejected").glob("*.py"))
REFRESH = os.environ.get("BAYESDP_REFRESH_GOLDEN") == "1"
COST = re.compile(r"# ACCEPT \(([\d./]+), ([\d./]+)\): \S")
NO = re.compile(r"# (REJECT|UNKNOWN) ([a-z-]+): \S")


def verdict_on(path: Path):
    try:
        return verdict_in(read_file(path))
    except ProgramError as error:
        return refused(error, None)


def compare(path: Path, said: str) -> None:
    golden = path.with_suffix(".txt")
    if REFRESH:
        golden.write_text(said + "\n", encoding="utf-8")
    assert said + "\n" == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda one: one.stem)
def test_accepted_with_this_cost(path: Path) -> None:
    said = COST.match(path.read_text(encoding="utf-8"))
    assert said, "the first line states the cost"
    found = verdict_on(path)
    assert found.verdict == "ACCEPTED", str(found)
    assert (found.dp_epsilon, found.dp_delta) == (Fraction(said[1]), Fraction(said[2]))
    compare(path, str(found))


@pytest.mark.parametrize("path", REJECTED, ids=lambda one: one.stem)
def test_refused_at_this_place(path: Path) -> None:
    said = NO.match(path.read_text(encoding="utf-8"))
    assert said, "the first line states why"
    found = verdict_on(path)
    assert found.verdict == {"REJECT": "REJECTED", "UNKNOWN": "UNKNOWN"}[said[1]], str(found)
    assert found.code == said[2]
    assert found.code in CODES
    assert found.reason
    assert found.line is not None
    assert found.dp_epsilon == 0
    message = str(found)
    compare(path, message)
    _, place, source, caret = message.split("\n")
    assert place.startswith(f"{path.name}:{found.line}:")
    assert set(caret.strip()) == {"^"}
    line = path.read_text(encoding="utf-8").split("\n")[found.line - 1].expandtabs(4)
    line = "".join("\ufffd" if unseen(one) else one for one in line)
    shown = source.removeprefix("    ")
    assert shown == line or shown.removeprefix("...").removesuffix("...") in line


def test_the_corpus_is_large_enough_and_every_text_has_its_program() -> None:
    assert len(ACCEPTED) >= 50
    assert len(REJECTED) >= 150
    texts = {one.with_suffix("") for one in FOLDER.glob("*/*.txt")}
    assert texts == {one.with_suffix("") for one in (*ACCEPTED, *REJECTED)}


def test_every_kind_of_refusal_occurs() -> None:
    codes = {NO.match(one.read_text(encoding="utf-8"))[2] for one in REJECTED}  # type: ignore[index]
    assert codes == set(CODES) - {"kernel"}  # no program is known on which the two disagree
