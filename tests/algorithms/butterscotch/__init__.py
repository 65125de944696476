"""Tests of Butterscotch and its strides, `rai_sim.algorithms.butterscotch`."""
