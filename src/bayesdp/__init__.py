"""Bayesian differential privacy for correlated records. Public names load on use."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC: dict[str, str] = {
    "Autoregressive": "bayesdp.populations",
    "BayesdpError": "bayesdp.errors",
    "Block": "bayesdp.accounting",
    "BudgetExceededError": "bayesdp.errors",
    "Calibration": "bayesdp.calibration",
    "CausalModel": "bayesdp.causal",
    "Certificate": "bayesdp.certificate",
    "Claim": "bayesdp.notions",
    "Clusters": "bayesdp.populations",
    "Cost": "bayesdp.notions",
    "Estimate": "bayesdp.notions",
    "Exact": "bayesdp.notions",
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
    "LeakageReport": "bayesdp.theorems",
    "Ledger": "bayesdp.accounting",
    "LedgerError": "bayesdp.errors",
    "MarkovChain": "bayesdp.populations",
    "Network": "bayesdp.populations",
    "Odometer": "bayesdp.accounting",
    "Population": "bayesdp.populations",
    "Profile": "bayesdp.leakage.profile",
    "RandomizedResponse": "bayesdp.mechanisms",
    "Reading": "bayesdp.accounting",
    "Refusal": "bayesdp.errors",
    "Release": "bayesdp.release.results",
    "Result": "bayesdp.release.results",
    "Spend": "bayesdp.accounting",
    "Study": "bayesdp.release",
    "TableError": "bayesdp.errors",
    "TableMismatchError": "bayesdp.errors",
    "Tree": "bayesdp.populations",
    "Unknown": "bayesdp.populations",
    "UnsupportedError": "bayesdp.errors",
    "UpperBound": "bayesdp.notions",
    "Verification": "bayesdp.release.verify",
    "calibrate": "bayesdp.calibration",
    "calibrate_gaussian": "bayesdp.calibration",
    "calibrate_randomized_response": "bayesdp.calibration",
    "explain": "bayesdp.report.explain",
    "gaussian_noise": "bayesdp.theorems.gaussian_noise",
    "implied": "bayesdp.theorems.relations.search",
    "leakage": "bayesdp.theorems",
    "profile": "bayesdp.leakage.profile",
    "verify": "bayesdp.release.verify",
}


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'bayesdp' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_PUBLIC, "__version__"])
