"""Tests of categorical arms, `rai_sim.arms.categorical`: a file for each module."""
