"""Panels: contraction through pairs of records, the same at all members and steps.

### 3.7p Panels: contraction through pairs (new)

**Statement** (theorem `panel-contraction`). Clusters are mutually independent. In one of them let
`x_(j, t)` be the record of member `j` of `m` at step `t` of `T`, and, if so declared, `w_t` a
shared state, which is not a record. The law is proportional to a product of non-negative factors of
single records and single states, whatever they are, and of positive factors of pairs, with cross
ratios (3.7) of at most

```text
R_o   x_(j, t) and x_(j, t + 1)          R_w   w_t and w_(t + 1)
R_p   x_(j, t) and x_(k, t + 1), k != j  R_s   w_t and x_(j, t)
R_n   x_(j, t) and x_(k, t), k != j
```

With `g(s; R) = ln f(e^s; R)` and `f` from 3.6, let numbers `y >= 0` satisfy

```text
S    = eps + 2 y_o + 2 (m - 1) y_p + (m - 1) y_n + y_x
y_o >= g(S - y_o; R_o)                  y_x >= g(2 y_w + (m - 1) y_s; R_s)
y_p >= g(S - y_p; R_p)                  y_s >= g(S - y_x; R_s)
y_n >= g(S - y_n; R_n)                  y_w >= g(y_w + m y_s; R_w)
```

where a kind of pair that a cluster doesn't have counts 0. Then `L(eps) <= min(S, m T eps)` for
every adversary; also for clusters of fewer members or steps, and with gaps. `T` are the steps of
which the table may have records: the cluster may have begun before the first and go on after the
last. `m` counts every member whose records influence others, also those in no table. Records may
have any number of values.

**Proof.** A cluster is a graph of pairs, and this is 3.7 with one message for each kind of pair and
side: `y_o`, `y_p` and `y_n` for pairs of records, `y_x` for a record and its state seen from the
record, `y_s` for the same pair seen from the state, and `y_w` for two states. Three things are to
be shown. *(1) of 3.7 holds everywhere.* Let the message go from a factor `a` to `i`, and let `k` be
the other member of `a`. If `k` is a record, the messages into it are at most 2 of its own
neighbouring steps, `2 (m - 1)` of other members' neighbouring steps, `m - 1` of the same step and
one of the state; without that from `a`, and with `eps`, that is what stands in the argument of `g`.
Where a cluster begins or ends, in a smaller one, and where the adversary knows records, there are
fewer, and `g` increases. Even one step has two neighbouring ones that nobody lists: were they not
counted, the level would be too low (two members, `R_o = 10`, `R_p = 3`, `R_n = 1`, one listed step
between two others: 1.479 at `eps = 1`). *States.* In the proof of 3.7 a change of `k` costs `e^eps`
because the mechanism reads `k`. It doesn't read a state, so that costs nothing. The target is a
record, so no level of a state is needed. *Factors of one record* do not enter (1): they cancel in
cross ratios. Where they exclude values, these are out of the domain, as in 3.7; the pairs' factors
stay positive, and their cross ratios can only fall. A record that is not in the table is one that
the mechanism does not read, or one that isn't there: either way arguments of `g` only fall. At most
`m T` records change, whence the other bound (3.2). ∎

**What need not be known.** Trends, seasons, habits and covariates are factors of single records:
they may be anything, and differ from member to member and from step to step, but they are fixed.
One who is unsure of a habit learns about it from all records, which ties them together. Only the
influences are declared, each by the most that the odds of two values change when the other record
of the pair changes, everything else staying as it is. For two values and `ln odds = (anything) + b
(own record before and after) + c (sum over the others now)` these are `R_o = e^|b|` and `R_n =
e^|c|`: an autologistic model (Besag 1974).

`m = 1` is a single series, and the closed form of 3.6. Messages are found from above: `y = ln R`
satisfies all lines, because `g(s; R) <= ln R`, and replacing each `y` by its right-hand side, where
that is less, makes a solution of a solution (3.7).

*Checked:* against the search over all mechanisms on random panels of up to six records, with
factors of single records, both signs of influences, shared states, missing members; and against the
graph of pairs by 3.7.
"""

from __future__ import annotations

from bayesdp.leakage.panels import log_ratios, pairs_level
from bayesdp.notions import Bound, Cost
from bayesdp.populations import Panel
from bayesdp.theorems.base import Question, Theorem


class PanelContraction(Theorem[Panel]):
    """`L(eps) <= S`, the cost and all messages into a record (theory 3.7p)."""

    name = "panel-contraction"
    statement = "a panel: each pair of records passes on a change contracted by its odds ratio"
    source = "bayesdp; theory 3.7p"
    uses = "the declared odds ratios, the number of members"
    ignores = "all else about the law: a level holds for every law with such odds ratios"
    models = (Panel,)
    covers_vague_knowledge = True

    def failed_hypothesis(self, population: Panel, question: Question, cost: Cost) -> str | None:
        """Needs an odds ratio for every kind of pair that a cluster has."""
        if log_ratios(population) is not None:
            return None
        left_open = "others_now"
        if population.others_now is not None or population.series == 1:
            left_open = "shared_now"
        return f"population.{left_open} is left out: at one step anything is possible"

    def level(self, population: Panel, question: Question, cost: Cost) -> Bound:
        """The cost and the messages; those come from above."""
        proved = pairs_level(population, cost.dp_epsilon, question.deadline)
        return self._bound(proved.epsilon, messages=list(proved.messages))
