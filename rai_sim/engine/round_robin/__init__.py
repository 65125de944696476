"""The round-robin loop that Vanilla and Butterscotch share, with the schedule as a parameter.

What lives here: `run`, what a replication is given and its clock; `loop`, which judges rounds and
chooses the stride that makes the next ones; `duel`, the stride of the last two arms. The bounds and
the words of rewards are in `rai_sim.engine.certificates` and `rai_sim.engine.words`, as LUCB uses
them too.
"""
