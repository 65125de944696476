"""Tests of the command line, `rai_sim.cli`."""
