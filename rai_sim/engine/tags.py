"""Classes of named tuples that are made while a program runs: what kernels know of a user's own
rule, width or reward law.

A kernel is compiled, and kept on disk, for a class: its name holds the digest of the user's
functions, so that a changed function is another class. It holds their module, too: machine code on
disk refers to the modules that it was compiled from, and the same law, copied into another program,
would find there what it cannot load.
"""

from __future__ import annotations

import hashlib
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray


def tag(name: str, digest: str, fields: Sequence[str], module: str) -> Any:
    """Return the class of a name, a digest, fields and the module that the digest's functions stand
    in, one and the same whenever it is asked for.

    It is pickled by reference: it stands in this module.

    Examples
    --------
    >>> one = tag("Race", "0123456789abcdef0123", ["delta"], "races")
    >>> again = tag("Race", "0123456789abcdef0123", ["delta"], "races")
    >>> one.__name__, again is one
    ('Race_0123456789abcdef_...', True)
    """
    rest = hashlib.sha256("\n".join([module, *fields]).encode()).hexdigest()
    full = f"{name}_{digest[:16]}_{rest[:8]}"
    if full not in globals():
        globals()[full] = namedtuple(full, list(fields), module=__name__)
    return globals()[full]


def seen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view through which nothing can be written: to Numba a type of its own, so that a
    user's function that writes into it does not compile.

    Examples
    --------
    >>> import numpy as np
    >>> array = np.zeros(2)
    >>> view = seen(array)
    >>> array[0] = 1.0
    >>> view.tolist(), view.flags.writeable, array.flags.writeable
    ([1.0, 0.0], False, True)
    """
    view = array.view()
    view.flags.writeable = False
    return view
