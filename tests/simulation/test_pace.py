"""How long jobs for workers elsewhere become, on a clock of the test's own."""

import pytest

from rai_sim.simulation.pace import Pace


class Workers:
    """Workers that end their jobs in turn, each of the pace's length and some seconds later than it
    could have."""

    def __init__(self, count: int, seconds: float = 0.2, **options: float) -> None:
        """Start at second 100."""
        self.now, self.count = 100.0, count
        self.pace = Pace(seconds, clock=lambda: self.now, **options)

    def run(self, seconds: float, waits: float, fed: bool = True) -> None:
        """Run jobs for so many seconds, each after so many of waiting."""
        until = self.now + seconds
        while self.now < until:
            busy = self.pace.seconds
            for worker in range(self.count):
                self.now += (busy + waits) / self.count
                self.pace.note(f"worker {worker}", busy, self.count, fed)


@pytest.mark.parametrize("count", [1, 2, 100])
def test_busy_workers_change_nothing(count: int) -> None:
    """Waits of a twentieth of a job are none."""
    workers = Workers(count)
    workers.run(100.0, 0.01)
    assert workers.pace.seconds == 0.2


@pytest.mark.parametrize("count", [1, 2, 100])
@pytest.mark.parametrize(
    ("waits", "length"), [(0.05, 0.8), (0.15, 1.6), (0.3, 3.2), (0.7, 6.4), (9.0, 6.4)]
)
def test_jobs_become_as_long_as_waits_ask_for(count: int, waits: float, length: float) -> None:
    """Doubled until waits are a tenth of the time, or no longer than they may be."""
    workers = Workers(count)
    workers.run(1000.0, waits)
    assert workers.pace.seconds == length
    assert waits / (waits + length) <= 0.1 or 2 * length > 10.0


def test_workers_without_jobs_say_nothing() -> None:
    """At the end there are not enough jobs: that is no reason to make them longer."""
    workers = Workers(2)
    workers.run(100.0, 1.0, fed=False)
    assert workers.pace.seconds == 0.2
    workers.run(100.0, 1.0)
    assert workers.pace.seconds == 6.4


def test_a_worker_that_has_only_begun_is_waited_for() -> None:
    """The others may be idle to the eye because one is still importing."""
    now = [0.0]
    pace = Pace(0.2, clock=lambda: now[0])
    for _ in range(200):
        now[0] += 0.2
        pace.note("first", 0.2, workers=2, fed=True)
    assert pace.seconds == 0.2
    for _ in range(200):
        now[0] += 0.2
        for worker in ("first", "second"):
            pace.note(worker, 0.2, workers=2, fed=True)
    assert pace.seconds == 0.2


def test_no_longer_than_is_allowed() -> None:
    """A lost worker's job is run again, and Ctrl-C waits for jobs."""
    workers = Workers(1, 0.25, most=1.0)
    workers.run(100.0, 10.0)
    assert workers.pace.seconds == 1.0
