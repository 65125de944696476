"""The share of a study that one of several processes has, without anybody who hands out work.

A share follows from the study and from part and number of parts alone, so parts need not know of
each other; all shares together are the study, and no two have a replication in common. Tasks are
dealt in the order of their keys, which are hashes, so that what takes long comes to no part more
often than chance has it.

A given number of replications is cut into stretches that double, 0 to 255, 256 to 511, 512 to 1023
and so on to the last one, and each stretch of a task into slices, which are dealt: whatever is
stored already, the rest of a study is shared out evenly. Of many tasks the first stretch stays
whole, as a task costs something in itself.

How many replications a precision needs is decided by the replications themselves, at looks that
need all before them (`rai_sim.study.stopping`). So such a task belongs to one part as a whole,
which decides as a process alone would, and the result is the same to the bit. Parts beyond the
number of tasks have nothing to do; processes on one folder without parts, which claim work as they
go (`rai_sim.study.claims`), share single tasks too.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError
from rai_sim.support.values import short

#: Where the first stretch of replications ends, from which on stretches double.
_FIRST_STRETCH = 256
#: Of fewer slices a part than this there is more than chance to even out, so that tasks are cut
#: finer.
_SLICES_A_PART = 64
#: What a part may be called, and the scheduler whose word is taken for it.
_TEXT, SLURM = re.compile(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*"), "slurm"
_REMEDY = "give number and count of parts such as 3/16, or slurm in a job of SLURM's arrays"


@dataclass(frozen=True)
class Part:
    """One of several parts of a study.

    Parameters
    ----------
    number : int
        Which one, 1 to `count`.
    count : int
        Of how many.

    Raises
    ------
    ValueError
        If there is no such part.

    Examples
    --------
    >>> print(Part(3, 16))
    3/16
    """

    number: int
    count: int

    def __post_init__(self) -> None:
        """Refuse a part that is none."""
        if not 1 <= self.number <= self.count:
            raise ArgumentValueError(
                "part",
                f"part is {self.number}/{self.count}; parts are counted from 1 to their count, "
                "as in 1/16 to 16/16",
            )

    def __str__(self) -> str:
        """Return it as it is given."""
        return f"{self.number}/{self.count}"

    def shares(
        self, keys: Sequence[str], replications: int | None
    ) -> list[list[tuple[int, int]] | None]:
        """Return this part's replications of each task.

        Parameters
        ----------
        keys : sequence of str
            Keys of all tasks of the study.
        replications : int or None
            How many of each are wanted; None where a precision decides.

        Returns
        -------
        list of (list of (int, int) or None)
            In the tasks' order: ranges start..stop-1, ascending; None for all that the task needs.

        Examples
        --------
        >>> Part(1, 2).shares(["b", "a"], None)
        [[], None]
        >>> [Part(k, 3).shares(["a"], 300) for k in (1, 2, 3)]
        [[[(0, 85), (256, 270)]], [[(85, 170), (270, 285)]], [[(170, 256), (285, 300)]]]
        """
        ranks = {at: rank for rank, at in enumerate(sorted(range(len(keys)), key=keys.__getitem__))}
        if replications is None:
            return [
                None if ranks[at] % self.count == self.number - 1 else [] for at in range(len(keys))
            ]
        stretches = [
            (start, stop, _slices(start, stop, self.count, len(keys)))
            for start, stop in _stretches(replications)
        ]
        return [
            [
                (start + (stop - start) * k // n, start + (stop - start) * (k + 1) // n)
                for start, stop, n in stretches
                # of n consecutive slices each goes to another part, as n is at most their count
                for k in [(self.number - 1 - ranks[at] * n) % self.count]
                if k < n
            ]
            for at in range(len(keys))
        ]


def _stretches(replications: int) -> list[tuple[int, int]]:
    """Return ranges that double, up to a number of replications.

    Examples
    --------
    >>> _stretches(1300)
    [(0, 256), (256, 512), (512, 1024), (1024, 1300)]
    """
    found, start, stop = [], 0, _FIRST_STRETCH
    while start < replications:
        found.append((start, min(stop, replications)))
        start, stop = stop, 2 * stop
    return found


def _slices(start: int, stop: int, parts: int, tasks: int) -> int:
    """Return into how many slices a stretch of each task is cut, at most one a part."""
    enough = math.ceil(_SLICES_A_PART * parts / tasks) if start == 0 else parts
    return min(parts, stop - start, enough)


def read_part(value: object, environment: Mapping[str, str] = os.environ) -> Part | None:
    """Return the part that is meant; None for the whole study.

    Parameters
    ----------
    value : Part, str, (int, int) or None
        "3/16" or (3, 16) for the third of sixteen; "slurm" for what SLURM says to a job of an
        array, in `environment`: SLURM_ARRAY_TASK_ID, counted from SLURM_ARRAY_TASK_MIN on, of
        SLURM_ARRAY_TASK_COUNT.
    environment : mapping of str to str
        Variables of the process.

    Raises
    ------
    TypeError, ValueError
        If it is no part, or if "slurm" is given and the process is no job of an array, or of one
        whose numbers have gaps.

    Examples
    --------
    >>> read_part("3/16")
    Part(number=3, count=16)
    >>> read_part("slurm", {"SLURM_ARRAY_TASK_ID": "5", "SLURM_ARRAY_TASK_MIN": "4",
    ...                     "SLURM_ARRAY_TASK_MAX": "11", "SLURM_ARRAY_TASK_COUNT": "8"})
    Part(number=2, count=8)
    """
    if value is None or isinstance(value, Part):
        return value
    if isinstance(value, str):
        if value.strip().lower() == SLURM:
            return _part_of_slurm(environment)
        match = _TEXT.fullmatch(value)
        if match is not None:
            return Part(int(match[1]), int(match[2]))
        raise ArgumentValueError("part", f"part is {short.repr(value)}; {_REMEDY}")
    if isinstance(value, tuple) and len(value) == 2 and all(type(one) is int for one in value):
        return Part(*value)
    raise ArgumentTypeError("part", f"part is {short.repr(value)}; {_REMEDY}")


def _part_of_slurm(environment: Mapping[str, str]) -> Part:
    number = _variable(environment, "SLURM_ARRAY_TASK_ID")
    count = _variable(environment, "SLURM_ARRAY_TASK_COUNT")
    first = _variable(environment, "SLURM_ARRAY_TASK_MIN", 0 if number == 0 else 1)
    last = _variable(environment, "SLURM_ARRAY_TASK_MAX", first + count - 1)
    if last - first + 1 != count or not first <= number <= last:
        raise ArgumentValueError(
            "part",
            f"part is slurm, but the array's numbers, {count} from {first} to {last}, do not "
            f"follow each other, or {number} is none of them; submit it with --array=1-{count}, or "
            "give the part as a number and a count such as 3/16",
        )
    return Part(number - first + 1, count)


def _variable(environment: Mapping[str, str], name: str, default: int | None = None) -> int:
    text = environment.get(name)
    if text is None and default is not None:
        return default
    if text is None:
        raise ArgumentValueError(
            "part",
            f"part is slurm, but {name} is not set: this is no job of a SLURM array; submit it by "
            "sbatch --array=1-16, or give the part as a number and a count such as 3/16",
        )
    if not re.fullmatch(r"\d{1,9}", text.strip()):
        raise ArgumentValueError(
            "part",
            f"part is slurm, but {name} is {text!r}, which is no number of an array's job; give "
            "the part as a number and a count such as 3/16",
        )
    return int(text)
