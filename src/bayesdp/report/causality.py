"""Seeing and doing, for people at a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bayesdp.causal import Effect, SeeingAndDoing
from bayesdp.report.terminal import number


def show_causal(console: Console, both: SeeingAndDoing) -> None:
    """A row for each record: what setting it changes, what learning it changes; and in words."""
    table = Table(
        title=f"What a mechanism of DP cost {number(both.dp_epsilon)} says about one record",
        title_justify="left",
        title_style="bold",
        header_style="",
    )
    table.add_column("record", overflow="fold")
    table.add_column("what setting this record changes (do)", overflow="fold")
    table.add_column("what learning it changes (see)", overflow="fold")
    for done, seen in zip(both.do, both.see, strict=True):
        table.add_row(escape(done.record), _cell(done), _cell(seen))
    console.print(table)
    for sentence in both.reading():
        console.print(sentence, highlight=False, markup=False)
    impossible = [f"{one.record} = {value}" for one in both.see for value in one.impossible]
    if impossible:
        console.print(
            f"Never so in this model, hence never learned: {', '.join(impossible)}.",
            highlight=False,
            markup=False,
        )


def _cell(effect: Effect) -> str:
    words = effect.words() or "nothing: every outcome is as likely for every value"
    return f"{number(effect.epsilon)}\n[dim]{escape(words)}[/dim]"
