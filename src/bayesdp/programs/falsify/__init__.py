"""The falsifier: looks for small databases on which an accepted program's claims are wrong."""

from __future__ import annotations

from bayesdp.programs.falsify.findings import CheckedObligation, Findings, NeighbouringDatabases
from bayesdp.programs.falsify.search import falsify

__all__ = ["CheckedObligation", "Findings", "NeighbouringDatabases", "falsify"]
