"""Planting a fault by function: what becomes of a module, and that a control out of date says
so."""

from pathlib import Path

import pytest
from mutants import LATE_STATE, LENGTHENED_SKIP, LOOK_AHEAD, STALE_SLOPE, Replaced, with_replaced

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


def planted(source: str, function: str = "length", text: str = _MODULE) -> str:
    """Plant a fault in the module above."""
    return with_replaced(text, Replaced("a.py", function, source))


def test_the_original_is_at_hand() -> None:
    """The replacement is decorated alike, and what called the original calls it."""
    names: dict[str, int] = {}
    text = planted("def length(x, y=1):\n    return 10 + length_unchanged(x, y)\n")
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
        planted(source, function)


def test_a_function_is_replaced_once() -> None:
    """A second fault would call the first one's original."""
    source = "def length(x, y=1):\n    return x\n"
    with pytest.raises(ValueError, match="replaced already"):
        planted(source, text=planted(source))


def test_controls_are_up_to_date() -> None:
    """Every function that a control replaces is there, as it is expected."""
    for fault in (*LENGTHENED_SKIP, STALE_SLOPE, LOOK_AHEAD, LATE_STATE):
        assert f"{fault.function}_unchanged" in with_replaced(source_of(fault), fault)


def source_of(fault: Replaced) -> str:
    """Return the text of the module that a fault is planted in."""
    return (Path(rai_sim.__file__).parent / fault.module).read_text()
