"""LUCB with other radii than the paper's, or other picks: chosen by options, made round by round.

`radii` has the radii and why their intervals hold under any rule, `picks` what each choice of picks
is, where it is defined and why it is delta-PC, `judge` how a round of it is judged, `loop` runs a
replication.
"""
