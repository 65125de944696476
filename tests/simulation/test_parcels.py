"""What travels: jobs there, outcomes and errors back, large experiments once a process."""

import io
import os
import pickle
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import rai_sim as rai
from rai_sim.simulation import parcels
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.parcels import Answer, WorkersDiffer, outcome_of, pack, work
from rai_sim.support.errors import ArgumentValueError, OrNone


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """No large experiment is known from before, or after."""
    parcels._known.clear()
    yield
    parcels._known.clear()


def experiment(n_arms: int, seed: int = 0) -> Experiment:
    """Return one of so many arms."""
    problem = rai.best_arm(rai.Bernoulli(np.linspace(0.9, 0.1, n_arms)))
    return Experiment(problem, rai.Vanilla(), 0.1, seed, 1e-12, None)


def identity(job: Experiment) -> str:
    """Return what was sent, told from it alone."""
    return Experiment(
        job.problem, job.algorithm, job.delta, job.seed, job.skip_error, None
    ).identity()


def test_a_call_and_its_outcome() -> None:
    """Functions and classes of a test's own travel too; who ran it is told."""
    answer = work(pack(lambda job: {"twice": 2 * job}, np.arange(3)))
    assert outcome_of(answer)["twice"].tolist() == [0, 2, 4]
    _, process, thread = answer.worker.rsplit(":", 2)
    assert (int(process), int(thread)) == (os.getpid(), threading.get_ident())
    assert answer.seconds > 0.0


def test_an_error_comes_back_as_it_is() -> None:
    """With where it was raised."""

    def fail(job: object) -> None:
        raise ArgumentValueError("delta", f"delta is {job}", OrNone(", or None"))

    with pytest.raises(ArgumentValueError, match="delta is 3, or None") as caught:
        outcome_of(work(pack(fail, 3)))
    assert caught.value.argument == "delta"


def test_what_cannot_come_back_is_told() -> None:
    """Neither outcomes nor errors that nothing can hold end a worker."""
    with pytest.raises(RuntimeError, match=r"lock.* cannot be sent"):
        outcome_of(work(pack(lambda _: threading.Lock(), 0)))

    def fail(job: object) -> None:
        raise ValueError(threading.Lock())

    with pytest.raises(RuntimeError, match=r"ValueError.*lock.* cannot be sent"):
        outcome_of(work(pack(fail, 0)))


def test_what_cannot_be_read_there_is_told() -> None:
    """A worker without the module that defines an algorithm."""
    body = pickle.dumps((identity, 0)).replace(b"test_parcels", b"nowhere_here")
    with pytest.raises(ModuleNotFoundError, match="nowhere_here"):
        outcome_of(work(pack(len, [0])._replace(body=body)))


def test_small_experiments_travel_with_their_job() -> None:
    """In a few kilobytes, and nobody keeps them."""
    small = experiment(1000)
    parcel = pack(identity, small)
    assert len(parcel.body) < 20_000
    assert parcel.large == {}
    assert outcome_of(work(parcel)) == small.identity()
    assert not parcels._known
    table = Experiment(rai.table_problem(), rai.LUCB(), 0.01, 0, 1e-12, None)
    assert len(pack(identity, table).body) < 2000


def test_long_recordings_are_large() -> None:
    """Though they are of two arms."""
    problem = rai.best_arm(rai.Recorded(np.tile([[0.9], [0.1]], 3000)))
    recorded = Experiment(problem, rai.Vanilla(), 0.1, 0, 1e-12, 10)
    parcel = pack(len, [recorded], whole=True)
    assert len(parcel.body) < 1000
    assert list(parcel.large) == [recorded.identity()]
    assert outcome_of(work(parcel)) == 1


def test_large_experiments_are_sent_once() -> None:
    """When they are asked for; then a job is small."""
    large = experiment(5000)
    without, whole = pack(identity, large), pack(identity, large, whole=True)
    assert len(without.body) < 2000
    assert len(pickle.dumps(whole)) > 40_000
    assert work(without).data is None
    assert outcome_of(work(whole)) == large.identity()
    assert outcome_of(work(without)) == large.identity()
    other = experiment(5000, seed=1)
    assert work(pack(identity, other)).data is None


def test_a_worker_keeps_some_and_runs_jobs_with_more() -> None:
    """The latest that were used."""
    many = [experiment(1500, seed) for seed in range(12)]

    def all_of(job: list[Experiment]) -> list[str]:
        return [identity(one) for one in job]

    whole = pack(all_of, many, whole=True)
    assert outcome_of(work(whole)) == [one.identity() for one in many]
    assert len(parcels._known) == 8
    assert outcome_of(work(pack(identity, many[4]))) == many[4].identity()  # it is the latest now
    outcome_of(work(pack(all_of, [experiment(1500, seed) for seed in range(20, 27)], whole=True)))
    assert work(pack(identity, many[4])).data is not None
    assert work(pack(identity, many[5])).data is None


def test_workers_with_other_kernels_are_refused() -> None:
    """Their numbers might be others."""
    parcel = pack(len, [1])._replace(kernels="0" * 64)
    with pytest.raises(WorkersDiffer, match="install the same version on all machines"):
        outcome_of(work(parcel))


def test_an_answer_is_small() -> None:
    """Beside the arrays."""
    answer = work(pack(lambda job: np.zeros(1000, np.int64), 0))
    assert isinstance(answer, Answer)
    held = io.BytesIO()
    pickle.dump(answer, held)
    assert 8000 < held.tell() < 8800
