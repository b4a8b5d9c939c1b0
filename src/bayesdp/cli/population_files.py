"""Fitted populations written to files, as JSON or TOML."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesdp.errors import InputError

if TYPE_CHECKING:
    pass


def write_population(out: Path, spec: Mapping[str, Any]) -> None:
    """Writes the population `spec` to `out`. Raises `InputError` where that can't be done."""
    from bayesdp.report.output import replace_file

    try:
        replace_file(out, _text(spec, as_toml=out.suffix == ".toml"))
    except (OSError, ValueError) as error:
        raise InputError("--out", str(out), expected=f"a file to write to ({error})") from None


def _text(spec: Mapping[str, Any], *, as_toml: bool) -> str:
    """The population as JSON, or as the table of a study file."""
    import json

    if not as_toml:
        return json.dumps(spec, indent=2, allow_nan=False) + "\n"
    lines = [f"{key} = {_toml(value)}" for key, value in spec.items()]
    return "\n".join(["[population]", *lines]) + "\n"


def _toml(value: Any) -> str:
    """A value of TOML: as in JSON, but for tables within it, and lists that hold some."""
    import json

    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple) and any(isinstance(inner, Mapping) for inner in value):
        return "[\n" + "".join(f"  {_toml(inner)},\n" for inner in value) + "]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
