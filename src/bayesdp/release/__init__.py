"""Study files, their price, and the release itself.

`study` goes the whole way. Each of the rooms has a part of it, and imports only those above it in
this list.

* `words`: a confidence and a cost, as all rooms say them.
* `spec`: what a study says, as plain data.
* `queries`: what each query reads and how it may change, a kind each.
* `reading`: from a study file to a `spec` whose parts go together.
* `programs`: queries that are programs, from their verdict to their answers.
* `price`: the noise and the cost of each query, and the plan of all together.
* `derived`: what follows from released numbers, at no cost.
* `certificates`: why the level holds, proved by the kernel, and the document that says so.
* `results`: what is shown: numbers with their errors, and all of a release together.
* `drawing`: the table is held against its declaration, noise is drawn, results are kept.
* `private_fits`: a population from the private table.
* `checking`: what is said before any data are read: check, sweep, stress, proposals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesdp.release.study import Study

__all__ = ["Study"]


def __getattr__(name: str) -> Any:
    if name != "Study":
        raise AttributeError(f"module 'bayesdp.release' has no attribute {name!r}")
    from bayesdp.release import study

    return study.Study
