"""Tests of figures, `rai_sim.plotting`: what is drawn is what was found, the pictures are the stored
ones, and everybody can read them.

Stored pictures are renewed by: pytest -n 0 -m "not slow" tests/plotting
--mpl-generate-path=tests/plotting/baseline. Look at each before keeping it.
"""
