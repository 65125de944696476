"""Reward laws: one law, one file. An import here registers a law everywhere, the command line included."""

from rai_sim.arms.base import LAWS as LAWS
from rai_sim.arms.base import Arms as Arms
from rai_sim.arms.bernoulli import Bernoulli as Bernoulli
from rai_sim.arms.categorical import Categorical as Categorical
from rai_sim.arms.gaussian import Gaussian as Gaussian
from rai_sim.arms.recorded import Recorded as Recorded

__all__ = [cls.__name__ for cls in LAWS.values()]
