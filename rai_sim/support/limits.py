"""Limits that kernels and checks of arguments share; kernels are compiled from this file too
(`rai_sim.engine.jit.digest_of`)."""

#: int64 counters are safe up to here. A run that would go on is stopped with an error instead of
#: wrapping around.
MOST_PULLS = 1 << 62
