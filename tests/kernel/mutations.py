"""Certificates that say more than follows. Each change returns None where it would say less.

A document changed everywhere at once can be a true certificate of something else. So a change is
either made in one place only, or everywhere with a level that the package finds too low.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from bayesdp.certificate import content_of, digest
from bayesdp.notions import Cost
from bayesdp.populations import parse
from bayesdp.theorems import Question
from tests.kernel.honest import (
    ABOUT,
    ADVERSARIES,
    PRESENT,
    SECONDS,
    Honest,
    Rng,
    bound_by,
    conversion,
)

Document = dict[str, Any]
Change = Callable[[Rng, Honest], Document | None]
SHARES = (0.9, 0.99, 0.999)
CLEARLY = 1.0 + 1e-6


def sealed(document: Document) -> Document:
    """The same with the digest of its content."""
    return document | {"digest": digest(content_of(document))}


def pick(rng: Rng, options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


def is_release(made: Honest) -> bool:
    return bool(made.document["derivation"]["rule"] == "release")


def steps(step: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield step
    for premise in step["premises"]:
        yield from steps(premise)


def lower(document: Document, share: float, notion: str) -> None:
    """A lower level of this notion, wherever one stands."""
    document["claim"]["epsilon"] *= share
    for step in steps(document["derivation"]):
        if step["conclusion"]["notion"] == notion:
            step["conclusion"]["epsilon"] *= share
    if "data_set" in document:
        document["data_set"]["level"] *= share


# -- consistent, with plausible smaller levels ---------------------------------------------


def lower_levels(rng: Rng, made: Honest) -> Document:
    document = copy.deepcopy(made.document)
    lower(document, float(pick(rng, (*SHARES, 1 - 1e-6))), document["claim"]["notion"])
    return document


def cheaper_than_quoted(rng: Rng, made: Honest) -> Document | None:
    """The level of a smaller cost, quoted for the larger one."""
    if is_release(made) or made.level == 0.0:
        return None
    document, share = copy.deepcopy(made.document), float(pick(rng, SHARES))
    for step in steps(document["derivation"]):
        cost = step["evidence"]["cost"]
        cost |= {part: cost[part] * share for part in ("any", "lipschitz", "slack")}
        for spent in cost["by_column"]:
            spent |= {part: spent[part] * share for part in ("dp_epsilon", "slack")}
    if rng.random() < 0.5:
        document["claim"]["cost"] = copy.deepcopy(document["derivation"]["evidence"]["cost"])
    return document


def cheaper_queries(rng: Rng, made: Honest) -> Document | None:
    """All costs and levels smaller. Where the noise is said to be larger, results don't show it."""
    if not is_release(made):
        return None
    document, share = copy.deepcopy(made.document), float(pick(rng, SHARES))
    louder = rng.random() < 0.5
    lower(document, share, "bdp")
    if document["claim"]["notion"] == "dp":
        lower(document, share, "dp")
    else:
        for step in steps(document["derivation"]):
            if step["conclusion"]["notion"] == "dp":
                step["conclusion"]["epsilon"] *= share
    document["claim"]["dp_epsilon"] *= share
    document["data_set"]["dp_epsilon"] *= share
    for result in document["results"]:
        result["dp_epsilon"] *= share
    for step in steps(document["derivation"]):
        cost = step["evidence"].get("cost", {"by_column": []})
        for part in (cost, *cost["by_column"]):
            for key in part:
                if key in ("any", "lipschitz", "slack", "dp_epsilon"):
                    part[key] *= share
        if "spend" in step["evidence"]:
            step["evidence"]["spend"]["dp_epsilon"] *= share
            step["evidence"]["spend"]["slack"] *= share
            if louder:
                step["evidence"]["scale"] /= share
    return document


def quieter(rng: Rng, made: Honest) -> Document | None:
    """Less noise everywhere, at the same cost."""
    if not is_release(made):
        return None
    document, share = copy.deepcopy(made.document), float(pick(rng, SHARES))
    for step in steps(document["derivation"]):
        if "scale" in step["evidence"]:
            step["evidence"]["scale"] *= share
    for result in document["results"]:
        result["noise"]["scale"] *= share
    return document


def stronger_adversary(rng: Rng, made: Honest) -> Document | None:
    """Another adversary everywhere, whom the package gives a higher level."""
    return _elsewhere(rng, made, adversary=str(pick(rng, ADVERSARIES)))


def stronger_population(rng: Rng, made: Honest) -> Document | None:
    """Another population of its kind everywhere, to which the package gives a higher level."""
    if made.population is None:
        return None
    kinds = ABOUT[made.rule]
    spec = parse(pick(rng, kinds)(rng)).spec()
    return None if spec["model"] == "family" else _elsewhere(rng, made, population=spec)


def unbounded_secrets(rng: Rng, made: Honest) -> Document | None:
    return _elsewhere(rng, made, secrets="unbounded")


def other_kind(rng: Rng, made: Honest) -> Document | None:
    """What a Lipschitz mechanism costs, quoted for any."""
    if made.report is None or made.report.cost.lipschitz == 0.0:
        return None
    cost = made.report.cost
    return _elsewhere(rng, made, cost=Cost(any=cost.any + cost.lipschitz))


def _elsewhere(rng: Rng, made: Honest, **change: Any) -> Document | None:
    """The certificate said of something else, if by its theorem the level there is higher."""
    if made.report is None or made.population is None or made.rule == "family":
        return None
    old, finite = made.report, made.rule == "finite-law"
    spec = change.get("population", made.population.spec())
    adversary = change.get("adversary", old.adversary)
    secrets, cost = change.get("secrets", old.secrets), change.get("cost", old.cost)
    question = Question(parse(spec), adversary, secrets, SECONDS)
    there = bound_by(made.rule, question, cost)
    if there is not None and there.best.epsilon <= made.level * CLEARLY:
        return None
    # A theorem may be refused because another is better, or takes less time.
    if there is None and ("population" in change or adversary == "informed" or finite):
        return None
    document = copy.deepcopy(made.document)
    parts = {"any": cost.any, "lipschitz": cost.lipschitz, "slack": cost.slack}
    bare = {key: value for key, value in spec.items() if key not in ("source", "covers")}
    document["population"] = spec
    document["claim"] |= {"adversary": adversary, "secrets": secrets}
    document["claim"]["cost"] |= parts
    step = document["derivation"]
    step["conclusion"]["adversary"] = adversary
    step["evidence"] |= {"population": bare, "secrets": secrets}
    step["evidence"]["cost"] |= parts
    from bayesdp import kernel

    return document | {"assumptions": kernel.assumptions(document)}


PLAUSIBLE: tuple[Change, ...] = (
    lower_levels,
    cheaper_than_quoted,
    cheaper_queries,
    quieter,
    stronger_adversary,
    stronger_population,
    unbounded_secrets,
    other_kind,
)


# -- in one place ---------------------------------------------------------------------------


def other_theorem(rng: Rng, made: Honest) -> Document | None:
    """A theorem that is about other models, or one that doesn't exist."""
    families = ("markov", "gaussian", "graph", "tree", "independent")
    own = made.document["population"] or {"model": None}
    adversary = made.document["claim"].get("adversary")
    strange = ["astrology", made.rule.upper(), made.rule.replace("-", "_") + "_"]
    if adversary in ("any", "uninformed") and own["model"] in ("markov", "gaussian", "clusters"):
        prefixes = [family for family in families if family != own["model"]]
        strange += [rule for rule in PRESENT if rule.split("-")[0] in prefixes]
    document = copy.deepcopy(made.document)
    step = conversion(document)
    if document["claim"]["epsilon"] <= document["claim"]["dp_epsilon"] * CLEARLY:
        strange = strange[:3]
    step["rule"] = str(pick(rng, strange))
    return document


def other_adversary(rng: Rng, made: Honest) -> Document | None:
    if made.document["claim"]["notion"] == "dp":
        return None
    document = copy.deepcopy(made.document)
    places = [document["claim"], conversion(document)["conclusion"]]
    place = pick(rng, places)
    place["adversary"] = pick(rng, [a for a in (*ADVERSARIES, None) if a != place["adversary"]])
    return document


def population_in_one_place(rng: Rng, made: Honest) -> Document | None:
    """A number of the population changed a little, in the declaration or in the evidence."""
    if made.document["claim"]["notion"] == "dp":
        return None
    document = copy.deepcopy(made.document)
    population = pick(rng, [document["population"], conversion(document)["evidence"]["population"]])
    numbers = list(_numbers(population))
    if not numbers:
        population["model"] = "clusters" if population["model"] == "independent" else "independent"
        return document
    holder, key = pick(rng, numbers)
    holder[key] += 1 if isinstance(holder[key], int) else (holder[key] or 1.0) * 1e-9
    return document


def _numbers(plain: Any) -> Iterator[tuple[Any, Any]]:
    items = plain.items() if isinstance(plain, dict) else enumerate(plain)
    for key, value in list(items):
        if isinstance(value, dict | list):
            yield from _numbers(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield plain, key


def claim_alone(rng: Rng, made: Honest) -> Document:
    document = copy.deepcopy(made.document)
    document["claim"] |= pick(
        rng,
        [
            {"epsilon": made.level * float(pick(rng, SHARES))},
            {"epsilon": 0.0 if made.level > 0 else None},
            {"epsilon": None},
            {"epsilon": True},
            {"epsilon": str(made.level)},
            {"epsilon": -made.level - 1.0},
            {"dp_epsilon": document["claim"]["dp_epsilon"] * 0.99},
            {"delta": 1e-9},
            {"notion": "zcdp"},
        ],
    )
    return document


def evidence(rng: Rng, made: Honest) -> Document | None:
    """Evidence that the level rests on."""
    document = copy.deepcopy(made.document)
    step = conversion(document)
    changes: list[Callable[[], object]] = [
        lambda: step["conclusion"].update(notion="map"),
        lambda: step.pop("evidence"),
        lambda: document.pop("derivation"),
        lambda: document.update(assumptions=document["assumptions"][1:]),
        lambda: document.update(rounding="to the nearest"),
    ]
    if "cost" in step["evidence"]:
        cost = step["evidence"]["cost"]
        spent = ("lipschitz", "any") if cost["lipschitz"] else ("any",)
        if not cost["by_column"]:
            changes += [lambda: cost.update({p: cost[p] * float(pick(rng, SHARES)) for p in spent})]
        changes += [
            lambda: cost.update(any=-cost["any"] - 1.0),
            lambda: cost.update(any=cost["lipschitz"] + 1.0, lipschitz=cost["any"]),
            lambda: step["evidence"].update(secrets="none"),
            lambda: step["evidence"].pop("cost"),
        ]
    if step["rule"] == "family":
        members = [item for item in step["premises"] if item["rule"] != "sequential-composition"]
        changes += [
            lambda: step["premises"].pop(),
            lambda: members[0]["conclusion"].update(
                epsilon=members[0]["conclusion"]["epsilon"] * 0.999
            ),
        ]
    followed = step["rule"] in ("markov-recursion", "markov-threshold") and _told(made)
    if followed and "order" not in step["evidence"]["population"]:
        changes += [lambda: step["evidence"]["details"].update(steps=-1)]
    pick(rng, changes)()
    return document


def _told(made: Honest) -> bool:
    """Whether the rule has anything to prove."""
    return bool(
        made.document["claim"]["adversary"] != "informed"
        and made.document["claim"]["dp_epsilon"] > 0
        and made.level > 0
    )


def queries(rng: Rng, made: Honest) -> Document | None:
    """A query that did something else than is said."""
    if not is_release(made):
        return None
    document = copy.deepcopy(made.document)
    asked = [step for step in steps(document["derivation"]) if "spend" in step["evidence"]]
    step = pick(rng, asked)
    inside, spend = step["evidence"], step["evidence"]["spend"]
    result = pick(rng, document["results"])
    share = float(pick(rng, SHARES))
    pick(
        rng,
        [
            lambda: inside.update(sensitivity=inside["sensitivity"] - 1),
            lambda: inside.update(scale=inside["scale"] * share),
            lambda: inside.update(scale=inside["scale"] / share),
            lambda: inside.update(step=[inside["step"][0] * 2, inside["step"][1]]),
            lambda: spend.update(dp_epsilon=spend["dp_epsilon"] * share),
            lambda: spend.update(
                kind="any" if spend["kind"] == "lipschitz" else "lipschitz", interval=[0.0, 1.0]
            ),
            lambda: spend.update(reads=[*spend["reads"], "wages"]),
            lambda: spend.update(dataset="others"),
            lambda: spend.update(mechanism="no noise"),
            lambda: inside["query"].update(kind="median"),
            lambda: result["noise"].update(scale=result["noise"]["scale"] * share),
            lambda: result["noise"].update(step=result["noise"]["step"] * share),
            lambda: result.update(dp_epsilon=result["dp_epsilon"] * share),
            lambda: result.update(query="another"),
            lambda: document["results"].pop(),
            lambda: document["data_set"].update(level=document["data_set"]["level"] * share),
            lambda: document["data_set"].update(total=document["data_set"]["level"] * share),
        ],
    )()
    return document


def prose(rng: Rng, made: Honest) -> Document:
    """Words that nobody derived, where a reader takes all for checked."""
    document = copy.deepcopy(made.document)
    changes: list[Callable[[], object]] = [
        lambda: document.update(note="certified by the regulator"),
        lambda: document.update(in_words=["no record depends on another"]),
        lambda: document["claim"].update(note="whatever the population"),
        lambda: document["derivation"].update(note="checked by hand"),
        lambda: document.update(software=7),
        lambda: document["assumptions"].append("all of this was checked"),
    ]
    if is_release(made):
        said = document["not_protected"]
        changes += [
            lambda: document.pop("not_protected"),
            lambda: said.pop(int(rng.integers(len(said)))),
            lambda: said.__setitem__(0, "nothing: everything is protected"),
            lambda: pick(rng, document["results"]).update(note="exact"),
            lambda: document["data_set"].update(note="never used before"),
        ]
    pick(rng, changes)()
    return document


def off_the_grid(rng: Rng, made: Honest) -> Document | None:
    """A result that no whole number of steps gives."""
    if not is_release(made):
        return None
    document = copy.deepcopy(made.document)
    counts = [r for r in document["results"] if r["noise"]["step"] == 1.0 and r["kind"] != "sum"]
    if not counts:
        return None
    pick(rng, counts)["value"] += pick(rng, [0.37, 0.5, 1e-9, 1e300])
    return document


def other_states(rng: Rng, made: Honest) -> Document | None:
    """Fewer states, or more, of a column that a discrete population covers."""
    population = made.document["population"] or {}
    if not is_release(made) or population.get("model") not in ("markov", "finite", "graph"):
        return None
    document = copy.deepcopy(made.document)
    columns = [document["columns"][name] for name in population["covers"]]
    states = [column["states"] for column in columns if "states" in column]
    if not states:
        return None
    chosen = pick(rng, states)
    if rng.random() < 0.5:
        chosen.pop(int(rng.integers(len(chosen))))
    else:
        chosen.append("another" if isinstance(chosen[0], str) else 97)
    return document


ONE_PLACE: tuple[Change, ...] = (
    prose,
    off_the_grid,
    other_states,
    other_theorem,
    other_adversary,
    population_in_one_place,
    claim_alone,
    evidence,
    queries,
)


def changed(rng: Rng, made: Honest, changes: tuple[Change, ...]) -> tuple[str, Document]:
    """One of these changes that makes a difference, by name, with the digest made anew."""
    while True:
        change = pick(rng, changes)
        document = change(rng, made)
        if document is not None and document != made.document:
            return change.__name__, sealed(document)
