"""Tests of certification."""
