"""Sums of pulls by arm, exact beyond 64 bits."""

import numpy as np
import pytest

from rai_sim.study.arm_sums import ArmSums, Unwritten, decimals, whole, words_of


def test_words_are_the_sums() -> None:
    """Of finished rows alone, whatever their size."""
    rng = np.random.default_rng(0)
    pulls = rng.integers(0, 1 << 62, (500, 3))
    finished = rng.random(500) < 0.7
    wanted = [sum(map(int, pulls[finished, arm])) for arm in range(3)]
    assert max(wanted) > 1 << 63
    assert decimals(words_of(pulls, finished)) == [str(one) for one in wanted]
    assert decimals(words_of(pulls[:0], finished[:0])) == ["0", "0", "0"]


def test_what_lies_within_is_added_up() -> None:
    """Not what lies before or behind."""
    waiting = Unwritten()
    for start in range(0, 40, 10):
        words = words_of(np.full((1, 2), 10**start // 10**start + start), np.array([True]))
        waiting["a"].append(ArmSums(start, start + 10, words))
    assert waiting.within("a", 10, 30) == ["32", "32"]


def test_a_whole_that_no_integer_holds_is_refused() -> None:
    """Named by its arm."""
    assert whole([["9223372036854775806", "0"], ["1", "2"]]).tolist() == [(1 << 63) - 1, 2]
    with pytest.raises(OverflowError, match="the pulls of arm 1 add up to 9223372036854775808"):
        whole([["1", "9223372036854775807"], ["1", "1"]])
