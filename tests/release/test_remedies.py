"""Every remedy that shows a line of TOML or a command works when it is pasted.

A case has a study that is refused, takes the lines out of the message, pastes them where the
message says, and checks the study again. `places` holds the cases and
`OTHERWISE` to what the code says.
"""

from __future__ import annotations

import ast
import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import bayesdp
from bayesdp import Study
from bayesdp.cli import app
from bayesdp.errors import BayesdpError
from bayesdp.fitting import fit_chain

VALUE = r"(?:\{[^{}]*\}|\[[^\]]*\]|\"(?:[^\"\\]|\\.)*\"|[\w.+-]+)"
KEY = r"(?:\"[^\"]*\"|[\w-]+)"

BASE = """[data]
source = "table.csv"
dataset = "d"
n = 300
[data.columns]
home = { role = "cluster" }
"day of test" = { role = "order", step = 1 }
role = { public = true, states = ["child", "grown up"] }
height = { bounds = [100, 200], unit = "cm" }
ill = { states = [0, 1] }
[population]
model = "clusters"
size = 3
covers = ["height", "ill"]
[budget]
epsilon = 1.0
[[query]]
name = "asked"
"""
PERSONS = BASE.replace("n = 300", 'n = 100\nunit = "person"\nrows_per_unit = 3').replace(
    "home =", "person = { public = true }\nhome ="
)
MANY = PERSONS.replace("rows_per_unit", "max_rows")
CHAIN = (
    BASE.replace('model = "clusters"\nsize = 3', "model = 'markov'\nlength = 300")
    .replace(
        'covers = ["height", "ill"]', 'transition = [[0.8, 0.2], [0.4, 0.6]]\ncovers = ["ill"]'
    )
    .replace("home = ", "# ")
)
MEAN = 'kind = "mean"\ncolumn = "height"\n'
SHARE = "kind = \"proportion\"\nwhere = 'ill == 1'\n"
BY = 'by = "role"\n'


@dataclass(frozen=True)
class Case:
    """A study that is refused with words of `place`, and how its remedy is pasted.

    `below`: lines that the message shows are written below the header that it names. `query`: keys
    of the query that the message sets. `fill` stands for `...` in order.
    """

    place: str
    study: str
    below: bool = False
    query: tuple[str, ...] = ()
    fill: tuple[str, ...] = ()
    also: dict[str, str] = field(default_factory=dict)


CASES = [
    Case("asked_values._refuse_bins", BASE + MEAN + "bins = [100, 150, 200]\n", query=("kind",)),
    Case(
        "histogram_cells.cells_of",
        BASE + 'kind = "histogram"\ncolumn = "height"\n',
        query=("bins",),
        fill=("bins = [100, 150, 200]",),
    ),
    Case(
        "crossed_columns._check_contingency",
        BASE.replace("ill =", 'tall = { from = "height", cuts = [150] }\nill =')
        + 'kind = "sum"\ncolumn = ["ill", "tall"]\n',
        query=("kind",),
    ),
    Case(
        "asked_values._value_column",
        BASE + 'kind = "histogram"\ncolumn = ["ill", "role"]\n',
        query=("by",),
        also={'["ill", "role"]': '"ill"'},
    ),
    Case("record_rows.require_public_rows", PERSONS + MEAN, below=True),
    Case("record_rows.require_public_rows", PERSONS + MEAN, query=("kind",)),
    Case("record_rows.require_public_rows", PERSONS + SHARE, query=("kind",)),
    Case(
        "record_rows.require_public_rows",
        PERSONS.replace("rows_per_unit = 3", "rows_per_unit = 3\nbalanced = true") + MEAN + BY,
        query=("kind",),
    ),
    Case("record_rows.average_remedy", MANY + MEAN, below=True),
    Case("record_rows.average_remedy", MANY + SHARE, query=("kind",)),
    Case(
        "from_spec._mechanism",
        CHAIN + "kind = \"count\"\nwhere = 'ill == 1'\ntightness = 'mechanism'\n",
        below=True,
    ),
    Case(
        "column_labels.labels", BASE.replace('covers = ["height", "ill"]\n', "") + MEAN, below=True
    ),
    Case(
        "consistency._public",
        PERSONS.replace("person = { public = true }\n", "") + MEAN.replace("mean", "sum"),
        below=True,
    ),
    Case(
        "consistency._public",
        PERSONS.replace("person = { public = true }\n", "").replace(
            'unit = "person"', 'unit = "whose row"'
        )
        + MEAN.replace("mean", "sum"),
        below=True,
    ),
    Case(
        "consistency._structure", BASE.replace('home = { role = "cluster" }', "") + MEAN, below=True
    ),
    Case("consistency._structure", CHAIN.replace('"day of test" = ', "# ") + SHARE, below=True),
    Case(
        "consistency._members",
        BASE.replace("size = 3", 'covariance = [[1, 0.5], [0.5, 1]]\nroles = ["child", "grown up"]')
        .replace('"clusters"', '"gaussian"')
        .replace(', "ill"', "")
        .replace("role = {", "which = {")
        + MEAN,
        below=True,
    ),
    Case(
        "consistency._with_delta",
        BASE.replace("epsilon = 1.0", 'epsilon = 1.0\nnoise = "gaussian"') + MEAN,
        below=True,
    ),
    Case(
        "consistency._states_covered",
        CHAIN.replace("ill = { states = [0, 1] }", "steps = { bounds = [0, 9] }").replace(
            'covers = ["ill"]', 'covers = ["steps"]'
        )
        + SHARE.replace("ill", "active"),
        below=True,
        also={'covers = ["steps"]': 'covers = ["active"]'},
    ),
    Case(
        "size_remedies.size_remedy",
        BASE + MEAN + BY + "error = 30.0\n",
        query=("group_sizes",),
        fill=("150", "150"),
    ),
    Case("size_remedies.size_remedy", BASE + MEAN + BY + "error = 3000.0\n", query=("kind",)),
    Case("size_remedies.size_remedy", BASE + SHARE + BY + "error = 100.0\n", query=("kind",)),
    Case(
        "size_remedies.size_remedy",
        BASE + SHARE + BY + "error = 0.6\n",
        query=("group_sizes",),
        fill=("150", "150"),
    ),
    Case(
        "size_remedies.size_remedy",
        BASE + MEAN + "where = \"role == 'child'\"\nerror = 3000.0\n",
        query=("kind",),
    ),
    Case(
        "size_remedies.size_remedy",
        BASE.replace("n = 300", 'n = "from data"') + MEAN + "error = 30.0\n",
        below=True,
        fill=("300",),
    ),
    Case(
        "size_remedies.size_remedy",
        BASE.replace("n = 300", 'n = "from data"') + SHARE + "error = 90.0\n",
        query=("kind",),
    ),
    Case("pricing._larger_errors", BASE + MEAN + "error = 0.1\n", query=("error",)),
    Case(
        "pricing._larger_errors",
        BASE + MEAN.replace("mean", "sum") + "error = 0.1\n",
        query=("error",),
    ),
    Case(
        "pricing._larger_errors",
        BASE.replace("epsilon = 1.0", "epsilon = 1.0\ndelta = 1e-6") + SHARE + "error = 0.01\n",
        query=("error",),
    ),
    *(
        Case("pricing._larger_errors", f"{CHAIN}{SHARE}error = {error}\n", query=("error",))
        for error in (0.01, 0.001)
    ),
    Case(
        "study_files._one_error_remedy",
        BASE + MEAN + BY + "error = { child = 30, 'grown up' = 40 }\n",
        query=("error", "group_sizes"),
        fill=("150", "150"),
    ),
    Case(
        "study_files._one_error_remedy",
        BASE
        + SHARE.replace("proportion", "count")
        + BY
        + "error = { child = 60, 'grown up' = 90 }\n",
        query=("error",),
    ),
    Case(
        "column._keys",
        BASE.replace(', states = ["child", "grown up"]', "") + MEAN + BY,
        below=True,
        fill=('"child"',),
    ),
    Case("column._keys", BASE + MEAN + 'by = "day of test"\n', below=True, fill=("1",)),
    Case(
        "table_sources._check_join",
        BASE.replace(
            "[data.columns]",
            '[data.join]\ntable = "homes.csv"\non = "home"\ncolumns = ["the area"]\n'
            '[data.columns]\n"the area" = { states = ["a", "b"] }',
        )
        + MEAN,
        below=True,
        fill=('"a", "b"',),
    ),
]


def shown(study: str, folder: Path) -> str:
    """What is said against a study; nothing, where it is checked and fits."""
    path = folder / "study.toml"
    path.write_text(study, encoding="utf-8")
    try:
        check = Study.load(path).check()
    except BayesdpError as error:
        return str(error)
    return check.preview.refusal or ""


def lines_of(message: str, fill: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """The header named before it, the key and the line of each line of TOML in a message."""
    given = iter(fill)
    for shown_at in re.finditer(rf"({KEY}) = ({VALUE}|\.\.\.)", message):
        sentence = message[: shown_at.start()].rpartition(". ")[2]
        before = re.findall(r"below \[([\w.]+)\]", sentence)
        line = re.sub(r"\.\.\.", lambda _: next(given, "1"), shown_at[0])
        yield (before[-1] if before else ""), shown_at[1], line.rstrip(".")


def pasted(case: Case, message: str) -> str:
    """The study with the lines of the message where it says."""
    study = case.study
    fill = case.fill if not (case.fill and case.fill[0].startswith("bins")) else ()
    changed = []
    for header, key, line in list(lines_of(message, fill) if not case.fill or fill else []):
        if case.below and header:
            table, _, rest = study.partition(f"[{header}]\n")
            kept = rest
            if "in the place of its line" in message:
                kept = re.sub(rf"^{re.escape(key)} = .*\n", "", rest, count=1, flags=re.M)
            study = f"{table}[{header}]\n{line}\n{kept}"
            changed.append(key)
            break
        if key in case.query and key not in changed and not (key == "kind" and header):
            head, _, query = study.partition("[[query]]\n")
            query = re.sub(rf"^{key} = .*\n", "", query, flags=re.M)
            study = f"{head}[[query]]\n{line}\n{query}"
            changed.append(key)
    if case.fill and not fill:
        study += case.fill[0] + "\n"
        changed.append("bins")
    assert changed, message
    for old, new in case.also.items():
        study = study.replace(old, new)
    return study


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.place)
def test_a_line_of_a_remedy_works_when_it_is_pasted(case: Case, tmp_path: Path) -> None:
    message = shown(case.study, tmp_path)
    assert message
    assert shown(pasted(case, message), tmp_path) == "", message


OTHERWISE = {
    "quantile_lists.one_each": "tests/release/test_quantile_lists.py asks for other lists",
    "weighted._require_weights": "an example of a declaration, in the place of another one",
    "study_files._one_error": "a key in the place of another one, with a column of one's own",
    "weighted._check_asked": "tests/release/test_weighted.py asks for what it says",
    "study_files._median": "tests/release/test_quantile.py asks for another probability",
    "collected._column": "an example of a declaration, with a name of one's own",
    "collected._check_others": "names the kind: its epsilon is that of a collection",
    "series.private_periods": "tests/release/test_series.py does what each remedy says",
    "series.series_of": "tests/release/test_series.py does what each remedy says",
    "series.with_noise": "tests/release/test_series.py does what each remedy says",
    "histogram_cells.check_not_found": "tests/release/test_found_groups.py counts by such a column",
    "crossed_columns.contingency_cells": "an example of a declaration, with a name of one's own",
    "quantiles._candidates": "names what a quantile may be among, by keys of its own",
    "quantiles.choice": "names what a quantile may be among, by keys of its own",
    "asked_rows.require_public_part": "test_a_mean_of_private_rows_is_a_sum_and_a_count",
    "fields.require_record": "tests/release/test_persons_in_programs.py has such a study",
    "consistency._room": "names a role, not a line",
    "found_groups._check_budget": "tests/release/test_found_groups.py has a budget as it says",
    "found_groups._check_query": "tests/release/test_found_groups.py asks for other kinds",
    "consistency._set_aside": "another notion, in the place of one's own",
    "study_files._population": "names a model",
    "study_files._stress": "names the other notion",
    "fit_plan._column": "test_options_of_states_with_private_are_lines_of_the_study",
    "fit_plan._require_order_column": "consistency._structure has the same line",
    "checks._bounds": "swapped in a test of its own, below",
    "checks._check_combination": "two examples of a declaration",
    "private_fits._instead": "test_options_of_states_with_private_are_lines_of_the_study",
    "private_fits._order": "test_the_order_of_past_data_is_found_by_the_command_that_is_named",
    "private_fits._check_options": "names options",
    "fits._check_options": "names the help",
    "states.read_states": "test_what_states_are_is_said_as_options",
    "fields._check": "the line of a public column, as a case of consistency pastes it",
    "fields.agreed": "an example of a key of programs, with a name of one's own",
    "program_files.check_program_keys": "examples of keys of programs, with names of one's own",
    "study.load": "an example of a source",
    "text_numbers.comma_remedy": "tests/tables/test_csv_dialect.py declares what it says",
    "wide._position": "an example of a key of [data.wide], with names of one's own",
    "products.check_product_keys": "names a kind that has keys of its own",
    "products._check_regression": "an example of the keys of a regression",
    "checks._require_grid": "the engine's own check: a study is refused before it",
    "declarations.parse_columns": "speaks of names with an equals sign",
    "autoregressive._region": "names a model",
    "clusters.fit_exchangeable": "names a model",
    "joint_laws._fitted": "names a model and an option of its own",
    "roles.fit_roles": "names a model",
    "streams.posterior_states": "names an option of the fit that made the population",
}
"""Remedies that show a line or a command and have a test of their own, or a reason."""

SHOWS = re.compile(r"\b[a-z_]+ = |bayesdp [a-z]+ |--[a-z]")
PACKAGE = Path(bayesdp.__file__).parent
FILES = (
    *PACKAGE.glob("release/**/*.py"),
    *PACKAGE.glob("tables/**/*.py"),
    *PACKAGE.glob("fitting/*.py"),
    *(PACKAGE / "cli" / name for name in ("private_fits.py", "fits.py")),
)


def places() -> set[str]:
    """Where a remedy shows a line of TOML or a command."""
    shown_at = {"consistency._public", "pricing._larger_errors", "private_fits._instead"}
    for path in FILES:
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.FunctionDef):
                continue
            said = [
                keyword.value
                for node in ast.walk(function)
                if isinstance(node, ast.Call)
                for keyword in node.keywords
                if keyword.arg == "remedy"
            ]
            if function.name.endswith("_remedy"):
                said += [
                    n.value for n in ast.walk(function) if isinstance(n, ast.Return) and n.value
                ]
            if any(SHOWS.search(ast.unparse(text)) for text in said):
                shown_at.add(f"{path.stem}.{function.name}")
    return shown_at


def test_every_remedy_with_a_line_or_a_command_is_tried() -> None:
    tried = {case.place for case in CASES} | set(OTHERWISE)
    assert places() == tried


def test_reversed_bounds_are_swapped_as_the_remedy_says(tmp_path: Path) -> None:
    study = BASE + MEAN
    message = shown(study.replace("[100, 200]", "[200, 1e2]"), tmp_path)
    ((_, _, line),) = lines_of(message, ())
    assert line == "bounds = [100.0, 200]"
    assert shown(study.replace("bounds = [100, 200]", line), tmp_path) == ""


def test_a_mean_of_private_rows_is_a_sum_and_a_count(tmp_path: Path) -> None:
    study = BASE + MEAN + "where = 'ill == 1'\n"
    message = shown(study, tmp_path)
    kind, where, second = (line for _, key, line in lines_of(message, ()) if key != "expected")
    summed = study.replace('kind = "mean"', kind)
    both = f'{summed}[[query]]\nname = "two"\n{second}\n{where}'
    assert shown(both, tmp_path) == ""


def test_a_group_with_an_error_of_its_own_is_a_query_with_a_where(tmp_path: Path) -> None:
    for group, states in (("child", '["child", "grown up"]'), ("1", "[1, 2]")):
        study = BASE.replace('["child", "grown up"]', states) + 'kind = "sum"\ncolumn = "height"\n'
        message = shown(f"{study}by = 'role'\nerror = {{ '{group}' = 9000 }}\n", tmp_path)
        (where,) = [line for _, key, line in lines_of(message, ()) if key == "where"]
        assert shown(f"{study}error = 90000\n{where}\n", tmp_path) == ""


def test_a_column_whose_name_is_not_a_word_stands_between_backticks(tmp_path: Path) -> None:
    study = BASE.replace("\nrole = ", '\n"which role" = ') + 'kind = "sum"\ncolumn = "height"\n'
    message = shown(f"{study}by = 'which role'\nerror = {{ child = 1234567.5 }}\n", tmp_path)
    assert "error = 1234567.5 in" in message
    (where,) = [line for _, key, line in lines_of(message, ()) if key == "where"]
    assert "`which role` == " in where
    assert shown(f"{study}error = 1234567.5\n{where}\n", tmp_path) == ""


def run(*words: str, status: int = 0) -> str:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == status, result.output
    return " ".join((result.stdout + result.stderr).split())


@pytest.fixture
def past(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table whose records remember the last two."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    states = [0, 0]
    for _ in range(3000):
        states.append(int(rng.random() < 0.1 + 0.4 * states[-1] + 0.4 * states[-2]))
    steps = [8000 * state + int(rng.integers(0, 7000)) for state in states]
    pd.DataFrame({"steps": steps, "t": range(len(steps))}).to_csv("PAST.csv", index=False)
    return tmp_path


FIT = ["fit", "PAST.csv", "--model", "markov", "--column", "steps", "--length", "365"]


@pytest.mark.usefixtures("past")
def test_a_higher_order_has_its_price_and_can_be_fitted() -> None:
    said = run(*FIT, "--cuts", "8000")
    advised = re.search(
        r"fit (--order 2) \(at a DP cost of 0\.1 a level of (\S+) instead of (\S+)\)", said
    )
    assert advised, said
    run(*FIT, "--cuts", "8000", *advised[1].split(), "--out", "two.json")
    run(*FIT, "--cuts", "8000", "--out", "one.json")
    for name, level in (("two", advised[2]), ("one", advised[3])):
        assert f" {level} " in run("leakage", f"{name}.json", "--epsilon", "0.1")
    assert "Order 2 has the least BIC" in run(*FIT, "--cuts", "8000", "--order", "auto")
    refused = run(*FIT, "--cuts", "8000", "--order", "1,3", status=2)
    assert refused.startswith("Error: --order is [1, 3]")


@pytest.mark.parametrize(("cuts", "two"), [([0.5], True), ([0.5, 1.5], False)])
def test_two_states_are_not_put_together(cuts: list[float], two: bool) -> None:
    rng = np.random.default_rng(4)
    states = [0] * 4
    for _ in range(4000):
        states.append(int(rng.random() < 0.1 + 0.8 * states[-4]))
    values = [state + (place % 7 == 0) for place, state in enumerate(states)]
    frame = pd.DataFrame({"x": states if two else values})
    fitted = fit_chain(frame, "x", cuts=cuts, order=3, length=9)
    (said,) = [c.sentence for c in fitted.diagnostics if c.name == "order 4 against 3"]
    assert ('declare clusters (model = "clusters") of as many records' in said) == two
    assert ("put states together, down to two" in said) != two


@pytest.mark.usefixtures("past")
def test_the_order_of_past_data_is_found_by_the_command_that_is_named() -> None:
    Path("study.toml").write_text(BASE.replace("300", "3002") + SHARE)
    refused = run("fit", "study.toml", "--private", "--column", "ill", "--dp-epsilon", "0.1",
                  "--order", "auto", status=2)  # fmt: skip
    command = re.search(r"(?<=bayesdp )fit PAST\.csv .*--order auto", refused)
    assert command
    run(*command[0].split(), "--column", "steps", "--cuts", "8000", "--length", "365")


@pytest.mark.usefixtures("past")
@pytest.mark.parametrize(
    ("option", "value"), [("cuts", "8000,12000"), ("where", "steps > 8000"), ("states", "0,1")]
)
def test_options_of_states_with_private_are_lines_of_the_study(option: str, value: str) -> None:
    Path("study.toml").write_text(
        BASE.replace('home = { role = "cluster" }', "")
        .replace("ill = { states", "steps = { states")
        .replace("300", "3000")
        .replace('model = "clusters"\nsize = 3', "")
        .replace('covers = ["height", "ill"]', "")
        .replace("[population]", "")
        .replace("epsilon = 1.0", 'epsilon = 9.0\nnotion = "dp"')
        + 'kind = "mean"\ncolumn = "height"\n'
    )
    words = ["fit", "study.toml", "--private", "--column", "steps", "--dp-epsilon", "5"]
    refused = run(*words, f"--{option}", value, status=2)
    (line,) = [line for header, _, line in lines_of(refused, ()) if header]
    column = shlex.split(refused[refused.index("--column ") :].partition(". A private")[0])[1]
    text = Path("study.toml").read_text()
    if option == "states":
        text = re.sub(r"^steps = .*\n", "", text, flags=re.M)
    else:
        text = text.replace("steps = { states = [0, 1] }", "steps = { bounds = [0, 20000] }")
    Path("study.toml").write_text(text.replace("[data.columns]\n", f"[data.columns]\n{line}\n"))
    words[words.index("steps")] = column
    assert "Nothing was read" in run(*words, "--length", "365", "--plan")


@pytest.mark.usefixtures("past")
def test_what_states_are_is_said_as_options() -> None:
    refused = run(*FIT, status=2)
    options = re.search(r"--where '[^']*'", refused)
    assert options
    run(*FIT, *shlex.split(options[0]))


LARGE: dict[str, Any] = {"n": 100, "dataset": "d"}
POPULATIONS = [
    ({"model": "clusters", "size": 4, "covers": ["my height"]}, "cluster"),
    ({"model": "gaussian", "size": 4, "max_correlation": 0.3, "covers": ["my height"]}, "cluster"),
    (
        {"model": "autoregressive", "coefficient": 0.7, "length": 100, "covers": ["my height"]},
        "order",
    ),
    ({"model": "unknown", "records": 100, "covers": ["my height"]}, "cluster"),
]


@pytest.mark.parametrize(("population", "role"), POPULATIONS, ids=lambda p: str(p)[:20])
def test_what_would_help_does_when_its_lines_are_pasted(population: Any, role: str) -> None:
    def made(**changes: Any) -> Study:
        raw = {"population": population, "columns": columns, **changes}
        return Study(
            budget={"epsilon": 0.5} | raw.pop("budget", {}), queries=[query], **LARGE | raw
        )

    of_role = {"role": role} | ({"step": 1} if role == "order" else {})
    columns: dict[str, Any] = {"g": of_role, "my height": {"bounds": [0, 100], "unit": "cm"}}
    query = {"name": "m", "kind": "mean", "column": "my height"}
    proposals = made().what_would_help()
    assert len(proposals)
    for row in proposals:
        _before, after = row.errors["m"]
        assert re.fullmatch(r"m \+- \S+ instead of \S+ \(cm of the mean\)", row.price())
        lines = re.findall(rf"((?:{KEY}\.)*{KEY} = {VALUE})", row.change)
        assert lines, row.change
        changes: dict[str, Any] = {"population": dict(population), "columns": columns, "n": 100}
        for line in lines:
            if "data.n" in line:
                continue
            document = tomllib.loads(line)
            given = document.get("population", {})
            changes["population"] = given if "model" in given else changes["population"] | given
            bounds = document.get("data", {}).get("columns", {})
            changes["columns"] = {n: c | bounds.get(n, {}) for n, c in columns.items()}
            changes["budget"] = document.get("budget", {})
        if kept := re.search(r"priced for the (?:most|least), (\d+)", row.change):
            changes["n"] = int(kept[1])
        error = made(**changes).check().plan.queries[0].error(0.95, changes["n"])
        assert error == pytest.approx(after, rel=1e-3)
