"""LUCB's strides (see `rai_sim.engine.strides`), and its view, which can be left out like one."""

from __future__ import annotations

from rai_sim.engine.strides import FIRST_OWN

#: Round by round, on which all others fall back; all arms in every round; few arms, one a lane; the
#: last arm in question, by words; and corridors that the picks' means do not leave.
PLAIN, IN_STEP, LANES, LAST_ARM, CORRIDORS = range(FIRST_OWN, FIRST_OWN + 5)
#: No stride but a switch: whether rounds may be judged on a view of the active arms. It makes no
#: rounds of its own.
VIEW = FIRST_OWN + 5
#: Many rounds in which challengers take turns, of variants with a radius of the arm's own pulls.
LEVELS = FIRST_OWN + 6
