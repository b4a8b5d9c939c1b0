"""The release itself: the table is held against its declaration, noise is drawn, results are kept.

* `table` opens the study's table, and `public_sizes` says what everybody may be told is wrong.
* `study_drawing` draws the noise, after the debit and before anything is shown.
* `repeats` asks before the same is released again, `stored` is what a ledger has for who asks
  again with the same key.
"""
