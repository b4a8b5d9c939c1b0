"""Reading a program's text: syntax and types, before anything gets a meaning.

`source_file` reads a file, `whitelist` says which constructs there are, `annotations` and
`literals` are the types and constants in it, `signature` is what a program's function announces.
`diagnostics` say what is wrong and where, `suggestions` what to write instead of names that one
would expect to work.
"""
