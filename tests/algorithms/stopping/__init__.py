"""Tests of what algorithms share that stop by a threshold, `rai_sim.algorithms.stopping`."""
