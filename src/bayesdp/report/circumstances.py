"""The sections on who and what is protected, against whom, and in which circumstances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesdp.report import beliefs, dependence
from bayesdp.report.beliefs import factor_words, level_words, odds_factor
from bayesdp.report.dependence import clean, number
from bayesdp.report.phrases import (
    IN_SHORT,
    Section,
    delta_words,
    exception_words,
    level_and_factor,
    protected_columns,
    single,
)
from bayesdp.report.promise import Level, Place, Promise, group_level

RELATED = (2, 5)
"""For DP: how many related records the section on populations speaks of."""


def protected(promise: Promise) -> Section:
    """What a record is, and which facts are meant."""
    text = [_record(promise)]
    facts = protected_columns(promise)
    if facts:
        text.append(f"The promise is about facts in {facts} of one record.")
    else:
        text.append("The promise is about facts in the private part of one record.")
    text.append(_several(promise))
    return Section("protected", "Who and what is protected", tuple(text))


def _several(promise: Promise) -> str:
    """That it is about one record at a time, and what holds for several at once."""
    one = "record" if promise.unit == "row" else f"'{clean(promise.unit)}'"
    text = f"It is about one {one} at a time. "
    if promise.notion == "dp":
        return text + (
            "For facts that join several (two of one household, say) the promise is weaker: the "
            "limits for groups of that size hold for them, which are given below."
        )
    joint = promise.joint
    groups = dependence.grouping(promise.columns)
    name = groups.cluster or groups.series
    if joint is None or name is None:
        return text + (
            "Facts that join several (of one person, say, or one household) are not limited by "
            "these numbers."
        )
    return text + (
        f"For facts that join several with the same '{name}' (there are at most "
        f"{number(promise.group)}) a weaker promise holds. Its level is "
        f"{level_and_factor(joint)}."
    )


def _record(promise: Promise) -> str:
    if promise.subject in ("conversion", "leakage"):
        return "A record is one entry of a table: what is known of one person, or one day, say."
    count = f" There are {number(promise.n)} records." if promise.n else ""
    named = f"the table '{clean(promise.dataset)}'"
    if promise.unit == "row":
        return f"A record is one row of {named}.{count}"
    most = number(promise.rows_per_unit)
    return (
        f"A record is all rows of {named} with the same '{clean(promise.unit)}', "
        f"at most {most} rows.{count}"
    )


def attackers(promise: Promise) -> Section:
    """The class of adversaries, in words."""
    text = {
        "any": (
            "Against anybody, whoever they are: they may know exactly as many of the other records "
            "as they like (none, some or all), besides anything that has nothing to do with this "
            "table. About the records that they don't know, they believe what the next section "
            "says."
        ),
        "uninformed": (
            "Against somebody who knows how records are related, as the next section says, but not "
            "a single one of the other records. Somebody who knows some of them may learn more "
            "than these limits."
        ),
        "informed": (
            "Against somebody who knows every other record exactly. Where records have nothing "
            "to do with each other, the limits hold against anybody. Where they are related, "
            "somebody who knows fewer of them may learn more than these limits: one record then "
            "tells about another."
        ),
    }[promise.adversary]
    return Section("attackers", "Against whom", (text,))


def related(promise: Promise) -> Section:
    """For which populations: how records are related, and who says so."""
    if promise.notion == "dp" or promise.population is None:
        return _related_dp(promise)
    spec = promise.population
    groups = dependence.grouping(promise.columns)
    text = [" ".join(dependence.sentences(spec, groups))]
    items = _descriptions(spec, groups)
    if dependence.leaves_open(spec):
        text.append(
            "The promise holds whichever is the right one, for somebody who has made up their mind "
            "about which that is."
        )
    else:
        text.append("The promise is for this one description of how records are related.")
    source = clean(spec.get("source") or "")
    vouched = (
        f'Who vouches for it: "{source}".' if source else "Nobody is named who vouches for it."
    )
    after = [
        vouched + " If records are related in another way, the promise does not hold.",
        *_if_independent(promise),
    ]
    return Section(
        "related", "How records are related", tuple(text), after=tuple(after), items=tuple(items)
    )


def _descriptions(spec: Mapping[str, Any], groups: dependence.Grouping) -> list[str]:
    """The members of a family; those that differ in numbers only are one item."""
    words: dict[str, list[str]] = {}
    for position, member in enumerate(dependence.members(spec), start=1):
        said = " ".join(dependence.sentences(member, groups))
        words.setdefault(said, []).append(str(position))
    return [
        f"Description {where[0]}: {said}"
        if len(where) == 1
        else f"Descriptions {', '.join(where)}, each with its own numbers: {said}"
        for said, where in words.items()
    ]


def _if_independent(promise: Promise) -> list[str]:
    if promise.level == promise.cost:
        return []
    cost, level = promise.cost, promise.level
    return [
        "If records had nothing to do with each other, the same release would have the level "
        f"{level_and_factor(cost)} instead of {level_and_factor(level)}. The rest is what "
        "related records may give away about each other."
    ]


def _related_dp(promise: Promise) -> Section:
    if promise.notion != "dp":
        return Section(
            "related",
            "How records are related",
            ("The level was computed for a population that isn't at hand here: look there.",),
            after=tuple(_if_independent(promise)),
        )
    text = [
        "Nothing is assumed of how records are related. What is limited is what this one record "
        "itself adds: whatever stands in it, each possible outcome of the release has nearly the "
        f"same probability, up to {_closeness(promise.level)}.",
        "If records are related (members of a family, days of one person), then the others tell "
        "about this one too, and somebody who doesn't know them may learn more than the table "
        "says. If each record is related to a few others only, these limits hold against anybody:",
    ]
    header = ("related records", "10 % becomes at least", "at most", "odds: factor")
    rows = []
    for size in RELATED:
        group = group_level(promise.level, size)
        factor = odds_factor(group.epsilon, group.delta)
        _, least, most = beliefs.belief(IN_SHORT, factor).words()
        rows.append((f"groups of {size}", least, most, factor_words(factor)))
    after = ["Records in different groups must have nothing to do with each other for this."]
    if promise.level.delta > 0.0:
        each = (
            f"{exception_words(group_level(promise.level, size))} for groups of {size}"
            for size in RELATED
        )
        after.append("The chance of an exception is then at most " + ", and ".join(each) + ".")
    return Section("related", "How records are related", tuple(text), (header, *rows), tuple(after))


def _closeness(level: Level) -> str:
    factor = f"a factor of {factor_words(single(level))}"
    return f"{factor}, plus delta = {delta_words(level.delta)}" if level.delta > 0.0 else factor


def secrets(promise: Promise) -> Section:
    """Which values are meant, and what holds for the others."""
    if not promise.places:
        text: tuple[str, ...] = (
            "Whatever value a record has, the promise holds for it: any two values that are "
            "possible at all are equally well hidden from each other.",
        )
        return Section("secrets", "For which values", text)
    text = (
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
    factor = odds_factor(outside.epsilon, outside.delta)
    _, least, most = beliefs.belief(IN_SHORT, factor).words()
    chance = (
        f", except with a chance of at most {exception_words(outside)}"
        if outside.delta > 0.0
        else ""
    )
    text += (
        "For people whose value lies outside, or might lie outside for all that somebody knows, "
        f"a weaker promise holds. Its level is {level_words(outside.epsilon)}: a belief of 10 % "
        f"becomes at most {most} and at least {least}, and odds change by a factor of at most "
        f"{factor_words(factor)}{chance}.",
    )
    return Section("secrets", "For which values", text)


def places_words(promise: Promise) -> str:
    """Where secret values lie, to go after "values"."""
    return " and ".join(_place(place) for place in promise.places)


def _place(place: Place) -> str:
    if place.ends is None:
        return "inside the interval to which the release cuts values off"
    low, high = place.ends
    unit = f" {clean(place.unit)}" if place.unit else ""
    column = f" (column '{clean(place.column)}')" if place.column else ""
    return f"from {number(low)} to {number(high)}{unit}{column}"


def counted(promise: Promise) -> Section:
    """What the level counts: earlier releases, and what may still come."""
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
    this = "this study" if promise.subject == "study" else "this release"
    text = [
        f"Everything in {this}. Before it nothing was released from this data set, as far as its "
        "ledger tells."
    ]
    if promise.earlier:
        many = "1 earlier query" if promise.earlier == 1 else f"{promise.earlier} earlier queries"
        text = [
            f"Everything in {this}, together with {many} of the same data set. "
            f"Taken alone, {this} has the level {level_and_factor(promise.own)}."
        ]
    if promise.limit is not None and promise.limit.epsilon > promise.level.epsilon * (1.0 + 1e-6):
        text.append(_later(promise.limit))
    elif promise.limit is not None:
        text.append("The budget of this data set is then used up: its ledger allows no more.")
    return Section("counted", "What is counted", tuple(text))


def _later(limit: Level) -> str:
    _, least, most = beliefs.belief(IN_SHORT, odds_factor(limit.epsilon, limit.delta)).words()
    chance = f", except with a chance of at most {exception_words(limit)}" if limit.delta else ""
    return (
        "Later releases may use what is left: the ledger of this data set ends at the level "
        f"{level_and_factor(limit)}. A belief of 10 % could then become at most {most} and at "
        f"least {least}{chance}."
    )
