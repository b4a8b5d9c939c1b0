"""Seeing and doing, for people at a terminal."""

from __future__ import annotations

from rich.console import Console

from bayesdp.causal import Effect, SeeingAndDoing
from bayesdp.report.layout import TableCell, noted, say, show_table
from bayesdp.report.numbers import level_words


def show_causal(console: Console, both: SeeingAndDoing) -> None:
    """For each record what setting it changes and what learning it changes, and both in words."""
    error = max(both.most_done.error, both.most_seen.error)
    show_table(
        console,
        f"What a mechanism of DP cost {level_words(both.dp_epsilon, error)} says about one record",
        ("record", "what setting this record changes (do)", "what learning it changes (see)"),
        [
            (intervention.record, _cell(intervention), _cell(observation))
            for intervention, observation in zip(both.do, both.see, strict=True)
        ],
    )
    for sentence in both.reading():
        say(console, sentence)
    impossible = [
        f"{observation.record} = {value}"
        for observation in both.see
        for value in observation.impossible
    ]
    if impossible:
        say(console, f"Never so in this model, hence never learned: {', '.join(impossible)}.")


def _cell(effect: Effect) -> TableCell:
    words = effect.words() or "nothing: every outcome is as likely for every value"
    return noted(level_words(effect.epsilon, effect.error), words)
