"""How the number of pulls scales: ready-made studies over delta, the gap, the number of arms, K and
M, the exponents that fit them, and how far they are from the lower bound.

`over_delta`, `over_gap`, `over_n`, `over_k` and `over_m` return a `rai_sim.Study`, which is run
into a folder and resumed as any other; `fit`, `local_exponents` and `efficiency` read its results,
or those of any study along an axis. A module belongs here if it is about how pulls change along an
axis, but draws nothing.

Examples
--------
>>> import tempfile
>>> import rai_sim as rai
>>> study = rai.scaling.over_delta(deltas=[0.1, 0.01], algorithms=[rai.Butterscotch()], replications=5)
>>> study.run(tempfile.mkdtemp()).progress()
(10, 10)
"""

from rai_sim.scaling.efficiency import efficiency as efficiency
from rai_sim.scaling.fits import fit as fit
from rai_sim.scaling.fits import local_exponents as local_exponents
from rai_sim.scaling.power_law import PowerLaw as PowerLaw
from rai_sim.scaling.power_law import power_law as power_law
from rai_sim.scaling.studies import over_delta as over_delta
from rai_sim.scaling.studies import over_gap as over_gap
from rai_sim.scaling.studies import over_k as over_k
from rai_sim.scaling.studies import over_m as over_m
from rai_sim.scaling.studies import over_n as over_n

__all__ = [
    "PowerLaw",
    "efficiency",
    "fit",
    "local_exponents",
    "over_delta",
    "over_gap",
    "over_k",
    "over_m",
    "over_n",
    "power_law",
]
