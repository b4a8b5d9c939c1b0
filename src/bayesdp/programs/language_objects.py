"""The names of the language as Python objects, so that a program file can also be imported.

Importing runs nothing of a program: `@program` keeps the function's name and file, and everything
else here is a stand-in. The checker and the interpreter read the file's text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from bayesdp.programs.language_names import DECORATORS, SURFACE, TYPES

if TYPE_CHECKING:
    from bayesdp.notions import Adversary, Kind, Secrets
    from bayesdp.populations import Population
    from bayesdp.programs.ir import Program as Core
    from bayesdp.programs.run.results.program_result import ProgramResult
    from bayesdp.programs.source.syntax.source_file import SourceFile
    from bayesdp.programs.verdict import ProgramVerdict
    from bayesdp.theorems import ApproximateReport, LeakageReport


class _TypeName:
    """Bool, Int[0, 5], Category["a", "b"], ...: written in annotations, never used as values."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, _: object) -> _TypeName:
        return self

    def __repr__(self) -> str:
        return self._name


def _stand_in(name: str) -> Callable[..., NoReturn]:
    def call(*_: object, **__: object) -> NoReturn:
        raise TypeError(
            f"{name} is part of a program, and programs are read, not run as Python. "
            "Use PROGRAM.check() or PROGRAM.run(table, ...)."
        )

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"`{name}` in the text of a program: docs/programs.md. Raises `TypeError`."
    return call


class ProgramSource:
    """A program, known by its file and its name. Decoration never raises.

    `check()` gives the verdict, `core()` the intermediate representation.
    """

    def __init__(self, path: Path | None, name: str) -> None:
        self.path, self.name = path, name
        self._read: str | None = None
        self._checked: str | None = None

    def __repr__(self) -> str:
        return f"<program {self.name} of {self.path.name if self.path else 'no file'}>"

    def core(self, **parameters: object) -> Core:
        """The program in the representation that the checker reads. Raises as `source` does."""
        from bayesdp.programs.source import core_of

        return core_of(self.source(), self.name, parameters)

    def source(self) -> SourceFile:
        """The program's file as it was read.

        Raises `ProgramError` where the language refuses it, and `InputError` where there is no
        file.
        """
        from bayesdp.errors import InputError
        from bayesdp.programs.source.syntax.source_file import read_file

        if self.path is None:
            raise InputError(
                "program",
                self.name,
                expected="a program written in a file",
                remedy="What is typed at a prompt has no source to read: save it in a file.",
            )
        source = read_file(self.path)
        self._read = source.digest
        return source

    def check(self, n: int | None = None, **parameters: object) -> ProgramVerdict:
        """The verdict: ACCEPTED with a cost, REJECTED with the line, or UNKNOWN. Reads no data.

        `n` is the public number of records, where sharper constants are wanted; without it the
        verdict holds for every size that the program admits. Raises `InputError` for an `n` that is
        not a number of records, and for unknown `parameters`.
        """
        from bayesdp.programs.checked_files import verdict_on

        self._read = None
        verdict = verdict_on(self.source, self.name, n, parameters)
        self._checked = self._read
        return verdict

    def leakage(
        self,
        population: Population,
        *,
        n: int | None = None,
        adversary: Adversary = "any",
        kind: Kind = "any",
        secrets: Secrets = "bounded",
        seconds: float = 30.0,
        **parameters: object,
    ) -> LeakageReport | ApproximateReport:
        """The program's levels under a population: every theorem that applies, and the best one.

        One row is one record. The cost is that of `check(n, **parameters)`; under add-remove twice
        it, for a record that leaves and one that enters (theory 8.1). `kind="lipschitz"` is for
        programs of that kind, where the population covers the values as the table holds them. With
        a delta the levels are pairs (theory 3.10).

        Raises `Refusal` for a program that isn't accepted, and where no level is known;
        `InputError` for a kind that the program doesn't have.
        """
        from bayesdp.programs.correlated import leakage_of

        verdict = self.check(n, **parameters)
        adjacency = self.core(**parameters).adjacency if verdict.verdict == "ACCEPTED" else ""
        return leakage_of(verdict, adjacency, population, adversary, kind, secrets, seconds)

    def run(
        self,
        table: object,
        *,
        ledger: Any = None,
        dataset: str | None = None,
        dp_epsilon: float | None = None,
        dp_delta: float = 0.0,
        unit: str | None = None,
        reading: Any = None,
        people: str | None = None,
        **parameters: object,
    ) -> ProgramResult:
        """Run the program once on a table, after its cost has been debited from a ledger.

        `dataset` is the name under which the budget is kept, `dp_epsilon` (and `dp_delta`) its
        total, and `people` whom the data set shares with others; `parameters` fix the program's
        public arguments. See `bayesdp.programs.run.run`, which says what else is raised. The
        program that runs is the one that was checked: raises `InputError` where the file has
        changed since `check()`.
        """
        from bayesdp.errors import InputError
        from bayesdp.programs.run import run
        from bayesdp.programs.source import core_of

        source = self.source()
        if self._checked not in (None, source.digest):
            raise InputError(
                "program",
                self.name,
                expected="the text that was there when it was checked",
                remedy="The file has changed since. Nothing was released or spent: look at its "
                "check again.",
            )
        return run(
            core_of(source, self.name, parameters),
            None,
            table,
            ledger=ledger,
            dataset=dataset,
            dp_epsilon=dp_epsilon,
            dp_delta=dp_delta,
            unit=unit,
            reading=reading,
            people=people,
        )


def program(function: Any = None, **_: object) -> Any:
    """Mark a function as a program. It is never run: its text is read."""
    if function is None:
        return lambda function: program(function)
    code = getattr(function, "__code__", None)
    path = Path(code.co_filename).resolve() if code is not None else None
    if path is not None and not path.is_file():
        path = None
    return ProgramSource(path, getattr(function, "__name__", "program"))


def helper(function: Any) -> Any:
    """Mark a function as a helper: programs inline its text."""
    return _stand_in(getattr(function, "__name__", "helper"))


def record(cls: Any) -> Any:
    """Mark a class as the columns of a record."""
    return _TypeName(getattr(cls, "__name__", "record"))


def names() -> Mapping[str, Any]:
    """Every name of the surface."""
    objects: dict[str, Any] = {name: _TypeName(name) for name in TYPES}
    objects |= {name: _stand_in(name) for name in SURFACE - set(TYPES) - set(DECORATORS)}
    return objects | {"program": program, "helper": helper, "record": record}


__all__ = ["ProgramSource", "helper", "names", "program", "record"]
