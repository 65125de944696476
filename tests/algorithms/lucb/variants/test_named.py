"""The option `radius` and the method `radius` of LUCB are one: a name that can be called."""

from __future__ import annotations

import copy
import json
import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rai_sim as rai
from rai_sim import LUCB
from rai_sim.algorithms.base import Algorithm
from rai_sim.algorithms.lucb.variants.radii import radii_of, side_of
from rai_sim.algorithms.text import algorithm_from_text, algorithm_to_text
from rai_sim.study.task import algorithm_from_json, algorithm_to_json

VARIANTS = [LUCB(radius=r, picks=p) for r in ("mixture", "stitched") for p in ("all", "lucb++")]


@pytest.mark.parametrize("algorithm", [LUCB(), LUCB(picks="k-m"), *VARIANTS], ids=str)
def test_it_is_a_text_like_any_other(algorithm: LUCB) -> None:
    """Copied, pickled, stored, written and read again it is the same option, and can be called."""
    numbers = (np.array([7]), np.array([5]), rai.table_problem(2), 0.01)
    for again in (
        copy.deepcopy(algorithm),
        pickle.loads(pickle.dumps(algorithm)),
        replace(algorithm),
        algorithm_from_json(algorithm_to_json(algorithm)),
        algorithm_from_text(algorithm_to_text(algorithm)),
    ):
        assert again == algorithm
        assert hash(again) == hash(algorithm)
        assert repr(again) == repr(algorithm)
        assert again.radius(*numbers) == algorithm.radius(*numbers)
    assert json.dumps(algorithm.radius) == f'"{algorithm.radius}"'


def test_what_is_the_default_is_not_told() -> None:
    """So experiments are called what they were before there was a choice; other options are."""
    assert repr(LUCB()) == LUCB().label == "LUCB(as_printed=False)"
    assert LUCB(radius="paper", picks="all") == LUCB()
    both = LUCB(radius="stitched", picks="lucb++")
    assert repr(both) == "LUCB(as_printed=False, radius='stitched', picks='lucb++')"
    assert algorithm_from_text("lucb:picks=lucb++,radius=stitched") == both


def test_radii() -> None:
    """For traces, of any shape: the paper's, those of an arm's pulls alone; of LUCB++ the mean of
    both sides."""
    problem, rounds = rai.table_problem(2), np.array([[1], [100]])
    pulls = np.array([[1, 1, 1], [3, 50, 100]])
    paper: Algorithm = LUCB()
    expected = np.sqrt(np.log(math.pi**2 * rounds**3 * 10 / 0.03) / (2 * pulls))
    assert np.allclose(paper.radius(rounds, pulls, problem, 0.01), expected, rtol=1e-14)
    for name in ("mixture", "stitched"):
        side = side_of(name, 0.01 / 20, alone=False)
        told = LUCB(radius=name).radius(rounds, pulls, problem, 0.01)
        assert np.array_equal(told, radii_of(side, 1.0 * rounds, 1.0 * pulls))
        sides = [side_of(name, 0.01 / (2 * one), alone=True) for one in (7, 3)]
        halves = [radii_of(side, 1.0 * rounds, 1.0 * pulls) for side in sides]
        told = LUCB(radius=name, picks="lucb++").radius(rounds, pulls, problem, 0.01)
        assert np.allclose(told, (halves[0] + halves[1]) / 2.0, rtol=1e-15)


def test_options_that_do_not_go_together() -> None:
    """Each names what is wrong, and what to do."""
    given: list[tuple[dict[str, Any], str]] = [
        ({"radius": "mixture"}, r"LUCB: radius is 'mixture' but as_printed is True.*leave one"),
        ({"picks": "rank"}, r"LUCB: picks is 'rank' but as_printed is True.*leave one"),
    ]
    for options, says in given:
        with pytest.raises(ValueError, match=says):
            LUCB(as_printed=True, **options)
    with pytest.raises(ValueError, match=r"radius must be 'paper', 'mixture' or 'stitched'; got"):
        LUCB(radius="wide")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"picks must be 'all', 'lucb\+\+', 'k-m' or 'rank'; got"):
        LUCB(picks="some")  # type: ignore[arg-type]
