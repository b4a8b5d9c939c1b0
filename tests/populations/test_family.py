"""Families as data: members of one structure, columns named once."""

from __future__ import annotations

import pickle

import pytest

from bayesdp.errors import InputError
from bayesdp.populations import Clusters, Family, Independent, MarkovChain, parse

CHAIN = {"model": "markov", "transition": [[0.9, 0.1], [0.2, 0.8]], "length": 9}


def test_there_and_back() -> None:
    family = parse({"model": "family", "members": [CHAIN, {"model": "independent"}]})
    assert isinstance(family, Family)
    assert [type(member) for member in family.members] == [MarkovChain, Independent]
    assert parse(family.spec()) == family
    assert family.structure == "series"
    assert family.group_size == 9
    assert "; or " in family.describe()
    assert hash(family) == hash(parse(family.spec()))


def test_populations_themselves_are_members() -> None:
    family = Family(members=[Clusters(size=2), Clusters(size=5)])
    assert (family.structure, family.group_size) == ("cluster", 5)
    assert Family(members=[Independent()]).structure == "none"


@pytest.mark.parametrize(
    ("members", "word"),
    [
        ([CHAIN, {"model": "clusters", "size": 3}], "one structure"),
        ([CHAIN | {"covers": ["x"]}], "nothing here"),
        ("markov", "a list of populations"),
    ],
)
def test_what_does_not_go_together(members, word) -> None:
    with pytest.raises(InputError, match=word):
        parse({"model": "family", "members": members})


def test_a_wrong_member_is_named() -> None:
    for change, place in (
        ({"length": 0}, "length"),
        ({"transition": [[0.9, 0.2], [0.2, 0.8]]}, r"transition\[0\]"),
        ({"colour": "red"}, "colour"),
        ({"model": "markow"}, "model"),
    ):
        with pytest.raises(InputError, match=rf"population\.members\[1\]\.{place}"):
            parse({"model": "family", "members": [CHAIN, CHAIN | change]})


def test_equal_populations_have_equal_hashes_however_they_were_made() -> None:
    """A hash is kept with its population, and neither copied with changes nor written to files."""
    short, long = (
        parse({"model": "markov", "transition": [[0.5, 0.5], [0.2, 0.8]], "length": length})
        for length in (4, 5)
    )
    assert hash(short) != hash(long)
    copied = short.model_copy(update={"length": 5})
    assert (copied, hash(copied)) == (long, hash(long))
    assert b"_hash" not in pickle.dumps(short)
    assert hash(pickle.loads(pickle.dumps(short))) == hash(short)
