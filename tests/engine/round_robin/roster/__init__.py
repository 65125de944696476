"""Tests of the roster: a file for each module."""
