"""The values of a running program, exact.

`public` ones are literals, parameters and what has been released; `private` ones are sums over
rows, noised in `grid_steps`. `returned_noise` says how much noise a returned number has.
"""
