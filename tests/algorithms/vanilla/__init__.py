"""Tests of Vanilla and its widths, `rai_sim.algorithms.vanilla`."""
