"""`bayesdp.verify`: the kernel's verdict on a certificate.

Everything is decided by `bayesdp.kernel`, which reads what the certificate states and imports
nothing else of this package but `statements`. What can't be seen without the data and the ledger:
whether the numbers are those that were released, and whether spends were left out together with all
that they add up to.

About folds in programs the kernel relies on solvers, which it doesn't ask. They are asked again
here, about what the kernel derives, where they are installed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bayesdp import notebook
from bayesdp.certificate import Certificate
from bayesdp.errors import InputError, as_shown, text_of_file
from bayesdp.kernel import Verdict
from bayesdp.kernel.programs import STATED, obligations_of
from bayesdp.release.certificates.assumptions import said_once
from bayesdp.release.results.release import Release
from bayesdp.verification.claims import claim_of, claim_words
from bayesdp.verification.documents import NOT_SIGNED, check, read, signed_by

Checkable = Certificate | Release | Mapping[str, Any] | str | Path
"""A certificate, however somebody has it: see `reader_of`."""


@dataclass(frozen=True)
class Verification(Verdict):
    """The verdict on a certificate, true where it is valid. `print` shows it.

    `verdict` is `VALID ASSUMING`, `INVALID` or `UNKNOWN`; `assuming` are the assumptions in words,
    `step` and `reason` say where and why the certificate is not valid. `signature` says who signed
    it, in the words of `check_signature`; a signature that doesn't fit makes it INVALID. `claim` is
    what a valid certificate claims (`verification.claims`), empty for any other.
    """

    signature: str = NOT_SIGNED
    claim: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        claimed, assuming = claim_words(self.claim), said_once(self.assuming)
        lines = [
            self._headline(),
            *(["It claims:"] if claimed else []),
            *(f"  - {line}" for line in claimed),
            *(["It assumes:"] if assuming else []),
            *(f"  - {assumption}" for assumption in assuming),
            *self._signed(),
        ]
        return "\n".join(map(as_shown, lines))

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, the claim, what it assumes, and who signed it."""
        assuming = [(assumption,) for assumption in said_once(self.assuming)]
        claimed = [(line,) for line in claim_words(self.claim)]
        parts = [
            notebook.paragraph(self._headline()),
            notebook.table("It claims", ("that",), claimed) if claimed else "",
            notebook.table("It assumes", ("that",), assuming) if assuming else "",
            *map(notebook.paragraph, self._signed()),
        ]
        return "".join(parts)

    def _headline(self) -> str:
        return self.verdict + (f" ({self.step}: {self.reason})" if self.step else "")

    def _signed(self) -> list[str]:
        if self.signature != NOT_SIGNED:
            return [f"Signature: {self.signature}"]
        has_numbers = self.claim.get("subject") in ("release", "program")
        what = (
            "Signature: not signed, so nothing shows that its numbers are those that were released"
        )
        return [what] if has_numbers else []

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `bayesdp verify --json` prints it."""
        return super().to_dict() | {"claim": dict(self.claim), "signature": self.signature}


def verify(certificate: Checkable) -> Verification:
    """The verdict on a certificate: true for VALID ASSUMING, false for INVALID and UNKNOWN.

    `certificate` is a `Release`, a `Certificate`, its document as plain data, its text (it starts
    with a brace), or the name of a file. The digest is computed here: a file that was changed is
    INVALID, also where it was loaded before. So is one whose signature doesn't fit. Raises
    `InputError` for a file that can't be read or doesn't hold JSON, and for a value of any other
    type.
    """
    document = reader_of(certificate)
    try:
        return verdict_on(document())
    except RecursionError:
        return Verification("UNKNOWN", (), "content", "it is nested too deeply")
    except (TypeError, ValueError) as error:  # not JSON, so the kernel can't read it
        return Verification("INVALID", (), "content", f"malformed: {error}")


def reader_of(certificate: object, key: str = "certificate") -> Callable[[], object]:
    """A function that returns the certificate's document. Files are read now.

    Raises `InputError` at `key` for what can't be a certificate.
    """
    if isinstance(certificate, Release):
        return certificate.certificate.to_dict
    if isinstance(certificate, Certificate):
        return certificate.to_dict
    if isinstance(certificate, Mapping):
        return lambda: dict(certificate)
    if isinstance(certificate, str | Path):
        text = text_of(certificate, key)
        remedy = _remedy_for_toml(text)
        if remedy or not is_json(text):
            expected = "a certificate, which is JSON"
            raise InputError(key, str(certificate), expected=expected, remedy=remedy)
        return lambda: read(text)
    raise InputError(
        key,
        type(certificate).__name__,
        expected="the name of a file, its text, its document as a dict, a Certificate or a Release",
        remedy="Certificate.load returns a pair: pass the certificate, which comes first."
        if isinstance(certificate, tuple)
        else "",
    )


def _remedy_for_toml(text: str) -> str:
    """What to do with a study file, or another file of TOML tables; empty for any other text."""
    try:
        tables = [table for table in tomllib.loads(text).values() if table]
    except (ValueError, RecursionError):
        return ""
    if not tables:
        return ""  # an array of JSON may be the head of an empty table
    return (
        "This is a study file or another file in TOML. A release of a study writes a certificate: "
        "its name ends in .certificate.json."
    )


def text_of(file: str | Path, key: str) -> str:
    """The text itself, or that of the file of this name.

    Raises `InputError` at `key` for a file that can't be read.
    """
    if isinstance(file, str) and is_json(file):
        return file
    return text_of_file(Path(file), key)


def is_json(text: str) -> bool:
    """Whether a text is meant as a document. The kernel decides whether it holds a document."""
    return text.lstrip().startswith(("{", "["))


def verdict_on(document: object) -> Verification:
    """The verdict on a document, after asking the installed solvers again."""
    verdict = check(document)
    verification = Verification(
        verdict.verdict, verdict.assuming, verdict.step, verdict.reason, signed_by(document)
    )
    if not verification or not isinstance(document, Mapping):
        return verification
    verification = replace(verification, claim=claim_of(document))
    obligations = dict(_obligations(document["derivation"]))
    if not obligations:
        return verification
    from bayesdp.programs.check.solvers import answers

    answered = {text: answers(text) for text in obligations}
    for text, words in answered.items():
        wrong = [solver for solver, word in words.items() if word == "sat"]
        if wrong:
            who = " and ".join(wrong)
            reason = f"{who}, asked again here, found a counterexample to: {obligations[text]}"
            return Verification("INVALID", (), "obligations", reason, verification.signature)
    again = _in_words(list(answered.values()))
    assuming = [
        f"{assumption}; {again}" if _about_solvers(assumption) else assumption
        for assumption in verification.assuming
    ]
    return replace(verification, assuming=tuple(assuming))


def _obligations(step: object) -> Iterator[tuple[str, str]]:
    """The texts that solvers are asked, as the kernel derives them, and what each is about."""
    if not isinstance(step, Mapping):
        return
    if step.get("rule") == "program" and step["premises"] == []:
        yield from ((text, subject) for subject, text in obligations_of(step))
    for premise in step.get("premises", ()):
        yield from _obligations(premise)


def _about_solvers(assumption: str) -> bool:
    return assumption.startswith(STATED)


def _in_words(answers: list[dict[str, str]]) -> str:
    solvers = sorted({solver for words in answers for solver in words}, reverse=True)
    if not solvers:
        return "not asked again: no solver is installed (the extra 'programs' brings z3 and cvc5)"
    same = [solver for solver in solvers if all(words[solver] == "unsat" for words in answers)]
    parts = [f"{' and '.join(same)} say{'s' * (len(same) == 1)} the same"] if same else []
    parts += [f"{solver} does not decide" for solver in solvers if solver not in same]
    return f"asked again here: {', '.join(parts)}"
