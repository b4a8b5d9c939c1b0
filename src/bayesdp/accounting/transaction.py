"""The way of every release through its ledger: debit, draw, store, show.

The order is the promise, so it is kept in one place. The *debit* is durable before any noise is
drawn. What was *drawn* is *stored* durably before anybody sees it, and nothing is *shown* that is
not stored. A crash in between loses budget, never privacy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from bayesdp.accounting.canonical import plain_text
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.spend import Spend
from bayesdp.errors import FailedError, LedgerError, TableMismatchError

if TYPE_CHECKING:
    from bayesdp.accounting.accounts.account import Preview
    from bayesdp.accounting.ledger import Ledger, ReleaseId

Shown = TypeVar("Shown", covariant=True)
"""What a release hands over: the numbers of a study, or the result of a program."""

Stage = Literal["debit", "draw", "store", "show"]


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What a ledger records of a release before anything is drawn.

    `private` and `public` are the columns that the release declares so; `study` is what asked for
    the release, `request` the query or program it asked for, and `analyst` the person: the login
    name if it is `None`. `people` are those whom the data set shares with others, `unless` is as of
    `Ledger.debit`.
    """

    dataset: str
    unit: str
    reading: Reading
    spends: Sequence[Spend]
    study: str
    request: Mapping[str, Any]
    private: Sequence[str] = ()
    public: Sequence[str] = ()
    analyst: str | None = None
    people: str | None = None
    unless: Callable[[list[dict[str, Any]]], None] | None = None

    def preview(self, ledger: Ledger) -> Preview:
        """What the debit would do, without writing. Raises as `Ledger.preview` does."""
        return ledger.preview(
            self.dataset,
            self.unit,
            self.reading,
            self.spends,
            private=self.private,
            public=self.public,
            analyst=self.analyst,
        )

    def debit(self, ledger: Ledger) -> ReleaseId:
        """Register the data set's first reading, or find it there, and write the spends.

        Raises as `Ledger.ensure` and `Ledger.debit` do, with nothing spent.
        """
        ledger.ensure(
            self.dataset,
            self.unit,
            self.reading,
            private=self.private,
            public=self.public,
            analyst=self.analyst,
            people=self.people,
        )
        return ledger.debit(
            self.dataset,
            self.unit,
            self.spends,
            study=self.study,
            request=dict(self.request),
            analyst=self.analyst,
            unless=self.unless,
        )


@dataclass(frozen=True, slots=True)
class PartialResult:
    """What had been drawn when a release failed.

    `names` are those of the values, for people; `document` is what the ledger keeps, `None` for
    nothing.
    """

    names: Sequence[str]
    document: dict[str, Any] | None


class Drawing(Protocol[Shown]):
    """The part of a release after the debit: it draws noise, and computes from it."""

    @property
    def paid(self) -> str:
        """What the debit cost, in words."""

    @property
    def reads_released_only(self) -> bool:
        """Whether the current step reads released and public values only, so it may be quoted."""

    def draw(self, release: ReleaseId) -> tuple[Shown, dict[str, Any]]:
        """The result to be shown, and the document that the ledger keeps of it."""

    def so_far(self, release: ReleaseId) -> PartialResult:
        """The values that have been drawn until now."""


class Transaction(Generic[Shown]):
    """One release. Use `run`, or take the four steps one by one.

    A step out of its order is refused (`RuntimeError`) and does nothing. Nothing is spent where
    `debit` raises. Later failures are answered as `FailedError`, which says what was paid and what
    is kept; an interrupt passes as it is, after what was drawn has been stored.
    """

    def __init__(self, ledger: Ledger, entry: LedgerEntry, drawing: Drawing[Shown]) -> None:
        self._ledger, self._entry, self._drawing = ledger, entry, drawing
        self._next: Stage | None = "debit"
        self._release: ReleaseId | None = None
        self._drawn: tuple[Shown, str] | None = None

    def run(self) -> Shown:
        """Take all four steps, and return the result.

        Raises the ledger's errors with nothing spent, and `FailedError` after the debit.
        """
        self.debit()
        try:
            self.draw()
        finally:
            self.store()  # also what was drawn before a failure: it has been paid for
        return self.show()

    def debit(self) -> None:
        """Write the spends durably.

        Raises the ledger's errors, with nothing spent, and `RuntimeError` out of order.
        """
        self._require("debit")
        self._release = self._entry.debit(self._ledger)
        self._next = "draw"

    def draw(self) -> None:
        """Draw the noise and compute the result, once.

        Raises `FailedError` where that fails, and `RuntimeError` out of order.
        """
        release = self._paid_for("draw")
        self._next = "store"
        try:
            answer, result = self._drawing.draw(release)
            text = plain_text(result)  # else it could not be stored
        except Exception as error:
            # Whatever it is: those who read the error must learn that it has been paid for. Its own
            # traceback may lead to private values.
            failure = error
        else:
            self._drawn = answer, text
            return
        quoted = self._drawing.reads_released_only
        problem = error_words(failure, quoted=quoted)
        # Outside of the handler: nothing that may not be quoted is kept behind it.
        raise self._failed(release, problem) from (failure if quoted else None)

    def store(self) -> None:
        """Write the result durably, or, after a failure, what was drawn until then.

        Raises `FailedError` where the ledger can't be written, and `RuntimeError` out of order.
        """
        release = self._paid_for("store")
        self._next = None
        text = self._text_so_far(release) if self._drawn is None else self._drawn[1]
        if text is not None:
            try:
                self._ledger.store_text(release, text)
            except LedgerError as error:
                raise self._failed(release, error_words(error, quoted=True), kept=False) from error
        if self._drawn is not None:
            self._next = "show"

    def _text_so_far(self, release: ReleaseId) -> str | None:
        document = self._drawing.so_far(release).document
        return None if document is None else plain_text(document)

    def show(self) -> Shown:
        """The result, which is stored already. Raises `RuntimeError` out of order."""
        self._require("show")
        assert self._drawn is not None
        self._next = None
        return self._drawn[0]

    def _require(self, step: Stage) -> None:
        if self._next != step:
            next_step = f"'{self._next}' is next" if self._next else "it is over"
            raise RuntimeError(f"'{step}' is out of order in a release: {next_step}")

    def _paid_for(self, step: Stage) -> ReleaseId:
        self._require(step)
        assert self._release is not None
        return self._release

    def _failed(self, release: ReleaseId, problem: str, *, kept: bool = True) -> FailedError:
        names = ", ".join(self._drawing.so_far(release).names)
        if not names:
            rest = f"Nothing had been released until then (release {release} in the ledger)."
        elif kept:
            rest = (
                f"What it released until then is kept in the ledger as release {release}: {names}."
            )
        else:
            rest = f"What it released is lost (release {release} in the ledger): {names}."
        return FailedError(
            f"{self._entry.study} failed after its cost had been debited ({problem}). "
            f"Paid: {self._drawing.paid}. {rest}"
        )


def error_words(error: Exception, *, quoted: bool) -> str:
    """The name of an error, with its text where that may be shown.

    After the debit an error's own words are `quoted` only where it is about released values: others
    may quote private ones.
    """
    return f"{type(error).__name__}: {error}"[:400] if quoted else type(error).__name__


@contextmanager
def refusals_noted(
    ledger: Ledger, dataset: str, study: str, analyst: str | None = None
) -> Iterator[list[Spend]]:
    """Write in the ledger that a table was refused because of what is in it.

    That is of the table of `dataset`, in the study named `study`, for `analyst` (the login name, if
    it is `None`), where `TableMismatchError` is raised inside.

    Such a refusal is one bit about the data, free of charge: it must at least leave a trace. The
    list is for the spends that the release would have, as soon as they are known.
    """
    requested: list[Spend] = []
    try:
        yield requested
    except TableMismatchError:
        ledger.refused(dataset, study, "table", analyst=analyst, spends=requested)
        raise


__all__ = [
    "Drawing",
    "LedgerEntry",
    "PartialResult",
    "Transaction",
    "error_words",
    "refusals_noted",
]
