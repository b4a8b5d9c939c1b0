"""`bayesdp.verify`: the kernel's verdict on a certificate.

Everything is decided by `bayesdp.kernel`, which reads the certificate as plain JSON and imports
nothing else of this package. What can't be seen without the data and the ledger: whether the
numbers are those that were released, and whether spends were left out together with all that they
add up to.

About folds in programs the kernel relies on solvers, which it doesn't ask. They are asked again
here, about what the kernel derives, where they are installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bayesdp.certificate import Certificate
from bayesdp.errors import InputError
from bayesdp.kernel import Verdict, check, read
from bayesdp.kernel.programs import STATED, obligations_of

Verification = Verdict


def verify(certificate: Certificate | Mapping[str, Any] | str | Path) -> Verdict:
    """The verdict on a certificate: true for VALID ASSUMING, false for all else.

    `certificate` is the name of a file, the text of one (it starts with a brace), its document as
    plain data, or a `Certificate`. The digest is computed here: a file that was changed is INVALID,
    also where it was loaded before. `InputError` for a file that can't be read, and for anything
    else.
    """
    if isinstance(certificate, Certificate):
        return _verdict_on(certificate.to_dict)
    if isinstance(certificate, Mapping):
        return _verdict_on(lambda: dict(certificate))
    if isinstance(certificate, str | Path):
        text = _text(certificate)
        return _verdict_on(lambda: read(text))
    raise InputError(
        "certificate",
        type(certificate).__name__,
        expected="the name of a file, its text, its document as a dict, or a Certificate",
        remedy="Of what Certificate.load returned: its first part."
        if isinstance(certificate, tuple)
        else "",
    )


def _text(certificate: str | Path) -> str:
    """The text itself, or that of the file of this name."""
    if isinstance(certificate, str) and certificate.lstrip().startswith(("{", "[")):
        return certificate
    try:
        return Path(certificate).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(
            "certificate", str(certificate), expected=f"a readable file ({error})"
        ) from None


def _verdict_on(document: Callable[[], Any]) -> Verdict:
    try:
        return verdict_on(document())
    except RecursionError:
        return Verdict("UNKNOWN", (), "content", "it is nested too deeply")
    except (TypeError, ValueError) as error:  # no JSON, so nothing that a kernel could read
        return Verdict("INVALID", (), "content", f"malformed: {error}")


def verdict_on(document: object) -> Verdict:
    """The kernel's verdict on a document, with what solvers that are installed say themselves."""
    found = check(document)
    if not found or not isinstance(document, Mapping):
        return found
    asked = dict(_obligations(document["derivation"]))
    if not asked:
        return found
    from bayesdp.programs.check.solvers import answers

    said = {text: answers(text) for text in asked}
    for text, words in said.items():
        wrong = [one for one, word in words.items() if word == "sat"]
        if wrong:
            who = " and ".join(wrong)
            reason = f"{who}, asked again here, found a counterexample to: {asked[text]}"
            return Verdict("INVALID", (), "obligations", reason)
    again = _in_words(list(said.values()))
    told = [f"{one}; {again}" if _about_solvers(one) else one for one in found.assuming]
    return replace(found, assuming=tuple(told))


def _obligations(step: object) -> Iterator[tuple[str, str]]:
    """The texts that solvers are asked, as the kernel derives them, and what each is about."""
    if not isinstance(step, Mapping):
        return
    if step.get("rule") == "program" and step["premises"] == []:
        yield from ((text, what) for what, text in obligations_of(step))
    for one in step.get("premises", ()):
        yield from _obligations(one)


def _about_solvers(assumption: str) -> bool:
    return assumption.startswith(STATED)


def _in_words(said: list[dict[str, str]]) -> str:
    solvers = sorted({one for words in said for one in words}, reverse=True)
    if not solvers:
        return "not asked again: no solver is installed (the extra 'programs' brings z3 and cvc5)"
    same = [one for one in solvers if all(words[one] == "unsat" for words in said)]
    parts = [f"{' and '.join(same)} say{'s' * (len(same) == 1)} the same"] if same else []
    parts += [f"{one} does not decide" for one in solvers if one not in same]
    return f"asked again here: {', '.join(parts)}"
