"""Running a checked program: the interpreter, its noise, exact inference, and results.

`run` is the whole way: check, debit, run once, store.

* Before the debit: `readiness`, `table` (`columns` as the program's record declares them),
  `persons` (records of several rows).
* The interpreter: `machine`, with `public` and `private` values (in `steps`), `rows`, `folds`,
  `transitions` and `sizes`.
* Noise: `noise`, `gaussian`, `choose` (exponential mechanism, answers of records), `thresholds`,
  `distances`; `spends` is what the ledger keeps.
* Inference: `observed` into `posteriors`, `latent`, `private_totals`, `regression`, `quadrature`
  and `interpolated`; `generalized` (logistic and Poisson regressions, by an `ensemble` of
  walkers), `times` and `mixtures` (with `events`), `spreads` (of normal records), `shares` (with
  exposures), `pooled` (groups), `chains`, `finite` (hypotheses) and `perturbed` (answers of
  records, whose law is from `channels`); `diagnostics`; `laws` of released numbers, and draws.
* Results: `result`, `distributions` (each with a `law`), `spread`, `divergences`, `figures`.
* The way through the ledger: `session`. A sign at the terminal meanwhile: `waiting`.
"""

from __future__ import annotations

from bayesdp.programs.run.columns import Rows
from bayesdp.programs.run.distributions import Density, Distribution, Joint, Mixture, Samples
from bayesdp.programs.run.machine import Machine
from bayesdp.programs.run.noise import OpenDP, Samplers
from bayesdp.programs.run.readiness import prepared
from bayesdp.programs.run.result import ProgramResult
from bayesdp.programs.run.session import run
from bayesdp.programs.run.spends import spends_of
from bayesdp.programs.run.table import inspect_table, load

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
