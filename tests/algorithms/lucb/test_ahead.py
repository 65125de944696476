"""Rewards that are known ahead: pulls give what pieces hold, and pieces hold what was drawn."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from literal import compiled
from numpy.typing import NDArray
from stack import WORDS, Stack, new_stack
from statistics_checks import LEVEL, chi_square

from rai_sim import Bernoulli
from rai_sim.algorithms.lucb import ahead
from rai_sim.algorithms.lucb.ahead import AheadLaw, Pieces, new_pieces
from rai_sim.engine import law as laws
from rai_sim.engine.jit import exposed
from rai_sim.engine.streams import State, new_generators

split_bits, push = exposed(ahead.split_bits), exposed(ahead.push)
move_top = exposed(ahead.move_top)
#: Which no test draws from.
GENERATORS = new_generators()

#: A state, by which stacks know the replication.
STATE: Any = tuple(np.uint64(word) for word in (3, 1, 4, 0, 0))
#: What else is done with arm 0 in `play`: forget what is known; note whether anything is; cut the top
#: piece, of which the sum is known, after 40 pulls; draw its bits.
FORGET, FORESEEN, CUT, DRAW = -1, -2, -3, -4


@compiled
def play(law: AheadLaw, steps: NDArray[np.int64], sums: NDArray[np.float64], state: State) -> State:
    """Pull arm 0 so many times a step, one by one where it is once, and note its sums; or do what
    else a step says."""
    total, pulls = 0.0, 0
    for j in range(steps.size):
        k = steps[j]
        if k == 1:
            total, state = laws.one_pull(law, 0, total, pulls, state)
        elif k > 1:
            total, state = laws.more_pulls(law, 0, total, pulls, k, state)
        elif k == FORGET:
            ahead.forget(law)
        elif k == CUT:
            state = ahead.split_sum(law.base, law.pieces, 0, 40, state)
        elif k == DRAW:
            state = ahead.draw_bits(law.base, law.pieces, 0, state)
        sums[j] = total
        if k == FORESEEN:
            sums[j] = 1.0 if ahead.foreseen(law, 0) else 0.0
        pulls += max(k, 0)
    return state


def stack_of(p: float = 0.5) -> Stack:
    """Return two arms that give words."""
    digits = np.full(2, round(p * 1024), np.uint64)
    return new_stack(WORDS, digits / 1024.0, 0.25, digits=digits)


def played(law: Stack, steps: list[int], pieces: Pieces | None = None) -> NDArray[np.float64]:
    """Return the sums of an arm, of which some pieces are known."""
    sums = np.zeros(len(steps))
    play(AheadLaw(law, pieces or new_pieces(2)), np.array(steps), sums, STATE)
    return sums


def piece(p: Pieces, i: int, arm: int = 0) -> tuple[int, int, float, float, int, bool]:
    """Return a piece."""
    fields = (p.start, p.end, p.before, p.after, p.bits, p.known)
    start, end, before, after, bits, known = (field[arm, i].item() for field in fields)
    return start, end, before, after, bits, known


def pieces_of(
    rng: np.random.Generator, number: int, most: int = 130
) -> tuple[Pieces, NDArray[np.float64]]:
    """Return pieces of rewards that no law gives: more ones than zeros; and all sums up to the
    end, of those that are known one by one."""
    ends = np.cumsum(rng.integers(1, most, number)).tolist()
    rewards = rng.random(ends[-1]) < 0.9
    sums = np.concatenate([[0.0], np.cumsum(rewards)])
    made, known_sums = new_pieces(2), sums.copy()
    pairs = list(zip([0, *ends[:-1]], ends, strict=True))
    for start, end in reversed(pairs):
        known = end - start <= 64 and rng.random() < 0.7
        bits = sum(1 << j for j in range(end - start) if rewards[start + j]) if known else 0
        push(made, 0, start, end, sums[start], sums[end], np.uint64(bits), known)
        if not known:
            known_sums[start + 1 : end] = np.nan
    return made, known_sums


def test_pulls_give_what_pieces_hold() -> None:
    """One pull or many, pieces cut anywhere, of bits and of sums: at every end, and within bits
    after every pull, the sum is the piece's; beyond the last come the law's own rewards."""
    rng, law, within = np.random.default_rng(1), stack_of(0.25), 0
    for number in range(40):
        made, sums = pieces_of(rng, 1 + number % 5)
        end = sums.size - 1
        most = int(rng.choice([1, 5, 200]))
        steps = rng.integers(1, most + 1, end + 100).tolist()
        pulls = np.cumsum(steps)
        found = played(law, steps, made)
        inside = pulls <= end
        told = inside & ~np.isnan(sums[np.minimum(pulls, end)])
        assert np.array_equal(found[told], sums[pulls[told]])
        within += int(told.sum())
        own = played(law, [end, *np.diff(pulls[~inside], prepend=end).tolist()])
        assert np.array_equal(found[~inside] - sums[-1], own[1:] - own[0])
        assert made.held[0] == 0
    assert within > 500


def test_sums_that_are_drawn_within_pieces_are_kept() -> None:
    """A sum of rewards of the law: all sums within it, however it is cut, are those of the law."""
    rng, law = np.random.default_rng(2), stack_of(0.25)
    for _ in range(20):
        made, steps = new_pieces(2), [int(rng.integers(1, 60)) for _ in range(20)]
        end = int(np.cumsum(steps)[int(rng.integers(3, 20))])
        push(made, 0, 0, end, 0.0, played(law, [end])[0], np.uint64(0), False)
        assert np.array_equal(played(law, steps, made), played(law, steps))
        assert made.held[0] == 0


def test_what_is_forgotten_is_drawn() -> None:
    """Whether anything is known, before and after."""
    law, (made, sums) = stack_of(0.25), pieces_of(np.random.default_rng(3), 3, 60)
    k = sums.size - 1
    found = played(law, [FORESEEN, FORGET, FORESEEN, k, 1], made)
    assert found[[0, 2]].tolist() == [1.0, 0.0]
    assert np.array_equal(found[3:], played(law, [k, 1]))
    assert found[3] != sums[-1]


def test_pieces_are_cut_where_they_are_asked_to_be() -> None:
    """Sums and bits are kept, on the same stack or another."""
    made, other = new_pieces(2), new_pieces(2)
    push(made, 0, 10, 17, 4.0, 8.0, np.uint64(0b1011010), True)
    split_bits(made, 0, 3, made)
    assert piece(made, 1) == (10, 13, 4.0, 5.0, 0b010, True)
    assert piece(made, 0) == (13, 17, 5.0, 8.0, 0b1011, True)
    split_bits(made, 0, 2, other)
    assert piece(other, 0) == (10, 12, 4.0, 5.0, 0b10, True)
    assert piece(made, 1) == (12, 13, 5.0, 5.0, 0, True)
    move_top(made, other, 0)
    assert (made.held.tolist(), other.held.tolist()) == ([1, 0], [2, 0])
    assert piece(other, 1) == (12, 13, 5.0, 5.0, 0, True)
    move_top(other, made, 0)
    assert piece(made, 1) == (12, 13, 5.0, 5.0, 0, True)


def test_a_word_is_cut_anywhere() -> None:
    """64 rewards, after 1 to 63."""
    rng = np.random.default_rng(4)
    for k in range(1, 64):
        made, bits = new_pieces(1), int(rng.integers(1 << 63)) << 1 | 1
        push(made, 0, 5, 69, 1.0, 1.0 + bits.bit_count(), np.uint64(bits), True)
        split_bits(made, 0, k, made)
        first = bits & (1 << k) - 1
        middle = 1.0 + first.bit_count()
        assert piece(made, 1) == (5, 5 + k, 1.0, middle, first, True)
        assert piece(made, 0) == (5 + k, 69, middle, 1.0 + bits.bit_count(), bits >> k, True)


def test_sums_are_cut_by_the_law() -> None:
    """The sum is the stack's; then the bits are its word."""
    law, made = stack_of(), new_pieces(2)
    sums = played(law, [1] * 100)
    push(made, 0, 0, 100, 0.0, sums[-1], np.uint64(0), False)
    played(law, [CUT], made)
    assert piece(made, 1) == (0, 40, 0.0, sums[39], 0, False)
    played(law, [DRAW], made)
    rewards = np.diff(sums, prepend=0.0)
    bits = sum(1 << j for j in range(40) if rewards[j])
    assert piece(made, 1) == (0, 40, 0.0, sums[39], bits, True)
    assert piece(made, 0) == (40, 100, sums[39], sums[99], 0, False)


def drawing(draw: Any) -> Any:
    """Return what draws the bits of pieces, again and again."""

    @compiled
    def run(
        law: Any, p: Pieces, size: int, ones: int, found: NDArray[np.uint64], state: State
    ) -> bool:
        fine = True
        for b in range(found.size):
            p.held[0] = 0
            ahead.push(p, 0, 7, 7 + size, 2.0, 2.0 + ones, np.uint64(0), False)
            state = draw(law, p, 0, state)
            fine = fine and p.held[0] == 1 and p.known[0, 0] and p.end[0, 0] == 7 + size
            fine = fine and p.start[0, 0] == 7 and p.before[0, 0] == 2.0
            fine = fine and p.after[0, 0] == 2.0 + ones
            found[b] = p.bits[0, 0]
        return fine

    return run


def bits_drawn(run: Any, size: int, ones: int, times: int) -> NDArray[np.uint64]:
    """Return the bits of as many pieces of a Bernoulli arm; all else of them must stay."""
    law, found, generators = Bernoulli([0.3]).kernel_law(), np.zeros(times, np.uint64), GENERATORS
    state = tuple(np.random.default_rng(ones).integers(1 << 63, size=4, dtype=np.uint64))
    assert run(law, new_pieces(1), size, ones, found, (*state, np.uint64(generators.ctypes.data)))
    return found


def uniformity(found: NDArray[np.uint64], size: int, ones: int) -> float:
    """Return the p-value of the test that all arrangements of so many ones are as likely."""
    possible = [bits for bits in range(1 << size) if bits.bit_count() == ones]
    counts = np.bincount(found.astype(np.int64), minlength=1 << size)
    assert counts.sum() == counts[possible].sum()
    return chi_square(counts[possible], np.full(len(possible), 1.0 / len(possible)))


@pytest.mark.slow
def test_bits_are_drawn_uniformly() -> None:
    """Of 8 rewards, and of 64 of which a few, half or all are 1: as many ones as there should be,
    and every arrangement, or place of a single one, as likely; a false alarm at 1e-8 each. Control:
    whoever draws every reward as if all of them were still ahead is noticed."""
    run = drawing(ahead.draw_bits)
    for ones in (1, 2, 4, 7):
        assert uniformity(bits_drawn(run, 8, ones, 20_000), 8, ones) > LEVEL
    for ones in (0, 1, 32, 63, 64):
        found = bits_drawn(run, 64, ones, 20_000)
        assert {int(bits).bit_count() for bits in found.tolist()} == {ones}
        if ones in (1, 63):
            rare = found if ones == 1 else ~found
            by_place = [int((rare >> np.uint64(j) & np.uint64(1)).sum()) for j in range(64)]
            assert chi_square(by_place, np.full(64, 1 / 64)) > LEVEL
    wrong = drawing(changed(ahead.draw_bits, "end - start - j, state", "end - start, state"))
    found = bits_drawn(wrong, 8, 4, 20_000)
    right = np.array([int(bits).bit_count() == 4 for bits in found.tolist()])
    assert right.sum() >= 7_000
    assert uniformity(found[right], 8, 4) < LEVEL


def changed(helper: Any, old: str, new: str) -> Any:
    """Return a helper in which code is other code."""
    text = inspect.getsource(helper.py_func)
    assert text.count(old) == 1
    names = dict(vars(ahead))
    exec(compile(text.replace(old, new), "<changed>", "exec"), names)
    return names[helper.py_func.__name__]


def test_all_else_is_the_laws_own() -> None:
    """Spread, unit, proxy, means and pulls."""
    law, told = stack_of(0.25), np.zeros(7)
    law.mean[1] = 0.375
    ask(AheadLaw(law._replace(spread=3.0, unit=0.5), new_pieces(2)), told)
    assert told.tolist() == [3.0, 0.5, 0.25, 0.375, float(law.available), 17.0, 1.0]


@compiled
def ask(law: AheadLaw, told: NDArray[np.float64]) -> None:
    """Write what there is to ask."""
    told[0], told[1], told[2] = laws.spread(law), laws.unit(law), laws.proxy(law)
    told[3], told[4] = laws.mean_of(law, 1), float(laws.pulls_available(law))
    told[5], told[6] = float(laws.handy(law, 17)), 1.0 if laws.has_words(law) else 0.0
