"""A typed language for private Bayesian inference: programs are checked before they touch data.

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
