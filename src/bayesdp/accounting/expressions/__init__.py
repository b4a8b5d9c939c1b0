"""Compositions as data: which mechanisms run on which records.

`expression` has them, `prices` what they cost with the reason for every step, `independence` which
records are declared to be independent of each other, `levels` what they mean for a population.
"""
