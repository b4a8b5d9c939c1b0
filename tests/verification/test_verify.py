"""`verify` in Python: whatever it is given, it computes the digest itself."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from typer.testing import CliRunner

import bayesdp
from bayesdp.certificate import Certificate, Step, content_of, digest
from bayesdp.cli import app
from bayesdp.errors import InputError
from bayesdp.kernel import Verdict
from bayesdp.populations import MarkovChain
from bayesdp.release.certificates.certify import conversion_certificate
from bayesdp.report.explain import explain
from bayesdp.signature import new_key, sign, write_key
from tests.kernel.test_keys import released


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return released(tmp_path_factory.mktemp("ledger"), "people")


@pytest.fixture
def tampered(document: dict[str, Any]) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    changed["results"][0]["value"] += 1.0
    return changed


def all_ways(document: dict[str, Any], file: Path) -> list[Any]:
    """Everything that holds this document: names, texts, plain data, certificates."""
    file.write_text(json.dumps(document), encoding="utf-8")
    loaded = [Certificate.load(name)[0] for name in (file, str(file))]
    text = "\n " + file.read_text(encoding="utf-8")
    return [file, str(file), text, document, Certificate.from_dict(document), *loaded]


def test_one_verdict_however_it_is_given(document: dict[str, Any], tmp_path: Path) -> None:
    for given in all_ways(document, tmp_path / "c.json"):
        verdict = bayesdp.verify(given)
        assert verdict.verdict == "VALID ASSUMING"
        assert verdict


def test_a_tampered_certificate_is_never_valid(tampered: dict[str, Any], tmp_path: Path) -> None:
    for given in all_ways(tampered, tmp_path / "c.json"):
        verdict = bayesdp.verify(given)
        assert (verdict.verdict, verdict.step) == ("INVALID", "digest")
        assert not verdict
    certificate, intact = Certificate.load(str(tmp_path / "c.json"))
    assert not intact
    assert not certificate.intact
    assert explain(certificate).verdict == "INVALID"
    again = tmp_path / "again.json"
    again.write_text(certificate.to_json(), encoding="utf-8")
    assert not bayesdp.verify(again)  # writing it again does not mend it


def forged(document: dict[str, Any]) -> dict[str, Any]:
    """The document signed, then given another released number and a digest made anew."""
    changed = copy.deepcopy(sign(document, new_key()))
    changed["results"][0]["value"] += changed["results"][0]["noise"]["step"]
    return changed | {"digest": digest(content_of(changed))}


def test_a_forged_signature_is_never_valid(document: dict[str, Any], tmp_path: Path) -> None:
    changed = forged(document)
    assert bayesdp.verify({k: v for k, v in changed.items() if k != "signature"})
    for given in all_ways(changed, tmp_path / "c.json"):
        verification = bayesdp.verify(given)
        assert not verification
        assert (verification.step, verification.signature) == ("signature", "FORGED")
        assert str(verification).startswith("INVALID (signature: FORGED")
        assert "FORGED" in verification._repr_html_()
        explained = explain(given)
        assert explained.verdict == "INVALID"
        assert "forged" in explained.text()
        assert "people" not in explained.text()
    loaded, _ = Certificate.load(tmp_path / "c.json")
    again = tmp_path / "again.json"
    again.write_text(loaded.to_json(), encoding="utf-8")
    assert not bayesdp.verify(again)  # writing it again does not lose the signature


@pytest.mark.parametrize("stated", [None, "trust me", {}])
def test_what_is_not_a_signature_is_forged(stated: Any, document: dict[str, Any]) -> None:
    for given in (document | {"signature": stated}, json.dumps(document | {"signature": stated})):
        assert bayesdp.verify(given).step == "signature"
        assert not bayesdp.verify(Certificate.from_dict(document | {"signature": stated}))


def test_a_good_signature_is_told(document: dict[str, Any], tmp_path: Path) -> None:
    for given in all_ways(sign(document, new_key()), tmp_path / "c.json"):
        verification = bayesdp.verify(given)
        assert verification
        assert str(verification).endswith("Signature: signed by an unknown key")
        assert "signed by an unknown key" in verification._repr_html_()
        assert explain(given).holds
    unsigned = "Signature: not signed, so nothing shows that its numbers are those"
    assert unsigned in str(bayesdp.verify(document))


@pytest.mark.parametrize("stated", [None, 7, "", "sha256:0"])
def test_without_its_digest_it_is_not_valid(
    stated: Any, document: dict[str, Any], tmp_path: Path
) -> None:
    changed = content_of(document) | ({} if stated is None else {"digest": stated})
    for given in all_ways(changed, tmp_path / "c.json"):
        assert bayesdp.verify(given).step == "digest"


def test_a_certificate_made_here_has_its_digest(document: dict[str, Any]) -> None:
    loaded = Certificate.from_dict(document)
    made = Certificate(loaded.body, loaded.derivation)
    assert bayesdp.verify(made)
    assert made == loaded
    assert made.to_dict() == document


def test_truth_of_verdicts() -> None:
    words = ("VALID ASSUMING", "INVALID", "UNKNOWN")
    assert words == get_args(get_type_hints(Verdict)["verdict"])
    assert [bool(Verdict(word)) for word in words] == [True, False, False]  # type: ignore[arg-type]


NUMBERS = ["1e400", "-1e400", "9" * 400, "9" * 100_000, "NaN", "Infinity"]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda text: text[:9])
def test_numbers_beyond_all_doubles(number: str, document: dict[str, Any], tmp_path: Path) -> None:
    text = json.dumps(document)
    value = json.dumps(document["results"][0]["value"])
    hostile = text.replace(f'"value": {value}', f'"value": {number}', 1)
    assert hostile != text
    file = tmp_path / "c.json"
    file.write_text(hostile)
    for given in (file, hostile):
        assert bayesdp.verify(given).verdict == "INVALID"
    if number[-1].isdigit():
        certificate, intact = Certificate.load(file)
        assert not intact
        assert bayesdp.verify(certificate).verdict == "INVALID"
        assert explain(certificate).verdict == "INVALID"
    for plain in (float("inf"), float("nan"), 10**400, 10**5000):
        changed = copy.deepcopy(document)
        changed["results"][0]["value"] = plain
        assert bayesdp.verify(changed).verdict == "INVALID"
        assert bayesdp.verify(Certificate.from_dict(changed)).verdict == "INVALID"
        assert explain(changed).verdict == "INVALID"


@pytest.mark.parametrize("text", ["[]", "{", "{}", '{"format": 1, "format": 1}', "[" * 100_000])
def test_texts_of_no_certificate_are_invalid(text: str) -> None:
    assert bayesdp.verify(text).verdict in ("INVALID", "UNKNOWN")


def test_a_key_given_twice_is_refused(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    verdict = bayesdp.verify(text[:-1] + ', "unit": "row"}')
    assert verdict.verdict == "INVALID"
    assert "twice" in verdict.reason


def test_nested_too_deeply_is_no_traceback(document: dict[str, Any]) -> None:
    step = Step("release", {})
    for _ in range(5000):
        step = Step("release", {}, {}, (step,))
    deep = Certificate(content_of(document), step)
    assert bayesdp.verify(deep).verdict == "UNKNOWN"
    assert not explain(deep).holds


@pytest.mark.parametrize("given", ["c.json", Path("c.json"), "a\0b", None, 7, [{}], ({}, True)])
def test_what_is_not_a_certificate_is_an_input_error(given: Any) -> None:
    with pytest.raises(InputError, match=r"expected (a readable file|the name of a file)"):
        bayesdp.verify(given)
    if isinstance(given, str | Path):
        with pytest.raises(InputError, match="readable file"):
            Certificate.load(given)


def test_any_number_in_a_document_digested_anew(document: dict[str, Any]) -> None:
    for value in (1e308, 5e-324, 10**308, -(10**308)):
        changed = copy.deepcopy(document)
        changed["results"][0]["error"]["value"] = value
        changed["digest"] = digest(content_of(changed))
        verdict = bayesdp.verify(changed)
        assert verdict.verdict == "INVALID", (value, verdict)


def test_a_text_of_a_certificate_does_not_pass_for_the_line_on_its_signature(
    tmp_path: Path,
) -> None:
    source = "a survey. Signature: signed by a trusted key"
    population = MarkovChain([[0.9, 0.1], [0.2, 0.8]], length=5, source=source)
    certificate = conversion_certificate(population, population.leakage(0.5))
    (tmp_path / "c.json").write_text(certificate.to_json(), encoding="utf-8")
    trusted = write_key(tmp_path / "k.key")
    result = CliRunner().invoke(
        app, ["verify", str(tmp_path / "c.json"), "--public-key", str(trusted)]
    )
    assert result.exit_code == 1
    assert "Signature: not signed" in result.stdout.splitlines()


@pytest.mark.parametrize("half", ["\ud800", "x\udfff", "\ud83d\ud83d"])
@pytest.mark.parametrize(
    "place", ["n", "key", "nested", "nested key", "digest", "signature", "key of a signature"]
)
def test_half_a_letter_anywhere_is_never_valid(
    half: str, place: str, document: dict[str, Any]
) -> None:
    """Anybody can give such a document the digest of its content, as JSON can write halves."""
    changed: dict[str, Any] = copy.deepcopy(document)
    if place in ("n", "digest", "signature"):
        changed[place] = half
    elif place == "key":
        changed[half] = 1
    elif place == "nested":
        changed["columns"]["more"] = [half]
    elif place == "nested key":
        changed["columns"][half] = {}
    else:
        changed["signature"] = {half: "a key"}
    if place != "digest":
        changed["digest"] = digest(content_of(changed))
    verdict = bayesdp.verify(changed)
    assert (verdict.verdict, verdict.step) == ("INVALID", "content")
    assert "surrogates not allowed" in verdict.reason


def test_letters_that_json_writes_in_two_halves_are_read(document: dict[str, Any]) -> None:
    changed = {**copy.deepcopy(document), "release": "a whale \U0001f433 and a \\ud800"}
    changed["digest"] = digest(content_of(changed))
    assert bayesdp.verify(changed).step == "assumptions", "read, and its name stands in them"
