"""Bayesian differential privacy for correlated records. Public names load on use."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

__version__ = "0.1.0"

_PUBLIC: dict[str, str] = {
    "Autoregressive": "bayesdp.populations",
    "BayesdpError": "bayesdp.errors",
    "Block": "bayesdp.accounting",
    "BudgetExceededError": "bayesdp.errors",
    "Calibration": "bayesdp.notions",
    "CausalModel": "bayesdp.causal",
    "Certificate": "bayesdp.certificate",
    "Claim": "bayesdp.notions",
    "Clusters": "bayesdp.populations",
    "Cost": "bayesdp.notions",
    "Estimate": "bayesdp.numbers",
    "Exact": "bayesdp.numbers",
    "Explanation": "bayesdp.report.explain",
    "FailedError": "bayesdp.errors",
    "Family": "bayesdp.populations",
    "Filter": "bayesdp.accounting",
    "Finite": "bayesdp.populations",
    "Gaussian": "bayesdp.populations",
    "GaussianCalibration": "bayesdp.calibration",
    "Graph": "bayesdp.populations",
    "Independent": "bayesdp.populations",
    "InputError": "bayesdp.errors",
    "LeakageReport": "bayesdp.notions",
    "Ledger": "bayesdp.accounting",
    "LedgerError": "bayesdp.errors",
    "MarkovChain": "bayesdp.populations",
    "Network": "bayesdp.populations",
    "Odometer": "bayesdp.accounting",
    "Panel": "bayesdp.populations",
    "Population": "bayesdp.populations",
    "Profile": "bayesdp.leakage.profile",
    "RandomizedResponse": "bayesdp.mechanisms",
    "Reading": "bayesdp.accounting",
    "Refusal": "bayesdp.errors",
    "Release": "bayesdp.release.results.release",
    "Result": "bayesdp.release.results.result",
    "Spend": "bayesdp.accounting",
    "Study": "bayesdp.release",
    "TableError": "bayesdp.errors",
    "TableMismatchError": "bayesdp.errors",
    "Tree": "bayesdp.populations",
    "Unknown": "bayesdp.populations",
    "UnsupportedError": "bayesdp.errors",
    "Verification": "bayesdp.verification",
    "calibrate": "bayesdp.calibration",
    "calibrate_gaussian": "bayesdp.calibration",
    "calibrate_randomized_response": "bayesdp.calibration",
    "collect": "bayesdp.mechanisms",
    "explain": "bayesdp.report.explain",
    "figure": "bayesdp.report.released",
    "gaussian_noise": "bayesdp.theorems.gaussian_noise",
    "implied": "bayesdp.theorems.relations.search",
    "leakage": "bayesdp.theorems",
    "profile": "bayesdp.leakage.profile",
    "synthesize": "bayesdp.synthetic",
    "verify": "bayesdp.verification",
    "write_report": "bayesdp.report.released",
}


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'bayesdp' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_PUBLIC, "__version__"])


class _PublicIndex(ModuleType):
    """The package as a module in which a room never hides the public name that it shares.

    The function `leakage` has the name of a room. Python binds a room to its name in the package
    when it is first imported; here the function keeps the name, and `from bayesdp.leakage import
    ...` reads the room.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _PUBLIC and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _PublicIndex
