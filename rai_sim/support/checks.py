"""Checks that public functions share; a message repeats the argument and its value and says what to
do."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError, OrNone, TruthValues
from rai_sim.support.limits import MOST_PULLS
from rai_sim.support.values import integer, is_integer_type, real, written_whole
from rai_sim.support.values import short as short

#: Python may refuse to write integers of more than 640 digits in decimal, as identities and stores
#: do.
LARGEST_SEED = 1 << 2048


def check_delta(delta: float) -> float:
    """Return the error probability `delta` as a float.

    Parameters
    ----------
    delta : float
        A probability strictly between 0 and 1.

    Raises
    ------
    TypeError
        If it is not a number (True and False are not).
    ValueError
        If it is NaN or outside (0, 1).

    Examples
    --------
    >>> check_delta(0.01)
    0.01
    """
    remedy = "it must be an error probability strictly between 0 and 1, such as 0.01"
    try:
        probability = real("delta", delta)
    except TypeError:
        raise ArgumentTypeError("delta", f"delta is {short.repr(delta)}; {remedy}") from None
    if not 0.0 < probability < 1.0:
        raise ArgumentValueError("delta", f"delta is {short.repr(delta)}; {remedy}")
    return probability


def check_sizes(n: int, clusters: tuple[int, ...], required: tuple[int, ...]) -> None:
    """Refuse sizes and requirements that do not fit each other or the number of arms."""
    c, r = f"clusters={short.repr(clusters)}", f"required={short.repr(required)}"
    for i, size in enumerate(clusters):
        if size < 1:
            raise ArgumentValueError(
                "clusters",
                f"clusters[{i}] is {size} in {c}; a cluster has at least one arm: leave it out",
            )
    if sum(clusters) != n:
        raise ArgumentValueError(
            "clusters",
            f"{c} add up to {sum(clusters)} but arms has {n}; give sizes that add up to {n}",
        )
    if len(required) != len(clusters):
        raise ArgumentValueError(
            "required",
            f"{r} has length {len(required)} but {c} has length {len(clusters)}; give one number "
            "a cluster",
        )
    for i, (wanted, size) in enumerate(zip(required, clusters, strict=True)):
        if not 0 <= wanted <= size:
            raise ArgumentValueError(
                "required",
                f"required[{i}] is {wanted} in {r} but clusters[{i}] is {size}; ask for 0 to "
                f"{size} of its arms",
            )
    if not any(required):
        raise ArgumentValueError(
            "required",
            f"{r} asks for no arm; ask for at least one representative of some cluster",
        )


def check_number(name: str, value: int, largest: int, what: str) -> int:
    """Return an integer between 1 and `largest`."""
    remedy = f"it must be an integer from 1 to {largest}, {what}"
    if not is_integer_type(type(value)):
        raise ArgumentTypeError(
            name,
            f"{name} is {short.repr(value)} of type {type(value).__name__}{written_whole(value)}; "
            f"{remedy}",
        )
    if not 1 <= value <= largest:
        raise ArgumentValueError(name, f"{name} is {short.repr(value)}; {remedy}")
    return int(value)


def check_borders(
    means: NDArray[np.float64],
    clusters: tuple[int, ...],
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    rounding: float,
) -> None:
    """Refuse a tie, but for rounding, between the last arm of a cluster and the first of the next;
    `starts` index `order`."""
    last, first = means[order[starts[1:] - 1]], means[order[starts[1:]]]
    with np.errstate(over="ignore"):  # means at the two ends of the double range
        tied = np.flatnonzero(
            (last == first) | (last - first < rounding * np.maximum(abs(last), abs(first)))
        )
    if tied.size:
        i = int(tied[0]) + 1
        above, below = (int(arm) for arm in order[starts[i] - 1 : starts[i] + 1])
        raise ArgumentValueError(
            "clusters",
            f"clusters={short.repr(clusters)} are undefined: arms {above} and {below} tie at mean "
            f"{means[above]} across the border between clusters {i} and {i + 1}; make the means "
            "differ, or choose sizes that keep both arms in one cluster",
        )


def check_count(name: str, value: object, least: int) -> int:
    """Return an integer from `least` to 2^62, or raise TypeError or ValueError."""
    number = integer(name, value)
    if not least <= number <= MOST_PULLS:
        raise ArgumentValueError(
            name,
            f"{name} is {short.repr(number)}; it must be at least {least} and at most 2^62",
        )
    return number


def check_seed(seed: object) -> int:
    """Return a seed, drawn if it is None, or raise TypeError or ValueError."""
    if seed is None:
        entropy = np.random.SeedSequence().entropy
        assert isinstance(entropy, int)
        return entropy
    number = integer("seed", seed)
    if number < 0:
        raise ArgumentValueError(
            "seed",
            f"seed is {short.repr(number)}; it must be a non-negative integer",
            OrNone(", or None to draw one"),
        )
    if number >= LARGEST_SEED:
        raise ArgumentValueError(
            "seed",
            f"seed is {short.repr(number)}; it must be below 2^2048: take a smaller one",
        )
    return number


def check_workers(n_jobs: int | None) -> int | None:
    """Return `n_jobs`, or raise what `simulate` raises."""
    if n_jobs is None:
        return None
    workers = integer("n_jobs", n_jobs)
    if workers == 0:
        raise ArgumentValueError(
            "n_jobs",
            "n_jobs is 0; give the number of workers, -1 for every core",
            OrNone(", or None for joblib's configuration"),
        )
    if abs(workers) >= 1 << 31:
        raise ArgumentValueError(
            "n_jobs",
            f"n_jobs is {short.repr(workers)}; there are not so many workers: give -1 for every "
            "core",
        )
    return workers


def check_class_name(argument: str, known: Mapping[str, type], cls: type) -> None:
    """Refuse a class of a user's that has the name of one of the package's, in whatever case: by it
    files, stores and the command line know them.

    Parameters
    ----------
    argument : str
        What such classes are given as, "algorithm" or "arms".
    known : mapping of str to type
        The classes that there are, by their lower-case names.
    cls : type
        The new one.

    Raises
    ------
    ValueError
        If it has.
    """
    before = known.get(cls.__name__.lower())
    if before is not None and of_package(before) and not of_package(cls):
        raise ArgumentValueError(
            argument,
            f"{argument}: {cls.__name__} is the name of the package's own "
            f"{before.__module__}.{before.__qualname__}, as which studies would store this class; "
            "call it otherwise",
        )


def of_package(cls: type) -> bool:
    """Whether a class is the package's, not a user's.

    Examples
    --------
    >>> of_package(ArgumentValueError), of_package(int)
    (True, False)
    """
    return cls.__module__.partition(".")[0] == "rai_sim"


def check_switch(name: str, value: object) -> bool:
    """Return a switch, or raise TypeError."""
    if not isinstance(value, bool):
        raise ArgumentTypeError(name, f"{name} is {short.repr(value)}; it must be ", TruthValues())
    return value


def check_progress(progress: bool | None) -> bool | None:
    """Return `progress`, or raise what `simulate` raises."""
    if not (progress is None or isinstance(progress, bool)):
        raise ArgumentTypeError(
            "progress",
            f"progress must be True, False or None; got {short.repr(progress)}",
        )
    return progress


def check_title(title: str | None, default: str) -> str | None:
    """Return a title, or None for what stands there by default; refuse one that nobody would see."""
    remedy = f"title is {short.repr(title)}; give a text, or None for {default}"
    if not (title is None or isinstance(title, str)):
        raise ArgumentTypeError("title", remedy)
    if title is not None and not title.strip():
        raise ArgumentValueError("title", remedy)
    return title
