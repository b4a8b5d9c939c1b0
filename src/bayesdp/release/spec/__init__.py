"""What a study says, as plain data: no rule between its parts is checked here.

* `study` is the whole of it, of the `parts` that are its tables, each with its keys and their
  types; `derived` has those of `[[derived]]`.
* `program_files` finds and reads the programs that it names.
* `column_labels` has the names by which spends and readings know its columns.
"""
