"""The jumps of LUCB against the twin: recordings, the law of pulls, and kernels whose jumps are too long."""

import importlib.util
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from replay import (
    Instance,
    draw_instance,
    lucb_length,
    mismatches,
    run_kernel,
    run_known,
    run_twin,
    twin_pulls,
)
from statistics_checks import LEVEL, same_law

import rai_sim.algorithms.lucb
import rai_sim.engine.lucb_quick
from rai_sim import LUCB, Bernoulli, Problem, best_arm, full_ranking, simulate
from rai_sim.algorithms.base import Algorithm

RULES = [LUCB(as_printed=False), LUCB(as_printed=True)]


def instances(seed: int, count: int, gaps: tuple[float, float], most_arms: int = 12) -> list[Instance]:
    """Draw instances for LUCB, half of them with few arms, whose pulls soon follow a pattern."""
    rng = np.random.default_rng(seed)
    return [draw_instance(rng, lucb_length, gaps, most_arms=most_arms if i % 2 else 4) for i in range(count)]


@pytest.mark.parametrize("algorithm", RULES, ids=str)
def test_replay_with_sure_jumps(algorithm: LUCB) -> None:
    """skip_error = 0: whatever the recording, 600 runs each agree in all numbers."""
    drawn = instances(11 + algorithm.as_printed, 600, (0.25, 0.9))
    assert mismatches(drawn, partial(run_kernel, algorithm), partial(run_twin, algorithm)) == []


@pytest.mark.parametrize("algorithm", RULES, ids=str)
def test_replay_with_jumps_by_chance(algorithm: LUCB) -> None:
    """Known means, gaps that make jumps long: one of the 80 runs differs with probability 8e-11 at most."""
    drawn = instances(13 + algorithm.as_printed, 40, (0.08, 0.3), 5)
    assert mismatches(drawn, partial(run_known, algorithm), partial(run_twin, algorithm)) == []


def test_few_arms_at_small_gaps() -> None:
    """Two and three arms: long jumps in step and in corridors; 20 runs, false alarms as above."""
    drawn = instances(15, 20, (0.05, 0.1), 3)
    assert mismatches(drawn, partial(run_known, LUCB()), partial(run_twin, LUCB())) == []


LAWS = [
    (LUCB(), best_arm(Bernoulli([0.75, 0.35, 0.3]))),
    (LUCB(), full_ranking(Bernoulli([0.1, 0.8, 0.45]))),
    (LUCB(as_printed=True), Problem(Bernoulli([0.97, 0.6, 0.4, 0.03]), (1, 2, 1), (0, 1, 0))),
]


@pytest.mark.parametrize(("algorithm", "problem"), LAWS)
def test_the_law_of_pulls(algorithm: LUCB, problem: Problem) -> None:
    """Two samples, ours and the twin's; false alarms 1e-8 each."""
    ours = simulate(problem, algorithm, delta=0.1, replications=600, seed=1).pulls
    assert same_law(ours, twin_pulls(algorithm, problem, 0.1, 600, 2), most=4) > LEVEL


# ---------------------------------------------------------------------------------------------------
# Negative controls
# ---------------------------------------------------------------------------------------------------


@pytest.fixture
def broken(tmp_path: Path) -> Callable[[str, str], Algorithm]:
    """Return a maker of LUCB with one expression of `rai_sim.engine.lucb_quick` replaced."""

    def make(old: str, new: str) -> Algorithm:
        quick = Path(rai_sim.engine.lucb_quick.__file__).read_text()
        assert quick.count(old) == 1
        name = f"broken_{abs(hash(new))}"
        _load(tmp_path, f"{name}_quick", quick.replace(old, new))
        lucb = Path(rai_sim.algorithms.lucb.__file__).read_text()
        module = _load(tmp_path, name, lucb.replace("rai_sim.engine.lucb_quick", f"{name}_quick"))
        rule: Algorithm = module.LUCB()
        return rule

    return make


def _load(folder: Path, name: str, text: str) -> Any:
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_longer_sure_jumps_are_caught(broken: Callable[[str, str], Algorithm]) -> None:
    """One round more than is certified, in every jump."""
    wrong = broken("reach = int(min(stay, Q, _LONGEST))", "reach = int(min(stay, Q, _LONGEST)) + 1")
    drawn = instances(11, 200, (0.25, 0.9))
    assert len(mismatches(drawn, partial(run_kernel, wrong), partial(run_twin, LUCB()))) >= 5


def test_longer_jumps_by_chance_are_caught(broken: Callable[[str, str], Algorithm]) -> None:
    """A budget that claims a variance 100 times smaller."""
    wrong = broken("budget = exit_budget(", "budget = 0.01 * exit_budget(")
    drawn = instances(13, 40, (0.08, 0.3), 5)
    assert len(mismatches(drawn, partial(run_known, wrong), partial(run_twin, LUCB()))) >= 5
