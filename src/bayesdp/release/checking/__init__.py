"""What is said of a study before any data are read.

* `check` shows its price and warns: `usefulness` of numbers that would tell nothing, `lookalikes`
  of data sets that look like further extracts of one table.
* `sweep` shows several levels side by side; `smaller_spend` finds one that the budget allows.
* `stress` asks what the noise means under populations of `stronger_dependence`.
* `proposals` says what would help, of `ideas`.
"""
