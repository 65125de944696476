"""Figures of traces, results and studies; needs matplotlib (the extra `plot`).

Every function takes `ax`, the axes to draw into, makes new ones in a pyplot figure if it is None,
and returns them. Nothing needs a screen.

Examples
--------
>>> import rai_sim as rai
>>> from matplotlib.figure import Figure
>>> runs = [rai.simulate(rai.table_problem(), rai.Butterscotch(), delta=d, replications=40) for d in (0.1, 0.01)]
>>> rai.plotting.mean_pulls(runs, ax=Figure().subplots()).get_ylabel()
'mean pulls'
"""

try:
    import matplotlib as _matplotlib  # noqa: F401
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "matplotlib":
        raise
    raise ImportError(
        "plots need matplotlib, which is not installed: pip install 'rai_sim[plot]'",
        name="matplotlib",
    ) from None

from rai_sim.plotting.allocation import allocation as allocation
from rai_sim.plotting.arm_map import arm_map as arm_map
from rai_sim.plotting.arms import pulls_by_gap as pulls_by_gap
from rai_sim.plotting.budgets import budgets as budgets
from rai_sim.plotting.calibration import calibration as calibration
from rai_sim.plotting.certifications import error_rates as error_rates
from rai_sim.plotting.distributions import distribution as distribution
from rai_sim.plotting.efficiency import efficiency as efficiency
from rai_sim.plotting.exponents import exponents as exponents
from rai_sim.plotting.instance import instance as instance
from rai_sim.plotting.law import law as law
from rai_sim.plotting.means import mean_pulls as mean_pulls
from rai_sim.plotting.moderate import moderate_confidence as moderate_confidence
from rai_sim.plotting.normalised import normalised_pulls as normalised_pulls
from rai_sim.plotting.panels import panels as panels
from rai_sim.plotting.paper import paper as paper
from rai_sim.plotting.prices import price_map as price_map
from rai_sim.plotting.ratios import ratios as ratios
from rai_sim.plotting.success import success as success
from rai_sim.plotting.traces import trace as trace

__all__ = [
    "allocation",
    "arm_map",
    "budgets",
    "calibration",
    "distribution",
    "efficiency",
    "error_rates",
    "exponents",
    "law",
    "mean_pulls",
    "moderate_confidence",
    "normalised_pulls",
    "panels",
    "paper",
    "price_map",
    "pulls_by_gap",
    "ratios",
    "success",
    "trace",
]
