"""What travels to workers in other processes, and back: jobs and outcomes as bytes.

A job names replications; its experiment travels with it while that is small. Large ones, of many
arms or long recordings, are sent to a process once, when it says that it does not know them.
"""

from __future__ import annotations

import io
import os
import pickle
import socket
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

from rai_sim.engine.jit import source_digest
from rai_sim.simulation.experiment import Experiment

Job = TypeVar("Job")
Outcome = TypeVar("Outcome")

#: Experiments whose arms have more bytes of numbers are sent to a process once.
_SMALL = 10_000
#: A worker keeps so many of them.
_KEPT = 8

_known: OrderedDict[str, Experiment] = OrderedDict()
_known_lock = threading.Lock()


class WorkersDiffer(RuntimeError):
    """Workers run another version of the package, whose numbers may be others."""


class Parcel(NamedTuple):
    """A job on its way: what it is, without large experiments, these if they are asked for, and the
    digest of the kernels that it is to be run by."""

    body: bytes
    large: Mapping[str, bytes]
    kernels: str


class Answer(NamedTuple):
    """What came back: who ran the job, in how many seconds, and outcome and error as bytes; None if
    a large experiment is to be sent first."""

    worker: str
    seconds: float
    data: bytes | None


class _Unknown(Exception):
    """A large experiment that this process has not been sent, or has dropped."""


def pack(run: Callable[[Job], Outcome], job: Job, whole: bool = False) -> Parcel:
    """Return a call as a parcel; `whole` if large experiments go with it.

    Examples
    --------
    >>> answer = work(pack(len, [1, 2, 3]))
    >>> outcome_of(answer)
    3
    """
    # here, as it is of use for other processes alone
    import cloudpickle

    large: dict[str, Experiment] = {}

    class Pickler(cloudpickle.CloudPickler):  # type: ignore[misc]  # joblib is untyped
        def persistent_id(self, value: object) -> str | None:
            if isinstance(value, Experiment) and _bytes(value) > _SMALL:
                large[value.identity()] = value
                return value.identity()
            return None

    body = io.BytesIO()
    Pickler(body, protocol=pickle.HIGHEST_PROTOCOL).dump((run, job))
    sent = {key: cloudpickle.dumps(value) for key, value in large.items()} if whole else {}
    return Parcel(body.getvalue(), sent, source_digest())


def _bytes(experiment: Experiment) -> int:
    """Return how large an experiment's numbers are: means, tables or recordings."""
    numbers = vars(experiment.problem.arms).values()
    return sum(value.nbytes for value in numbers if isinstance(value, np.ndarray))


class _Unpickler(pickle.Unpickler):
    """Finds large experiments among those that came along, and those that this process keeps."""

    def __init__(self, parcel: Parcel) -> None:
        super().__init__(io.BytesIO(parcel.body))
        self._sent = {key: pickle.loads(data) for key, data in parcel.large.items()}
        with _known_lock:
            _known.update(self._sent)
            while len(_known) > _KEPT:
                _known.popitem(last=False)

    def persistent_load(self, key: str) -> Experiment:
        with _known_lock:
            found = self._sent.get(key) or _known.get(key)
            if found is None:
                raise _Unknown(key)
            if key in _known:
                _known.move_to_end(key)
            return found


def work(parcel: Parcel) -> Answer:
    """Run a parcel's job in this process; whatever it raises is sent back as well."""
    began = time.perf_counter()
    worker = f"{socket.gethostname()}:{os.getpid()}:{threading.get_ident()}"
    outcome: Any = None
    error: Exception | None = None
    try:
        run, job = _unpacked(parcel)
        outcome = run(job)
    except _Unknown:
        return Answer(worker, time.perf_counter() - began, None)
    except Exception as flaw:
        flaw.add_note(f"on {worker}: {traceback.format_exc()}")
        error = flaw
    return Answer(worker, time.perf_counter() - began, _sealed(outcome, error))


def _unpacked(parcel: Parcel) -> tuple[Callable[[Any], Any], Any]:
    if parcel.kernels != source_digest():
        raise WorkersDiffer(
            f"the workers on {socket.gethostname()} have other kernels of rai_sim than this "
            "process, and their numbers might be others; install the same version on all machines "
            "and start the workers again"
        )
    run, job = _Unpickler(parcel).load()
    return run, job


def _sealed(outcome: object, error: Exception | None) -> bytes:
    import cloudpickle

    try:
        data: bytes = cloudpickle.dumps((outcome, error))
    except Exception as flaw:  # an error of somebody's own with what no file can hold
        data = pickle.dumps((None, RuntimeError(f"{error or outcome!r} cannot be sent: {flaw}")))
    return data


def outcome_of(answer: Answer) -> Any:
    """Return what a job came to, or raise what it raised."""
    assert answer.data is not None
    outcome, error = pickle.loads(answer.data)
    if error is not None:
        raise error
    return outcome
