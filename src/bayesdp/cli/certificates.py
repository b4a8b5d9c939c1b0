"""`verify`, `sign` and `key`: certificates after a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bayesdp.cli.common import CertificatePath, Json, app, command, group, print_json, say

key_app = group("key", "bayesdp key new me.key", "Keys to sign certificates with.")


@command(app, "bayesdp verify heights-e59eb7cd.certificate.json")
def verify(
    cert: CertificatePath,
    public_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also ask for a signature by this key (see key new)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Re-derive a certificate, without the data, and say who signed it."""
    from dataclasses import replace

    from bayesdp.signature import read_public_key
    from bayesdp.verification import reader_of, signed_by, verdict_on

    document = reader_of(cert, "CERT")()
    verification = verdict_on(document)
    trusted = [] if public_key is None else [read_public_key(public_key)]
    verification = replace(verification, signature=signed_by(document, trusted))
    if as_json:
        print_json(verification.to_dict())
    else:
        lines = str(verification)
        typer.echo(lines)
        names_signature = any(line.startswith("Signature: ") for line in lines.splitlines())
        if trusted and verification.signature == "not signed" and not names_signature:
            typer.echo("Signature: not signed")
    missing = bool(trusted) and verification.signature != "signed by a trusted key"
    if not verification or missing:
        raise typer.Exit(1)


def _certificate(path: Path) -> dict[str, Any]:
    from bayesdp.certificate import Certificate
    from bayesdp.verification import reader_of

    read_strictly = reader_of(path, "CERT")
    Certificate.load(path)  # its error says what is wrong with a file that is not a certificate
    document = read_strictly()
    assert isinstance(document, dict)
    return document


@command(app, "bayesdp sign heights-e59eb7cd.certificate.json --key me.key")
def sign(
    cert: CertificatePath,
    key: Annotated[Path, typer.Option(metavar="FILE", help="The private key (see key new).")],
) -> None:
    """Add a signature to a certificate: it says who vouches for it, not that it is right."""
    from bayesdp import signature

    signature.sign_file(cert, _certificate(cert), signature.read_private_key(key))
    say(f"Signed: {cert}", err=False)


@command(key_app, "bayesdp key new me.key", "new")
def key_new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The public key goes to FILE.pub.")],
) -> None:
    """Make a key: FILE is to be kept secret, FILE.pub to be handed out."""
    from bayesdp.signature import write_key

    public = write_key(file)
    say(f"Private key: {file} (keep it secret)\nPublic key: {public}", err=False)
