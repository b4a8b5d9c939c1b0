"""A password on the command line, or in a path that Python is given, is repeated nowhere."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from bayesdp.certificate import Certificate
from bayesdp.cli import app
from bayesdp.errors import InputError, password_hidden
from bayesdp.release.study import Study

SECRET = "canary-of-7/letters"
URL = f"postgresql://user:{SECRET}@host/database?table=t"


def _commands() -> list[list[str]]:
    """Every command there is, by its words."""
    import typer.main

    def below(group: object, words: list[str]) -> list[list[str]]:
        commands = getattr(group, "commands", None)
        if commands is None:
            return [words]
        return [
            each for name, command in commands.items() for each in below(command, [*words, name])
        ]

    return below(typer.main.get_command(app), [])


@pytest.mark.parametrize("words", [[], *_commands()], ids=" ".join)
@pytest.mark.parametrize(
    "given", [[URL], [f"--seed={URL}"], ["--no-such", URL], ["x", URL.replace("//", "/")]]
)
def test_no_command_repeats_a_password(words: list[str], given: list[str]) -> None:
    answer = CliRunner().invoke(app, [*words, *given])
    assert answer.exit_code == 2
    assert "canary" not in answer.output + answer.stderr + repr(answer.exception)
    assert "PGPASSWORD" in " ".join(answer.stderr.split())


@pytest.mark.parametrize(
    "plain",
    [
        "postgresql://user@host:5432/database?table=t",
        "postgresql://user:${NAME}@host/database?table=t",
        "sc://host:15002/;user_id=me@home?table=t",
        '{"source": "https://doi.org/10.1000/182", "author": "me@home"}',
        "sex == 'f:@'",
        "file:///folder/study.toml",
    ],
)
def test_what_has_no_password_is_shown_as_it_is(plain: str) -> None:
    assert password_hidden(plain) == plain


@pytest.mark.parametrize(
    "url", [URL, f"postgresql://user:{'canary' * 40}@host/d", f"x://:{SECRET}@h"]
)
def test_an_error_hides_it_in_values_keys_and_reasons(url: str) -> None:
    raised = [
        InputError("key", url, expected="x"),
        InputError("key", {"a": [url]}, expected="x"),
        InputError(url, 1, expected=f"x ({url})", remedy=url),
    ]
    for read in (Study.load, Certificate.load):
        with pytest.raises(InputError) as caught:
            read(url)
        raised.append(caught.value)
    for error in raised:
        assert "canary" not in f"{error} {error!r}"
