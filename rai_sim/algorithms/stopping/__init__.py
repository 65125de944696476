"""What algorithms share that pull as they like and stop by a threshold: the arms' standings, the
best answer on them, and whether it may be given (`rai_sim.engine.stopping`).

What lives here: `run`, what a replication is given, and its clock; `replication`, of which an
algorithm makes its loop: begin, pull, judge, end; `comparisons`, who beats whom, which decides
under the threshold of pairs; `answers`, what it costs to make an answer wrong, which decides under
that of GK16, and tells under both for whom pulls are made.
"""
