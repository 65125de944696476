"""The public name of `rai_sim.arms.movielens`."""

from rai_sim.arms.movielens import Counts as Counts
from rai_sim.arms.movielens import MovieLensError as MovieLensError
from rai_sim.arms.movielens import MovieLensWarning as MovieLensWarning
from rai_sim.arms.movielens import counts as counts
from rai_sim.arms.movielens import like as like
from rai_sim.arms.movielens import load as load
from rai_sim.arms.movielens import load_means as load_means
