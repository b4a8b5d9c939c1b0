"""What was expected is said in the words of people who write studies, never in pydantic's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bayesdp.errors import InputError, explain_validation
from bayesdp.populations import MODELS, parse
from bayesdp.release.reading.study_files import parse_study
from bayesdp.release.spec.derived import DerivedSpec
from bayesdp.release.spec.parts import BudgetSpec, DataSpec, QuerySpec
from bayesdp.statements.base import Reader, Statement, StatementError
from bayesdp.tables.columns.column import Column


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    share: float | None = Field(default=None, gt=0, lt=1)
    total: float | None = Field(default=None, gt=0, le=1e6)
    size: int | None = Field(default=None, ge=1, le=8)
    length: int | None = Field(default=None, ge=1, le=2**53)
    rows: int | None = Field(default=None, ge=1)
    weight: float | None = Field(default=None, lt=2)
    name: str | None = Field(default=None, min_length=1)
    kind: Literal["mean", "median"] = "mean"
    whole: bool = False
    n: int | Literal["from data"] = 1
    names: tuple[str, ...] | None = Field(default=None, min_length=1)
    ends: tuple[float, float] | None = None
    sizes: dict[str, int] | None = None
    values: dict[str, bool | int | float | str] | None = None


def message(plain: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as refused:
        Part.model_validate(plain)
    return str(explain_validation(refused.value, Part, plain, "part"))


SAID = [
    ({"share": 1.0}, "part.share is 1.0: expected a number strictly between 0 and 1."),
    ({"share": "half"}, "part.share is 'half': expected a number strictly between 0 and 1."),
    (
        {"share": "0.5"},
        "part.share is '0.5': expected a number strictly between 0 and 1. Write 0.5, without "
        "quotes.",
    ),
    ({"share": "nan"}, "part.share is 'nan': expected a number strictly between 0 and 1."),
    (
        {"share": True},
        "part.share is True: expected a number strictly between 0 and 1. A truth value is not a "
        "number.",
    ),
    ({"total": 0}, "part.total is 0: expected a number above 0, up to 1000000."),
    ({"size": 9}, "part.size is 9: expected a whole number from 1 to 8."),
    (
        {"size": 2.0},
        "part.size is 2.0: expected a whole number from 1 to 8. Write 2, without decimals.",
    ),
    ({"size": 2.5}, "part.size is 2.5: expected a whole number from 1 to 8."),
    ({"size": "2.5"}, "part.size is '2.5': expected a whole number from 1 to 8."),
    (
        {"size": " 2"},
        "part.size is ' 2': expected a whole number from 1 to 8. Write 2, without quotes.",
    ),
    (
        {"size": np.int64(2)},
        "part.size is np.int64(2): expected a whole number from 1 to 8. Convert it with int() "
        "first.",
    ),
    ({"length": 0}, "part.length is 0: expected a whole number of at least 1."),
    (
        {"length": 2**60},
        "part.length is 1152921504606846976: expected a number less than or equal to "
        "9007199254740992.",
    ),
    ({"rows": 0}, "part.rows is 0: expected a whole number of at least 1."),
    ({"weight": 2}, "part.weight is 2: expected a number less than 2."),
    ({"name": ""}, "part.name is '': expected a text that is not empty."),
    ({"name": 3}, 'part.name is 3: expected a text. Write "3", in quotes.'),
    (
        {"kind": "medain"},
        "part.kind is 'medain': expected 'mean' or 'median'. Did you mean 'median'?",
    ),
    ({"kind": 3}, "part.kind is 3: expected 'mean' or 'median'."),
    (
        {"whole": "True"},
        "part.whole is 'True': expected true or false. Write true, without quotes.",
    ),
    ({"whole": 0}, "part.whole is 0: expected true or false. Write false."),
    ({"n": 2.5}, "part.n is 2.5: expected a whole number or 'from data'."),
    (
        {"n": "from date"},
        "part.n is 'from date': expected a whole number or 'from data'. Did you mean 'from data'?",
    ),
    (
        {"names": "height"},
        "part.names is 'height': expected a list. Write a list, between square brackets.",
    ),
    ({"names": ()}, "part.names is (): expected a list of at least 1 item."),
    ({"names": ("a", 3)}, 'part.names[1] is 3: expected a text. Write "3", in quotes.'),
    ({"ends": (1.0,)}, "part.ends[1]: expected a value. It is missing."),
    (
        {"ends": (1.0, 2.0, 3.0)},
        "part.ends is (1.0, 2.0, 3.0): expected a list of at most 2 items. Leave the others out.",
    ),
    ({"ends": (1.0, float("inf"))}, "part.ends[1] is inf: expected a finite number."),
    ({"sizes": 3}, "part.sizes is 3: expected a table."),
    ({"sizes": {"int": 2.5}}, "part.sizes.int is 2.5: expected a whole number."),
    # The forms are not keys, and a key that has the name of a form is.
    (
        {"values": {"str": []}},
        "part.values.str is []: expected true or false, a number or a text.",
    ),
    (
        {"shares": 0.5},
        "part.shares: expected a known key. Did you mean 'share'?",
    ),
]


@pytest.mark.parametrize(("plain", "said"), SAID, ids=lambda case: str(case)[:40])
def test_key_value_and_what_is_allowed(plain: dict[str, Any], said: str) -> None:
    assert message(plain) == said


def test_two_keys_with_the_same_value_are_two_problems() -> None:
    assert message({"whole": "x", "size": "x"}) == (
        "part.size is 'x': expected a whole number from 1 to 8."
    )


WRONG = (True, 3, -1, 2.0, 2.5, "x", "", "3", "true", [], [1], ["a"], {}, {"a": 1}, {"a": []})
MORE_WRONG = (*WRONG, None, float("inf"), float("nan"), np.float32(2), np.int64(3), object())
PYDANTIC = re.compile(
    r"\b(valid|input|instance|tuple|dictionary|string|integer|boolean|validation|literal)\b", re.I
)

STUDY: dict[str, Any] = {
    "data": {"dataset": "d", "n": 9, "columns": {"height": {"bounds": [0, 9]}}},
    "population": {"model": "clusters", "size": 3, "covers": ["height"]},
    "budget": {"epsilon": 1.0},
    "query": [{"name": "q", "kind": "sum", "column": "height"}],
    "derived": [{"name": "r", "kind": "largest", "query": "q", "count": 1}],
}
POPULATIONS: dict[str, dict[str, Any]] = {
    "independent": {},
    "clusters": {"size": 2},
    "unknown": {"records": 3},
    "markov": {"transition": [[0.5, 0.5], [0.5, 0.5]], "length": 3},
    "autoregressive": {"coefficient": 0.5, "length": 3},
    "gaussian": {"size": 2, "max_correlation": 0.5},
}


def with_a_wrong_value() -> Iterator[dict[str, Any]]:
    """Studies in each of which one key has a value that it can't have, or may."""
    places: list[tuple[type[BaseModel], Any]] = [
        (DataSpec, lambda s: s["data"]),
        (BudgetSpec, lambda s: s["budget"]),
        (QuerySpec, lambda s: s["query"][0]),
        (DerivedSpec, lambda s: s["derived"][0]),
        (Column, lambda s: s["data"]["columns"]["height"]),
    ]
    for model, at in places:
        for name, field in model.model_fields.items():
            for value in MORE_WRONG:
                study = {
                    "data": {**STUDY["data"], "columns": {"height": {"bounds": [0, 9]}}},
                    "population": STUDY["population"],
                    "budget": {**STUDY["budget"]},
                    "query": [{**STUDY["query"][0]}],
                    "derived": [{**STUDY["derived"][0]}],
                }
                at(study)[field.alias or name] = value
                yield study


def test_no_key_of_a_study_is_refused_in_other_words() -> None:
    messages = set()
    for study in with_a_wrong_value():
        try:
            parse_study(study)
        except InputError as error:
            messages.add(str(error))
    assert len(messages) > 500
    assert [text for text in messages if PYDANTIC.search(text)] == []
    assert [
        text for text in messages if not re.match(r"\w[\w.\[\]]*( is .*)?: expected ", text)
    ] == []


def test_no_key_of_a_population_is_refused_in_other_words() -> None:
    messages = set()
    for model, good in POPULATIONS.items():
        for name in MODELS[model].model_fields:
            for value in MORE_WRONG:
                try:
                    parse({"model": model, **good, name: value})
                except InputError as error:
                    messages.add(str(error))
    assert len(messages) > 200
    assert [text for text in messages if PYDANTIC.search(text)] == []


class Stated(Statement):
    number: float = Field(default=1.0, gt=0)
    whole: int = 1
    text: str = ""
    items: tuple[int, ...] = Field(default=(1,), min_length=1)
    either: bool | float = True
    table: dict[str, int] = Field(default_factory=dict)


REASONS = [
    ({"number": "x"}, ".number", "expected a number, not the text 'x'"),
    ({"number": -1.5}, ".number", "expected a number greater than 0, not -1.5"),
    ({"number": True}, ".number", "expected a number, not true"),
    ({"number": None}, ".number", "expected a number, not null"),
    ({"whole": 2.0}, ".whole", "expected a whole number, not 2.0"),
    ({"whole": []}, ".whole", "expected a whole number, not a list of 0"),
    ({"text": 2**80}, ".text", "expected a text, not a whole number as large"),
    ({"text": 7}, ".text", "expected a text, not 7"),
    ({"items": ()}, ".items", "expected a list of at least 1 item, not a list of 0"),
    ({"items": (1, "\u202e")}, ".items[1]", r"expected a whole number, not the text '\u202e'"),
    ({"whole": "\u0435"}, ".whole", r"expected a whole number, not the text '\u0435'"),  # no e
    (
        {"either": "a" * 50},
        ".either",
        f"expected true or false, or a number, not the text {'a' * 40!r}...",
    ),
    ({"table": {"int": {}}}, ".table.int", "expected a whole number, not a table"),
    ({"more": 1}, "", "a key that does not belong there"),
]


@pytest.mark.parametrize(("plain", "place", "reason"), REASONS, ids=lambda case: str(case)[:40])
def test_what_a_certificate_states_wrong(plain: dict[str, Any], place: str, reason: str) -> None:
    with pytest.raises(StatementError) as refused:
        Reader[Stated](Stated).read(plain, "")
    assert (refused.value.place.removesuffix(".more"), refused.value.reason) == (place, reason)
