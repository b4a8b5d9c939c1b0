"""The words of an explanation: here, whether a promise holds and what it says.

All numbers are those of the promise. Plain English for somebody who knows nothing of differential
privacy: no symbol, no jargon without its meaning. Statements that hold only for some promises are
made only for those. Who and what a promise is about is in `circumstances`, what it leaves out in
`fine_print`.
"""

from __future__ import annotations

from decimal import Decimal

from bayesdp.report import beliefs, dependence
from bayesdp.report.beliefs import IN_SHORT, exception_words, factor_words, odds_factor
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
from bayesdp.report.numbers import level_words
from bayesdp.report.phrases import (
    Section,
    becomes,
    in_status,
    one_record,
    same_for_several,
    single,
    together,
)
from bayesdp.report.promise import Promise, PromiseStatus
from bayesdp.report.reach import LevelAtDelta


def all_sections(promise: Promise) -> tuple[Section, ...]:
    """Every section that this promise needs, in the order of reading."""
    sections = (
        status_section(promise.status, described=promise.population is not None),
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
    return tuple(section for section in sections if section is not None)


def refuted(verdict: str, step: str, reason: str) -> Section:
    """The section instead of an explanation: the certificate doesn't hold, or can't be read.

    `verdict`, `step` and `reason` are the kernel's.
    """
    where = f" ({clean(step)}: {clean(reason)})" if step else ""
    if step == "signature" and verdict == "INVALID":
        text = (
            f"This certificate is forged{where}.",
            "Somebody signed a certificate, and this is not what was signed: it was changed after "
            "that, or the signature was taken from elsewhere. So it promises nothing, whatever it "
            "says, and is not explained here. Don't rely on it, and ask whoever signed it.",
        )
    elif verdict == "INVALID":
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


def status_section(status: PromiseStatus, *, described: bool) -> Section:
    """The section on who checked what follows, if anybody did.

    `described` says that the relations between records are declared.
    """
    if status.verdict == "UNKNOWN":
        return Section(
            "status",
            "NOT CHECKED",
            (
                f"This certificate could not be checked here ({clean(status.step)}: "
                f"{clean(status.reason)}). What follows is only what it claims. Don't rely on it "
                "until it has been checked.",
            ),
        )
    if status.verdict == "REFUSED":
        again = " again" if status.repeats else ""
        refusal = (
            *_repeats(status),
            f"Nothing will be released{again}, because the budget for this data set does not allow "
            "it. What follows is only what the release would have meant.",
            clean(status.reason, 1000),
        )
        title = "a second release" if status.repeats else "this study"
        return Section("status", f"NOT PROMISED: {title} would be refused", refusal)
    if status.verdict == "BEFORE RELEASE" and status.repeats:
        repeated = (
            *_repeats(status),
            "What follows is what another release would promise, together with that one and all "
            "others from the same data.",
        )
        return Section("status", "Does this hold?", repeated)
    answer = {
        "BEFORE RELEASE": "This is about a plan (a study): nothing has been released yet, and no "
        "data were read. What follows is what the release would promise, together with all "
        "earlier ones from the same data.",
        "COMPUTED": "This is a computed level and not a certificate: it is about any release of "
        "the stated cost, and says nothing of whether there is one.",
    }.get(
        status.verdict,
        "This program checked the certificate just now: its promise follows from what it says. It "
        "did not check what is taken on trust (a list below)"
        + (", such as how records are related." if described else "."),
    )
    return Section("status", "Does this hold?", (answer,))


def _repeats(status: PromiseStatus) -> list[str]:
    """That the study was released, and where to read what that release promises."""
    if not status.repeats:
        return []
    return [
        clean(status.repeats, 1000),
        "What was promised then is in the certificate of that release: bayesdp explain says it, "
        "given the certificate in place of the study.",
    ]


# -- the promise ------------------------------------------------------------------------


def in_short(promise: Promise) -> Section:
    """The section with the promise in a few sentences, for the case of a belief of 10 %."""
    level = promise.level
    before, least, most = beliefs.belief(IN_SHORT, odds_factor(level.epsilon, level.delta)).words()
    except_for = ""
    if level.delta > 0.0:
        except_for = f", except with a chance of at most {exception_words(level.delta)}"
    text = (
        one_record(promise),
        f"Take a fact about one record that somebody believes to be {before} likely, with all that "
        f"they know already. Having seen everything that {_published(promise)}, they can believe "
        f"it to be at most {most} likely, and at least {least} likely{except_for}.",
        *_about_several(promise),
        "These are limits on what that record itself gives away. Who learns from the results that "
        "people in general are different from what they thought may change their mind beyond them: "
        "to teach that is the purpose, and it is not limited.",
        *_strength(level),
        *_for_some_values(promise),
        _holds_for(promise),
    )
    return Section("short", in_status(promise, "In short"), text)


def _about_several(promise: Promise) -> tuple[str, ...]:
    """The figures of a person, where a person can be several records."""
    several = together(promise)
    if promise.joint is None or not several:
        return ()
    empty = beliefs.is_empty(promise.joint.epsilon, promise.joint.delta)
    weak = " That is almost no promise." if empty else ""
    if same_for_several(promise):
        return (f"The same holds for a fact about {several}.",)
    return (f"For a fact about {several}, 10 % can become {becomes(promise.joint)}.{weak}",)


def _for_some_values(promise: Promise) -> tuple[str, ...]:
    if not promise.places:
        return ()
    return (f"This is for values {places_words(promise)} only; for others, see below.",)


def _holds_for(promise: Promise) -> str:
    """The words on whom the promise holds against: a hasty reader would think everybody."""
    if promise.adversary == "informed":
        return (
            "This holds for somebody who knows all the other records exactly, and for others if "
            "records have nothing to do with each other. If they are related (in a family, or by "
            "an infection), somebody who knows fewer of them may learn much more."
        )
    knows = {
        "any": "may know any number of the other records, each of them exactly",
        "uninformed": "knows none of the other records",
    }[promise.adversary]
    text = f"This holds for somebody who {knows}, and takes records to be related as "
    spec = promise.population
    if spec is None or not dependence.leaves_open(spec):
        return text + "described below."
    listed = dependence.members(spec)
    which = f"one of the {len(listed)} descriptions" if listed else "one of the descriptions"
    return text + f"{which} below says. Somebody who is unsure which is right may learn more."


def _strength(level: LevelAtDelta) -> tuple[str, ...]:
    """Plain words for levels at both ends."""
    if level.epsilon == 0.0 and level.delta == 0.0:
        return ("So nothing can be learnt about one record from what is published.",)
    if beliefs.is_empty(level.epsilon, level.delta):
        return (
            "This promises almost nothing. What is published may leave somebody all but certain "
            "of a fact that they thought very unlikely.",
        )
    if level.epsilon >= beliefs.WEAK or beliefs.exception(level.delta) >= Decimal("0.05"):
        return (
            "This is a weak promise: a fact that was thought very unlikely may come to be thought "
            "likely.",
        )
    return ()


def _published(promise: Promise) -> str:
    if promise.subject in ("conversion", "leakage"):
        return "such a release publishes"
    so_far = "would then have been" if promise.subject == "study" else "has been"
    return (
        f"{so_far} published from this table, now and before"
        if promise.earlier
        else (
            "this release would publish" if promise.subject == "study" else "this release published"
        )
    )


def promised(promise: Promise) -> Section:
    """The section with the table of beliefs, and the odds."""
    level = promise.level
    factor = odds_factor(level.epsilon, level.delta)
    rows = beliefs.table(level.epsilon, level.delta)
    after = [_about_odds(factor)]
    if factor > 1:
        after.append(
            "These are limits, and a belief may change by less. They hold whatever methods and "
            "computers are used, by those described under 'Against whom'."
        )
    if any(row[2] == "100 %" for row in rows):
        after.append(
            "Here 100 % means certain and 0 % ruled out, or so nearly that it makes no difference."
        )
    after.append(_level_sentence(level))
    return Section(
        "promise",
        in_status(promise, "What is promised"),
        (
            *_blurred(promise),
            "How likely somebody believes a fact about one record to be, before and after:",
        ),
        (beliefs.HEADER, *rows),
        tuple(after),
    )


def _blurred(promise: Promise) -> tuple[str, ...]:
    if promise.subject in ("conversion", "leakage"):
        return ()
    return ("Results are blurred by random amounts (noise). That is what sets the limits.",)


def _about_odds(factor: Decimal) -> str:
    if factor == 1:
        return "No belief changes at all."
    if factor.is_infinite() or factor > 10**6:
        return (
            "In odds (how likely a fact is against how likely it is not): they may change by a "
            f"factor of {factor_words(factor)}, up or down, which is not a limit in practice."
        )
    factor_text = factor_words(factor)
    return (
        "In odds (how likely a fact is against how likely it is not; 10 % are odds of 1 to 9) "
        f"beliefs change by a factor of at most {factor_text}, up or down."
    )


def _level_sentence(level: LevelAtDelta) -> str:
    number = level_words(level.epsilon)
    if level.delta > 0.0:
        return (
            f"The numbers behind this are called the level: epsilon = {number} and delta = "
            f"{level_words(level.delta)}. The table is for twice the factor e^epsilon; the next "
            "section says why."
        )
    return f"The number behind this is called the level. It is {number}: the factor is e^{number}."


def exceptions(promise: Promise) -> Section | None:
    """The section on what delta means; `None` without a delta."""
    level = promise.level
    if level.delta == 0.0:
        return None
    text = [
        f"With a chance of at most {exception_words(level.delta)}, the limits in the table may be "
        "broken. Nothing is promised for that case: what is published could then even give away "
        "the whole record. The chance is no larger than that whether the fact is true or not; it "
        "lies in the random noise.",
        "Precisely: take any sign that somebody might read as a hint at a fact. If it shows with "
        "probability p when the fact is false, it shows with at most p times "
        f"{factor_words(single(level))} plus delta = {level_words(level.delta)} when the fact is "
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
