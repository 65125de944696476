"""How the package is loaded: without looking for garbage meanwhile."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collections() -> Iterator[None]:
    """Let Python look for no garbage meanwhile, if it does at all.

    What is loaded, Numba's types and templates most of all, is tens of thousands of objects that
    stay. To go through them again and again as they grew in number took an eighth of the time of
    an import.

    Examples
    --------
    >>> import gc
    >>> with without_collections():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
