"""Tests of samplers, `rai_sim.engine.sampling`: a file for each."""
