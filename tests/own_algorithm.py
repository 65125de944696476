"""An algorithm with an option of each kind, for tests: known in those alone that say so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Optional

import numpy as np

from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.engine.blocks import Block, Setting


@dataclass(frozen=True)
class Race(Algorithm):
    """Takes as many pulls as its options say, and names the true best arms."""

    width: float
    rounds: int = 3
    greedy: bool = False
    note: str = "none"
    mode: Literal["fast", "slow", 7] = "fast"
    limit: int | None = None
    share: Optional[float] = None  # noqa: UP045  # the older way to say so
    asked: ClassVar[int] = 0

    def __post_init__(self) -> None:
        """Ask for more than the kinds say."""
        super().__post_init__()
        if self.rounds < 1:
            raise ValueError(f"Race: rounds is {self.rounds}; give at least 1")

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Write them."""
        block.pulls[:] = (
            self.rounds * (2 if self.greedy else 1) + len(self.note) + (self.limit or 0)
        )
        block.rounds[:] = 1
        block.finished[:] = block.correct[:] = True
        block.representatives[:] = np.flatnonzero(setting.cluster_of == 0)[
            : block.representatives.shape[1]
        ]


del ALGORITHMS["race"]

FULL = Race(0.25, 5, True, 'a, "b"=:ü', "slow", 12, 0.5)
FULL_TEXT = (
    'race:width=0.25,rounds=5,greedy=true,note="a, \\"b\\"=:\\u00fc",mode=slow,limit=12,share=0.5'
)
#: Each differs from the first in one option.
VARIANTS = [
    Race(0.25),
    Race(0.5),
    Race(0.25, 4),
    Race(0.25, greedy=True),
    Race(0.25, note="x"),
    Race(0.25, mode=7),
    Race(0.25, limit=0),
    Race(0.25, share=1e-300),
    FULL,
]


@contextmanager
def known() -> Iterator[None]:
    """Have the class among the algorithms."""
    ALGORITHMS["race"] = Race
    try:
        yield
    finally:
        ALGORITHMS.pop("race", None)
