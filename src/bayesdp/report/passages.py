"""The words of an explanation: one function for each section, all numbers from the promise.

Plain English for somebody who knows nothing of differential privacy: no symbol, no jargon without
its meaning. Statements that hold only for some promises are made only for those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from bayesdp.notions import Adversary
from bayesdp.report import beliefs, dependence
from bayesdp.report.beliefs import chance_words, factor_words, level_words, odds_factor
from bayesdp.report.dependence import clean, number
from bayesdp.report.promise import Level, Place, Promise, group_level

IN_SHORT = Decimal("0.10")
RELATED = (2, 5)
"""For DP: how many related records the section on populations speaks of."""


@dataclass(frozen=True, slots=True)
class Section:
    """A titled piece of an explanation. `table` has its header in its first row."""

    key: str
    title: str
    paragraphs: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    after: tuple[str, ...] = ()
    items: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "key": self.key,
            "title": self.title,
            "paragraphs": list(self.paragraphs),
            "table": [list(row) for row in self.table],
            "after": list(self.after),
            "items": list(self.items),
        }


def all_sections(promise: Promise) -> tuple[Section, ...]:
    """Every section that this promise needs, in the order of reading."""
    made = (
        status(promise),
        in_short(promise),
        protected(promise),
        promised(promise),
        exceptions(promise),
        attackers(promise),
        related(promise),
        secrets(promise),
        counted(promise),
        not_promised(promise),
        rests_on(promise),
        how_to_check(promise),
    )
    return tuple(section for section in made if section is not None)


def refuted(verdict: str, step: str, reason: str) -> Section:
    """Instead of an explanation: the certificate doesn't hold, or can't be read."""
    where = f" ({clean(step)}: {clean(reason)})" if step else ""
    if verdict == "INVALID":
        text = (
            f"This certificate does not hold{where}.",
            "What it claims does not follow from what it says. It was damaged or altered, or was "
            "never right. So it promises nothing, and is not explained here. Don't rely on it, and "
            "ask whoever gave it to you.",
        )
    else:
        text = (
            f"This certificate can't be checked here{where}, and its claim can't be read.",
            "So nothing is promised as far as anybody can tell here. Check it with the version of "
            "bayesdp that wrote it.",
        )
    return Section("status", "Nothing is promised", text)


# -- does it hold -----------------------------------------------------------------------


def status(promise: Promise) -> Section:
    """Whether somebody checked what follows."""
    found = promise.standing
    if found.verdict == "UNKNOWN":
        return Section(
            "status",
            "NOT CHECKED",
            (
                f"This certificate could not be checked here ({clean(found.step)}: "
                f"{clean(found.reason)}). What follows is only what it claims. Don't rely on it "
                "until it has been checked.",
            ),
        )
    if found.verdict == "REFUSED":
        refusal = (
            "Nothing will be released, because the budget for this data set does not allow it. "
            "What follows is only what the release would have meant.",
            clean(found.reason, 1000),
        )
        return Section("status", "NOT PROMISED: this study would be refused", refusal)
    said = {
        "BEFORE RELEASE": "Nothing has been released yet, and no data were read. What follows is "
        "what a release of this study would promise, with all that was released from the data set "
        "before.",
        "COMPUTED": "This is a computed level and not a certificate: it is about any release of "
        "the stated cost, and says nothing of whether there is one.",
    }.get(
        found.verdict,
        "The certificate was checked just now: its promise follows from what it says, if the "
        "assumptions at the end are true.",
    )
    return Section("status", "Does this hold?", (said,))


# -- the promise ------------------------------------------------------------------------


def in_short(promise: Promise) -> Section:
    """The promise in three sentences, for the case of a belief of 10 %."""
    level = promise.level
    limits = beliefs.belief(IN_SHORT, odds_factor(level.epsilon, level.delta))
    before, least, most = limits.words()
    except_for = ""
    if level.delta > 0.0:
        except_for = f", except with a chance of at most {_exception(level)}"
    text = (
        f"Think of somebody who {_knowing(promise)}, and who believes some fact about one record "
        f"to be {before} likely before anything is published. Having seen everything that "
        f"{_published(promise)}, they can believe it to be at most {most} likely, and at least "
        f"{least} likely{except_for}.",
        *_strength(promise),
        "This limits what can be learnt about that one record. What is learnt about people in "
        "general is not limited: to teach that is the purpose.",
    )
    return Section("short", _in_status(promise, "In short"), text)


def _strength(promise: Promise) -> tuple[str, ...]:
    """Plain words for levels at both ends."""
    level = promise.level
    if level.epsilon == 0.0 and level.delta == 0.0:
        return ("So nothing can be learnt about one record from what is published.",)
    chance = beliefs.exception(level.delta)
    if level.epsilon >= beliefs.EMPTY or chance >= Decimal("0.5"):
        return (
            "This promises almost nothing. What is published may leave somebody all but certain "
            "of a fact that they thought very unlikely.",
        )
    if level.epsilon >= beliefs.WEAK or chance >= Decimal("0.05"):
        return (
            "This is a weak promise: what is published may tell much about one record. A fact "
            "that was thought very unlikely may come to be thought likely.",
        )
    return ()


def _knowing(promise: Promise) -> str:
    return {
        "any": "may know any of the other records, all of them or none",
        "uninformed": "knows how records are related, but none of the other records",
        "informed": "knows all the other records exactly",
    }[promise.adversary]


def _published(promise: Promise) -> str:
    if promise.subject in ("conversion", "leakage"):
        return "such a release publishes"
    so_far = "would then have been" if promise.subject == "study" else "has been"
    return (
        f"{so_far} published from this table, now and before"
        if promise.earlier
        else (
            "would be published by this study"
            if promise.subject == "study"
            else "was published by this release"
        )
    )


def promised(promise: Promise) -> Section:
    """The table of beliefs, and the odds."""
    level = promise.level
    factor = odds_factor(level.epsilon, level.delta)
    header = ("before", "after, at least", "after, at most")
    rows = tuple(row.words() for row in beliefs.beliefs(level.epsilon, level.delta))
    after = [_about_odds(factor)]
    if factor > 1:
        after.append(
            "These are limits for the worst case: whoever looks, however cleverly, and with "
            "whatever computers. Most beliefs will change less."
        )
    if any(row[2] == "100 %" for row in rows):
        after.append("Here 100 % means certain, or so nearly certain that it makes no difference.")
    after.append(_level_sentence(level))
    return Section(
        "promise",
        _in_status(promise, "What is promised"),
        ("How likely somebody believes a fact about one record to be, before and after:",),
        (header, *rows),
        tuple(after),
    )


def _about_odds(factor: Decimal) -> str:
    if factor == 1:
        return "No belief changes at all."
    if factor.is_infinite() or factor > 10**6:
        return (
            "In odds (how likely a fact is against how likely it is not): they may change by a "
            f"factor of {factor_words(factor)}, up or down, which is no limit in practice."
        )
    shown = factor_words(factor)
    return (
        "In odds (how likely a fact is against how likely it is not; 10 % are odds of 1 to 9): "
        f"whatever was believed before, the odds become at most {shown} times as large, and at "
        f"least 1/{shown} of what they were."
    )


def _level_sentence(level: Level) -> str:
    shown = level_words(level.epsilon)
    if level.delta > 0.0:
        return (
            f"The level behind this is epsilon = {shown} with delta = {_delta(level.delta)}. The "
            "table holds for twice the factor e^epsilon, and the next section says why."
        )
    return f"The number behind this is called the level. It is {shown}: the factor is e^{shown}."


def exceptions(promise: Promise) -> Section | None:
    """What delta means."""
    level = promise.level
    if level.delta == 0.0:
        return None
    text = [
        f"With a chance of at most {_exception(level)}, the limits in the table may be broken. "
        "Nothing is promised for that case: what is published could then even give away the "
        "whole record. The chance is no larger than that whether the fact is true or not; it lies "
        "in the random noise.",
        "Precisely: take any sign that somebody might read as a hint at a fact. If it shows with "
        "probability p when the fact is false, it shows with at most p times "
        f"{factor_words(_single(level))} plus delta = {_delta(level.delta)} when the fact is true, "
        "and the other way round. From this it follows that the odds change by more than twice "
        "that factor with a chance of at most three times delta.",
    ]
    n = promise.n
    if promise.notion == "dp" and n and level.delta * n >= 1.0:
        text.append(
            f"Beware: with {number(n)} records this delta is so large that publishing one whole "
            "record, picked at random, would keep the promise."
        )
    return Section("chance", "When the limits may be broken", tuple(text))


def _single(level: Level) -> Decimal:
    return odds_factor(level.epsilon)


def _exception(level: Level) -> str:
    return chance_words(beliefs.exception(level.delta))


def _delta(delta: float) -> str:
    from decimal import ROUND_CEILING

    exact = Decimal(repr(delta))
    return f"{exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), ROUND_CEILING).normalize():g}"


# -- who, against whom, for which populations ---------------------------------------------


def protected(promise: Promise) -> Section:
    """What a record is, and which facts are meant."""
    text = [_record(promise)]
    facts = _protected_columns(promise)
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
            "For facts that join two records (two of one household, say) the level below doubles, "
            "for three it triples, and so on."
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
        f"{_level_and_factor(joint)}."
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


def _protected_columns(promise: Promise) -> str:
    if promise.notion == "dp":
        names = [name for name, column in promise.columns.items() if _is_private(column)]
    else:
        covered = list((promise.population or {}).get("covers", []))
        names = covered + [name for name in _independent(promise) if name not in covered]
    return _columns_words(promise, names)


def _columns_words(promise: Promise, names: list[str]) -> str:
    each = []
    for name in names:
        source = promise.columns.get(name, {}).get("from")
        made = f" (made from '{clean(source)}')" if source else ""
        each.append(f"'{clean(name)}'{made}")
    if not each:
        return ""
    return ("the column " if len(each) == 1 else "the columns ") + ", ".join(each)


def _is_private(column: Mapping[str, Any]) -> bool:
    return not (column.get("public") is True or "role" in column)


def _independent(promise: Promise) -> list[str]:
    return [
        name
        for name, column in promise.columns.items()
        if _is_private(column) and column.get("independent") is True
    ]


def _public(promise: Promise) -> list[str]:
    return [name for name, column in promise.columns.items() if not _is_private(column)]


def _unspoken(promise: Promise) -> list[str]:
    """Private columns about which a BDP promise says nothing."""
    if promise.notion == "dp":
        return []
    known = {*(promise.population or {}).get("covers", []), *_independent(promise)}
    private = (name for name, column in promise.columns.items() if _is_private(column))
    return [name for name in private if name not in known]


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
            "Against somebody who knows every other record exactly. Somebody who knows fewer of "
            "them may learn more than these limits, if records are related: one record then tells "
            "about another."
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
        "If records had nothing to do with each other, the same numbers would have the level "
        f"{_level_and_factor(cost)} instead of {_level_and_factor(level)}. The rest is what "
        "related records may give away about each other."
    ]


def _level_and_factor(level: Level) -> str:
    if level.delta > 0.0:
        return f"epsilon = {level_words(level.epsilon)}, delta = {_delta(level.delta)}"
    return f"{level_words(level.epsilon)} (odds: factor {factor_words(_single(level))})"


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
        "same probability, up to the factor of the odds above.",
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
            f"{_exception(group_level(promise.level, size))} for groups of {size}"
            for size in RELATED
        )
        after.append("The chance of an exception is then at most " + ", and ".join(each) + ".")
    return Section("related", "How records are related", tuple(text), (header, *rows), tuple(after))


def secrets(promise: Promise) -> Section:
    """Which values are meant, and what holds for the others."""
    if not promise.places:
        text: tuple[str, ...] = (
            "Whatever value a record has, the promise holds for it: any two values that are "
            "possible at all are equally well hidden from each other.",
        )
        return Section("secrets", "For which values", text)
    where = " and ".join(_place(place) for place in promise.places)
    text = (
        f"Only for values {where}, and against somebody who takes it that the value lies there.",
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
        f", except with a chance of at most {_exception(outside)}" if outside.delta > 0.0 else ""
    )
    text += (
        "For people whose value lies outside, or might lie outside for all that somebody knows, "
        f"a weaker promise holds. Its level is {level_words(outside.epsilon)}: a belief of 10 % "
        f"becomes at most {most} and at least {least}, and odds change by a factor of at most "
        f"{factor_words(factor)}{chance}.",
    )
    return Section("secrets", "For which values", text)


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
                f"records is {_level_and_factor(promise.cost)}. Anything else that is published "
                "from the same records adds to it.",
            ),
        )
    this = "this study" if promise.subject == "study" else "this release"
    text = [f"Everything in {this}, and nothing before it: nothing else is on the ledger."]
    if promise.earlier:
        many = "1 earlier query" if promise.earlier == 1 else f"{promise.earlier} earlier queries"
        text = [
            f"Everything in {this}, together with {many} of the same data set. "
            f"Taken alone, {this} has the level {_level_and_factor(promise.own)}."
        ]
    if promise.limit is not None and promise.limit > promise.level.epsilon * (1.0 + 1e-6):
        text.append(_later(promise, promise.limit))
    elif promise.limit is not None:
        text.append("The budget of this data set is then used up: its ledger allows no more.")
    return Section("counted", "What is counted", tuple(text))


def _later(promise: Promise, limit: float) -> str:
    factor = odds_factor(limit, promise.level.delta)
    _, least, most = beliefs.belief(IN_SHORT, factor).words()
    return (
        f"Later releases may use what is left: the ledger of this data set ends at the level "
        f"{level_words(limit)}. A belief of 10 % could then become at most {most} and at least "
        f"{least}."
    )


# -- what is not promised, what it rests on -------------------------------------------------


def not_promised(promise: Promise) -> Section:
    """The list of what no reader should take for promised."""
    items = [
        "Presence: that somebody's record is in the table is not hidden, nor is the number of "
        "records. Both are taken as known.",
        "Facts about the group: averages, shares, how things go together. To publish them is the "
        "purpose. Somebody who did not know them may think differently of anybody then, in the "
        "table or not, and the limits do not count that.",
        "What is learned without your record: from what the records of others teach about "
        "everybody, from other studies, from other people.",
        "The full promise for facts about several records at once.",
        "Protection from somebody who knows how certain records compare (that two of them are "
        "equal, for example) without knowing the records themselves.",
    ]
    public, unspoken = _public(promise), _unspoken(promise)
    if public:
        items.append(
            f"Public columns: {_quoted(public)}. Everybody is taken to know them, of each record."
        )
    elif promise.subject in ("conversion", "leakage"):
        items.append("Public columns: whatever is declared public is taken as known to everybody.")
    if unspoken:
        items.append(
            f"Columns that the description of relations does not speak of: {_quoted(unspoken)}. "
            "They may go together with what is published."
        )
    items += _not_promised_population(promise)
    items += _not_promised_attackers(promise.adversary)
    if promise.places:
        items.append(
            "The full promise for people whose values lie outside the stated interval; the weaker "
            "one is stated above."
        )
    items.append(
        "What happens outside: other tables with the same people, a stolen copy, releases that no "
        "ledger knows."
    )
    return Section("not_promised", "What is NOT promised", items=tuple(items))


def _not_promised_population(promise: Promise) -> list[str]:
    if promise.notion == "dp":
        return []
    items = [
        "Anything, if records are related in another way than stated: more closely, in larger "
        "groups, or over longer times. Nobody can see that from the data for certain."
    ]
    if promise.population is not None and dependence.leaves_open(promise.population):
        items.append(
            "Which of the possible descriptions is the right one: the release may tell. Somebody "
            "who is unsure of it may learn more than these limits allow."
        )
    return items


def _not_promised_attackers(adversary: Adversary) -> list[str]:
    return {
        "any": [],
        "uninformed": ["Protection from somebody who knows one or more of the other records."],
        "informed": [
            "Protection from somebody who does not know all the other records, where records are "
            "related: what they tell about this one is not limited by the table."
        ],
    }[adversary]


def _quoted(names: list[str]) -> str:
    return ", ".join(f"'{clean(name)}'" for name in names)


_SAID_ELSEWHERE = (
    "adjacency is: replace one record;",
    "a record is one row of the table",
    "a record is all rows with the same",
    "not protected, because declared public:",
    "the adversary is '",
    "secret values lie ",
)
_IN_PLAIN = (
    ("the records depend on each other as", "Records are related as stated above."),
    (
        "different rows are different records of the model",
        "Different rows are different records of the description, and which row is which does not "
        "depend on private values.",
    ),
    ("noise is drawn from OpenDP's", "The random noise comes from OpenDP's sampler, as it should."),
    (
        "the mechanism has the stated DP cost",
        "The release really has the cost that is stated, and is of the stated kind.",
    ),
)


def rests_on(promise: Promise) -> Section:
    """What nobody checked, in short. Assumptions without plain words here are given verbatim."""
    items = []
    for said in promise.assumptions:
        if said.startswith(_SAID_ELSEWHERE):
            continue
        plain = next((words for start, words in _IN_PLAIN if said.startswith(start)), None)
        items.append(plain or clean(said[0].upper() + said[1:], 500) + ".")
    if promise.subject == "leakage":
        items += [plain for _, plain in (_IN_PLAIN[0], _IN_PLAIN[3])]
    if promise.subject in ("release", "study"):
        items.append(
            "The table was collected, kept and released by people who can be trusted with it."
        )
    return Section("assumptions", "What it rests on, unchecked", items=tuple(items))


def how_to_check(promise: Promise) -> Section:
    """Where to look for verification, and the promise in the terms of the field."""
    text = {
        "study": "A release comes with a certificate. Anybody can check it without the data: "
        "bayesdp verify.",
        "leakage": "A level with a certificate can be checked by anybody: bayesdp leakage "
        "--certificate FILE, then bayesdp verify FILE.",
    }.get(
        promise.subject,
        "Anybody can check the certificate without the data: bayesdp verify. It proves that the "
        "promise follows, and not that this is what was published: ask for a signature for that.",
    )
    return Section("check", "How to check it", (text, technical(promise)))


def technical(promise: Promise) -> str:
    """The promise in one line of the field's own words."""
    level = promise.level
    shown = f"epsilon = {level_words(level.epsilon)}"
    if level.delta > 0.0:
        shown += f", delta = {_delta(level.delta)}"
    if promise.notion == "dp":
        return f"For experts: differential privacy, replace one record, {shown}."
    theorem = f", theorem {clean(promise.theorem)}" if promise.theorem else ""
    return (
        f"For experts: Bayesian differential privacy, {shown}, adversary '{promise.adversary}'"
        f"{theorem}; the DP cost is {level_words(promise.cost.epsilon)}."
    )


def _in_status(promise: Promise, title: str) -> str:
    """Titles of an unchecked promise don't say that it is promised."""
    return title if promise.standing.holds else f"{title} (claimed only)"
