"""Tests of the ground floor, `rai_sim.support`: a file for each module."""
