"""Ctrl-C and SIGTERM while a store is opened, waited for or written into: StudyInterrupted, and
nothing is lost."""

import fcntl
import os
import random
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Capture, run

import rai_sim as rai
from rai_sim.study import Study, StudyInterrupted, StudyResults
from rai_sim.study.data import StudyData
from rai_sim.study.store import Store


def small(replications: int) -> Study:
    """Return a study of four tasks."""
    instances = {f"task {k}": rai.table_problem(task=k) for k in (1, 2)}
    return Study.grid(
        instances,
        [rai.Butterscotch(), rai.Butterscotch(merging=False)],
        [0.1],
        replications=replications,
    )


@pytest.fixture(scope="module")
def twenty_parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store of 20 parts of rows, to be copied."""
    store = tmp_path_factory.mktemp("parts") / "store"
    for n in range(1, 21):
        small(n).run(store)
    return store


@pytest.fixture
def folder(twenty_parts: Path, tmp_path: Path) -> Path:
    """Return a store of 20 parts of rows, of the test's own."""
    return shutil.copytree(twenty_parts, tmp_path / "store")


@pytest.fixture(autouse=True)
def late() -> Iterator[list[int]]:
    """Let signals that strike outside of the package do nothing but be noted."""
    noted: list[int] = []
    before = {
        number: signal.signal(number, lambda number, frame: noted.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    yield noted
    for number, handler in before.items():
        signal.signal(number, handler)


#: All ways to open a store; the last ones write into it, and take SIGTERM over as well.
WAYS: dict[str, Callable[[Path], StudyResults]] = {
    "open_study": rai.open_study,
    "results": lambda folder: small(20).results(folder),
    "run": lambda folder: small(20).run(folder),
    "longer run": lambda folder: small(30).run(folder),
}


@pytest.mark.landing
@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("way", WAYS)
def test_a_signal_while_parts_are_read(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    number: signal.Signals,
    times: int,
    late: list[int],
) -> None:
    """Opening ends after the part that is being read; `.results` opens the store after all."""
    before, plain, count = sorted(os.listdir(folder)), Store._read, [0]

    def struck(store: Store, name: str) -> Any:
        count[0] += 1
        found = plain(store, name)
        if count[0] == 5:
            for _ in range(times):
                signal.raise_signal(number)
        return found

    monkeypatch.setattr(Store, "_read", struck)
    # as the process has it: not the package's affair
    if number == signal.SIGTERM and "run" not in way:
        assert WAYS[way](folder).progress() == (80, 80)
        assert late == [signal.SIGTERM] * times
        return
    with pytest.raises(
        StudyInterrupted, match=f"interrupted while {folder} was opened; nothing in it has changed"
    ) as caught:
        WAYS[way](folder)
    assert count[0] == 5
    assert sorted(os.listdir(folder)) == before
    assert not caught.value.opened
    assert caught.value.results.progress() == ((80, 120) if way == "longer run" else (80, 80))
    assert signal.getsignal(number) is not signal.SIG_DFL
    assert late == []


def test_a_signal_while_another_process_writes(folder: Path) -> None:
    """Who waits for the lock can be interrupted, within a second."""
    handle = os.open(folder / ".lock", os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        began = time.monotonic()
        with pytest.raises(StudyInterrupted, match="was opened"):
            small(30).run(folder)
        assert 0.2 < time.monotonic() - began < 1.5
        timer.join()
    finally:
        os.close(handle)
    assert small(30).run(folder).progress() == (120, 120)


@pytest.mark.slow
def test_signals_at_any_moment(folder: Path, late: list[int]) -> None:
    """One to three signals, at random moments from a little before to after: the results, or
    StudyInterrupted, and nothing else."""
    rng, outcomes = random.Random(5), []
    deadline = time.monotonic() + 6.0
    while time.monotonic() < deadline:
        way = rng.choice(sorted(WAYS))
        delays = [rng.uniform(0.0, 0.08) for _ in range(rng.choice([1, 1, 2, 3]))]
        thread = threading.Thread(target=_strike, args=(delays,))
        thread.start()
        try:
            outcomes.append(WAYS[way](folder).progress()[0] >= 80)
        except StudyInterrupted as error:
            thread.join()  # a signal more would strike the opening that follows
            outcomes.append(error.results.progress()[0] >= 80)
        thread.join()
    assert len(outcomes) > 10
    assert all(outcomes)
    final = small(30).run(folder)
    assert final.progress() == (120, 120)
    alone = rai.simulate(
        rai.table_problem(task=1), rai.Butterscotch(), delta=0.1, seed=0, replications=30
    )
    assert final.result(small(30).tasks[0]) == alone
    assert not list(folder.glob("*.set-aside"))


def _strike(delays: list[float]) -> None:
    for delay in delays:
        time.sleep(delay)
        os.kill(os.getpid(), signal.SIGINT)


def test_a_signal_before_anything_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes while tasks are written down: nothing is run, the store is whole, and the run's
    record says how it ended."""
    plain = StudyData.add_tasks

    def struck(data: StudyData, *arguments: Any) -> None:
        plain(data, *arguments)
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(StudyData, "add_tasks", struck)
    with pytest.raises(StudyInterrupted, match=r"interrupted with 0 of 120 replications") as caught:
        small(30).run(tmp_path)
    assert [run["status"] for run in caught.value.results.runs()] == ["interrupted"]
    monkeypatch.undo()
    assert small(30).run(tmp_path).progress() == (120, 120)


def test_the_command_line_says_how_to_go_on(
    folder: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 130 and one line, whichever command opens the store."""
    file = tmp_path / "small.toml"
    file.write_text('algorithms = ["butterscotch"]\ndelta = [0.1]\n[[instances]]\ntable_task = 1\n')
    plain = Store._read

    def struck(store: Store, name: str) -> Any:
        signal.raise_signal(signal.SIGINT)
        return plain(store, name)

    monkeypatch.setattr(Store, "_read", struck)
    for words, said in (
        (f"report {folder} -o {tmp_path / 'page.html'}", f"interrupted while {folder} was opened"),
        (f"plot {folder} -o {tmp_path / 'figures'}", f"interrupted while {folder} was opened"),
        (f"study {file} --store {folder}", "INTERRUPTED; to go on: rai-sim study"),
    ):
        run(words, expect=130)
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith("rai-sim: ")
        assert said in captured.err
        assert captured.err.count("\n") == 1
