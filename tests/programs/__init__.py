"""Tests of the language; those of running a program are in `run`.

* One construct each: `test_folds`, `test_thresholds`, `test_transitions`, `test_persons`, ...
* Unsound programs, each refused: `test_unsound_steps`, `test_unsound_joints`.
* Second routes: `test_one_checker` (an oracle with rules of its own), `test_falsifier` and
  `test_program_audit`, `test_meaning` (files run as Python: `as_python`, of
  `as_python_functions`, `as_python_models`, `as_python_releases` and `as_python_values`),
  `test_reference_numbers`, `test_random_texts` (`random_texts`).
* Rules made wrong, each seen by a test: `test_rule_mutants` (`mutants`, which the programs in
  `mutant_probes` show) and `test_construct_edits` (`construct_edits` and `model_edits`, which those
  in `construct_probes`, `model_probes` and `person_probes` show); `edits` puts them into
  the package.
* Small programs that many tests ask about: `probes`.
"""
