"""Tests of algorithms of a user's own, `rai_sim.algorithms.own`."""
