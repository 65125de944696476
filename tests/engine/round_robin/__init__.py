"""Tests of the round-robin loop: a file for each module."""
