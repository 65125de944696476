"""Where there never are many arms, nothing is said to be one of them."""

from __future__ import annotations

from typing import Any

import pytest

from rai_sim.engine.jit import exposed, kernel
from rai_sim.engine.round_robin import many
from rai_sim.engine.round_robin.many import NoCrowd, no_crowd


@exposed
@kernel
def asked(crowd: NoCrowd, none: Any) -> tuple[bool, bool, bool, int]:
    """Ask for all that may be asked."""
    many.start(crowd)
    many.leave(crowd, none, 0)
    rounds, _ = many.make_rounds(crowd, none, 7, none)
    return (
        many.in_crowd(crowd, none),
        many.worth_a_crowd(crowd, none, 0.0),
        many.worth_leaving(crowd, none),
        rounds,
    )


def test_without_a_crowd_none_is_entered() -> None:
    """Nor left, and no round is made by it."""
    assert asked(no_crowd(), 0) == (False, False, False, 0)


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        (many.start, ()),
        (many.in_crowd, (0,)),
        (many.worth_a_crowd, (0, 0.0)),
        (many.make_rounds, (0, 0, 0)),
        (many.worth_leaving, (0,)),
        (many.leave, (0, 0)),
    ],
)
def test_python_is_refused(operation: Any, arguments: tuple[Any, ...]) -> None:
    """What is compiled by the type of a crowd says so."""
    with pytest.raises(
        TypeError, match=f"{operation.__name__} was given NoCrowd, which no compiled"
    ):
        operation(no_crowd(), *arguments)
