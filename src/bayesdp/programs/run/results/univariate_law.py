"""What figures and divergences ask of a distribution of one number."""

from __future__ import annotations

from typing import Any, Protocol


class Law(Protocol):
    """A distribution of one number, as figures and divergences use it."""

    @property
    def mean(self) -> Any:
        """The mean."""

    def density(self, x: Any) -> Any:
        """The density at x."""

    def cdf(self, x: Any) -> Any:
        """The probability of at most x."""

    def quantile(self, p: float) -> Any:
        """The value that is exceeded with probability 1 - p."""

    def interval(self, p: float) -> Any:
        """The central interval that holds the value with probability p."""
