"""The folder: what is torn, foreign, full, locked or read twice."""

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl
import pytest
from studies import parts, small, values

import rai_sim as rai
from rai_sim.study import StoreError, StoreWarning
from rai_sim.study.data import StudyData
from rai_sim.study.store import Store
from rai_sim.support.files import MARKER, write_atomically


@pytest.mark.parametrize("tear", ["cut", "flipped", "emptied"])
def test_a_torn_part_is_set_aside_and_run_again(folder: Path, tear: str) -> None:
    """Its name stays recognisable, its bytes stay, its rows are run again: the same values."""
    whole, victim = values(folder), parts(folder)[0]
    data = victim.read_bytes()
    torn = {
        "cut": data[:-7],
        "flipped": data[:100] + bytes([data[100] ^ 1]) + data[101:],
        "emptied": b"",
    }[tear]
    victim.write_bytes(torn)
    with pytest.warns(
        StoreWarning, match=f"{victim.name} is passed over: it is torn or was changed"
    ):
        some = small(40).results(folder)
    assert some.progress() == (80, 160)
    assert some.rows().collect().height == 80
    with pytest.warns(
        StoreWarning, match=rf"{victim.name} is set aside as {victim.name}\.set-aside: it is torn"
    ):
        small(40).run(folder)
    assert (folder / f"{victim.name}.set-aside").read_bytes() == torn
    assert values(folder) == whole


def test_foreign_files_are_never_read_nor_deleted(folder: Path) -> None:
    """Another program's Parquet, a part of another kind of store, a part renamed; other files are
    left alone."""
    whole = values(folder)
    pl.DataFrame({"task": ["x"], "pulls": [1]}).write_parquet(folder / "mine.parquet")
    shutil.copy(parts(folder)[0], folder / f"replications-{'0' * 40}.parquet")
    (folder / "notes.txt").write_text("hello")
    sums = folder.parent / "sums"
    small(10, "aggregates").run(sums)
    stranger = next(sums.glob("aggregates-*.parquet"))
    shutil.copy(stranger, folder)
    with pytest.warns(StoreWarning) as caught:
        small(40).run(folder)
    said = sorted(str(warning.message).partition(": ")[2] for warning in caught)
    assert said == [
        "it belongs to a store that keeps aggregates",
        "it is torn or was changed: its content does not match its name",
        "it was not written by a study",
    ]
    assert {path.name for path in folder.glob("*.set-aside")} == {
        "mine.parquet.set-aside",
        f"replications-{'0' * 40}.parquet.set-aside",
        f"{stranger.name}.set-aside",
    }
    assert (folder / "notes.txt").read_text() == "hello"
    assert values(folder) == whole
    pl.DataFrame({"task": ["y"]}).write_parquet(folder / "mine.parquet")
    with pytest.warns(StoreWarning, match=r"mine\.parquet\.set-aside\+"):
        small(40).run(folder)


def test_a_part_with_other_columns_is_set_aside(folder: Path) -> None:
    """Named by its content, but not with the columns of this version."""
    store = Store(folder, "replications")
    store.write("replications", pl.DataFrame({"task": ["x"]}), {})
    with pytest.warns(StoreWarning, match="it has other columns than this version writes"):
        assert small(40).results(folder).progress() == (160, 160)


def test_what_a_killed_writer_left_is_set_aside(folder: Path) -> None:
    """A temporary file is no part; it is kept under another name."""
    left = folder / ".replications-00.parquet.4711.writing"
    left.write_bytes(b"half a part")
    with pytest.warns(StoreWarning, match="it was not finished by the process that wrote it"):
        small(40).run(folder)
    assert not left.exists()
    assert (folder / f"{left.name}.set-aside").read_bytes() == b"half a part"


class FullDisk:
    """A disk that holds so many bytes of parts and no more."""

    def __init__(self, room: int) -> None:
        """Start with this much room."""
        self.room = self.was = room

    @property
    def used(self) -> int:
        """Bytes written so far."""
        return self.was - self.room

    def write(self, path: Path, write: Any) -> None:
        """Write, or fail in the middle as a full disk does."""

        def some(file: BinaryIO) -> None:
            class Counting:
                write = staticmethod(partial(self._some_of, file))

            write(Counting)

        write_atomically(path, some)

    def _some_of(self, file: BinaryIO, data: bytes) -> int:
        fits = data[: max(self.room, 0)]
        self.room -= len(data)
        file.write(fits)
        if self.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return len(data)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A study in many parts on a disk that is roomy, and the bytes that were written."""
    store, roomy = tmp_path_factory.mktemp("whole") / "store", FullDisk(10**9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rai_sim.study.backlog._LEAST", 0.0)
        patch.setattr("rai_sim.study.backlog._SHARE", 0.0)
        patch.setattr("rai_sim.study.job.JOB_SECONDS", 1e-4)
        patch.setattr("rai_sim.study.store.write_atomically", roomy.write)
        small(40).run(store)
    return store, roomy.used


@pytest.mark.landing
@pytest.mark.parametrize(
    "share", [0.0, 0.2, *(pytest.param(one, marks=pytest.mark.slow) for one in (0.01, 0.5, 0.9))]
)
def test_a_full_disk_is_an_error_that_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: tuple[Path, int], share: float
) -> None:
    """Wherever the room ends: the reason and the remedy are said, what was written is readable, and
    the run goes on with room."""
    monkeypatch.setattr("rai_sim.study.backlog._LEAST", 0.0)
    monkeypatch.setattr("rai_sim.study.backlog._SHARE", 0.0)
    monkeypatch.setattr("rai_sim.study.job.JOB_SECONDS", 1e-4)
    alone, used = whole
    with monkeypatch.context() as patch:
        patch.setattr("rai_sim.study.store.write_atomically", FullDisk(int(share * used)).write)
        with pytest.raises(
            StoreError,
            match=r"No space left on device; free space, then run the same again: finished parts",
        ):
            small(40).run(tmp_path / "store")
    assert not list((tmp_path / "store").glob(".*.writing"))
    if share:
        done, _ = small(40).results(tmp_path / "store").progress()
        assert done == sum(len(pl.read_parquet(path)) for path in parts(tmp_path / "store"))
        assert done > 0 or share < 0.5
        assert done == 0 or share > 0.01
    small(40).run(tmp_path / "store")
    assert values(tmp_path / "store") == values(alone)


@pytest.mark.landing
@pytest.mark.skipif(shutil.which("mount") is None, reason="there is no mount")
def test_a_really_full_disk(tmp_path: Path) -> None:
    """The same on a file system of 64 KiB, where one can be mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True
    ).returncode:
        pytest.skip("no right to mount a file system")
    try:
        with pytest.raises(
            StoreError, match=r"cannot be written to \(replications-.*No space left on device"
        ):
            small(20_000).run(disk / "store")
        assert small(20_000).results(disk / "store").progress()[0] == 0
        subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
        results = small(20_000).run(disk / "store")
        assert results.progress() == (80_000, 80_000)
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_folder_that_cannot_be_written_to(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error before anything is run; reading still works, also where nothing can be renamed."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    def fail(*_: object) -> None:
        pytest.fail("something was run")

    whole = small(40).results(folder).summary()
    if os.geteuid() == 0:  # nothing is forbidden to root: let the calls fail that would
        monkeypatch.setattr("rai_sim.study.store.write_atomically", refuse)
        monkeypatch.setattr("rai_sim.study.store.os.rename", refuse)
    else:
        folder.chmod(0o555)
    monkeypatch.setattr("rai_sim.simulation.parts.run_into", fail)
    try:
        with pytest.raises(
            StoreError,
            match=r"cannot be written to .*Permission denied; change permissions, then run the same",
        ):
            small(50).run(folder)
        assert small(40).results(folder).summary().equals(whole)
    finally:
        folder.chmod(0o755)


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ("{", "has a damaged rai-sim-store.json; restore it"),
        ('{"format": "x"}', "has a damaged rai-sim-store.json; restore it"),
        ("[1]", "has a damaged rai-sim-store.json; restore it"),
        (
            '{"version": 99, "keep": "replications"}',
            "has format 99, keeping replications; this version of rai_sim reads format 1",
        ),
        ('{"version": 1, "keep": "all"}', "has format 1, keeping all"),
        (
            '{"version": 1, "keep": "aggregates"}',
            r"keeps aggregates but replications are to be kept; take another folder, or keep = 'agg",
        ),
    ],
)
def test_other_markers(folder: Path, marker: str, message: str) -> None:
    """A damaged one, another version's, and what a store does not keep."""
    (folder / MARKER).write_text(marker)
    with pytest.raises(StoreError, match=message):
        small(40).run(folder)


def test_folders_that_are_no_stores(tmp_path: Path) -> None:
    """A missing folder cannot be read; a folder with something else is not written into; a file is
    no folder."""
    with pytest.raises(StoreError, match=r"is no study's folder: it has no rai-sim-store\.json"):
        rai.open_study(tmp_path / "missing")
    (tmp_path / "thesis.tex").write_text("...")
    with pytest.raises(
        StoreError,
        match=r"holds thesis\.tex but no rai-sim-store\.json; name a new or an empty folder",
    ):
        small().run(tmp_path)
    with pytest.raises(
        StoreError, match=r"thesis\.tex is a file; name a folder for the study's results"
    ):
        rai.open_study(tmp_path / "thesis.tex")
    with pytest.raises(
        StoreError, match=r"thesis\.tex is a file; name a folder for the study's results"
    ):
        small().run(tmp_path / "thesis.tex")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["thesis.tex"]


def test_a_part_that_vanishes_while_it_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process has set it aside between listing and reading: its rows are missing, and
    nothing else."""
    gone = parts(folder)[0]
    listed = os.listdir(folder)
    gone.rename(folder / f"{gone.name}.set-aside")
    monkeypatch.setattr("rai_sim.study.store.os.listdir", lambda _: listed)
    assert small(40).results(folder).progress() == (80, 160)


def test_of_two_first_runs_one_writes_the_marker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one finds it under the lock, and what it wanted to keep is compared with it."""
    plain = Store.locked

    @contextmanager
    def late(self: Store) -> Iterator[None]:
        monkeypatch.setattr(Store, "locked", plain)
        Store(tmp_path / "store", "aggregates")
        with plain(self):
            yield

    monkeypatch.setattr(Store, "locked", late)
    with pytest.raises(StoreError, match="keeps aggregates but replications are to be kept"):
        Store(tmp_path / "store", "replications")


@pytest.mark.parametrize("replaced", [False, True])
def test_a_folder_that_vanishes_while_it_is_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch, replaced: bool
) -> None:
    """Removed, or a file in its place: the run says so, and what reads rows names the part; sums
    that were read stay."""
    results, plain = small(40).results(folder), StudyData.add_tasks

    def removed(data: StudyData, *arguments: Any) -> None:
        plain(data, *arguments)
        shutil.rmtree(folder)
        if replaced:
            folder.write_text("")

    monkeypatch.setattr(StudyData, "add_tasks", removed)
    with pytest.raises(
        StoreError,
        match=r"was removed, renamed or replaced while it was in use, and cannot .*; put the "
        r"folder back",
    ):
        small(60).run(folder)
    assert results.summary()["replications"].to_list() == [40] * 4
    for read in (results.rows, lambda: results.result(results.tasks[0]), results.verify):
        with pytest.raises(
            StoreError,
            match=r"had a part replications-\w+\.parquet when it was opened, which is gone; put "
            r"it back",
        ):
            read()
    if not replaced:
        assert not folder.exists()
