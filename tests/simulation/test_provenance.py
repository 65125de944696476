"""What is told of the making of numbers: versions, kernels, system, time."""

import datetime
import json
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

import joblib
import numba
import numpy as np
import pytest

import rai_sim
from rai_sim.engine.jit import source_digest
from rai_sim.engine.streams import STREAM_VERSION
from rai_sim.simulation import provenance
from rai_sim.simulation.provenance import environment, now, processor, usable_cores


def test_an_environment_says_what_numbers_depend_on() -> None:
    """The package, its streams and kernels, Python and the libraries, as they tell themselves."""
    told = environment()
    assert told["rai_sim"] == rai_sim.__version__
    assert told["stream_version"] == STREAM_VERSION
    assert told["kernels_sha256"] == source_digest()
    assert told["python"] == ".".join(map(str, sys.version_info[:3]))
    libraries = told["libraries"]
    assert set(libraries) == {"numpy", "numba", "llvmlite", "scipy", "joblib", "polars"}
    for library in (np, numba, joblib):
        assert libraries[library.__name__] == library.__version__
    assert libraries["polars"] == version("polars")
    assert told["system"].split()[0] == platform.system()
    assert (told["processor"], told["cores"]) == (processor(), usable_cores())


def test_the_same_environment_is_told_alike() -> None:
    """Asked twice, and kept as JSON: nothing in it is of the moment."""
    assert json.loads(json.dumps(environment())) == environment()


def test_the_machine_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Provenance is published with results."""
    name = "a-machines-own-name"
    uname = platform.uname()._replace(node=name)
    monkeypatch.setattr(platform, "uname", lambda: uname)
    assert platform.node() == name
    assert name not in json.dumps(environment())


def test_a_library_that_is_not_installed_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than an error when the work is done."""
    monkeypatch.setattr(provenance, "_LIBRARIES", ("numpy", "no-such-library-as-this"))
    told = environment()["libraries"]
    assert told == {"numpy": np.__version__, "no-such-library-as-this": "unknown"}


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("processor\t: 0\nmodel name\t: Some  CPU:  9 \n\nmodel name\t: Other\n", "Some CPU: 9"),
        ("Hardware\t: none named\n", "elsewhere"),
        ("model name\t:\n", "elsewhere"),
        (None, "elsewhere"),
    ],
)
def test_processors_by_their_model(
    text: str | None, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first that is listed, its spaces single; where none is, what Python knows."""

    def read(path: Path, **_: str) -> str:
        assert str(path) == "/proc/cpuinfo"
        if text is None:
            raise FileNotFoundError
        return text

    monkeypatch.setattr(Path, "read_text", read)
    monkeypatch.setattr(platform, "processor", lambda: "elsewhere")
    assert processor() == model


def test_cores_are_those_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the machine's, where they can be told apart; at least one."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5, 9}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert usable_cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert usable_cores() == 64
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores() == 1


def test_times_are_utc() -> None:
    """To the millisecond, so that texts sort as times do."""
    before = datetime.datetime.now(datetime.UTC)
    told = now()
    after = datetime.datetime.now(datetime.UTC)
    time = datetime.datetime.fromisoformat(told)
    assert time.utcoffset() == datetime.timedelta(0)
    assert before - datetime.timedelta(milliseconds=1) <= time <= after
    assert len(told) == len("2026-01-31T12:34:56.789+00:00")
