"""What a study declares about its columns.

`declarations` reads all columns of a study together, `column` each of them; `checks` has what its
keys say together, `missing_codes` what stands for a missing value, and `keys` is what the readers
of single keys share. `predicates` is the language of `where`.
"""
