"""What a reward law of a user's own may draw by (`rai_sim.OwnArms`): exact samplers, for compiled code
alone.

Each is given the state of the replication's stream last, and returns what it drew and the state
after it.

uniform(random)
    A double in [0, 1), a multiple of 2^-53.
normal(random)
    A standard normal.
binomial(n, p, random)
    The successes, a float, among n trials with probability p.
poisson(mean, random)
    A count, a float, of a mean of 0 or more.
gamma(shape, random)
    A gamma variate of scale 1 and a positive shape.
beta(alpha, beta, random)
    A beta variate of positive shapes, in [0, 1].

Examples
--------
>>> from rai_sim.samplers import gamma, uniform
>>> def pull(law, arm, random):  # of a `rai_sim.OwnArms`: Laplace's law
...     x, random = gamma(1.0, random)
...     u, random = uniform(random)
...     return law.means[arm] + (x if u < 0.5 else -x), random
"""

from rai_sim.engine.sampling import beta as beta
from rai_sim.engine.sampling import binomial as binomial
from rai_sim.engine.sampling import gamma as gamma
from rai_sim.engine.sampling import normal as normal
from rai_sim.engine.sampling import poisson as poisson
from rai_sim.engine.streams import uniform as uniform

__all__ = ["beta", "binomial", "gamma", "normal", "poisson", "uniform"]
