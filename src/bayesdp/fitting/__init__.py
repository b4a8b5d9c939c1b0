"""Populations from public or past data, with regions that hold the truth at a stated confidence.

* Fits: `chains` and `orders`, `trees`, `networks`, `joint_laws`, `clusters`, `roles`,
  `autoregressive`.
* Bounds: `regions` (from counts), `noisy_counts` (from private data, which the room
  `release.private_fits` counts and pays for), `boxes` (few laws that stand for all between bounds).
* Reading: `public_tables`, `counting`, `numbers_of`, `states`. Does the model fit: `comparing`
  (chains) and `diagnosing` (Gaussian ones).
* After a release: `streams`.
"""

from bayesdp.fitting.autoregressive import AutoregressiveFit, fit_autoregressive
from bayesdp.fitting.chains import ChainFit, fit_chain
from bayesdp.fitting.clusters import ExchangeableFit, fit_exchangeable
from bayesdp.fitting.comparing import FitCheck
from bayesdp.fitting.joint_laws import FiniteFit, fit_finite
from bayesdp.fitting.networks import NetworkFit, fit_network
from bayesdp.fitting.orders import OrdersFit, fit_orders
from bayesdp.fitting.public_tables import public_table
from bayesdp.fitting.regions import TransitionBounds
from bayesdp.fitting.roles import RolesFit, fit_roles
from bayesdp.fitting.streams import SmoothedValues, posterior_states, posterior_values
from bayesdp.fitting.trees import TreeFit, fit_tree

__all__ = [
    "AutoregressiveFit",
    "ChainFit",
    "ExchangeableFit",
    "FiniteFit",
    "FitCheck",
    "NetworkFit",
    "OrdersFit",
    "RolesFit",
    "SmoothedValues",
    "TransitionBounds",
    "TreeFit",
    "fit_autoregressive",
    "fit_chain",
    "fit_exchangeable",
    "fit_finite",
    "fit_network",
    "fit_orders",
    "fit_roles",
    "fit_tree",
    "posterior_states",
    "posterior_values",
    "public_table",
]
