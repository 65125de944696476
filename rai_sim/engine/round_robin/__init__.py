"""The round-robin loop of Vanilla, and of Butterscotch without its own stride, with the schedule as a
parameter. Butterscotch's own loop judges rounds by parts of this one.

What lives here: `run`, what a replication is given and its clock; `loop`, which chooses the stride
that makes the next rounds; `rounds`, which makes them; `rule`, how a round is judged; `caps`, what
happens at a cap; `duel`, the stride of the last two arms, with its `leaps`; `many`, what an engine
for many arms offers, and two of them, `crowd` and `roster`; `settling`, what these share. The
bounds and the words of rewards are in `rai_sim.engine.certificates` and `rai_sim.engine.words`, as
LUCB uses them too.
"""
