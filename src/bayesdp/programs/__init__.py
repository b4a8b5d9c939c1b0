"""A typed language for private Bayesian inference: programs are checked before they touch data.

* `source` turns a file's text into the representation in `ir`; `check` derives the cost, `run` runs
  an accepted program, `falsify` searches for databases on which a claim is wrong.
* `verdict` is what a verdict says, `checked_files` the way from a file to its verdict, `notes` what
  an author may not have meant; `certificate` has the proof, `correlated` the level for a
  population, `dependence` what a population does to posteriors.
* `whole_numbers` says which values are whole, for the front end and the interpreter alike.
* `language_names` are what a program file imports, `language_objects` what they are in Python;
  `number_text` is how messages write numbers.

The names of the language load on use, so that a program file can be imported too; importing this
package loads no other library. Source: PrivInfer (Barthe et al., CCS 2016); theory 8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesdp.programs.language_names import SURFACE

if TYPE_CHECKING:
    from bayesdp.programs.language_objects import ProgramSource

__all__ = ["SURFACE", "ProgramSource"]


def __getattr__(name: str) -> Any:
    if name == "ProgramSource":
        from bayesdp.programs.language_objects import ProgramSource

        return ProgramSource
    if name in SURFACE:
        from bayesdp.programs.language_objects import names

        surface = names()
        globals().update(surface)
        return surface[name]
    raise AttributeError(f"module 'bayesdp.programs' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*SURFACE, *__all__, *globals()})
