"""The examples: each is short, runs, and its algorithm does what it says."""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS
from rai_sim.arms.base import LAWS

FOLDER = Path(__file__).parents[2] / "scripts" / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))


@contextmanager
def loaded(name: str) -> Iterator[ModuleType]:
    """Import an example; what it registers is forgotten after."""
    algorithms, laws = set(ALGORITHMS), set(LAWS)
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.modules.pop(name, None)
        for name in set(ALGORITHMS) - algorithms:
            del ALGORITHMS[name]
        for name in set(LAWS) - laws:
            del LAWS[name]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_they_are_short(example: Path) -> None:
    """Below 60 lines, and each says how it is run."""
    text = example.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 60
    assert f"scripts/examples/{example.name}" in " ".join(text.split())


def same(problem: rai.Problem, rule: Any, count: int) -> rai.Result:
    """Return replications, and see that Python's are the same."""
    ours, theirs = (
        rai.simulate(problem, one, delta=0.1, replications=count, seed=4)
        for one in (rule, rule.in_python())
    )
    assert ours.pulls.tolist() == theirs.pulls.tolist()
    assert ours.representatives.tolist() == theirs.representatives.tolist()
    return ours


def test_successive_elimination() -> None:
    """As many pulls as Vanilla for the best arm, which is the same rule; Python's numbers; its
    program runs."""
    with loaded("successive_elimination") as example:
        rule, problem = (
            example.SuccessiveElimination(),
            rai.best_arm(rai.Bernoulli([0.8, 0.4, 0.3])),
        )
        same(problem, rule, 3)
        ours, theirs = (
            rai.simulate(problem, one, delta=0.1, replications=4_000, seed=seed).pulls
            for seed, one in enumerate((rule, rai.Vanilla()))
        )
        error = (ours.var() / 4_000 + theirs.var() / 4_000) ** 0.5
        assert abs(ours.mean() - theirs.mean()) < 4.5 * error
        example.main()


def test_kl_lucb() -> None:
    """Half the pulls of LUCB on the top two of five, hardly an error; Python's numbers; certified."""
    with loaded("kl_lucb") as example:
        problem = rai.top(rai.Bernoulli([0.9, 0.8, 0.5, 0.4, 0.2]), 2)
        same(problem, example.KLLUCB(), 2)
        ours = rai.simulate(problem, example.KLLUCB(), delta=0.1, replications=100, seed=1)
        lucb = rai.simulate(problem, rai.LUCB(), delta=0.1, replications=100, seed=1)
        assert ours.pulls.mean() < 0.7 * lucb.pulls.mean()
        assert ours.correct.mean() > 0.9
        found = rai.certify(example.KLLUCB(), delta=0.1, problems={"five": problem}, seed=0)
        assert found.passed


def test_own_law() -> None:
    """Triangular: deviation width / sqrt 6."""
    with loaded("own_law") as example:
        arms = example.Triangular([0.7, 0.3], width=0.3)
        assert arms.sample(0, 20_000).std() == pytest.approx(0.3 / 6**0.5, rel=0.03)
        result = rai.simulate(rai.best_arm(arms), rai.Vanilla(), replications=20, seed=1)
        assert result.correct.all()
