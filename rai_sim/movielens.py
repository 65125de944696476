"""MovieLens ratings as arms: the most-rated movies, whose pulls are ratings of random users, scaled
to [0, 1]; how files are read is told in `rai_sim.arms.movielens`.

Examples
--------
>>> import rai_sim as rai
>>> rai.best_arm(rai.movielens.like(20)).arms.names[:2]
('synthetic movie 1', 'synthetic movie 2')
"""

from rai_sim.arms.movielens import Counts as Counts
from rai_sim.arms.movielens import MovieLensError as MovieLensError
from rai_sim.arms.movielens import MovieLensWarning as MovieLensWarning
from rai_sim.arms.movielens import counts as counts
from rai_sim.arms.movielens import like as like
from rai_sim.arms.movielens import load as load
from rai_sim.arms.movielens import load_means as load_means

__all__ = [
    "Counts",
    "MovieLensError",
    "MovieLensWarning",
    "counts",
    "like",
    "load",
    "load_means",
]
