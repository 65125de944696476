"""Tests of the crowd: a file for each module."""
