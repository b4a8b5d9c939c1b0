"""Grids of records with two values: the sum of the correlations of a record without fields.

### 3.7r Grids of two states: the susceptibility without fields (new)

**Statement** (theorem `graph-ferromagnet`). Let every record have two possible values, written as
spins -1 and 1, and let `pi` be proportional to positive factors of single records and of pairs. The
factor of a pair is `exp(J_uv s_u s_v)` times factors of single records, with `e^(4 J_uv) = psi(1,
1) psi(-1, -1) / (psi(1, -1) psi(-1, 1))`. Let all `J_uv >= 0`, and let `<s_u s_v>` be correlations
in the model with these `J` and no factors of single records. Then

```text
L(eps) <= eps max over i of chi_i,      chi_i = sum over v of <s_i s_v>  (v = i counts 1),
```

for adversaries of any class, who may also have independent evidence about any single records. On a
grid whose neighbours share one table, `J` may be negative too, and `|J|` stands in its place: the
rows and columns of neighbours add up to an odd and an even number. Exchange the two values of every
second record. This turns the sign of every `J`, and a change of one record stays a change of one
record, so that neither DP nor the level is changed.

**Proof.** Let `K` be known, `U` all other records but `i`. Given `x_K` and `s_i`, the law of `s_U`
has the same `J` within `U` and the field `h_v + sum_(k in K) J_vk s_k + J_vi s_i` at `v`; evidence
about single records adds to the fields, and is the same for both values of `s_i`. Evidence that
rules a value out makes the record a known one. For one outcome let `F_1` and `F_-1`, functions of
`s_U`, be its probability given `s_i = 1` and `-1`. DP says that `F_1 <= e^eps F_-1`, and that
turning one spin of `U` from -1 to 1 multiplies either by at most `e^eps`.

*Step 1: the worst is a count.* Let `mu_t^u`, `u = 1, -1`, be the law of `s_U` with `t J_vi u` in
the place of `J_vi u`, and `R_t(F) = mu_t^1(F_1) / mu_t^-1(F_-1)`. Compare it with `G_u = e^(eps
N)`, `N` the number of ones, `i` included. At `t = 0` both laws are the same: `R_0(F) <= e^eps =
R_0(G)`. And

```text
d/dt ln R_t(F) = sum over v of J_vi [E_(1,F) s_v - E_1 s_v + E_(-1,F) s_v - E_-1 s_v],
```

`E_u` being the mean under `mu_t^u` and `E_(u,F)` that under `mu_t^u` tilted by `F_u`. Tilted by
`G_u` the law has other fields and the same `J >= 0`, so increasing functions are positively
correlated (Fortuin, Kasteleyn and Ginibre 1971); `F_u / G_u` decreases in every spin, by DP. Hence
`E_(u,F) s_v <= E_(u,G) s_v`, the derivative for `F` is at most that for `G`, and `R_1(F) <=
R_1(G)`. For the other order of the two values of `i`, turn all spins.

*Step 2: a tilt adds up influences.* With `E_th` the mean with `th / 2` added to every field,

```text
ln R_1(G) = integral from 0 to eps of
    1 + sum over v in U of (E_th[s_v | s_i = 1] - E_th[s_v | s_i = -1]) / 2   d th.
```

*Step 3: influences are largest without fields.* With `i` as the boundary, the difference in the
brackets is at most what it is without fields, whatever the fields and their signs (Ding, Song and
Sun 2021). Without fields it is `2 <s_i s_v>` among `U` and `i`, at most `2 <s_i s_v>` among all
records, because further `J >= 0` raise correlations (Griffiths 1967; Kelly and Sherman 1968, GKS).
So the integrand is at most `chi_i`. ∎

**A box bounds chi.** Let `B` hold `i`. For every record `v`

```text
<s_i s_v> <= 1(v in B) <s_i s_v>_B + sum over a in B, b not in B of
             <s_i s_a>_B tanh(J_ab) <s_b s_v>,                                          (1)
```

`<>_B` in the model of `B` alone. Summed over `v`: `chi_i <= S_i + sum_b w_b chi_b`, with `S_i` the
sum of `<s_i s_v>_B` over `B`, and `w_b` what stands before `<s_b s_v>`. With `phi_i = sum_b w_b`
and a box for each record, all `phi_i < 1`, the record of the largest `chi` gives

```text
max chi <= max over i of S_i / (1 - phi_i).                                             (2)
```

*Proof of (1).* `exp(J s_a s_b)` is proportional to `1 + tanh(J) s_a s_b`. Multiply this out over
the pairs that cross: a sum over sets `D` of crossing pairs, with `t_D` the product of their `tanh
J`, `a(D)` and `b(D)` their ends inside and outside. Let first `v` be outside. Then `Z <s_i s_v>` is
the sum of `t_D <s_i s_a(D)>_B <s_v s_b(D)>_rest`, with `Z = sum_D t_D <s_a(D)>_B <s_b(D)>_rest`. By
Newman (1975), `<s_i s_A> <= sum_(a in A) <s_i s_a> <s_(A without a)>` for any list `A`. (It is the
switching lemma: in two currents, the first with sources `i` and `A`, `i` is connected to some
source in `A`. `A` may name a record twice, as `s^2 = 1`, or `i` itself, as `<s_i s_i> = 1`.)
Apply it to `a(D)`. The part for one pair `(a, b)` of `D` is `<s_i s_a>_B tanh(J_ab)` times `t_E
<s_a(E)>_B <s_v s_b s_b(E)>_rest`, `E` the other pairs of `D`. Sum over all
sets `E`, which adds terms that are not negative (GKS): `Z <s_b s_v>` is left. If `v` is inside, it
is one more member of the list; it gives `<s_i s_v>_B` times `sum_D t_D <s_a(D)>_B <s_b(D)>_rest`,
which is `Z`. ∎

(1) is due to Simon (1980) and Lieb (1980), with `J` in the place of `tanh J`; see also Aizenman
(1982).

**Which box.** On a grid: 2 r + 1 rows and columns with the record in the middle. Where the border
cuts it, there are fewer records and pairs, and the sums are smaller (GKS). Where the grid is no
wider than 2 r + 1, the box is as wide as the grid, and the record may be anywhere in it; a box that
is the whole grid has `phi = 0`. If that would be too many sums, the grid counts as a part of a
larger one, whose correlations are larger (GKS). Sums go through a box column by column, with a
weight for each state of a column. bayesdp takes the smallest r up to 5 that is within 0.2 % of the
best; the kernel sums the same box again in balls.

*What is proved here and what is cited.* Steps 1 and 2, (1) from Newman's inequality and (2) are
proved above. Cited: FKG and GKS; Newman's inequality; and for step 3, J. Ding, J. Song, R. Sun, *A
new correlation inequality for Ising models with external fields* (arXiv 2107.09243, Probability
Theory and Related Fields), of which the theorem rests on one sentence: boundary conditions have the
largest influence on any spin when the external field is 0 everywhere, against inhomogeneous fields
of any signs. It is proved again in arXiv 2509.02850, Appendix C.

**Where it matters.** Linear in `eps`, so at its best for small `eps`; it asks nothing about fields,
so it is for values that are about even. On large grids it ends where `phi` reaches 1, at `J` of
about .38 (the cross ratio 4.6); correlations themselves die out up to .44. At `J = .35` it is 19.4
`eps`, where contraction (3.7) at `eps` .1 has nothing but group privacy. On chains and trees
contraction is never above it. Zeros are refused: they are infinite `J`.

*Checked:* against the exact levels of grids up to 3 x 3, by enumeration; step 1 against the linear
program over all mechanisms; steps 1 to 3 and (1) on random graphs with fields of both signs.
"""

from __future__ import annotations

from fractions import Fraction

from bayesdp.leakage.ferromagnet import LARGEST_RATIO, susceptibility
from bayesdp.notions import Bound, Cost
from bayesdp.numbers import UpperBound, up
from bayesdp.populations import Graph
from bayesdp.theorems.base import Question, Theorem


class GraphFerromagnet(Theorem[Graph]):
    """`L(eps) <= eps max_i sum_v <s_i s_v>`, correlations without fields (theory 3.7r)."""

    name = "graph-ferromagnet"
    statement = "a grid of two states: a factor from correlations with equal odds everywhere"
    source = "bayesdp, with Ding, Song and Sun 2021 (arXiv 2107.09243); theory 3.7r"
    uses = "the grid, and the cross ratio of its table"
    ignores = "how rare values are, and that influences shrink as costs grow"
    models = (Graph,)
    covers_vague_knowledge = True

    def applies(self, population: Graph) -> bool:
        """Grids alone: their boxes all look the same."""
        return population.grid is not None

    def failed_hypothesis(self, population: Graph, question: Question, cost: Cost) -> str | None:
        """Needs two values, no zeros, and a box that shows that influences die out."""
        table = population.table or ()
        if len(table) != 2:
            return "its records have other than two possible values"
        if min(map(min, table)) == 0:
            return "the table has a zero, which is an infinite coupling"
        assert population.grid is not None
        ratio = _ratio(population)
        if ratio <= LARGEST_RATIO and susceptibility(population.grid, ratio) is not None:
            return None
        words = f"{float(ratio):.3g}" if ratio <= LARGEST_RATIO else f"above {LARGEST_RATIO:g}"
        return (
            f"the coupling is too strong: at a cross ratio of {words} no box of records that can "
            "be summed shows that influences die out"
        )

    def level(self, population: Graph, question: Question, cost: Cost) -> Bound:
        """The largest sum of correlations, times `eps`."""
        assert population.grid is not None
        proved = susceptibility(population.grid, _ratio(population))
        assert proved is not None
        level = UpperBound(up(proved.value * cost.dp_epsilon, 1))
        return self._bound(level, factor=proved.value, radius=proved.radius)


def _ratio(population: Graph) -> Fraction:
    """The cross ratio of a pair, exact, or its inverse: the one that is at least 1."""
    (first, second), (third, fourth) = population.table or ()
    ratio = Fraction(first) * Fraction(fourth) / (Fraction(second) * Fraction(third))
    return max(ratio, 1 / ratio)
