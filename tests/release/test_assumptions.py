"""Assumptions that several programs share are said once."""

from __future__ import annotations

from bayesdp.release.certificates.assumptions import said_once


def test_what_programs_share_is_said_once_and_nothing_is_lost() -> None:
    given = [
        "noise is drawn from OpenDP's samplers",
        "of the program 'a': the text is read: as it says",
        "of the program 'a': z3 alone says so",
        "of the program 'b, c': the text is read: as it says",
        "of the program 'd': the text is read: as it says",
        "the last one",
    ]
    assert said_once(given) == [
        "noise is drawn from OpenDP's samplers",
        "of the programs 'a', 'b, c' and 'd': the text is read: as it says",
        "of the program 'a': z3 alone says so",
        "the last one",
    ]
