"""The options that say where work is done: threads of this process, processes, a Dask or a Ray
cluster."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer

from rai_sim.cli import options
from rai_sim.support.errors import BadInput
from rai_sim.support.parsing import near, seen

#: What --backend may be.
BACKENDS = ("threads", "loky", "multiprocessing", "dask", "ray")
#: Seconds in which a scheduler is to answer, and workers are to be there.
_PATIENCE = 10

Backend = Annotated[
    str,
    options.names(
        f"where replications are run: {', '.join(BACKENDS)}; does not change the numbers", BACKENDS
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="with --backend dask: its scheduler, such as tcp://10.0.0.1:8786",
        metavar="ADDRESS",
        show_default=False,
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        help="with --backend ray: its cluster, such as auto or 10.0.0.1:6379; default: one of this "
        "machine, for this run",
        metavar="ADDRESS",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    options.whole(
        "workers; -1 for all cores; does not change the numbers; default: 1, and all that there "
        "are with a --backend other than threads"
    ),
]


class Where(NamedTuple):
    """What was asked for: a backend, and the address of a cluster."""

    backend: str
    scheduler: str | None
    address: str | None

    def check(self, jobs: int | None) -> int:
        """Refuse what does not go together, before anything runs; return the number of workers."""
        if self.backend not in BACKENDS:
            raise BadInput(
                f"--backend {seen(self.backend)} is none{near(self.backend, BACKENDS)} choose one "
                f"of {', '.join(BACKENDS)}"
            )
        if self.scheduler is not None and self.backend != "dask":
            raise BadInput(
                f"--scheduler {self.scheduler} is of Dask, but --backend is {self.backend}; give "
                "--backend dask, or leave it out"
            )
        if self.address is not None and self.backend != "ray":
            raise BadInput(
                f"--address {self.address} is of Ray, but --backend is {self.backend}; give "
                "--backend ray, or leave it out"
            )
        if self.backend == "dask":
            if self.scheduler is None:
                raise BadInput(
                    "--backend dask needs --scheduler, the address that `dask scheduler` shows when it "
                    "starts, such as tcp://10.0.0.1:8786"
                )
            if jobs is not None:
                raise BadInput(
                    f"--jobs {jobs} has no meaning with --backend dask, which uses all workers of "
                    "the cluster; leave it out"
                )
        if jobs is not None:
            return jobs
        return 1 if self.backend == "threads" else -1

    @contextmanager
    def configured(self) -> Iterator[None]:
        """Have joblib configured so, connected to the cluster if it is one."""
        if self.backend == "threads":
            yield
            return
        import joblib

        if self.backend == "dask":
            with (
                _dask(str(self.scheduler)) as client,
                joblib.parallel_config("dask", client=client),
            ):
                yield
        elif self.backend == "ray":
            with _ray(self.address), joblib.parallel_config("ray"):
                yield
        else:
            with joblib.parallel_config(self.backend):
                yield


def _extra(module: str, name: str) -> Any:
    """Return a module of an extra."""
    try:
        return import_module(module)
    except ImportError as error:
        raise BadInput(
            f"--backend {name} needs {module}, which is not installed ({error}): pip install "
            f"'rai_sim[{name}]'"
        ) from None


@contextmanager
def _dask(scheduler: str) -> Iterator[Any]:
    """Connect to a scheduler that has workers."""
    distributed = _extra("distributed", "dask")
    # That a scheduler is lost is told in one line by who needs it, not by a traceback as well.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(scheduler, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"--scheduler {scheduler}: no scheduler of Dask answers there ({error}); start it by "
            "`dask scheduler`, which shows its address"
        ) from None
    try:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except distributed.TimeoutError:
            raise BadInput(
                f"--scheduler {scheduler} has no workers; start some by `dask worker {scheduler}`"
            ) from None
        yield client
    finally:
        client.close(timeout=_PATIENCE)


@contextmanager
def _ray(address: str | None) -> Iterator[None]:
    """Connect to a cluster, or start one."""
    local = {} if address or os.environ.get("RAY_ADDRESS") else {"include_dashboard": False}
    if local:  # nobody else is to reach it: Ray then keeps to the loopback, as it does on Windows
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    ray = _extra("ray", "ray")
    from ray.util.joblib import register_ray

    try:
        _somebody_listens(address)
        ray.init(address=address, logging_level=logging.WARNING, **local)
    except (OSError, RuntimeError, ValueError) as error:
        raise BadInput(
            f"--address {address}: no cluster of Ray answers there ({error}); start it by `ray "
            "start --head`, or leave --address out for one of this machine"
        ) from None
    try:
        register_ray()
        yield
    finally:
        ray.shutdown()


def _somebody_listens(address: str | None) -> None:
    """Refuse a host and port where nobody listens; Ray would try for minutes."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE):
            pass
