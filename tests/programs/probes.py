"""Small programs that probe one rule each: what they cost, and what must be refused."""

from __future__ import annotations

from textwrap import dedent

from bayesdp.programs.ir import Program
from bayesdp.programs.language_names import SURFACE
from bayesdp.programs.source.lower import lower
from bayesdp.programs.source.syntax.source_file import read_text

RECORD = """
@record
class Row:
    x: Real[-2, 8]
    y: Int[0, 3]
    b: Bool
    c: Category["u", "v", "w"]
    p: Public[Category["north", "south"]]
    q: Public[Real[1, 4]]
    z: Public[Int[0, 3]]
    d: Category["u", "v", "w"]
    e: Category["w", "u", "v"]
"""


def text(body: str, *, record: str = "Row", options: str = "", returns: str = "Real") -> str:
    """A file with one program over `db`. `body`: its statements; the last line is returned."""
    lines = dedent(body).strip("\n").split("\n")
    head = f"({options})" if options else ""
    inside = "\n".join("    " + item for item in [*lines[:-1], f"return {lines[-1]}"])
    return (
        f"from bayesdp.programs import {', '.join(sorted(SURFACE))}\n{RECORD}\n"
        f"@helper\ndef grown(so_far, row):\n    return clip(so_far + row.x / 2, 0, 10)\n\n"
        f"@helper\ndef doubled(so_far, row):\n    return 2 * so_far + row.y\n\n"
        f"@helper\ndef labelled(so_far, row):\n"
        f"    return so_far + (1 if row.d == row.e else 0)\n\n"
        f"@helper\ndef kept(so_far, row):\n    return max(so_far, row.y)\n\n"
        f"@helper\ndef ticked(so_far, row):\n    return so_far + 5 + row.b\n\n"
        f"@program{head}\ndef f(db: Database[{record}]) -> Private[{returns}]:\n{inside}\n"
    )


def core(body: str, **options: str) -> Program:
    """The program as IR."""
    return lower(read_text(text(body, **options), "probe.py"), "f")


COIN = """
posterior = infer(observe(db, bernoulli, prior=beta({a}, {b})))
exponential(score=hellinger(posterior), candidates={candidates}, epsilon=1)
"""
POSTERIORS = "posteriors_of(beta(1, 1), n=db.size)"
GRID = "grid_of(beta, a=(1, 2, 3), b=(1, 2))"


def coin(a: object = 1, b: object = 1, candidates: str = POSTERIORS, options: str = "") -> Program:
    """A coin's posterior by the Hellinger score."""
    body = COIN.format(a=a, b=b, candidates=candidates)
    return core(body, record="Bool", returns="Beta", options=options)
