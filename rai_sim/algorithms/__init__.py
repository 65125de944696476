"""Algorithms: one algorithm, one file or folder. The line in `rai_sim/__init__.py` that makes one public also
registers it."""
