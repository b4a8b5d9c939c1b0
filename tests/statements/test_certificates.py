"""Certificates as statements: every honest one is read, and each fault is named where it stands."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from bayesdp.kernel import check
from bayesdp.statements import StatementError
from bayesdp.statements.certificates import (
    ConversionCertificate,
    ProgramCertificate,
    RelationsCertificate,
    ReleaseCertificate,
    read_certificate,
)
from bayesdp.statements.conversions import DETAILS, THEOREMS
from bayesdp.statements.steps import read_level, unknown_rules
from tests.kernel.all_kinds import KINDS, RELEASES, certificate
from tests.kernel.leaves import at, leaves

Document = dict[str, Any]
OF = {"relations": RelationsCertificate, "program": ProgramCertificate}
RELEASED = {*RELEASES, "vector release", "blocks release", "people release", "program release"}


@pytest.mark.parametrize("kind", KINDS)
def test_honest_certificates_are_statements(kind: str) -> None:
    otherwise = ReleaseCertificate if kind in RELEASED else ConversionCertificate
    stated = read_certificate(certificate(kind))
    assert type(stated) is OF.get(kind, otherwise)
    assert list(unknown_rules(certificate(kind)["derivation"])) == []


def refused(document: Document, path: tuple[Any, ...], value: Any) -> StatementError:
    changed = copy.deepcopy(document)
    at(changed, path[:-1])[path[-1]] = value
    with pytest.raises(StatementError) as error:
        read_certificate(changed)
    return error.value


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_that_nothing_reads_is_refused_wherever_it_stands(kind: str) -> None:
    """Of a program by the kernel's own readers, of all else when the certificate is read."""
    document = certificate(kind)
    places = [path for path in leaves(document) if isinstance(at(document, path), dict)]
    for path in [(), *places]:
        changed = copy.deepcopy(document)
        at(changed, path)["note"] = 0.0
        assert check(changed).verdict == "INVALID", path


OWN = ("derivation", "premises", 0)
COMPOSED = (*OWN, "premises", 0)
QUERY = (*COMPOSED, "premises", 0)
FAULTS: list[tuple[str, tuple[Any, ...], Any, str, str]] = [
    ("law", ("note",), 1, ".note", "does not belong"),
    ("law", ("software",), "certified", ".software", "not a version of this package"),
    ("law", ("claim", "epsilon"), True, ".claim.epsilon", "truth value"),
    ("law", ("claim", "epsilon"), "1", ".claim.epsilon", "number"),
    ("law", ("claim", "epsilon"), 2**53 + 1, ".claim.epsilon", "isn't exact as a double"),
    ("law", ("claim", "epsilon"), -1.0, ".claim.epsilon", "greater than or equal to 0"),
    ("law", ("claim", "adversary"), "nobody", ".claim.adversary", "uninformed"),
    ("law", ("derivation", "evidence", "covers"), ["x"], "", "covers"),
    ("law", ("derivation", "evidence", "details"), {"steps": 3}, ".derivation", "no rule of this"),
    ("family", ("derivation", "conclusion", "epsilon"), 0.0, ".derivation", "above the family's"),
    ("family", ("derivation", "rule"), "cluster-size", ".derivation", "families"),
    ("laplace release", (*QUERY, "evidence", "grid"), None, ".derivation", ""),
    ("laplace release", (*QUERY, "premises"), [{}], ".derivation", "an empty list"),
    ("laplace release", (*COMPOSED, "premises"), [], ".derivation", "at least 1 item"),
    ("laplace release", (*COMPOSED, "evidence", "adjacency"), "none", ".derivation", "replace one"),
    ("laplace release", (*OWN, "premises"), [], ".derivation", "DP costs come first"),
    ("laplace release", ("unit",), "pair", "", "rows_per_unit or max_rows belongs"),
    ("laplace release", ("population",), None, "", "BDP is about a population"),
    ("laplace release", ("time",), "yesterday", ".time", "not a date and time"),
    ("laplace release", ("ledger", "head"), "7f", ".ledger.head", "not a SHA-256 in hex"),
    ("laplace release", ("ledger", "sequence"), 0, ".ledger.sequence", "greater than"),
    ("laplace release", ("ledger", "id"), "a", ".ledger.id", "does not belong"),
    ("laplace release", ("not_protected", 0), "all", ".not_protected", "the same for all"),
    ("laplace release", ("results", 0, "rows"), 3, ".results[0]", "rows belong to averages"),
    ("laplace release", ("results", 0, "dp_rho"), 0.0, ".results[0]", "a cost of another kind"),
    ("gaussian release", (*QUERY, "conclusion", "epsilon"), 0.5, ".derivation", "a pure cost"),
    ("relations", ("claim", "parameters", "size"), 0, ".claim.parameters.size", "greater than"),
    ("relations", (*OWN, "rule"), "relation:", "", ""),
    ("program", ("derivation", "note"), 1, ".derivation.note", "does not belong"),
    ("program", ("derivation", "premises"), [{}], ".derivation.premises", "an empty list"),
    ("program", ("claim", "column"), "d\u202ep", ".claim.column", "isn't shown"),
]


@pytest.mark.parametrize(("kind", "path", "value", "place", "reason"), FAULTS)
def test_faults_are_named_where_they_stand(
    kind: str, path: tuple[Any, ...], value: Any, place: str, reason: str
) -> None:
    if (kind, path[-1]) == ("laplace release", "grid"):  # the first query is a count
        value = {"lo": 0.0, "hi": 1.0, "bits": 4, "masked": False, "slack": 0.125}
        reason = "a grid belongs to sums"
    error = refused(certificate(kind), path, value)
    assert error.place.startswith(place)
    assert reason in error.reason


def test_grids_have_the_slack_of_two_steps() -> None:
    document = certificate("covariance release")
    grid = at(document, (*QUERY, "evidence", "grid"))
    assert grid["slack"] == 2.0 ** (1 - grid["bits"])
    place = (*QUERY, "evidence", "grid")
    assert "two of its steps" in refused(document, (*place, "slack"), grid["slack"] / 2).reason
    assert "lower end is not below" in refused(document, (*place, "hi"), grid["lo"]).reason
    assert "less than or equal to 62" in refused(document, (*place, "bits"), 63).reason


def test_rules_of_other_names_are_told_apart_from_faults() -> None:
    document = certificate("family")
    document["derivation"]["premises"][0]["rule"] = "a theorem of next year"
    assert list(unknown_rules(document["derivation"])) == ["a theorem of next year"]
    with pytest.raises(StatementError, match="no theorem of this name"):
        read_level(document["derivation"])
    assert set(DETAILS) <= THEOREMS


def test_proofs_of_a_finite_law_are_about_different_questions() -> None:
    document = certificate("law")
    details = document["derivation"]["evidence"]["details"]
    proof = {"i": 0, "K": [], "x_K": [], "x_i": 0, "x_i'": 1, "multiplier": 0.5, "flows": []}
    details["proofs"] = [proof]
    read_certificate(document)
    for wrong in (
        [proof, proof],
        [proof | {"x_i": 1}],
        [proof | {"K": [0], "x_K": [0]}],
        [proof | {"K": [1]}],
        [proof | {"flows": [[1, 1, 0.5]]}],
        [proof | {"flows": [[0, 1, -0.5]]}],
        [proof | {"multiplier": float("nan")}],
        [proof | {"more": 1}],
    ):
        details["proofs"] = wrong
        with pytest.raises(StatementError, match="proofs"):
            read_certificate(document)
