"""Mutants of the kernel's rules are caught: a certificate's verdict shows each of them.

The sample is fixed by the mutants' names.
"""

from __future__ import annotations

import signal
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from zlib import crc32

import pytest

from tests.effort import in_full
from tests.kernel.battery import Shown, battery
from tests.kernel.mutants import Mutant, file_of, mutants, mutated
from tests.kernel.survivors import EQUIVALENT, OPEN, RARELY_SEEN

pytestmark = pytest.mark.prove
SHARES = {"dropped": 95, "shifted": 95, "turned": 95, "part": 95, "sum": 95, "branch": 54}
"""So many of a thousand, by their names: a check dropped, a comparison shifted, an extreme turned,
a part of a condition lost, a sum or product changed, a branch that is always taken or never."""
RARE = {"loop": 20, "constant": 20}
"""In `make prove` also: the last round of a loop left out, and a whole number one larger."""
PARTS = 4
SECONDS = 5
"""Of the processor, after which a mutant is one that never ends."""


def sample() -> list[Mutant]:
    shares = SHARES | (RARE if in_full() else {})
    return [one for one in mutants() if crc32(one.name.encode()) % 1000 < shares.get(one.kind, 0)]


SAMPLE = sample()
PASSED_OVER = EQUIVALENT.keys() | OPEN | (frozenset() if in_full() else RARELY_SEEN)
ASKED = [mutant for mutant in SAMPLE if mutant.name not in PASSED_OVER]


class _TooLongError(BaseException):
    """No rule may take it for what a certificate can be wrong about."""


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


Function = tuple[str, str]
"""A file of the kernel, and a function in it, or a method with its class."""
ANY: Function = ("", "")


@pytest.fixture(scope="module")
def shown() -> dict[Function, list[Shown]]:
    return by_function(battery(whole=in_full()))


def by_function(certificates: list[Shown]) -> dict[Function, list[Shown]]:
    """For each function of the kernel the certificates whose verdict it has a part in."""
    found: dict[Function, list[Shown]] = defaultdict(list)
    with mutated(None) as kernel:
        for one in certificates:
            for function in _entered(kernel, one):
                found[function].append(one)
    found[ANY] = certificates[::5]
    return found


def _entered(kernel: Any, one: Shown) -> set[Function]:
    codes = set()

    def enter(frame: Any, event: str, _: object) -> None:
        if event == "call":
            codes.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(enter)
    try:
        verdict = kernel.check(one.document)
    finally:
        sys.setprofile(before)
    assert bool(verdict) == one.valid, (verdict, one.document)
    return {(code.co_filename, code.co_qualname.split(".<locals>")[0]) for code in codes}


def caught(mutant: Mutant, shown: list[Shown]) -> bool:
    """Whether a verdict changes, or the mutant never ends."""
    try:
        with _at_most(SECONDS), mutated(mutant) as kernel:
            return any(bool(kernel.check(one.document)) != one.valid for one in shown)
    except _TooLongError:
        return True
    except Exception:  # not even loaded, or an error that no verdict was made of
        return True


@pytest.mark.parametrize("part", range(PARTS))
def test_mutants_are_caught(part: int, shown: dict[Function, list[Shown]]) -> None:
    survivors = []
    for mutant in ASKED[part::PARTS]:
        asked = shown.get((file_of(mutant.module), mutant.function), [])
        if not mutant.function:  # a constant, or a table
            asked = shown[ANY]
        if not caught(mutant, asked):
            survivors.append(mutant.name)
    assert not survivors


def test_there_are_enough_and_each_survivor_is_a_mutant() -> None:
    names = {mutant.name for mutant in mutants()}
    assert len(ASKED) >= 100
    assert EQUIVALENT.keys() <= names
    assert names >= OPEN | RARELY_SEEN
    assert all(len(reason) > 40 for reason in EQUIVALENT.values())
