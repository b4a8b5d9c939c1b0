"""What a population allows: a joint law for every form of statement, from the plain spec alone.

A form that states a single law has that law. Of a form that states less, such as the size of
clusters, a law is drawn at random among all that it allows: brute force on it is a lower bound on
what the population leaks. Nothing here knows the package's or the kernel's reading of a spec.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.oracles import chains, finite, gaussian

Spec = Mapping[str, Any]
Rng = np.random.Generator


@dataclass(frozen=True, eq=False)
class Discrete:
    """A joint law with one axis for each record."""

    joint: np.ndarray

    @property
    def records(self) -> int:
        """How many records it is about."""
        return self.joint.ndim

    def leaks(self, dp_epsilon: float, adversary: str) -> float:
        """What some mechanism of this cost certainly leaks."""
        return finite.worst_case(self.joint, dp_epsilon, adversary).level


@dataclass(frozen=True, eq=False)
class Normal:
    """A joint normal law. A record has a value for each interval of `bounds`; without, a number."""

    covariance: np.ndarray
    bounds: tuple[tuple[float, float], ...] = ()

    @property
    def records(self) -> int:
        """How many records it is about."""
        return len(self.covariance) // max(len(self.bounds), 1)

    def leaks(self, dp_epsilon: float, adversary: str) -> float:
        """What mechanisms that are Lipschitz in the values leak at most, and come near to."""
        if not self.bounds:
            return dp_epsilon * gaussian.shift_factor(self.covariance, adversary)
        widths = [high - low for low, high in self.bounds]
        reads = [
            gaussian.Read(column, low, high, dp_epsilon)
            for column, (low, high) in enumerate(self.bounds)
        ]
        return max(
            gaussian.vector_level(self.covariance, len(widths), [read], widths, adversary)
            for read in reads
        )


Law = Discrete | Normal


# ------------------------------------------------------ forms that allow many laws


def random_joint(rng: Rng, shape: tuple[int, ...]) -> np.ndarray:
    """Any law at all: dense, with zeros, or of records that are all equal."""
    kind = rng.integers(3)
    if kind == 0 and len(set(shape)) == 1:
        joint = np.zeros(shape)
        for value in range(shape[0]):
            joint[(value,) * len(shape)] = rng.random() + 0.1
    else:
        joint = rng.gamma(0.5, size=shape) * (rng.random(shape) < (0.7 if kind == 1 else 1.0))
        joint.flat[0] += 1e-3
    return np.asarray(joint / joint.sum())


def _independent(rng: Rng, spec: Spec) -> Law:
    marginals = [random_joint(rng, (int(rng.integers(2, 4)),)) for _ in range(2)]
    return Discrete(chains.product(*marginals))


def _of_any_law(key: str) -> Callable[[Rng, Spec], Law]:
    def law(rng: Rng, spec: Spec) -> Law:
        return Discrete(random_joint(rng, (2,) * spec[key]))

    return law


def row_between(rng: Rng, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """A law between bounds: a corner, filled up in random order, or a mixture of two."""
    corners = []
    for _ in range(2):
        row, left = lower.copy(), 1.0 - lower.sum()
        for place in rng.permutation(len(row)):
            more = min(upper[place] - lower[place], left)
            row[place] += more
            left -= more
        corners.append(row)
    share = float(rng.choice([0.0, 0.5, 1.0]))
    return np.asarray(share * corners[0] + (1.0 - share) * corners[1])


def _between(rng: Rng, spec: Spec) -> Law:
    lower, upper = (np.asarray(spec[f"transition_{end}"], float) for end in ("lower", "upper"))
    rows = [
        row_between(rng, low, high)
        for low, high in zip(
            lower.reshape(-1, lower.shape[-1]), upper.reshape(-1, upper.shape[-1]), strict=True
        )
    ]
    table = np.reshape(rows, lower.shape)
    return Discrete(chains.joint(table, spec.get("initial", "stationary"), spec["length"]))


def _correlation(rng: Rng, spec: Spec) -> Law:
    size, most = spec["size"], spec["max_correlation"]
    signs = rng.choice([-1.0, 1.0], size=size)
    sizes = most * (np.ones((size, size)) if rng.random() < 0.5 else rng.random((size, size)))
    covariance = np.outer(signs, signs) * np.triu(sizes, 1)
    covariance = covariance + covariance.T + np.eye(size)
    if np.linalg.eigvalsh(covariance)[0] < 1e-3:
        covariance = np.eye(size)
    return Normal(float(rng.choice([0.5, 4.0])) * covariance)


def _regression(rng: Rng, spec: Spec) -> Law:
    """Any covariance, its correlations made weaker until the sums of regressions are small."""
    loadings = rng.normal(size=(spec["size"], spec["size"]))
    covariance = loadings @ loadings.T + 0.1 * np.eye(spec["size"])
    spread = np.diag(np.exp(rng.normal(size=spec["size"])))
    covariance = spread @ covariance @ spread
    while gaussian.shift_factor(covariance) > 1.0 + spec["max_regression_sum"]:
        covariance = 0.8 * covariance + 0.2 * np.diag(np.diag(covariance))
        if spec["max_regression_sum"] == 0.0:
            covariance = np.diag(np.diag(covariance))
    return Normal(covariance)


def _family(rng: Rng, spec: Spec) -> Law:
    members = spec["members"]
    return a_law(rng, members[rng.integers(len(members))])


# ------------------------------------------------------ normal laws and laws in files


def _covariance(rng: Rng, spec: Spec) -> Law:
    bounds = tuple((float(low), float(high)) for low, high in spec.get("bounds", ()))
    return Normal(np.asarray(spec["covariance"], dtype=float), bounds)


def _precision(rng: Rng, spec: Spec) -> Law:
    stated = spec["precision"]
    matrix = _read_matrix(Path(stated)) if isinstance(stated, str) else np.asarray(stated, float)
    # Column by column, with no routine for inverses.
    columns = [np.linalg.solve(matrix, unit) for unit in np.eye(len(matrix))]
    return Normal(np.stack(columns, axis=1))


def _read_matrix(path: Path) -> np.ndarray:
    head, *lines = path.read_text().splitlines()
    assert head.split()[1:] == ["matrix", "coordinate", "real", "symmetric"]
    size = int(lines[0].split()[0])
    matrix = np.zeros((size, size))
    for i, j, entry in (line.split() for line in lines[1:]):
        matrix[int(i) - 1, int(j) - 1] = matrix[int(j) - 1, int(i) - 1] = float(entry)
    return matrix


def _autoregressive(rng: Rng, spec: Spec) -> Law:
    apart = np.abs(np.subtract.outer(np.arange(spec["length"]), np.arange(spec["length"])))
    return Normal(float(spec["coefficient"]) ** apart)


def _panel(rng: Rng, spec: Spec) -> Law:
    """Factors of records and of pairs with the declared odds ratios, of either sign."""
    series, length, records = spec["series"], spec["length"], spec["series"] * spec["length"]
    # Left open: members at one step are all but equal, and so is what shows of the state.
    now, shown = (spec.get(key, 50.0) for key in ("others_now", "shared_now"))
    shared = spec.get("shared_previous")
    factors: list[dict[str, Any]] = []

    def pair(first: int, second: int, ratio: float) -> None:
        table = [[ratio, 1.0], [1.0, 1.0]]
        if rng.random() < 0.5:
            table.reverse()
        factors.append({"between": [first, second], "table": table})

    for step, member in itertools.product(range(length), range(series)):
        record, later = step * series + member, (step + 1) * series
        factors.append({"between": [record], "table": np.exp(rng.normal(size=2)).tolist()})
        for other in range(member + 1, series):
            pair(record, step * series + other, now)
        for other in range(series if step + 1 < length else 0):
            own = other == member
            pair(
                record,
                later + other,
                spec["own_previous"] if own else spec["others_previous"],
            )
        if shared is not None:
            pair(record, records + step, shown)
    for step in range(length - 1 if shared is not None else 0):
        pair(records + step, records + step + 1, shared)
    law = chains.factor_graph(records + (length if shared is not None else 0), 2, factors)
    return Discrete(law.reshape((2,) * records + (-1,)).sum(axis=-1))


def _edges(rng: Rng, spec: Spec) -> Law:
    edges = spec["edges"]
    if isinstance(edges, str):
        with Path(edges).open(newline="") as lines:
            edges = [[int(cell) for cell in row] for row in list(csv.reader(lines))[1:]]
    return Discrete(chains.from_spec({**spec, "edges": edges}))


VARIABLE = re.compile(r"variable (\w+) \{\s*type discrete \[ *(\d+) *\] *\{([^}]*)\};\s*\}")
FAMILY = re.compile(r"probability \( *(\w+)(?: *\| *([\w, ]+?))? *\) \{([^}]*)\}")


def read_bif(text: str) -> list[dict[str, Any]]:
    """The nodes of a network file in the plain style: `table p, ...;` or `(value, ...) p, ...;`."""
    values = {
        name: [value.strip() for value in listed.split(",")]
        for name, _, listed in VARIABLE.findall(text)
    }
    nodes = []
    for name, above, body in FAMILY.findall(text):
        parents = [parent.strip() for parent in above.split(",")] if above else []
        table = np.zeros([len(values[node]) for node in (*parents, name)])
        for line in filter(None, (part.strip() for part in body.split(";"))):
            cell: tuple[int, ...] = ()
            numbers = line.removeprefix("table")
            if line.startswith("("):
                given, numbers = line[1:].split(")")
                cell = tuple(
                    values[parent].index(value.strip())
                    for parent, value in zip(parents, given.split(","), strict=True)
                )
            table[cell] = np.reshape([float(p) for p in numbers.split(",")], table[cell].shape)
        nodes.append({"name": name, "states": values[name], "parents": parents, "table": table})
    return sorted(nodes, key=lambda node: list(values).index(node["name"]))


def _file(rng: Rng, spec: Spec) -> Law:
    return Discrete(chains.network(read_bif(Path(spec["bif"]).read_text())))


def _of_spec(rng: Rng, spec: Spec) -> Law:
    return Discrete(chains.from_spec(spec))


ORACLES: dict[str, Callable[[Rng, Spec], Law]] = {
    "independent": _independent,
    "clusters": _of_any_law("size"),
    "unknown": _of_any_law("records"),
    "markov": _of_spec,
    "markov intervals": _between,
    "autoregressive": _autoregressive,
    "panel": _panel,
    "gaussian covariance": _covariance,
    "gaussian vectors": _covariance,
    "gaussian precision": _precision,
    "gaussian correlation": _correlation,
    "gaussian regression": _regression,
    "finite": _of_spec,
    "graph factors": _of_spec,
    "graph edges": _edges,
    "graph grid": _of_spec,
    "tree": _of_spec,
    "network nodes": _of_spec,
    "network file": _file,
    "family": _family,
}
"""A law of a population of each form, drawn with the generator where the form allows several."""

KEYS = {
    "markov": {"transition": "markov", "transition_lower": "markov intervals"},
    "gaussian": {
        "precision": "gaussian precision",
        "columns": "gaussian vectors",
        "covariance": "gaussian covariance",
        "max_regression_sum": "gaussian regression",
        "max_correlation": "gaussian correlation",
    },
    "graph": {"factors": "graph factors", "edges": "graph edges", "grid": "graph grid"},
    "network": {"nodes": "network nodes", "bif": "network file"},
}


def form_of(spec: Spec) -> str:
    """The form of a spec: its model, and of a model with several forms the key that tells."""
    forms = KEYS.get(spec["model"], {})
    return next((form for key, form in forms.items() if key in spec), spec["model"])


def a_law(rng: Rng, spec: Spec) -> Law:
    """A joint law that the population allows."""
    return ORACLES[form_of(spec)](rng, spec)
