"""The verb `warmup`."""

from typing import Any

import pytest
from command_line import Capture, printed, refused

from rai_sim import LUCB, Butterscotch, Vanilla
from rai_sim.algorithms.base import ALGORITHMS
from rai_sim.arms.base import LAWS
from rai_sim.cli import warmup
from rai_sim.problem import Problem

VARIANTS = [Vanilla(), Vanilla(merging=False), Butterscotch(), Butterscotch(merging=False), LUCB()]


def test_warmup_of_an_unknown_law(capsys: Capture) -> None:
    """One line."""
    assert refused(capsys, "warmup --law luck").startswith(
        "rai-sim: --law luck is no reward law; choose one of bernoulli"
    )
    assert "--law poisson is given twice" in refused(capsys, "warmup --law poisson --law Poisson")


def test_warmup_runs_every_law_with_every_algorithm(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each combination of law, algorithm of the paper and switches is simulated; every pair's time is
    told."""
    ran = set()

    def simulate(problem: Problem, algorithm: Any, **options: Any) -> None:
        ran.add((type(problem.arms).__name__.lower(), repr(algorithm)))

    monkeypatch.setattr(warmup, "simulate", simulate)
    lines = [line.split() for line in printed(capsys, "warmup").splitlines()]
    laws = ("bernoulli", "categorical", "gaussian", "recorded")
    others = [LUCB(as_printed=True)]
    assert {(law, repr(algorithm)) for law in laws for algorithm in VARIANTS + others} <= ran
    assert lines.pop(0)[:2] == ["tight", "bound"]
    paper = [name for name, algorithm in ALGORITHMS.items() if algorithm.of_the_paper]
    assert sorted(paper) == ["butterscotch", "lucb", "vanilla"]
    assert [line[:2] for line in lines[:-1]] == [[law, name] for law in LAWS for name in paper]
    assert all(
        line[-1] == "s" and float(line[-2]) >= 0.0 for line in lines if line[0] in (*laws, "total")
    )
    assert lines[-1][0] == "total"
    ran.clear()
    printed(capsys, "warmup --law gaussian --law Recorded")
    assert {law for law, _ in ran} == {"gaussian", "recorded"}
