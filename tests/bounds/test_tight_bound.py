"""What is told of a tight bound: a text, whatever the number of arms, and whether it is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import rai_sim as rai
from rai_sim.bounds import degenne_koolen
from rai_sim.bounds.tight_bound import PRECISE, Alternative, TightBound


def test_a_text_tells_value_answer_and_what_binds() -> None:
    """In a line."""
    text = repr(degenne_koolen(rai.table_problem(task=3)))
    assert text.startswith("TightBound(value=144.068, gap=")
    assert "binding=arm 5 down to 0.2608 past (8)" in text


def test_of_many_arms_the_first_ones_are_listed() -> None:
    """Six; where there is one cluster nothing binds."""
    other = Alternative(7, "up", tuple(range(8)), 0.123456, 1.0)
    many = TightBound(8.0, 0.0, np.full(9, 1 / 9), (tuple(range(7)), (8,)), other, "gaussian")
    assert repr(many) == (
        "TightBound(value=8, gap=0, answer=((0, 1, 2, 3, 4, 5, ...), (8)), "
        "binding=arm 7 up to 0.1235 past (0, 1, 2, 3, 4, 5, ...))"
    )
    assert repr(replace(many, binding=None)).endswith("binding=None)")


def test_a_bound_is_complete_up_to_a_small_gap() -> None:
    """Of a millionth."""
    bound = degenne_koolen(rai.table_problem(task=3))
    assert replace(bound, gap=PRECISE).complete
    assert not replace(bound, gap=PRECISE * 1.01).complete
