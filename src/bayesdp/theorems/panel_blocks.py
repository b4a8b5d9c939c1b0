"""Panels: contraction of whole steps, whatever members have to do with each other at one step.

### 3.7q Panels: whole steps at once (new)

**Statement** (theorem `panel-blocks`). Let clusters be as in 3.7p, but in place of the factors
within a step, those of `x_(j, t)`, `x_(k, t)` and `w_t`, let there be any non-negative factor of
all of them. With `R = R_o^m R_p^(m (m - 1)) R_w`, for every adversary,

```text
L(eps) <= min(4 asinh(sqrt(R) sinh(m eps / 4)), m T eps).
```

**Proof.** Let the block `B_t` be the members' records at step `t` and the state `w_t`. The law is a
product of factors `A_t(B_t)` and `C_t(B_t, B_(t + 1))`, so the blocks are a Markov chain. `C_t` is
a product of `m` factors of own pairs, `m (m - 1)` of other members and one of states: it is
positive, and its cross ratio is at most `R`. What the adversary knows about records is a weight on
single blocks. So given `B_t = z` and what is known, the law of `B_(t + 1)` is proportional to
`C_t(z, b) h(b)` with a function `h` that doesn't depend on `z`: two such laws have a cross ratio of
at most `R`, and, `C_t` being positive, the same support. That is all that 3.6 uses of rows; the
same holds backwards. A mechanism that is eps-DP in records is `m eps`-DP in blocks, because it does
not read states. So `ln E[g | B_t = z, x_K] - ln E[g | B_t = z', x_K]` is at most the closed form of
3.6 with this `R` at the cost `m eps`. A secret is about one record of a block: given `x_i`, the
mean is an average of means given `B_t`, over blocks with that `x_i`, and two averages differ by no
more than the means that are averaged. Fewer members have a smaller `R` and a lower cost, fewer
steps a shorter chain, and records that are not in the table aren't read. At most `m T` records
change (3.2). ∎

*Regressions on the past.* Let members be independent given the step before, with `ln P[x_(k, t + 1)
= v | step t] = a_k(v) + sum over j of s_jk(x_(j, t), v) - ln Z_k(step t)`, as in a logistic
regression on the last records of all members. The `Z_k` are factors within step `t`, so this is a
law of this section: `R_o` is the cross ratio of `e^(s_kk)`, and `R_p` that of `e^(s_jk)`. It is
not one of 3.7p, because the `Z_k` tie the members of a step together.

It costs more than 3.7p where influences within a step are weak, and does not ask how strong they
are. *Checked:* with 3.7p, on the same panels.
"""

from __future__ import annotations

from bayesdp.leakage.panels import blocks_level
from bayesdp.notions import Bound, Cost
from bayesdp.populations import Panel
from bayesdp.theorems.base import Question, Theorem


class PanelBlocks(Theorem[Panel]):
    """`L(eps) <= 4 asinh(sqrt(R) sinh(m eps / 4))`, `R` of whole steps (theory 3.7q)."""

    name = "panel-blocks"
    statement = "a panel: the steps of a cluster are a chain, contracted by its largest cross ratio"
    source = "bayesdp; theory 3.7q"
    uses = "the odds ratios from one step to the next, the number of members"
    ignores = "what is known of influences at the same step, and of all else"
    models = (Panel,)
    covers_vague_knowledge = True

    def level(self, population: Panel, question: Question, cost: Cost) -> Bound:
        """The closed form of 3.6 for whole steps."""
        return self._bound(blocks_level(population, cost.dp_epsilon))
