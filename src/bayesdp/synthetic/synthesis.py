"""`bayesdp.synthesize`: a synthetic table from the released counts of one data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesdp.arrays import Floats, Ints
from bayesdp.errors import InputError, whole_number
from bayesdp.synthetic.attributes import Attribute
from bayesdp.synthetic.estimate import drawn_atoms
from bayesdp.synthetic.marginals import released_marginals
from bayesdp.synthetic.note import note_of
from bayesdp.synthetic.releases import columns_of_all, read_releases
from bayesdp.verification import Checkable

if TYPE_CHECKING:
    import pandas

MOST_ROWS = 10_000_000
MOST_SEED = 2**32 - 1


def synthesize(
    releases: Checkable | Sequence[Checkable],
    *,
    rows: int | None = None,
    seed: int = 0,
    intervals: bool = False,
    without: Sequence[str] = (),
) -> pandas.DataFrame:
    """A made-up table whose counts are close to the released ones. It costs nothing.

    It has a column for each column of the data set's table that a released count, proportion or
    histogram is about, also by groups and under conditions, and as many rows as that table (`n`,
    which is public), or `rows`. A column of states has its states. Of a column of numbers only
    intervals were released: a number is drawn evenly from its interval, or with `intervals` the
    text of the interval stands in its place. Columns without declared bounds have intervals always.

    `releases` is a release, its certificate, the certificate's document, text or file, or a list of
    them, all of one data set. Only what their certificates state is read, so the table reveals no
    more than the releases do together. The same arguments give the same table, as
    `seed` says. Queries whose names are in `without` are not used.

    `table.attrs["note"]` says, as plain data, what the table is made of and what it isn't: which
    releases and their levels, which queries were used, how closely the table agrees with the
    released numbers, and which pairs of columns no query read together, so that their association
    is a guess (they are independent given the others).

    Raises `Refusal` where a certificate doesn't verify, `InputError` for releases of different data
    sets, columns or sizes, of records of several rows, and for wrong arguments, `UnknownNameError`
    for a name in `without` that no query has, and `UnsupportedError` where no number is a count,
    where the queries tie too many columns together, and without the extra `synthetic`. Source:
    McKenna, Sheldon and Miklau, 2019, arXiv:1901.09136; theory 2.4.
    """
    whole_number("seed", seed, least=0, most=MOST_SEED)
    if isinstance(without, str):
        raise InputError("without", without, expected="a list of names of queries")
    verified = read_releases(releases)
    stated = [release.stated for release in verified]
    released = released_marginals(stated, columns_of_all(verified), without)
    total = stated[0].n
    many = whole_number(
        "rows",
        total if rows is None else rows,
        most=MOST_ROWS,
        remedy="" if rows is not None else f"The table has {total}: say how many rows are drawn.",
    )
    atoms = drawn_atoms(released, total, many, seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(many)  # the library draws column by column, partly sorted
    atoms = [drawn[order] for drawn in atoms]

    import pandas

    cells = {
        attribute.name: _cells(attribute, drawn, rng, intervals)
        for attribute, drawn in zip(released.attributes, atoms, strict=True)
    }
    table = pandas.DataFrame(cells)
    table.attrs["note"] = note_of(verified, released, atoms, seed=seed)
    return table


def _cells(
    attribute: Attribute, atoms: Ints, rng: np.random.Generator, intervals: bool
) -> list[object] | Floats:
    """The cells of a column, from the atoms of its rows."""
    shown = attribute.intervals
    if not shown:
        return [attribute.values[atom] for atom in atoms]
    if intervals or not all(interval.finite for interval in shown):
        return [str(shown[atom]) for atom in atoms]
    low = np.array([i.low if i.closed[0] else np.nextafter(i.low, np.inf) for i in shown])
    high = np.array([i.high if i.closed[1] else np.nextafter(i.high, -np.inf) for i in shown])
    share = rng.random(len(atoms))
    numbers = low[atoms] * (1.0 - share) + high[atoms] * share
    return np.clip(numbers, low[atoms], high[atoms])
