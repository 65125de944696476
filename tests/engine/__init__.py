"""Tests of what algorithms share, `rai_sim.engine`: a file for each module."""
