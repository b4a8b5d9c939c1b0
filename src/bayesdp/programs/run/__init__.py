"""Running a checked program: the interpreter, its noise, exact inference, and results.

Check, debit, run once, store. Each of the rooms imports those before it:

* `results`: distributions, and what a program returns.
* `tables`: from a table to columns and rows.
* `numerics`: sums, integrals and draws, which posteriors are computed with.
* `values`: public and private values, exact.
* `posteriors`: one file a model.
* `draws`: noise, choices, and answers of records.
* `machine`: the interpreter, and the way through readiness, ledger and run.
"""

from __future__ import annotations

from bayesdp.programs.run.draws.noise import OpenDP, Samplers
from bayesdp.programs.run.machine.machine import Machine
from bayesdp.programs.run.machine.readiness import prepared
from bayesdp.programs.run.machine.session import run
from bayesdp.programs.run.machine.spends import spends_of
from bayesdp.programs.run.results.distributions import (
    Density,
    Distribution,
    Joint,
    Mixture,
    Samples,
    single,
)
from bayesdp.programs.run.results.program_result import ProgramResult
from bayesdp.programs.run.tables.columns import Rows
from bayesdp.programs.run.tables.loading import inspect_table, load

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
    "single",
    "spends_of",
]
