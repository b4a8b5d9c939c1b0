"""Write docs/relations.md and docs/counterexamples.md from the registry of relations.

`python -m tools.make_relations` writes them, from the root of the repository; a test says so where
they are stale.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from bayesdp.notions.catalogue import CATALOGUE
from bayesdp.theorems.relations import HYPOTHESES, RELATIONS, Relation
from tests.oracles.counterexamples import COUNTEREXAMPLES, Counterexample

ROOT = Path(__file__).resolve().parent.parent
GENERATED = "<!-- Written by tools/make_relations.py from the registry: change that, not this. -->"


def relations_page() -> str:
    """The lattice: a drawing of the arrows, a table of them, hypotheses, and missing arrows."""
    return "\n".join([*_lattice(), *_usage(), *_table(), *_hypotheses(), *_missing()]) + "\n"


def _lattice() -> Iterator[str]:
    yield from (
        "# Which notion of privacy implies which",
        "",
        GENERATED,
        "",
        "Somebody has a guarantee in one notion and needs it in another. Each arrow is a theorem:",
        "a level `e` of the notion at its tail (`s`, where that is a distance between 0 and 1)",
        "implies the level written on it at its head. Thick arrows always hold, thin ones need a",
        "population or the hypotheses named in the table. `bayesdp notions` follows the arrows",
        "from what you have, and tells which hypotheses your population shows.",
        "",
        "```mermaid",
        "flowchart TD",
    )
    for key, notion in CATALOGUE.items():
        yield f'  {_id(key)}["{key}<br/>{notion.title}"]'
    for relation in RELATIONS:
        arrow = "-->" if relation.hypotheses or relation.converts else "==>"
        level = relation.formula.split(", ")[0]
        yield f'  {_id(relation.premise)} {arrow}|"{level}"| {_id(relation.conclusion)}'
    yield from ("```", "")


USAGE = """## From what you have

A household of two, and a guarantee of BDP. What does it mean in other notions?

```json household-law.json
{"model": "finite", "probabilities": [[0.4, 0.1], [0.1, 0.4]]}
```

```console
$ bayesdp notions --given bdp=0.3 --population household-law.json --certificate what-follows.json
...
$ bayesdp verify what-follows.json
VALID ASSUMING
It claims:
...
It assumes:
  - the mechanism has the given level 0.3 of bdp
...
```

Every level comes with the path of arrows to it, the level that published constants give on the
same path, and what hypotheses rest on. What would follow if you declared more is listed too.

```python
>>> import bayesdp as bdp
>>> household = bdp.Finite(probabilities=[[0.4, 0.1], [0.1, 0.4]])
>>> found = bdp.implied({"bdp": 0.3}, household)
>>> for notion in ("dp", "bsp", "mp"):
...     one = found[notion]
...     print(notion, round(one.level, 4), round(one.published, 4), [s.relation for s in one.path])
dp 0.3 0.3 ['bdp-to-dp']
bsp 0.1489 0.8221 ['bdp-to-bsp']
mp 0.3 0.3 ['bdp-to-mp']
>>> [need.needs for need in found.needs if need.notion == "pufferfish"]
[('record-secrets',)]
>>> "dp" in bdp.implied({"bdp": 0.3})  # without a population: full support isn't shown
False
>>> bdp.implied({"bdp": 0.3}, assume=["full-support"])["dp"].level
0.3

```
"""


def _usage() -> Iterator[str]:
    yield USAGE


def _table() -> Iterator[str]:
    yield from (
        "## The arrows",
        "",
        "*Published* is the literature's level for the same arrow, where ours is lower. Every",
        "arrow is proved in the theory, re-derived by the kernel in certificates, and attacked by",
        "brute force with and without its hypotheses.",
        "",
        "| from | to | level | published | needs | statement | source | test |",
        "|---|---|---|---|---|---|---|---|",
    )
    for relation in RELATIONS:
        needs = ", ".join(f"[{name}](#{name})" for name in relation.hypotheses) or "-"
        if relation.converts is not None:
            needs = "a population"
        cells = (
            f"`{relation.premise}`",
            f"`{relation.conclusion}`",
            relation.formula,
            _published(relation),
            needs,
            f"[{relation.statement}](theory.md#{relation.anchor})",
            relation.source,
            f"[{relation.name}](../{relation.test})",
        )
        yield "| " + " | ".join(cells) + " |"
    yield ""


def _published(relation: Relation) -> str:
    actual = relation.published
    return f"{actual.formula}, for {actual.valid}" if actual is not None else "-"


def _hypotheses() -> Iterator[str]:
    yield from (
        "## The hypotheses",
        "",
        "Those that a population can show are derived from it; the others, and those that it",
        "leaves open, have to be declared (`--assume`), and every certificate lists what was.",
        "",
    )
    for name, hypothesis in HYPOTHESES.items():
        how = "a population may show it" if hypothesis.derive is not None else "to be declared"
        yield f'* <a id="{name}"></a>`{name}`: {hypothesis.statement} ({how}).'
    yield ""


def _missing() -> Iterator[str]:
    yield from (
        "## The arrows that are not there",
        "",
        "Each has a model that refutes it, or that shows what its hypothesis is for, and that",
        "[runs](counterexamples.md).",
        "",
        "| from | to | what one might think | refuted by |",
        "|---|---|---|---|",
    )
    for counterexample in COUNTEREXAMPLES:
        tail, head = (
            (f"`{key}`" for key in counterexample.missing) if counterexample.missing else ("-", "-")
        )
        link = f"[{counterexample.name}](counterexamples.md#{counterexample.name})"
        yield f"| {tail} | {head} | {counterexample.claim} | {link} |"


def _id(key: str) -> str:
    return key.replace("-", "_")


def counterexamples_page() -> str:
    """The gallery: each model and its levels, computed as the page is written."""
    lines = [
        "# What does not follow",
        "",
        GENERATED,
        "",
        "Small models that refute plausible or published claims. The tests compute every number",
        "anew by the exact engine ([theory 3.9](theory.md#39-exact-leakage-of-a-given-mechanism));",
        "the models are in",
        "[`tests/oracles/counterexamples.py`](../tests/oracles/counterexamples.py). What",
        "*does* follow is in [the lattice](relations.md). Levels are in nats.",
    ]
    for example in COUNTEREXAMPLES:
        lines += ["", *_example(example)]
    return "\n".join(lines) + "\n"


def _example(example: Counterexample) -> Iterator[str]:
    yield from (
        f"## {example.name}",
        "",
        f"*One might think:* {example.claim}.",
        "",
        f"*The model:* {_code(example.model)}.",
        "",
        "```text",
    )
    yield from (f"{what}: {level:.4f}" for what, level in example.levels().items())
    yield from ("```", "", f"*Why:* {example.why}.", "", f"*Source:* {example.source}.")


def _code(text: str) -> str:
    """Formulas in words as code, so that a page doesn't take their signs for its own."""
    return "; ".join(f"`{part}`" if "P[" in part else part for part in text.split("; "))


PAGES = {"docs/relations.md": relations_page, "docs/counterexamples.md": counterexamples_page}


def main() -> int:
    """Write the pages."""
    for name, page in PAGES.items():
        (ROOT / name).write_text(page(), encoding="utf-8")
        print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
