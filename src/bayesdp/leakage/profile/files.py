"""Reading a model from a file: a population, a channel, and the secrets of Pufferfish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayesdp.errors import InputError, check_keys
from bayesdp.populations import Population, parse
from bayesdp.populations.files import json_object_in, search_in

KEYS = ("population", "channel", "mechanism", "pufferfish", "source")
_SHAPE = '{"population": {...}, "channel": [...]}'


@dataclass(frozen=True)
class ModelFile:
    """What a model's file declares; the channel is not checked yet."""

    population: Population
    channel: Any
    pufferfish: Mapping[str, Any] | None


def read_model(path: Path) -> ModelFile:
    """A model from JSON; `InputError` that names the key for everything else.

    `{"population": {...}, "channel": nested array}`, or `"mechanism": {"channel": ...}`; with
    `"pufferfish": {"secrets": [...], "pairs": [...]}` where secrets are declared.
    """
    content = json_object_in(path, "MODEL", f"a JSON object such as {_SHAPE}")
    check_keys("MODEL", content, KEYS)
    if "population" not in content:
        raise InputError("MODEL.population", expected=f"{_SHAPE}", remedy="Missing.", shown=False)
    channel = _channel(content)
    search_in(path.parent)
    return ModelFile(parse(content["population"]), channel, content.get("pufferfish"))


def _channel(content: dict[str, Any]) -> Any:
    """The channel, under `channel` or `mechanism.channel`."""
    mechanism = content.get("mechanism")
    if ("channel" in content) == (mechanism is not None):
        raise InputError(
            "MODEL.channel",
            expected='one of "channel": [...] and "mechanism": {"channel": [...]}',
            shown=False,
        )
    if mechanism is None:
        return content["channel"]
    if not isinstance(mechanism, dict) or set(mechanism) - {"channel", "source"}:
        raise InputError("MODEL.mechanism", mechanism, expected='{"channel": [...]}')
    if "channel" not in mechanism:
        raise InputError("MODEL.mechanism.channel", expected="a nested array", shown=False)
    return mechanism["channel"]
