"""What the kernels share: Numba options, random streams, samplers, rankings and certificates.

Nothing here is public. The kernels in `rai_sim.algorithms`, the reward laws in `rai_sim.arms` and the
games of `rai_sim.bounds` are built on it; it imports none of them.
"""
