"""Checks against the pyAgrum library, run by test_model.py in a process of its own.

Nothing here imports it before it is asked to: where warnings are errors, its import crashes.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from typing import Any

import numpy as np
import pytest

from bayesdp.causal import CausalModel
from bayesdp.errors import InputError
from bayesdp.populations import Network
from tests.causal.models import relatives


def reading(gum: Any) -> None:
    """A network becomes a model, with the roles that are named, and the same law."""
    network = gum.fastBN("gene{no|yes}->anna{well|ill}->record_a{well|ill};gene->ben->record_b")
    for node in network.nodes():
        network.generateCPT(node)
    names: dict[str, Any] = {"data": ["record_a", "record_b"], "latent": ["gene"]}
    model = CausalModel.from_pyagrum(network, **names, source="us")
    assert model == CausalModel.from_pyagrum(gum.CausalModel(network), **names, source="us")
    roles = {node.name: node.role for node in model.nodes}
    assert roles == {
        "gene": "latent",
        "anna": "attribute",
        "ben": "attribute",
        "record_a": "data",
        "record_b": "data",
    }
    inference = gum.LazyPropagation(network)
    inference.addJointTarget({"record_a", "record_b"})
    inference.makeInference()
    joint = inference.jointPosterior({"record_a", "record_b"})
    law = model.population().array
    for a in range(2):
        for b in range(2):
            assert abs(law[a, b] - joint[{"record_a": a, "record_b": b}]) < 1e-6
    wide = gum.fastBN("a{0|1}->x{0|1|2}<-b{0|1|2|3}")
    for node in wide.nodes():
        wide.generateCPT(node)
    read = CausalModel.from_pyagrum(wide, data=["x"])
    (child,) = (node for node in read.nodes if node.name == "x")
    for a in range(2):
        for b in range(4):
            place = {"a": a, "b": b}
            row = np.asarray(child.table)[tuple(place[parent] for parent in child.parents)]
            assert np.allclose(row, [wide.cpt("x")[place | {"x": x}] for x in range(3)], atol=1e-6)
    hidden = gum.CausalModel(network, [("unseen", ["anna", "ben"])])
    with pytest.raises(InputError, match="latent causes with a table"):
        CausalModel.from_pyagrum(hidden, data=names["data"])
    with pytest.raises(InputError, match="Did you mean 'record_a'"):
        CausalModel.from_pyagrum(network, data=["recrd_a"])
    with pytest.raises(InputError, match="with one role"):
        CausalModel.from_pyagrum(network, data=["record_a"], latent=["record_a"])


def rounding(gum: Any) -> None:
    """Rounded tables are rescaled, and said to be, from a file too; others are refused."""
    network = gum.fastBN("gene{a|b|c}->x")
    network.cpt("gene").fillWith([0.3333] * 3)
    for gene in range(3):
        network.cpt("x")[{"gene": gene}] = [0.1, 0.9]
    note = "probabilities that summed to 1 within 0.0001 were rescaled"
    model = CausalModel.from_pyagrum(network, data=["x"])
    assert model.source == model.population().source == note
    assert model.nodes[1].table[0] == (0.1, 0.9)
    network.cpt("gene").fillWith([1 / 7, 2 / 7, 4 / 7])
    model = CausalModel.from_pyagrum(network, data=["x"])
    assert model.source == ""
    assert model.nodes[0].table == (1 / 7, 2 / 7, 4 / 7)
    network.cpt("gene").fillWith([0.3333] * 3)
    with tempfile.TemporaryDirectory() as folder:
        bif = {"file": f"{folder}/genes.bif", "reader": "pyagrum"}
        gum.saveBN(network, bif["file"])
        read = Network(bif=bif)
        assert read.source == f"the network in genes.bif; {note}"
        assert read.nodes[1].table[0] == (0.1, 0.9)
        network.cpt("x")[{"gene": 2}] = [0.5, 0.4]
        gum.saveBN(network, bif["file"])
        with pytest.raises(InputError, match=r"\(genes\.bif, x\)\[2\] is .*They sum to 0\.9\."):
            Network(bif=bif)
    with pytest.raises(InputError, match=r"nodes\[1\]\.table\[2\] is .*They sum to 0\.9\."):
        CausalModel.from_pyagrum(network, data=["x"])


def doing(gum: Any) -> None:
    """Its do-calculus on the network with the output as a node: a third route to `do`."""
    model = relatives(3, 0.2, 0.6)
    network = gum.BayesNet()
    for node in model.nodes:
        network.add(gum.LabelizedVariable(node.name, node.name, list(node.labels)))
    network.add(gum.LabelizedVariable("output", "output", 4))
    for node in model.nodes:
        for parent in node.parents:
            network.addArc(parent, node.name)
    for name in model.records:
        network.addArc(name, "output")
    for node in model.nodes:
        table = np.asarray(node.table)
        for setting in np.ndindex(table.shape[:-1]):
            row = table[setting].tolist()
            place = dict(zip(node.parents, setting, strict=True))
            if place:
                network.cpt(node.name)[place] = row
            else:
                network.cpt(node.name).fillWith(row)
    kernel = model.compiled().kernel
    for x in np.ndindex(2, 2, 2):
        place = dict(zip(model.records, x, strict=True))
        network.cpt("output")[place] = kernel[sum(x)].tolist()
    causal = gum.CausalModel(network)
    _, done, _ = gum.causalImpact(causal, on="output", doing="record 0")
    assert np.allclose(done.toarray(), model.do().laws, atol=1e-6)
    _, seen, _ = gum.causalImpact(causal, on="output", doing=set(), knowing={"record 0"})
    assert np.allclose(seen.toarray(), model.see().laws, atol=1e-6)


if __name__ == "__main__":
    {"reading": reading, "doing": doing, "rounding": rounding}[sys.argv[1]](
        importlib.import_module("pyagrum")
    )
