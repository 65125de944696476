"""Kinds of problems by name, and sizes in words: what study files and the command line have in
common."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator

from rai_sim.instances import shares
from rai_sim.problem import (
    Problem,
    best_arm,
    coarse_ranking,
    full_ranking,
    m_of_top,
    one_of_top,
    top,
)
from rai_sim.support.errors import BadInput

#: What makes the problem of a kind from arms and `sizes_of` it.
KINDS: dict[str, Callable[..., Problem]] = {
    "best_arm": best_arm,
    "one_of_top": one_of_top,
    "top": top,
    "m_of_top": m_of_top,
    "coarse_ranking": coarse_ranking,
    "full_ranking": full_ranking,
}
#: Shorter names of some.
_SHORT = {"coarse": "coarse_ranking", "full": "full_ranking"}
#: Arguments that say how many arms are meant.
SIZES = ("k", "m", "clusters", "required")


def names() -> Iterator[str]:
    """Yield the names of kinds, the shorter one of two.

    Examples
    --------
    >>> list(names())
    ['best_arm', 'one_of_top', 'top', 'm_of_top', 'coarse', 'full']
    """
    shorter = {long: brief for brief, long in _SHORT.items()}
    yield from (shorter.get(name, name) for name in KINDS)


def kind_of(text: str) -> str | None:
    """Return the kind that a text names, in any case, with hyphens or without; None if none is.

    Examples
    --------
    >>> kind_of("Best-Arm"), kind_of("coarse"), kind_of("worst_arm")
    ('best_arm', 'coarse_ranking', None)
    """
    name = text.strip().lower().replace("-", "_")
    name = _SHORT.get(name, name)
    return name if name in KINDS else None


def sizes_of(kind: str | None) -> list[str]:
    """Return which of `SIZES` a kind of problem takes; None stands for `Problem` itself.

    Examples
    --------
    >>> sizes_of("m_of_top"), sizes_of(None)
    (['m', 'k'], ['clusters', 'required'])
    """
    build = Problem if kind is None else KINDS[kind]
    return [name for name in inspect.signature(build).parameters if name in SIZES]


def size(text: str, n: int) -> int | tuple[int, ...]:
    """Return a number of `n` arms from a share such as 20%, sizes of clusters from proportions such
    as 3:5:2.

    Raises
    ------
    ValueError
        If the text is neither, or a cluster would be empty; the message leaves the text to the caller.

    Examples
    --------
    >>> size("20%", 50), size("3:5:2", 20)
    (10, (6, 10, 4))
    """
    share = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", text)
    if share:
        number = round(n * min(float(share.group(1)), 1e6) / 100.0)
        if number < 1:
            raise BadInput(f"that is none of {n} arms; give a larger share")
        return number
    if re.fullmatch(r"\s*\d+(\s*:\s*\d+)+\s*", text):
        return shares(n, [int(part) for part in text.split(":")])
    raise BadInput(
        "give a number, a list of numbers, a share such as '20%' or proportions such as '3:5:2'"
    )
