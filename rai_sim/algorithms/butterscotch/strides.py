"""Butterscotch's own stride, beside `rai_sim.engine.strides.SUMS`, on which it falls back."""

from __future__ import annotations

from rai_sim.engine.strides import FIRST_OWN

#: All rounds, each of which is a check (`rai_sim.algorithms.butterscotch.loop`).
CHECKS = FIRST_OWN
