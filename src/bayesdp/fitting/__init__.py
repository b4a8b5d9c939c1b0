"""Populations from public or past data, with regions that hold the truth at a stated confidence."""

from bayesdp.fitting.autoregressive import AutoregressiveFit, fit_autoregressive
from bayesdp.fitting.clusters import ExchangeableFit, fit_exchangeable
from bayesdp.fitting.roles import RolesFit, fit_roles

__all__ = [
    "AutoregressiveFit",
    "ExchangeableFit",
    "RolesFit",
    "fit_autoregressive",
    "fit_exchangeable",
    "fit_roles",
]
