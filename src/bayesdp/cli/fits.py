"""`fit`: from a table of public or past data to a population, or from a study's at a cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bayesdp.cli.common import Json, app, command, console, print_json
from bayesdp.cli.csv_options import (
    CodesOption,
    DecimalOption,
    EncodingOption,
    SeparatorOption,
    ThousandsOption,
    csv_options,
    opened,
)
from bayesdp.cli.population_files import write_population
from bayesdp.errors import InputError

if TYPE_CHECKING:
    from bayesdp.statements.columns import Value

ModelName = Literal[
    "markov", "finite", "tree", "network", "gaussian-clusters", "gaussian-roles", "ar1"
]


@dataclass(frozen=True)
class _Model:
    """A model that can be fitted: its options, those that it needs, and the function."""

    options: tuple[str, ...]
    needed: tuple[str, ...]
    fit: Callable[[Any, Mapping[str, Any]], Any]


TableFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A table of public or past data: CSV, Parquet, DuckDB. With --private a study.",
    ),
]
ModelOption = Annotated[
    ModelName | None, typer.Option(help="What is fitted; with --private it is markov.")
]
ColumnOption = Annotated[str | None, typer.Option(help="The column with the values.")]
WhereOption = Annotated[
    str | None,
    typer.Option(metavar="CONDITION", help="State 1 is where this holds, as in 'steps > 0'."),
]
CutsOption = Annotated[
    str | None,
    typer.Option(metavar="NUMBERS", help="Cut the values at these, as in 70,180."),
]
StatesOption = Annotated[
    str | None,
    typer.Option(metavar="VALUES", help="The values that are states, as in low,high."),
]
OrderOption = Annotated[
    str | None,
    typer.Option(
        metavar="ORDER",
        help="markov: 1 (unless given), 2, 3, auto (least BIC), or several: 1,2.",
    ),
]
ClusterOption = Annotated[str | None, typer.Option(help="The column that tells clusters apart.")]
RoleOption = Annotated[
    str | None, typer.Option(help="The column that tells the records of a cluster apart.")
]
RecordOption = Annotated[str | None, typer.Option(help="tree: the column of the names of records.")]
ParentOption = Annotated[
    str | None, typer.Option(help="tree: the column of the names of their parents.")
]
EdgesOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="tree: a table with these two columns, the study's tree. FILE's, unless given.",
    ),
]
StructureOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="network: a BIF file, or a table of arrows, parent and child."
    ),
]
SeriesOption = Annotated[
    list[str] | None,
    typer.Option(help="The column that tells series apart; of markov there may be several."),
]
TimeOption = Annotated[
    str | None,
    typer.Option(help="The column of times. markov: the order of the file unless given."),
]
StepOption = Annotated[
    str | None,
    typer.Option(metavar="STEP", help="The time between two records: 1, or '15 minutes'."),
]
TimeFormatOption = Annotated[
    str | None,
    typer.Option(metavar="FORMAT", help="How dates are written: '%d.%m.%Y', or '%Y-Q%q'."),
]
GapsOption = Annotated[
    Literal["break", "bridge"] | None,
    typer.Option(help="markov: gaps in time end a run (unless given), or are bridged."),
]
MissingOption = Annotated[
    Literal["break", "drop"] | None,
    typer.Option(help="markov: a missing cell ends a run (unless given), or is left out."),
]
LengthOption = Annotated[
    int | None, typer.Option(help="The most records of a series of the study.")
]
ClusterSizeOption = Annotated[
    int | None,
    typer.Option(help="gaussian-clusters: the most records of a cluster. finite: its records."),
]
ConfidenceOption = Annotated[
    float | None, typer.Option(help="Of the bounds on all parameters at once (0.95).")
]
PointOption = Annotated[
    bool, typer.Option("--point", help="markov, finite: the most likely law, without bounds.")
]
PrivateOption = Annotated[
    bool, typer.Option("--private", help="Fit the private table of a study, at a cost.")
]
DpEpsilonOption = Annotated[
    float | None,
    typer.Option(metavar="E", help="--private: what the fit costs of the data set's budget."),
]
PlanOption = Annotated[
    bool,
    typer.Option("--plan", help="--private: what it would cost and give; reads no data."),
]
SupposeOption = Annotated[
    str | None,
    typer.Option(metavar="POP", help="--plan: what the records may be like, a chain."),
]
AgainOption = Annotated[
    bool,
    typer.Option("--again", help="--private: pay for new noise though the fit is there."),
]
DiagnoseOption = Annotated[
    bool,
    typer.Option(
        "--diagnose", help="Only say what speaks for the model or against it: then status 1."
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the population: JSON, or TOML as in a study."),
]


@command(app, "bayesdp fit galton.csv --model gaussian-clusters --column height --cluster family")
def fit(
    file: TableFile,
    model: ModelOption = None,
    column: ColumnOption = None,
    where: WhereOption = None,
    cuts: CutsOption = None,
    states: StatesOption = None,
    order: OrderOption = None,
    cluster: ClusterOption = None,
    role: RoleOption = None,
    record: RecordOption = None,
    parent: ParentOption = None,
    edges: EdgesOption = None,
    structure: StructureOption = None,
    series: SeriesOption = None,
    time: TimeOption = None,
    step: StepOption = None,
    time_format: TimeFormatOption = None,
    gaps: GapsOption = None,
    missing: MissingOption = None,
    codes: CodesOption = None,
    length: LengthOption = None,
    size: ClusterSizeOption = None,
    confidence: ConfidenceOption = None,
    point: PointOption = False,
    private: PrivateOption = False,
    dp_epsilon: DpEpsilonOption = None,
    plan: PlanOption = False,
    suppose: SupposeOption = None,
    again: AgainOption = False,
    diagnose: DiagnoseOption = False,
    separator: SeparatorOption = None,
    decimal: DecimalOption = None,
    thousands: ThousandsOption = None,
    encoding: EncodingOption = None,
    out: OutOption = None,
    as_json: Json = False,
) -> None:
    """A population from public, past or private data, with bounds of a stated confidence."""
    options = {
        "column": column,
        "where": where,
        "cuts": cuts,
        "states": states,
        "order": order,
        "cluster": cluster,
        "role": role,
        "record": record,
        "parent": parent,
        "edges": edges,
        "structure": structure,
        "series": series or None,
        "time": time,
        "step": step,
        "time-format": time_format,
        "gaps": gaps,
        "missing": missing,
        "codes": codes,
        "length": length,
        "size": size,
        "confidence": confidence,
        "point": point or None,
        "dp-epsilon": dp_epsilon,
        "plan": plan or None,
        "suppose": suppose,
        "again": again or None,
    }
    set_options = {key: value for key, value in options.items() if value is not None}
    csv = csv_options(separator, decimal, thousands, encoding)
    if private:
        from bayesdp.cli.private_fits import fit_private

        for key, value in csv.items():
            remedy = "The study says how its CSV files are written, below [data.csv]."
            raise InputError(f"--{key}", value, expected="nothing with --private", remedy=remedy)
        if model not in (None, "markov"):
            raise InputError("--model", model, expected="markov, or nothing, with --private")
        fit_private(file, set_options, out, write_population, as_json=as_json)
        return
    if model is None:
        raise InputError(
            "--model", expected=f"one of {', '.join(_MODELS)}, without --private", shown=False
        )
    _fit_public(file, model, set_options, out, csv=csv, diagnose=diagnose, as_json=as_json)


def _fit_public(
    file: str,
    model: str,
    set_options: Mapping[str, Any],
    out: Path | None,
    *,
    csv: Mapping[str, str],
    diagnose: bool,
    as_json: bool,
) -> None:
    """Fit public or past data, and write or print the population, or what speaks against it."""
    _check_options(model, set_options)
    names = (file, set_options.get("edges"), set_options.get("structure"))
    inputs = [Path(name) for name in names if name is not None]
    if out is not None:
        from bayesdp.report.output import check_target

        if diagnose:
            raise InputError("--diagnose", True, expected="no --out beside it", shown=False)
        check_target(out, "population", reserved=inputs)
    options = dict(set_options)
    codes = {set_options["column"]: _parts(options.pop("codes"))} if "codes" in set_options else {}
    table = opened(file, csv, codes) if csv or codes else file
    fitted = _MODELS[model].fit(table, options)
    if diagnose:
        _diagnose(fitted, as_json)
        return
    spec = {"model": fitted.population.model, **fitted.population.spec()}
    if out is not None:
        write_population(out, spec)
    if as_json:
        checks = [check.to_dict() for check in fitted.diagnostics]
        print_json({"population": spec, "diagnostics": checks, "estimate": fitted.estimated()})
        return
    from bayesdp.report.fits import show_fit

    show_fit(console(), fitted, out)


def _diagnose(fitted: Any, as_json: bool) -> None:
    """Say what was looked at; status 1 where something speaks against the model."""
    if as_json:
        print_json({"diagnostics": [check.to_dict() for check in fitted.diagnostics]})
    else:
        from bayesdp.report.fits import show_checks

        show_checks(console(), fitted)
    if not all(check.fits for check in fitted.diagnostics):
        raise typer.Exit(1)


def _check_options(model: str, set_options: Mapping[str, Any]) -> None:
    """Refuse options of other models, and ask for those that this model needs."""
    known = _MODELS[model]
    for key, value in set_options.items():
        if key not in known.options:
            raise InputError(
                f"--{key}",
                value,
                expected=f"nothing for the model {model}",
                remedy=f"Leave --{key} out. It has " + ", ".join(f"--{o}" for o in known.options),
            )
    for key in known.needed:
        if key not in set_options:
            raise InputError(
                f"--{key}",
                expected=f"a value, which the model {model} needs",
                remedy="bayesdp fit --help says what it is.",
                shown=False,
            )


def _markov(file: Any, set_options: Mapping[str, Any]) -> Any:
    from bayesdp.fitting import fit_chain, fit_orders

    options = _timed(_of_states(set_options))
    if "order" in options:
        if "," in options["order"]:
            orders: Any = [_order(part) for part in _parts(options.pop("order"))]
            return fit_orders(file, options.pop("column"), orders, **options)
        options["order"] = _order(options["order"])
    return fit_chain(file, **options)


def _timed(set_options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with the step as a number, if it is one, and the format by its argument."""
    options = dict(set_options)
    if "step" in options:
        options["step"] = _step(options["step"])
    if "time-format" in options:
        options["time_format"] = options.pop("time-format")
    return options


def _of_states(set_options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with what states are, and `--point` as a confidence."""
    options = dict(set_options)
    if options.pop("point", False):
        if "confidence" in options:
            raise InputError("--point", True, expected="no --confidence beside it", shown=False)
        options["confidence"] = None
    if "cuts" in options:
        options["cuts"] = [_number(part, "--cuts") for part in _parts(options["cuts"])]
    if "states" in options:
        options["states"] = _values(_parts(options["states"]))
    return options


def _finite(file: Any, set_options: Mapping[str, Any]) -> Any:
    from bayesdp.fitting import fit_finite

    options = _of_states(set_options)
    return fit_finite(file, options.pop("column"), options.pop("cluster"), **options)


def _tree(file: Any, set_options: Mapping[str, Any]) -> Any:
    from bayesdp.fitting import fit_tree

    options = _of_states(set_options)
    names = (options.pop(key) for key in ("column", "record", "parent"))
    return fit_tree(file, *names, **options)


def _network(file: Any, set_options: Mapping[str, Any]) -> Any:
    from bayesdp.fitting import fit_network

    options = dict(set_options)
    return fit_network(file, options.pop("structure"), **options)


def _clusters(file: Any, set_options: Mapping[str, Any]) -> Any:
    from bayesdp.fitting import fit_exchangeable

    options = dict(set_options)
    return fit_exchangeable(file, options.pop("column"), options.pop("cluster"), **options)


def _roles(file: Any, set_options: Mapping[str, Any]) -> Any:
    from bayesdp.fitting import fit_roles

    options = dict(set_options)
    names = (options.pop(key) for key in ("column", "cluster", "role"))
    return fit_roles(file, *names, **options)


def _autoregressive(file: Any, set_options: Mapping[str, Any]) -> Any:
    from bayesdp.fitting import fit_autoregressive

    options = _timed(set_options)
    if "series" in options:
        if len(options["series"]) > 1:
            raise InputError("--series", options["series"], expected="one column")
        (options["series"],) = options["series"]
    return fit_autoregressive(file, options.pop("column"), options.pop("time"), **options)


_MODELS: dict[str, _Model] = {
    "markov": _Model(
        (
            *("column", "where", "cuts", "states", "order", "series", "time", "step"),
            *("time-format", "gaps"),
            *("missing", "codes", "length", "confidence", "point"),
        ),
        ("column", "length"),
        _markov,
    ),
    "finite": _Model(
        (
            *("column", "cluster", "where", "cuts", "states", "codes", "role", "size"),
            *("confidence", "point"),
        ),
        ("column", "cluster"),
        _finite,
    ),
    "tree": _Model(
        ("column", "record", "parent", "edges", "where", "cuts", "states", "codes", "confidence"),
        ("column", "record", "parent"),
        _tree,
    ),
    "network": _Model(("structure", "confidence"), ("structure",), _network),
    "gaussian-clusters": _Model(
        ("column", "cluster", "codes", "size", "confidence"), ("column", "cluster"), _clusters
    ),
    "gaussian-roles": _Model(
        ("column", "cluster", "role", "codes", "confidence"), ("column", "cluster", "role"), _roles
    ),
    "ar1": _Model(
        ("column", "time", "series", "step", "time-format", "codes", "length", "confidence"),
        ("column", "time"),
        _autoregressive,
    ),
}
"""The models by name. A new one is a function of `bayesdp.fitting` and an entry here."""


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _number(text: str, key: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(key, text, expected="a number") from None


def _values(parts: list[str]) -> list[Value]:
    """Numbers or truth values where all parts are, else texts."""
    truths = {"true": True, "false": False}
    if all(part.lower() in truths for part in parts):
        return [truths[part.lower()] for part in parts]
    try:
        return [float(part) if "." in part or "e" in part.lower() else int(part) for part in parts]
    except ValueError:
        return list(parts)


def _step(text: str) -> float | str:
    """A number, or a text such as "1 day"."""
    try:
        return float(text)
    except ValueError:
        return text


def _order(text: str) -> int | str:
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise InputError("--order", text, expected="1, 2, 3 or auto, or such as 1,2") from None
