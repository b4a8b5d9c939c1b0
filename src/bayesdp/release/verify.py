"""`bayesdp.verify`: the kernel's verdict on a certificate.

Everything is decided by `bayesdp.kernel`, which reads the certificate as plain JSON and imports
nothing else of this package. What can't be seen without the data and the ledger: whether the
numbers are those that were released, and whether spends were left out together with all that they
add up to.

About folds in programs the kernel relies on solvers, which it doesn't ask. They are asked again
here, about what the kernel derives, where they are installed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from bayesdp.certificate import Certificate
from bayesdp.errors import InputError
from bayesdp.kernel import Verdict, check
from bayesdp.kernel.programs import STATED, obligations_of

Verification = Verdict


def verify(certificate: Certificate | Mapping[str, Any], *, intact: bool = True) -> Verdict:
    """The verdict on a certificate in memory: a `Certificate`, or its document as plain data.

    `intact` says whether a `Certificate`'s digest agreed when it was loaded; a document's own is
    checked here. `InputError` for anything else, such as the name of a file.
    """
    if not isinstance(certificate, Certificate | Mapping):
        raise InputError(
            "certificate",
            certificate,
            expected="a Certificate or its document as a dict",
            remedy="Of a file: certificate, intact = Certificate.load(Path(FILE)), then "
            "verify(certificate, intact=intact), or `bayesdp verify FILE`.",
        )
    if not intact:
        reason = "the content does not agree with the digest"
        return Verdict("INVALID", (), "digest", reason)
    document = certificate.to_dict() if isinstance(certificate, Certificate) else dict(certificate)
    return verdict_on(document)


def verdict_on(document: Mapping[str, Any]) -> Verdict:
    """The kernel's verdict on a document, with what solvers that are installed say themselves."""
    found = check(document)
    if found.verdict != "VALID ASSUMING":
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
