"""Correlation models as data, one file each. `parse` reads a spec.

To add one: a subclass of `Population` in a file here, and a line in `MODELS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bayesdp.errors import InputError, did_you_mean
from bayesdp.populations.base import WITHIN_DOUBLES, Population, explain_validation
from bayesdp.populations.clusters import Clusters, Unknown
from bayesdp.populations.family import Family
from bayesdp.populations.files import read_json, read_toml, search_in
from bayesdp.populations.finite import Finite
from bayesdp.populations.gaussian import Autoregressive, Gaussian
from bayesdp.populations.graph import Graph
from bayesdp.populations.independent import Independent
from bayesdp.populations.markov import MarkovChain
from bayesdp.populations.network import Network
from bayesdp.populations.tree import Tree

MODELS: dict[str, type[Population]] = {
    "independent": Independent,
    "clusters": Clusters,
    "unknown": Unknown,
    "finite": Finite,
    "markov": MarkovChain,
    "tree": Tree,
    "graph": Graph,
    "network": Network,
    "gaussian": Gaussian,
    "autoregressive": Autoregressive,
    "family": Family,
}

__all__ = [
    "MODELS",
    "Autoregressive",
    "Clusters",
    "Family",
    "Finite",
    "Gaussian",
    "Graph",
    "Independent",
    "MarkovChain",
    "Network",
    "Population",
    "Tree",
    "Unknown",
    "load",
    "parse",
]


def parse(spec: Mapping[str, Any], key: str = "population") -> Population:
    """The population that a spec (plain data with a `model`) declares, or `InputError`."""
    if not isinstance(spec, Mapping):
        raise InputError(key, spec, expected='a table such as { model = "independent" }')
    model = spec.get("model")
    if model is None:
        raise InputError(
            f"{key}.model", expected="one of " + ", ".join(MODELS), shown=False, remedy="Missing."
        )
    if not isinstance(model, str) or model not in MODELS:
        raise InputError(
            f"{key}.model",
            model,
            expected="one of " + ", ".join(MODELS),
            remedy=did_you_mean(str(model), MODELS),
        )
    kind = MODELS[model]
    try:
        return kind.model_validate(dict(spec))
    except ValidationError as error:
        raise explain_validation(error, kind.model_fields, key) from None
    except OverflowError:
        raise InputError(key, expected=WITHIN_DOUBLES, shown=False) from None
    except RecursionError:
        raise InputError(key, expected="lists of sensible depth", shown=False) from None


def load(text: str) -> Population:
    """A population from inline JSON, or from a TOML or JSON file.

    A study file works too: its `[population]` is taken.
    """
    if text.lstrip().startswith("{"):
        try:
            spec = read_json(text)
        except ValueError as error:
            raise InputError("POP", text, expected=f"JSON: {error}") from None
        except RecursionError:
            raise InputError("POP", text, expected="JSON of sensible depth") from None
        return parse(spec)
    path = Path(text)
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise InputError(
            "POP", text, expected=f"inline JSON or a readable UTF-8 file ({error})"
        ) from None
    search_in(path.parent)
    try:
        spec = read_json(content) if path.suffix == ".json" else read_toml(content)
    except (ValueError, RecursionError) as error:
        raise InputError(str(path), expected=f"TOML or JSON: {error}", shown=False) from None
    if isinstance(spec, dict) and "model" not in spec and "population" in spec:
        spec = spec["population"]
    return parse(spec)
