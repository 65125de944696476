"""Tests of LUCB's other radii and picks, `rai_sim.algorithms.lucb.variants`."""
