"""Exact, fast simulation of representative arm identification (RAI) in stochastic bandits."""

from rai_sim import bounds as bounds
from rai_sim.algorithms.butterscotch import Butterscotch as Butterscotch
from rai_sim.algorithms.lucb import LUCB as LUCB
from rai_sim.algorithms.vanilla import Vanilla as Vanilla
from rai_sim.arms.bernoulli import Bernoulli as Bernoulli
from rai_sim.arms.categorical import Categorical as Categorical
from rai_sim.arms.gaussian import Gaussian as Gaussian
from rai_sim.arms.recorded import Recorded as Recorded
from rai_sim.engine.streams import STREAM_VERSION as STREAM_VERSION
from rai_sim.problem import Problem as Problem
from rai_sim.problem import best_arm as best_arm
from rai_sim.problem import coarse_ranking as coarse_ranking
from rai_sim.problem import full_ranking as full_ranking
from rai_sim.problem import m_of_top as m_of_top
from rai_sim.problem import one_of_top as one_of_top
from rai_sim.problem import table_problem as table_problem
from rai_sim.problem import top as top
from rai_sim.result import Experiment as Experiment
from rai_sim.result import Result as Result
from rai_sim.result import Summary as Summary
from rai_sim.simulate import SimulationInterrupted as SimulationInterrupted
from rai_sim.simulate import simulate as simulate

__version__ = "0.1.0"
