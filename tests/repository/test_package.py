"""The package as a whole: what it imports, what it is made of, what it installs."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import bayesdp
from tests.kernel.all_kinds import certificate
from tools.import_circles import SOURCE, circles, circles_of, import_graph

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ["requirements.lock", "requirements-dev.lock", "requirements-spark.lock"]
HEAVY = [
    "altair",
    "duckdb",
    "flint",
    "highspy",
    "ibis",
    "numpy",
    "opendp",
    "pandas",
    "polars",
    "pyarrow",
    "pydantic",
    "rich",
    "scipy",
    "sqlalchemy",
    "typer",
]


def test_a_bare_import_loads_nothing_heavy() -> None:
    code = f"import sys, bayesdp; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_verifying_loads_no_theorem_and_no_ledger(tmp_path: Path) -> None:
    """Whoever only verifies waits for little beside the kernel."""
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(certificate("clusters")), encoding="utf-8")
    code = (
        "import sys\nfrom bayesdp.cli import app\n"
        "try:\n    app(['verify', sys.argv[1]])\nfinally:\n"
        "    print([m for m in ('bayesdp.theorems', 'bayesdp.release.study', 'sqlalchemy',"
        " 'scipy', 'opendp', 'ibis') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "VALID ASSUMING" in done.stdout
    assert done.stdout.strip().endswith("[]"), done.stdout


def test_every_name_of_the_public_index_loads() -> None:
    names = [name for name in dir(bayesdp) if not name.startswith("_")]
    assert names
    for name in names:
        assert getattr(bayesdp, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = bayesdp.no_such_name


@pytest.mark.parametrize(
    "before",
    ["", "bayesdp.calibrate", "bayesdp.profile", "import bayesdp.leakage.chain"],
)
def test_a_room_never_hides_the_public_name_that_it_shares(before: str) -> None:
    """`bayesdp.leakage` is the function, in whatever order the rooms were loaded."""
    code = f"""
import bayesdp
{before}
from bayesdp.leakage import normal
assert bayesdp.leakage(bayesdp.Independent(), 1.0).best.epsilon == 1.0
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_shortcuts_of_a_population_work_after_importing_the_package_alone() -> None:
    code = """
import bayesdp
pair = bayesdp.Clusters(size=2)
assert isinstance(pair.calibrate(1.0), bayesdp.Calibration)
assert isinstance(pair.leakage(1.0), bayesdp.LeakageReport)
assert pair.leakage(pair.calibrate(1.0).dp_epsilon).best.epsilon == 1.0
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_version_is_stated_once() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", bayesdp.__version__)
    try:
        installed = importlib.metadata.version("bayesdp")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("bayesdp is not installed here, it runs from its source folder")
    assert installed == bayesdp.__version__


def test_the_wheel_holds_the_data_and_the_types(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory"]
    subprocess.run([*build, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.startswith(f"bayesdp-{bayesdp.__version__}-")
    inside = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    data = [p for p in (source / "bayesdp" / "demo_data").iterdir() if p.suffix != ".db"]
    wanted = {p.relative_to(source).as_posix() for p in data if p.is_file()}
    assert {Path(name).suffix for name in wanted} >= {".csv", ".toml"}
    assert wanted | {"bayesdp/py.typed"} <= inside


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_pins_by_hash_and_names_no_place(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert not re.search(
        r"://|^\s*-(?!-hash=)|--(?!hash=)\w| @ |/(home|root|tmp|work)/", text, re.M
    )
    entries = re.split(r"\n(?=\w)", re.sub(r"^\s*#.*\n", "", text, flags=re.M).strip())
    assert len(entries) > 20
    for entry in entries:
        assert re.match(r"[\w.-]+==\S+", entry)
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry), entry


def test_developers_have_the_versions_that_users_have() -> None:
    def pins(lock: str) -> set[str]:
        text = (ROOT / lock).read_text(encoding="utf-8")
        return set(re.findall(r"^\w\S*==.*?(?= \\)", text, re.M))

    user, developer, spark = (pins(lock) for lock in LOCKS)
    assert user
    assert user <= developer
    names = {pin.partition("==")[0] for pin in developer}
    assert {pin for pin in spark if pin.partition("==")[0] in names} <= developer


# -- imports ---------------------------------------------------------------------------------------


def test_no_circle_of_imports() -> None:
    """Not through imports inside functions or for types alone either."""
    graph = import_graph(SOURCE)
    assert len(graph) == len([*(SOURCE / "bayesdp").rglob("*.py")])
    assert sum(map(len, graph.values())) > 3 * len(graph)  # the imports are seen, most of them ours
    assert circles(graph) == []


def test_every_way_of_importing_counts_as_one(tmp_path: Path) -> None:
    files = {
        "__init__": "",
        "a": "from .b import x",
        "b": "def f():\n    from bayesdp import c",
        "c": "if TYPE_CHECKING:\n    import bayesdp.inner.d",
        "inner/__init__": "from .d import y",
        "inner/d": "from ..a import z",
        "outside": "from bayesdp.a import x",
    }
    for name, text in files.items():
        file = tmp_path / "bayesdp" / f"{name}.py"
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_text(text, encoding="utf-8")
    graph = import_graph(tmp_path)
    circle = [f"bayesdp.{name}" for name in ("a", "b", "c", "inner.d")]
    assert circles(graph) == [circle]
    assert circles_of("inner", graph) == [circle]
    assert circles_of("outside", graph) == circles_of("in", graph) == []
    for name in files:
        if f"bayesdp.{name.replace('/', '.')}" in circle:  # each of its imports makes it
            less = {module: dict(imports) for module, imports in graph.items()}
            less[f"bayesdp.{name.replace('/', '.')}"] = {}
            assert circles(less) == []


DOORS = {
    "__init__": ["importlib.import_module(_PUBLIC[name])"],
    "accounting/__init__": ["importlib.import_module(f'{__name__}.{module}')"],
    "kernel/conversions/bounds": ["importlib.import_module(f'bayesdp.kernel.rules.{name}')"],
    "populations/base": ["getattr(bayesdp, name)"],
}
"""Imports that a linter can't see: the index, rooms that load their own files, one shortcut."""

OTHER_PACKAGES = [
    "accounting/costs/delta_composition",
    "populations/bif",
    "programs/run/machine/readiness",
]
"""Modules that import an optional library by its name."""


def doors(text: str) -> list[str]:
    """The calls and names by which a module reaches a room without importing it as a module."""
    seen = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(func=ast.Name("import_module" | "__import__")):
                seen.append(ast.unparse(node))
            case ast.Call(func=ast.Attribute(attr="import_module")):
                seen.append(ast.unparse(node))
            case ast.Call(func=ast.Name("getattr"), args=[ast.Name("bayesdp"), *_]):
                seen.append(ast.unparse(node))
            case ast.Attribute(value=ast.Name("bayesdp"), attr=name) if name != "__version__":
                seen.append(ast.unparse(node))
            case ast.ImportFrom(module="bayesdp", names=names):  # a public name hides its room
                seen += [name.name for name in names if name.name in dir(bayesdp)]
            case ast.Subscript(value=ast.Attribute(attr="modules"), slice=ast.Constant()):
                seen.append(ast.unparse(node))
    return seen


def test_no_import_is_hidden_from_the_linter() -> None:
    """A population's shortcuts ask the index of public names; nothing else reaches a room above."""
    seen = {}
    for file in sorted((SOURCE / "bayesdp").rglob("*.py")):
        name = file.relative_to(SOURCE / "bayesdp").with_suffix("").as_posix()
        if hidden := doors(file.read_text(encoding="utf-8")):
            seen[name] = hidden
    for name in OTHER_PACKAGES:
        assert not any("bayesdp" in call for call in seen.pop(name)), name
    assert seen == DOORS
    base = (SOURCE / "bayesdp" / "populations" / "base.py").read_text(encoding="utf-8")
    assert re.findall(r"_public\((.*?)\)\(", base) == ['"leakage"', '"calibrate"']
    assert base.count("_public(") == 3  # with its definition


@pytest.mark.parametrize(
    "text",
    [
        "import importlib\nimportlib.import_module('bayesdp.theorems')",
        "from importlib import import_module\nimport_module(name)",
        "import bayesdp\nbayesdp.leakage(1)",
        "import bayesdp\nfind = getattr(bayesdp, 'leakage')",
        "def f():\n    from bayesdp import leakage as ask",
        "import sys\nsys.modules['bayesdp.theorems']",
        "__import__('bayesdp.theorems')",
    ],
)
def test_every_hidden_import_is_seen(text: str) -> None:
    assert len(doors(text)) == 1
    assert doors("import bayesdp\nfrom bayesdp import kernel\nbayesdp.__version__") == []
