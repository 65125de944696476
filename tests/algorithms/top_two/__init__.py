"""Tests of `TopTwo`, `rai_sim.algorithms.top_two`."""
