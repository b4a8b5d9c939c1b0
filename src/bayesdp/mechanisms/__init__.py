"""What is published: vetted noise, with its cost and its error known before data is touched.

Draws for all records at once, with the same exact laws, are in `batches`.
"""

from bayesdp.mechanisms.gaussian import DiscreteGaussian
from bayesdp.mechanisms.laplace import DiscreteLaplace
from bayesdp.mechanisms.randomized_response import EstimatedCount, RandomizedResponse, collect
from bayesdp.mechanisms.selection import ExponentialMechanism, PermuteAndFlip

__all__ = [
    "DiscreteGaussian",
    "DiscreteLaplace",
    "EstimatedCount",
    "ExponentialMechanism",
    "PermuteAndFlip",
    "RandomizedResponse",
    "collect",
]
