"""Sentences about a guarantee that the terminal and the HTML report share.

What a level does to beliefs is computed and worded in `beliefs` alone.
"""

from __future__ import annotations

from bayesdp.notions import ADVERSARY_MEANING, Adversary, Secrets
from bayesdp.report.beliefs import IN_SHORT, becomes
from bayesdp.report.numbers import level_words, percent_up

DEMONSTRATION = "for demonstration only"
"""Occurs in the `source` of a population that was estimated from the data that it protects."""


OUTSIDE = "the level is the size of the group times the DP cost"
"""What holds for values outside the secrets interval, in the words of a certificate."""


def cost_words(pure: float, rho: float = 0.0, delta: float = 0.0) -> str:
    """A DP cost, rounded up: the `pure` sum, the sum in zCDP (`rho`), or both.

    `delta` is the sum of the deltas that mechanisms have of their own, beside the pure sum.
    """
    own = f" with own deltas of {level_words(delta)}" if delta > 0.0 else ""
    parts = [level_words(pure) + own] if pure > 0.0 or rho == 0.0 else []
    return " and ".join([*parts, *([f"rho = {level_words(rho)}"] if rho > 0.0 else [])])


def at_delta(delta: float) -> str:
    """The words after a level that holds at a delta; empty without a delta."""
    return f" at delta = {level_words(delta)}" if delta > 0.0 else ""


def delta_sentence(epsilon: float, delta: float) -> str:
    """A sentence on what a delta is. It is not "the probability that the promise fails"."""
    return (
        "For every set of results, its probability given one value of the record is at most "
        f"e^{level_words(epsilon)} times its probability given another, plus delta = "
        f"{level_words(delta)}."
    )


def level_sentences(
    epsilon: float,
    adversary: Adversary,
    interval: str | None = None,
    seen: str = "everything that was released here",
    delta: float = 0.0,
) -> tuple[str, ...]:
    """The sentences on what level `epsilon` against `adversary` promises about one record.

    `interval` names where secret values lie, if the guarantee is restricted to that. `seen` names
    what the level counts.
    """
    sentences = [
        f"Take a fact about one record that somebody believes with probability "
        f"{percent_up(IN_SHORT)}. Having seen {seen}, they believe it with "
        f"{becomes(epsilon, delta)}.",
        *([delta_sentence(epsilon, delta)] if delta > 0.0 else []),
        f"This holds for an adversary of the class '{adversary}': {ADVERSARY_MEANING[adversary]}.",
        "It holds if their beliefs about who depends on whom are those of the declared population, "
        "and it is as good as that declaration.",
    ]
    if interval:
        sentences.append(f"The secret values that it speaks of lie {interval}.")
    return tuple(sentences)


def not_promised(secrets: Secrets | None = None) -> tuple[str, ...]:
    """The sentences on what no level promises; `docs/limits.md` says more."""
    bounded = (
        (
            "People whose values lie outside the secrets interval don't have the full promise: for "
            f"them {OUTSIDE}.",
        )
        if secrets == "bounded"
        else ()
    )
    return (
        "That a record is in the table, and how many there are, is not protected: "
        "adjacency is replace one record.",
        "Facts about the group are not protected: that is what was released.",
        "If records depend on each other in another way than declared, the level doesn't hold.",
        *bounded,
    )
