"""Tests of studies and their stores, `rai_sim.study`."""
