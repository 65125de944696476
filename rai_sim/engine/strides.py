"""Strides: the ways in which an algorithm makes rounds, and which of them a block may use.

Contract. Round R has been judged and settled nobody (or, once, nothing has been pulled yet). A
stride makes its pulls and those of as many more rounds as it can vouch for: rounds that settle
nobody and pull what the rule would have pulled. It stops before a round that may settle an arm,
before one that the cap on pulls or the recording does not pay for, and when it is asked to stop. So
any of them may be left out, but for the one that all others fall back on: the law of a run stays
the same, and so does every run on fixed rewards.

A stride is a small integer. `Setting.strides` has a bit for each that may be used, and
`Block.rounds_by_stride` counts the rounds that each made; the numbers add up to the rounds of the
block's replications. The round that ends a run counts, too: for the stride that judged it.
"""

from __future__ import annotations

from rai_sim.engine.jit import inlined

#: Round robin's: rounds one by one, or by one sum an arm for as many as are certified (always used
#: where no other is); by one word an arm; for the last two arms, which are then by themselves
#: (`rai_sim.engine.round_robin.duel`); and for many arms (`rai_sim.engine.round_robin.many`).
SUMS, WORDS, LAST_TWO, CROWD = 0, 1, 2, 3
#: Where the numbers of an algorithm's own strides begin, and how many there may be in all.
FIRST_OWN, ROOM = 4, 16
#: All that there are.
ALL = (1 << ROOM) - 1


def holds(strides: int, stride: int) -> bool:
    """Whether a mask holds a stride."""
    return (strides >> stride) & 1 == 1


#: The same for kernels.
allowed = inlined(holds)


def without(*strides: int) -> int:
    """Return the mask of all strides but some."""
    mask = ALL
    for stride in strides:
        mask &= ~(1 << stride)
    return mask
