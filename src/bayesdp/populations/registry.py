"""The list of models, and reading a spec as the model that it names.

`MODELS` is empty here and filled in by the package, which knows every model. A family, itself a
model, reads its members with `parse`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from bayesdp.errors import InputError, closest, explain_validation, not_a_table
from bayesdp.populations.base import WITHIN_DOUBLES, Population

MODELS: dict[str, type[Population]] = {}
"""The class of each `model`, in the order in which messages list them."""


def parse(spec: Mapping[str, Any], key: str = "population") -> Population:
    """The population that a spec declares: plain data, whose `model` is a key of `MODELS`.

    Raises `InputError` naming the key below `key`, the value and the remedy.
    """
    if not isinstance(spec, Mapping):
        raise not_a_table(key, spec, 'a table such as { model = "independent" }')
    model = spec.get("model")
    if model is None:
        raise InputError(
            f"{key}.model",
            expected="one of " + ", ".join(MODELS),
            shown=False,
            remedy='Add one, such as model = "markov".',
        )
    if not isinstance(model, str) or model not in MODELS:
        raise InputError(
            f"{key}.model",
            model,
            expected="one of " + ", ".join(MODELS),
            remedy=closest(str(model), MODELS),
        )
    kind = MODELS[model]
    try:
        return kind(**spec)  # `model_validate` would check a class with its own `__init__` twice
    except ValidationError as error:
        raise explain_validation(error, kind, spec, key) from None
    except OverflowError:
        raise InputError(key, expected=WITHIN_DOUBLES, shown=False) from None
    except RecursionError:
        raise InputError(key, expected="lists of sensible depth", shown=False) from None


def parse_below(spec: Mapping[str, Any], place: str) -> Population:
    """As `parse`, where errors name their keys below `place`, such as `population.members[0]`."""
    try:
        return parse(spec, place)
    except InputError as error:
        raise error.at(place + error.key.removeprefix(place).removeprefix("population")) from None
