"""What an engine for many arms offers to round robin's loop; it is chosen by the type of `Run.crowd`
while compiling (see `rai_sim.engine.jit.implements`).

There are two, of one stride, `rai_sim.engine.strides.CROWD`: `crowd` for rewards that come as words,
`roster` for others. Where there never are many arms, `NoCrowd` stands for them, and nothing of
either is compiled.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from rai_sim.engine.jit import implements
from rai_sim.engine.ranking import Standings
from rai_sim.engine.streams import State


def _no_python_version(operation: str, crowd: Any) -> NoReturn:
    raise TypeError(
        f"{operation} was given {type(crowd).__name__}, which no compiled engine stands for; call "
        "it from a kernel"
    )


def start(crowd: Any) -> None:
    """Begin a replication."""
    _no_python_version("start", crowd)


def in_crowd(crowd: Any, run: Any) -> bool:
    """Return whether the active arms are in the crowd."""
    _no_python_version("in_crowd", crowd)


def worth_a_crowd(crowd: Any, run: Any, certified: float) -> bool:
    """Return whether the next rounds should be made by a crowd, where about so many are certified to
    hold no event."""
    _no_python_version("worth_a_crowd", crowd)


def make_rounds(crowd: Any, run: Any, last: int, state: State) -> tuple[int, State]:
    """Make and judge rounds, up to round `last` at most, going into the crowd first if need be;
    return how many."""
    _no_python_version("make_rounds", crowd)


def worth_leaving(crowd: Any, run: Any) -> bool:
    """Return whether the crowd should be left now: few arms remain, or a jump is worth it."""
    _no_python_version("worth_leaving", crowd)


def leave(crowd: Any, standings: Standings, n: int) -> None:
    """Rank the n active arms again; all their sums are known."""
    _no_python_version("leave", crowd)


def note_sums(crowd: Any, run: Any, state: State) -> State:
    """Note the active arms' sums for a recommendation, those drawn first that are not known; the
    crowd stays."""
    _no_python_version("note_sums", crowd)


class NoCrowd(NamedTuple):
    """In place of an engine where there never is a crowd."""

    cells: NDArray[np.int64]


def no_crowd() -> NoCrowd:
    """Return what says that there never is a crowd."""
    return NoCrowd(np.zeros(0, np.int64))


@implements(start, NoCrowd)
def _start(crowd: NoCrowd) -> None:
    """Do nothing."""


@implements(in_crowd, NoCrowd)
def _in_crowd(crowd: NoCrowd, run: Any) -> bool:
    return False


@implements(worth_a_crowd, NoCrowd)
def _worth_a_crowd(crowd: NoCrowd, run: Any, certified: float) -> bool:
    return False


@implements(make_rounds, NoCrowd)
def _make_rounds(crowd: NoCrowd, run: Any, last: int, state: State) -> tuple[int, State]:
    return 0, state


@implements(worth_leaving, NoCrowd)
def _worth_leaving(crowd: NoCrowd, run: Any) -> bool:
    return False


@implements(leave, NoCrowd)
def _leave(crowd: NoCrowd, standings: Standings, n: int) -> None:
    """Do nothing."""


@implements(note_sums, NoCrowd)
def _note_sums(crowd: NoCrowd, run: Any, state: State) -> State:
    return state
