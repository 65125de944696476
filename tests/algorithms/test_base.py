"""What all algorithms have in common: the registry, checked options, the label, no radius."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.engine.blocks import Block, Setting


@dataclass(frozen=True)
class Walk(Algorithm):
    """Has no intervals."""

    step: float = 1.0
    back: bool = False

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Nothing is run."""
        raise NotImplementedError


del ALGORITHMS["walk"]


def test_a_class_is_known_by_its_name_in_small_letters() -> None:
    """From its definition on."""
    own = {"vanilla": rai.Vanilla, "butterscotch": rai.Butterscotch, "lucb": rai.LUCB}
    assert own.items() <= ALGORITHMS.items()
    assert {name for name, one in ALGORITHMS.items() if one.of_the_paper} == own.keys()
    assert all(name == one.__name__.lower() for name, one in ALGORITHMS.items())

    @dataclass(frozen=True)
    class LongWalk(Walk):
        far: bool = True

    assert ALGORITHMS.pop("longwalk") is LongWalk


@pytest.mark.parametrize("known", [True, False])
def test_names_of_the_package_are_taken(known: bool) -> None:
    """A class of a user's cannot take the place of one of the package's, whatever its letters."""
    with pytest.raises(
        ValueError, match=r"algorithm: Lucb is the name of the package's own rai_sim"
    ):
        type("Lucb", (Walk,), {"__module__": __name__}, known=known)
    assert ALGORITHMS["lucb"] is rai.LUCB
    for far in (1, 2):  # a user's own may be defined anew, as in a notebook
        made = type("Stroll", (Walk,), {"__module__": __name__, "far": far})
        assert ALGORITHMS.pop("stroll") is made


def test_a_class_without_a_kernel_makes_no_algorithm() -> None:
    """`run_block` is asked for."""

    @dataclass(frozen=True)
    class Idle(Algorithm):
        pass

    del ALGORITHMS["idle"]
    idle: Any = Idle
    with pytest.raises(TypeError, match="run_block"):
        idle()


def test_options_are_checked_and_become_plain() -> None:
    """By their annotations, with the algorithm's and the option's name; then they stay."""
    given: Any = Walk
    walk = given(np.float32(0.5), True)
    assert (walk, type(walk.step)) == (Walk(0.5, True), float)
    assert walk.label == "Walk(step=0.5, back=True)"
    with pytest.raises(TypeError, match="Walk: back must be True or False; got 1"):
        given(1.0, 1)
    with pytest.raises(AttributeError):
        walk.step = 2.0


def test_no_intervals_have_no_radius() -> None:
    """NaN of the shape that rounds and pulls have together; an algorithm with intervals has
    numbers."""
    rounds, pulls = np.arange(1, 4)[:, None], np.arange(1, 6)
    problem = rai.best_arm(rai.Bernoulli([0.5, 0.4]))
    radius = Walk().radius(rounds, pulls, problem, 0.1)
    assert radius.shape == (3, 5)
    assert np.isnan(radius).all()
    for algorithm in (rai.Vanilla(), rai.Butterscotch(), rai.LUCB()):
        assert np.all(algorithm.radius(rounds, pulls, problem, 0.1) > 0.0)


def test_what_studies_ask_a_class() -> None:
    """No theorem and no cost by rounds, unless a class says so."""
    assert (Walk.upper_bound, Walk.looks_at_most_rounds) == (None, False)
    assert rai.Vanilla.upper_bound is not None
    assert rai.LUCB.looks_at_most_rounds
