"""Models: likelihoods, priors, what is observed, posteriors and their statistics."""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction

from bayesdp.programs.ir import Expr, Type
from bayesdp.programs.source.calls import ONE, PAIRS, Bound, Calls, bind, number_of, sum_type
from bayesdp.programs.source.diagnostics import ProgramError, place, refuse
from bayesdp.programs.source.scope import Scope
from bayesdp.programs.source.values import (
    INT,
    REAL,
    Data,
    Items,
    Named,
    Scalar,
    Thing,
    Value,
    described,
    scalar,
)


class Models(Calls):
    """What the functions about models mean."""

    def public(self, node: ast.expr, scope: Scope, what: str) -> Scalar:
        """A public number for a parameter."""
        found = scalar(self.value(node, scope), node)
        if found.level in ("row", "private"):
            raise refuse(
                "private-parameter",
                node,
                f"{what} depends on private data.",
                "Use a literal, a public or a released value.",
            )
        self.numeric(found, node)
        if found.type.kind == "vector":
            raise refuse("type", node, f"{what} is one number.", "")
        return found

    def positive(self, node: ast.expr, scope: Scope, what: str) -> Scalar:
        """A public number that is above 0, where that is known already."""
        found = self.public(node, scope, what)
        if found.level == "static" and number_of(found) <= 0:
            raise refuse("prior", node, f"{what} must be above 0.", "")
        return found

    def call_bernoulli(self, node: ast.Call, scope: Scope) -> Value:
        """bernoulli: truth values, each true with the unknown chance."""
        bind(node, [], needed=0)
        return self._likelihood("bernoulli", node, ())

    def call_categorical(self, node: ast.Call, scope: Scope) -> Value:
        """categorical: labels with unknown chances."""
        bind(node, [], needed=0)
        return self._likelihood("categorical", node, ())

    def call_poisson(self, node: ast.Call, scope: Scope) -> Value:
        """poisson(exposure=): counts with an unknown rate per exposure; the total, public."""
        bound = bind(node, ["exposure"], needed=1)
        exposure = self.positive(bound.given["exposure"], scope, "The exposure")
        return self._likelihood("poisson", node, (exposure,))

    def call_linear_model(self, node: ast.Call, scope: Scope) -> Value:
        """linear_model(noise_sd=): rows (features..., response) with unknown coefficients."""
        bound = bind(node, ["noise_sd"], needed=1)
        noise = self.positive(bound.given["noise_sd"], scope, "The noise's standard deviation")
        return self._likelihood("linear_model", node, (noise,))

    def call_normal(self, node: ast.Call, scope: Scope) -> Value:
        """normal(sd=) is a likelihood with unknown mean; normal(mean, sd=) a prior."""
        bound = bind(node, ["mean", "sd"], needed=0)
        if "sd" not in bound.given:
            raise refuse(
                "arguments", node, "normal needs sd.", "normal(sd=7) or normal(170, sd=15)"
            )
        spread = self.positive(bound.given["sd"], scope, "The standard deviation")
        if "mean" not in bound.given:
            return self._likelihood("normal", node, (spread,))
        mean = self.public(bound.given["mean"], scope, "The prior")
        return self._prior("normal", node, (mean, spread))

    def call_beta(self, node: ast.Call, scope: Scope) -> Value:
        """beta(a, b)."""
        bound = bind(node, ["a", "b"], needed=2)
        return self._positives("beta", bound, ("a", "b"), scope)

    def call_gamma(self, node: ast.Call, scope: Scope) -> Value:
        """gamma(shape, rate=)."""
        bound = bind(node, ["shape", "rate"], needed=2)
        return self._positives("gamma", bound, ("shape", "rate"), scope)

    def call_dirichlet(self, node: ast.Call, scope: Scope) -> Value:
        """dirichlet(a1, a2, ...)."""
        args: list[Value] = [self.value(one, scope) for one in node.args]
        if len(args) == 1 and isinstance(args[0], Items):
            args = list(args[0].items)
        if node.keywords or len(args) < 2:
            raise refuse("arguments", node, "dirichlet takes one number for each category.")
        parts = []
        for one in args:
            found = scalar(one, node)
            if found.level in ("row", "private"):
                raise refuse("private-parameter", node, "The prior depends on private data.")
            self.numeric(found, node)
            if found.type.kind == "vector":
                raise refuse("type", node, "A Dirichlet prior has one number for each category.")
            if found.level == "static" and number_of(found) <= 0:
                raise refuse("prior", node, "The numbers of a Dirichlet prior are above 0.")
            parts.append(found)
        return self._prior("dirichlet", node, tuple(parts))

    def _positives(self, family: str, bound: Bound, names: tuple[str, ...], scope: Scope) -> Thing:
        parts = [self.positive(bound.given[n], scope, f"{family}'s {n}") for n in names]
        return self._prior(family, bound.node, tuple(parts))

    def _likelihood(self, family: str, node: ast.AST, parts: tuple[Scalar, ...]) -> Thing:
        expr = Expr("likelihood", tuple(one.expr for one in parts), (family,), place(node))
        return Thing("likelihood", expr, family, parts)

    def _prior(self, family: str, node: ast.AST, parts: tuple[Scalar, ...]) -> Thing:
        expr = Expr("prior", tuple(one.expr for one in parts), (family,), place(node))
        return Thing("prior", expr, family, parts, any(one.released for one in parts))

    def call_observe(self, node: ast.Call, scope: Scope) -> Value:
        """observe(data, likelihood, prior=): a model of private rows, or of noisy ones."""
        bound = bind(node, ["data", "likelihood", "prior"], needed=3)
        likelihood = self._thing(bound.given["likelihood"], scope, "likelihood")
        prior = self._thing(bound.given["prior"], scope, "prior")
        if prior.family not in PAIRS[likelihood.family]:
            raise refuse(
                "prior",
                bound.given["prior"],
                f"{likelihood.family} with a {prior.family} prior has no exact posterior.",
                f"Its prior is {' or '.join(PAIRS[likelihood.family])}.",
            )
        data = self.value(bound.given["data"], scope)
        if isinstance(data, Thing) and data.kind == "noisy-data":
            self._fits_noisy(likelihood, prior, data, bound.given["data"])
            expr = Expr("observe", (data.expr, likelihood.expr, prior.expr), (), place(node))
            return Thing("noisy-model", expr, likelihood.family, (data, likelihood, prior), True)
        if not isinstance(data, Data):
            raise refuse(
                "type",
                bound.given["data"],
                f"observe takes data, and here stands {described(data)}.",
                "Give it the database, a generator over it, or what randomized_response returns.",
            )
        mapped, kind = self.rows(data, bound.given["data"])
        self._fits(likelihood, prior, kind, bound.given["data"])
        observed = self.data_expr(data, mapped, node)
        expr = Expr("observe", (observed, likelihood.expr, prior.expr), (), place(node))
        return Thing("model", expr, likelihood.family, (data, likelihood, prior), prior.released)

    def _thing(self, node: ast.expr, scope: Scope, kind: str) -> Thing:
        found = self.value(node, scope)
        if isinstance(found, Named) and kind == "likelihood" and found.name in PAIRS:
            if found.name in ("bernoulli", "categorical"):
                return self._likelihood(found.name, node, ())
            needs = {"normal": "sd", "poisson": "exposure", "linear_model": "noise_sd"}[found.name]
            raise refuse(
                "arguments", node, f"{found.name} needs {needs}: {found.name}({needs}=...)."
            )
        if isinstance(found, Thing) and found.kind == kind:
            return found
        if isinstance(found, Thing) and kind == "prior" and found.kind == "released-posterior":
            return Thing("prior", found.expr, found.family, (), True)
        if isinstance(found, Thing) and found.kind == "posterior":
            raise refuse(
                "private-parameter",
                node,
                "A posterior that has not been released is private, and so is a prior made of it.",
                "Release it first: exponential(...), or laplace(statistics(model), ...).",
            )
        raise refuse("type", node, f"Here stands {described(found)}, and a {kind} is wanted.")

    def _fits_noisy(self, likelihood: Thing, prior: Thing, data: Thing, node: ast.AST) -> None:
        if data.family not in ("bernoulli", "categorical") or likelihood.family not in (
            data.family,
            "categorical",
        ):
            raise refuse(
                "type",
                node,
                f"{likelihood.family} does not observe these noisy answers.",
                "Answers of randomized_response are observed as what they are about: Bool by "
                "bernoulli, Category by categorical.",
            )
        labels = len(data.about)
        if likelihood.family == "categorical" and prior.about and len(prior.about) != labels:
            raise _miscounted(labels, len(prior.about), node)

    def _fits(self, likelihood: Thing, prior: Thing, kind: Type, node: ast.AST) -> None:
        family = likelihood.family
        wanted = {
            "bernoulli": ("bool",),
            "categorical": ("category", "bool"),
            "normal": ("real", "int"),
            "poisson": ("int",),
            "linear_model": ("vector",),
        }[family]
        if kind.kind not in wanted:
            raise refuse(
                "type",
                node,
                f"{family} observes {' or '.join(_ROWS[one] for one in wanted)}, and these rows "
                f"are {_ROWS.get(kind.kind, kind.kind)}.",
                _instead(family, kind),
            )
        if family == "categorical" and prior.about:
            labels = len(kind.labels) or 2
            if len(prior.about) != labels:
                raise _miscounted(labels, len(prior.about), node)

    def call_infer(self, node: ast.Call, scope: Scope) -> Value:
        """infer(model): the exact posterior, private until it is released."""
        found = self.value(bind(node, ["model"], needed=1).given["model"], scope)
        if isinstance(found, Thing) and found.kind == "noisy-model":
            raise refuse("type", node, "This model is of noisy data.", "Use noise_aware(model).")
        if not isinstance(found, Thing) or found.kind != "model":
            raise refuse("type", node, f"infer takes a model, and here stands {described(found)}.")
        if found.family == "linear_model":
            raise refuse(
                "prior",
                node,
                "A regression's posterior is released through its statistics.",
                "nuts(gaussian(statistics(model), epsilon=, delta=), draws=).",
            )
        prior = found.about[2]
        assert isinstance(prior, Thing)
        expr = Expr("posterior", (found.expr,), (), place(node))
        return Thing("posterior", expr, prior.family, (found,), found.released)

    def model(self, node: ast.expr, scope: Scope, what: str) -> Thing:
        """An argument that is a model of private data."""
        found = self.value(node, scope)
        if isinstance(found, Thing) and found.kind == "model":
            return found
        raise refuse("type", node, f"{what} takes a model, and here stands {described(found)}.")

    def call_statistics(self, node: ast.Call, scope: Scope) -> Value:
        """statistics(model): the minimal sufficient statistics, given what is public."""
        model = self.model(bind(node, ["model"], needed=1).given["model"], scope, "statistics")
        found = self.statistics(model, node)
        return replace(found, statistics=(found.expr, model))

    def statistics(self, model: Thing, node: ast.AST) -> Scalar:
        """The sums behind a model."""
        data = model.about[0]
        assert isinstance(data, Data)
        mapped, kind = self.rows(data, node)
        if model.family == "categorical":
            labels = len(kind.labels) or 2
            items = tuple(Type("int", Fraction(0), Fraction(1)) for _ in range(labels))
            hot = Expr("onehot", (mapped,), (Fraction(labels),), place(node))
            return self.summed(data, hot, Type("vector", items=items), node)
        if model.family == "linear_model":
            d = len(kind.items)
            items = (REAL,) * (d * (d + 1) // 2)
            moments = Expr("moments", (mapped,), (), place(node))
            return self.summed(data, moments, Type("vector", items=items), node)
        total = self.summed(data, mapped, kind, node)
        if model.family == "poisson" or self.is_public_data(data, ONE):
            return total
        if model.family == "bernoulli":
            rows = Expr("tuple", (mapped, Expr("not", (mapped,), (), place(node))), (), place(node))
        else:
            rows = Expr("tuple", (ONE, mapped), (), place(node))
        items = (INT, INT if model.family == "bernoulli" else sum_type(kind))
        return self.summed(data, rows, Type("vector", items=items), node)

    def call_parameters(self, node: ast.Call, scope: Scope) -> Value:
        """parameters(posterior): all its parameters, as a private vector."""
        found = self.value(bind(node, ["posterior"], needed=1).given["posterior"], scope)
        if not isinstance(found, Thing) or found.kind != "posterior":
            released = isinstance(found, Thing) and found.kind == "released-posterior"
            raise refuse(
                "type",
                node,
                "parameters takes infer(model).",
                "Return this posterior as it is: the result has its mean, interval and parameters."
                if released
                else "",
            )
        model = found.about[0]
        assert isinstance(model, Thing)
        data, prior = model.about[0], model.about[2]
        assert isinstance(data, Data)
        assert isinstance(prior, Thing)
        if prior.family not in ("beta", "dirichlet") or not prior.about:
            raise refuse(
                "nonlinear",
                node,
                f"The parameters of a {prior.family} posterior are no plain sums.",
                "Release statistics(model), and derive the posterior by noise_aware.",
            )
        mapped, kind = self.rows(data, node)
        if model.family == "bernoulli":
            hot = Expr("tuple", (mapped, Expr("not", (mapped,), (), place(node))), (), place(node))
            labels = 2
        else:
            labels = len(kind.labels) or 2
            hot = Expr("onehot", (mapped,), (Fraction(labels),), place(node))
        items = tuple(Type("int", Fraction(0), Fraction(1)) for _ in range(labels))
        total = self.summed(data, hot, Type("vector", items=items), node)
        start = scalar(Items(prior.about), node)
        return self.arithmetic("add", node, start, total)


def _miscounted(labels: int, numbers: int, node: ast.AST) -> ProgramError:
    return refuse(
        "prior",
        node,
        f"There are {labels} categories and {numbers} prior numbers.",
        "Give one for each.",
    )


_ROWS = {
    "bool": "truth values",
    "category": "labels",
    "int": "whole numbers",
    "real": "numbers",
    "vector": "tuples of numbers",
}


def _instead(family: str, kind: Type) -> str:
    """Rows that a likelihood observes, made of those that are there."""
    if family == "bernoulli" and kind.kind == "category":
        label = "..." if len(kind.labels) < 2 else kind.labels[-1]
        return f'Compare them with a label: (p.column == "{label}" for p in people).'
    if family == "bernoulli" and kind.kind in ("int", "real"):
        return "Compare them with a number: (p.column > 0 for p in people)."
    if family == "poisson" and kind.kind == "real":
        return "Declare the column Int[low, high]."
    if family == "categorical" and kind.kind == "int":
        return _labels(kind)
    if family == "linear_model":
        return "Write (features, response) of each row, scaled into [-1, 1]."
    return ""


def _labels(kind: Type) -> str:
    """What is written for whole numbers that are categories."""
    if kind.low is None or kind.high is None:
        return "Declare the column as a Category."
    low, high = int(kind.low), int(kind.high)
    minus = f" - {low}" if low > 0 else f" + {-low}" if low else ""
    between = "..., " if high - low > 1 else ""
    return (
        f'Declare the column Category["{low}", {between}"{high}"] (whole numbers are read as '
        f"labels), or release the counts: laplace(sum(onehot(x{minus}, {high - low + 1}) for x in "
        "...), epsilon=...)."
    )
