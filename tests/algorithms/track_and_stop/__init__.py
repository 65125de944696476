"""Tests of `BatchedTrackAndStop`, `rai_sim.algorithms.track_and_stop`."""
