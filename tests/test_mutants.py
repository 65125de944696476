"""Planting a fault by function: what becomes of a module, and that a control out of date says
so."""

from pathlib import Path

import pytest
from exchange import LEFT, asks_no
from mutants import (
    CROWDS,
    LATE_STATE,
    LENGTHENED_LUCB,
    LENGTHENED_SKIP,
    LOOK_AHEAD,
    ROSTERS,
    SMALL_CROWDS,
    SMALL_ROSTERS,
    STALE_SLOPE,
    Changed,
    Edit,
    Replaced,
    Set,
    planted,
    with_replaced,
)
from view_guards import guards_by_number

import rai_sim

_MODULE = """
def twice(function):
    return lambda *arguments: 2 * function(*arguments)


@twice
def length(x: int, y: int = 1) -> int:
    return x + y


def longest() -> int:
    return length(3)
"""


def replaced(source: str, function: str = "length", text: str = _MODULE) -> str:
    """Plant a fault in the module above."""
    return with_replaced(text, Replaced("a.py", function, source))


def test_the_original_is_at_hand() -> None:
    """The replacement is decorated alike, and what called the original calls it."""
    names: dict[str, int] = {}
    text = replaced("def length(x, y=1):\n    return 10 + length_unchanged(x, y)\n")
    exec(text + "result = longest()", names)
    assert names["result"] == 2 * (10 + 2 * (3 + 1))


@pytest.mark.parametrize(
    ("source", "function", "message"),
    [
        ("def width(x):\n    return x\n", "width", "a.py, width: found 0 times"),
        ("def width(x):\n    return x\n", "length", "replacement of a.py, length: found 0 times"),
        ("def length(x):\n    return x\n", "length", r"takes \(x, y=1\) and its replacement \(x\)"),
        ("def length(y, x=1):\n    return x\n", "length", r"replacement \(y, x=1\)"),
    ],
)
def test_a_control_out_of_date_is_refused(source: str, function: str, message: str) -> None:
    """No such function, no such replacement, other parameters."""
    with pytest.raises(ValueError, match=message):
        replaced(source, function)


def test_a_function_is_replaced_once() -> None:
    """A second fault would call the first one's original."""
    source = "def length(x, y=1):\n    return x\n"
    with pytest.raises(ValueError, match="replaced already"):
        replaced(source, text=replaced(source))


def test_code_is_changed_in_one_function() -> None:
    """However the file breaks its lines; and a constant may be set by its former value."""
    text = _MODULE.replace("return x + y", "return (\n        x\n        + y\n    )") + "MOST = 3\n"
    names: dict[str, int] = {}
    text = planted(text, Changed("a.py", "length", "x + y", "x - y"))
    exec(planted(text, Set("a.py", "MOST", "10 * WAS")) + "result = length(MOST)", names)
    assert names["result"] == 2 * (30 - 1)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Changed("a.py", "width", "x", "y"), "a.py, width: found 0 times"),
        (Changed("a.py", "length", "x * y", "y"), r"a.py, length: 'x \* y' is there 0 times"),
        (Changed("a.py", "length", "x", "y"), "a.py, length: 'x' is there 2 times"),
        (Set("a.py", "MOST", "1"), "a.py, MOST: set 0 times"),
    ],
)
def test_a_change_out_of_date_is_refused(fault: Edit, message: str) -> None:
    """Code that is not there, or twice; a constant that is not set."""
    with pytest.raises(ValueError, match=message):
        planted(_MODULE, fault)


def test_controls_are_up_to_date() -> None:
    """All that a control changes is there, as it is expected; changes that go together, together."""
    alone = (
        *LENGTHENED_SKIP,
        *LENGTHENED_LUCB,
        *CROWDS.values(),
        *ROSTERS.values(),
        STALE_SLOPE,
        LOOK_AHEAD,
        LATE_STATE,
    )
    together: list[list[Edit]] = [[one] for one in (*alone, *map(asks_no, LEFT))]
    together += [[*SMALL_CROWDS], [*SMALL_ROSTERS]]
    for faults in (*together, guards_by_number()):
        texts: dict[str, str] = {}
        for fault in faults:
            before = texts.setdefault(fault.module, source_of(fault))
            texts[fault.module] = planted(before, fault)
            assert texts[fault.module] != before


def source_of(fault: Edit) -> str:
    """Return the text of the module that a fault is planted in."""
    return (Path(rai_sim.__file__).parent / fault.module).read_text()
