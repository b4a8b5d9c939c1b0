"""Programs that must be accepted, with their cost, and programs that must not, with their place.

The corpus (`corpus.py`) holds the programs and the whole messages. After a deliberate change of
words: BAYESDP_REFRESH_GOLDEN=1, run this file in one process, read the difference.
"""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import pytest

from bayesdp.programs.check.checker import ProgramVerdict
from bayesdp.programs.checked_files import refused, verdict_in
from bayesdp.programs.source import CODES, read_text
from bayesdp.programs.source.syntax.diagnostics import ProgramError, unseen
from tests.golden.corpus import ACCEPTED, FOLDER, REFUSED, Example, change, examples_in

REFRESH = os.environ.get("BAYESDP_REFRESH_GOLDEN") == "1"


def verdict_on(example: Example) -> ProgramVerdict:
    try:
        return verdict_in(read_text(example.text, example.file))
    except ProgramError as error:
        return refused(error, None)


def compare(example: Example, said: str) -> None:
    if REFRESH:
        change(example, said + "\n")
    else:
        assert said + "\n" == example.said


@pytest.mark.parametrize("example", ACCEPTED, ids=lambda example: example.name)
def test_accepted_with_this_cost(example: Example) -> None:
    epsilon, delta = example.detail.strip("()").split(", ")
    verdict = verdict_on(example)
    assert verdict.verdict == "ACCEPTED", str(verdict)
    assert (verdict.dp_epsilon, verdict.dp_delta) == (Fraction(epsilon), Fraction(delta))
    compare(example, str(verdict))


@pytest.mark.parametrize("example", REFUSED, ids=lambda example: example.name)
def test_refused_at_this_place(example: Example) -> None:
    verdict = verdict_on(example)
    assert verdict.verdict == {"REJECT": "REJECTED", "UNKNOWN": "UNKNOWN"}[example.outcome]
    assert verdict.code == example.detail
    assert verdict.code in CODES
    assert verdict.reason
    assert verdict.line is not None
    assert verdict.dp_epsilon == 0
    message = str(verdict)
    compare(example, message)
    _, place, source, caret = message.split("\n")
    assert place.startswith(f"{example.file}:{verdict.line}:")
    assert set(caret.strip()) == {"^"}
    line = example.text.split("\n")[verdict.line - 1].expandtabs(4)
    line = "".join("\ufffd" if unseen(character) else character for character in line)
    shown = source.removeprefix("    ")
    assert shown == line or shown.removeprefix("...").removesuffix("...") in line


def test_the_corpus_is_large_enough_and_in_order() -> None:
    assert len(ACCEPTED) >= 150
    assert len(REFUSED) >= 330
    listed = []
    for path in sorted(FOLDER.iterdir()):
        examples = examples_in(path)
        assert {example.home for example in examples} == {path}
        names = [example.name for example in examples]
        assert names == sorted(names)
        listed += names
    assert len(set(listed)) == len(listed) == len(ACCEPTED) + len(REFUSED)


def test_every_kind_of_refusal_occurs() -> None:
    codes = {example.detail for example in REFUSED}
    assert codes == set(CODES) - {"kernel"}  # no program is known on which the two disagree


def test_whatever_is_no_entry_is_told(tmp_path: Path) -> None:
    path = tmp_path / "import.txt"
    good = (FOLDER / "import.txt").read_text(encoding="utf-8")
    path.write_text(good, encoding="utf-8")
    assert len(examples_in(path)) == good.count("\n--- said\n")
    for wrong in (
        "x\n" + good,
        good.replace("--- said\n", "", 1),
        good.replace("# REJECT", "#", 1),
    ):
        path.write_text(wrong, encoding="utf-8")
        with pytest.raises(ValueError, match=r"import\.txt"):
            examples_in(path)
