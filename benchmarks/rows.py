"""The rows of the benchmark table: each a ratio measured in one run.

Both sides of a ratio run in this process (or in fresh ones, where start-up is measured), warmed up,
taking turns, and each side's time is the best of several blocks of calls. Both times of a ratio
therefore share the machine's mood; absolute times are for display only. Speeds are compared a pull,
because different streams take slightly different numbers of pulls.

`ROWS` holds the rows by name: the table's numbers, `gaussian` and `categorical` for the laws beside
Bernoulli, `study` for the layer of studies, `dask` for workers behind a scheduler, `arms` and
`gaussian arms` for rounds of many arms (they stand in `benchmarks.sizes`), and `1t`, `2t`, `3t` and `5t`: what those rows measure,
against programs tuned by hand. The latter are only shown.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias
from unittest import mock

import numpy as np
from numpy.typing import NDArray

import rai_sim as rai
from benchmarks import baselines, many, tuned
from rai_sim.algorithms.base import Algorithm
from rai_sim.algorithms.lucb.strides import CORRIDORS, IN_STEP, LANES, LAST_ARM
from rai_sim.engine.blocks import Block, Setting, new_block
from rai_sim.engine.faults import NONE, raise_fault
from rai_sim.engine.streams import stream_key
from rai_sim.engine.strides import ALL, without
from rai_sim.problem import TABLE_REQUIRED
from rai_sim.simulation import parts
from rai_sim.simulation.provenance import usable_cores
from rai_sim.simulation.workers import run_into

DELTA = 0.01
SEED = 0
SKIP_ERROR = 1e-12  # simulate()'s default

Side: TypeAlias = Callable[[], object]
Runner: TypeAlias = Callable[[int], tuple[NDArray[np.int64], NDArray[np.bool_]]]


# --------------------------------------------------------------------------------------------------
# What a row is
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Parameters
    ----------
    number : str
        The row's name: its number in the table, or a word.
    what : str
        What is compared with what.
    ratio : float
        The measured ratio, or amount; NaN if it could not be measured here.
    must, aim : float or None
        The floor and the goal; no goal if aim is None, and neither if must is None.
    higher_is_better : bool
        Whether the ratio must be at least, or at most, these.
    times : str
        Both sides' times, for display; why it was not measured if the ratio is NaN.
    unit : str, default ""
        Unit of ratio, must and aim, if they have one.

    Raises
    ------
    ValueError
        If the aim is easier to reach than the must, or stands alone.
    """

    number: str
    what: str
    ratio: float
    must: float | None
    aim: float | None
    higher_is_better: bool
    times: str
    unit: str = ""

    def __post_init__(self) -> None:
        """Refuse an aim that is no harder than the must, or stands alone."""
        if self.aim is None:
            return
        if self.must is None:
            raise ValueError(f"row {self.number}: aim is {self.aim} but must is missing; give both")
        if not self._at_least_as_good(self.aim, self.must):
            raise ValueError(
                f"row {self.number}: aim is {self.aim} but must is {self.must}; exchange them"
            )

    def _at_least_as_good(self, value: float, level: float) -> bool:
        return value >= level if self.higher_is_better else value <= level

    @property
    def verdict(self) -> str:
        """The best of "aim", "must" and "below must" that holds.

        "not measured" without a ratio, "shown" without a must.
        """
        if math.isnan(self.ratio):
            return "not measured"
        if self.must is None:
            return "shown"
        if self.aim is not None and self._at_least_as_good(self.ratio, self.aim):
            return "aim"
        return "must" if self._at_least_as_good(self.ratio, self.must) else "below must"


@dataclass(frozen=True)
class Effort:
    """How long is measured: blocks a side, the shortest block in seconds, and fresh processes a
    side."""

    repeats: int
    block_seconds: float
    processes: int


FULL = Effort(repeats=9, block_seconds=0.05, processes=9)
QUICK = Effort(repeats=3, block_seconds=0.05, processes=3)

#: The rows by name, in the table's order.
ROWS: dict[str, Callable[[Effort], Row]] = {}


class NotMeasurableError(Exception):
    """This machine cannot show what the row measures; the message says why."""


def row(
    number: str,
    what: str,
    *,
    must: float | None = None,
    aim: float | None = None,
    higher_is_better: bool = True,
    unit: str = "",
) -> Callable[[Callable[[Effort], tuple[float, str]]], Callable[[Effort], Row]]:
    """Register the decorated function, which returns the ratio and the times as words, as a row."""

    def register(measure: Callable[[Effort], tuple[float, str]]) -> Callable[[Effort], Row]:
        @wraps(measure)
        def measured(effort: Effort) -> Row:
            try:
                ratio, times = measure(effort)
            except NotMeasurableError as reason:
                ratio, times = math.nan, str(reason)
            return Row(number, what, ratio, must, aim, higher_is_better, times, unit)

        ROWS[number] = measured
        return measured

    return register


# --------------------------------------------------------------------------------------------------
# Measuring
# --------------------------------------------------------------------------------------------------


def interleaved(sides: Sequence[Side], effort: Effort) -> list[float]:
    """Return each side's seconds a call: the best of several blocks, taking turns after a
    warm-up."""
    for side in sides:
        side()  # compiles what is missing
    best = [math.inf] * len(sides)
    for _ in range(effort.repeats):
        for i, side in enumerate(sides):
            best[i] = min(best[i], _seconds_a_call(side, effort.block_seconds))
    return best


def _seconds_a_call(side: Side, least: float) -> float:
    """Return the mean time of as many calls, at least one, as fill the least time."""
    calls = 0
    began = time.perf_counter()
    while True:
        side()
        calls += 1
        elapsed = time.perf_counter() - began
        if elapsed >= least:
            return elapsed / calls


def interleaved_processes(codes: Sequence[str], effort: Effort) -> list[float]:
    """Return the best time in seconds of a fresh interpreter that runs each code, taking turns."""
    sides = [partial(in_fresh_process, code) for code in codes]
    return interleaved(sides, Effort(effort.processes, 0.0, effort.processes))


def in_fresh_process(
    code: str, variables: Mapping[str, str] | None = None, patience: float | None = None
) -> str:
    """Run the code in a new interpreter that finds this package, and return what it prints; some
    variables of the environment may be set for it. `subprocess.TimeoutExpired` after `patience`
    seconds."""
    environment = dict(os.environ) | dict(variables or {})
    # an installed package has its bytecode on disk
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    folder = Path(rai.__file__).resolve().parent.parent
    if folder.name not in ("site-packages", "dist-packages"):
        paths = (str(folder), environment.get("PYTHONPATH", ""))
        environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=patience,
    )
    if done.returncode != 0:
        raise RuntimeError(
            f"a fresh process failed with exit code {done.returncode}: {done.stderr.strip()}"
        )
    return done.stdout


def seconds_text(seconds: float) -> str:
    """Return a duration with three digits and the unit that suits it."""
    for limit, length, unit in (
        (1e-6, 1e-9, "ns"),
        (1e-3, 1e-6, "us"),
        (1.0, 1e-3, "ms"),
        (120.0, 1.0, "s"),
        (7200.0, 60.0, "min"),
        (172_800.0, 3600.0, "h"),
        (63_115_200.0, 86_400.0, "days"),
    ):
        if seconds < limit:
            return f"{number_text(seconds / length)} {unit}"
    return f"{number_text(seconds / 31_557_600.0)} years"


def number_text(value: float) -> str:
    """Return a number with three digits, from a million on as 1.23e6."""
    if not math.isfinite(value) or abs(value) < 99.95:
        return f"{value:.3g}"
    if abs(value) < 999_999.5:
        return f"{value:,.0f}"
    mantissa, _, exponent = f"{value:.2e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


# --------------------------------------------------------------------------------------------------
# Workloads
# --------------------------------------------------------------------------------------------------


def table(*required: int) -> rai.Problem:
    """Return the mirrored table instance, of which `required` is asked."""
    whole = rai.table_problem(instance="mirrored")
    return rai.Problem(whole.arms, whole.clusters, required)


def two_arms(gap: float, law: str = "bernoulli") -> rai.Problem:
    """Return best arm identification with means 0.5 +- gap/2.

    The law is "bernoulli", "gaussian" or "categorical": ten equally spaced levels from 0 to 1, all
    of probability 0.1 but for the extreme two.
    """
    tilt = gap / 2.0 * np.array([1.0, -1.0])
    if law == "gaussian":
        return rai.best_arm(rai.Gaussian(0.5 + tilt))
    if law == "categorical":
        probabilities = np.full((2, 10), 0.1)
        probabilities[:, 0] -= tilt
        probabilities[:, 9] += tilt
        return rai.best_arm(rai.Categorical(np.arange(10) / 9.0, probabilities))
    return rai.best_arm(rai.Bernoulli(0.5 + tilt))


def package(
    problem: rai.Problem, algorithm: Algorithm, n_jobs: int = 1, block_size: int | None = None
) -> Runner:
    """Return `simulate` as a function of the number of replications."""

    def run(replications: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        result = rai.simulate(
            problem,
            algorithm,
            delta=DELTA,
            replications=replications,
            seed=SEED,
            n_jobs=n_jobs,
            skip_error=SKIP_ERROR,
            block_size=block_size,
        )
        return result.pulls, result.correct

    return run


def baseline(function: Callable[..., baselines.Outcome], problem: rai.Problem) -> Runner:
    """Return a baseline as a function of the number of replications."""
    arguments: dict[str, Any] = {
        "means": problem.arms.means.tolist(),
        "clusters": problem.clusters,
        "required": problem.required,
        "delta": DELTA,
        "seed": SEED,
    }
    return lambda replications: function(replications=replications, **arguments)


def bare_kernel(
    problem: rai.Problem, algorithm: Algorithm, replications: int, strides: int = ALL
) -> tuple[Side, Block]:
    """Return a call of the kernel alone, for which everything is made beforehand, and the block it
    fills.

    `strides` is the mask of those that it may use.
    """
    law = problem.arms.kernel_law()
    block = new_block(replications, sum(problem.required))
    setting = Setting(
        sizes=np.array(problem.clusters, np.int64),
        required=np.array(problem.required, np.int64),
        cluster_of=np.array(problem.cluster_of, np.int64),
        delta=DELTA,
        skip_error=SKIP_ERROR,
        max_pulls=-1,
        key=stream_key(SEED),
        strides=strides,
    )

    def run() -> None:
        algorithm.run_block(law, setting, 0, block)
        if block.fault[0] != NONE:
            raise_fault(block.fault)

    return run, block


def _times_faster(
    ours: Runner, replications: int, rival: Runner, rivals_replications: int, effort: Effort
) -> tuple[float, str]:
    """Return by how much the package's pulls a second exceed the rival's, and what a replication
    takes."""
    pulls = float(ours(replications)[0].mean())
    rivals_pulls = float(rival(rivals_replications)[0].sum())
    seconds, rivals_seconds = interleaved(
        [lambda: ours(replications), lambda: rival(rivals_replications)], effort
    )
    return _against(seconds / replications, rivals_seconds / rivals_pulls * pulls)


def _against(seconds: float, rivals_seconds: float) -> tuple[float, str]:
    """Return the rival's time over ours, and both in words."""
    times = f"{seconds_text(seconds)} against {seconds_text(rivals_seconds)} a replication"
    return rivals_seconds / seconds, times


def _over(seconds: float, others_seconds: float, each: str) -> tuple[float, str]:
    """Return our time over the other one, and both in words."""
    return (
        seconds / others_seconds,
        f"{seconds_text(seconds)} over {seconds_text(others_seconds)} {each}",
    )


# --------------------------------------------------------------------------------------------------
# The rows
# --------------------------------------------------------------------------------------------------


@row("1", "Vanilla r=(3,0,0): times faster than numba_per_pull", must=25, aim=60)
def vanilla_hard(effort: Effort) -> tuple[float, str]:
    """Compare with compiled code that pulls one at a time, 48,000 pulls a replication."""
    rival = baseline(baselines.numba_per_pull, table(3, 0, 0))
    return _times_faster(package(table(3, 0, 0), rai.Vanilla()), 1000, rival, 200, effort)


@row("1t", "Vanilla r=(3,0,0): times faster than numba_tuned")
def vanilla_hard_tuned(effort: Effort) -> tuple[float, str]:
    """Compare as row 1 does, with code that is tuned by hand."""
    rival = baseline(tuned.numba_tuned, table(3, 0, 0))
    return _times_faster(package(table(3, 0, 0), rai.Vanilla()), 1000, rival, 200, effort)


@row("2", "Vanilla r=(1,0,0): times faster than numba_per_pull", must=8, aim=20)
def vanilla_easy(effort: Effort) -> tuple[float, str]:
    """Compare with compiled code that pulls one at a time, 5,000 pulls a replication."""
    rival = baseline(baselines.numba_per_pull, table(1, 0, 0))
    return _times_faster(package(table(1, 0, 0), rai.Vanilla()), 1000, rival, 1000, effort)


@row("2t", "Vanilla r=(1,0,0): times faster than numba_tuned")
def vanilla_easy_tuned(effort: Effort) -> tuple[float, str]:
    """Compare as row 2 does, with code that is tuned by hand."""
    rival = baseline(tuned.numba_tuned, table(1, 0, 0))
    return _times_faster(package(table(1, 0, 0), rai.Vanilla()), 1000, rival, 1000, effort)


@row("3", "Vanilla r=(3,0,0): times faster than numpy_vectorised", must=100, aim=300)
def vanilla_numpy(effort: Effort) -> tuple[float, str]:
    """Compare with arrays of 1,000 replications side by side."""
    rival = baseline(baselines.numpy_vectorised, table(3, 0, 0))
    return _times_faster(package(table(3, 0, 0), rai.Vanilla()), 1000, rival, 1000, effort)


@row("3t", "Vanilla r=(3,0,0): times faster than numpy_blocks")
def vanilla_numpy_tuned(effort: Effort) -> tuple[float, str]:
    """Compare as row 3 does, with arrays that are tuned by hand."""
    rival = baseline(tuned.numpy_blocks, table(3, 0, 0))
    return _times_faster(package(table(3, 0, 0), rai.Vanilla()), 1000, rival, 1000, effort)


@row(
    "4",
    "Vanilla, two arms at 0.5 +- gap/2: time at gap 1e-4 over time at gap 1e-1",
    must=25,
    aim=12,
    higher_is_better=False,
)
def vanilla_gaps(effort: Effort) -> tuple[float, str]:
    """Compare 2e10 pulls a replication with 1e4."""
    small, large = package(two_arms(1e-4), rai.Vanilla()), package(two_arms(1e-1), rai.Vanilla())
    seconds, others = interleaved([lambda: small(500), lambda: large(1000)], effort)
    return _over(seconds / 500, others / 1000, "a replication")


@row("5", "Butterscotch r=(3,0,0): times faster than its numba_per_pull", must=80, aim=200)
def butterscotch(effort: Effort) -> tuple[float, str]:
    """Compare with compiled code that pulls one at a time."""
    rival = baseline(baselines.numba_per_pull_butterscotch, table(3, 0, 0))
    return _times_faster(package(table(3, 0, 0), rai.Butterscotch()), 1000, rival, 200, effort)


@row("5t", "Butterscotch r=(3,0,0): times faster than numba_tuned_butterscotch")
def butterscotch_tuned(effort: Effort) -> tuple[float, str]:
    """Compare as row 5 does, with code that is tuned by hand."""
    rival = baseline(tuned.numba_tuned_butterscotch, table(3, 0, 0))
    return _times_faster(package(table(3, 0, 0), rai.Butterscotch()), 1000, rival, 200, effort)


@row("6", "LUCB r=(0,5,0): times faster than its numba_per_pull", must=3, aim=8)
def lucb(effort: Effort) -> tuple[float, str]:
    """Compare with compiled code that ranks anew and takes one root an arm in every round."""
    rival = baseline(baselines.numba_per_pull_lucb, table(0, 5, 0))
    return _times_faster(package(table(0, 5, 0), rai.LUCB()), 100, rival, 50, effort)


@row(
    "7",
    "LUCB, two arms, gap 1e-3: times faster than round by round (extrapolated by pulls from gap 1e-2)",
    must=50,
    aim=1000,
)
def lucb_two_arms(effort: Effort) -> tuple[float, str]:
    """Compare with single rounds, of which every replication needs 1e8.

    A round's time does not depend on the gap, so it is measured at gap 1e-2: of the package's
    engine where it can skip nothing, and of numba_per_pull. The faster of the two is the rival.
    """
    few = 2
    ours, rival = (
        package(two_arms(1e-3), rai.LUCB()),
        baseline(baselines.numba_per_pull_lucb, two_arms(1e-2)),
    )
    engine, block = lucb_single_rounds(1e-2, few)
    engine()
    pulls = float(ours(200)[0].mean())
    seconds, *others = interleaved([lambda: ours(200), lambda: rival(few), engine], effort)
    a_pull = min(others[0] / float(rival(few)[0].sum()), others[1] / float(block.pulls.sum()))
    return _against(seconds / 200, a_pull * pulls)


def lucb_single_rounds(gap: float, replications: int) -> tuple[Side, Block]:
    """Return a call of LUCB's kernel on two Bernoulli arms that goes round by round, and the block
    it fills."""
    return bare_kernel(
        two_arms(gap), rai.LUCB(), replications, without(IN_STEP, LANES, LAST_ARM, CORRIDORS)
    )


@row("8", "2 threads over 1, Vanilla r=(3,0,0), 20,000 replications", must=1.7, aim=1.95)
def threads(effort: Effort) -> tuple[float, str]:
    """Compare two workers with one; the bare kernel in two plain threads shows what the machine
    allows."""
    if usable_cores() < 2:
        raise NotMeasurableError("one core only")
    problem = table(3, 0, 0)
    one, two = (package(problem, rai.Vanilla(), n_jobs) for n_jobs in (1, 2))
    halves = [bare_kernel(problem, rai.Vanilla(), 10_000)[0] for _ in range(2)]
    alone, together, in_turn, at_once = interleaved(
        [
            lambda: one(20_000),
            lambda: two(20_000),
            lambda: [half() for half in halves],
            partial(_at_once, halves),
        ],
        effort,
    )
    bare = f"the bare kernel in two plain threads {number_text(in_turn / at_once)} times"
    return alone / together, f"{seconds_text(together)} against {seconds_text(alone)}; {bare}"


def _at_once(sides: Sequence[Side]) -> None:
    """Call each in a thread of its own."""
    workers = [threading.Thread(target=side) for side in sides]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


@row(
    "9",
    "simulate() over the bare kernel, 1,000 replications of r=(1,0,0)",
    must=1.2,
    aim=1.05,
    higher_is_better=False,
)
def overhead(effort: Effort) -> tuple[float, str]:
    """Compare `simulate` with the compiled function below it."""
    ours = package(table(1, 0, 0), rai.Vanilla())
    kernel, _ = bare_kernel(table(1, 0, 0), rai.Vanilla(), 1000)
    seconds, kernels_seconds = interleaved([lambda: ours(1000), kernel], effort)
    return _over(seconds, kernels_seconds, "a call")


_SMALL_RUN = (
    "import sys; from rai_sim.cli import main; sys.exit(main(['run', '--replications', '100']))"
)


@row(
    "10",
    "fresh process, warm cache: `rai-sim run --replications 100` over "
    '`python -c "import numba, scipy.stats, polars"`',
    must=2.5,
    aim=1.5,
    higher_is_better=False,
)
def fresh_run(effort: Effort) -> tuple[float, str]:
    """Compare a whole small run with its imports."""
    seconds, imports_seconds = interleaved_processes(
        [_SMALL_RUN, "import numba, scipy.stats, polars"], effort
    )
    return _over(seconds, imports_seconds, "a process")


@row("11", "`import rai_sim` over `import numba`", must=1.3, aim=1.1, higher_is_better=False)
def fresh_import(effort: Effort) -> tuple[float, str]:
    """Compare processes that import and end."""
    seconds, numbas_seconds = interleaved_processes(["import rai_sim", "import numba"], effort)
    return _over(seconds, numbas_seconds, "a process")


#: The peak of the process's own resident memory. That of getrusage would start at its parent's,
#: which exec carries over, and hide what lies below.
_PEAK_MEMORY = """
import rai_sim as rai

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

before = peak()
rai.simulate({problem}, rai.Vanilla(), delta=0.01, replications={replications}, seed=0)
print(before, peak())
"""


def _peaks(problem: str, replications: int) -> tuple[float, float]:
    """Return the peak of memory after the import and after a simulation, in megabytes."""
    if not sys.platform.startswith("linux"):
        raise NotMeasurableError(
            "the kernel's accounting of memory is read, which only Linux offers"
        )
    code = _PEAK_MEMORY.format(problem=problem, replications=replications)
    before, after = (int(kib) * 1024e-6 for kib in in_fresh_process(code).split())
    return before, after


@row(
    "12",
    "peak memory above import, 1e6 replications of r=(1,0,0)",
    must=150,
    aim=80,
    higher_is_better=False,
    unit="MB",
)
def memory(effort: Effort) -> tuple[float, str]:
    """Measure how far the peak of memory rises above what it is after the import."""
    _peaks("rai.table_problem(task=1)", 1)  # compiles what is missing, which is not to count
    before, after = _peaks("rai.table_problem(task=1)", 1_000_000)
    return after - before, f"{number_text(after)} MB, {number_text(before)} MB after the import"


@row(
    "13",
    "Vanilla, 1e6 arms in thirds: pulls a second over numba_per_pull's at 10 arms",
    must=15,
    aim=30,
)
def million(effort: Effort) -> tuple[float, str]:
    """Compare a replication of a million arms, 2.6e9 pulls, with compiled code of few arms."""
    return _many_arms_over_few(thirds(1_000_000), effort)


@row("13c", "Vanilla, 1e6 arms in thirds: times faster than numba_counted_borders", must=6, aim=12)
def million_counted(effort: Effort) -> tuple[float, str]:
    """Compare with compiled code that pulls one at a time and counts arms by sum."""
    problem = thirds(1_000_000)
    rival = baseline(many.numba_counted_borders, problem)
    return _times_faster(package(problem, rai.Vanilla()), 1, rival, 1, effort)


@row(
    "13m",
    "peak memory above import, Vanilla, 1e6 arms in thirds, a replication: bytes an arm",
    must=200,
    aim=60,
    higher_is_better=False,
    unit="B",
)
def million_memory(effort: Effort) -> tuple[float, str]:
    """Measure how far the peak of memory rises above what it is after the import."""
    _peaks(_THIRDS.format(N=3000), 1)  # compiles what is missing, which is not to count
    before, after = _peaks(_THIRDS.format(N=1_000_000), 1)
    return after - before, f"{number_text(after)} MB, {number_text(before)} MB after the import"


_THIRDS = "__import__('benchmarks.rows').rows.thirds({N})"


@row(
    "14",
    "Vanilla, top half of 1e4 arms: pulls a second over numba_per_pull's at 10 arms",
    must=1000,
    aim=10_000,
)
def top_half(effort: Effort) -> tuple[float, str]:
    """Compare where borders are narrow, 1e4 arms evenly spaced in [0.1, 0.9]."""
    N = 10_000
    return _many_arms_over_few(rai.top(rai.Bernoulli(np.linspace(0.9, 0.1, N)), N // 2), effort)


@row(
    "15",
    "Butterscotch, 1e3 to 1e6 arms in thirds: time an arm and round, largest over smallest",
    must=2,
    aim=1.2,
    higher_is_better=False,
)
def butterscotch_many(effort: Effort) -> tuple[float, str]:
    """Compare replications of more and more arms, whose rounds pass over all that are active."""
    counts = (1000, 10_000, 100_000, 1_000_000)
    sides = [partial(package(thirds(N), rai.Butterscotch()), 10**6 // N) for N in counts]
    seconds = interleaved(sides, effort)
    each = [
        taken / _arm_rounds(thirds(N), 10**6 // N) for taken, N in zip(seconds, counts, strict=True)
    ]
    shown = ", ".join(f"{seconds_text(one)} at {N:,}" for one, N in zip(each, counts, strict=True))
    return max(each) / min(each), shown


def _arm_rounds(problem: rai.Problem, replications: int) -> float:
    """Return in how many rounds of Butterscotch arms take part, all arms together; from up to ten
    replications."""
    result = rai.simulate(
        problem, rai.Butterscotch(), delta=DELTA, replications=min(replications, 10), seed=SEED
    )
    R = np.arange(1.0, 20.0)
    scale = math.pi**2 * problem.n_arms / (3.0 * DELTA)
    t = np.ceil(2.0 ** (2.0 * R + 5.0) * np.log(scale * R * R))
    rounds = 1 + np.searchsorted(t, rai.arm_pulls(result))
    return float(rounds.sum(axis=1).mean()) * replications


def thirds(N: int) -> rai.Problem:
    """Return N arms evenly spaced in three equal clusters, of which ten representatives each are
    asked for."""
    sizes = (N // 3, N // 3, N - 2 * (N // 3))
    return rai.Problem(rai.Bernoulli(np.linspace(0.95, 0.05, N)), sizes, (10, 10, 10))


def _many_arms_over_few(problem: rai.Problem, effort: Effort) -> tuple[float, str]:
    ours, rival = (
        package(problem, rai.Vanilla()),
        baseline(baselines.numba_per_pull, table(3, 0, 0)),
    )
    return _times_faster(ours, 1, rival, 200, effort)


@row(
    "16",
    "cold start: wall time of `rai-sim run --replications 100`, two cores, empty kernel cache over full",
    must=20,
    aim=10,
    higher_is_better=False,
)
def cold_start(effort: Effort) -> tuple[float, str]:
    """Compare a first run, which compiles, with the next one, which loads what that one has kept;
    each the best of some."""
    if usable_cores() < 2:
        raise NotMeasurableError("one core only, where two compile at once")
    cold: list[float] = []
    warm: list[float] = []
    for _ in range(math.ceil(effort.processes / 3)):  # a cold run takes half a minute
        with tempfile.TemporaryDirectory() as folder:
            for seconds in (cold, warm, warm, warm):
                began = time.perf_counter()
                in_fresh_process(_SMALL_RUN, {"NUMBA_CACHE_DIR": folder})
                seconds.append(time.perf_counter() - began)
    return _over(min(cold), min(warm), "a process")


@row(
    "17",
    "LUCB(radius='mixture'), best of ten evenly spaced arms: time at steps of 1e-4 over steps of 1e-2",
    must=60,
    aim=15,
    higher_is_better=False,
)
def own_count(effort: Effort) -> tuple[float, str]:
    """Compare runs of 5e5 and of 7e9 pulls; the time of a long one varies by two fifths from one to the
    next, so that the mean of forty is good to 7 %."""
    replications = {1e-4: 40, 1e-2: 400}
    sides = [
        partial(package(evenly_spaced(step), rai.LUCB(radius="mixture")), count)
        for step, count in replications.items()
    ]
    seconds, short_seconds = interleaved(sides, effort)
    return _over(seconds / replications[1e-4], short_seconds / replications[1e-2], "a replication")


def evenly_spaced(step: float) -> rai.Problem:
    """Return best arm identification with ten means about one half."""
    return rai.best_arm(rai.Bernoulli(0.5 + step * (4.5 - np.arange(10.0))))


@row(
    "gaussian",
    "Vanilla, two arms, gap 1e-4: time of Gaussian over Bernoulli arms",
    must=3,
    higher_is_better=False,
)
def gaussian(effort: Effort) -> tuple[float, str]:
    """Compare laws."""
    return _law_over_bernoulli("gaussian", effort)


@row(
    "categorical",
    "Vanilla, two arms, gap 1e-4: time of ten-level Categorical over Bernoulli arms",
    must=3,
    higher_is_better=False,
)
def categorical(effort: Effort) -> tuple[float, str]:
    """Compare laws."""
    return _law_over_bernoulli("categorical", effort)


def _law_over_bernoulli(law: str, effort: Effort) -> tuple[float, str]:
    ours, bernoulli = (package(two_arms(1e-4, name), rai.Vanilla()) for name in (law, "bernoulli"))
    seconds, others = interleaved([lambda: ours(300), lambda: bernoulli(300)], effort)
    return _over(seconds / 300, others / 300, "a replication")


@row(
    "study",
    "10,000 tasks of 100 replications: `Study.run` over its kernels",
    must=1.2,
    higher_is_better=False,
)
def study(effort: Effort) -> tuple[float, str]:
    """Compare a study, store and all, with the calls of kernels within it; the least of some
    runs."""
    problems = {
        f"{task}, {k}": _shifted(table(*TABLE_REQUIRED[task]), 1e-6 * k)
        for task in range(5)
        for k in range(100)
    }
    grid = rai.Study.grid(
        problems,
        [rai.Vanilla(), rai.Vanilla(merging=False)],
        np.geomspace(1e-3, 0.2, 10).tolist(),
        replications=100,
    )
    rai.simulate(grid.tasks[0].experiment.problem, rai.Vanilla(), replications=10)
    found = [study_and_kernels(grid) for _ in range(max(1, effort.repeats // 3))]
    seconds, kernels_seconds = min(found, key=lambda pair: pair[0] / pair[1])
    return _over(seconds / 1e4, kernels_seconds / 1e4, "a task")


def study_and_kernels(grid: rai.Study) -> tuple[float, float]:
    """Run a study into a new store; return the seconds it takes, and those within calls of
    kernels."""
    inside = 0.0

    def timed(*arguments: Any) -> None:
        nonlocal inside
        began = time.perf_counter()
        run_into(*arguments)
        inside += time.perf_counter() - began

    with tempfile.TemporaryDirectory() as folder, mock.patch.object(parts, "run_into", timed):
        began = time.perf_counter()
        grid.run(folder)
        return time.perf_counter() - began, inside


@row(
    "dask",
    "2 workers of a local Dask cluster over 1 thread, Vanilla r=(3,0,0), blocks of 0.25 s",
    must=1.6,
)
def dask(effort: Effort) -> tuple[float, str]:
    """Compare two worker processes behind a scheduler with one thread, 16 blocks each; the bare
    kernel in two plain threads shows what the machine allows."""
    if usable_cores() < 2:
        raise NotMeasurableError("one core only")
    if find_spec("distributed") is None:
        raise NotMeasurableError("Dask is not installed: pip install 'rai_sim[dask]'")
    problem, few = table(3, 0, 0), 2000
    (seconds,) = interleaved([partial(package(problem, rai.Vanilla()), few)], QUICK)
    block = round(0.25 * few / seconds)
    halves = [bare_kernel(problem, rai.Vanilla(), 4 * block)[0] for _ in range(2)]
    with two_workers():
        alone, together, in_turn, at_once = interleaved(
            [
                partial(package(problem, rai.Vanilla(), 1, block), 16 * block),
                partial(package(problem, rai.Vanilla(), -1, block), 16 * block),
                lambda: [half() for half in halves],
                partial(_at_once, halves),
            ],
            effort,
        )
    bare = f"the bare kernel in two plain threads {number_text(in_turn / at_once)} times"
    return alone / together, f"{seconds_text(together)} against {seconds_text(alone)}; {bare}"


@contextmanager
def two_workers() -> Iterator[None]:
    """Have joblib use a Dask cluster of two processes of this machine."""
    import joblib
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
        joblib.parallel_config("dask", client=client),
    ):
        yield


def _shifted(problem: rai.Problem, shift: float) -> rai.Problem:
    return rai.Problem(
        rai.Bernoulli(problem.arms.means + shift), problem.clusters, problem.required
    )


# --------------------------------------------------------------------------------------------------
# Time against pulls
# --------------------------------------------------------------------------------------------------

GAPS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


@dataclass(frozen=True)
class Point:
    """What Vanilla takes on two arms: the gap, mean pulls and seconds a replication."""

    gap: float
    pulls: float
    seconds: float

    @property
    def pulls_per_second(self) -> float:
        """Simulated pulls a second."""
        return self.pulls / self.seconds


def scaling(effort: Effort, replications: int = 1000) -> tuple[list[Point], float]:
    """Return a point for each gap, and the pulls a second of numba_per_pull at gap 1e-2, all taking
    turns."""
    runs = [package(two_arms(gap), rai.Vanilla()) for gap in GAPS]
    rival = baseline(baselines.numba_per_pull, two_arms(1e-2))
    sides: list[Side] = [partial(run, replications) for run in runs]
    *seconds, rivals_seconds = interleaved([*sides, partial(rival, 5)], effort)
    points = [
        Point(gap, float(run(replications)[0].mean()), taken / replications)
        for gap, run, taken in zip(GAPS, runs, seconds, strict=True)
    ]
    return points, float(rival(5)[0].sum()) / rivals_seconds
