"""The falsifier: looks for small databases on which an accepted program's claims are wrong.

`search` goes over the `witnesses` and `paths`, of which `contributions` says what a program can
tell apart; `releases` has a release's obligations and loss, from `values`, `losses`, `thresholds`
and `posteriors`; `findings` keeps the worst, and `findings_text` says it.
"""

from __future__ import annotations

from bayesdp.programs.falsify.findings import CheckedObligation, Findings, NeighbouringDatabases
from bayesdp.programs.falsify.search import falsify

__all__ = ["CheckedObligation", "Findings", "NeighbouringDatabases", "falsify"]
