"""Claims: others leave them alone, and they end with their owner."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from rai_sim.study import claims as module
from rai_sim.study.claims import CLAIM, Claims, Others, Patience

A, B = "a" * 64, "b" * 64


@pytest.fixture
def two(tmp_path: Path) -> Iterator[list[Claims]]:
    """Return the claims of two runs in one folder."""
    with ExitStack() as stack:
        yield [stack.enter_context(closing(Claims(tmp_path, name))) for name in ("one", "two")]


def test_others_see_a_claim_until_it_is_given_up(two: list[Claims], tmp_path: Path) -> None:
    """Its owner does not; a new claim takes the place of the old one."""
    one, other = two
    assert other.others() == Others({}, False)
    one.claim([(A, 0, 10), (B, 5, 7)])
    assert one.others() == Others({}, False)
    assert other.others() == Others({A: [(0, 10)], B: [(5, 7)]}, False)
    one.claim([(A, 10, 12)], waiting=True)
    assert other.others() == Others({A: [(10, 12)]}, True)
    one.close()
    assert other.others() == Others({}, False)
    assert list(tmp_path.iterdir()) == []


def test_what_is_free_lies_between_claims() -> None:
    """Also where claims overlap, as they may on folders without locks."""
    others = Others({A: [(30, 40), (10, 20), (12, 15)]}, False)
    assert others.free(A, 0, 50) == [(0, 10), (20, 30), (40, 50)]
    assert others.free(A, 12, 18) == []
    assert others.free(A, 35, 60) == [(40, 60)]
    assert others.free(B, 3, 4) == [(3, 4)]


def as_of_elsewhere(path: Path, patch: pytest.MonkeyPatch) -> Claims:
    """Return claims of a process on another machine."""
    with patch.context() as here:
        here.setattr(module, "machine", lambda: "elsewhere")
        return Claims(path, "far")


def test_a_claim_of_elsewhere_ends_when_its_heart_stands_still(
    two: list[Claims], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the clock of who looks; neither times of files nor of other machines count, and whoever
    begins to look gives it the whole time."""
    monkeypatch.setattr(module, "EXPIRY", 0.3)
    far = as_of_elsewhere(tmp_path, monkeypatch)
    far.claim([(A, 0, 10)])
    far._ended.set()  # it is dead: no heartbeat follows
    os.utime(tmp_path / f"{CLAIM}far", (0.0, 0.0))
    assert two[0].others().claimed == {A: [(0, 10)]}
    time.sleep(0.2)
    assert two[1].others().claimed == {A: [(0, 10)]}
    time.sleep(0.2)
    assert two[0].others().claimed == {}
    assert not (tmp_path / f"{CLAIM}far").exists()


def test_a_claim_lasts_while_its_heart_beats(
    two: list[Claims], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long nothing new is claimed, as where one replication takes hours."""
    monkeypatch.setattr(module, "EXPIRY", 0.5)
    monkeypatch.setattr(module, "BEAT", 0.02)
    with closing(as_of_elsewhere(tmp_path, monkeypatch)) as far:
        far.claim([(A, 0, 10)])
        until = time.monotonic() + 1.2
        while time.monotonic() < until:
            assert two[0].others().claimed == {A: [(0, 10)]}
            time.sleep(0.02)


def test_a_claim_that_was_taken_for_void_is_made_anew(two: list[Claims], tmp_path: Path) -> None:
    """A process that was suspended for long goes on; its file is there and locked again."""
    one, other = two
    one.claim([(A, 0, 10)])
    (tmp_path / f"{CLAIM}one").unlink()
    one.claim([(A, 10, 20)])
    assert other.others().claimed == {A: [(10, 20)]}


_OWNER = f"""
import os, sys, time
from pathlib import Path
from rai_sim.study.claims import Claims
Claims(Path(sys.argv[1]), "killed").claim([("{A}", 0, 10)])
print("claimed", flush=True)
time.sleep(60)
"""


@pytest.mark.landing
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_a_claim_of_this_machine_ends_with_its_process(two: list[Claims], tmp_path: Path) -> None:
    """SIGKILL: at once, without waiting for a heartbeat."""
    owner = subprocess.Popen(
        [sys.executable, "-c", _OWNER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    assert owner.stdout.readline() == "claimed\n"
    assert two[0].others().claimed == {A: [(0, 10)]}
    owner.send_signal(signal.SIGKILL)
    owner.communicate()
    assert two[0].others().claimed == {}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("torn", [b"", b"0000", b"12345678 {}", b"\xff" * 9])
def test_a_claim_that_is_half_written_is_no_fault(
    two: list[Claims], tmp_path: Path, torn: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is known of it, and it is not removed before it has stood still."""
    monkeypatch.setattr(module, "EXPIRY", 0.1)
    path = tmp_path / f"{CLAIM}torn"
    path.write_bytes(torn)
    assert two[0].others() == Others({}, False)
    assert path.exists()
    time.sleep(0.2)
    two[0].others()
    assert not path.exists()


def test_pauses_become_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to a second."""
    slept: list[float] = []
    monkeypatch.setattr("rai_sim.study.claims.time.sleep", slept.append)
    patience = Patience()
    for _ in range(20):
        patience.pause()
    assert slept == sorted(slept)
    assert slept[0] < 0.1
    assert slept[-1] == 1.0
