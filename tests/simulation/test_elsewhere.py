"""Jobs for workers elsewhere, on a pool that does what a test says: which are sent, which again, and
what is handed over in the end."""

from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future

import joblib
import numpy as np
import pytest

import rai_sim as rai
from rai_sim.simulation import parcels
from rai_sim.simulation.elsewhere import Elsewhere, in_waves
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.pace import Pace
from rai_sim.simulation.parcels import Answer, Parcel, pack, work
from rai_sim.simulation.pools import Pool, WorkersLost

#: What becomes of the nth job that is sent: None if it is run, else the engine's trouble.
Fate = Callable[[int], BaseException | None]


class Scripted(Pool):
    """Runs jobs at once, or loses them as it is told."""

    def __init__(self, workers: int = 2, fate: Fate = lambda nth: None) -> None:
        """Nothing was sent yet."""
        super().__init__(workers)
        self.fate, self.sent, self.bytes = fate, 0, list[int]()
        self.troubles: list[BaseException] = []
        self.closed = False

    def submit(self, parcel: Parcel) -> Future[Answer]:
        """Run it, or not."""
        future: Future[Answer] = Future()
        trouble = self.fate(self.sent)
        self.sent += 1
        self.bytes.append(len(parcel.body) + sum(map(len, parcel.large.values())))
        if trouble is None:
            future.set_result(work(parcel))
        elif isinstance(trouble, Never):
            pass
        else:
            future.set_exception(trouble)
        return future

    def renew(self, trouble: BaseException) -> None:
        """Note it."""
        self.troubles.append(trouble)

    def close(self) -> None:
        """Note it."""
        self.closed = True


class Never(Exception):
    """A job that does not end."""


def double(job: int) -> int:
    """Return twice a number."""
    return 2 * job


@pytest.mark.parametrize("workers", [1, 2, 7])
@pytest.mark.parametrize("count", [0, 1, 3, 100])
def test_every_job_is_run_once(workers: int, count: int) -> None:
    """In whatever order."""
    pool = Scripted(workers)
    found = list(Elsewhere(pool, double, iter(range(count))).outcomes())
    assert sorted(found) == [2 * job for job in range(count)]
    assert pool.sent == count
    assert pool.closed


def test_jobs_are_taken_late() -> None:
    """Two a worker are under way."""
    taken: list[int] = []

    def jobs() -> Iterator[int]:
        for job in range(100):
            taken.append(job)
            yield job

    outcomes = Elsewhere(Scripted(3), double, jobs()).outcomes()
    assert taken == []
    for got in range(1, 50):
        next(outcomes)
        assert len(taken) <= got + 2 * 3 + 5
    outcomes.close()
    assert len(taken) < 70


@pytest.mark.parametrize("every", [3, 4, 10])
def test_a_lost_job_is_run_again(every: int) -> None:
    """And nothing comes twice."""
    pool = Scripted(2, lambda nth: BrokenExecutor("killed") if nth % every == 1 else None)
    found = list(Elsewhere(pool, double, iter(range(60))).outcomes())
    assert sorted(found) == [2 * job for job in range(60)]
    assert len(pool.troubles) == pool.sent - 60 > 5


def test_a_job_that_ends_its_workers_ends_the_run() -> None:
    """After four times; what others have done is handed over first."""
    pool = Scripted(2)
    killer, submit = pack(double, 13).body, pool.submit

    def killed(parcel: Parcel) -> Future[Answer]:
        pool.fate = lambda nth: BrokenExecutor("a b\nc") if parcel.body == killer else None
        return submit(parcel)

    pool.submit = killed  # type: ignore[method-assign]
    found: list[int] = []
    with pytest.raises(
        WorkersLost, match="lost 4 times, the last time with BrokenExecutor: a b c; see whether"
    ):
        found.extend(Elsewhere(pool, double, iter(range(100))).outcomes())
    assert set(range(0, 26, 2)) <= set(found)
    assert 26 not in found
    assert len(found) == len(set(found)) < 100


def test_a_pool_that_is_beyond_help_ends_the_run() -> None:
    """Its own words are told, after what was done."""

    class Gone(Scripted):
        def renew(self, trouble: BaseException) -> None:
            raise WorkersLost("the scheduler is gone")

    found: list[int] = []
    pool = Gone(2, lambda nth: BrokenExecutor() if nth >= 9 else None)
    with pytest.raises(WorkersLost, match="the scheduler is gone"):
        found.extend(Elsewhere(pool, double, iter(range(100))).outcomes())
    assert sorted(found) == [2 * job for job in range(9)]
    assert pool.closed


def test_a_pool_that_takes_no_jobs_ends_the_run() -> None:
    """What had come back is handed over first."""

    class Closed(Scripted):
        def submit(self, parcel: Parcel) -> Future[Answer]:
            if self.sent == 9:
                raise WorkersLost("the scheduler is gone")
            return super().submit(parcel)

    found: list[int] = []
    with pytest.raises(WorkersLost, match="the scheduler is gone"):
        found.extend(Elsewhere(Closed(2), double, iter(range(100))).outcomes())
    assert sorted(found) == [2 * job for job in range(9)]


def test_an_error_is_raised_when_what_had_begun_is_there() -> None:
    """No further job is sent, nor is one that was lost."""

    def run(job: int) -> int:
        if job == 5:
            raise ArithmeticError("job 5")
        return job

    pool, found = Scripted(2, lambda nth: BrokenExecutor() if nth == 7 else None), list[int]()
    with pytest.raises(ArithmeticError, match="job 5"):
        found.extend(Elsewhere(pool, run, iter(range(100))).outcomes())
    assert set(found) == set(range(pool.sent)) - {5, 7}
    assert pool.sent < 20


def test_what_is_done_when_nobody_asks_any_more_is_not_lost() -> None:
    """All that had begun is handed over late, each once, but for that which was yielded last: who
    had it may not have kept it."""
    late: list[int] = []
    pool = Scripted(2)
    outcomes = Elsewhere(pool, double, iter(range(100)), late=late.append).outcomes()
    found = [next(outcomes), next(outcomes)]
    outcomes.close()
    assert late[0] == found[-1]
    assert sorted(found + late[1:]) == [2 * job for job in range(pool.sent)]
    assert len(late) >= 3


@pytest.mark.parametrize("at", ["note", "outcome_of", "pop"])
def test_an_interrupt_loses_nothing_wherever_it_strikes(
    monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """While an outcome is looked at, opened, or no longer waited for."""
    late: list[int] = []
    struck = [False]

    def strike(nth: int = 0) -> None:
        if not struck[0] and len(found) >= 5:
            struck[0] = True
            raise KeyboardInterrupt

    class Striking(Pace):
        def note(self, worker: str, busy: float, workers: int, fed: bool) -> None:
            strike()

    class Begun(dict[Future[Answer], object]):
        def __delitem__(self, future: Future[Answer]) -> None:
            strike()
            super().__delitem__(future)

    def opened(answer: Answer) -> object:
        strike()
        return parcels.outcome_of(answer)

    pace = Striking(0.2) if at == "note" else None
    found, pool = list[int](), Scripted(2)
    runs = Elsewhere(pool, double, iter(range(100)), late=late.append, pace=pace)
    if at == "outcome_of":
        monkeypatch.setattr("rai_sim.simulation.elsewhere.outcome_of", opened)
    if at == "pop":
        runs._begun = Begun()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        found.extend(runs.outcomes())
    assert struck == [True]
    assert sorted({*found, *late}) == [2 * job for job in range(pool.sent)]
    assert len(found) + len(late) == pool.sent


def test_an_interrupt_while_waiting_hands_over_what_is_done() -> None:
    """Even a second one, which drops the job that does not end."""
    late: list[int] = []
    pool = Scripted(2, lambda nth: Never() if nth == 3 else None)

    def jobs() -> Iterator[int]:
        yield from range(8)
        raise KeyboardInterrupt

    def impatient(begun: object) -> None:
        raise KeyboardInterrupt

    pool.finish = impatient  # type: ignore[method-assign]
    found: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        found.extend(Elsewhere(pool, double, jobs(), late=late.append).outcomes())
    assert sorted(found + late) == [2 * job for job in range(8) if job != 3]


def test_large_experiments_are_sent_when_they_are_missed() -> None:
    """Once, here, where all workers are this process."""
    parcels._known.clear()
    problem = rai.best_arm(rai.Bernoulli(np.linspace(0.9, 0.1, 5000)))
    experiment = Experiment(problem, rai.Vanilla(), 0.1, 0, 1e-12, None)
    pool = Scripted(1)
    run = _Of(experiment)
    assert sorted(Elsewhere(pool, run, iter(range(20))).outcomes()) == list(range(5000, 5020))
    parcels._known.clear()
    large = [size for size in pool.bytes if size > 40_000]
    assert 1 <= len(large) <= 2
    assert pool.sent == 20 + len(large)
    assert max(size for size in pool.bytes if size <= 40_000) < 2000


class _Of:
    """What is done with an experiment."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment

    def __call__(self, job: int) -> int:
        return self._experiment.problem.n_arms + job


def test_the_pace_is_told() -> None:
    """Who ran each job, for how long, and whether workers had jobs all the time."""
    told: list[tuple[str, float, int, bool]] = []

    class Noting(Pace):
        def note(self, worker: str, busy: float, workers: int, fed: bool) -> None:
            told.append((worker, busy, workers, fed))

    list(Elsewhere(Scripted(2), double, iter(range(40)), pace=Noting(0.2)).outcomes())
    assert len(told) == 40
    assert {workers for _, _, workers, _ in told} == {2}
    assert all(busy > 0.0 for _, busy, _, _ in told)
    assert not told[-1][3]


def test_backends_of_which_nothing_is_known_get_jobs_in_waves() -> None:
    """By joblib; an error is raised after what is done."""
    with joblib.parallel_config("threading", n_jobs=2):
        found = list(in_waves(double, iter(range(30)), None, 2))
        assert sorted(found) == [2 * job for job in range(30)]

        def run(job: int) -> int:
            if job == 9:
                raise ArithmeticError("job 9")
            return job

        came: list[int] = []
        with pytest.raises(ArithmeticError, match="job 9"):
            came.extend(in_waves(run, iter(range(100)), None, 2))
    assert set(range(8)) <= set(came)
    assert 9 not in came
    assert len(came) < 20
