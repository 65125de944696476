"""Tests of algorithms, `rai_sim.algorithms`: a file for each."""
