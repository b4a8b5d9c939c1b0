"""Mutants of numbers that no certificate of `test_number_mutants` shows, each with the reason."""
# ruff: noqa: E501 (a name and its reason are in one piece)

from __future__ import annotations

SURVIVING: dict[str, str] = {
    "law: -1 for 0 in min(values) >= 0": "The statements refuse a law with a negative probability.",
    "Recursion.level: 2 in self.size - 1": "It counts the work that is to be done, which is a matter of time.",
    "Recursion._exhaustive: 0 for 1 in len(reachable) - 1": "One more place has its values looked at one by one: they are those of any later one.",
    "_running: -1 for 0 in history[0]": "Only the number of states is read there, which all entries have.",
    "close: -1 for 0 in 0 <= derived == stated": "No cost is below 0: the statements refuse one.",
    "group: -1 for 0 in Fraction(0)": "A single record has no correlation, and is not asked for one.",
    "_multiplied: -1 for 0 in members[0]": "All members of a factor lie in one component.",
    "_with_flows: 1 in arb(0) (2)": "A state that needs nothing is then said to need more: the bound is larger.",
    "_Results.value: abs(total) < 2 ** 63 for abs(total) <= 2 ** 63": "One value less is accepted, the largest of all.",
    "_Results.answer: whole + 1 for whole - 1": "It looks for a value at one place less: nothing becomes valid.",
    "finite_law _Part._reveal: 0 for 1 in arb(1)": "It multiplies the weight of a value that can't occur, which is 0.",
    "finite_law _Part._reveal: 2 in arb(1) (3)": "The cost between values that can't both occur becomes larger, which no law's bound asks for.",
    "graph_contraction bound: 1 for 2 in len(witness) < 2": "A grid with one number is then read record by record, and the same number proves the same.",
    "graph_contraction _grid: 1 in max(degree - 1, 0)": "Of a grid of two records a message sums over one more: the bound is larger.",
    "graph_contraction _grid: -1 for 0 in max(degree - 1, 0)": "It is so of a grid of one record, which gets no message.",
    "markov_contexts bound: min(map(min, rows)) >= 0 for min(map(min, rows)) > 0": "A ratio of blocks is divided by such a zero in a later line, which makes the step malformed.",
    "markov_influence _influence: 3 in order - distance + 2": "Records that are known beyond the order change no ratio.",
    "markov_influence _total: 3 in i + len(kappa) + 2": "Records further away than the order have no influence: they add 0.",
    "markov_influence _total: missing * room for missing / room": "What is missing where the whole line was solved is a rounding error, far below the digits of a level.",
    "markov_influence _fading: 63 for 64 in range(8, 64)": "One way less to bound what is left out: nothing becomes valid.",
    "markov_recursion _tuples: 3 in count ** 2": "It counts the work that is to be done, which is a matter of time.",
    "tree_recursion _passed: 2 in arb(1)": "It stands for values that can't occur, to which no law gives any weight.",
    "_least: 9 for 10 in 10 ** 11": "A search that ends sooner, with a larger number: it holds all the same.",
    "StateFields._number: 0 for 1 in size - 1": "A message is allowed to be larger than any can be, which proves no less.",
}
"""None of them makes the kernel accept what it refuses."""

SEEN_ELSEWHERE = {
    "_between: all in any((0 < share <= ROUNDED and low[v] == 0 for v, share in forced.items()))": "test_a_value_that_rounding_may_forbid_hides_what_every_row_allows",
    "_Pair.step: 1 in inverse == 0": "test_evidence_that_tells_nothing_apart_still_passes_on_a_cost",
    "_binomial: max in min(max(int(float((trials * chance).mid())), 0), trials)": "test_tails_of_perturbed_answers",
    "_check_interval: 1 for 2 in (1 - Fraction(result.between.confidence)) / 2": "test_an_interval_leaves_out_just_what_is_implausible",
    "_command_cost: -1 for 0 in Fraction(0) (7)": "test_pieces_of_a_program_cost_the_dearest_or_all_together",
    "_furthest: 0 for 1 in norms[-1]": "test_a_row_that_leaves_a_period_for_another_moves_sums_at_most_so_far",
    "sensitivity: 1 for 2 in replaced ** 2": "test_a_record_moves_the_scores_of_a_quantile_at_most_so_far",
}
"""They are seen by tests of `test_number_oracles`, against the same numbers by other means."""

NOT_SHOWN = frozenset(
    {
        "Recursion._exhaustive: 2 in position - 1 (2)",
    }
)
"""Nobody has shown yet whether a certificate can tell these from the kernel."""
