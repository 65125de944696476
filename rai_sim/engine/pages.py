"""Arrays of which only what is written to takes up memory.

NumPy asks the system for large pages (2 MiB on most processors) for arrays of 4 MiB and more: the
first number written to such a page makes all of it resident. An array of a few long rows of which
each is filled from its start would then be resident as a whole where rows are shorter than a page.
"""

from __future__ import annotations

import math
import mmap
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: From here on NumPy asks for large pages: 4 MiB.
LARGE = 1 << 22


def spare(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return an array of any content that takes up memory by small pages, as it is written to.

    Parameters
    ----------
    shape : tuple of int
        Its shape.
    dtype : dtype
        The type of its numbers.

    Returns
    -------
    ndarray
        Of that shape and type, writable and contiguous.

    Examples
    --------
    >>> rows = spare((3, 1_000_000), np.float64)
    >>> rows[:, 0] = 1.0  # three small pages
    >>> rows.shape, rows.dtype, rows.flags.c_contiguous, rows.flags.writeable
    ((3, 1000000), dtype('float64'), True, True)
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size < LARGE or not hasattr(mmap, "MADV_NOHUGEPAGE"):
        return np.empty(shape, dtype)
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # a system without large pages has none to decline
        pages.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(pages, dtype).reshape(shape)
