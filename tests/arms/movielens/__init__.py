"""Tests of MovieLens files as arms, `rai_sim.arms.movielens`."""
