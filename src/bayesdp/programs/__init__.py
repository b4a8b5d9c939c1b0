"""A typed language for private Bayesian inference: programs are checked before they touch data.

* `source` turns a file's text into the representation in `ir`; `check` derives the cost, `run` runs
  an accepted program, `falsify` searches for databases on which a claim is wrong.
* `verdict` is what a verdict says, `verdicts` the way from a file to its verdict, `notes` what an
  author may not have meant; `certificate` has the proof, `correlated` the level for a population,
  `dependence` what a population does to posteriors.
* `whole` says which values are whole numbers, to the front end and the interpreter alike.
* `surface` and `surface_names` are what a program file imports, `words` how messages write numbers.

The names of the language load on use, so that a program file can be imported too; importing this
package loads no other library. Source: PrivInfer (Barthe et al., CCS 2016); theory 8.
"""

from __future__ import annotations

from typing import Any

from bayesdp.programs.surface_names import SURFACE

__all__ = ["SURFACE"]


def __getattr__(name: str) -> Any:
    if name in SURFACE:
        from bayesdp.programs.surface import names

        surface = names()
        globals().update(surface)
        return surface[name]
    raise AttributeError(f"module 'bayesdp.programs' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*SURFACE, *globals()})
