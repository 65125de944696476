"""What theory says of the number of pulls: the paper's theorems, and the tight lower bound.

Examples
--------
>>> import rai_sim as rai
>>> problem = rai.table_problem(task=2)
>>> round(rai.bounds.lower(problem, 0.01)), round(rai.bounds.at_delta(problem, 0.01).pulls)
(921, 3577)
"""

from rai_sim.bounds.asymptotic import degenne_koolen as degenne_koolen
from rai_sim.bounds.finite import FiniteBound as FiniteBound
from rai_sim.bounds.finite import Threshold as Threshold
from rai_sim.bounds.finite import at_delta as at_delta
from rai_sim.bounds.finite import practical as practical
from rai_sim.bounds.laws import laws_of as laws_of
from rai_sim.bounds.paper import butterscotch as butterscotch
from rai_sim.bounds.paper import lower as lower
from rai_sim.bounds.paper import vanilla as vanilla
from rai_sim.bounds.shown import shown as shown
from rai_sim.bounds.tight_bound import Alternative as Alternative
from rai_sim.bounds.tight_bound import Family as Family
from rai_sim.bounds.tight_bound import TightBound as TightBound

__all__ = [
    "Alternative",
    "Family",
    "FiniteBound",
    "Threshold",
    "TightBound",
    "at_delta",
    "butterscotch",
    "degenne_koolen",
    "laws_of",
    "lower",
    "practical",
    "shown",
    "vanilla",
]
