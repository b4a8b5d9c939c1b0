"""The sections on what is not promised, what a promise rests on, and how to check it."""

from __future__ import annotations

from collections.abc import Sequence

from bayesdp.release.certificates.assumptions import said_once
from bayesdp.report import dependence
from bayesdp.report.dependence import clean
from bayesdp.report.numbers import level_words
from bayesdp.report.phrases import (
    Section,
    public_columns,
    same_for_several,
    together,
    unspoken_columns,
)
from bayesdp.report.promise import Promise


def not_promised(promise: Promise) -> Section:
    """The section on what no reader should take for promised."""
    items = [
        "Presence: that somebody's record is in the table is not hidden, nor is the number of "
        "records.",
        "Facts about the group: averages, shares, how things go together. Somebody who learns "
        "them may think differently of anybody, in the table or not; the limits do not count that.",
        "What is learned without your record: from what those of others teach about everybody, "
        "or from other sources.",
        f"The full promise for facts about several records at once{_but_those(promise)}.",
        _not_promised_knowledge(promise),
    ]
    public, unspoken = public_columns(promise), unspoken_columns(promise)
    if public:
        items.append(f"Public columns: {_quoted(public)}. Everybody is taken to know them.")
    elif promise.subject in ("conversion", "leakage"):
        items.append("Public columns: whatever is declared public is taken as known to everybody.")
    if unspoken:
        items.append(
            f"Columns that the description of relations does not speak of: {_quoted(unspoken)}. "
            "They may go together with what is published."
        )
    items += _not_promised_population(promise)
    items += _not_promised_attackers(promise)
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


def _but_those(promise: Promise) -> str:
    """The records for which it is promised all the same."""
    return f", unless they are {together(promise)}" if same_for_several(promise) else ""


def _not_promised_population(promise: Promise) -> list[str]:
    if promise.notion == "dp":
        return []
    items = [
        "More than is said above, if records are related in another way than described. The data "
        "can't show that for certain."
    ]
    if promise.population is not None and dependence.leaves_open(promise.population):
        items.append("Which of the possible descriptions is right: the results may tell.")
    return items


def _not_promised_attackers(promise: Promise) -> list[str]:
    beyond = " (beyond the limits for groups)" if promise.notion == "dp" else ""
    return {
        "any": [],
        "uninformed": ["Protection from somebody who knows one or more of the other records."],
        "informed": [
            "Protection from somebody who does not know all the other records, where records are "
            f"related{beyond}."
        ],
    }[promise.adversary]


def _not_promised_knowledge(promise: Promise) -> str:
    compare = "how certain records compare (that two of them are equal, for example)"
    if promise.vague or promise.adversary == "informed":
        return f"Protection from somebody who knows {compare} without knowing the records."
    return (
        "Protection from somebody with other knowledge of the other records than said above: a "
        f"good guess at some of them, or {compare}."
    )


def _quoted(names: list[str]) -> str:
    return ", ".join(f"'{clean(name)}'" for name in names)


_SAID_ELSEWHERE = (
    "adjacency is: replace one record;",
    "a record is one row of the table",
    "a record is one part of a row of the table",
    "a record is all rows with the same",
    "a record is all parts of rows with the same",
    "not protected, because declared public:",
    "the adversary is '",
    "secret values lie ",
    "the release '",
    "its debit is entry ",
    "the study and its ledger allow a level of",
)
_IN_PLAIN = (
    ("the records depend on each other as", "records are related as described above"),
    (
        "different rows are different records of the model",
        "different rows are different records of the description, and which row is which does not "
        "depend on private values",
    ),
    (
        "noise is drawn from OpenDP's",
        "the random noise comes from OpenDP's sampler, and that works",
    ),
    (
        "quantiles are chosen by OpenDP's",
        "quantiles are chosen at random by OpenDP's sampler, and that works",
    ),
    (
        "the mechanism has the stated DP cost",
        "the release really has the cost that is stated, and is of the stated kind",
    ),
)


def rests_on(promise: Promise) -> Section:
    """The section on what was not checked. Assumptions without plain words are given verbatim."""
    items = []
    for assumption in said_once(promise.assumptions):
        if assumption.startswith(_SAID_ELSEWHERE):
            continue
        plain = next((words for start, words in _IN_PLAIN if assumption.startswith(start)), None)
        items.append(plain or clean(assumption, 500))
    if promise.subject == "leakage":
        items += [plain for _, plain in (_IN_PLAIN[0], _IN_PLAIN[-1])]
    if promise.subject in ("release", "study"):
        items += [
            "the ledger is complete: nothing else was ever released from this table",
            "the people who collected, kept and released the table can be trusted with it",
        ]
    return trusted(items)


def trusted(items: Sequence[str]) -> Section:
    """The section of the assumptions; `items` are clauses."""
    text = ("We take on trust that",) if items else ("Nothing.",)
    return Section("assumptions", "What is taken on trust", text, items=tuple(items))


CHECK = (
    "Anybody can check the certificate without the data (bayesdp verify). It proves that the "
    "promise follows, and not that this is what was published: for that, ask whoever published it "
    "to sign the certificate (bayesdp sign)."
)


def how_to_check(promise: Promise) -> Section:
    """The section on how to verify the promise, with the promise in the terms of the field."""
    text = {
        "study": "A release comes with a certificate. Anybody can check it without the data "
        "(bayesdp verify).",
        "leakage": "A level with a certificate can be checked by anybody: bayesdp leakage "
        "--certificate FILE, then bayesdp verify FILE.",
    }.get(
        promise.subject,
        CHECK,
    )
    return Section("check", "How to check it", (text, technical(promise)))


def technical(promise: Promise) -> str:
    """The promise in one line of the field's own words."""
    level = promise.level
    level_text = f"epsilon = {level_words(level.epsilon)}"
    if level.delta > 0.0:
        level_text += f", delta = {level_words(level.delta)}"
    if promise.notion == "dp":
        return f"For experts: differential privacy, replace one record, {level_text}."
    cost = level_words(promise.cost.epsilon)
    if promise.cost.delta > 0.0:
        cost += f" at delta = {level_words(promise.cost.delta)}"
    theorem = f", theorem {clean(promise.theorem)}" if promise.theorem else ""
    return (
        f"For experts: Bayesian differential privacy, {level_text}, adversary '{promise.adversary}'"
        f"{theorem}; the DP cost is {cost}."
    )
