"""Where progress is shown: a bar on a terminal, lines in a log, nothing where nobody asked; and what
is told of a replication that takes long."""

import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from types import SimpleNamespace

import pytest
from clock import Clock

import rai_sim as rai
import rai_sim.simulation.progress as shown
from rai_sim.engine.stop import new_position
from rai_sim.simulation import underway as sights
from rai_sim.simulation.compilation import SMALL, waited_for
from rai_sim.simulation.experiment import Experiment
from rai_sim.simulation.underway import underway

EXPERIMENT = Experiment(rai.best_arm(rai.Bernoulli([0.9, 0.1])), rai.Vanilla(), 0.1, 0, 1e-12, None)


class Terminal(io.StringIO):
    """An error stream that is a terminal, or is not."""

    def __init__(self, terminal: bool) -> None:
        """Start empty."""
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        """Tell."""
        return self.terminal


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Let bars and lines take the test's seconds."""
    clock = Clock()
    monkeypatch.setattr(shown, "time", SimpleNamespace(monotonic=clock, time=clock))
    return clock


def test_a_log_has_a_line_every_thirty_seconds(
    monkeypatch: pytest.MonkeyPatch, seconds: Clock
) -> None:
    """Asked for: after 1, 2, 4, 8, 16, 32 s and from then on every 30 s, with what is done; and a
    last one."""
    log = Terminal(False)
    monkeypatch.setattr(sys, "stderr", log)
    with shown.Bar(4000, True, "LUCB(as_printed=False)") as bar:
        for _ in range(300):
            seconds.now += 1.0
            bar.update(10)
    lines = log.getvalue().splitlines()
    assert [re.findall(r", (\S+)/4\.00k replications", line)[0] for line in lines] == [
        "10.0",
        "20.0",
        "40.0",
        "80.0",
        "160",
        "320",
        "620",
        "920",
        "1.22k",
        "1.52k",
        "1.82k",
        "2.12k",
        "2.42k",
        "2.72k",
        "3.00k",
    ]
    assert all(line.startswith("rai-sim: LUCB(as_printed=False): ") for line in lines)
    assert lines[-1].startswith(
        "rai-sim: LUCB(as_printed=False): 75 %, 3.00k/4.00k replications in "
    )


def test_unasked_lines_come_late_and_on_the_command_line_alone(
    monkeypatch: pytest.MonkeyPatch, seconds: Clock
) -> None:
    """With None: nothing in the library; on the command line nothing for 30 s, then as above; on a
    terminal a bar that names what runs."""

    def written(terminal: bool, progress: bool | None, steps: int) -> str:
        stream = Terminal(terminal)
        monkeypatch.setattr(sys, "stderr", stream)
        with shown.Bar(1000, progress, "Vanilla(merging=True)") as bar:
            for _ in range(steps):
                seconds.now += 1.0
                bar.update(1)
        return stream.getvalue()

    assert (
        written(False, None, 100) == written(False, False, 100) == written(True, False, 100) == ""
    )
    assert "Vanilla(merging=True):  " in written(True, None, 3)
    with shown.command_line():
        assert written(False, None, 29) == written(False, False, 100) == ""
        assert written(False, None, 95).count("\n") == 4
    assert written(False, None, 100) == ""


@pytest.mark.parametrize("progress", [False, None])
def test_what_is_not_shown_costs_nothing(
    monkeypatch: pytest.MonkeyPatch, progress: bool | None
) -> None:
    """Where there is no terminal nothing is due, whatever is done, and nothing is written; nor
    where there is no error stream at all."""
    for stream in (Terminal(False), None):
        monkeypatch.setattr(sys, "stderr", stream)
        with shown.Bar(10, progress, "Vanilla") as bar:
            assert (bar.shown, bar.due) == (False, False)
            bar.update(3)
            bar.put(5, 10, "words")
        assert stream is None or stream.getvalue() == ""


@pytest.mark.parametrize("terminal", [False, True])
def test_words_are_put_where_they_are_due(
    monkeypatch: pytest.MonkeyPatch, seconds: Clock, terminal: bool
) -> None:
    """A log has them after a second, a terminal at once and then ten times a second; the total may
    have changed."""
    stream = Terminal(terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    with shown.Bar(10, True, layout="{n_fmt} of {total_fmt}{postfix}") as bar:
        assert (bar.shown, bar.due) == (True, terminal)
        bar.put(2, 10, "early")
        assert ("2.00 of 10.0, early" in stream.getvalue()) == terminal
        assert not bar.due
        seconds.now += 1.0
        assert bar.due
        bar.put(8, 40, "late")
        assert "8.00 of 40.0, late" in stream.getvalue()
        assert not bar.due


def test_the_command_line_tells_what_is_compiled_until_it_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Once, however many bars there are; a bar that was asked for tells it elsewhere too."""

    def said(progress: bool | None) -> list[str]:
        stream = Terminal(False)
        monkeypatch.setattr(sys, "stderr", stream)
        with shown.Bar(10, progress), waited_for(EXPERIMENT):
            pass
        return [line for line in stream.getvalue().splitlines() if "compil" in line]

    words = "Vanilla for Bernoulli arms (once, in another process; kept on disk)"
    both = [f"rai-sim: compiling {words} ...", f"rai-sim: compiled {words} in 0 s"]
    with shown.command_line():
        assert said(True) == said(None) == said(False) == both
    assert said(True) == both
    assert said(None) == said(False) == []


def test_small_kernels_are_told_of_if_they_took_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that no replications wait for: a line once one took two seconds, none before."""
    stream = Terminal(False)
    monkeypatch.setattr(sys, "stderr", stream)
    for seconds in (None, 1.9, None, 2.4):
        shown._say_compiling(f"{SMALL} (once; kept on disk)", seconds)
    shown._say_compiling(f"{SMALL}OfMine for Bernoulli arms (once; kept on disk)", 1.0)
    assert stream.getvalue().splitlines() == [
        "rai-sim: compiled kernels (once; kept on disk) in 2 s",
        "rai-sim: compiled kernelsOfMine for Bernoulli arms (once; kept on disk) in 1 s",
    ]


@contextmanager
def long_one(bar: shown.Bar, seconds: Clock) -> Iterator[str]:
    """Have a replication run for three seconds; yield what is told of it."""
    position = new_position()
    position[:] = 17, 3_123_456, 4_211_000_000, 2
    with underway(EXPERIMENT, position):
        bar.look()
        seconds.now += 3.0
        bar.look()
        yield "replication 17: round 3.12e6, 4.21e9 pulls, 2 of 2 arms left"


def test_a_log_tells_of_a_long_replication_in_its_lines(
    monkeypatch: pytest.MonkeyPatch, seconds: Clock
) -> None:
    """Last in a line, when one is due; the last one is of what is done alone."""
    log = Terminal(False)
    monkeypatch.setattr(sys, "stderr", log)
    with shown.Bar(3, True, "Vanilla") as bar:
        with long_one(bar, seconds) as words:
            # tqdm's own seconds
            assert re.sub(r"in \d\d:\d\d", "in 00:00", log.getvalue()) == (
                "rai-sim: Vanilla: 0 %, 0.00/3.00 replications in 00:00, ?replication/s, ? left, "
                f"{words}\n"
            )
            bar.look()  # no other line is due
        for _ in range(3):
            seconds.now += 0.1
            bar.update(1)
    lines = log.getvalue().splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("rai-sim: Vanilla: 100 %, 3.00/3.00 replications in ")
    assert "round" not in lines[1]


def test_a_terminal_has_a_line_for_a_long_replication(
    monkeypatch: pytest.MonkeyPatch, seconds: Clock
) -> None:
    """Below the bar, within the terminal's width, and empty when it is over; words that were put
    stay in the bar."""
    monkeypatch.setenv("COLUMNS", "60")
    terminal = Terminal(True)
    monkeypatch.setattr(sys, "stderr", terminal)
    with shown.Bar(3, True, layout="{n_fmt} of {total_fmt}{postfix}") as bar:
        bar.put(1, 3, "1/9 tasks")
        with long_one(bar, seconds) as words:
            drawn = terminal.getvalue()
            assert "\n" + chr(13) + words[:56] + "..." in drawn
            assert words[:57] not in drawn
            assert "1.00 of 3.00, 1/9 tasks" in drawn
        bar.look()
        after = terminal.getvalue()[len(drawn) :]
        assert "replication 17" not in after
        assert " " * 59 in after


def test_a_brief_bar_shows_what_takes_long_alone(
    monkeypatch: pytest.MonkeyPatch, seconds: Clock
) -> None:
    """Nothing of what is over in a second; else it is wiped off the terminal."""
    terminal = Terminal(True)
    monkeypatch.setattr(sys, "stderr", terminal)
    with shown.Bar(1, None, "Vanilla", brief=True) as bar:
        bar.look()
        bar.update(1)
    assert terminal.getvalue() == ""
    with shown.Bar(1, None, "Vanilla", brief=True) as bar:
        with long_one(bar, seconds) as words:
            assert words in terminal.getvalue()
            assert "Vanilla:   0%" in terminal.getvalue()
        bar.update(1)
    assert re.search(r"\r +\r$", terminal.getvalue())
    log = Terminal(False)
    monkeypatch.setattr(sys, "stderr", log)
    with shown.Bar(1, None, brief=True) as bar, long_one(bar, seconds):
        pass
    assert log.getvalue() == ""


@pytest.mark.landing
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_replication_that_takes_long_is_told_of_while_it_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], n_jobs: int
) -> None:
    """By kernels in the main thread or in workers: rounds and pulls grow, but for lines between
    which a busy machine did not let the kernel run; nobody asked, nothing is written."""
    for module, name in (
        (shown, "_LOOK_SECONDS"),
        (shown, "_FIRST_LINE"),
        (shown, "LINE_SECONDS"),
        (sights, "_LONG"),
    ):
        monkeypatch.setattr(module, name, 0.02)
    problem = rai.full_ranking(rai.Bernoulli([0.5, 0.4999999999, 0.4999999998]))

    def run(progress: bool | None, pulls: float) -> list[str]:
        rai.simulate(
            problem,
            rai.Vanilla(),
            replications=2,
            seed=1,
            skip_error=0.0,
            max_pulls=int(pulls),
            n_jobs=n_jobs,
            progress=progress,
        )
        return capsys.readouterr().err.splitlines()

    assert run(False, 1e14) == run(None, 1e14) == []
    lines = run(True, 4e14)
    told = [
        (int(match[1]), float(match[2].replace(",", "")), float(match[3].replace(",", "")))
        for line in lines
        if (match := re.search(r", replication (\d): round (\S+), (\S+) pulls, 3 of 3 arms", line))
    ]
    first = list(dict.fromkeys(one for one in told if one[0] == 0))
    assert len(first) >= 3
    assert all(a[1] < b[1] and a[2] < b[2] for a, b in pairwise(first))
    assert all(abs(pulls / round_ - 3.0) < 0.2 for _, round_, pulls in told)
    assert "100 %, 2.00/2.00 replications in " in lines[-1]
    assert "round" not in lines[-1]
