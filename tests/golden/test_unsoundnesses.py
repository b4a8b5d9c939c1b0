"""Every way known to fool such a checker is in the corpus of refused programs, at least twice."""

from __future__ import annotations

import pytest

from tests.golden.corpus import EXAMPLES

UNSOUND = {
    "a prior's divergence carried through observe": (
        "prior_from_data posterior_as_prior filtered_posterior_constant"
    ),
    "the uniform prior's constant with a parameter below 1": (
        "jeffreys_with_uniform_constant jeffreys_in_disguise uniform_constant_next_to_half"
    ),
    "a constant rounded down": "constant_rounded_down rounded_down_gamma budget_by_a_hair",
    "mixed adjacencies": (
        "histogram_at_one sum_at_add_remove_price mixed_adjacencies_posterior "
        "mixed_adjacencies_table"
    ),
    "Hellinger added where its square is tracked": "hellinger_squared hellinger_squared_by_name",
    "a delta claimed from a Hellinger bound alone": (
        "delta_from_hellinger delta_in_place_of_epsilon"
    ),
    "candidates that depend on private data": (
        "candidates_from_data candidates_from_sum candidates_from_filtered_size private_candidate "
        "candidates_add_remove_size grid_from_release_and_data"
    ),
    "a base measure that depends on private data": "prior_from_data sd_from_data power_from_data",
    "noise that depends on private data": (
        "sensitivity_from_data sigma_from_data epsilon_from_data"
    ),
    "pure epsilon for sampled posteriors": "nuts_of_private_model likelihood_without_bounds",
    "several samples at the price of one": (
        "two_samples_at_one samples_in_a_loop sample_of_everything_twice"
    ),
    "private control flow": (
        "private_branch private_branch_in_helper private_choice_expression branch_by_and "
        "private_branch_filtered_size private_branch_add_remove_size"
    ),
    "loop bounds": "private_loop_bound released_loop_bound while_loop loop_over_rows",
    "early exit": (
        "early_return_private early_return early_return_in_helper break_on_a_private_value"
    ),
    "exceptions": "try_except assert_on_data raise_on_data division_as_exception",
    "truthiness of private values": "truthiness_of_sum truthiness_of_number truthiness_not",
    "bounds that nobody enforces": (
        "no_bounds infinite_bound annotation_as_bound annotated_helper_lies"
    ),
    "one coordinate's sensitivity for a joint release": (
        "joint_by_one_coordinate two_tables_as_one moments_at_one_entry"
    ),
    "parallel composition over private partitions": (
        "private_parallel_parts public_parts_reading_all public_parts_escape_by_difference"
    ),
    "a bound variable that escapes": (
        "bound_variable_escapes lambda_escapes candidate_escapes piece_escapes"
    ),
    "division by zero in a solver": (
        "division_in_refinement division_by_zero division_by_a_column_with_a_zero"
    ),
    "vacuous preconditions": "vacuous_precondition vacuous_by_arithmetic false_precondition",
    "float constants taken for reals": "float_is_not_real budget_by_a_hair constant_rounded_down",
    "floating-point noise": "own_laplace import_numpy classical_gaussian_at_ten",
    "leaks through repr": "repr_of_private str_in_helper f_string percent_format format_method",
    "leaks through attributes": "dunder_attribute private_attribute getattr_trick",
    "leaks by printing": "print_a_sum open_a_file",
    "mutable aliases": "append_to_alias mutable_alias mutable_default mutable_default_list",
    "closures over data": "nested_function closure_by_helper closure_by_argument",
    "adjacent rows used twice": "zip_of_two_filters rows_by_slices pairs_of_rows pairs_nested",
}
"""Each unsoundness, and the programs that try it (tests/golden/test_programs.py refuses them)."""


@pytest.mark.parametrize("unsound", UNSOUND)
def test_each_is_tried_in_at_least_two_disguises(unsound: str) -> None:
    names = UNSOUND[unsound].split()
    assert len(set(names)) >= 2
    assert {EXAMPLES[name].outcome for name in names} == {"REJECT"}
    texts = {EXAMPLES[name].text.split("\n", 1)[1] for name in names}
    assert len(texts) == len(names), "two of these are one program"
