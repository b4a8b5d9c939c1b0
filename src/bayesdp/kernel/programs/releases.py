"""What one release costs, by its rule: `RULES` is the kernel's own table (theory 8.5).

Noise is calibrated to the sensitivity that the derivation states (or the program asserts), so a
stated one may be larger than what is derived here, never smaller. A release costs what it asks for.

### 8.5 Releases

What each release costs, if its noise is calibrated to a bound `S` on how far its value moves (8.3,
8.4); `e` is its epsilon. A larger `S` than needed makes more noise: so the kernel accepts a
derivation that states more than it derives itself, and a program may assert more than is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from flint import arb

from bayesdp.kernel.arithmetic import InvalidError, UnknownError, require
from bayesdp.kernel.programs import distances, noise
from bayesdp.kernel.programs.levels import NUMBER, TRUTH, Scope, ValueKind, whole_row
from bayesdp.kernel.programs.ranges import AdjacencyContext, Range, folded
from bayesdp.kernel.programs.reading import TRUE, Node, Release, columns_of, const, pieces
from bayesdp.kernel.programs.refusals import UnprovedError, allow
from bayesdp.kernel.programs.sensitivities import (
    JOINT,
    Norm,
)
from bayesdp.kernel.programs.setting import NONE, ReleaseCost, Setting
from bayesdp.statements.program_steps import ReleaseNode

SENSITIVITY_RULES = frozenset(
    {*JOINT, "public", "fold", "transitions", "hellinger", "one record", "clipped"}
)
"""The rules that a derivation may name. By one of `JOINT` the stated number must be enough too."""

_DECLARED = {
    "laplace": (1, {"epsilon"}, {"sensitivity"}),
    "gaussian": (1, {"epsilon", "delta"}, {"sigma"}),
    "exponential": (2, {"epsilon"}, {"sensitivity"}),
    "per-record-exponential": (3, {"epsilon"}, set()),
    "randomized-response": (1, {"epsilon"}, set()),
    "posterior-sample": (2, {"low", "high", "power"}, set()),
    "above-threshold": (2, {"epsilon"}, {"sensitivity"}),
}
"""How many arguments, and which options, needed and possible."""


def release_cost(release: Release, stated: ReleaseNode, setting: Setting) -> ReleaseCost:
    """The cost of a release; `InvalidError` where its node states less than is derived."""
    setting = replace(setting, step=f"release {release.name}")
    try:
        require(stated.release == release.name, "the step is of another release")
        require(stated.rule == release.op, f"the rule is {release.op!r}")
        if release.op not in RULES:
            raise UnknownError(f"no rule for the release {release.op!r}")
        _check_options(release, setting.scope)
        rules = stated.sensitivity.by.removeprefix("sum of ").split(", ")
        known = all(rule.removeprefix("sum of ") in SENSITIVITY_RULES for rule in rules)
        require(known, f"the sensitivity is by {stated.sensitivity.by!r}, which is not a rule")
        # Noise is scaled by it, and what it scales by can be seen: `100 * db.size` where that is
        # private would be released with the noise.
        public = setting.scope.public(stated.sensitivity.value) == NUMBER
        require(public, "the stated sensitivity is not a public number")
        cost = RULES[release.op](release, stated, setting)
        require(
            (stated.kind, stated.column) == cost.kind[:2],
            "the stated kind or column is not the one that is derived",
        )
        require(
            stated.interval == cost.kind[2], "the stated interval is not the one that is derived"
        )
        return cost
    except InvalidError as error:
        error.step = error.step or setting.step
        raise


def _check_options(release: Release, scope: Scope) -> None:
    count, needed, possible = _DECLARED[release.op]
    given = set(dict(release.options))
    require(
        len(release.args) == count, f"it has {len(release.args)} arguments, and {count} are due"
    )
    require(
        needed <= given <= needed | possible,
        f"its options are {sorted(given)}, and {sorted(needed)} are due",
    )
    for option in dict(release.options).values():
        require(scope.public(option) in (NUMBER, TRUTH), "an option is not a number")


def _option(release: Release, name: str) -> Fraction:
    value = folded(dict(release.options)[name])
    require(value is not None, f"{name} is not known beforehand")
    assert value is not None
    require(name in ("low", "high") or value > 0, f"{name} is not above 0")
    return value


# -- noise on numbers ------------------------------------------------------------------------------


def kind_of_value(release: Release, scope: Scope) -> ValueKind:
    """The kind of the numbers that noise is added to."""
    kind = scope.private(release.args[0])
    require(
        kind.name in ("number", "truth", "vector"),
        "noise is added to what is neither a number nor a vector",
    )
    return NUMBER if kind == TRUTH else kind


def _laplace(release: Release, stated: ReleaseNode, setting: Setting) -> ReleaseCost:
    epsilon = _option(release, "epsilon")
    kind_of_value(release, setting.scope)
    scale = _sensitivity(release, stated, setting, "l1")
    asserted = dict(release.options).get("sensitivity")
    if asserted is not None:
        setting.enough_for(
            asserted, release.args[0], "l1", setting.context, "the asserted sensitivity"
        )
        scale = asserted
    require(
        (stated.epsilon, stated.delta) == (epsilon, NONE[1]),
        "the stated cost is not the one that the program asks for",
    )
    entering = _share(release, stated, setting, "l1", scale, epsilon)
    pair = None if entering is None else (entering, Fraction(0))
    return ReleaseCost((epsilon, Fraction(0)), pair, lipschitz(release.args[0], setting.context))


def _gaussian(release: Release, stated: ReleaseNode, setting: Setting) -> ReleaseCost:
    epsilon, delta = _option(release, "epsilon"), _option(release, "delta")
    require(delta < 1, "delta is not below 1")
    kind = kind_of_value(release, setting.scope)
    scale = _sensitivity(release, stated, setting, "l2")
    require(
        (stated.epsilon, stated.delta) == (epsilon, delta),
        "the stated cost is not the one that the program asks for",
    )
    if "sigma" in dict(release.options):
        sigma, squared = _option(release, "sigma"), folded(stated.sensitivity.value)
        if squared is None:
            raise UnknownError("an asserted sigma where the sensitivity is not a constant")
        exact = kind.name == "number" and whole(release.args[0], setting.context)
        held = noise.delta_at_most(sigma, squared, epsilon, delta, exact)
        require(held, "this noise is not shown to have the stated delta")
    # A smaller move has a smaller delta at the same epsilon: the pair itself is a bound.
    share = _share(release, stated, setting, "l2", scale, Fraction(1))
    entering = (epsilon, delta) if share is not None and share <= 1 else None
    return ReleaseCost((epsilon, delta), entering, ANY_KIND)


def _sensitivity(release: Release, stated: ReleaseNode, setting: Setting, norm: Norm) -> Node:
    """The stated sensitivity, once it is shown to be enough, also by the rule that it names."""
    require(
        stated.sensitivity.norm == norm,
        "the sensitivity is stated in another norm than the release needs",
    )
    setting.enough_for(
        stated.sensitivity.value, release.args[0], norm, setting.context, "the sensitivity"
    )
    still = not setting.context.moved(release.args[0])
    require(
        stated.sensitivity.by != "public" or still,
        "the sensitivity is by a rule that does not apply here",
    )
    if stated.sensitivity.by in JOINT:
        by_this = setting.by_rule(stated.sensitivity.by, release.args[0], norm)
        setting.enough(stated.sensitivity.value, by_this, "the sensitivity by this rule")
    return stated.sensitivity.value


def _share(
    release: Release,
    stated: ReleaseNode,
    setting: Setting,
    norm: Norm,
    scale: Node,
    epsilon: Fraction,
) -> Fraction | None:
    """The stated cost where one record enters or leaves, shown to be enough with this scale."""
    if stated.entering is None:
        return None
    left = Node("mul", (const(stated.entering), scale))
    context = setting.context.entering()
    setting.enough_for(left, release.args[0], norm, context, "the cost of entering", epsilon)
    return stated.entering


ANY_KIND: tuple[str, str | None, tuple[Fraction, Fraction] | None] = ("any", None, None)


def lipschitz(
    node: Node, context: AdjacencyContext
) -> tuple[str, str | None, tuple[Fraction, Fraction] | None]:
    """Whether this is a multiple of the sum of one clipped private column over all records.

    **Kinds.** A program is `lipschitz` in a column if every release is `laplace` on a multiple of
    the sum of that column over all records, clipped to one interval and not public: then the cost
    for a record that moves by `d` is `e d / width` (2.2). A private filter, a piece of a partition,
    Gaussian noise, add-remove, or two columns make it `any`.
    """
    if context.adjacency != "replace-one":
        return ANY_KIND
    if node.op in ("mul", "div", "neg"):
        private = [arg for arg in node.args if context.moved(arg)]
        return lipschitz(private[0], context) if len(private) == 1 else ANY_KIND
    if node.op != "sum" or node.args[0].args[0] != TRUE or pieces(node.args[0]):
        return ANY_KIND
    value, inside = node.args[0].args[1], Range()
    if value.op == "clip":
        low, high = folded(value.args[1]), folded(value.args[2])
        if low is None or high is None:
            return ANY_KIND
        value, inside = value.args[0], Range(low, high)
    column = context.program.columns.get(str(value.data[0])) if value.op == "field" else None
    if column is None or column.public or column.kind not in ("int", "real"):
        return ANY_KIND
    low, high = Fraction(max(inside.low, column.low)), Fraction(min(inside.high, column.high))
    return ("lipschitz", str(value.data[0]), (low, high)) if low < high else ANY_KIND


def whole(node: Node, context: AdjacencyContext) -> bool:
    """Whether a private number is always whole."""
    if node.op == "count":
        return True
    if node.op == "sum":
        return whole_row(node.args[0].args[1], context)
    if node.op in ("add", "sub", "neg", "mul"):
        return all(whole(arg, context) for arg in node.args)
    number = folded(node)
    return number is not None and number.denominator == 1


# -- scores ----------------------------------------------------------------------------------------


def _exponential(release: Release, stated: ReleaseNode, setting: Setting) -> ReleaseCost:
    """The cost of a choice: its epsilon, once the score's stated sensitivity is enough."""
    epsilon = _option(release, "epsilon")
    score, candidates = release.args
    place = candidates_of(candidates, setting.scope)
    require(
        stated.sensitivity.norm == "score",
        "the sensitivity is stated in another norm than the release needs",
    )
    require(
        (stated.epsilon, stated.delta) == (epsilon, NONE[1]),
        "the stated cost is not the one that the program asks for",
    )
    scale = dict(release.options).get("sensitivity", stated.sensitivity.value)
    entering = const(stated.entering or Fraction(0))
    share = Node("mul", (entering, scale))
    here, there = setting.context, setting.context.entering()
    if score.op == "hellinger":
        require(score.args[0].op == "posterior", "the score is not a distance to a posterior")
        model = score.args[0].args[0]
        derived = _upper(hellinger(model, setting, here))
        setting.enough(stated.sensitivity.value, derived, "the sensitivity")
        setting.enough(scale, derived, "the asserted sensitivity")
        if stated.entering is not None:
            small = _upper(hellinger(model, setting, there))
            setting.enough(share, Node("mul", (const(epsilon), small)), "the cost of entering")
    else:
        require(
            score.op == "score" and place is not None, "the score is not one of these candidates"
        )
        assert place is not None
        inner, scored = bound_variable(score, place, setting), score.args[0]
        require(inner.scope.private(scored) in (NUMBER, TRUTH), "a score is one number")
        inner.enough_for(stated.sensitivity.value, scored, "l1", inner.context, "the sensitivity")
        inner.enough_for(scale, scored, "l1", inner.context, "the asserted sensitivity")
        if stated.entering is not None:
            away = inner.context.entering()
            inner.enough_for(share, scored, "l1", away, "the cost of entering", epsilon)
    pair = None if stated.entering is None else (stated.entering, Fraction(0))
    return ReleaseCost((epsilon, Fraction(0)), pair, ANY_KIND)


def _above_threshold(release: Release, stated: ReleaseNode, setting: Setting) -> ReleaseCost:
    """The cost of the first query above a noisy threshold: its epsilon, for all queries together.

    Noise is scaled by how far any single query moves; how many there are doesn't matter.
    """
    epsilon = _option(release, "epsilon")
    queries, threshold = release.args
    require(queries.op == "tuple", "the queries are not listed")
    is_number = setting.scope.public(threshold) in (NUMBER, TRUTH)
    require(is_number, "the threshold is not a public number")
    require(
        stated.sensitivity.norm == "score",
        "the sensitivity is stated in another norm than the release needs",
    )
    require(
        (stated.epsilon, stated.delta) == (epsilon, NONE[1]),
        "the stated cost is not the one that the program asks for",
    )
    scale = dict(release.options).get("sensitivity", stated.sensitivity.value)
    here, there = setting.context, setting.context.entering()
    for query in queries.args:
        require(setting.scope.private(query) in (NUMBER, TRUTH), "a query is one number")
        setting.enough_for(stated.sensitivity.value, query, "l1", here, "the sensitivity")
        setting.enough_for(scale, query, "l1", here, "the asserted sensitivity")
        if stated.entering is not None:
            share = Node("mul", (const(stated.entering), scale))
            setting.enough_for(share, query, "l1", there, "the cost of entering", epsilon)
    pair = None if stated.entering is None else (stated.entering, Fraction(0))
    return ReleaseCost((epsilon, Fraction(0)), pair, ANY_KIND)


def bound_variable(score: Node, place: Range, setting: Setting) -> Setting:
    """The setting inside a score, where the candidate has a name and a place."""
    name = str(score.data[0])
    free = name not in setting.scope.names and name != "db.size"
    allow(free, "taken", "a candidate's name is taken", score)
    context = setting.context
    context = replace(context, variables={**context.variables, name: (place,)})
    inner = replace(setting.scope, context=context).with_name(name, NUMBER)
    return replace(setting, scope=inner)


def candidates_of(node: Node, scope: Scope) -> Range | None:
    """Where numeric candidates lie; None for distributions. All of them must be public."""
    if node.op == "posteriors-of":
        prior, size = node.args
        require(prior.op in ("prior", "public"), "the candidates are not the posteriors of a prior")
        for parameter in (prior,) if prior.op == "public" else prior.args:
            scope.public(parameter)
        require(
            scope.public(size) == NUMBER,
            "the number of records of the candidates is not a public number",
        )
        return None
    if node.op == "grid-of":
        require(
            node.data[0] in ("beta", "gamma", "normal"),
            "the grid is not one of beta, gamma or normal distributions",
        )
        require(
            all(candidates_of(axis, scope) is not None for axis in node.args),
            "an axis of the grid is not a list or a range of numbers",
        )
        return None
    require(
        node.op in ("values", "linspace", "range"),
        "the candidates are not a list or a range of public numbers",
    )
    require(
        all(scope.public(arg) in (NUMBER, TRUTH) for arg in node.args),
        "the candidates are not a list or a range of public numbers",
    )
    ends = [scope.context.range(arg) for arg in node.args]
    ends = ends if node.op == "values" else ends[:2]
    return Range(min(place.low for place in ends), max(place.high for place in ends))


def hellinger(model: Node, setting: Setting, context: AdjacencyContext) -> arb:
    """How far the posterior of one model moves (theory 8.4)."""
    family = setting.scope.observed(model)
    data, likelihood, prior = model.args
    read = columns_of(data.args[0]) | {column for column, _ in pieces(data)}
    entering = context.adjacency == "add-remove"
    fixed = not entering and read <= context.public
    known = [folded(parameter) for parameter in prior.args] if prior.op == "prior" else [None]
    numbers = [number for number in known if number is not None]
    if len(numbers) < len(known):
        reason = "the prior's parameters are not known beforehand"
        raise UnprovedError("prior-unknown", reason, prior)
    records = setting.least if fixed and not read else 1
    if family == "bernoulli" and fixed:
        return distances.replaced_of(numbers[0], numbers[1], records)
    if family in ("bernoulli", "categorical"):
        return distances.of_labels(numbers, not entering)
    place = context.range(data.args[1])
    allow(place.finite, "record-bounds", "a record's value has no bounds", data)
    if family == "poisson":
        allow(place.low >= 0, "counts", "counts below 0", data)
        return distances.of_counts(numbers[0], place.width() if fixed else place.largest())
    if family == "normal" and fixed:
        sd = folded(likelihood.args[0])
        if sd is None:
            reason = "the standard deviation is not known beforehand"
            raise UnprovedError("sd-unknown", reason, likelihood)
        return distances.of_means(place.width(), numbers[1], sd, records)
    reason = f"no bound on how far a {family} posterior moves here"
    raise UnprovedError("family", reason, model)


def _upper(distance: arb) -> Node:
    """The upper end of the ball as an exact fraction, or 1: no distance is above 1."""
    if not distance < 1:  # also a ball so wide that its ends would be huge fractions
        return const(Fraction(1))
    mantissa, exponent = distance.upper().man_exp()
    exact = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return const(min(exact, Fraction(1)))


# -- answers about single records, and samples ---------------------------------------------------


def _answer(
    release: Release, stated: ReleaseNode, setting: Setting, width: Fraction
) -> ReleaseCost:
    """Each record answers by itself: neighbours differ in one answer's law."""
    epsilon, data = _option(release, "epsilon"), release.args[0]
    read = columns_of(data.args[0]) | {column for column, _ in pieces(data)}
    tells_size = setting.context.adjacency != "replace-one" or not read <= setting.context.public
    private = "one answer for each record tells how many there are"
    allow(not tells_size, "answers", private, release)
    require(
        stated.sensitivity.norm == "score" and stated.entering is None,
        "answers about single records have no cost of entering",
    )
    require(
        (stated.epsilon, stated.delta) == (epsilon, NONE[1]),
        "the stated cost is not the one that the program asks for",
    )
    setting.enough(stated.sensitivity.value, const(width), "the sensitivity")
    return ReleaseCost((epsilon, Fraction(0)), None, ANY_KIND)


def _randomized_response(release: Release, stated: ReleaseNode, setting: Setting) -> ReleaseCost:
    kind = setting.scope.data(release.args[0])
    require(kind.name in ("truth", "label"), "randomized response needs truth values or labels")
    return _answer(release, stated, setting, Fraction(1))


def _per_record(release: Release, stated: ReleaseNode, setting: Setting) -> ReleaseCost:
    data, score, candidates = release.args
    setting.scope.data(data)
    place = candidates_of(candidates, setting.scope)
    require(
        score.op == "row-score" and place is not None, "the score is not one of a single record"
    )
    assert place is not None
    inner = bound_variable(score, place, setting)
    require(inner.scope.row(score.args[0]) in (NUMBER, TRUTH), "a score is one number")
    inner.scope.exact_divisors(score.args[0])
    return _answer(release, stated, setting, inner.context.range(score.args[0]).width())


def _posterior_sample(release: Release, stated: ReleaseNode, setting: Setting) -> ReleaseCost:
    """The cost of a draw: `power` times the spread of the log-likelihood, twice for `replace`."""
    low, high, power = (_option(release, name) for name in ("low", "high", "power"))
    model, grid = release.args
    family = setting.scope.observed(model)
    require(
        family in ("bernoulli", "normal", "poisson"), "only models of one number can be sampled"
    )
    # Poisson records share their exposure: how many they are must be public.
    shared = family != "poisson" or setting.context.adjacency == "replace-one"
    require(shared, "a shared exposure where the number of records is private")
    require(candidates_of(grid, setting.scope) is not None, "the grid is not one of numbers")
    require(low < high, "the lower end of the log-likelihood is not below its upper end")
    # The normaliser takes up what is common to all candidates: only the spread counts, once where
    # a record enters or leaves, twice where one takes another's place (theory 8.5).
    spread = high - low
    entering = power * spread
    cost = entering + entering if setting.context.adjacency == "replace-one" else entering
    require(
        stated.sensitivity.norm == "log-likelihood",
        "the sensitivity is stated in another norm than the release needs",
    )
    setting.enough(stated.sensitivity.value, const(spread), "the sensitivity")
    require(
        stated.epsilon == cost and stated.delta == 0,
        "the stated cost is not the one that is derived",
    )
    require(
        stated.entering is None or stated.entering >= entering,
        "the cost of entering is below the derived one",
    )
    return ReleaseCost((cost, Fraction(0)), (entering, Fraction(0)), ANY_KIND)


ReleaseRule = Callable[[Release, ReleaseNode, Setting], ReleaseCost]
RULES: Mapping[str, ReleaseRule] = {
    "laplace": _laplace,
    "gaussian": _gaussian,
    "exponential": _exponential,
    "per-record-exponential": _per_record,
    "randomized-response": _randomized_response,
    "posterior-sample": _posterior_sample,
    "above-threshold": _above_threshold,
}
"""The kernel's table of releases. What isn't in it is UNKNOWN."""
