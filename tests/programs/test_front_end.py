"""The front end by itself: odd files, exact numbers, places, programs imported in Python."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from bayesdp.errors import InputError
from bayesdp.programs import ProgramSource
from bayesdp.programs.check.checker import ProgramVerdict
from bayesdp.programs.checked_files import refused, verdict_in
from bayesdp.programs.ir import Branch, Derive, Expr, Release
from bayesdp.programs.number_text import decimal, distinct_decimals, rounded_up, suggested
from bayesdp.programs.source import CODES, ProgramError, core_of, exact, read_text
from bayesdp.programs.source.syntax.literals import setting

ROOT = Path(__file__).parents[2]
HEAD = (
    "from bayesdp.programs import Bool, Database, Int, Private, Real, Vector, count, laplace, "
    "program\n\n\n"
)


def program_of(value: str, *, before: str = "", returns: str = "Real") -> str:
    body = f"@program\ndef f(obs: Database[Bool]) -> Private[{returns}]:\n"
    return HEAD + body + before + f"    return {value}\n"


def verdict_on(text: str) -> ProgramVerdict:
    try:
        return verdict_in(read_text(text))
    except ProgramError as error:
        return refused(error, None)


NOISY = "laplace(sum(obs), epsilon=1)"
DEEP = {
    "a long sum": program_of(NOISY + " + 1" * 40_000),
    "a deep sum": program_of(f"{NOISY} + " + "(" * 90 + "1" + ")" * 90),
    "too many parentheses": program_of("(" * 5000 + "1" + ")" * 5000),
    "many signs": program_of("-" * 50_000 + "1"),
    "many nots": program_of("not " * 20_000 + "True"),
    "a long condition": program_of("1 if " + " and ".join(["obs.size > 1"] * 20_000) + " else 0"),
    "a long chain of names": program_of("obs" + ".size" * 20_000),
    "a long chain of entries": program_of("obs" + "[0]" * 20_000),
    "a long chain of calls": program_of("obs" + "()" * 20_000),
    "many powers": program_of("2" + " ** 2" * 20_000),
    "a deep constant": HEAD + "X = " + "[" * 190 + "1" + "]" * 190 + "\n",
    "a long constant": HEAD + "X = 1" + " + 1" * 60_000 + "\n",
    "a deep type": HEAD + "X = " + "Database[" * 180 + "Bool" + "]" * 180 + "\n",
    "deep blocks": program_of(
        NOISY, before="".join("    " * i + "if obs.size > 1:\n" for i in range(1, 90))
    ),
    "a long file": HEAD + "# " + "x" * 200_000,
    "a null byte": HEAD + "X = '\0'\n",
    "a lone surrogate": HEAD + "X = '\ud800'\n",
    "many digits": program_of("9" * 6000),
    "many decimals": program_of("0." + "1" * 100_000),
    "many statements": program_of("x", before="    x = laplace(sum(obs), epsilon=1)\n" * 500),
    "a long string": program_of("'" + "x" * 150_000 + "'"),
    "tabs and feeds": program_of(NOISY, before="\x0c    x = 1\n").replace("    ", "\t"),
    "an empty file": "",
    "only a text": '"""Nothing."""\n',
    "a non-character": HEAD + "X = '\uffff'\n",
    "invisible letters": HEAD + "la\u200bplace = 1\n",
}


@pytest.mark.parametrize("name", DEEP)
def test_odd_files_have_a_verdict_or_no_program(name: str) -> None:
    if name in ("an empty file", "only a text", "a deep constant", "a non-character"):
        with pytest.raises(InputError, match="a file with a @program function"):
            verdict_on(DEEP[name])
        return
    verdict = verdict_on(DEEP[name])
    if verdict.verdict != "ACCEPTED":
        assert verdict.code in CODES
        assert verdict.reason
        assert verdict.line is not None
        assert len(verdict.shown) < 1000


def laplace_of(text: str) -> Release:
    program = core_of(read_text(text), None, {})
    (item,) = (statement for statement in program.body if isinstance(statement, Release))
    return item


@pytest.mark.parametrize(
    ("written", "exact"),
    [
        ("0.1", Fraction(1, 10)),
        ("0.1 + 0.2", Fraction(3, 10)),
        ("1 / 3", Fraction(1, 3)),
        ("1e-49", Fraction(1, 10**49)),
        ("1_000.5", Fraction(2001, 2)),
        ("5.", Fraction(5)),
        (".25", Fraction(1, 4)),
        ("0x10", Fraction(16)),
        ("2**-3", Fraction(1, 8)),
        ("9007199254740993.0", Fraction(9007199254740993)),
        ("7 // 2 - 7 % 2", Fraction(2)),
        ("min(0.3, 1 / 3)", Fraction(3, 10)),
        ("sum((0.1,) * 10)", Fraction(1)),
        ("abs(-0.7)", Fraction(7, 10)),
        ("(0.1, 0.2)[1]", Fraction(1, 5)),
        ("len((1, 2, 3)) / 10", Fraction(3, 10)),
    ],
)
def test_numbers_are_exact(written: str, exact: Fraction) -> None:
    options = dict(laplace_of(program_of(f"laplace(sum(obs), epsilon={written})")).options)
    assert options["epsilon"] == Expr("const", (), (exact,))


def test_decimals_after_letters_of_two_bytes_are_read_at_their_place() -> None:
    text = program_of("laplace(sum(obs), epsilon=0.2 if 'ü' == 'é' else 0.1)")
    assert dict(laplace_of(text).options)["epsilon"].data == (Fraction(1, 10),)


def test_places_count_characters() -> None:
    text = HEAD + "Größe = 'äöü'; X = nowhere\n"
    with pytest.raises(ProgramError) as caught:
        read_text(text, "ä.py")
    actual = caught.value.diagnostic
    assert actual.where is not None
    line = text.splitlines()[actual.where.line - 1]
    assert line[actual.where.column - 1 : actual.where.end - 1] == "nowhere"
    assert str(caught.value).endswith(" " * (4 + line.index("nowhere")) + "^^^^^^^")


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_editors_count_them(ends: str) -> None:
    text = program_of(NOISY, before='    x = "a\x0cb"\n    y = nowhere\n')
    verdict = verdict_on(text.replace("\n", ends))
    assert (verdict.code, verdict.line) == ("name", 7)
    assert verdict.shown.splitlines()[-2].strip() == "y = nowhere"


def test_a_sensitivity_and_its_message_are_exact() -> None:
    text = program_of("laplace(sum(obs) / 3, epsilon=1, sensitivity=0.3333333333)")
    verdict = verdict_on(text)
    assert verdict.code == "sensitivity"
    again = verdict_on(text.replace("0.3333333333", "1 / 3"))
    assert again.verdict == "ACCEPTED"


def test_two_different_numbers_are_shown_as_different() -> None:
    hair = Fraction(1, 10**30)
    low, high = distinct_decimals(2 - hair, Fraction(2))
    assert (Fraction(low) <= 2 - hair, high) == (True, "2")
    low, high = distinct_decimals(Fraction(1, 3), Fraction(1, 3) + hair)
    assert Fraction(low) < Fraction(high)
    assert Fraction(high) >= Fraction(1, 3) + hair
    low, high = distinct_decimals(-hair, Fraction(0))
    assert (Fraction(low) <= -hair, high) == (True, "0")
    assert distinct_decimals(Fraction(1, 2), Fraction(1)) == ("0.5", "1")


def test_tiny_numbers_are_shown_as_they_are() -> None:
    assert suggested(Fraction(1, 10**30)) == "1e-30"
    assert suggested(Fraction(1, 10**300)) == "1e-300"
    third = suggested(Fraction(1, 3 * 10**30))
    assert third.endswith("e-31")
    assert Fraction(1, 3 * 10**30) <= Fraction(third) < Fraction(1, 10**30)


UNSEEN = {
    "the other direction": "\u202e",
    "no width": "\u200b",
    "a soft hyphen": "\u00ad",
    "another line": "\u2028",
    "a tag": "\U000e0061",
    "an old control": "\x0b",
    "a bell": "\x07",
    "the next line": "\x85",
}


@pytest.mark.parametrize("where", ["comment", "text", "name", "before"])
@pytest.mark.parametrize("name", UNSEEN)
def test_what_nobody_sees_is_refused(name: str, where: str) -> None:
    letter, text = UNSEEN[name], program_of(NOISY)
    changed = {
        "comment": text.replace("\n", f"  # é{letter}\n", 1),
        "text": text.replace("\n", f'\nWORD = "é{letter}"\n', 1),
        "name": text.replace("laplace(", f"lapl{letter}ace("),
        "before": letter + text,
    }[where]
    verdict = verdict_on(changed)
    assert (verdict.verdict, verdict.code) == ("REJECTED", "syntax")
    assert f"U+{ord(letter):04X}" in verdict.reason
    assert letter not in verdict.shown


def test_what_everybody_sees_is_read() -> None:
    text = program_of(NOISY).replace("\n", "  # é\tü, 中文\n", 1)
    assert verdict_on(text).verdict == "ACCEPTED"
    assert verdict_on(text.replace("\n", "\r\n")).verdict == "ACCEPTED"


@pytest.mark.parametrize("typed", ["１", "0.５", "٣", "1\u200b", "−1"])
def test_digits_of_other_scripts_are_texts(typed: str) -> None:
    assert setting(typed) == typed


@pytest.mark.parametrize("value", [10**50, Fraction(1, 10**50), 1e300, 1e-300, float("inf")])
def test_arguments_have_as_many_digits_as_literals(value: object) -> None:
    with pytest.raises(InputError, match="digits"):
        exact("level", value)


def test_shown_numbers_never_understate() -> None:
    assert [decimal(Fraction(item)) for item in ("1/2", "3", "1/3", "-1/8", "1/1000000")] == [
        "0.5", "3", "1/3", "-0.125", "0.000001",
    ]  # fmt: skip
    for value in (Fraction(1, 3), Fraction(3, 10), Fraction(2, 3), Fraction(1, 7)):
        assert Fraction(repr(rounded_up(value))) >= value
        assert rounded_up(value) - float(value) <= 1e-15


def test_a_program_imported_in_python(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        program_of(NOISY) + "\n\n@program(epsilon=0.5)\ndef dear(obs: Database[Bool]) -> "
        f"Private[Real]:\n    return {NOISY}\n"
    )
    code = (
        "import os, mine\n"
        "print(repr(mine.f))\n"
        "os.chdir('/')\n"  # a program knows its file wherever one goes
        "print(mine.f.check().verdict, mine.f.check(n=537).n, mine.dear.check().code)\n"
        "print(str(mine.f.check()).splitlines()[0])\n"
        "try: mine.laplace(1)\n"
        "except TypeError as error: print(error)\n"
    )
    env = {"PYTHONPATH": f"{ROOT / 'src'}:{tmp_path}"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=env,
        check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == [
        "<program f of mine.py>",
        "ACCEPTED 537 budget",
        "ACCEPTED f: (1, 0)-differentially private when one record is replaced, for every number "
        "of records that it admits.",
        "laplace is part of a program, and programs are read, not run as Python. Use "
        "PROGRAM.check() or PROGRAM.run(table, ...).",
    ], done.stderr


def test_a_program_without_a_file_says_so() -> None:
    with pytest.raises(InputError, match="save it in a file"):
        ProgramSource(None, "typed").check()


@pytest.mark.parametrize("n", [0, -1, True, 1.5, "7"])
def test_a_number_of_records_is_a_number(n: object) -> None:
    with pytest.raises(InputError, match="a number of records"):
        verdict_in(read_text(program_of(NOISY)), None, n)  # type: ignore[arg-type]


def test_the_page_explains_every_kind_of_refusal() -> None:
    page = (ROOT / "docs" / "programs.md").read_text(encoding="utf-8")
    assert [code for code in CODES if f"`{code}`" not in page] == []


def test_half_a_character_is_no_label() -> None:
    """It was accepted, and no table could be read against it."""
    for written in (r"\ud800", r"a\udfff"):
        for text in (
            f'{HEAD}@program\ndef f(db: Database[Category["{written}", "b"]]) -> Private[Int]:\n'
            '    return laplace(count(x for x in db if x == "b"), epsilon=1)\n',
            program_of(NOISY).replace("\n", f'\nWORD = "{written}"\n', 1),
        ):
            verdict = verdict_on(text)
            assert (verdict.verdict, verdict.code) == ("REJECTED", "syntax")
            assert "half a character" in verdict.reason
            verdict.shown.encode()


CHOSEN = (
    "from bayesdp.programs import Beta, Bool, Database, Private, bernoulli, beta, count, laplace, "
    "noise_aware, observe, program, statistics\n\n\n"
    "@program\ndef f(obs: Database[Bool]) -> Private[Beta]:\n"
    "    k = laplace(count(obs), epsilon=1)\n    if k > 3:\n        {}\n    else:\n        {}\n"
    "    return {}\n"
)


def numbers_of(prior: Expr) -> list[object]:
    return [argument.data[0] for argument in prior.args]


def test_what_follows_a_branch_is_derived_inside_it_from_each_side_s_own_model() -> None:
    side = "noisy = laplace(statistics(observe(obs, bernoulli, prior=beta({}, 2))), epsilon=1)"
    text = CHOSEN.format(side.format(1), side.format(5), "noise_aware(noisy)")
    program = core_of(read_text(text), "f", {})
    (branch,) = (statement for statement in program.body if isinstance(statement, Branch))
    joined = []
    for commands, a in ((branch.then, 1), (branch.otherwise, 5)):
        release = next(command for command in commands if isinstance(command, Release))
        derived = [command for command in commands if isinstance(command, Derive)]
        (posterior,) = (step for step in derived if step.value.op == "noise-aware")
        noisy, model = posterior.value.args
        assert noisy == Expr("public", (), (release.name,))
        assert numbers_of(model.args[2]) == [a, 2]
        assert derived[-1].value == Expr("public", (), (posterior.name,))
        joined.append(derived[-1].name)
    assert joined[0] == joined[1]
    assert program.returns == (Expr("public", (), (joined[0],)),)


def test_a_condition_chooses_between_the_numbers_of_priors() -> None:
    returned = "noise_aware(laplace(statistics(observe(obs, bernoulli, prior=p)), epsilon=1))"
    text = CHOSEN.format("p = beta(1, 2)", "p = beta(3, 2)", returned)
    program = core_of(read_text(text), "f", {})
    last = program.body[-1]
    assert isinstance(last, Derive)
    prior = last.value.args[1].args[2]
    assert (prior.op, prior.data) == ("prior", ("beta",))
    a, b = prior.args
    assert a.op == "if"
    assert [argument.data[0] for argument in a.args[1:]] == [1, 3]
    assert (b.op, b.data) == ("const", (2,))


def test_a_private_choice_is_called_private_and_a_public_one_is_not() -> None:
    said = {
        "p = obs": "private values",
        "p = laplace(count(obs), epsilon=1)": "a beta prior or a number",
        "p = (1, 2)": "a beta prior or a tuple of 2",
    }
    for other, words in said.items():
        verdict = verdict_on(CHOSEN.format("p = beta(1, 1)", other, "p"))
        assert verdict.verdict == "REJECTED"
        assert words in verdict.reason, verdict.reason
        assert ("private" in verdict.reason) == (words == "private values")
