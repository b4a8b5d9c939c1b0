"""`size` with `correlation` is the covariance with that correlation everywhere."""

from __future__ import annotations

from typing import Any

import pytest

import bayesdp as bdp
from bayesdp.errors import InputError
from bayesdp.populations import parse
from bayesdp.populations.gaussian import MOST_EQUAL
from bayesdp.release.certificates.certify import conversion_certificate

MATRIX = [[1.0, 0.3, 0.3], [0.3, 1.0, 0.3], [0.3, 0.3, 1.0]]


def test_it_is_the_covariance() -> None:
    short = parse({"model": "gaussian", "size": 3, "correlation": 0.3, "covers": ["x"]})
    written = parse({"model": "gaussian", "covariance": MATRIX, "covers": ["x"]})
    assert short == written
    assert short.spec() == written.spec()
    assert "correlation" not in short.spec()
    assert short.group_size == 3
    named = {"model": "gaussian", "size": 2, "correlation": -0.5, "roles": ["a", "b"]}
    assert parse(named).spec()["covariance"] == [[1.0, -0.5], [-0.5, 1.0]]
    family = bdp.Family(members=[{"model": "gaussian", "size": 3, "correlation": 0.3}])
    assert family.members[0].spec() == bdp.Gaussian(covariance=MATRIX).spec()


def test_its_certificate_states_the_covariance() -> None:
    population = parse({"model": "gaussian", "size": 3, "correlation": 0.3})
    report = population.leakage(0.5, kind="lipschitz")
    certificate = conversion_certificate(population, report)
    assert certificate.body["population"]["covariance"] == MATRIX
    assert bdp.verify(certificate)


def test_a_class_costs_far_less_than_under_a_bound() -> None:
    bound = bdp.Gaussian(size=29, max_correlation=0.08).leakage(0.5, kind="lipschitz")
    equal = parse({"model": "gaussian", "size": 29, "correlation": 0.08})
    assert equal.leakage(0.5, kind="lipschitz").best.epsilon < 0.2 * bound.best.epsilon


@pytest.mark.parametrize(
    ("spec", "key"),
    [
        ({"size": 3, "correlation": -0.5}, "population.correlation"),  # singular
        ({"size": 3, "correlation": 1.0}, "population.correlation"),
        ({"size": 3, "correlation": float("nan")}, "population.correlation"),
        ({"size": 3, "correlation": True}, "population.correlation"),
        ({"size": 3, "correlation": "0.1"}, "population.correlation"),
        ({"size": 3, "correlation": 0.1, "max_correlation": 0.2}, "population.correlation"),
        ({"size": 3, "correlation": 0.3, "covariance": MATRIX}, "population.correlation"),
        ({"correlation": 0.1}, "population.size"),
        ({"size": 1, "correlation": 0.1}, "population.size"),
        ({"size": 2.5, "correlation": 0.1}, "population.size"),
        ({"size": MOST_EQUAL + 1, "correlation": 0.1}, "population.size"),
        ({"size": 3, "correlation": 0.3, "roles": ["a", "b"]}, "population.roles"),
    ],
)
def test_what_is_refused(spec: dict[str, Any], key: str) -> None:
    with pytest.raises(InputError) as refused:
        parse({"model": "gaussian"} | spec)
    assert refused.value.key.startswith(key)
