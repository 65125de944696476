"""Round robin with many arms of any law: of each arm rewards are drawn in the rounds in which it might
do something, and one sum for all those between (see `rai_sim.engine.round_robin.roster.stride`).

Here lives what serves that stride alone: `lists` (its arrays, and the way in and out of them), `rest`
(for how many rounds an arm may be left alone, and why), `borders` (the sums beside each border, and
their fences), `stride` (who is settled, and what follows), `states` (what a trace sees).
"""
