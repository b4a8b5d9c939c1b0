"""Words, figures and the HTML report.

`numbers` writes every number, `beliefs` says what a level does to beliefs, `layout` fits tables
and paragraphs to a terminal. On these stand the files by subject, `explain` and the HTML report.
Nothing here computes a guarantee: it only repeats what it is given, and rounds it in the safe
direction.
"""
