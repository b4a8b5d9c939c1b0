"""How much Gaussian noise a program's release gets, by the laws that it may rest on.

    python benchmarks/gaussian.py      some seconds

Multiples of the l2 move: one whole number, the cells of a table, real values on fine grids (1 and
500 entries), and the conversion of the zCDP cost, which holds everywhere. Ratios are of the last to
the one before. Exit status 1 if a law asks for more noise than the conversion.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import product
from math import sqrt

from bayesdp.programs.run.draws.gaussian import counts_scale, multiple, number_scale

EPSILONS = ("0.01", "0.1", "1", "10")
DELTAS = ("1e-5", "1e-9")


def main() -> int:
    """Print the table."""
    print(
        f"{'epsilon':>8}{'delta':>8}{'number':>11}{'table':>11}{'fine':>11}{'500':>11}{'zCDP':>11}"
    )
    failed = False
    for delta, epsilon in product(DELTAS, EPSILONS):
        pair = Fraction(epsilon), Fraction(delta)
        sharp = [
            number_scale(Fraction(1), *pair),
            counts_scale(2, *pair) / sqrt(2),
            multiple(*pair, 1),
            multiple(*pair, 500),
        ]
        loose = multiple(*pair, None)
        failed = failed or max(sharp) > loose
        shown = "".join(f"{item:>11.5f}" for item in (*sharp, loose))
        print(f"{epsilon:>8}{delta:>8}{shown}{loose / sharp[2]:>8.3f}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
