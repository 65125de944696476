"""What tests of both engines for many arms have in common: the way out of them, and a partition."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.jit import exposed, kernel
from rai_sim.engine.partition import Partition
from rai_sim.engine.ranking import Standings
from rai_sim.engine.round_robin import many


@exposed
@kernel
def leave(crowd: Any, standings: Standings, n: int) -> None:
    """Leave a crowd or a roster, from Python."""
    many.leave(crowd, standings, n)


def partition(settled: NDArray[np.int64]) -> Partition:
    """Return a partition that only knows who is settled."""
    none = np.zeros(0, np.int64)
    return Partition(
        open_sizes=none,
        found=none,
        required=none,
        offset=none,
        outputs=none.astype(np.int32),
        settled=np.array([settled, np.zeros_like(settled)]),
    )
