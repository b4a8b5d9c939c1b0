"""The commands that cost: what each release takes, and what its result is called."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from bayesdp.programs.ir import Command, Expr, Release, Type
from bayesdp.programs.source.calls import POSTERIOR, Bound, bind
from bayesdp.programs.source.candidates import Candidates, among
from bayesdp.programs.source.diagnostics import ProgramError, place, refuse
from bayesdp.programs.source.scope import Scope
from bayesdp.programs.source.values import (
    INT,
    REAL,
    Data,
    Row,
    Scalar,
    Thing,
    Value,
    described,
    scalar,
    static,
    static_of,
)

CANDIDATE_ENDED = "is a candidate, inside its score only."


class Releases(Candidates):
    """Releases append a command; their value is a public name."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.count = 0
        self.models: dict[str, Thing] = {}
        self.joined: set[str] = set()
        """Names of what is one of two noisy statistics."""

    def fresh(self, hint: str) -> str:
        """A name that no other command has."""
        self.count += 1
        return f"{hint}_{self.count}"

    def emit(self, op: str, node: ast.Call, args: Sequence[Expr], options: dict[str, Expr]) -> Expr:
        """Append a release; the public name of its result."""
        name = self.fresh(op.replace("-", "_"))
        self.commands.append(
            Release(name, op, tuple(args), tuple(sorted(options.items())), place(node))
        )
        return Expr("public", (), (name,), place(node))

    # -- options ---------------------------------------------------------------------------

    def fixed(self, bound: Bound, name: str, scope: Scope, *, positive: bool = True) -> Expr:
        """A number known before the data is read."""
        node = bound.given[name]
        found = scalar(self.value(node, scope), node)
        if found.level in ("row", "private"):
            raise refuse(
                "private-parameter",
                node,
                f"{name} depends on private data, so its value would tell about them.",
                "Use a literal or a public parameter.",
            )
        if found.level != "static" or found.type.kind not in ("int", "real"):
            raise refuse(
                "static",
                node,
                f"{name} must be a number that is known before anything is released.",
                "Use a literal or a public parameter"
                + ("; or an `if` with one release in each branch." if found.released else "."),
            )
        value = found.expr.data[0]
        assert isinstance(value, Fraction)
        if positive and value <= 0:
            raise refuse("arguments", node, f"{name} must be above 0.", "")
        return found.expr

    def epsilon(self, bound: Bound, scope: Scope) -> Expr:
        """The privacy cost."""
        if "epsilon" not in bound.given:
            raise refuse(
                "arguments",
                bound.node,
                "A release states what it costs.",
                "epsilon=0.5, for example.",
            )
        return self.fixed(bound, "epsilon", scope)

    def asserted(self, bound: Bound, name: str, scope: Scope) -> dict[str, Expr]:
        """sensitivity= or sigma=: a public number, held against the derived one."""
        if name not in bound.given:
            return {}
        found = self.public(bound.given[name], scope, name)
        if found.released:
            raise refuse(
                "static", bound.given[name], f"{name} must not depend on a released value."
            )
        value = static_of(found)
        if isinstance(value, Fraction) and (value < 0 or (name == "sigma" and value == 0)):
            code = "noise" if name == "sigma" else "sensitivity"
            least = "above 0" if name == "sigma" else "at least 0"
            raise refuse(code, bound.given[name], f"{name} is {least}.", "Leave it out.")
        return {name: found.expr}

    # -- noise on numbers --------------------------------------------------------------------

    def private_value(self, node: ast.expr, scope: Scope) -> Scalar:
        """What is to be noised."""
        found = self.value(node, scope)
        if isinstance(found, Thing) and found.kind in ("model", "posterior"):
            raise refuse(
                "type",
                node,
                f"A {found.kind} is no number.",
                "Release statistics(model) or parameters(posterior).",
            )
        if isinstance(found, Data):
            raise refuse(
                "type", node, "Private data is no number.", "Release sum(...), count(...) of it."
            )
        value = scalar(found, node)
        self.numeric(value, node)
        if value.level == "row":
            raise refuse(
                "type", node, "This is the value of one record.", "Release a sum over all of them."
            )
        return value

    def call_laplace(self, node: ast.Call, scope: Scope) -> Value:
        """laplace(value, epsilon=[, sensitivity=])."""
        bound = bind(node, ["value"], needed=1, keyword=["epsilon", "sensitivity"])
        options = {"epsilon": self.epsilon(bound, scope)}
        options |= self.asserted(bound, "sensitivity", scope)
        return self._noised("laplace", bound, scope, options)

    def call_gaussian(self, node: ast.Call, scope: Scope) -> Value:
        """gaussian(value, epsilon=, delta=[, sigma=])."""
        bound = bind(node, ["value"], needed=1, keyword=["epsilon", "delta", "sigma"])
        if "delta" not in bound.given:
            raise refuse(
                "arguments", node, "Gaussian noise has no cost without a delta.", "delta=1e-6."
            )
        options = {
            "epsilon": self.epsilon(bound, scope),
            "delta": self.fixed(bound, "delta", scope),
        }
        delta = options["delta"].data[0]
        assert isinstance(delta, Fraction)
        if delta >= 1:
            raise refuse(
                "arguments", bound.given["delta"], "delta is below 1.", "1e-6, for example."
            )
        options |= self.asserted(bound, "sigma", scope)
        return self._noised("gaussian", bound, scope, options)

    def _noised(self, op: str, bound: Bound, scope: Scope, options: dict[str, Expr]) -> Value:
        at = bound.given["value"]
        value = self.private_value(at, scope)
        name = self.emit(op, bound.node, [value.expr], options)
        kind = _noisy_type(value.type)
        if value.model is not None:
            self.models[str(name.data[0])] = value.model
        return Scalar("public", name, kind, released=True)

    # -- answers about records -----------------------------------------------------------------

    def call_randomized_response(self, node: ast.Call, scope: Scope) -> Value:
        """randomized_response(data, epsilon=): one noisy answer for each record."""
        bound = bind(node, ["data"], needed=1, keyword=["epsilon"])
        data = self.data(bound.given["data"], scope)
        mapped, kind = self.rows(data, bound.given["data"])
        self._all_rows(data, node)
        if kind.kind not in ("bool", "category"):
            raise refuse(
                "type",
                bound.given["data"],
                "Randomized response answers about Bool or Category values.",
                "For numbers use laplace(sum(...)) or per_record_exponential.",
            )
        options = {"epsilon": self.epsilon(bound, scope)}
        name = self.emit("randomized-response", node, [self.data_expr(data, mapped, node)], options)
        family = "categorical" if kind.kind == "category" else "bernoulli"
        labels = tuple(static(one) for one in (kind.labels or ("False", "True")))
        return Thing("noisy-data", name, family, labels, True)

    def call_per_record_exponential(self, node: ast.Call, scope: Scope) -> Value:
        """per_record_exponential(data, score=, candidates=, epsilon=)."""
        bound = bind(node, ["data"], needed=1, keyword=["score", "candidates", "epsilon"])
        data = self.data(bound.given["data"], scope)
        self._all_rows(data, node)
        candidates = self._candidates(bound, scope)
        if candidates.family not in ("int", "real"):
            raise refuse("type", node, "Candidates for records are numbers.", "linspace(0, 1, 11).")
        score = self._needed(bound, "score")
        if not isinstance(score, ast.Lambda) or len(score.args.args) != 2:
            raise refuse(
                "arguments",
                score,
                "score is a lambda of one row's value and one candidate.",
                "score=lambda x, c: -abs(x - c)",
            )
        row, candidate = (one.arg for one in _parameters(score))
        variable = self.fresh("candidate")
        shown = Scalar("public", Expr("public", (), (variable,), place(score)), REAL)
        inner = scope.inside_rows(**{row: data.row, candidate: shown})
        before = len(self.commands)
        body = scalar(self.value(score.body, inner), score.body)
        for one in score.args.args:
            scope.ended(one, CANDIDATE_ENDED)
        if len(self.commands) != before:
            raise refuse("construct", score, "A score releases nothing itself.")
        self.numeric(body, score.body)
        if body.level == "private" or body.type.kind == "vector":
            raise refuse("type", score.body, "A record's score is one number of its own values.")
        scored = Expr("row-score", (body.expr,), (variable,), place(score))
        rows = self.data_expr(data, Expr("const", (), (Fraction(1),)), node)
        options = {"epsilon": self.epsilon(bound, scope)}
        name = self.emit("per-record-exponential", node, [rows, scored, candidates.expr], options)
        return Thing("noisy-data", name, "number", (), True)

    def _all_rows(self, data: Data, node: ast.AST) -> None:
        public = Expr("const", (), (Fraction(1),))
        if self.adjacency != "replace-one" or not self.is_public_data(data, public):
            raise refuse(
                "private-output",
                node,
                "One answer for each record tells how many records there are, and that is private "
                "here.",
                "Answer about every record of the database (replace-one, no private filter).",
            )

    # -- exponential mechanism, posterior samples ---------------------------------------------

    def call_exponential(self, node: ast.Call, scope: Scope) -> Value:
        """exponential(score=, candidates=, epsilon=[, sensitivity=])."""
        bound = bind(node, [], needed=0, keyword=["score", "candidates", "epsilon", "sensitivity"])
        candidates = self._candidates(bound, scope)
        at = self._needed(bound, "score")
        options = {"epsilon": self.epsilon(bound, scope)}
        options |= self.asserted(bound, "sensitivity", scope)
        if isinstance(at, ast.Lambda):
            score = self._scored(at, candidates, scope)
        else:
            found = self.value(at, scope)
            if not isinstance(found, Thing) or found.kind != "score":
                raise refuse(
                    "type",
                    at,
                    f"Here stands {described(found)}, and a score is wanted.",
                    "hellinger(posterior), or a lambda of one candidate.",
                )
            if candidates.family != found.family:
                raise refuse(
                    "type",
                    bound.given["candidates"],
                    f"The score is of {found.family} candidates, and these are others.",
                    "posteriors_of(prior, n=...) or grid_of(...).",
                )
            score = found
        name = self.emit("exponential", node, [score.expr, candidates.expr], options)
        if candidates.family in POSTERIOR:
            return Thing("released-posterior", name, candidates.family, (), True)
        kind = INT if candidates.family == "int" else REAL
        return Scalar("public", among(name, candidates.expr), kind, released=True)

    def _scored(self, score: ast.Lambda, candidates: Thing, scope: Scope) -> Thing:
        parameters = _parameters(score)
        if len(parameters) != 1:
            raise refuse("arguments", score, "The score is a lambda of one candidate.")
        if candidates.family in POSTERIOR:
            raise refuse("type", score, "A score of distributions is hellinger(posterior).", "")
        variable = self.fresh("candidate")
        kind = INT if candidates.family == "int" else REAL
        shown = Scalar("public", Expr("public", (), (variable,), place(score)), kind)
        inner = Scope({**scope.names, parameters[0].arg: shown}, self.adjacency, scope.gone)
        before = len(self.commands)
        body = scalar(self._score_of(score.body, inner), score.body)
        scope.ended(parameters[0], CANDIDATE_ENDED)
        if len(self.commands) != before:
            raise refuse("construct", score, "A score releases nothing itself.")
        self.numeric(body, score.body)
        if body.level == "row" or body.type.kind == "vector":
            raise refuse("type", score.body, "A score is one number.")
        return Thing("score", Expr("score", (body.expr,), (variable,), place(score)), "number")

    def _score_of(self, body: ast.expr, scope: Scope) -> Value:
        try:
            return self.value(body, scope)
        except ProgramError as error:
            found = error.diagnostic
            if found.code != "private-control":
                raise
            raise ProgramError(
                replace(found, accepted="A score is computed without: -abs(c - s), min and max.")
            ) from None

    def call_hellinger(self, node: ast.Call, scope: Scope) -> Value:
        """hellinger(posterior): the closer, the better."""
        found = self.value(bind(node, ["posterior"], needed=1).given["posterior"], scope)
        if isinstance(found, Thing) and found.kind == "model":
            raise refuse("type", node, "hellinger takes a posterior.", "hellinger(infer(model))")
        if not isinstance(found, Thing) or found.kind != "posterior":
            raise refuse("type", node, f"hellinger takes infer(model), not {described(found)}.")
        return Thing("score", Expr("hellinger", (found.expr,), (), place(node)), found.family)

    def call_posterior_sample(self, node: ast.Call, scope: Scope) -> Value:
        """posterior_sample(model, grid=, log_likelihood=(lo, hi), power=1)."""
        names = ["grid", "log_likelihood", "power"]
        bound = bind(node, ["model"], needed=1, keyword=names)
        model = self.model(bound.given["model"], scope, "posterior_sample")
        if model.family in ("categorical", "linear_model"):
            raise refuse(
                "type",
                node,
                "posterior_sample draws one number.",
                "It takes bernoulli, normal and poisson models.",
            )
        if model.family == "poisson" and self.adjacency != "replace-one":
            raise refuse(
                "type",
                node,
                "Records of a poisson model share its exposure, and how many share it is private "
                "under add-remove.",
                "Write noise_aware(laplace(statistics(model), epsilon=...)), or leave out "
                "adjacency= (then the number of records is public).",
            )
        grid = self._candidates(Bound(node, {"candidates": self._needed(bound, "grid")}), scope)
        if grid.family not in ("int", "real"):
            raise refuse(
                "type", bound.given["grid"], "The grid is of numbers: linspace(lo, hi, k)."
            )
        ends = static_of(self.value(self._needed(bound, "log_likelihood"), scope))
        if not (
            isinstance(ends, tuple)
            and len(ends) == 2
            and isinstance(ends[0], Fraction)
            and isinstance(ends[1], Fraction)
            and ends[0] < ends[1]
        ):
            raise refuse(
                "bounds",
                bound.given["log_likelihood"],
                "One record's log-likelihood is held between two numbers, known beforehand.",
                "log_likelihood=(-3, 0)",
            )
        options = {
            "low": Expr("const", (), (ends[0],)),
            "high": Expr("const", (), (ends[1],)),
            "power": Expr("const", (), (Fraction(1),)),
        }
        if "power" in bound.given:
            options["power"] = self.fixed(bound, "power", scope)
        name = self.emit("posterior-sample", node, [model.expr, grid.expr], options)
        return Scalar("public", among(name, grid.expr), REAL, released=True)


def _parameters(node: ast.Lambda) -> list[ast.arg]:
    given = node.args
    if given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg or given.defaults:
        raise refuse("construct", node, "A score's lambda has plain parameters only.")
    return given.args


def _noisy_type(kind: Type) -> Type:
    """Noise on a vector has one step for all entries: they are whole only if all of them are."""
    if kind.kind != "vector":
        return _plain(kind)
    whole = all(one.kind in ("int", "bool") for one in kind.items)
    return Type("vector", items=(INT if whole else REAL,) * len(kind.items))


def _plain(kind: Type) -> Type:
    return INT if kind.kind in ("int", "bool") else REAL


__all__ = ["Releases", "Row"]
