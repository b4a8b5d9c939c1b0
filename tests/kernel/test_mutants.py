"""Mutants of the kernel's rules are caught: a certificate's verdict shows each of them.

`make prove` asks for every check that is lost, the complete one for other calls too; a share of it
passes over those that only the whole battery shows. Making the battery takes longer than asking it,
so `make test` leaves all of them to `make prove`.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from tests.effort import complete, in_full
from tests.kernel.battery import answer, battery
from tests.kernel.mutants import Mutant, mutants, mutated
from tests.kernel.reached import Certificates, Reached
from tests.kernel.survivors import EQUIVALENT, OPEN, RARELY_SEEN

pytestmark = pytest.mark.prove
ALL_OF = frozenset({"dropped", "lost"} if complete() else {"dropped"})
"""A check lost, or another call."""
PARTS = 16 if complete() else 1
SECONDS = 5
"""Of the processor beyond what the kernel needs, after which a mutant is one that never ends."""


@cache
def chosen() -> list[Mutant]:
    """Fixed by what mutants are, so that code that is changed elsewhere changes nothing here."""
    passed_over = EQUIVALENT.keys() | OPEN | (frozenset() if complete() else RARELY_SEEN)
    asked = [
        mutant for mutant in mutants() if mutant.kind in ALL_OF and mutant.name not in passed_over
    ]
    return asked


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


@pytest.fixture(scope="module")
def certificates() -> Certificates:
    return Certificates(battery(whole=complete()))


def caught(mutant: Mutant, asked: list[Reached]) -> bool:
    """Whether an answer changes, or the mutant never ends."""
    try:
        with mutated(mutant) as kernel:
            return any(_told_apart(kernel, reached) for reached in asked)
    except _TooLongError:
        return True
    except Exception:  # not even loaded, or an error that no verdict was made of
        return True


def _told_apart(kernel: Any, reached: Reached) -> bool:
    with _at_most(SECONDS + 10 * reached.seconds):
        return answer(kernel, reached.document) != reached.answer


@pytest.mark.skipif(not in_full(), reason="asked by `make prove`, and by each share of it")
@pytest.mark.parametrize("part", range(PARTS))
def test_mutants_are_caught(part: int, certificates: Certificates) -> None:
    asked = chosen()[part::PARTS]
    survivors = [item.name for item in asked if not caught(item, certificates.showing(item))]
    assert not survivors


def test_there_are_enough_and_each_survivor_is_a_mutant() -> None:
    names = {mutant.name for mutant in mutants()}
    assert len(chosen()) >= 100
    assert EQUIVALENT.keys() <= names
    assert names >= OPEN | RARELY_SEEN
    assert not EQUIVALENT.keys() & OPEN
    assert all(len(reason) > 40 for reason in EQUIVALENT.values())
