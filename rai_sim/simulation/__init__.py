"""Replications of one experiment: what is run, on which workers, how far it is, and the numbers
that come of it.

A module belongs here if it needs algorithms and problems but neither a file of results nor a
figure.
"""
