"""Words, figures and the HTML report.

`bayesdp.report.words` says in plain English what a level means, `bayesdp.report.figures` draws the
released numbers, `bayesdp.report.html` puts both into one self-contained file. Nothing here
computes a guarantee: it only repeats what it is given, and rounds it in the safe direction.
"""
