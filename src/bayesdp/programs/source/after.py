"""What follows a release: posteriors from noisy statistics. It is free."""

from __future__ import annotations

import ast
from fractions import Fraction

from bayesdp.programs.ir import Derive, Expr, names_of
from bayesdp.programs.source.calls import Bound, bind
from bayesdp.programs.source.diagnostics import place, refuse
from bayesdp.programs.source.releases import Releases
from bayesdp.programs.source.scope import Scope
from bayesdp.programs.source.values import Scalar, Thing, Value


class After(Releases):
    """What the functions after a release mean."""

    def call_plug_in(self, node: ast.Call, scope: Scope) -> Value:
        """plug_in(noisy): the posterior as if the noisy statistics were true."""
        return self._after("plug-in", bind(node, ["noisy"], needed=1), scope, ())

    def call_noise_aware(self, node: ast.Call, scope: Scope) -> Value:
        """noise_aware(noisy): the posterior given what was released, noise included."""
        return self._after("noise-aware", bind(node, ["noisy"], needed=1), scope, ())

    def call_nuts(self, node: ast.Call, scope: Scope) -> Value:
        """nuts(noisy, draws=): samples of the noise-aware posterior."""
        bound = bind(node, ["noisy", "draws"], needed=2)
        draws = self.fixed(bound, "draws", scope)
        number = draws.data[0]
        assert isinstance(number, Fraction)
        if number.denominator != 1 or not 1 <= number <= 10**6:
            raise refuse("arguments", bound.given["draws"], "draws is a whole number up to 10^6.")
        return self._after("nuts", bound, scope, (number,))

    def _after(self, op: str, bound: Bound, scope: Scope, data: tuple[Fraction, ...]) -> Value:
        node = bound.given["noisy"]
        found = self.value(node, scope)
        if isinstance(found, Thing) and found.kind in ("model", "posterior"):
            raise refuse(
                "private-output",
                node,
                f"This {found.kind} is of private data that nothing has been added to.",
                f"Release its statistics first: {op.replace('-', '_')}(laplace(statistics(model), "
                "epsilon=...)).",
            )
        if isinstance(found, Thing) and found.kind == "noisy-model":
            family = found.about[2]
            assert isinstance(family, Thing)
            return self._derived(op, bound.node, (found.expr,), family.family, data)
        model = None
        if isinstance(found, Scalar) and found.level == "public" and found.expr.op == "public":
            model = self.models.get(str(found.expr.data[0]))
        if model is None or not isinstance(found, Scalar):
            if isinstance(found, Scalar) and names_of(found.expr) & self.joined:
                raise refuse(
                    "type",
                    node,
                    "This is one of two noisy statistics, as a condition has it.",
                    f"Put {op.replace('-', '_')} into both branches; what they give is one "
                    "posterior afterwards.",
                )
            raise refuse(
                "type",
                node,
                "This is not the noisy statistics of a model.",
                "Release laplace(statistics(model), epsilon=...) and hand that on as it is.",
            )
        prior = model.about[2]
        likelihood = model.about[1]
        assert isinstance(prior, Thing)
        assert isinstance(likelihood, Thing)
        about = Expr("observe", (Expr("nothing"), likelihood.expr, prior.expr), (), place(node))
        return self._derived(op, bound.node, (found.expr, about), prior.family, data)

    def _derived(
        self,
        op: str,
        node: ast.Call,
        args: tuple[Expr, ...],
        family: str,
        data: tuple[Fraction, ...],
    ) -> Thing:
        name = self.fresh(op.replace("-", "_"))
        self.commands.append(Derive(name, Expr(op, args, data, place(node)), place(node)))
        kind = "samples" if op == "nuts" else "released-posterior"
        return Thing(kind, Expr("public", (), (name,), place(node)), family, (), True)
