"""Queries that are programs: what they read, what they cost, and whether the study allows it.

A program fixes its own cost and kind; the checker's verdict gives both, for the study's n where it
is known. What its record's fields are called in the table, which of them are public and what values
they take must agree with the study's declaration: a value that the program takes for public must
not be protected there.

### 8.7 Programs in studies

*Agreement.* A program's cost is for replacing one record's private columns, its public ones fixed.
A study protects whatever it doesn't declare public. So each column that the program takes for
public must be public in the study; a column that is public there and private for the program is
only protected more than needed: neighbours of the study are among those of the program. Values are
clipped by the study, then by the program; both are functions of one row, so the composition reads
one row, and what the program's bounds imply still holds. Only columns of one row count, so the
study's record must be the row.

*What the ledger keeps.* A sequence of releases is an adaptive composition, so pure costs and zCDP
costs of its Gaussian releases each add up (2.5), and are two spends. Of the sides of a branch one
is run: each of the two costs is at most the larger over the sides. Confined parts of a public
partition read disjoint records that no neighbour moves: the larger counts again. In any other
partition each release is priced for every change of one record, so the sum holds. `rho = S^2 / (2
sigma^2)`, with the sigma that the interpreter derives from public values alone; the certificate
states it, and that the noise has at least that variance is one of its assumptions, as that the
interpreter calibrates Laplace noise is. Two things of it are derived. A sigma that the program
states has exactly this `rho`. Noise that is calibrated is the least that is shown to have
`(epsilon, delta)`, and no way to show it needs a larger sigma than zCDP does (2.5): so a `rho` of
which `21/20 rho` still converts to `(epsilon, delta)` claims louder noise than there is, and is
refused (the 5 % are for the choice of orders).

*Preconditions.* A cost derived for all admitted numbers of records is one for this table only if it
admits the study's n, which is decided at n in three values. What is undecided because it asks about
public columns is left to the interpreter, which checks it before anything is released, and the
certificate says so; anything else undecided is UNKNOWN. For the certificate of a program alone that
names no n, all preconditions are assumed to hold: no table that fails them is spoken of.

*Lipschitz programs.* If every release is Laplace noise on a multiple of `sum clip(x, l, h)` over
all records, of total cost `e` for `h - l`, then moving one record's value by `t` moves the
log-density by at most `e t / (h - l)`, as the study's Lipschitz sums do (2.2). The interpreter sums
whole steps of at most `2^-31 max(|l|, |h|)` and may round the total once more, to at most `2^-32
(h - l)` or, so that many large values fit 2^61 steps, `2^-31 max(|l|, |h|)`: for each record that
moves that is at most two steps more, so the slack is `e` times `2^-30 (max(|l|, |h|) / (h - l) +
1)`. Imputed or derived columns jump, and count as of kind `any`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bayesdp import kernel
from bayesdp.accounting.costs.spend import Spend
from bayesdp.certificate import Step
from bayesdp.errors import InputError, UnsupportedError
from bayesdp.numbers import ZERO, UpperBound, float_above, sum_above
from bayesdp.release.programs.fields import agreed, fields_read, require_record, units_of
from bayesdp.release.programs.outputs import output_units
from bayesdp.release.spec.column_labels import label, labels
from bayesdp.release.spec.parts import QuerySpec
from bayesdp.release.spec.program_files import ProgramFile, ProgramRefusedError, file_and_name
from bayesdp.release.spec.study import StudySpec
from bayesdp.release.words import cost_words

if TYPE_CHECKING:
    from bayesdp.programs.ir import Program
    from bayesdp.programs.verdict import ProgramVerdict

POSTERIORS = frozenset({"Beta", "Dirichlet", "Gamma", "Normal", "Samples"})
"""The types of outputs that are distributions."""

MECHANISM = "program"
"""The name of a program's mechanism in the ledger."""


@dataclass(frozen=True)
class PlannedProgram:
    """A program that the checker accepts and the study allows.

    `fields` are the columns of the table by the record's fields that the program reads, `reads` the
    labels of the private ones among them. `n` is the number of records that the verdict is for,
    `None` for every one. `notes` say which bounds count where study and program both have some.
    `derivation` is what the kernel derived the cost from again, `assuming` what that rests on,
    `gaussian` the zCDP cost of each Gaussian release.
    """

    spec: QuerySpec
    position: int
    file: ProgramFile
    core: Program
    verdict: ProgramVerdict
    fields: Mapping[str, str]
    reads: tuple[str, ...]
    notes: tuple[str, ...]
    spends: tuple[Spend, ...]
    derivation: Step
    assuming: tuple[str, ...]
    gaussian: Mapping[str, Fraction]
    units: tuple[str, ...] = ()
    """The unit of each output, from those of the table's columns; "" where none is known."""
    remark: tuple[str, ...] = ()
    """What the posteriors make of records that depend on each other: a note, or none."""
    chain_remark: tuple[str, ...] = ()
    """The same of posteriors of chains."""

    def __str__(self) -> str:
        return f"{self.spec.name}: {self.shown}, {self.cost_words()}, kind {self.kind}"

    def cost_words(self) -> str:
        """The program's costs in words: pure, in zCDP, or both."""
        return cost_words(self.dp_epsilon, self.dp_rho)

    @property
    def dp_epsilon(self) -> UpperBound:
        """The cost of its releases that are pure, rounded up."""
        return sum_above(*(spend.dp_epsilon for spend in self.spends))

    @property
    def dp_rho(self) -> UpperBound:
        """The cost of its Gaussian releases in zCDP, rounded up."""
        return sum_above(*(spend.rho for spend in self.spends))

    @property
    def kind(self) -> str:
        """The mechanism's kind: Lipschitz in one column, or any."""
        return self.spends[0].kind

    @property
    def shown(self) -> str:
        """The program as certificates name it, without folders."""
        return f"{self.file.name}:{self.core.name}"

    def describe(self) -> dict[str, Any]:
        """The query as plain data, for `check --json` and certificates."""
        given: dict[str, Any] = {"name": self.spec.name, "kind": "program", "program": self.shown}
        if self.spec.parameters:
            given["parameters"] = dict(self.spec.parameters)
        return given

    @property
    def releases(self) -> tuple[str, ...]:
        """The program's releases in words, such as `noisy: laplace, epsilon 0.5`."""
        return tuple(_released(self.verdict.derivation))


def planned(study: StudySpec, position: int, n: int | None) -> PlannedProgram:
    """The program of the query at this position.

    Raises `ProgramRefusedError` with the checker's message where it is not accepted, `InputError`
    where it and the study don't fit together, and `UnsupportedError` where the program's
    number of records is private.
    """
    query = study.queries[position]
    assert query.program is not None
    key = study.query_key(position)
    stated, name = file_and_name(query.program)
    file = study.programs[stated]
    asked = (file.text, file.name, name, tuple(query.parameters.items()), n, f"{key}.program")
    judged = _judged(*asked)
    if judged.core.dependence == "missing":
        judged = _judged(*asked, _inflation(study, f"{key}.program"))
    core, verdict = judged.core, judged.verdict
    require_record(core, study, key)
    if core.dependence == "chain":
        _check_chain(study, f"{key}.program")
    if core.adjacency != "replace-one":
        raise UnsupportedError(
            f"{key}.program",
            query.program,
            expected='@program(adjacency="replace-one"), which is a study\'s: its number of '
            "records is public",
            remedy="Leave adjacency out of @program.",
        )
    fields, notes = agreed(core, study, query, key)
    reads = labels(study, set(fields.values()), key, dict.fromkeys(fields.values(), "program"))
    spends, rhos = _spends(study, query, judged, fields, reads, f"{key}.program")
    return PlannedProgram(
        query,
        position,
        file,
        core,
        verdict,
        fields,
        reads,
        (*notes, *(note.removesuffix(".") for note in (*verdict.notes, *_remark(study, core)))),
        spends,
        judged.derivation,
        (*judged.assuming, *kernel.gaussian_assumptions(rhos)),
        rhos,
        output_units(core, units_of(core, {f: study.columns[c].unit for f, c in fields.items()})),
        _remark(study, core),
        _chain_remark(study),
    )


def _inflation(study: StudySpec, key: str) -> Fraction:
    """What the study's population does to a posterior that counts on it.

    Raises `UnsupportedError` at the program's `key` for populations that don't bound correlations.
    """
    from bayesdp.programs.dependence import inflation

    try:
        return inflation(study.population)
    except UnsupportedError as error:
        raise UnsupportedError(
            key, error.value, expected=error.expected, remedy=error.remedy
        ) from None


def _check_chain(study: StudySpec, key: str) -> None:
    """Refuse a program at `key` that counts on a chain, where the population is none."""
    from bayesdp.programs.dependence import is_chain

    if not is_chain(study.population):
        described = "none" if study.population is None else study.population.describe()
        raise UnsupportedError(
            key,
            described,
            expected='for markov_chain with dependence="declared" a markov population of order 1',
            remedy='Leave dependence="declared" out of the program: its posterior takes records '
            "for a chain anyway, and says so.",
        )


def _chain_remark(study: StudySpec) -> tuple[str, ...]:
    """What a chain's posterior is told of the population."""
    from bayesdp.programs.dependence import of_a_chain

    note = of_a_chain(study.population)
    return (note,) if note else ()


def _remark(study: StudySpec, core: Program) -> tuple[str, ...]:
    """What its posteriors make of the population's dependence; nothing where there is none."""
    from bayesdp.programs.dependence import COUNTED, IGNORED, is_dependent, is_of_chain
    from bayesdp.programs.ir import AFTER, Derive, flat

    derived = [c.value for c in flat(core.body) if isinstance(c, Derive) and c.value.op in AFTER]
    chains = [value for value in derived if is_of_chain(value)]
    infers = len(derived) > len(chains) or (POSTERIORS & set(core.return_types) and not chains)
    if not is_dependent(study.population) or not infers:
        return ()
    return (COUNTED if core.dependence == "declared" else IGNORED,)


def plan_programs(study: StudySpec, n: int | None) -> tuple[PlannedProgram, ...]:
    """All programs of a study, planned. Raises as `planned` does."""
    return tuple(
        planned(study, position, n)
        for position, query in enumerate(study.queries)
        if query.kind == "program"
    )


@dataclass(frozen=True)
class _Judged:
    """A program that checker and kernel accept."""

    core: Program
    verdict: ProgramVerdict
    derivation: Step
    assuming: tuple[str, ...]


@lru_cache(maxsize=64)
def _judged(
    text: str,
    file: str,
    name: str | None,
    parameters: tuple[tuple[str, Any], ...],
    n: int | None,
    key: str,
    inflation: Fraction | None = None,
) -> _Judged:
    """The program as read, if checker and kernel accept it.

    `text` is the program's, of a `file` at `key` of the study, `name` and `parameters` as stated,
    `n` the study's, `inflation` what its population does to posteriors.
    """
    from bayesdp.programs.certificate import derivation_of
    from bayesdp.programs.checked_files import refused, verdict_in
    from bayesdp.programs.run.machine.readiness import prepared
    from bayesdp.programs.source import core_of, read_text
    from bayesdp.programs.source.syntax.diagnostics import ProgramError

    given = dict(parameters)
    try:
        source = read_text(text, file)
        verdict = verdict_in(source, name, n, given, inflation)
    except ProgramError as error:
        verdict = refused(error, name)
    except InputError as error:
        if error.key in given:
            raise InputError(
                f"{key.removesuffix('.program')}.parameters.{error.key}",
                given[error.key],
                expected=error.expected,
                remedy=error.remedy,
            ) from None
        shown = file if name is None else f"{file}:{name}"
        raise InputError(key, shown, expected=error.expected, remedy=error.remedy) from None
    if verdict.verdict != "ACCEPTED":
        raise ProgramRefusedError(
            f"{key}: {verdict.verdict} ({verdict.code}). Nothing was released or spent.\n"
            f"{verdict.shown or verdict.reason}"
        )
    core = core_of(source, name, given, inflation)
    prepared(core)  # what this machine can't run is refused before anything is spent
    derivation = derivation_of(core, verdict)
    try:
        step = json.loads(json.dumps(derivation.to_dict()))
        assuming = kernel.program_assumptions(step)
    except (kernel.InvalidError, kernel.UnknownError) as error:
        raise ProgramRefusedError(
            f"{key}: the checker accepts it and the kernel does not ({error}). Nothing was "
            "released or spent. Please report this mistake of ours."
        ) from None
    return _Judged(core, verdict, derivation, tuple(assuming))


def _spends(
    study: StudySpec,
    query: QuerySpec,
    judged: _Judged,
    fields: Mapping[str, str],
    reads: tuple[str, ...],
    key: str,
) -> tuple[tuple[Spend, ...], dict[str, Fraction]]:
    """What the ledger keeps: the pure cost, and that of Gaussian releases in zCDP, by name."""
    verdict = judged.verdict
    rhos: dict[str, Fraction] = {}
    if verdict.dp_delta > 0:
        from bayesdp.programs.run.machine.spends import gaussian_costs

        rhos = gaussian_costs(judged.core, verdict, verdict.n, key)
    pure, rho = verdict.dp_epsilon, Fraction(0)
    if rhos:
        pure, rho = kernel.program_costs(judged.derivation.to_dict(), rhos)
    if pure == rho == 0 or not reads:
        raise InputError(
            key,
            query.program,
            expected="a program that releases something about a private column",
            remedy="It costs nothing, and needs no study: import the file and write "
            "PROGRAM.run(table, ledger=..., dataset=..., dp_epsilon=...).",
        )
    shared: dict[str, Any] = {
        "dataset": study.data.dataset,
        "unit": study.data.protected_unit,
        "people": study.data.people,
        "query": query.name,
        "mechanism": MECHANISM,
        "reads": reads,
    }
    spends = []
    if pure > 0:
        cost = float_above(pure)
        kind = _kind(study, verdict, fields, cost) if rho == 0 else {"kind": "any"}
        spends.append(Spend(**shared, dp_epsilon=cost, **kind))
    if rho > 0:
        spends.append(Spend(**shared, dp_epsilon=ZERO, rho=float_above(rho), kind="any"))
    return tuple(spends), rhos


def _kind(
    study: StudySpec, verdict: ProgramVerdict, fields: Mapping[str, str], cost: float
) -> dict[str, Any]:
    """Lipschitz in the table's column only where that is read as it stands."""
    if verdict.kind != "lipschitz" or verdict.interval is None:
        return {"kind": "any"}
    column = study.columns[fields[verdict.column or ""]]  # a row's own: no fold is lipschitz
    low, high = (float(end) for end in verdict.interval)
    exact = (Fraction(low), Fraction(high)) == verdict.interval and low < high
    # A value that may be missing, and is then replaced, jumps: that is not clipping.
    if column.is_public or column.imputed is not None or column.is_derived or not exact:
        return {"kind": "any"}
    extra = float_above(Fraction(cost) * kernel.program_slack(verdict.interval))
    return {
        "kind": "lipschitz",
        "column": label(column),
        "interval": (low, high),
        "slack": extra,
    }


def _released(node: Mapping[str, Any]) -> Iterable[str]:
    """Each release of a derivation in words."""
    if "release" in node:
        delta = f", delta {node['delta']}" if Fraction(node["delta"]) > 0 else ""
        yield f"{node['release']}: {node['rule']}, epsilon {node['epsilon']}{delta}"
    for step in node.get("sequence", ()):
        yield from _released(step)
    for step in node.get("branch", ()):
        yield from _released(step)
    for step in node.get("parts", {}).get("of", ()):
        yield from _released(step)


__all__ = ["MECHANISM", "PlannedProgram", "fields_read", "plan_programs", "planned"]
