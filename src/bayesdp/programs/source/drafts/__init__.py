"""A program under construction: what its names stand for.

`context` is what each handler is given: the draft with the commands so far, and a `scope` of
`values`. `arguments` reads the arguments of a call. `written_sizes` says how large values are when
they are written out; `grouping` has the records that are made of several rows.
"""
