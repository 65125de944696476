"""What every algorithm has in common on the Python side."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, ClassVar

from rai_sim.engine.blocks import Block, Setting

#: Every subclass of Algorithm by its lower-case name; the command line offers them.
ALGORITHMS: dict[str, type[Algorithm]] = {}


class Algorithm(ABC):
    """An identification algorithm with its options; subclasses are frozen dataclasses.

    An algorithm is added by one file in this folder (options, guarantee, kernel) and one import in `rai_sim/__init__.py`.
    """

    #: Which function of rai_sim.bounds bounds its pulls from above with probability 1 - delta, and the theorem's name.
    upper_bound: ClassVar[tuple[str, str] | None] = None

    def __init_subclass__(cls) -> None:
        """Make the algorithm known by its name."""
        super().__init_subclass__()
        ALGORITHMS[cls.__name__.lower()] = cls

    def __post_init__(self) -> None:
        """Refuse options that are not booleans."""
        for field in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            value = getattr(self, field.name)
            if not isinstance(value, bool):
                raise TypeError(f"{type(self).__name__}: {field.name} must be True or False; got {value!r}")

    @property
    def label(self) -> str:
        """Name with options, for tables."""
        return repr(self)

    @abstractmethod
    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Run len(block.pulls) replications from index `first` on and write them into `block`; `law` is an `Arms.kernel_law()`."""
