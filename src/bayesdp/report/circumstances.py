"""The sections on who and what is protected, against whom, and in which circumstances."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from bayesdp.release.queries.histogram_cells import intervals_sentence
from bayesdp.report import beliefs, dependence
from bayesdp.report.beliefs import IN_SHORT, exception_words, factor_words, odds_factor
from bayesdp.report.dependence import clean, number
from bayesdp.report.numbers import level_words
from bayesdp.report.phrases import (
    Section,
    becomes,
    closeness,
    level_and_factor,
    protected_columns,
    same_for_several,
    together,
)
from bayesdp.report.promise import Promise
from bayesdp.report.reach import LevelAtDelta, group_level
from bayesdp.report.secret_places import SecretPlace
from bayesdp.statements.base import exact_text
from bayesdp.statements.queries import cut_labels

EVEN = Decimal("0.5")

MOST_SHOWN = 4
"""The numbers of a family's members are shown for at most this many members."""

RELATED = (2, 5)
"""For DP: the group sizes in the section on related records."""


def protected(promise: Promise) -> Section:
    """The section on what a record is, how many there are, and which facts are meant."""
    facts = protected_columns(promise) or "the private part"
    value = "" if promise.places else ", whatever its value"
    text = [
        f"The promise is about facts in {facts} of one record{value}.",
        *cut_columns(promise),
        _several(promise),
    ]
    if promise.dataset:
        count = f" There are {number(promise.n)} records." if promise.n else ""
        text.insert(0, f"The table is '{clean(promise.dataset)}'.{count}")
    if promise.people:
        text.append(
            f"The table shares the people '{clean(promise.people)}' with others. What is promised "
            "of a record is promised of all that its person has in these tables, and what is "
            "released from any of them counts."
        )
    return Section("protected", "Who and what is protected", tuple(text))


def cut_columns(promise: Promise) -> list[str]:
    """A sentence for each column that is another one in intervals."""
    sentences = []
    for name, column in promise.columns.items():
        if "cuts" in column:
            source = str(column["from"])
            bounds = promise.columns.get(source, {}).get("bounds")
            ends = None if bounds is None else (float(bounds[0]), float(bounds[1]))
            intervals = cut_labels(tuple(map(float, column["cuts"])), ends)
            sentences.append(
                f"'{clean(name)}' is '{clean(source)}' in the intervals "
                f"{intervals_sentence(intervals, ends)}"
            )
    return sentences


def _several(promise: Promise) -> str:
    """What holds for facts about several records at once."""
    if promise.notion == "dp":
        return (
            "For facts that join several records (two of one household, say) there are the weaker "
            "limits for groups, under 'How records are related'."
        )
    several = together(promise)
    if same_for_several(promise):
        return f"For facts about {several} there is the same promise."
    if promise.joint is None or not several:
        return (
            "Facts that join several records (of one person, say, or one household) are not "
            "limited by these numbers."
        )
    return (
        f"For facts about {several} there is a weaker promise, with the level "
        f"{level_and_factor(promise.joint)}."
    )


def attackers(promise: Promise) -> Section:
    """The section on the adversaries that the promise holds against."""
    return Section("attackers", "Against whom", (_attackers(promise),))


def _attackers(promise: Promise) -> str:
    if promise.adversary == "informed":
        return (
            "Against somebody who knows every other record exactly, and against others where "
            "records have nothing to do with each other. Where they are related, one record tells "
            "about another, and somebody who knows fewer of them may learn much more than these "
            "limits."
        )
    knows = {
        "any": "who may know any number of the other records (none, some or all), each of them "
        "exactly.",
        "uninformed": "who knows not a single one of the other records. Somebody who knows some "
        "may learn more than these limits.",
    }[promise.adversary]
    vague = " Vague knowledge of single other records, such as a guess, is covered too."
    return (
        f"Against somebody {knows}{vague if promise.vague else ''} What they think of records that "
        "they don't know is taken to follow the description under 'How records are related': it "
        "says how likely other records are, given the one in question. Of that one itself they may "
        "have thought anything before, 10 % or 50 %."
    )


def related(promise: Promise) -> Section:
    """The section on the population: how records are related, and who says so."""
    if promise.notion == "dp" or promise.population is None:
        return _related_dp(promise)
    spec = promise.population
    groups = dependence.grouping(promise.columns, spec.get("covers") or ())
    sentences = [*dependence.sentences(spec, groups), dependence.in_numbers(spec, groups)]
    text = [" ".join(filter(None, sentences))]
    items = _descriptions(spec, groups)
    if dependence.leaves_open(spec):
        text.append(
            "The promise holds for somebody who is sure of one of them, whichever that is."
            if items
            else "The promise holds for somebody who is sure of the numbers, whichever they are "
            "within these limits."
        )
    source = clean(spec.get("source") or "")
    attribution = (
        f'This was stated by: "{source}".' if source else "Nobody is named who stated this."
    )
    after = [f"{attribution} It was not checked.", _if_related_otherwise(promise)]
    return Section(
        "related", "How records are related", tuple(text), after=tuple(after), items=tuple(items)
    )


def _descriptions(spec: Mapping[str, Any], groups: dependence.Grouping) -> list[str]:
    """The members of a family; those that differ in numbers only are one item."""
    words: dict[str, list[tuple[int, str]]] = {}
    for position, member in enumerate(dependence.members(spec), start=1):
        sentences = " ".join(dependence.sentences(member, groups))
        words.setdefault(sentences, []).append((position, dependence.in_numbers(member, groups)))
    items = []
    for sentences, members in words.items():
        if len(members) == 1:
            position, numbers = members[0]
            items.append(f"Description {position}: {sentences} {numbers}".rstrip())
            continue
        which = ", ".join(str(position) for position, _ in members)
        numbered = [f"{position}: {numbers}" for position, numbers in members if numbers]
        numbers = " ".join(numbered) if len(numbered) <= MOST_SHOWN else ""
        items.append(
            f"Descriptions {which}, each with its own numbers: {sentences} {numbers}".rstrip()
        )
    return items


def _if_related_otherwise(promise: Promise) -> str:
    return (
        "If records are related in another way, the limits above are void. What is then left is a "
        "promise against one kind of person only, somebody who knows every other record exactly: "
        f"the level {level_and_factor(promise.cost)}. Against anybody else nothing is promised."
    )


def _related_dp(promise: Promise) -> Section:
    if promise.notion != "dp":
        return Section(
            "related",
            "How records are related",
            ("The level was computed for a population that isn't at hand here: look there.",),
            after=(_if_related_otherwise(promise),),
        )
    text = [
        "Nothing is assumed about how records are related. The limit is on what this one record "
        "adds: whatever it says, the probabilities of what may be published differ by "
        f"at most {closeness(promise.level)}.",
        "If records are related inside small groups only (families, days of one person), these "
        "limits for groups hold against people who know fewer records, too. Records of different "
        "groups must have nothing to do with each other for that.",
    ]
    header = ("records in a group", "10 % becomes", "50 % becomes", "odds: factor")
    rows = []
    for size in RELATED:
        group = group_level(promise.level, size)
        factor = odds_factor(group.epsilon, group.delta)
        limits = (beliefs.belief(before, factor).words() for before in (IN_SHORT, EVEN))
        rows.append(
            (str(size), *(f"{least} to {most}" for _, least, most in limits), factor_words(factor))
        )
    after = []
    if promise.level.delta > 0.0:
        exceptions = (
            f"{exception_words(group_level(promise.level, size).delta)} for groups of {size}"
            for size in RELATED
        )
        after.append(
            "The chance of an exception is then at most " + ", and ".join(exceptions) + "."
        )
    return Section("related", "How records are related", tuple(text), (header, *rows), tuple(after))


def secrets(promise: Promise) -> Section | None:
    """The section on the values that are meant, and on all others; `None` where all are meant."""
    if not promise.places:
        return None
    text: tuple[str, ...] = (
        f"Only for values {places_words(promise)}, and against somebody who takes it that the "
        "value lies there.",
    )
    outside = promise.outside
    if outside is None:
        text += (
            "For people with other values the promise is weaker: the level may be as high as the "
            "level for records that have nothing to do with each other, times the number of "
            "records that are related to each other.",
        )
        return Section("secrets", "For which values", text)
    factor = factor_words(odds_factor(outside.epsilon, outside.delta))
    text += (
        "For people whose value lies outside, or might lie outside for all that somebody knows, "
        f"a weaker promise holds. Its level is {level_words(outside.epsilon)}: odds change by a "
        f"factor of at most {factor}, and a belief of 10 % becomes {becomes(outside)}.",
    )
    return Section("secrets", "For which values", text)


def places_words(promise: Promise) -> str:
    """The intervals of secret values, in words that follow "values"."""
    return " and ".join(_place(place) for place in promise.places)


def _place(place: SecretPlace) -> str:
    if place.ends is None:
        return "inside the interval to which the release cuts values off"
    low, high = place.ends
    unit = f" {clean(place.unit)}" if place.unit else ""
    column = f" (column '{clean(place.column)}')" if place.column else ""
    return f"from {exact_text(low)} to {exact_text(high)}{unit}{column}"


def counted(promise: Promise) -> Section:
    """The section on what the level counts: earlier releases, and what may still come."""
    if promise.subject in ("conversion", "leakage"):
        return Section(
            "counted",
            "What is counted",
            (
                "One release, or several together, whose cost without any relations between "
                f"records is {level_and_factor(promise.cost)}. Anything else that is published "
                "from the same records adds to it.",
            ),
        )
    level = level_and_factor(promise.level)
    before = "any data set of these people" if promise.people else "this data set"
    text = [
        f"Everything in this release. Before it nothing was released from {before}, as far as "
        "its ledger tells (the list that bayesdp keeps of all releases)."
    ]
    if promise.earlier:
        the_same = "data sets of the same people" if promise.people else "the same data set"
        many = "1 earlier query" if promise.earlier == 1 else f"{promise.earlier} earlier queries"
        text = [
            f"Everything in this release, together with {many} of {the_same} (a query is "
            "a question put to it). This release alone has the level "
            f"{level_and_factor(promise.own)}, all together {level}."
        ]
    limit, counted_level = promise.limit, promise.counted
    if limit is not None and (
        counted_level is None or limit.epsilon > counted_level * (1.0 + 1e-6)
    ):
        text.append(_later(limit, known=counted_level is not None))
    elif limit is not None and promise.status.verdict == "REFUSED":
        text.append(
            "The budget, the most that the ledger allows for all releases together, would be "
            "exceeded: this program refuses the release."
        )
    elif limit is not None:
        text.append(
            "The budget, the most that the ledger allows for all releases together, is then used "
            "up: this program refuses further ones. Others could still publish from the same data."
        )
    return Section("counted", "What is counted", tuple(text))


def _later(limit: LevelAtDelta, *, known: bool) -> str:
    text = (
        "The ledger, the list that bayesdp keeps of all releases, allows them up to the level "
        f"{level_and_factor(limit)}, those above included. "
    )
    if known:
        return f"{text}Once later releases have used that up, 10 % can become {becomes(limit)}."
    return (
        f"{text}By its count, which allows for later queries that depend on these results, little "
        "or nothing of that may be left. If later releases use it up, 10 % can become "
        f"{becomes(limit)}."
    )
