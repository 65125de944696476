"""Algorithms: one algorithm, one file. An import here registers an algorithm everywhere, the command line included."""

from rai_sim.algorithms.base import ALGORITHMS as ALGORITHMS
from rai_sim.algorithms.base import Algorithm as Algorithm
from rai_sim.algorithms.butterscotch import Butterscotch as Butterscotch
from rai_sim.algorithms.lucb import LUCB as LUCB
from rai_sim.algorithms.vanilla import Vanilla as Vanilla

__all__ = [cls.__name__ for cls in ALGORITHMS.values()]
