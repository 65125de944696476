"""Laws that no constructor would make, for tests of what lies behind the constructors' checks."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from rai_sim.arms.base import Arms

Law = TypeVar("Law", bound=Arms)


def unchecked(arms: Law, **fields: Any) -> Law:
    """Return a copy of a law with other fields, as they are given."""
    changed = copy.copy(arms)
    vars(changed).pop("_identity", None)
    for name, value in fields.items():
        object.__setattr__(changed, name, value)
    return changed
