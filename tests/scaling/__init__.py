"""Tests of `rai_sim.scaling`."""
