"""Programs with hypotheses, perturbed answers, Dirichlet candidates, chains and persons, alone.

What is forged of their certificates is in `construct_lies`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from bayesdp.programs.certificate import program_certificate
from bayesdp.programs.check.checker import check
from bayesdp.programs.source import core_of, read_text
from tests.kernel import program_texts

Document = dict[str, Any]

NAMES = (
    "Bool Category Database Dirichlet Int Normal Private Public Real Samples Vector Gamma "
    "categorical chances count dirichlet exponential gamma group_by hellinger hypotheses infer "
    "laplace linear_model linspace markov_chain noise_aware normal observe "
    "per_record_exponential plug_in poisson posterior_sample posteriors_of program "
    "randomized_response record statistics transition_counts"
)
HEAD = f"from bayesdp.programs import {', '.join(NAMES.split())}\n\n"
RECORD = """
@record
class Person:
    score: Real[0, 10]
    visits: Int[0, 9]
    ill: Bool
    arm: Category["a", "b", "c"]
    month: Public[Int[1, 12]]
"""
CONSTRUCTS = {
    "compared": """
@program
def compared(people: Database[Person]) -> Private[Vector]:
    rule = chances(lambda rate: rate)
    model = observe((p.ill for p in people), rule, prior=hypotheses({0.1: 1, 0.5: 2, 0.9: 1}))
    return noise_aware(laplace(statistics(model), epsilon=1))
""",
    "perturbed mean": """
@program
def mean(people: Database[Person]) -> Private[Normal]:
    first = randomized_response((p.ill for p in people), epsilon=1)
    noisy = per_record_exponential(people.score, score=lambda x, c: -abs(x - c),
        candidates=linspace(0, 10, 11), epsilon=1)
    return noise_aware(observe(noisy, normal(sd=2), prior=normal(5, sd=3)))
""",
    "perturbed rate": """
@program
def rate(people: Database[Person]) -> Private[Gamma]:
    noisy = per_record_exponential(people.visits, score=lambda x, c: -abs(x - c),
        candidates=linspace(0, 9, 10), epsilon=1)
    return plug_in(observe(noisy, poisson(exposure=people.size), prior=gamma(2, rate=1)))
""",
    "perturbed line": """
@program
def line(people: Database[Person]) -> Private[Normal]:
    x = per_record_exponential(people.score, score=lambda x, c: -abs(x - c),
        candidates=linspace(0, 10, 11), epsilon=1)
    y = per_record_exponential(people.visits, score=lambda x, c: -abs(x - c),
        candidates=linspace(0, 9, 10), epsilon=1)
    return noise_aware(observe((1, x, y), linear_model(noise_sd=3), prior=normal(0, sd=10)))
""",
    "candidates": """
@program
def shares(people: Database[Person]) -> Private[Dirichlet]:
    prior = dirichlet(1, 2, 1)
    first = laplace(count(p for p in people if p.ill), epsilon=1)
    posterior = infer(observe((p.arm for p in people), categorical, prior=prior))
    return exponential(score=hellinger(posterior), epsilon=1, sensitivity=0.6,
        candidates=posteriors_of(prior, n=people.size))
""",
    "near": """
@program
def near(people: Database[Person]) -> Private[Real]:
    ill = count(p for p in people if p.ill)
    return exponential(score=lambda c: -abs(ill - c), candidates=linspace(0, 10, 11), epsilon=1,
        sensitivity=2)
""",
    "sampled": """
@program(adjacency="add-remove")
def sampled(people: Database[Person]) -> Private[Real]:
    model = observe(people.visits, normal(sd=2), prior=normal(5, sd=3))
    return posterior_sample(model, grid=linspace(1, 9, 9), log_likelihood=(-4, 0), power=1 / 8)
""",
    "chain": """
@program
def chain(people: Database[Person]) -> Private[Samples]:
    noisy = laplace(transition_counts(people.arm, order="month"), epsilon=1)
    return noise_aware(observe(noisy, markov_chain, prior=dirichlet(1, 1, 1)))
""",
}
"""Texts of programs, each with its record behind `RECORD`."""
OTHERS = {
    "persons": program_texts.VISITS,
    "enters": program_texts.ENTERS,
    "sums": program_texts.SUMS,
    "posteriors": program_texts.POSTERIORS,
}
"""Texts of other tests, with records of their own."""


def certified(text: str, name: str | None = None) -> str:
    """The certificate of the program of this name, which a text without imports has."""
    program = core_of(read_text(program_texts.HEAD + text, "constructs.py"), name, {})
    verdict = check(program)
    assert verdict.verdict == "ACCEPTED", (name, verdict)
    return program_certificate(program, verdict).to_json()


@cache
def _texts() -> dict[str, str]:
    made = {name: HEAD + RECORD + text for name, text in CONSTRUCTS.items()}
    made |= {name: program_texts.HEAD + text for name, text in OTHERS.items()}
    texts = {}
    for name, text in made.items():
        program = core_of(read_text(text, "constructs.py"), None, {})
        verdict = check(program)
        assert verdict.verdict == "ACCEPTED", (name, verdict)
        texts[name] = program_certificate(program, verdict).to_json()
    return texts


def honest(name: str) -> Document:
    """The honest certificate of the program of this name."""
    document: Document = json.loads(_texts()[name])
    return document


def valid() -> Iterator[Document]:
    """The honest certificates."""
    for name in (*CONSTRUCTS, *OTHERS):
        yield honest(name)
