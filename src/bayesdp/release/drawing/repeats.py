"""What has been released already: an identical study is released again on purpose only.

Running the cell of a notebook again must not spend a budget again. Two studies are identical if
they declare the same data set, columns, population, budget and queries, whatever table, ledger,
analyst and name they have: nothing here depends on what is in a table. What other processes have
released is found in the ledger, by the certificates that it keeps.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayesdp.accounting.accounts.account import NOTHING_SPENT, to_the_second
from bayesdp.accounting.canonical import canonical_json
from bayesdp.accounting.costs.readings import Reading
from bayesdp.accounting.costs.spend import Spend, total_cost
from bayesdp.accounting.ledger import Ledger
from bayesdp.accounting.log.contents import NOT_WRITTEN, certificate_in
from bayesdp.certificate import Certificate
from bayesdp.errors import InputError, LedgerError, Refusal
from bayesdp.release.certificates.certify import declarations
from bayesdp.release.certificates.derivation import plain_details
from bayesdp.release.certificates.dp_steps import collected_step, program_step, query_step
from bayesdp.release.price.plan import Plan
from bayesdp.release.spec.study import StudySpec, describe_column
from bayesdp.release.words import cost_words
from bayesdp.statements.spends import COLLECTED

_RELEASED: dict[str, list[str]] = {}
"""The releases of this process in their order, by the digest of their study."""


@dataclass(frozen=True, slots=True)
class Released:
    """An earlier release of the same study: its name in the ledger, when and whose it was.

    `time` is in ISO 8601. `certificate` is the name of its file beside the study, empty where there
    is none; the ledger has the certificate too.
    """

    id: str
    time: str
    analyst: str
    certificate: str = ""

    def words(self) -> str:
        """When, by whom, and where the certificate is."""
        kept = self.certificate or f"in the ledger as release {self.id}"
        return f"at {to_the_second(self.time)} by {self.analyst} (certificate: {kept})"

    def to_dict(self) -> dict[str, str]:
        """Plain data, as `bayesdp check --json` prints it."""
        certificate = {"certificate": self.certificate} if self.certificate else {}
        return {"id": self.id, "time": self.time, "analyst": self.analyst} | certificate


def certificate_name(study: str, release: str) -> str:
    """The name of the file with a release's certificate, beside the study file of this name."""
    return f"{Path(study).stem}-{release[:8]}.certificate.json"


def released_before(plan: Plan, ledger: Ledger, folder: Path) -> tuple[Released, ...]:
    """The releases of the study in its ledger, oldest first. `folder` has their certificates.

    A release is one of the same study if its certificate declares the same, and has the same
    queries with the same noise.
    """
    earlier = ledger.releases(plan.study.data.dataset) if ledger.exists() else []
    if not earlier:
        return ()
    asked = _asked(plan)
    return tuple(
        Released(release["id"], release["time"], release["analyst"], name if kept else "")
        for release in earlier
        if _certified(release.get("result") or {}, plan.n) == asked
        for name in [certificate_name(release["study"], release["id"])]
        for kept in [(folder / name).exists()]
    )


MOST_CERTIFICATES = 200
MOST_BYTES = 50_000_000
"""So much of a folder's certificates is looked at, the newest first."""


def uncounted_words(ledger: Ledger, dataset: str, folder: Path, people: str | None = None) -> str:
    """That certificates of a data set in the folder are of releases that the ledger doesn't have.

    Or those of other data sets that share the `people` with this `dataset`. Empty if it has all of
    them. What they spent is not counted then: `ledger` is another one, or an older copy, or was
    deleted.
    """
    certificates = _certificates_in(folder, dataset, people)
    missing = ledger.uncounted(certificates) if certificates else []
    if not missing:
        return ""
    more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    alike = f"whose data set is '{dataset}'"
    if people is not None:
        alike = f"which is of '{dataset}' or of another data set of the people '{people}'"
    return (
        f"The ledger {ledger.place} doesn't have the release of {missing[0]}{more}, {alike} too: "
        "what was spent there is not counted here. If this ledger is an "
        "older copy, or was deleted, restore it; if there are two, name one of them in all studies "
        "(`bayesdp ledger verify --against` says more)."
    )


def _certificates_in(folder: Path, dataset: str, people: str | None) -> dict[str, dict[str, Any]]:
    """The certificates of releases of a data set in a folder, by their names, the newest first.

    With those of other data sets of the same `people`.
    """
    try:
        files = [(file.stat(), file) for file in folder.glob("*.certificate.json")]
    except OSError:
        return {}
    files = [(state, file) for state, file in files if stat.S_ISREG(state.st_mode)]  # no pipe
    files.sort(key=lambda kept: kept[0].st_mtime, reverse=True)
    documents, size = dict[str, dict[str, Any]](), 0
    for state, file in files[:MOST_CERTIFICATES]:
        size += state.st_size
        if size > MOST_BYTES:
            break
        try:
            document = Certificate.load(file)[0].to_dict()
        except InputError:  # something else, or half of one
            continue
        same = document.get("dataset") == dataset
        same = same or (people is not None and document.get("people") == people)
        if same and isinstance(document.get("release"), str):
            documents[file.name] = document
    return documents


def repeat_words(released: tuple[Released, ...], plan: Plan) -> str:
    """That this very study was released before, and what it would cost to repeat; else empty."""
    if not released:
        return ""
    if not (plan.queries or plan.programs):
        return f"{released_words(released)} Its answers are the same, at no further cost."
    return (
        f"{released_words(released)} Another release of it draws new noise, and costs as much "
        f"again: {_again(plan.spends)}."
    )


def _again(spends: Sequence[Spend]) -> str:
    """What other noise costs, in words: perturbed answers stay the same, and are paid for."""
    cost = total_cost([spend for spend in spends if spend.mechanism != COLLECTED])
    return cost_words(cost.dp_epsilon, cost.rho)


def released_words(released: tuple[Released, ...]) -> str:
    """A sentence on when the study was released, for one that was."""
    times = "" if len(released) == 1 else f" {len(released)} times, the last one"
    return f"This study was released{times} {released[-1].words()}."


_DECLARED = (
    "dataset", "unit", "rows_per_unit", "max_rows", "balanced", "parts", "joined", "n", "columns",
    "population",
)  # fmt: skip
"""What certificates say of a study, beside its queries, and what no other release changes."""


def _asked(plan: Plan) -> dict[str, Any]:
    """What a study declares and asks for, in the form of a certificate."""
    steps = [*map(query_step, plan.queries), *map(collected_step, plan.collected)]
    steps += map(program_step, plan.programs)
    document = declarations(plan)
    population = document["population"]  # plain data already, and long where it is a large network
    asked = {
        **{key: document.get(key) for key in _DECLARED if key != "population"},
        "claim": _claimed(document),
        "queries": [step.to_dict() for step in steps],
    }
    return plain_details(asked) | {"population": population}


def _certified(result: Mapping[str, Any], n: int | None) -> dict[str, Any] | None:
    """The same of a release's certificate; `None` without one. Without `n` it may be any."""
    try:
        return _declared(certificate_in(result), n)
    except NOT_WRITTEN:  # a result that no release has stored is one of no study
        return None


def _declared(document: Mapping[str, Any], n: int | None) -> dict[str, Any] | None:
    if "columns" not in document:
        return None
    step = document["derivation"]["premises"][0]
    composition = step if step["rule"] == "sequential-composition" else step["premises"][0]
    return {
        **{key: document.get(key) for key in _DECLARED},
        "n": n if n is None else document.get("n"),
        "claim": _claimed(document),
        "queries": composition["premises"],
    }


def _claimed(document: Mapping[str, Any]) -> dict[str, Any]:
    """The kind of promise: what other releases change of it, its level and secrets, is left out."""
    return {key: document["claim"].get(key) for key in ("notion", "adversary", "delta")}


def remember(study: str, release: str) -> None:
    """Remember that the study of this digest has been paid for."""
    _RELEASED.setdefault(study, []).append(release)


def require_new(study: str, ledger: Ledger) -> None:
    """Raises `Refusal` if this process has paid for a study of this digest in this ledger."""
    for release in reversed(_RELEASED.get(study, ())):
        kept = _stored_release(ledger, release)
        if kept is not None:
            raise Refusal(_words(kept))


def digest(study: StudySpec, reading: Reading, *, derived: bool = False) -> str:
    """A digest that is the same for identical studies. `reading` is that of the study.

    Numbers that are computed from released ones cost nothing, and count with `derived` only.
    """
    plain = {
        "data": study.data.model_dump(mode="json", exclude={"source", "csv", "people"}),
        "columns": {name: describe_column(column) for name, column in study.columns.items()},
        "population": _population(study, reading),
        "budget": study.budget.model_dump(exclude={"ledger", "analyst"}),
        "queries": [query.model_dump(mode="json") for query in study.queries],
        "programs": {name: file.text for name, file in study.programs.items()},
    }
    if derived and study.derived:  # digests of other studies stay what they were
        plain["derived"] = [spec.model_dump(mode="json") for spec in study.derived]
    return hashlib.sha256(canonical_json(plain).encode()).hexdigest()


def _population(study: StudySpec, reading: Reading) -> Any:
    """What the study declares of its population. The reading has it as text, which may be long."""
    population = study.population
    if population is None or reading.notion == "dp":
        return None if population is None else population.spec()
    return [reading.population_text, population.source, population.covers]


def _stored_release(ledger: Ledger, release: str) -> dict[str, Any] | None:
    """The release as the ledger keeps it; `None` where another ledger does."""
    if not ledger.exists():
        return None
    try:
        return ledger.release(release)
    except LedgerError as error:
        if error.key != "release":
            raise
        return None


def _words(kept: dict[str, Any]) -> str:
    cost = total_cost([Spend.from_dict(spend) for spend in kept["spends"]])
    names = ", ".join(f"'{name}'" for name in kept["request"]["queries"])
    done = "released" if kept["status"] == "released" else "paid for, and not finished"
    return (
        f"In this session an identical study was {done} before: {names} of the data set "
        f"'{kept['dataset']}', {cost_words(cost.dp_epsilon, cost.rho)}, at {kept['time']}. "
        f"What it released is in the ledger: study.ledger().release('{kept['id']}'). To spend as "
        f"much again on new noise, say study.release(again=True). {NOTHING_SPENT}"
    )
