"""Tests of `rai_sim.bounds`."""
