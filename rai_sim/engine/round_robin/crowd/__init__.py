"""Round robin with many arms: 64 rounds at once by words, the rounds in which arms are settled
included, without a ranking (see `rai_sim.engine.round_robin.crowd.stride`).

Here lives what serves that stride alone: `places` (its arrays, and the way in and out of them),
`borders` (the sums beside each border, counted), `selection` (the same, sorted, where few are
awake), `zones` (who is settled, and in which round), `sleep` (who may be left alone for a while),
`states` (what a trace sees).
"""
