"""Correlation models as data. `parse` reads a spec.

* Models: `independent`, `clusters` (and `unknown`), `finite`, `markov`, `panel`, `tree`, `graph`,
  `network`, `gaussian` (and `autoregressive`), `family`.
* What they share: `base`, `registry`, `directed` (trees and networks), `factors` (graphs in
  arrays), `joint` and `support` (what is possible).
* Files: `files`, `bif`, `edges`, `matrix_market`, `precision`.

To add one: a subclass of `Population` in a file here, and a line in `MODELS`.
"""

from __future__ import annotations

from pathlib import Path

from bayesdp.errors import InputError, text_of_file
from bayesdp.populations.base import Population
from bayesdp.populations.clusters import Clusters, Unknown
from bayesdp.populations.family import Family
from bayesdp.populations.files import read_json, read_toml, search_in
from bayesdp.populations.finite import Finite
from bayesdp.populations.gaussian import Autoregressive, Gaussian
from bayesdp.populations.graph import Graph
from bayesdp.populations.independent import Independent
from bayesdp.populations.markov import MarkovChain
from bayesdp.populations.network import Network
from bayesdp.populations.panel import Panel
from bayesdp.populations.registry import MODELS, parse
from bayesdp.populations.tree import Tree

MODELS.update(
    independent=Independent,
    clusters=Clusters,
    unknown=Unknown,
    finite=Finite,
    markov=MarkovChain,
    panel=Panel,
    tree=Tree,
    graph=Graph,
    network=Network,
    gaussian=Gaussian,
    autoregressive=Autoregressive,
    family=Family,
)

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
    "Panel",
    "Population",
    "Tree",
    "Unknown",
    "load",
    "parse",
]


def load(text: str) -> Population:
    """A population from inline JSON, or from a TOML or JSON file.

    `text` is JSON where it begins with a brace, else a path. A study file works too: its
    `[population]` is taken. Files that the population names are then looked for in its folder, too.
    Raises `InputError` for a file that can't be read, and for what is not a population.
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
    content = text_of_file(path, "POP", expected="inline JSON or a readable file")
    search_in(path.parent)
    try:
        spec = read_json(content) if path.suffix == ".json" else read_toml(content)
    except (ValueError, RecursionError) as error:
        raise InputError(str(path), expected=f"TOML or JSON: {error}", shown=False) from None
    if isinstance(spec, dict) and "model" not in spec and "population" in spec:
        spec = spec["population"]
    return parse(spec)
