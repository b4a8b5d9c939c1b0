"""Tests of the kernel: honest certificates verify, false ones don't, and no check is idle.

* Rules, by model: `test_rules_*`, one file a family of theorems; `test_chains`, `test_tails`,
  `test_delta` and `test_own_deltas`; `test_witnesses` and `test_graph_witnesses` for what producers
  put on a certificate. They ask by `steps` and `statements`.
* Whole certificates: `test_certificates` and `test_relations`, made by `honest` and `all_kinds`;
  what they declare in `test_declared`, `test_stated`, `test_blocks`, `test_covered_columns` and
  `test_refuted_hypotheses`.
* Programs: `test_programs` and `test_program_*`, on `programs` (random ones, with brute force) and
  `program_texts`.
* Forgeries: `test_forgeries` has every one that was ever valid, `test_forged_*` those of one kind
  of query; `test_forger` random ones (`forger`), which `truth` judges. `test_leaves` (`leaves`) and
  `test_keys` change one place of a certificate.
* Mutants of the kernel: `test_mutants` asks whether some certificate shows each of the `mutants`;
  `survivors` lists those that none can show, with reasons. Certificates come from the `battery`:
  `mutations`, `rare_steps`, all that other tests ask (`recorded`), and the stories, each false in
  one thing (`stories`, `declaration_stories`, `hypothesis_stories`, `program_stories`,
  `relation_stories`, `release_stories`, `step_stories`). `reached` picks those that come by a
  mutant's place.
* Mutants of `kernel/programs`: `test_construct_mutants`, on the lies of `program_lies`,
  `bound_lies`, `rule_lies` (of `rule_stories`) and `construct_lies` (of `construct_stories` and
  `construct_releases`).
* Wrong numbers, comparisons and sums: `test_number_mutants`, on `number_steps`, with reasons in
  `number_survivors`; `test_number_oracles` has the same numbers by other means.
* Time: `test_time_limit`.
"""
