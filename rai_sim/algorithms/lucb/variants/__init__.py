"""LUCB with other radii than the paper's, or other picks, chosen by options.

`radii` has the radii and why their intervals hold under any rule, `picks` what each choice of picks
is, where it is defined and why it is delta-PC, `judge` how a round of it is judged, `corridors` for
how many rounds the same arms are certain to be picked, `loop` runs a replication.
"""
