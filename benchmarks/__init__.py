"""Speed and memory of the package, measured against baselines that do the same work one pull at a
time."""
