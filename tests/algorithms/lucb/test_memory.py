"""LUCB's memory an arm: in a process of its own, above what is resident once kernels are loaded."""

import subprocess
import sys

import pytest

_PROGRAM = """
import sys
import numpy as np
import rai_sim as rai
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024
def run(N, seed):
    third = N // 3
    arms = rai.Bernoulli(np.linspace(0.95, 0.05, N))
    problem = rai.Problem(arms, (third, third, N - 2 * third), (10, 10, 10))
    result = rai.simulate(problem, rai.LUCB(), replications=1, seed=seed, n_jobs=1, max_pulls=2 * N)
    assert result.rounds[0] > N // 30
run(1_000, 1)
before, N = peak(), int(sys.argv[1])
run(N, 1)
print((peak() - before) / N)
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux"),
    reason="only Linux tells the peak of a process's own memory",
)
@pytest.mark.parametrize("N", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_memory_an_arm(N: int) -> None:
    """Below 300 bytes, problem and result included; but some, or the peak was that of compiling."""
    for arms in (1_000, N):  # the first process compiles what is missing
        found = subprocess.run(
            [sys.executable, "-c", _PROGRAM, str(arms)], capture_output=True, text=True, check=True
        )
    assert 50.0 < float(found.stdout) < 300.0
