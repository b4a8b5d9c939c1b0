"""What follows from given levels: the best level of every notion, and the path to it.

Relations are monotone maps between levels, so following the best level known of each notion until
nothing improves finds the best of all paths; a path that comes back to a notion never improves it.

### 5.2 Relations

What a level of one notion says of the others. Each relation is an object (`theorems/relations/`):
premise, conclusion, level map, hypotheses, the literature's constant beside ours; [the
lattice](relations.md) is drawn from them, and what does *not* follow is in [the
gallery](counterexamples.md). `e` is the premise's level (`s` for `sp` and `bsp`). `bayesdp notions`
follows the maps from the given levels until no level improves. All maps are monotone and hold for
every mechanism, so this finds the best level that the relations give.

*Source:* J. Zhao (2019) for BDP, BSP, SP and MP; the constants `tanh(e/2)` and `4 artanh(s)`, and
the hypotheses marked as ours, are new. Tested against brute force, each relation with its
hypotheses and without (`tests/theorems/test_relations.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from bayesdp.errors import InputError, did_you_mean, unknown_name, whole_number
from bayesdp.notions import ADVERSARIES, Adversary
from bayesdp.notions.catalogue import CATALOGUE, NotionKey, notion_of
from bayesdp.numbers import UpperBound, as_upper_bound
from bayesdp.populations import Population
from bayesdp.theorems import check_seconds, leakage
from bayesdp.theorems.relations import BY_NAME, RELATIONS, Relation
from bayesdp.theorems.relations.hypotheses import EVERYWHERE, HYPOTHESES, Facts, closed, facts

MOST_EXACT = 2.0**53
"""Doubles hold whole numbers up to it exactly; a larger default is refused."""
MOST_DECLARED = 2
"""The most hypotheses that are tried together when saying what declaring them would bring."""


@dataclass(frozen=True, slots=True)
class PathStep:
    """A relation on the path, the level that it gives, and what its hypotheses rest on.

    `hypotheses` are pairs of a name and "derived" (from the population) or "declared". `theorem`
    is the best theorem about the population where the relation converts DP.
    """

    relation: str
    premise: NotionKey
    conclusion: NotionKey
    level: UpperBound
    hypotheses: tuple[tuple[str, str], ...] = ()
    theorem: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The step as plain data, as `bayesdp notions --json` prints it."""
        plain: dict[str, Any] = {
            "relation": self.relation,
            "premise": self.premise,
            "conclusion": self.conclusion,
            "level": self.level,
            "hypotheses": [{"name": name, "basis": basis} for name, basis in self.hypotheses],
        }
        return plain | ({"theorem": self.theorem} if self.theorem else {})


@dataclass(frozen=True, slots=True)
class Implied:
    """A notion, its best level, and the path from a given one (empty for that itself).

    `published` is what the literature's constants give along the same path: a number to compare
    with, which claims nothing.
    """

    notion: NotionKey
    level: UpperBound
    published: float
    start: NotionKey
    path: tuple[PathStep, ...]
    in_words: str

    def to_dict(self) -> dict[str, Any]:
        """The notion and its level as plain data, as `bayesdp notions --json` prints them."""
        return {
            "notion": self.notion,
            "level": self.level,
            "published": self.published if math.isfinite(self.published) else None,
            "from": self.start,
            "path": [step.to_dict() for step in self.path],
            "in_words": self.in_words,
        }


@dataclass(frozen=True, slots=True)
class Need:
    """What else would follow, or at a better level, if `needs` were declared (or given).

    `level` is `None` where a population has to be given first.
    """

    notion: NotionKey
    level: UpperBound | None
    needs: tuple[str, ...]
    path: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """What is missing as plain data, as `bayesdp notions --json` prints it."""
        return {
            "notion": self.notion,
            "level": self.level,
            "needs": list(self.needs),
            "path": list(self.path),
        }


@dataclass(frozen=True, slots=True)
class Implications:
    """Everything that follows from `given`, in the order of the catalogue.

    `size` is the size of the groups of `group-dp`, `default` the record that `sp` and
    `bsp` put in place of one. `certificate` (in `bayesdp.release`) proves them.
    """

    given: Mapping[NotionKey, UpperBound]
    population: Population | None
    assume: tuple[str, ...]
    size: int
    default: float
    implied: tuple[Implied, ...]
    needs: tuple[Need, ...]

    def __getitem__(self, notion: str) -> Implied:
        for reached in self.implied:
            if reached.notion == notion:
                return reached
        raise unknown_name("notion", notion, [reached.notion for reached in self.implied])

    def __contains__(self, notion: object) -> bool:
        return any(reached.notion == notion for reached in self.implied)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp notions --json` prints it."""
        return {
            "given": dict(self.given),
            "population": self.population.spec() if self.population is not None else None,
            "assumed": list(self.assume),
            "size": self.size,
            "default": self.default,
            "implied": [reached.to_dict() for reached in self.implied],
            "needs": [need.to_dict() for need in self.needs],
        }


def implied(
    given: Mapping[str, float],
    population: Population | None = None,
    assume: Iterable[str] = (),
    *,
    adversary: Adversary = "any",
    size: int | None = None,
    default: float | None = None,
    seconds: float = 30.0,
) -> Implications:
    """Every notion that follows from the given levels, the best level of each, and why.

    `given` maps keys of the catalogue to levels: nats, for `sp` and `bsp` probabilities. Relative
    notions are relative to `population`; without one, to whatever population the given levels are
    about, and DP can't be converted. `assume` names hypotheses that you vouch for; those that
    the population shows need no declaration. `adversary` says which class a given `bdp` is about.
    `size` is the group of `group-dp`, `default` the record of `sp` and `bsp`: the number of a
    state, counted from 0, for discrete records. A given `group-dp` says nothing without its size,
    a given `sp` or `bsp` nothing without its default: both must then be stated. Else they are
    those of the answer, the population's largest group (or 2) and record 0. `seconds` is the time
    that a theorem about the population may take. Raises `InputError` naming the argument. Source:
    theory 5.2.

    >>> from bayesdp.populations import MarkovChain
    >>> chain = MarkovChain(transition=((0.9, 0.1), (0.1, 0.9)), length=100)
    >>> answer = implied({"dp": 0.5}, chain)
    >>> round(answer["bdp"].level, 4), [step.relation for step in answer["bsp"].path]
    (3.3627, ['dp-to-bdp', 'bdp-to-bsp'])
    """
    levels = _levels(given, adversary)
    size, default = _size(size, levels, population), _default(default, levels)
    hypotheses = tuple(assume)
    known = facts(population, hypotheses, default, size)
    search = _Search(levels, population, size, check_seconds(seconds))
    best = search.run(known)
    reached = tuple(search.implied(key, best[key]) for key in CATALOGUE if key in best)
    return Implications(
        levels, population, hypotheses, size, default, reached, search.needs(known, best)
    )


def _size(
    size: int | None, levels: Mapping[NotionKey, float], population: Population | None
) -> int:
    """The size of groups. A given level of `group-dp` must state its own."""
    if size is None and "group-dp" not in levels:
        return population.group_size if population is not None and population.group_size > 1 else 2
    if size is None:
        raise InputError(
            "size",
            expected="the number of records that the given group-dp is about (--size)",
            remedy="A level for two records says nothing about three.",
            shown=False,
        )
    return whole_number("size", size, expected="a number of records of at least 1")


def _default(default: float | None, levels: Mapping[NotionKey, float]) -> float:
    """The default record. A given level of `sp` or `bsp` must state its own."""
    posterior_notions = [notion for notion in ("sp", "bsp") if notion in levels]
    if default is None and not posterior_notions:
        return 0.0
    if default is None:
        raise InputError(
            "default",
            expected=f"the record that the given {' and '.join(posterior_notions)} puts in place "
            "of one (--default)",
            remedy="For another default the same level implies something else.",
            shown=False,
        )
    number = isinstance(default, int | float) and not isinstance(default, bool)
    if not (number and abs(default) <= MOST_EXACT):
        raise InputError("default", default, expected="the value of a record, as a number")
    return default


def _levels(given: Mapping[str, float], adversary: Adversary) -> dict[NotionKey, UpperBound]:
    if adversary not in ADVERSARIES:
        raise InputError("adversary", adversary, expected="one of " + ", ".join(ADVERSARIES))
    if not given:
        raise InputError("given", expected="at least one notion and its level", shown=False)
    levels: dict[NotionKey, UpperBound] = {}
    for key, level in given.items():
        if key not in CATALOGUE:
            raise InputError(
                "given",
                key,
                expected="a notion of the catalogue",
                remedy=did_you_mean(str(key), CATALOGUE),
            )
        notion = notion_of(key)
        number = isinstance(level, int | float) and not isinstance(level, bool)
        if not (number and math.isfinite(level)):
            raise InputError(f"given.{key}", level, expected=f"a finite level: {notion.validity}")
        notion.check_level(level, f"given.{key}")
        meant = notion.key
        if meant == "bdp" and adversary != "any":
            meant = "bdp-uninformed" if adversary == "uninformed" else "bdp-informed"
        levels[meant] = min(UpperBound(level), levels.get(meant, UpperBound(math.inf)))
    return levels


@dataclass(frozen=True, slots=True)
class _Label:
    """A level, the given level that it follows from, and whether both hold for every population."""

    level: UpperBound
    start: NotionKey
    path: tuple[PathStep, ...] = ()
    everywhere: bool = True


_Labels = dict[tuple[NotionKey, bool], _Label]


class _Search:
    """The search, for different sets of hypotheses; conversions are remembered.

    A notion has up to two labels: the best of those that hold for every population if the given
    level does, and the best of those that rest on something about this population.
    """

    def __init__(
        self,
        given: Mapping[NotionKey, UpperBound],
        population: Population | None,
        size: int,
        seconds: float,
    ) -> None:
        self.given, self.population, self.size, self.seconds = given, population, size, seconds
        self.converted: dict[tuple[float, Adversary], tuple[UpperBound, str]] = {}

    def run(self, known: Facts) -> dict[NotionKey, _Label]:
        """The best level of every notion."""
        labels: _Labels = {(key, True): _Label(level, key) for key, level in self.given.items()}
        changed = True
        while changed:
            changed = False
            for relation, everywhere in product(RELATIONS, (True, False)):
                label = labels.get((relation.premise, everywhere))
                if label is None or known.missing(relation.hypotheses):
                    continue
                changed |= self._follow(relation, label, known, labels)
        best: dict[NotionKey, _Label] = {}
        for (key, _), label in labels.items():
            if _better(label, best.get(key)):
                best[key] = label
        return best

    def _follow(self, relation: Relation, label: _Label, known: Facts, labels: _Labels) -> bool:
        if EVERYWHERE in relation.hypotheses and not label.everywhere:
            return False
        conclusion = notion_of(relation.conclusion)
        about_this = bool(relation.hypotheses) or relation.converts is not None
        everywhere = not conclusion.relative or (label.everywhere and not about_this)
        old = labels.get((relation.conclusion, everywhere))
        if relation.converts is not None and old is not None and old.level <= label.level:
            return False  # a conversion never lowers a level
        level, theorem = self.map(relation, label.level)
        if not level < conclusion.largest:
            return False
        bases = tuple((name, known.holds[name]) for name in relation.hypotheses)
        step = PathStep(relation.name, relation.premise, relation.conclusion, level, bases, theorem)
        new = _Label(level, label.start, (*label.path, step), everywhere)
        if _better(new, old):
            labels[relation.conclusion, everywhere] = new
            return True
        return False

    def map(self, relation: Relation, level: UpperBound) -> tuple[UpperBound, str | None]:
        """The level of the conclusion, and the theorem of a conversion."""
        if relation.converts is None:
            return relation.level(level, self.size), None
        if self.population is None or not math.isfinite(level):
            return UpperBound(math.inf), None
        key = level, relation.converts
        if key not in self.converted:
            report = leakage(
                self.population,
                level,
                adversary=relation.converts,
                secrets="unbounded",
                seconds=self.seconds,
            )
            self.converted[key] = report.best.epsilon, report.best.theorem
        return self.converted[key]

    def implied(self, key: NotionKey, label: _Label) -> Implied:
        """The answer for the notion of a label."""
        notion = notion_of(key)
        size = self.size if "size" in notion.parameters else None
        words = notion.in_words(label.level, size=size)
        published = self._published(label)
        return Implied(key, label.level, published, label.start, label.path, words)

    def _published(self, label: _Label) -> float:
        level: float = self.given[label.start]
        for step in label.path:
            relation = BY_NAME[step.relation]
            if relation.published is not None:
                level = relation.published.level(level, self.size)
            else:
                level = self.map(relation, as_upper_bound(level))[0]
        return level

    def needs(self, known: Facts, best: Mapping[NotionKey, _Label]) -> tuple[Need, ...]:
        """What declaring one hypothesis, or two, would bring beyond `best`."""
        undeclared = [n for n in HYPOTHESES if n not in known.holds and n not in known.refuted]
        needs: list[Need] = []
        for count in range(1, MOST_DECLARED + 1):
            for names in combinations(undeclared, count):
                implied_by_them = closed(dict.fromkeys((*known.holds, *names), ""))
                for key, label in self.run(known.with_declared(names)).items():
                    less = [
                        need
                        for need in needs
                        if need.notion == key
                        and need.level is not None
                        and need.level <= label.level
                        and implied_by_them.keys() >= set(need.needs)
                    ]
                    if _lower(label, best.get(key)) and not less:
                        path = tuple(step.relation for step in label.path)
                        needs.append(Need(key, label.level, names, path))
        order = list(CATALOGUE)
        needs.sort(key=lambda need: (order.index(need.notion), len(need.needs)))
        return (*needs, *self._without_population(best))

    def _without_population(self, best: Mapping[NotionKey, _Label]) -> list[Need]:
        if self.population is not None or "dp" not in best:
            return []
        before = tuple(step.relation for step in best["dp"].path)
        return [
            Need(relation.conclusion, None, ("population",), (*before, relation.name))
            for relation in RELATIONS
            if relation.converts is not None and relation.conclusion not in best
        ]


def _better(new: _Label, old: _Label | None) -> bool:
    """Whether the level is lower, or as low by a shorter path."""
    if old is None:
        return True
    if new.level == old.level:
        return len(new.path) < len(old.path)
    return new.level < old.level


def _lower(new: _Label, old: _Label | None) -> bool:
    return old is None or new.level < old.level
