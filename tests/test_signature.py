"""Signatures: who vouches for a certificate. What was changed, or signed by others, is told."""

from __future__ import annotations

import base64
import copy
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bayesdp.certificate import Certificate, Step, content_of, digest
from bayesdp.cli import app
from bayesdp.errors import InputError, Refusal, UnsupportedError
from bayesdp.kernel import check
from bayesdp.report.explain import explain
from bayesdp.signature import (
    check_signature,
    new_key,
    read_private_key,
    read_public_key,
    sign,
    write_key,
)

PAIR = '{"model": "clusters", "size": 2}'
TRUSTED, UNKNOWN = "signed by a trusted key", "signed by an unknown key"


def certificate() -> dict[str, Any]:
    step = Step("release", {"notion": "dp", "epsilon": 0.1 + 0.2}, {"total": 1.0})
    body = {"claim": {"epsilon": 1e-300}, "who": "Zoë", "n": 2**60}
    plain: dict[str, Any] = json.loads(Certificate(body, step).to_json())
    return plain


def run(*arguments: str, status: int = 0) -> Any:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == status, result.output
    return result


def test_signed_by_whom():
    key, other = new_key(), new_key()
    plain = certificate()
    signed = json.loads(json.dumps(sign(plain, key)))
    assert check_signature(plain) == "not signed"
    assert check_signature(signed) == UNKNOWN
    assert check_signature(signed, []) == UNKNOWN
    assert check_signature(signed, [other.public_key()]) == UNKNOWN
    assert check_signature(signed, [other.public_key(), key.public_key()]) == TRUSTED
    assert {k: v for k, v in signed.items() if k != "signature"} == plain
    backwards = dict(reversed(signed.items()))  # the order in which keys stand means nothing
    assert check_signature(backwards, [key.public_key()]) == TRUSTED
    with pytest.raises(Refusal):
        sign(signed, key)
    with pytest.raises(InputError):
        sign({"n": float("nan")}, key)


def test_forged():
    key, other = new_key(), new_key()
    signed = sign(certificate(), key)
    trusted = [key.public_key(), other.public_key()]
    swapped = base64.b64encode(other.public_key().public_bytes_raw()).decode()
    value = bytearray(base64.b64decode(signed["signature"]["value"]))
    value[3] ^= 1

    def changed(*path: str, to: Any) -> dict[str, Any]:
        document = copy.deepcopy(signed)
        place = document
        for part in path[:-1]:
            place = place[part]
        place[path[-1]] = to
        return document

    forgeries = [
        changed("claim", "epsilon", to=2e-300),
        changed("derivation", "rule", to="independent"),
        changed("extra", to=None),
        changed("n", to=float(2**60)),
        changed("signature", "public_key", to=swapped),
        changed("signature", "value", to=base64.b64encode(bytes(value)).decode()),
        changed("signature", "value", to="é"),
        changed("signature", "value", to=""),
        changed("signature", "value", to=None),
        changed("signature", "public_key", to="AAAA"),
        changed("signature", "algorithm", to="none"),
        changed("signature", to=None),
        changed("signature", to="trust me"),
        changed("signature", to={}),
        changed("signature", "more", to=1),
        changed("n", to=float("inf")),
    ]
    for document in forgeries:
        assert check_signature(document, trusted) == "FORGED", document
    # Another certificate under a good signature, and one that another key signed anew.
    moved = certificate() | {"who": "Zoe", "signature": signed["signature"]}
    assert check_signature(moved, trusted) == "FORGED"
    assert check_signature(sign(certificate(), other), trusted[:1]) == UNKNOWN


def test_keys_are_private_and_never_overwritten(tmp_path: Path):
    old = os.umask(0)
    try:
        public = write_key(tmp_path / "mine")
    finally:
        os.umask(old)
    assert public == tmp_path / "mine.pub"
    assert stat.S_IMODE((tmp_path / "mine").stat().st_mode) == 0o600
    before = (tmp_path / "mine").read_bytes()
    with pytest.raises(InputError, match="never overwritten"):
        write_key(tmp_path / "mine")
    public.unlink()
    with pytest.raises(InputError, match="never overwritten"):
        write_key(tmp_path / "mine")
    assert (tmp_path / "mine").read_bytes() == before
    (tmp_path / "other.pub").write_text("somebody else's")
    with pytest.raises(InputError, match="never overwritten"):
        write_key(tmp_path / "other")
    assert not (tmp_path / "other").exists()
    with pytest.raises(InputError):
        write_key(tmp_path / "nowhere" / "key")
    key = read_private_key(tmp_path / "mine")
    assert check_signature(sign(certificate(), key), [key.public_key()]) == TRUSTED


def test_files_that_are_no_keys(tmp_path: Path):
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    write_key(tmp_path / "mine")
    other = ec.generate_private_key(ec.SECP256R1())
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    (tmp_path / "curve").write_bytes(other.private_bytes(pem, form, serialization.NoEncryption()))
    locked = serialization.BestAvailableEncryption(b"secret")
    (tmp_path / "locked").write_bytes(new_key().private_bytes(pem, form, locked))
    (tmp_path / "text").write_bytes(b"\xff no key")
    for name in ("curve", "locked", "text", "mine.pub", "nothing"):
        with pytest.raises(InputError, match="--key"):
            read_private_key(tmp_path / name)
    for name in ("mine", "curve", "text", "nothing"):
        with pytest.raises(InputError, match="--public-key"):
            read_public_key(tmp_path / name)


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    run("leakage", PAIR, "--epsilon", "0.5", "--certificate", "c.json")
    run("key", "new", "mine")
    run("key", "new", "other")
    run("key", "new", "mine", status=2)
    assert "Signature" not in run("verify", "c.json").stdout
    assert "not signed" in run("verify", "c.json", "--public-key", "mine.pub", status=1).stdout
    assert json.loads(run("verify", "c.json", "--json").stdout)["signature"] == "not signed"
    run("sign", "c.json", "--key", "mine")
    run("sign", "c.json", "--key", "mine", status=1)
    assert [path.name for path in tmp_path.glob(".*")] == []
    assert run("verify", "c.json").stdout.endswith(f"Signature: {UNKNOWN}\n")
    assert TRUSTED in run("verify", "c.json", "--public-key", "mine.pub").stdout
    assert UNKNOWN in run("verify", "c.json", "--public-key", "other.pub", status=1).stdout
    run("verify", "c.json", "--public-key", "mine", status=2)
    # Whatever is claimed with a digest made anew, better or worse, the signature no longer fits.
    signed = json.loads(Path("c.json").read_text())
    assert check(signed).verdict == "VALID ASSUMING"
    for epsilon in (0.9, 1.1):
        loaded, _ = Certificate.load(Path("c.json"))
        loaded.body["claim"]["epsilon"] = epsilon
        forged = loaded.to_dict() | {"signature": signed["signature"]}
        forged["digest"] = digest(content_of(forged))
        Path("forged.json").write_text(json.dumps(forged))
        for extra in ((), ("--public-key", "mine.pub")):
            said = run("verify", "forged.json", *extra, "--json", status=1).stdout
            verdict = json.loads(said)
            assert (verdict["verdict"], verdict["step"]) == ("INVALID", "signature")
            assert verdict["signature"] == "FORGED"
        assert run("verify", "forged.json", status=1).stdout.startswith(
            "INVALID (signature: FORGED"
        )
        assert "This certificate is forged" in run("explain", "forged.json", status=1).stdout
    # What is damaged is not signed.
    forged["claim"]["epsilon"] = 0.5
    del forged["signature"]
    Path("forged.json").write_text(json.dumps(forged))
    assert "damaged" in run("sign", "forged.json", "--key", "mine", status=1).output


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Verifying works without it, except where a signature is asked for."""
    monkeypatch.chdir(tmp_path)
    run("leakage", PAIR, "--epsilon", "0.5", "--certificate", "plain.json")
    run("leakage", PAIR, "--epsilon", "0.5", "--certificate", "signed.json")
    run("key", "new", "mine")
    run("sign", "signed.json", "--key", "mine")
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(UnsupportedError, match=r"bayesdp\[signing\]"):
        new_key()
    run("verify", "plain.json")
    unchecked = run("verify", "signed.json", status=1).stdout
    assert unchecked.startswith("UNKNOWN (signature: not checked")
    assert "bayesdp[signing]" in unchecked
    assert explain(Path("signed.json")).verdict == "UNKNOWN"
    for command in (
        ("key", "new", "fresh"),
        ("sign", "plain.json", "--key", "mine"),
        ("verify", "signed.json", "--public-key", "mine.pub"),
        ("verify", "plain.json", "--public-key", "mine.pub"),
    ):
        assert "bayesdp[signing]" in run(*command, status=2).output
    assert not Path("fresh").exists()


def test_a_leakage_certificate_is_of_one_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    run("leakage", PAIR, "--epsilon", ".5", "--delta", "1e-6", "--certificate", "d.json")
    assert json.loads(Path("d.json").read_text())["claim"]["delta"] > 2e-6
    run("verify", "d.json")
    run("leakage", PAIR, "--epsilon", ".5", "--certificate", "nowhere/c.json", status=2)
    chain = '{"model": "markov", "transition": [[0.9, 0.1], [0.3, 0.7]], "length": 50}'
    read_back = json.loads(
        run("leakage", chain, "--epsilon", ".5", "--certificate", "c.json", "--json").stdout
    )
    written = json.loads(Path("c.json").read_text())
    assert written["claim"]["epsilon"] == pytest.approx(read_back["best"]["epsilon"], rel=1e-9)
    assert written["derivation"]["rule"] == read_back["best"]["theorem"]
    run("verify", "c.json")
    assert not list(tmp_path.glob("ledger*"))
