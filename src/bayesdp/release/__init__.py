"""Study files, their price, and the release itself.

* What a study says: `reading` (from TOML or plain data) into `spec` and `spec_parts`; `consistency`
  holds its parts against each other, `sources` the columns against how tables are made long or
  joined, `people` what goes with people whom several tables share; `wide` warns of tables of
  another shape.
* Its queries: `queries` reads one into a `Shape` of `shapes`; `labels` (the columns, as spends name
  them), `cells` (of histograms), `crossed` (groups and cells of several columns), `quantiles` (what
  is chosen among) with `quantile_lists` (several at once), `collected` with `collected_results`
  (answers perturbed at collection), `found_groups` with `found_results` (groups that nobody
  declared), `products` (of columns: covariances, regressions), `series` (of
  periods), `weighted` (survey weights), `record_rows` (how many rows of a record count), `blocks`
  (of public columns), `public_sizes` (of groups, and averages of no rows), `programs` with
  `program_files` and `program_fields`.
* Its price, before any data: `pricing` (with `size_remedies`) and `noise` make each query a
  `planned_query`, and all a `plan`; `derivation` asks the kernel to prove it over the `dp_steps` of
  its queries; `check` and `sweep` show it, and `spend_instead` finds a smaller one that the budget
  allows. `stress` asks what its noise means under the populations of `stronger`, `usefulness`
  whether a number would tell anything, `proposals` what would help, of `proposal_ideas`.
* The release: `study` goes the whole way, `study_table` opens the table, `drawing` draws the noise
  and `program_runs` runs programs; `results`, `series_results`, `program_results` and
  `program_outputs` are what they give, `released` all of them together; `derived`, `correlations`
  and `regressions` what follows from it, which `derived_spec` reads, `derived_check` holds against
  the queries and `derived_results` shows; `sampling` is about the error of samples; `repeats`
  asks before the same again, `extracts` warns of tables that look like others of the same people,
  and `stored` is what a ledger has for who asks again with the same key.
* A population from the private table: `fit_plan` prices it, `private_fit` makes it.
* Certificates: `certify`, `assumptions`, `implications` (of what follows from given levels).
"""

from __future__ import annotations

from bayesdp.release.study import Study

__all__ = ["Study"]
