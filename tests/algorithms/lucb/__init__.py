"""Tests of LUCB and its strides, `rai_sim.algorithms.lucb`."""
