"""Tests of single replications, event by event, `rai_sim.tracing`."""
