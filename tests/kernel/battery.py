"""Certificates whose verdicts are known by how they were made: what a mutant is shown.

Honest ones are valid. Each of them with a lower level is not, nor with a place changed that no
written reason calls harmless, nor are the lies of `tests.kernel.mutations`.
"""

from __future__ import annotations

import copy
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from bayesdp import kernel
from bayesdp.errors import BayesdpError
from bayesdp.notions import ApproxDP
from bayesdp.populations import parse
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.theorems import LeakageReport, Question, report
from bayesdp.theorems.with_delta import report_with_delta, stated_report
from tests.kernel import (
    declaration_stories,
    honest,
    hypothesis_stories,
    program_stories,
    rare_steps,
    recorded,
    relation_stories,
    release_stories,
    step_stories,
    stories,
    test_relations,
)
from tests.kernel.all_kinds import KINDS, POPULATIONS, certificate
from tests.kernel.forger import forged
from tests.kernel.honest import Honest
from tests.kernel.leaves import at, leaves, named, other_values, put, why_harmless
from tests.kernel.mutations import ONE_PLACE, changed, lower
from tests.kernel.test_forger import SLOW
from tests.kernel.test_forgeries import renewed

Document = dict[str, Any]
Rng = np.random.Generator
HARDLY, CLEARLY = 1 - 1e-6, 0.5
MORE = (
    honest.calm_chain, honest.pairs_chain, honest.any_chain, honest.interval_chain, honest.tree,
    honest.calm_graph, honest.graph, honest.network, honest.finite, honest.covariance,
    honest.precision, honest.equal_variances, honest.vectors, honest.max_correlation,
    honest.family,
)  # fmt: skip
"""Populations of random numbers, beside those of `POPULATIONS`."""
ADVERSARIES = ("any", "uninformed")
LIES_OF_A_REASON = 1
SOME = 10
"""Of the certificates about hypotheses, and of the steps, `make test` asks for every tenth."""
FORGED = 1000
PAIRS = 8
PLACES, VALUES = 2, 6
"""Lies are tried at so many places of a name, in all certificates together, and so many at each."""
_DETAIL = re.compile(r"'[^']*'|[-\d.e+]+|\[.*\]|\{.*\}")


class Shown(NamedTuple):
    """A certificate and whether it is valid; `None` where the kernel's own verdict says it.

    So it is of a step alone, of which the kernel is asked for the level.
    """

    document: Document
    valid: bool | None


def answer(checker: Any, document: Document) -> str:
    """A kernel's verdict on a certificate; of a step alone the level, or why there is none."""
    if "derivation" in document:
        return str(checker.check(document).verdict)
    try:
        return digits(checker.certified_level(document))
    except refusals(checker) as error:
        return refusal(checker, error)


def digits(level: float) -> str:
    """A level, without what rounding in another order may change."""
    return f"{level:.9g}"


def refusals(checker: Any) -> tuple[type[BaseException], ...]:
    """What a kernel raises about a step that proves nothing."""
    return (
        checker.InvalidError,
        RecursionError,
        *sys.modules[f"{checker.__name__}.certificates"]._MALFORMED,
    )


def refusal(checker: Any, error: BaseException) -> str:
    """What the verdict is then."""
    return "UNKNOWN" if isinstance(error, checker.UnknownError | RecursionError) else "INVALID"


def battery(*, whole: bool) -> list[Shown]:
    """The honest certificates first, then the lies about them: those of stories, or the `whole`."""
    rng = np.random.default_rng(94)
    made = [Honest(certificate(kind)) for kind in KINDS]
    related: list[Document] = []
    if whole:
        specs = [*POPULATIONS.values(), *(make(rng) for make in MORE)]
        made += [conversion for spec in specs for conversion in _conversions(rng, spec)]
        related += _relations()
    valid = [
        *(case.document for case in made),
        *related,
        *stories.valid(),
        *program_stories.valid(),
    ]
    valid += [*relation_stories.honest(), *release_stories.honest()]
    valid += declaration_stories.valid()
    shown = [Shown(document, True) for document in valid]
    # Of those that are refused alike only the first are asked about: the likeliest come first.
    lies = [*stories.forged(), *program_stories.forged(), *relation_stories.forged()]
    lies += [*release_stories.forged(), *declaration_stories.forged(), *stories.from_tables()]
    if whole:
        lies += [lie for case in made for lie in _less(case.document)]
        lies += [changed(rng, case, ONE_PLACE)[1] for case in made[len(KINDS) :]]
        lies += [lie for document in related for lie in _unrelated(rng, document)]
        lies += [*_declared(made), *_one_place(rng)]
    shown += [Shown(lie, False) for lie in lies]
    every = 1 if whole else SOME
    shown += [Shown(*case) for case in list(hypothesis_stories.documents())[::every]]
    asked = [*list(step_stories.documents())[::every], *rare_steps.documents()]
    if whole:
        shown += [Shown(lie, False) for lie in stories.slow()]
        asked += [*recorded.asked(), *_forged(rng), *_together(rng)]
    return shown + [Shown(document, None) for document in asked]


def _together(rng: Rng) -> Iterator[Document]:
    """One number that stands in several places, changed in two of them, or in all but two.

    So what compares two places is told the same lie by both.
    """
    for kind in KINDS:
        document = certificate(kind)
        places: dict[float, list[tuple[Any, ...]]] = defaultdict(list)
        for path in leaves(document):
            value = at(document, path)
            if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
                places[float(value)].append(path)
        for number, same in places.items():
            pairs = list(combinations(same, 2))
            for place in rng.permutation(len(pairs))[:PAIRS]:
                pair = pairs[place]
                others = [path for path in same if path not in pair]
                for changed_places in (pair, others) if len(others) > 1 else (pair,):
                    less = number * float(rng.choice([0.9, 1.1, 1 - 1e-7]))
                    lie = copy.deepcopy(document)
                    for path in changed_places:
                        at(lie, path[:-1])[path[-1]] = less
                    yield renewed(lie)


def _forged(rng: Rng) -> Iterator[Document]:
    """Changes in several places at once, by somebody who knows what the kernel compares."""
    quick = [certificate(kind) for kind in KINDS if kind not in SLOW]
    for number in range(FORGED):
        base, other = quick[number % len(quick)], quick[int(rng.integers(len(quick)))]
        yield json.loads(json.dumps(forged(rng, base, other)))


def _conversions(rng: Rng, spec: Document) -> Iterator[Honest]:
    """A certificate by every theorem about this population, with a delta and without."""
    population = parse(spec)
    cost = honest.random_cost(rng, population)
    for adversary in ADVERSARIES:
        question = Question(population, adversary, "bounded", 1.0)  # type: ignore[arg-type]
        reports = [report(question, cost)]
        if adversary == "any":
            noisy = replace(cost, rho_any=0.01)
            if cost.lipschitz > 0:
                noisy = replace(cost, rho_any=0.005, rho_lipschitz=0.02, rho_slack=1e-4)
            reports += [report_with_delta(question, noisy, 1e-5)]
            reports += [stated_report(question, ApproxDP(0.3, 1e-7))]
        for full in reports:
            yield from _by_each_theorem(population, full)


def _by_each_theorem(population: Any, full: LeakageReport) -> Iterator[Honest]:
    for bound in full.bounds:
        if not np.isfinite(bound.epsilon):
            continue
        alone = replace(full, bounds=(bound,))
        if bound.delta:
            alone = replace(alone, delta=bound.delta)
        try:
            document = json.loads(conversion_certificate(population, alone).to_json())
        except (BayesdpError, LookupError):
            continue  # of a family's members, one has no bound of its own
        yield Honest(document, population, alone)


RELATED = (
    "chain", "interval chain", "order 2", "law", "tree", "network", "graph", "clusters",
    "covariance", "precision", "autoregressive",
)  # fmt: skip


def _relations() -> Iterator[Document]:
    for name in RELATED:
        for given in ({"bdp": 1.0}, {"dp": 0.4, "sp": 0.5}):
            try:
                yield test_relations.honest_document(given, parse(POPULATIONS[name]))
            except BayesdpError:
                continue  # nothing follows


def _less(document: Document) -> Iterator[Document]:
    """A level hardly lower, a smaller delta, or a smaller point of the mechanism's curve."""
    claim, step = document["claim"], document["derivation"]
    notion = claim.get("notion")
    if notion is not None and claim.get("epsilon", 0.0) > 0.0:
        less = copy.deepcopy(document)
        lower(less, HARDLY, notion)
        yield less
    if step["rule"] == "release" or not claim.get("delta"):
        return
    smaller = copy.deepcopy(document)
    smaller["claim"]["delta"] *= CLEARLY
    smaller["derivation"]["conclusion"]["delta"] = smaller["claim"]["delta"]
    yield smaller
    proof = step["evidence"].get("delta") or {}
    for key in ("dp_epsilon", "dp_delta"):
        if key in proof:
            point = copy.deepcopy(document)
            point["derivation"]["evidence"]["delta"][key] *= HARDLY
            yield point


def _unrelated(rng: Rng, document: Document) -> Iterator[Document]:
    for change in test_relations.CHANGES:
        lie = copy.deepcopy(document)
        try:
            change(rng, lie)
        except (ValueError, AssertionError):
            continue  # there is nothing of this kind in it
        if lie != document:
            yield test_relations.sealed(lie)


def _declared(made: list[Honest]) -> Iterator[Document]:
    """Populations that a theorem is not about, under its level, and more records than names."""
    for case in made:
        if (
            case.rule in ("markov-window", "markov-recursion")
            and "order" in case.document["population"]
        ):
            document = copy.deepcopy(case.document)
            for population in (
                document["population"],
                document["derivation"]["evidence"]["population"],
            ):
                population["initial"] = [[0.99, 0.003], [0.003, 0.004]]
            yield renewed(document)
        if case.rule == "tree-recursion" and "parents" in str(case.document["population"]):
            document = copy.deepcopy(case.document)
            coin = [[[0.5, 0.5]] * 2] * 2
            node = {"name": "coin", "states": 2, "parents": ["a", "b"], "table": coin}
            document["population"]["nodes"].append(node)
            document["derivation"]["evidence"]["population"]["nodes"].append(node)
            yield renewed(document)
    persons = certificate("person release")
    persons["columns"]["pair"]["states"] = [1]
    yield renewed(persons)


def _one_place(rng: Rng) -> Iterator[Document]:
    """Lies in one place, a few for each reason that the kernel has to refuse one."""
    tried: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for kind in KINDS:
        document = certificate(kind)
        for path in leaves(document):
            name = named(path)
            tried[name] += 1
            if path == ("digest",) or tried[name] > PLACES:
                continue
            values = list(other_values(document, path))
            for place in rng.permutation(len(values))[:VALUES]:
                lie = put(document, path, values[place])
                if why_harmless(path, at(document, path), at(lie, path)) is not None:
                    continue
                reason = _DETAIL.sub("", kernel.check(lie).reason)
                reasons[reason] += 1
                if reasons[reason] <= LIES_OF_A_REASON:
                    yield lie
