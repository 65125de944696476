"""Tests of reward laws, `rai_sim.arms`: a file for each law."""
