"""The words of an explanation: here, whether a promise holds and what it says.

All numbers are those of the promise. Plain English for somebody who knows nothing of differential
privacy: no symbol, no jargon without its meaning. Statements that hold only for some promises are
made only for those. Who and what a promise is about is in `circumstances`, what it leaves out in
`fine_print`.
"""

from __future__ import annotations

from decimal import Decimal

from bayesdp.report import beliefs
from bayesdp.report.beliefs import factor_words, level_words, odds_factor
from bayesdp.report.circumstances import (
    attackers,
    counted,
    places_words,
    protected,
    related,
    secrets,
)
from bayesdp.report.dependence import clean, number
from bayesdp.report.fine_print import how_to_check, not_promised, rests_on
from bayesdp.report.phrases import (
    IN_SHORT,
    Section,
    delta_words,
    exception_words,
    in_status,
    single,
)
from bayesdp.report.promise import Level, Promise


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
        except_for = f", except with a chance of at most {exception_words(level)}"
    text = (
        f"Think of somebody who {_knowing(promise)}, and who believes some fact about one record "
        f"to be {before} likely before anything is published. Having seen everything that "
        f"{_published(promise)}, they can believe it to be at most {most} likely, and at least "
        f"{least} likely{except_for}.",
        *_strength(promise),
        *_for_some_values(promise),
        _about_relations(promise),
        "This limits what can be learnt about that one record. What is learnt about people in "
        "general is not limited: to teach that is the purpose.",
    )
    return Section("short", in_status(promise, "In short"), text)


def _for_some_values(promise: Promise) -> tuple[str, ...]:
    if not promise.places:
        return ()
    return (f"This is for values {places_words(promise)} only; for others, see below.",)


def _about_relations(promise: Promise) -> str:
    """What a hasty reader would take for granted: that it holds however records are related."""
    if promise.adversary == "informed":
        return (
            "It is not a limit for everybody: where records are related (in a family, say), "
            "somebody who knows fewer of them may learn more."
        )
    return (
        "It counts what related records may tell about each other, and it holds if they are "
        "related as described below."
    )


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
            "whatever computers. Beliefs may well change less."
        )
    if any(row[2] == "100 %" for row in rows):
        after.append("Here 100 % means certain, or so nearly certain that it makes no difference.")
    after.append(_level_sentence(level))
    return Section(
        "promise",
        in_status(promise, "What is promised"),
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
            f"The numbers behind this are called the level: epsilon = {shown} and delta = "
            f"{delta_words(level.delta)}. The table is for twice the factor e^epsilon; the next "
            "section says why."
        )
    return f"The number behind this is called the level. It is {shown}: the factor is e^{shown}."


def exceptions(promise: Promise) -> Section | None:
    """What delta means."""
    level = promise.level
    if level.delta == 0.0:
        return None
    text = [
        f"With a chance of at most {exception_words(level)}, the limits in the table may be "
        "broken. Nothing is promised for that case: what is published could then even give away "
        "the whole record. The chance is no larger than that whether the fact is true or not; it "
        "lies in the random noise.",
        "Precisely: take any sign that somebody might read as a hint at a fact. If it shows with "
        "probability p when the fact is false, it shows with at most p times "
        f"{factor_words(single(level))} plus delta = {delta_words(level.delta)} when the fact is "
        "true, and the other way round. It follows that the odds change by more than twice that "
        "factor with a chance of at most three times delta.",
    ]
    n = promise.n
    if promise.notion == "dp" and n and level.delta * n >= 1.0:
        text.append(
            f"Beware: with {number(n)} records this delta is so large that publishing one whole "
            "record, picked at random, would keep the promise."
        )
    return Section("chance", "When the limits may be broken", tuple(text))
