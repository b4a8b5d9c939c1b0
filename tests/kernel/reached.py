"""Which certificates can show a mutant: those that come by its place, the likeliest first."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cached_property
from time import process_time
from typing import Any, NamedTuple

from tests.kernel.battery import Shown, digits, refusal, refusals
from tests.kernel.mutants import ENTERED, Function, Mutant, mutated, place_of

Line = tuple[str, int]
MOST_OTHERS = 2000
"""Certificates that a mutant is shown, besides those that are refused where it is."""
KEPT = 12
"""Certificates that are refused at the same lines, by the same calls."""
KEPT_ALIKE = 3
"""Of those, certificates that enter the same functions on the way; these are kept in any case."""


class Reached(NamedTuple):
    """A certificate, the functions that its verdict comes from, and the lines of a refusal.

    Where it is refused, the lines are those that were being run: the check, and all that led to it.
    """

    document: Any
    answer: str
    functions: frozenset[Function]
    refused_at: frozenset[Line]
    seconds: float


class Certificates:
    """The battery, by what each certificate comes by."""

    def __init__(self, battery: Iterable[Shown]) -> None:
        refused: Counter[frozenset[Line]] = Counter()
        alike: Counter[tuple[frozenset[Line], frozenset[Function]]] = Counter()
        self.all: list[Reached] = []
        with mutated(None, noting=True) as kernel:
            for shown in battery:
                reached = _reached(kernel, shown)
                refused[reached.refused_at] += 1
                way = reached.refused_at, reached.functions
                alike[way] += 1
                few = refused[reached.refused_at] <= KEPT
                if not reached.refused_at or few or alike[way] <= KEPT_ALIKE:
                    self.all.append(reached)
        self.all.sort(key=lambda reached: reached.seconds)

    @cached_property
    def by_function(self) -> dict[Function, list[Reached]]:
        """Those that enter each function; under the name "" those that enter any of its file."""
        entering: dict[Function, list[Reached]] = defaultdict(list)
        for reached in self.all:
            files = {(file, "") for file, _ in reached.functions}
            for function in reached.functions | files:
                entering[function].append(reached)
        return entering

    def showing(self, mutant: Mutant) -> list[Reached]:
        """Those whose verdict may be another one with this mutant.

        Without a check those are valid that it refuses, if any are refused there in the end. What
        is run when a module is loaded counts for all that enter the module.
        """
        place = place_of(mutant)
        function = "" if mutant.of_module else mutant.function
        entering = self.by_function.get((place.file, function), [])
        lines = {(place.file, line) for line in range(place.first, place.last + 1)}
        refused = [reached for reached in entering if reached.refused_at & lines]
        if mutant.kind == "dropped" and refused:
            return refused
        others = [reached for reached in entering if not reached.refused_at & lines]
        return [*refused, *others[:: len(others) // MOST_OTHERS + 1]]


def _reached(kernel: Any, shown: Shown) -> Reached:
    """The verdict anew, by a kernel that keeps nothing of the certificates before."""
    _forget()
    ENTERED.clear()
    start = process_time()
    refused_at: set[Line] = set()
    answer = _traced(kernel, shown.document, refused_at)
    valid = answer not in ("INVALID", "UNKNOWN")
    assert shown.valid in (None, valid), (kernel.check(shown.document), shown.document)
    return Reached(
        shown.document, answer, frozenset(ENTERED), frozenset(refused_at), process_time() - start
    )


def _traced(kernel: Any, document: Any, refused_at: set[Line]) -> str:
    """The answer, and the lines of a refusal, which `kernel.check` says in words."""
    try:
        if "derivation" not in document:
            return digits(kernel.certified_level(document))
        arithmetic = sys.modules[f"{kernel.__name__}.arithmetic"]
        with arithmetic.limited(arithmetic.MOST_SECONDS):
            sys.modules[f"{kernel.__name__}.certificates"]._assuming(document)
            arithmetic.check_clock()
            return "VALID ASSUMING"
    except refusals(kernel) as error:
        at: Any = error.__traceback__
        while at is not None:
            refused_at.add((at.tb_frame.f_code.co_filename, at.tb_lineno))
            at = at.tb_next
        return refusal(kernel, error)


def _forget() -> None:
    """What the kernel keeps would hide functions that a certificate needs."""
    package = "bayesdp.kernel"
    sys.modules[f"{package}.reading"]._READ.clear()
    sys.modules[f"{package}.models.graphs"]._last = None  # type: ignore[attr-defined]
    sys.modules[f"{package}.costs.blocks"]._listed.cache_clear()
