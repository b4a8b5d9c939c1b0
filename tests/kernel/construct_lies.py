"""Lies about programs with the newest constructs, each consistent but for one thing.

So a single check of `kernel/programs` refuses it: without that check the certificate is valid.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.kernel.construct_stories import honest
from tests.kernel.mutations import sealed
from tests.kernel.program_lies import (
    claimed,
    node_at,
    number_of,
    persons,
    program_of,
    release_of,
    stated,
)

Document = dict[str, Any]
Change = Callable[[Document], object]


def _argument(place: int, number: int) -> Callable[[Document], Any]:
    """An argument of a release, by the places of both."""
    return lambda document: release_of(document, place)["args"][number]


def _derived(document: Document) -> Any:
    """What is made of the released values: `noise-aware` or `plug-in`, with its arguments."""
    return next(item for item in program_of(document)["body"] if "derive" in item)["value"]


def _model(document: Document) -> Any:
    """The model behind the release."""
    return _derived(document)[1][-1]


def _scored(document: Document) -> Any:
    """The model of a choice by the Hellinger distance."""
    return release_of(document, 1)["args"][0][1][0][1][0]


def _put(where: Callable[[Document], Any], key: Any, value: Any) -> Change:
    return lambda document: where(document).__setitem__(key, copy.deepcopy(value))


def _node(name: str, **parts: Any) -> Change:
    return lambda document: node_at(document, name).update(parts)


def _norm(name: str, norm: str) -> Change:
    return lambda document: node_at(document, name)["sensitivity"].update(norm=norm)


def _public(name: str) -> list[Any]:
    return ["public", [], [name]]


def _field(name: str) -> list[Any]:
    return ["field", [], [name]]


TEXT = ["const", [], ["a"]]
YES = ["const", [], [True]]
ILL = ["sum", [["data", [YES, _field("ill")], [[]]]], []]
"""How many are ill, which is private."""


HUNDREDS = ["mul", [number_of("100"), _public("db.size")], []]
"""Large enough for any sum of ages, and private where records enter or leave."""
POISSON = ["likelihood", [number_of("1")], ["poisson"]]
GAMMA = ["prior", [number_of("1"), number_of("1")], ["gamma"]]


def _observed(document: Document, value: Any, likelihood: Any, prior: Any) -> None:
    """Another model of single records behind a choice by the Hellinger distance."""
    model = _scored(document)
    model[1][0][1][1] = copy.deepcopy(value)
    model[1][1:] = copy.deepcopy([likelihood, prior])


def _renamed(release: int, name: str) -> Change:
    """The candidate has the name of what was released before."""

    def change(document: Document) -> None:
        stated_release = release_of(document, release)
        score = stated_release["args"][1]
        (old,) = score[2]
        text = json.dumps(score).replace(json.dumps(old), json.dumps(name))
        stated_release["args"][1] = json.loads(text)

    return change


def _wider(release: int, value: Any, width: str) -> Change:
    """Another score of single records, with noise that is wide enough for it."""

    def change(document: Document) -> None:
        release_of(document, release)["args"][1][1][0] = copy.deepcopy(value)
        node_at(document, "per_record")["sensitivity"]["value"] = number_of(width)

    return change


def _asserted(value: str) -> Change:
    return lambda document: release_of(document, -1)["options"].update(sensitivity=number_of(value))


def _nothing_returned(document: Document) -> None:
    """What is returned is no part of the lie."""
    program_of(document).update(returns=[], return_types=[])


def _told_apart(document: Document) -> None:
    """By a protected column, in the words of that."""
    persons(document)["by"] = "day"
    document["assumptions"] = [
        words.replace("the same 'person'", "the same 'day'") for words in document["assumptions"]
    ]


def _in_model(*path: Any) -> Callable[[Document], Any]:
    def inside(document: Document) -> Any:
        node = _model(document)
        for key in path:
            node = node[key]
        return node

    return inside


def _in_scored(*path: Any) -> Callable[[Document], Any]:
    def inside(document: Document) -> Any:
        node = _scored(document)
        for key in path:
            node = node[key]
        return node

    return inside


PARAMETERS = (1, 1, 1)
"""The likelihood's parameters in a model; the prior's are at (1, 2, 1)."""
LIES: dict[str, tuple[str, Change]] = {
    # perturbed answers
    "a score of all records": ("perturbed rate", _put(_argument(0, 1), 0, "score")),
    "a filter that is a number": (
        "perturbed rate",
        lambda d: release_of(d, 0)["args"][0][1].__setitem__(0, number_of("1")),
    ),
    "a label as a score": ("perturbed rate", _wider(0, _field("arm"), "20")),
    "a vector as a score": (
        "perturbed rate",
        _wider(0, ["tuple", [_field("visits")], []], "20"),
    ),
    "a score with its ends turned": (
        "perturbed rate",
        _wider(0, ["clip", [_field("visits"), number_of("9"), number_of("1")], []], "20"),
    ),
    "answers in another norm": ("perturbed rate", _norm("per_record", "l1")),
    "answers that cost entering": ("perturbed rate", _node("per_record", entering="1")),
    "answers for less": ("perturbed rate", _node("per_record", epsilon="1/2")),
    "answers for less altogether": (
        "perturbed line",
        lambda d: (node_at(d, "per_record").update(epsilon="1/2"), claimed(d, epsilon="3/2")),
    ),
    "answers of less width": ("perturbed rate", lambda d: stated(d, "per_record", "8")),
    "numbers as answers": (
        "perturbed mean",
        lambda d: release_of(d, 0)["args"][0][1].__setitem__(1, _field("visits")),
    ),
    "a candidate of a release's name": (
        "perturbed mean",
        _renamed(1, "randomized_response_1"),
    ),
    "candidates with a private end": ("perturbed rate", _put(_argument(0, 2), 1, [
        number_of("0"), ILL, number_of("10")
    ])),
    "candidates in a vector": ("perturbed rate", _put(_argument(0, 2), 0, "tuple")),
    # Dirichlet candidates
    "a distance for less": ("candidates", _node("exponential", epsilon="1/2")),
    "a distance in another norm": ("candidates", _norm("exponential", "l1")),
    "a distance to what is no posterior": (
        "candidates",
        lambda d: release_of(d, 1)["args"][0][1][0].__setitem__(0, "neg"),
    ),
    "less than the distance": ("candidates", lambda d: stated(d, "exponential", "2/5")),
    "less than the distance asserted": (
        "candidates",
        lambda d: (_asserted("2/5")(d), node_at(d, "exponential").update(entering="9")),
    ),
    "entering by less than the distance": ("candidates", _node("exponential", entering="1/10")),
    "candidates of no prior": (
        "candidates",
        lambda d: release_of(d, 1)["args"][1][1].__setitem__(
            0, ["tuple", [number_of("1")] * 3, []]
        ),
    ),
    "candidates of a prior from the data": (
        "candidates",
        lambda d: release_of(d, 1)["args"][1][1][0][1].__setitem__(0, ILL),
    ),
    "candidates of so many as are ill": (
        "candidates",
        lambda d: release_of(d, 1)["args"][1][1].__setitem__(1, ILL),
    ),
    "a grid of Dirichlet laws": (
        "candidates",
        _put(lambda d: release_of(d, 1)["args"], 1, [
            "grid-of", [["values", [number_of("1")], []]] * 2, ["dirichlet"],
        ]),
    ),
    "a grid of grids": (
        "candidates",
        _put(lambda d: release_of(d, 1)["args"], 1, [
            "grid-of",
            [["grid-of", [["values", [number_of("1")], []]] * 2, ["beta"]]] * 2,
            ["beta"],
        ]),
    ),
    "a prior that was released": ("candidates", _put(_in_scored(1), 2, _public("laplace_1"))),
    "a line's distance": (
        "candidates",
        lambda d: _observed(
            d,
            ["tuple", [_field("visits")], []],
            ["likelihood", [number_of("1")], ["linear_model"]],
            ["prior", [number_of("0"), number_of("1")], ["normal"]],
        ),
    ),
    "counts below 0": (
        "candidates",
        lambda d: (
            _observed(d, ["sub", [_field("visits"), number_of("1")], []], POISSON, GAMMA),
            stated(d, "exponential", "1"),
            node_at(d, "exponential").update(entering=None),
            _asserted("1")(d),
        ),
    ),
    "a spread that noise decides": (
        "candidates",
        lambda d: _observed(
            d,
            _field("visits"),
            ["likelihood", [["max", [_public("laplace_1"), number_of("1")], []]], ["normal"]],
            ["prior", [number_of("0"), number_of("1")], ["normal"]],
        ),
    ),
    "a rate of truth values": (
        "candidates",
        lambda d: _observed(d, _field("ill"), POISSON, GAMMA),
    ),
    "what is no model": ("candidates", _put(_scored, 0, "if")),
    "what is no likelihood": ("candidates", _put(_in_scored(1, 1), 0, "prior")),
    "one label too few": ("candidates", lambda d: _scored(d)[1][2][1].pop()),
    # a choice by a score
    "a choice in another norm": ("near", _norm("exponential", "l1")),
    "a choice for less": ("near", _node("exponential", epsilon="1/2")),
    "a choice by a record's score": (
        "near",
        lambda d: (_argument(0, 0)(d).__setitem__(0, "row-score"), _nothing_returned(d)),
    ),
    "a text among candidates": (
        "near",
        lambda d: (
            release_of(d, 0)["args"].__setitem__(1, ["values", [TEXT, number_of("1")], []]),
            _nothing_returned(d),
        ),
    ),
    "a choice by a vector": (
        "near",
        lambda d: _argument(0, 0)(d)[1].__setitem__(0, ["tuple", _argument(0, 0)(d)[1][:1], []]),
    ),
    "a choice that moves less": ("near", lambda d: stated(d, "exponential", "1/2")),
    "a choice that moves less, asserted": (
        "near",
        lambda d: (_asserted("1/2")(d), node_at(d, "exponential").update(entering="9")),
    ),
    "entering a choice for less": ("near", _node("exponential", entering="1/10")),
    # hypotheses, and what is made of released values
    "three parts of a posterior": (
        "compared",
        lambda d: _derived(d)[1].insert(0, _derived(d)[1][0]),
    ),
    "hypotheses about data": (
        "compared",
        _put(_in_model(1), 0, ["data", [YES, _field("ill")], [[]]]),
    ),
    "a model of what is not released": ("compared", _put(_in_model(1), 0, _public("other"))),
    "a number in a release's place": (
        "compared",
        lambda d: _derived(d)[1].__setitem__(0, number_of("1")),
    ),
    "another release than there is": (
        "compared",
        lambda d: _derived(d)[1].__setitem__(0, _public("other")),
    ),
    "a likelihood that is not known": (
        "compared",
        lambda d: (
            _model(d)[1].__setitem__(1, ["likelihood", [], ["cauchy"]]),
            _model(d)[1].__setitem__(2, _public("laplace_1")),
        ),
    ),
    "no hypothesis": ("compared", _put(_in_model(*PARAMETERS), 0, number_of("0"))),
    "a hypothesis that is a text": ("compared", _put(_in_model(*PARAMETERS), 1, TEXT)),
    "chances of too few": (
        "compared",
        lambda d: _in_model(*PARAMETERS)(d).__delitem__(slice(3, None)),
    ),
    "a prior that is not released": ("compared", _put(_in_model(1), 2, _public("other"))),
    "weights of a Dirichlet law": ("compared", _put(_in_model(1, 2, 2), 0, "dirichlet")),
    "no weights": ("compared", lambda d: _in_model(1, 2, 1)(d).clear()),
    "a weight that is a text": ("compared", _put(_in_model(1, 2, 1), 0, TEXT)),
    "a weight of nothing": ("compared", _put(_in_model(1, 2, 1), 0, number_of("0"))),
    "a sum that moves less": ("compared", lambda d: stated(d, "laplace", "1/2")),
    "a prior's mean that is a text": ("perturbed mean", _put(_in_model(1, 2, 1), 0, TEXT)),
    # options and numbers that a release states
    "a release of no kind": (
        "compared",
        lambda d: (release_of(d, 0).update(op="magic"), node_at(d, "laplace").update(rule="magic")),
    ),
    "an option too many": (
        "compared",
        lambda d: release_of(d, 0)["options"].update(power=number_of("1")),
    ),
    "an argument too many": ("compared", lambda d: release_of(d, 0)["args"].append(ILL)),
    "an epsilon below 0": (
        "perturbed line",
        lambda d: (
            release_of(d, 0)["options"].update(epsilon=number_of("-1/2")),
            node_at(d, "per_record").update(epsilon="-1/2"),
            claimed(d, epsilon="1/2"),
        ),
    ),
    "a private number of records asserted": (
        "enters",
        lambda d: release_of(d, 0)["options"].update(sensitivity=HUNDREDS),
    ),
    "a private number of records stated": (
        "enters",
        lambda d: (
            node_at(d, "laplace_1")["sensitivity"].update(value=HUNDREDS),
            node_at(d, "laplace_1").update(entering=None),
        ),
    ),
    "a narrower interval": ("sums", _node("laplace_3", interval=["0", "50"])),
    "a truth value as a sensitivity": (
        "compared",
        lambda d: node_at(d, "laplace")["sensitivity"].update(value=YES),
    ),
    "noise on a text": (
        "compared",
        lambda d: (
            release_of(d, 0)["args"].__setitem__(0, TEXT),
            node_at(d, "laplace")["sensitivity"].update(by="public"),
        ),
    ),
    "a sum for less": ("compared", _node("laplace", epsilon="1/2")),
    "Gaussian noise for less": ("sums", _node("gaussian", epsilon="1/2")),
    "a sigma for what grows": (
        "sums",
        lambda d: node_at(d, "gaussian")["sensitivity"].update(
            value=["add", [number_of("1"), ["div", [number_of("1"), _public("db.size")], []]], []]
        ),
    ),
    "a number of another rule": (
        "sums",
        lambda d: node_at(d, "laplace_2")["sensitivity"].update(by="box"),
    ),
    # samples of a posterior
    "a sample for less": ("posteriors", _node("posterior_sample", epsilon="1/2")),
    "a sample in another norm": ("posteriors", _norm("posterior_sample", "l1")),
    "a sample among laws": (
        "posteriors",
        lambda d: release_of(d, 1)["args"].__setitem__(1, release_of(d, 0)["args"][1]),
    ),
    "a sample of shares": (
        "posteriors",
        lambda d: release_of(d, 1)["args"][0][1].__setitem__(
            slice(1, None),
            [
                ["likelihood", [], ["categorical"]],
                ["prior", [number_of("1"), number_of("1")], ["dirichlet"]],
            ],
        ),
    ),
    "a sample of shared exposure": (
        "sampled",
        lambda d: release_of(d, 0)["args"][0][1].__setitem__(
            slice(1, None), copy.deepcopy([POISSON, GAMMA])
        ),
    ),
    "a sample of nothing": (
        "posteriors",
        lambda d: (
            release_of(d, 1)["options"].update(low=number_of("0")),
            node_at(d, "posterior_sample").update(epsilon="0", entering="0"),
            claimed(d, epsilon="2"),
        ),
    ),
    # chains
    "a chain's prior of two": ("chain", _put(_in_model(1, 2), 2, ["gamma"])),
    "a chain's negative prior": ("chain", _put(_in_model(1, 2, 1), 0, number_of("-1"))),
    "a chain that moves less": ("chain", lambda d: stated(d, "laplace", "2")),
    "a chain of unreleased counts": (
        "chain",
        lambda d: _model(d)[1].__setitem__(0, release_of(d, 0)["args"][0]),
    ),
    "a chain in a private order": (
        "chain",
        lambda d: release_of(d, 0)["args"][0][1].__setitem__(1, _field("visits")),
    ),
    "a chain of the ill": (
        "chain",
        lambda d: release_of(d, 0)["args"][0][1][0][1].__setitem__(0, _field("ill")),
    ),
    # persons
    "persons told apart by what is protected": ("persons", _told_apart),
}  # fmt: skip
"""What each lie is about, and how it is told."""


def lying(lie: str) -> Document:
    """The certificate that tells this lie."""
    name, change = LIES[lie]
    document = honest(name)
    change(document)
    assert document != honest(name), lie
    return sealed(document)


def forged() -> Iterator[Document]:
    """All of the lies."""
    yield from map(lying, LIES)
