"""Tests of the report, `rai_sim.report`."""
