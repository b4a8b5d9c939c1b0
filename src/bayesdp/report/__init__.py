"""Words, figures and the HTML report.

* What all share: `numbers` writes every number, `beliefs` says what a level does to beliefs, and
  `words` has the sentences about a guarantee; `output` guards the files that are written over.
* Tables at a terminal, by subject: `levels`, `profiles`, `relations`, `compositions`, `causality`,
  `studies`, `programs`, `ledgers`, `fits`, `audits`; `layout` fits them to its width. `plain` is
  what `--json` says.
* `explain`: `promise` collects the numbers of an explanation, `reach` those of groups and of
  secrets anywhere; `passages`, `circumstances` and `fine_print` are its sections, from the pieces
  in `phrases`; `dependence` puts a population into words, and `secret_places` says where secret
  values must lie. `explained_programs` and `implied` explain programs and what follows from given
  levels.
* The HTML report: `html` with its `style`, from a `study_section` for each release, which
  `sections` makes, and with `figures`. `demo` writes one, and `released` one from Python.

Nothing here releases or certifies. `reach` asks `theorems` for the few levels that a certificate
does not state: for groups, and for secret values outside of the intervals. All else repeats what it
is given. Every number is rounded in the safe direction.
"""
