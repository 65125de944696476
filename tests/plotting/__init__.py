"""Tests of figures, `rai_sim.plotting`; the stored pictures are in `baseline`."""
