"""Tests of runs and their results, `rai_sim.simulation`: a file for each module."""
