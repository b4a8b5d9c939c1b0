"""From marginals to a distribution, and from that to rows: by the library mbi (Private-PGM).

The distribution is the one of most entropy among those whose marginals are closest to the released
ones, weighed by their noise (McKenna, Sheldon and Miklau, 2019, arXiv:1901.09136). What no query
reads together is independent given what queries read together.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayesdp.arrays import Floats, Ints
from bayesdp.errors import UnsupportedError
from bayesdp.synthetic.marginals import EXACT_SHARE, ReleasedMarginal, ReleasedMarginals

MOST_CELLS = 2_000_000
"""The most cells of the tables that an estimate works with."""

STEPS = 5000
"""The most steps of mirror descent; it ends before where the fit no longer gets better."""

TOLERANCE = 1e-3
"""The descent ends where fifty steps don't make the misfit smaller by this share of it, twice."""

SMALLEST_DEVIATION = 0.5
"""Rows are whole: no number is taken for more exact than this."""


def require_mbi() -> None:
    """Raises `UnsupportedError` where the library mbi is not installed."""
    if importlib.util.find_spec("mbi") is None:
        raise UnsupportedError(
            "synthesize",
            expected="the Python package mbi, which is not installed",
            remedy="Install the extra: pip install 'bayesdp[synthetic]'.",
            shown=False,
        )


def drawn_atoms(released: ReleasedMarginals, total: int, rows: int, seed: int) -> list[Ints]:
    """For each attribute the atoms of so many `rows`, drawn from the fitted distribution.

    `total` is the public number of rows of the table. The same arguments give the same rows. Raises
    `UnsupportedError` where mbi is not installed, and where the columns hang together so closely
    that the estimate would need more than `MOST_CELLS` cells.
    """
    require_mbi()
    with _library() as mbi:
        domain = mbi.Domain(
            list(range(len(released.attributes))), list(map(len, released.attributes))
        )
        _check_cells(mbi, domain, released)
        measured = _measurements(mbi, released.marginals)
        model = mbi.estimation.MirrorDescent().estimate(
            domain, measured, known_total=float(total), iters=STEPS, tol=TOLERANCE
        )
        with _seeded(seed):
            table = model.synthetic_data(rows)
        drawn = table.to_dict()
        return [np.asarray(drawn[i], dtype=np.int64) for i in range(len(released.attributes))]


@contextmanager
def _library() -> Iterator[Any]:
    """The library, computing with doubles; what it says about JAX's settings is not shown."""
    import jax

    with jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mbi

        yield mbi


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """The library draws from NumPy's global generator: it is put back as it was."""
    state = np.random.get_state()
    np.random.seed(seed)
    try:
        yield
    finally:
        np.random.set_state(state)


def _check_cells(mbi: Any, domain: Any, released: ReleasedMarginals) -> None:
    tree, _ = mbi.junction_tree.make_junction_tree(domain, [m.clique for m in released.marginals])
    cliques = sorted(mbi.junction_tree.maximal_cliques(tree), key=domain.size)
    cells = sum(map(domain.size, cliques))
    if cells > MOST_CELLS:
        names = [released.attributes[i].name for i in cliques[-1]]
        queries = [m.query for m in released.marginals if set(m.clique) <= set(cliques[-1])]
        raise UnsupportedError(
            "releases",
            expected=f"columns that need at most {MOST_CELLS} cells together: the queries tie "
            f"{' x '.join(names)} to each other, and all need {cells}",
            remedy="Leave out a query that ties them (--without, in Python without=[...]): "
            f"{', '.join(dict.fromkeys(queries))}.",
            shown=False,
        )


def _measurements(mbi: Any, marginals: Sequence[ReleasedMarginal]) -> list[Any]:
    """What mbi fits: each number divided by its standard deviation, so that all have noise 1."""
    noisy = [m.deviations for m in marginals if np.all(m.deviations > 0.0)]
    exact = EXACT_SHARE * min((float(np.min(part)) for part in noisy), default=0.0)
    measured = []
    for marginal in marginals:
        weights = 1.0 / np.maximum(np.maximum(marginal.deviations, exact), SMALLEST_DEVIATION)
        query = _Sums(marginal.places, weights)
        measured.append(
            mbi.LinearMeasurement(marginal.counts * weights, marginal.clique, 1.0, query)
        )
    return measured


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over the combinations that belong to each number, times its weight.

    Equal ones are equal, so that JAX compiles the same sums once.
    """

    places: Ints
    weights: Floats

    def __call__(self, factor: Any) -> Any:
        import jax

        size = len(self.weights)
        places = np.where(self.places < 0, size, self.places)
        sums = jax.ops.segment_sum(factor.datavector(), places, num_segments=size + 1)
        return sums[:size] * self.weights

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Sums) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    @cached_property
    def _content(self) -> tuple[bytes, bytes]:
        return self.places.tobytes(), self.weights.tobytes()

    def op_norm_sq(self) -> float:
        """The square of the operator's norm, which mbi takes its first step from."""
        belonging = self.places[self.places >= 0]
        many = np.bincount(belonging, minlength=len(self.weights))
        return float(np.max(many * self.weights**2, initial=1e-12))
