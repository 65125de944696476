"""Certification: is what is claimed of an algorithm true on instances made to break it?

`family` has the instances, `claims` what may be claimed and what counts against it, `evidence` what
a number of errors says of their probability, `verdicts` what may be said of many such numbers
together, `sequential` the test, `outcome` what came of it.
"""

from rai_sim.certification.family import hard_problems as hard_problems
from rai_sim.certification.outcome import Certification as Certification
from rai_sim.certification.outcome import Tried as Tried
from rai_sim.certification.sequential import CertificationInterrupted as CertificationInterrupted
from rai_sim.certification.sequential import certify as certify
