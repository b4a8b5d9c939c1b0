"""Running a checked program: the interpreter, its noise, exact inference, and results.

`run` is the whole way: check, debit, run once, store.
"""

from __future__ import annotations

from bayesdp.programs.run.distributions import Density, Distribution, Joint, Mixture, Samples
from bayesdp.programs.run.machine import Machine
from bayesdp.programs.run.noise import OpenDP, Samplers
from bayesdp.programs.run.readiness import prepared
from bayesdp.programs.run.result import ProgramResult
from bayesdp.programs.run.session import run
from bayesdp.programs.run.spends import spends_of
from bayesdp.programs.run.table import Rows, inspect_table, load

__all__ = [
    "Density",
    "Distribution",
    "Joint",
    "Machine",
    "Mixture",
    "OpenDP",
    "ProgramResult",
    "Rows",
    "Samplers",
    "Samples",
    "inspect_table",
    "load",
    "prepared",
    "run",
    "spends_of",
]
