"""What the kernels share: Numba options, random streams, samplers, rankings and certificates.

Nothing here is public. Every module below is imported by the kernels in `rai_sim.algorithms` and
the reward laws in `rai_sim.arms`, and imports neither.
"""
