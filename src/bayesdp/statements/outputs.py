"""What programs hand over, as certificates state it: released values, answers and distributions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from bayesdp.statements.base import (
    Count,
    Interval,
    Line,
    Name,
    Names,
    Number,
    Reader,
    Sequence,
    Size,
    Statement,
)
from bayesdp.statements.columns import Value

NOTES = frozenset(
    {
        "The number of records is private; its prior is flat.",
        "The clip of the records is not part of the model.",
        "The prior is a mixture: it was replaced by the single law with its means and spread.",
        "X'X has a flat prior on positive definite matrices.",
        "The residual sum of squares is taken as normal, and the clip of the records is not "
        "modelled.",
        "The declared dependence of records counts: the posterior is as wide as their largest sum "
        "of correlations makes it.",
        "The posterior takes records for independent, and the declared population says that they "
        "are not: its intervals may be too narrow.",
        "The declared population is a chain, as the posterior takes it for.",
        "The posterior takes records for a chain, and the declared population is another one: its "
        "intervals may be too narrow.",
        "The model is a chain: a record depends on the one before it alone.",
        "That a state is left as often as it is entered is not counted on: each row of transitions "
        "is taken for itself.",
        "X'X is held at the nearest positive definite matrix to the released one.",
        "The total time has a flat prior, and events are Poisson given it.",
        "The counts of the histogram are taken as independent, given their means.",
        "Answers are taken as true, though they lean to the middle of the candidates.",
        "The feature's law is a histogram whose shares have a flat prior.",
        "The features' law is the one of largest entropy with the released moments, up to noise.",
    }
)
"""The notes that a posterior may have, beside the note on chains that don't agree."""

_CHAINS = re.compile(r"The chains don't agree: R-hat is [0-9]+\.[0-9]{3}\. Ask for more draws\.")


def _note(text: str) -> str:
    if text not in NOTES and _CHAINS.fullmatch(text) is None:
        raise ValueError("a note that no posterior has")
    return text


def _kind(value: object) -> str:
    return "list" if isinstance(value, list | tuple) else "single"


Numbers = Annotated[tuple[Number, ...], Sequence, Field(min_length=1)]
Sizes = Annotated[tuple[Size, ...], Sequence, Field(min_length=1)]
OneOrMore = Annotated[
    Annotated[Number, Tag("single")] | Annotated[Numbers, Tag("list")], Discriminator(_kind)
]
SizeOrSizes = Annotated[
    Annotated[Size, Tag("single")] | Annotated[Sizes, Tag("list")], Discriminator(_kind)
]


class Released(Statement):
    """A value, or several. A text is one line."""

    value: Annotated[
        Annotated[Value, Tag("single")] | Annotated[tuple[Value, ...], Sequence, Tag("list")],
        Discriminator(_kind),
    ]

    @model_validator(mode="after")
    def _visible(self) -> Released:
        for value in self.value if isinstance(self.value, tuple) else (self.value,):
            if isinstance(value, str):
                _LINE.read(value, "value")
        return self


_LINE: Reader[str] = Reader(Line)


class Answers(Statement):
    """One noisy answer for each record: places of `labels`, or numbers."""

    labels: Names = ()
    answers: Annotated[tuple[bool | Number, ...], Sequence]

    @model_validator(mode="after")
    def _of_labels(self) -> Answers:
        for answer in self.answers:
            coded = (
                not isinstance(answer, bool)
                and answer.is_integer()
                and 0 <= answer < len(self.labels)
            )
            if self.labels and not coded:
                raise ValueError("an answer that is not one of the labels")
        return self


class Chains(Statement):
    """How well the chains of draws of one number agree."""

    ess: Annotated[Number, Field(gt=0)]
    r_hat: Size


class Posterior(Statement):
    """A distribution: of one number, or of as many as its mean has."""

    family: Literal[
        "beta", "gamma", "normal", "dirichlet", "regression", "pooled", "mixture", "chain"
    ]
    mean: OneOrMore
    sd: SizeOrSizes
    interval95: Annotated[
        Annotated[Interval, Tag("single")] | Annotated[tuple[Interval, ...], Sequence, Tag("list")],
        Discriminator(lambda plain: _kind(next(iter(plain), 0)) if _kind(plain) == "list" else ""),
    ]
    notes: (
        Annotated[tuple[Annotated[str, AfterValidator(_note)], ...], Sequence, Field(min_length=1)]
        | None
    ) = None
    parameters: Numbers | None = None
    components: Annotated[Count, Field(ge=2)] | None = None
    names: Names | None = None
    quadrature_error: Size | None = None
    draws: Count | None = None
    diagnostics: dict[Name, Chains] | None = None

    @model_validator(mode="after")
    def _of_one_size(self) -> Posterior:
        several = isinstance(self.mean, tuple)
        ends: Any = self.interval95 if isinstance(self.interval95[0], tuple) else (self.interval95,)
        if any(low > high for low, high in ends):
            raise ValueError("an interval whose ends are the wrong way round")
        means, sds = (x if isinstance(x, tuple) else (x,) for x in (self.mean, self.sd))
        alike = several == isinstance(self.sd, tuple) == isinstance(self.interval95[0], tuple)
        if not alike or len({len(means), len(sds), len(ends)}) > 1:
            raise ValueError("a mean, sd and interval of different sizes")
        if several != (self.names is not None) or len(self.names or means) != len(means):
            raise ValueError("not as many names as numbers")
        if (self.draws is None) != (self.diagnostics is None):
            raise ValueError("draws without diagnostics, or these without draws")
        if self.diagnostics is not None and set(self.diagnostics) != set(self.names or ()):
            raise ValueError("diagnostics of other numbers")
        self._domain(means, ends)
        return self

    def _domain(self, means: tuple[float, ...], ends: Any) -> None:
        """Values and parameters that the family has."""
        every = (*means, *chain.from_iterable(ends))
        near = 1e-9  # a mean of many draws is rounded
        if (
            self.family in ("beta", "dirichlet")
            and not -near <= min(every) <= max(every) <= 1 + near
        ):
            raise ValueError("a share that is not between 0 and 1")
        if self.family == "gamma" and min(every) < -near:
            raise ValueError("a rate below 0")
        if self.parameters is None:
            return
        values = self.parameters
        if len(values) != (len(means) if self.family == "dirichlet" else 2):
            raise ValueError("not the parameters of one such distribution")
        positive = values[1:] if self.family == "normal" else values
        if min(positive) < 0:
            raise ValueError("a parameter below 0")


class OutputMargin(Statement):
    """The noise moves a number by more than `value` with probability at most 1 - `confidence`."""

    confidence: Annotated[Number, Field(ge=0.5, lt=1)]
    value: SizeOrSizes


class _About(Statement):
    type: Name
    name: Name | None = None
    unit: Name | None = None


class NumberOutput(_About, Released):
    """A released value, or what was computed from some, with the error of the noise."""

    cells: Annotated[Names, Field(min_length=1)] | None = None
    error: OutputMargin | None = None

    @model_validator(mode="after")
    def _of_one_size(self) -> NumberOutput:
        values = self.value if isinstance(self.value, tuple) else None
        if self.cells is not None and (values is None or len(values) != len(self.cells)):
            raise ValueError("not as many cells as numbers")
        if self.error is None:
            return self
        numbers = (self.value,) if values is None else values
        if any(isinstance(number, bool | str) for number in numbers):
            raise ValueError("an error of what is not a number")
        errors = self.error.value if isinstance(self.error.value, tuple) else None
        if (errors is None) != (values is None) or len(errors or ()) != len(values or ()):
            raise ValueError("not as many errors as numbers")
        return self


class AnswersOutput(_About, Answers):
    """Noisy answers that are handed over."""

    cells: Annotated[Names, Field(min_length=1)] | None = None


class PosteriorOutput(_About, Posterior):
    """A distribution that is handed over."""


def _form(plain: object) -> str:
    if not isinstance(plain, Mapping):
        return ""
    known = (("value", "value"), ("answers", "answers"), ("family", "posterior"))
    return next((form for key, form in known if key in plain), "")


Output = Annotated[
    Annotated[NumberOutput, Tag("value")]
    | Annotated[AnswersOutput, Tag("answers")]
    | Annotated[PosteriorOutput, Tag("posterior")],
    Discriminator(_form),
]
AnyReleased = Annotated[
    Annotated[Released, Tag("value")]
    | Annotated[Answers, Tag("answers")]
    | Annotated[Posterior, Tag("posterior")],
    Discriminator(_form),
]
_OUTPUT: Reader[Output] = Reader(Output)
_RELEASED: Reader[AnyReleased] = Reader(AnyReleased)


def read_output(plain: object, place: str = "outputs") -> Output:
    """The output that a program hands over, as one of the classes above.

    Raises `StatementError` naming the first problem.
    """
    return _OUTPUT.read(plain, place)


def read_released(plain: object, place: str = "releases") -> AnyReleased:
    """A value that a program released, as a certificate states it. Raises `StatementError`."""
    return _RELEASED.read(plain if isinstance(plain, dict) else {"value": plain}, place)
