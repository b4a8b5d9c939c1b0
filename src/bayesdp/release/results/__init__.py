"""What is shown of a release: numbers with their errors.

* `result` is a number and its error, and a list of them; `series`, `found_groups` and `collected`
  make those of queries whose numbers are not totals with noise.
* `release` is all of it together, with the certificate.

What follows from them at no cost is in `derived`, and answers of programs are in `programs`.
"""
