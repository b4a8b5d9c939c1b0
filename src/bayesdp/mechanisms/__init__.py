"""What is published: vetted noise, with its cost and its error known before data is touched."""

from bayesdp.mechanisms.laplace import DiscreteLaplace

__all__ = ["DiscreteLaplace"]
