"""Certificates of finite models, perturbed records and chosen Dirichlet posteriors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bayesdp import kernel
from tests.kernel.mutations import sealed
from tests.release.program_studies import asks, study

IMPORT = """from bayesdp.programs import (
    chances, exponential, hellinger, hypotheses, infer, linear_model, linspace,
    per_record_exponential, posteriors_of,
)


"""
RECORD = """@record
class Person:
    height: Real[100, 230]
    smokes: Bool


"""
ANSWERS = """per_record_exponential(
        people.{0}, score=lambda x, c: -abs(x - c), candidates=linspace({1}, 4), epsilon=1 / 4
    )"""
PROGRAMS = {
    "coin": """@program
def coin(rows: Database[Bool]) -> Private[Beta]:
    model = observe(rows, bernoulli, prior=beta(1, 1))
    return noise_aware(laplace(statistics(model), epsilon=1 / 4))
""",
    "which": """@program
def which(rows: Database[Bool]) -> Private[Vector]:
    model = observe(rows, chances(lambda h: h), prior=hypotheses({0.2: 3, 0.9: 1}))
    return noise_aware(laplace(statistics(model), epsilon=1 / 4))
""",
    "shares": """@program
def shares(rows: Database[Bool]) -> Private[Dirichlet]:
    prior = dirichlet(1, 1)
    posterior = infer(observe(rows, categorical, prior=prior))
    laws = posteriors_of(prior, n=rows.size)
    return exponential(score=hellinger(posterior), candidates=laws, epsilon=1 / 4)
""",
    "mean": f"""{RECORD}@program
def mean(people: Database[Person]) -> Private[Normal]:
    noisy = {ANSWERS.format("height", "150, 190")}
    return noise_aware(observe(noisy, normal(sd=8), prior=normal(170, sd=10)))
""",
    "line": f"""{RECORD}@program
def line(people: Database[Person]) -> Private[Normal]:
    height = {ANSWERS.format("height", "150, 190")}
    again = {ANSWERS.format("height", "150, 190")}
    return noise_aware(observe((height, again), linear_model(noise_sd=8), prior=normal(0, sd=1)))
""",
}


def released(name: str, folder: Path) -> dict[str, Any]:
    columns = {"columns": {"rows": "smokes"}} if "rows:" in PROGRAMS[name] else {}
    query = asks(name, **columns)
    asked = study(folder, query, text=IMPORT + PROGRAMS[name])
    document: dict[str, Any] = json.loads(asked.release().certificate.to_json())
    return document


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_certificate_is_valid_and_no_cheaper(name: str, tmp_path: Path) -> None:
    """Also where a record is one value, whose field has no name."""
    document = released(name, tmp_path)
    assert kernel.check(document).verdict == "VALID ASSUMING"
    step = document["derivation"]["premises"][0]["premises"][0]["premises"][-1]
    for item in (step["evidence"]["spends"][0], step["conclusion"]):
        item["dp_epsilon" if "dp_epsilon" in item else "epsilon"] *= 0.999
    assert kernel.check(sealed(document)).verdict == "INVALID"
