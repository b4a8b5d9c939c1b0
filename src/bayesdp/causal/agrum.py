"""Nodes of a causal model from the pyAgrum library (extra `networks`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayesdp.errors import InputError, did_you_mean
from bayesdp.populations.directed import pyagrum_node


def nodes_of(network: Any, data: Sequence[str], latent: Sequence[str]) -> list[dict[str, Any]]:
    """The nodes as plain data: from a `pyagrum.CausalModel`, or from a `pyagrum.BayesNet`.

    `data` and `latent` name nodes; all others are attributes. A causal model's latent variables
    are declared without a table, so nothing can be computed. Raises `InputError` for such a model
    (a latent cause is a node of the network, named in `latent`), and for a name that is not a node
    or has two roles.
    """
    if hasattr(network, "latentVariablesIds"):
        hidden = sorted(network.latentVariablesNames())
        if hidden:
            raise InputError(
                "network",
                ", ".join(hidden),
                expected="latent causes with a table",
                remedy="Make each a node of the Bayesian network and name it in `latent`.",
            )
        network = network.observationalBN()
    names = [network.variable(node).name() for node in sorted(network.nodes())]
    roles = dict.fromkeys(names, "attribute")
    for key, wanted in (("data", data), ("latent", latent)):
        for name in wanted:
            if name not in roles or roles[name] != "attribute":
                raise InputError(
                    key,
                    name,
                    expected="the name of a node, with one role",
                    remedy=did_you_mean(name, names),
                )
            roles[name] = key
    return [pyagrum_node(network, name) | {"role": roles[name]} for name in names]
