"""Algorithms as texts: what is written is read again, and what is refused says why."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from command_line import Capture, refused
from hypothesis import given
from hypothesis import strategies as st
from own_algorithm import FULL, FULL_TEXT, VARIANTS, Race, known

from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.algorithms.options import options_of
from rai_sim.algorithms.text import (
    algorithm_from_text,
    algorithm_to_text,
    describe_algorithms,
    read_option,
    write_option,
)
from rai_sim.engine.blocks import Block, Setting
from rai_sim.study.task import algorithm_from_json, algorithm_to_json
from rai_sim.support.errors import BadInput


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """Have `Race` known in these tests."""
    with known():
        yield


@pytest.mark.parametrize("race", VARIANTS, ids=repr)
def test_text_and_json_make_the_same_algorithm(race: Race) -> None:
    """To the bit, and with the types."""
    for again in (
        algorithm_from_text(algorithm_to_text(race)),
        algorithm_from_json(algorithm_to_json(race)),
    ):
        assert (again, repr(again)) == (race, repr(race))


@pytest.mark.landing
@given(
    st.builds(
        Race,
        width=st.floats(allow_nan=False, allow_infinity=False),
        rounds=st.integers(1, 2**63 - 1),
        greedy=st.booleans(),
        note=st.text(st.characters(codec="utf-8")),
        mode=st.sampled_from(["fast", "slow", 7]),
        limit=st.none() | st.integers(-(2**63), 2**63 - 1),
        share=st.none() | st.floats(0.0, 1.0),
    )
)
def test_any_values_survive_text_and_json(race: Race) -> None:
    """Also texts that look like numbers, none, or several options."""
    assert repr(algorithm_from_text(algorithm_to_text(race))) == repr(race)
    assert repr(algorithm_from_json(algorithm_to_json(race))) == repr(race)


@dataclass(frozen=True)
class Mixed(Algorithm):
    """An option of nearly anything."""

    value: bool | int | float | str | Literal["none"] | None = None

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Nothing is run."""
        raise NotImplementedError


del ALGORITHMS["mixed"]


@given(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
    | st.text(st.characters(codec="utf-8"))
    | st.sampled_from(["none", "true", "1", "1.0", "nan", '"', " a ", "a,b"])
)
def test_a_value_of_several_kinds_keeps_its_kind(value: Any) -> None:
    """None is not "none", 1 not 1.0, nor True: what would be misread stands in quotes."""
    option = options_of(Mixed)["value"]
    again = read_option(option, write_option(option, value))
    assert (type(again), repr(again)) == (type(value), repr(value))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "race",
            "race: width is missing; write "
            "race:width=...,rounds=3,greedy=false,note=none,mode=fast,limit=none,share=none",
        ),
        ("race:width=wide", "race:width=wide: width is 'wide'; give a finite number"),
        ("race:width=inf", "race:width=inf: width is inf; give a finite number"),
        ("race:width=1,rounds=2.5", "race:width=1,rounds=2.5: rounds is '2.5'; give an integer"),
        ("race:width=1,rounds=0", "race:width=1,rounds=0: Race: rounds is 0; give at least 1"),
        (
            "race:width=1,mode=medium",
            "race:width=1,mode=medium: mode is 'medium'; give fast, slow or 7",
        ),
        (
            "race:width=1,limit=all",
            "race:width=1,limit=all: limit is 'all'; give an integer or none",
        ),
        (
            "race:width=1,width=2",
            "race:width=1,width=2: width is given twice; leave one of them out",
        ),
        ('race:width=1,note="a', "race:width=1,note=\"a: note is '\"a'; give a text"),
        (
            "race:width=1,speed=2",
            "race:width=1,speed=2: there is no option 'speed'; write race:width=...,rounds=3",
        ),
        (
            "race:width=1,greedy",
            "race:width=1,greedy: greedy has no value; write race:width=...,rounds=3",
        ),
    ],
)
def test_texts_that_are_refused(capsys: Capture, text: str, message: str) -> None:
    """The option, its value and the remedy, in the library and in one line of the command line."""
    with pytest.raises(BadInput) as caught:
        algorithm_from_text(text)
    assert str(caught.value).startswith(message)
    assert refused(capsys, f"run --algorithm '{text}'").startswith(
        f"rai-sim: --algorithm {message}"
    )


def test_spellings() -> None:
    """Case and spaces around do not matter but in texts; 1e3 is an integer."""
    text = "Race: width = 5e-1 , rounds=1e3,greedy=YES,note= A b ,mode=SLOW,limit=None"
    assert algorithm_from_text(text) == Race(0.5, 1000, True, "A b", "slow")
    assert algorithm_from_text(FULL_TEXT) == FULL
    assert algorithm_to_text(FULL) == FULL_TEXT
    assert describe_algorithms("race").startswith(
        "race:width=...,rounds=3,greedy=false,note=none,mode=fast,limit=none,share=none"
    )
