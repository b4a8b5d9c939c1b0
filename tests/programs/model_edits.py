"""Rules of laws, finite models and pooling made wrong: see `construct_edits`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests.kernel.program_lies import column, number_of, program_of
from tests.programs import construct_probes as probes
from tests.programs import model_probes as models
from tests.programs.edits import Edit

RULES, SOURCE, RUN = "kernel.programs", "programs.source", "programs.run"
MODELS = "statements.program_models"
LIED = probes.found_out

# -- laws of released numbers, and finite models ---------------------------------------------------

NOISY_LAW = models.after("Beta", "return beta(1 + n, 1 + db.size - n)")
A_LAW = models.after("Normal", "return normal(noisy[0], sd=1 + n)")


def _law(document: probes.Document) -> list[object]:
    """The model behind a law that is returned."""
    body = program_of(document)["body"]
    law: list[object] = next(item for item in body if "derive" in item)["value"][1][-1]
    return law


def _of_prior(place: int, value: object) -> Callable[[probes.Document], None]:
    """Another parameter of the law's prior."""
    return lambda document: _law(document)[1][2][1].__setitem__(place, value)  # type: ignore[index]


N = ["clip", [["public", [], ["laplace_2"]], number_of("0"), ["public", [], ["db.size"]]], []]
FITS = "fits = place == ANYWHERE or lies.low > 0 or"
LAWS: dict[str, Edit] = {
    "a parameter may be 0": Edit(
        RULES, FITS, FITS.replace(">", ">="),
        partial(LIED, NOISY_LAW, _of_prior(0, N)),
    ),
    "a parameter may be below 0": Edit(
        RULES, "(place == AT_LEAST and lies.low == 0)", "lies.high > 0",
        partial(LIED, NOISY_LAW, _of_prior(0, ["sub", [N, number_of("1")], []])),
    ),
    "an upper end for a lower one": Edit(
        RULES, FITS, FITS.replace("low", "high"),
        partial(LIED, A_LAW, _of_prior(1, N)),
    ),
    "any second number of a beta": Edit(
        MODELS, '"beta": ParameterPlaces((ABOVE, ABOVE))',
        '"beta": ParameterPlaces((ABOVE, ANYWHERE))',
        partial(probes.refused, models.after("Beta", "return beta(1 + n, 1 + db.size - 2 * n)")),
    ),
    "any share of a Dirichlet law": Edit(
        MODELS, '"dirichlet": ParameterPlaces((), ABOVE, 2)',
        '"dirichlet": ParameterPlaces((), ANYWHERE, 2)',
        partial(probes.refused, models.after("Dirichlet", "return dirichlet(noisy[0], 1, 1)")),
    ),
    "a spread of 0": Edit(
        MODELS, '"normal": ParameterPlaces((ANYWHERE, ABOVE))',
        '"normal": ParameterPlaces((ANYWHERE, AT_LEAST))',
        partial(probes.refused, models.after("Normal", "return normal(0, sd=n)")),
    ),
    "a law of data that nothing was added to": Edit(
        RULES, 'require(data.op in ("nothing", "public"), "a model of unreleased data")',
        'require(data.op in ("nothing", "public", "data"), "a model of unreleased data")',
        partial(LIED, NOISY_LAW, lambda d: _law(d)[1].__setitem__(  # type: ignore[index]
            0, ["data", [["const", [], [True]], ["field", [], ["b"]]], [[]]],
        )),
    ),
    "one of two laws": Edit(
        RULES, "require(1 <= len(node.args) <= 2,", "require(1 <= len(node.args) <= 3,",
        partial(LIED, models.finite_model(
            "laplace(sum(onehot(p.g) for p in people), epsilon=1)", f"chances({models.TABLES})",
        ), lambda d: next(
            item for item in program_of(d)["body"] if "derive" in item
        )["value"][1].extend([["public", [], ["laplace_1"]]] * 2)),
    ),
    "two numbers that are turned": Edit(
        RUN, "return d.single(family, parameters[0], parameters[1])",
        "return d.single(family, parameters[1], parameters[0])", models.laws_are_as_written,
    ),
    "the first number for both": Edit(
        RUN, "return d.single(family, parameters[0], parameters[1])",
        "return d.single(family, parameters[0], parameters[0])", models.laws_are_as_written,
    ),
    "new records without their own spread": Edit(
        RUN, "return Answers(rng.normal(thetas, about[0]))", "return Answers(thetas)",
        partial(models.drawn, "normal(n, sd=2)", "normal(sd=1)", 3, 5),
    ),
    "new counts without their exposure": Edit(
        RUN, "np.minimum(thetas * about[0], LARGEST_RATE)", "np.minimum(thetas, LARGEST_RATE)",
        partial(models.drawn, "gamma(1 + n, rate=2)", "poisson(exposure=3)", 6, 15),
    ),
    "the chance of the other answer": Edit(
        RUN, "np.stack([1 - thetas, thetas], axis=1)", "np.stack([thetas, 1 - thetas], axis=1)",
        partial(models.drawn, "beta(1 + n, 1)", "bernoulli", 0.8, 0.16),
    ),
    "labels one place further": Edit(
        RUN, "below = np.cumsum(chances, axis=1)", "below = np.cumsum(chances[:, ::-1], axis=1)",
        models.labels_drawn,
    ),
    "impossible hypotheses have a weight": Edit(
        SOURCE, "if isinstance(weight, Fraction) and weight > 0]",
        "if isinstance(weight, Fraction) and weight >= 0]",
        partial(probes.refused, models.hypothetical(
            f"chances({models.TABLES})", 'hypotheses({"u": 1, "v": 0})'
        )),
    ),
    "answers as if they were true": Edit(
        RUN, "chances = source.other + chances * (source.kept - source.other)",
        "pass", models.answers_have_the_posterior_of_the_definition,
    ),
    "answers kept with the chance of another": Edit(
        RUN, "chances = source.other + chances * (source.kept - source.other)",
        "chances = source.other + chances * source.kept",
        models.answers_have_the_posterior_of_the_definition,
    ),
    "counts without their number of ways": Edit(
        RUN, "logs = (self.rates[k, j] + tilt) * s - gammaln(s + 1.0)",
        "logs = (self.rates[k, j] + tilt) * s",
        models.counts_have_the_posterior_of_the_definition,
    ),
    "noise on counts with the other sign": Edit(
        RUN, "logs = logs + self.noise.log(y - s)",
        "logs = logs + self.noise.log(y + s)",
        models.counts_have_the_posterior_of_the_definition,
    ),
    "every hypothesis has one weight": Edit(
        RUN, "logs = logs + np.log(prior.weights)", "pass",
        models.counts_have_the_posterior_of_the_definition,
    ),
}  # fmt: skip

# -- partial pooling -------------------------------------------------------------------------------

IN_CELLS = "    stays = _power(first * place.width(), norm)\n"


def _bernoulli() -> None:
    models.pooled_groups_are_those_of_the_definition("bernoulli")


def _poisson() -> None:
    models.pooled_groups_are_those_of_the_definition("poisson")


def _normal() -> None:
    models.pooled_groups_are_those_of_the_definition("normal", 8.0)


OF_MEANS = models.pooled("p.x", "normal(sd=2)")
POOLING: dict[str, Edit] = {
    "half of the width in a group": Edit(
        RULES, IN_CELLS, IN_CELLS.replace("width()", "width() / 2"),
        partial(LIED, OF_MEANS, probes.less("laplace", "4")),
    ),
    "the largest number in a group, for its width": Edit(
        RULES, IN_CELLS, IN_CELLS.replace("width()", "largest()"),
        partial(LIED, OF_MEANS, probes.less("laplace", "5")),
    ),
    "the squared width in a group": Edit(
        RULES, IN_CELLS, "    stays = _power(_power(first * place.width(), norm), norm)\n",
        partial(
            LIED,
            OF_MEANS.replace("laplace(", "gaussian(")
            .replace("epsilon=1)", "epsilon=1, delta=1e-5)")
            .replace("p.x for", "p.x / 32 for"),
            probes.less("gaussian", "1/256"),
        ),
    ),
    "the smallest group's factor": Edit(
        RULES, "first, second = (*sorted(factors, reverse=True), Fraction(0))[:2]",
        "first, second = (*sorted(factors), Fraction(0))[:2]",
        partial(LIED, models.POOLED_UNEVENLY, probes.less("laplace", "8")),
    ),
    "groups of a column that is protected": Edit(
        RULES, "    if columns_of(vector_of) <= context.public:\n        return stays\n",
        "    if columns_of(vector_of) is not None:\n        return stays\n",
        partial(LIED, models.POOLED_UNEVENLY, lambda d: (
            column(d, "s").update(public=False),
            d.update(assumptions=[
                words for words in d["assumptions"] if not words.startswith("not protected")
            ]),
        )),
    ),
    "any column has groups": Edit(
        SOURCE, "public = by in context.draft.public_columns and ", "public = ",
        partial(probes.refused_for, models.pooled().replace('"s"', '"g"'), "not one"),
    ),
    "the size of all for that of a group": Edit(
        SOURCE, "group = replace(data, pieces=(*data.pieces, (by_of(prior), label)))",
        "group = data", _bernoulli,
    ),
    "the spread of one for that of a sum": Edit(
        RUN, "return log_noisy_sum(seen - n * t, n * about**2, noise)",
        "return log_noisy_sum(seen - n * t, about**2, noise)", _normal,
    ),
    "the spread of a mean for that of a sum": Edit(
        RUN, "return log_noisy_sum(seen - n * t, n * about**2, noise)",
        "return log_noisy_sum(seen / n - t, about**2 / n, noise)", _normal,
    ),
    "noise of another sign": Edit(
        RUN, "logs = noise.log(seen - sums) if aware", "logs = noise.log(seen + sums) if aware",
        _bernoulli,
    ),
    "sums without their number of ways": Edit(
        RUN, "logs = logs - gammaln(sums + 1) - gammaln(n - sums + 1)",
        "logs = logs - gammaln(sums + 1)", _bernoulli,
    ),
    "those without count as those with": Edit(
        RUN, "(n - sums) * log_expit(-t)[:, None]", "(n - sums) * log_expit(t)[:, None]",
        _bernoulli,
    ),
    "all of the exposure for each group": Edit(
        RUN, 'each = of_all * n / whole if family == "pooled_poisson" else of_all',
        "each = of_all", _poisson,
    ),
    "a count without its rate": Edit(
        RUN, "each = sums * (np.log(about) + t[:, None]) - mean[:, None]",
        "each = sums * (np.log(about) + t[:, None])", _poisson,
    ),
    "a rate on the scale of its logarithm": Edit(
        RUN, 'return np.asarray(t if family == "pooled_normal" else np.exp(',
        'return np.asarray(t if family != "pooled_bernoulli" else np.exp(', _poisson,
    ),
    "a variance for the centre's spread": Edit(
        RUN, "logs = -0.5 * ((m - mean) / sd) ** 2 - 0.5",
        "logs = -0.5 * (m - mean) ** 2 / sd**4 - 0.5", _normal,
    ),
    "no prior of the spread": Edit(
        RUN, "** 2 - 0.5 * (s / scale) ** 2\n", "** 2\n", _normal,
    ),
    "groups without their centre": Edit(
        RUN, "(self.edges[None, 1:-1] - center[:, None]) / spread[:, None]",
        "self.edges[None, 1:-1] / spread[:, None]", _normal,
    ),
    "a variance for the groups' spread": Edit(
        RUN, "(self.edges[None, 1:-1] - center[:, None]) / spread[:, None]",
        "(self.edges[None, 1:-1] - center[:, None]) / spread[:, None] ** 2", _normal,
    ),
}  # fmt: skip
