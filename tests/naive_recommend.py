"""The literal twin of what is recommended at a cap: plain Python, which shares no code with the
package."""

import math
from collections.abc import Mapping, Sequence


def recommend(
    parts: Sequence[Sequence[int]],
    outputs: Sequence[Sequence[int]],
    required: Sequence[int],
    key: Mapping[int, float],
) -> tuple[int, ...]:
    """Name in every cluster the arms that it lacks: of its part those that are farthest from all
    arms of other parts, in the order of the ranking.

    Of equals those are taken that rank before the farthest of all, the nearest to it first, then
    those behind it, the nearest first.

    Parameters
    ----------
    parts : sequence of sequences of int
        The active arms, ranked and cut.
    outputs, required
        What every cluster has named, and r.
    key : mapping
        Sum or mean of every active arm.
    """
    named: list[int] = []
    for i, part in enumerate(parts):
        others = [b for j, other in enumerate(parts) if j != i for b in other]
        clearance = {a: min((abs(key[a] - key[b]) for b in others), default=math.inf) for a in part}
        best = max(part, key=clearance.__getitem__, default=-1)
        steps = {a: place - part.index(best) for place, a in enumerate(part)}
        order = [(-clearance[a], steps[a] > 0, abs(steps[a]), a) for a in part]
        clearest = [a for *_, a in sorted(order)][: required[i] - len(outputs[i])]
        named += [*outputs[i], *(a for a in part if a in clearest)]
    return tuple(named)
