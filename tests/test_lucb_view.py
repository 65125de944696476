"""LUCB's view of many arms: every number of a run against the literal twin, which levels are used, and guards left out one at a time."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import replay
from mutants import mutant
from replay import KINDS, Instance, mismatches, run_kernel, run_twin

import rai_sim as rai
from rai_sim import LUCB
from rai_sim.algorithms import lucb
from rai_sim.engine.lucb_view import CHOSEN, FULL_ROUNDS, View, new_view

RULES = [LUCB(as_printed=False), LUCB(as_printed=True)]


def instances(seed: int, count: int, most_arms: int) -> list[Instance]:
    """Draw instances of 45 arms or more in two to four clusters, most of them capped."""
    rng = np.random.default_rng(seed)
    drawn: list[Instance] = []
    while len(drawn) < count:
        instance = _draw(rng, int(rng.integers(45, most_arms + 1)), int(rng.integers(2, 5)))
        if 2 * sum(min(c, 20) for c in instance.clusters) < instance.n_arms:  # otherwise there is no view
            drawn.append(instance)
    return drawn


def _draw(rng: np.random.Generator, N: int, m: int) -> Instance:
    cuts = np.sort(rng.choice(np.arange(1, N), m - 1, replace=False)) if rng.random() < 0.6 else np.cumsum(rng.integers(1, 4, m - 1))
    clusters = np.diff([0, *cuts, N])[:: int(rng.choice([-1, 1]))]
    required = np.zeros(m, np.int64)
    while not required.any():
        required = np.where(rng.random(m) < 0.6, rng.integers(np.where(rng.random(m) < 0.5, clusters, np.minimum(clusters, 3)) + 1), 0)
    gap = rng.uniform(0.5, 1.0)
    means = np.repeat(-gap * np.arange(m), clusters) - rng.uniform(0.0, gap * float(rng.choice([0.0, 0.02, 0.2])), N)
    means -= means.min()
    span = 1.0
    while means.max() > 0.9 * span:
        span *= 2.0
    means += rng.uniform(0.0, span - means.max())
    rewards = replay._record(rng, str(rng.choice(KINDS)), means / span, int(rng.integers(500, 4_000))) * span
    order = rng.permutation(N)
    return Instance(
        rewards[order], means[order], tuple(clusters.tolist()), tuple(required.tolist()), float(rng.choice([0.3, 0.01])),
        int(N + rng.integers(1, 12 * N)) if rng.random() < 0.7 else None, span, int(rng.integers(1 << 32)), int(rng.integers(1 << 32)),
    )  # fmt: skip


@pytest.mark.parametrize("algorithm", RULES, ids=str)
def test_replay(algorithm: LUCB, monkeypatch: pytest.MonkeyPatch) -> None:
    """60 runs each agree in all numbers; both levels of the larger ones are chosen often, and all active arms are needed at times."""
    views: list[View] = []

    def kept(N: int, sizes: np.ndarray) -> View:
        views.append(new_view(N, sizes))
        return views[-1]

    monkeypatch.setattr(lucb, "new_view", kept)
    drawn = instances(41 + algorithm.as_printed, 54, 150) + instances(43 + algorithm.as_printed, 6, 400)
    assert mismatches(drawn, lambda i: run_kernel(algorithm, i), lambda i: run_twin(algorithm, i)) == []
    state = sum(view.state for view in views)
    print(state)
    assert state[CHOSEN + 2] > 500  # the second level
    assert state[CHOSEN + 1] > 1_000
    assert state[FULL_ROUNDS] > 10


def test_a_round_looks_at_few_arms(monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 arms, 100,000 rounds: all arms are looked at once in 100 rounds at most, and a view lasts for several."""
    views: list[View] = []

    def kept(N: int, sizes: np.ndarray) -> View:
        views.append(new_view(N, sizes))
        return views[-1]

    monkeypatch.setattr(lucb, "new_view", kept)
    problem = rai.best_arm(rai.Bernoulli([0.65, *[0.35] * 9_999]))
    result = rai.simulate(problem, LUCB(), delta=0.01, replications=1, seed=1, max_pulls=210_000, workers=1)
    state = views[-1].state
    chosen = state[CHOSEN:][state[CHOSEN:] > 0]
    assert result.rounds[0] > 90_000
    assert chosen[0] + state[FULL_ROUNDS] < 1_000
    assert chosen[-1] < 20_000


#: What holds a guard, by name: in `lucb_view` the old text becomes the new one, in which OFF stands for "this one is left out".
_GUARDS_OFF = {
    "until": ("if R > v.until[level]:", "if not OFF and R > v.until[level]:"),
    "border above": ("if p0 > 0 and not ranks_before", "if not OFF and p0 > 0 and not ranks_before"),
    "border below": ("if p1 < n and not ranks_before", "if not OFF and p1 < n and not ranks_before"),
    "least LCB": ("if p1 < n and not _ahead(v, row + _LOW", "if not OFF and p1 < n and not _ahead(v, row + _LOW"),
    "greatest UCB": ("if p0 > 0 and not _ahead(v, row + _HIGH", "if not OFF and p0 > 0 and not _ahead(v, row + _HIGH"),
    "settled": ("if (v.label[by_L] >= 0 and not -v.key", "if not OFF and (v.label[by_L] >= 0 and not -v.key"),
    "nearest by L": ("if v.label[by_L] >= 0 and not (small_gap", "if not OFF and v.label[by_L] >= 0 and not (small_gap"),
    "nearest by U": ("if v.label[by_U] >= 0 and not (small_gap", "if not OFF and v.label[by_U] >= 0 and not (small_gap"),
    "label": ("v.of_mean[row] and s.order[x] < v.label[row]", "v.of_mean[row] and (OFF or s.order[x] < v.label[row])"),
    "other": ("        key > v.other[row] and s.taken", "        (OFF or key > v.other[row]) and s.taken"),
    "placed": ("if not _placed_among_cold(v, level - 1):", "if not OFF and not _placed_among_cold(v, level - 1):"),
    "later radius": ("c_then * (1.0 + _CAUTION)", "(c_now if OFF else c_then) * (1.0 + _CAUTION)"),
}

_PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[2])
from replay import run_kernel, run_twin
from test_lucb_view import RULES, instances
from rai_sim.engine import lucb_view
found = [0] * (int(sys.argv[3]) + 1)
for rule in RULES:
    for instance in instances(47 + rule.as_printed, 60, 130) + instances(49, 10, 300):
        right = run_twin(rule, instance)
        for off in range(len(found)):
            lucb_view.OFF[0] = off
            found[off] += run_kernel(rule, instance) != right
open(sys.argv[1], "w").write(json.dumps(found))
"""


def test_guards_left_out_are_noticed(tmp_path: Path) -> None:
    """Negative control, with a number in the state that tells which guard is off; with none off all runs agree."""
    edits = [("engine/lucb_view.py", old, new.replace("OFF", f"(v.state[_OFF] == {k})")) for k, (old, new) in enumerate(_GUARDS_OFF.values(), 1)]
    edits += [
        ("engine/lucb_view.py", "_CELLS = CHOSEN + _LEVELS", "_OFF = CHOSEN + _LEVELS\n_CELLS = _OFF + 1\nOFF = [0]"),
        ("engine/lucb_view.py", "    state[_LIMIT] = limit", "    state[_LIMIT], state[_OFF] = limit, OFF[0]"),
    ]
    environment = mutant(tmp_path, edits)
    arguments = [sys.executable, "-c", _PROGRAM, str(tmp_path / "found"), str(Path(__file__).parent), str(len(_GUARDS_OFF))]
    subprocess.run(arguments, check=True, env=environment, cwd=tmp_path, timeout=300)
    none, *found = json.loads((tmp_path / "found").read_text())
    assert none == 0
    assert min(found) >= 1, dict(zip(_GUARDS_OFF, found, strict=True))
