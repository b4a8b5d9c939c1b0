"""Data sets of the same people, replayed with one person replaced in all of them at once.

Random studies on two small tables with one budget, of numbers and of programs, each released by the
real path. A person is in both tables, and may be anybody else there: what the noise of all releases
tells of them together is at most what the last certificate says that these people have spent, and
what a release tells is at most its own claim. The ledger's sum is that of the certificates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesdp import Study
from bayesdp.accounting.costs import spend as accounting_spend
from bayesdp.accounting.costs.composition import level
from bayesdp.accounting.ledger import Ledger
from bayesdp.kernel import check
from tests.effort import in_full, runs
from tests.release.program_writer import ALL, StudyWriter
from tests.release.replayed import Loss, losses, of_query, total, within
from tests.release.test_replay import (
    COLUMNS,
    JOIN,
    RECORDS,
    Rng,
    Spec,
    by_shop,
    folder,
    integers,
    query,
    random_rows,
    some,
    table,
)
from tests.release.test_replay_programs import made, tables, writer_for

__all__ = ["folder"]

BUDGETS: dict[str, Spec] = {
    "pure": {"notion": "dp", "epsilon": 1e6},
    "with deltas": {"notion": "dp", "epsilon": 1e6, "delta": 1e-5, "mechanism_delta": 9e-6},
    "a population": {"epsilon": 1e6, "adversary": "informed"},
    "Gaussian noise": {"epsilon": 1e6, "delta": 1e-6, "noise": "gaussian"},
}
NUMBERS = ["a row", "any rows", "few rows", "two rows", "a wide row", "wide rows"]
PROGRAMS = ["a row", "any rows", "wide rows"]
"""Records of which a person has at most one in a table."""
STUDIES = 20
"""Of each kind of budget: two tables, three releases each."""
KINDS = [kind for kind in ALL if kind not in ("transitions", "drawn")]


@dataclass
class Release:
    """A release of one data set of the people.

    `losses` are what it tells of each pair of versions of the person in its table.
    """

    dataset: str
    certificate: Spec
    losses: list[Loss]

    @property
    def claimed(self) -> Loss:
        """What its certificate says that it costs."""
        return cost_of(self.certificate["claim"])

    @property
    def of_people(self) -> Loss:
        """What its certificate says that all data sets of these people have cost with it."""
        return cost_of(self.certificate["data_set"])


def cost_of(stated: Spec) -> Loss:
    """The costs in a claim, or of a data set."""
    return Loss(Fraction(stated["dp_epsilon"]), Fraction(stated.get("dp_rho", 0)))


@dataclass
class DataSet:
    """One data set of the people: how its studies begin, and a table for each version of a person.

    `writer` is that of its programs; `None` where its studies are of numbers.
    """

    shared: Spec
    record: str
    frames: list[pd.DataFrame]
    writer: StudyWriter | None = None

    def released(self, rng: Rng, folder: Path, number: int) -> Release:
        """A random study of the data set, the `number`-th of all, released by the real path."""
        if self.writer is None:
            return self.numbers(rng)
        kind = KINDS[number % len(KINDS)] if number else some(rng, KINDS)
        asked = made(self.writer, self.record, kind, folder, self.frames[0], **self.shared)
        script: list[Any] = []
        seen = [asked.draws(frame, script)[0] for frame in self.frames]
        apart = [total([loss for _, loss in losses(*pair)]) for pair in combinations(seen, 2)]
        return Release(self.shared["dataset"], asked.certificate, apart)

    def numbers(self, rng: Rng) -> Release:
        """A study of numbers."""
        asked = [query(rng, self.record, f"q{i}") for i in range(2)]
        if "mechanism_delta" in self.shared["budget"]:
            asked.append(by_shop(rng, self.record, "shops") | {"delta": 1e-6})
        return self.of_queries(asked)

    def of_queries(self, asked: Sequence[Spec]) -> Release:
        """A study of these queries."""
        given = RECORDS[self.record]
        columns = COLUMNS | given.get("columns", {})
        budget = self.shared["budget"] | {"spend": 4.0}
        study = Study(
            self.frames[0],
            join=JOIN,
            queries=asked,
            **(given | self.shared | {"columns": columns, "budget": budget}),
        )
        release = study.release(again=True)
        plan = study._plan(release.certificate.body["n"])
        seen = [integers(study, plan, frame) for frame in self.frames]
        apart = [
            total([of_query(*parts) for parts in zip(plan.queries, *pair, strict=True)])
            for pair in combinations(seen, 2)
        ]
        return Release(self.shared["dataset"], release.certificate.to_dict(), apart)


def data_set(rng: Rng, name: str, kind: str, ledger: str) -> DataSet:
    """A data set of this name, with a budget of a `kind` in `BUDGETS` in this `ledger`."""
    shared: Spec = {"dataset": name, "people": "cohort", "ledger": ledger, "budget": BUDGETS[kind]}
    many = 6 if in_full() else 3
    if kind == "with deltas" and rng.random() < 0.6:  # which Gaussian noise of programs needs
        record = some(rng, PROGRAMS)
        writer = writer_for(record, name, int(rng.integers(2**31)))
        return DataSet(shared, record, list(tables(writer, record, many)), writer)
    record = some(rng, NUMBERS)
    if "notion" not in BUDGETS[kind]:
        shared["population"] = {"model": "independent", "covers": PRIVATE, "source": "us"}
    place = {"team": some(rng, ["red", "blue"]), "site": some(rng, [1, 2])}
    versions = [random_rows(rng, record) for _ in range(many)]
    if record == "a row":  # in the same place in all versions of a table, not in all tables
        versions = [[row | place for row in rows] for rows in versions]
    return DataSet(shared, record, [table(rng, record, rows) for rows in versions])


PRIVATE = [name for name, column in COLUMNS.items() if "public" not in column]


def worst(releases: Sequence[Release]) -> Loss:
    """What is told at most of a person who is replaced in all tables.

    Whoever stands for them in one table may have anything in another, so that the worst of each
    data set add up. In nats and in zCDP, each for itself: a query has one of both.
    """
    by_table: dict[str, list[Loss]] = {}
    for release in releases:
        before = by_table.get(release.dataset, [Loss()] * len(release.losses))
        pairs = zip(before, release.losses, strict=True)
        by_table[release.dataset] = [first.plus(second) for first, second in pairs]
    most = [map(max, zip(*losses, strict=True)) for losses in by_table.values()]
    return total([Loss(*parts) for parts in most])


def held(releases: Sequence[Release], ledger: Ledger) -> None:
    """What is told is within what was claimed, and the ledger is what certificates add up to.

    `releases` are all that are in the `ledger`, in their order.
    """
    spends = [item.to_dict() for item in ledger.spends(releases[0].dataset)]
    earlier = [release.certificate["data_set"]["earlier_spends"] for release in releases]
    for number, (release, before) in enumerate(zip(releases, earlier, strict=True)):
        assert check(release.certificate).verdict == "VALID ASSUMING"
        for loss in release.losses:
            assert within(loss, release.claimed)
        assert within(worst(releases[: number + 1]), release.of_people)
        after = earlier[number + 1] if number + 1 < len(releases) else spends
        assert before == spends[: len(before)]
        assert {item["dataset"] for item in after[len(before) :]} == {release.dataset}
        assert adds_up(after[len(before) :], release.claimed)
    assert adds_up(spends, releases[-1].of_people)
    for shown in ledger.show():
        assert Loss(shown["spent"], shown["spent_rho"]) == releases[-1].of_people
        assert shown["people"] == "cohort"


def adds_up(spends: Sequence[Spec], stated: Loss) -> bool:
    """Whether the sum of spends is what is stated, rounded up: at least, where they have blocks."""
    summed = Loss(*(sum(Fraction(item[part]) for item in spends) for part in ("dp_epsilon", "rho")))
    up = Loss(*(part * (1 + Fraction(1, 10**14)) for part in summed))
    blocks = any(item.get("block") for item in spends)
    return within(stated, up) and (blocks or within(summed, stated))


@pytest.mark.prove
@pytest.mark.parametrize("kind", BUDGETS)
def test_all_that_is_told_of_a_person_is_within_one_sum(kind: str, folder: Path) -> None:
    rng = np.random.default_rng([2026, list(BUDGETS).index(kind)])
    for number in range(runs(STUDIES) if in_full() else 1):
        path = str(folder / f"people {number}.db")
        first, second = (data_set(rng, name, kind, path) for name in ("jan", "feb"))
        again = [some(rng, [first, second])] if in_full() else []
        order = [first, second, *again]
        releases = [item.released(rng, folder, 3 * number + i) for i, item in enumerate(order)]
        held(releases, Ledger(path, level=level))


# -- faults that are planted -----------------------------------------------------------------------


TEAMS = {"jan": "red", "feb": "blue"}


def counted(name: str, ledger: Path) -> Release:
    """A count in one of two tables, of the rows of a team; the person is in both counts."""
    cells: Spec = {"x": 0.5, "y": 1.0, "kind": "a", "job": 1, "shop": "k", "site": 1}
    versions = [[cells | {"ill": ill, "team": TEAMS[name]}] for ill in (0, 1)]
    frames = [table(np.random.default_rng(1), "a row", rows) for rows in versions]
    shared = {"dataset": name, "people": "cohort", "ledger": str(ledger), "budget": BUDGETS["pure"]}
    asked = {"name": "ill", "kind": "count", "where": f"ill == 1 and team == '{TEAMS[name]}'"}
    return DataSet(shared, "a row", frames).of_queries([asked])


def without_others(patch: pytest.MonkeyPatch) -> None:
    """What was spent on other data sets of the people is left out of the sum."""
    spends = Ledger.spends

    def own(self: Ledger, dataset: str, *given: Any, **keys: Any) -> list[Any]:
        return [item for item in spends(self, dataset, *given, **keys) if item.dataset == dataset]

    patch.setattr(Ledger, "spends", own)


def of_the_dearest(patch: pytest.MonkeyPatch) -> None:
    """A person pays what the dearest of their data sets costs."""
    most_paid = accounting_spend._most_paid

    def dearest(spends: Sequence[Any], part: str) -> float:
        names = {item.dataset for item in spends}
        own = ([item for item in spends if item.dataset == name] for name in names)
        return max((most_paid(items, part) for items in own), default=0.0)

    patch.setattr(accounting_spend, "_most_paid", dearest)


def in_one_block(patch: pytest.MonkeyPatch) -> None:
    """A person is in the same block of a public column in all tables."""

    def heaviest(spends: Sequence[Any], part: str) -> float:
        return float(accounting_spend.heaviest(spends, lambda item: Fraction(getattr(item, part))))

    patch.setattr(accounting_spend, "_most_paid", heaviest)


FAULTS = [without_others, of_the_dearest, in_one_block]


def test_a_sum_that_is_too_small_is_seen(folder: Path) -> None:
    first = counted("jan", folder / "honest.db")
    content = (folder / "honest.db").read_bytes()
    honest = [first, counted("feb", folder / "honest.db")]
    held(honest, Ledger(folder / "honest.db", level=level))
    assert worst(honest).pure == pytest.approx(8)
    for plant in FAULTS:
        copied = folder / f"{plant.__name__}.db"
        copied.write_bytes(content)
        with pytest.MonkeyPatch.context() as patch:
            plant(patch)
            faulty = [first, counted("feb", copied)]
        assert not within(worst(faulty), faulty[-1].of_people), plant.__name__
