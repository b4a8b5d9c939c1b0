"""Tests of releases, from a study to its certificate.

* A kind of query each, by its name: `test_quantile`, `test_series`, `test_variance`, ...;
  `test_every_kind` asks the same of all: how far a record moves them (all tables of three rows, by
  `many_tables`), the law of the noise, how often errors hold.
* Replay, random studies on neighbours: `test_replay` and `test_replay_many`; `test_replay_programs`
  and `test_replay_people`, of programs by `program_writer`, whose losses are in `replayed`.
* Over random `studies`: `test_properties`, `test_one_number`.
* Tables: `test_sources`, `test_wide`, `test_files_*` (by `integers`), `test_engines` and
  `test_postgres`; records of several rows in `test_balanced` and `test_max_rows`.
* Before data: `test_study`, `test_sweep`, `test_stress`, `test_proposals`, `test_usefulness`.
* Failures and attacks: `test_processes` (`processes`), `test_attacks`, `test_remedies`,
  `test_repeats`, `test_stored`, `test_uncounted`.
* After a release: `test_derived*`, `test_correlations`, `test_regressions`, `test_sampling`.
* Programs as queries: `test_program*`, on `program_studies`.
"""
