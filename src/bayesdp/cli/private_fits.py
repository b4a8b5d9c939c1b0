"""`fit STUDY --private`: from the private table of a study to a population, at a cost."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import typer

from bayesdp.cli.common import console, print_json
from bayesdp.errors import InputError

OPTIONS = ("column", "order", "length", "confidence", "dp-epsilon", "plan", "suppose", "again")
"""The options of a private fit. States, series and order are the study's own declarations."""


def fit_private(
    study: str,
    options: Mapping[str, Any],
    out: Path | None,
    write: Callable[[Path, Mapping[str, Any]], None],
    *,
    as_json: bool,
) -> None:
    """Fit the study's table privately, or say with `plan` what that would cost and give.

    `chosen` are the options that were given, `write` writes a population to a file.
    """
    from bayesdp.release import Study

    _check_options(options)
    loaded = Study.load(study)
    named = {key: options[key] for key in ("column", "length", "confidence") if key in options}
    named |= {"dp_epsilon": options["dp-epsilon"]}
    if "order" in options:
        named["order"] = _order(options["order"])
    if options.get("plan"):
        _plan(loaded, named, options.get("suppose"), as_json)
        return
    if out is not None:
        from bayesdp.report.output import check_target

        check_target(out, "population", reserved=[Path(study), *loaded.ledger_files])
    new_ledger = loaded.new_ledger
    fitted = loaded.fit(again=bool(options.get("again")), **named)
    if new_ledger:
        typer.echo(new_ledger, err=True)
    spec = {"model": fitted.population.model, **fitted.population.spec()}
    if out is not None:
        write(out, spec)
    if as_json:
        checks = [check.to_dict() for check in fitted.diagnostics]
        print_json({"population": spec, "diagnostics": checks, "estimate": fitted.estimated()})
        return
    from bayesdp.report.fits import show_private_fit

    show_private_fit(console(), fitted, out)


def _check_options(set_options: Mapping[str, Any]) -> None:
    for key, value in set_options.items():
        if key not in OPTIONS:
            raise InputError(
                f"--{key}",
                value,
                expected="nothing beside --private: the study declares its columns",
                remedy=_instead(key, value, set_options.get("column")),
            )
    if "dp-epsilon" not in set_options:
        raise InputError(
            "--dp-epsilon",
            expected="what the fit may cost, in nats of differential privacy",
            remedy="For example 0.1. Add --plan to see first what it would give.",
            shown=False,
        )
    if "suppose" in set_options and "plan" not in set_options:
        raise InputError(
            "--suppose", set_options["suppose"], expected="--plan beside it: a fit supposes nothing"
        )


def _instead(key: str, value: object, column: object) -> str:
    """What to write in the study in place of an option that says what the states are."""
    known = "A private fit has " + ", ".join(f"--{option}" for option in OPTIONS) + "."
    if key not in ("cuts", "where", "states"):
        return known
    from bayesdp.errors import toml_key, toml_text

    source, text = str(column or "steps"), str(value)
    if key == "states":
        name, declaration = source, f"states = [{_listed_values(text)}]"
    else:
        name, value_text = f"{source} as states", f"[{text}]" if key == "cuts" else toml_text(text)
        declaration = f"from = {toml_text(source)}, {key} = {value_text}"
    return (
        f"Write below [data.columns]: {toml_key(name)} = {{ {declaration} }}, and "
        f"--column {shlex.quote(name)}. {known}"
    )


def _listed_values(text: str) -> str:
    """States with commas between them, as an array of TOML."""
    from bayesdp.errors import toml_text

    parts = [part.strip() for part in text.split(",")]
    try:
        [float(part) for part in parts]
    except ValueError:
        return ", ".join(map(toml_text, parts))
    return ", ".join(parts)


def _order(text: str) -> int:
    if text == "auto":
        raise InputError(
            "--order",
            text,
            expected="1, 2 or 3 for a private fit: to choose by the data would cost more",
            remedy="Public or past data of the kind tell it: bayesdp fit PAST.csv --model markov "
            "--order auto.",
        )
    try:
        return int(text)
    except ValueError:
        raise InputError("--order", text, expected="1, 2 or 3") from None


def _plan(study: Any, options: Mapping[str, Any], suppose: str | None, as_json: bool) -> None:
    """What the fit would cost and give, without a look at the table."""
    from bayesdp.populations import MarkovChain, load

    supposed = None if suppose is None else load(suppose)
    if supposed is not None and not isinstance(supposed, MarkovChain):
        raise InputError("--suppose", suppose, expected="a population of model markov")
    plan = study.plan_fit(**options)
    expected = plan.expected(supposed)
    if as_json:
        priced = {"dp_epsilon": plan.dp_epsilon, "level": plan.level, "error": plan.error}
        print_json({"fit": priced, "expected": expected.to_dict()})
        return
    from bayesdp.report.fits import show_fit_plan

    show_fit_plan(console(), plan, expected)
