"""From a study file, or plain data, to a `spec` whose parts go together.

* `study_files` reads TOML and checks every key; `consistency` holds the parts against each other.
* `table_sources` holds columns against how tables are made long or joined, `people` against what
  goes with people whom several tables share.
* `wide_tables` warns of tables whose rows look as if they held several records.
"""
