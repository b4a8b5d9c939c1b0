"""What a person at a terminal sees of a release that takes long."""

from __future__ import annotations

import io
import sys
import time

import pytest

from bayesdp.programs.run.machine.terminal_sign import waiting


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("seconds", "seen"), [(0.0, False), (1.0, True)])
def test_a_sign_after_a_while(seconds: float, seen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = _Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with waiting("coin: posterior sample", 0.05 if seconds else 60.0):
        time.sleep(seconds)
    assert ("coin: posterior sample" in screen.getvalue()) == seen


def test_no_sign_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    with waiting("coin", 0.0):
        time.sleep(0.1)
    assert screen.getvalue() == ""
