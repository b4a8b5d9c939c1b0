"""Every accepted program against the falsifier, and the table of docs/program-audit.md."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from bayesdp.programs.check.checker import check
from bayesdp.programs.falsify import falsify
from bayesdp.programs.ir import Program, Release, flat
from tests.effort import runs
from tools.make_program_audit import BEGIN, PAGE, programs, row, stored

NAMES = sorted(stored())
STRIDE = max(1, len(NAMES) // runs(len(NAMES)))


@cache
def accepted() -> dict[str, Program]:
    return dict(programs())


@pytest.mark.prove
@pytest.mark.parametrize("name", NAMES)
def test_no_excess(name: str) -> None:
    """On fewer databases here than in the table; in full with `make prove`."""
    program = accepted()[name]
    verdict = check(program)
    assert verdict.verdict == "ACCEPTED", verdict.reason
    counterexample = falsify(program, verdict, 4 if STRIDE == 1 else 2, 6000 if STRIDE == 1 else 40)
    assert not counterexample.excess
    assert counterexample.pairs > 0
    assert counterexample.tightness <= 1 + 1e-9


def test_the_page_lists_every_accepted_program() -> None:
    """If this or the next fails: `python -m tools.make_program_audit`."""
    assert sorted(accepted()) == NAMES
    assert PAGE.name == "program-audit.md"


@pytest.mark.prove
@pytest.mark.parametrize("name", NAMES[::STRIDE])
def test_rows_of_the_page_hold(name: str) -> None:
    assert stored()[name] == row(name, accepted()[name])


# -- what checking costs -------------------------------------------------------------------------


def calls(program: Program, n: int) -> tuple[int, str]:
    """How many Python functions are called, the same on every machine; the verdict."""
    count = 0

    def seen(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(seen)
    try:
        verdict = check(program, n)
    finally:
        sys.setprofile(None)
    return count, verdict.verdict


def test_imports_are_done() -> None:
    """So that they aren't counted below."""
    assert all(check(accepted()[name]).verdict == "ACCEPTED" for name in NAMES[::20])


@pytest.mark.prove
@pytest.mark.parametrize("name", NAMES[:: max(1, STRIDE // 3)])
def test_checking_costs_the_same_for_ten_records_and_a_million(name: str) -> None:
    program = accepted()[name]
    check(program, 10)  # whatever is imported on the way
    (few, first), (many, second) = calls(program, 10), calls(program, 10**6)
    if first == second == "ACCEPTED":
        assert many <= 1.5 * few
        assert few <= 1.5 * many
    assert (
        many < 2_000_000
    )  # two thousand releases, each held by the rules; most take a few thousand


def test_checking_loads_no_heavy_library() -> None:
    path = Path(PAGE).parent / "examples" / "programs" / "coin.py"
    script = (
        "import sys\n"
        "from bayesdp.programs.source.syntax.source_file import read_file\n"
        "from bayesdp.programs.source.lower import lower\n"
        "from bayesdp.programs.check.checker import check\n"
        f"source = read_file(__import__('pathlib').Path({str(path)!r}))\n"
        "assert all(check(lower(source, name)).verdict == 'ACCEPTED' for name in source.programs)\n"
        "heavy = {'numpy', 'scipy', 'opendp', 'jax', 'numpyro', 'pandas', 'z3', "
        "'cvc5', 'duckdb', 'ibis', 'sqlalchemy'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert outcome.stdout.strip() == "[]"


def test_every_ratio_below_1_has_its_reason_on_the_page() -> None:
    """Programs that choose or draw are one reason; the others are named."""
    prose = PAGE.read_text(encoding="utf-8").split(BEGIN)[0]
    chooses = {"exponential", "per-record-exponential", "posterior-sample"}
    for name, line in stored().items():
        if float(line.split("|")[3]) > 0.99:
            continue
        ops = {item.op for item in flat(accepted()[name].body) if isinstance(item, Release)}
        assert ops & chooses or f"`{name.split(':')[0]}`" in prose, name
