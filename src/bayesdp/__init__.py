"""Bayesian differential privacy for correlated records. Public names load on use."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC: dict[str, str] = {
    "Autoregressive": "bayesdp.populations",
    "BayesdpError": "bayesdp.errors",
    "Clusters": "bayesdp.populations",
    "Gaussian": "bayesdp.populations",
    "Independent": "bayesdp.populations",
    "InputError": "bayesdp.errors",
    "MarkovChain": "bayesdp.populations",
    "Refusal": "bayesdp.errors",
    "Unknown": "bayesdp.populations",
}


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'bayesdp' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_PUBLIC, "__version__"])
