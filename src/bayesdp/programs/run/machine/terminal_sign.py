"""A sign at a terminal while a long release is at work. It tells nothing else.

No bar: how far a choice has come, and how many records there are, can be private.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any


@contextmanager
def waiting(words: str, after: float = 1.0) -> Iterator[None]:
    """Show the words at a terminal if it takes longer than `after` seconds."""
    if not sys.stderr.isatty():
        yield
        return
    statuses: list[Any] = []

    def show() -> None:
        from rich.console import Console

        statuses.append(Console(stderr=True).status(words))
        statuses[0].start()

    timer = Timer(after, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for status in statuses:
            status.stop()
