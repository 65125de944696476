"""Files are written where it was said: whole or not at all, through links, into devices and pipes,
and nothing is left behind."""

import errno
import io
import os
import secrets
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import polars as pl
import pytest
from command_line import ROOT
from disks import small_disk
from hypothesis import given, settings
from hypothesis import strategies as st

from rai_sim.support.files import (
    TEMPORARY,
    from_harmless,
    harmless,
    names_a_page,
    place_of,
    write_atomically,
)


def at_the_flush(monkeypatch: pytest.MonkeyPatch, look: Callable[[int], object]) -> None:
    """Look at the open file when it is whole and has not yet its name; then the folder is flushed,
    too."""
    flush = os.fsync
    files_flushed: list[int] = []

    def looked(handle: int) -> None:
        if not files_flushed:
            look(handle)
        files_flushed.append(handle)
        flush(handle)

    monkeypatch.setattr(os, "fsync", looked)


def put(path: Path, data: bytes = b"new") -> None:
    """Write some bytes."""
    write_atomically(path, lambda file: file.write(data))


def mode(path: Path) -> int:
    """Return a file's permissions."""
    return stat.S_IMODE(path.stat().st_mode)


def read_from(pipe: Path) -> tuple[threading.Thread, list[bytes]]:
    """Read a pipe to its end, at the side."""
    found: list[bytes] = []
    thread = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    thread.start()
    return thread, found


# Links
# --------------------------------------------------------------------------------------------------


def test_a_link_stays_and_its_target_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chain of links, relative ones through other folders too; the temporary lies beside the
    target."""
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("old")
    (tmp_path / "one").symlink_to("there/two")
    (tmp_path / "there" / "two").symlink_to("../there/file")
    seen: list[str] = []
    at_the_flush(monkeypatch, lambda _: seen.extend(sorted(os.listdir(tmp_path / "there"))))
    put(tmp_path / "one")
    assert (tmp_path / "there" / "file").read_bytes() == b"new"
    assert not (tmp_path / "there" / "file").is_symlink()
    assert os.readlink(tmp_path / "one") == "there/two"
    assert os.readlink(tmp_path / "there" / "two") == "../there/file"
    assert len(seen) == 3
    assert seen[0].endswith(TEMPORARY)
    assert sorted(os.listdir(tmp_path / "there")) == ["file", "two"]


def test_a_dangling_link_makes_its_target(tmp_path: Path) -> None:
    """As the shell's > does."""
    (tmp_path / "link").symlink_to("target")
    put(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_a_link_to_a_device_a_pipe_and_a_folder(tmp_path: Path) -> None:
    """Links end at what is written into, or at an error in the asked name."""
    (tmp_path / "null").symlink_to("/dev/null")
    put(tmp_path / "null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to pipe").symlink_to("pipe")
    thread, found = read_from(tmp_path / "pipe")
    put(tmp_path / "to pipe")
    thread.join(10)
    assert found == [b"new"]
    (tmp_path / "to folder").symlink_to(tmp_path)
    with pytest.raises(IsADirectoryError) as caught:
        put(tmp_path / "to folder")
    assert caught.value.filename == str(tmp_path / "to folder")


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("loop", errno.ELOOP),
        ("nowhere/file", errno.ENOENT),
        ("file/file", errno.ENOTDIR),
        ("x" * 300, errno.ENAMETOOLONG),
        ("into nowhere", errno.ENOENT),
        (".", errno.EISDIR),
    ],
)
def test_errors_name_what_was_asked_for(name: str, number: int, tmp_path: Path) -> None:
    """Never the temporary, nor where a link leads; nothing is left behind."""
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "into nowhere").symlink_to("nowhere/at/all")
    (tmp_path / "file").write_text("old")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(OSError, match=r"^\[Errno") as caught:
        put(tmp_path / name)
    assert (caught.value.errno, caught.value.filename) == (number, str(tmp_path / name))
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "file").read_text() == "old"


# Devices, pipes, the process's own files
# --------------------------------------------------------------------------------------------------


def test_devices_are_written_into() -> None:
    """As root, a renamed file would take the place of /dev/null for the whole machine."""
    before = os.stat("/dev/null").st_rdev
    put(Path("/dev/null"))
    assert os.stat("/dev/null").st_rdev == before
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        put(Path("/dev/full"))
    assert not [name for name in os.listdir("/dev") if name.endswith(TEMPORARY)]


def test_a_pipe_gets_all_of_it_or_nothing(tmp_path: Path) -> None:
    """Formats that go back while they write (Parquet) too; a failure half way leaves the pipe a
    pipe."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    frame = pl.DataFrame({"x": list(range(100_000))})
    thread, found = read_from(pipe)
    write_atomically(pipe, frame.write_parquet)
    thread.join(10)
    assert pl.read_parquet(io.BytesIO(found[0])).equals(frame)

    def fail(file: BinaryIO) -> None:
        file.write(b"half")
        raise ValueError("half way")

    # nobody reads: to open the pipe would be to wait for ever
    with pytest.raises(ValueError, match="half way"):
        write_atomically(pipe, fail)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


_PRINTS = """
import sys
from pathlib import Path
from files import is_own_output, write_atomically  # by itself, which takes less time
print("before")
write_atomically(Path(sys.argv[1]), lambda file: file.write(b"middle\\n"))
print("after", is_own_output(Path(sys.argv[1])))
"""


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
@pytest.mark.parametrize("how", ["file", "appended", "pipe"])
def test_own_standard_output(name: str, how: str, tmp_path: Path) -> None:
    """Where standard output goes to a file, what is printed before and after stays; the file is not
    replaced."""
    (tmp_path / "link").symlink_to("/dev/stdout")
    out = tmp_path / "out"
    out.write_text("older\n")
    command = [sys.executable, "-c", _PRINTS, name]
    with out.open("ab" if how == "appended" else "wb") as file:
        inode = out.stat().st_ino
        to, environment = (
            subprocess.PIPE if how == "pipe" else file,
            {"PYTHONPATH": f"{ROOT}/rai_sim/support"},
        )
        done = subprocess.run(command, stdout=to, check=True, cwd=tmp_path, env=environment)
    printed = done.stdout.decode() if how == "pipe" else out.read_text()
    assert printed == ("older\n" if how == "appended" else "") + "before\nmiddle\nafter True\n"
    assert out.stat().st_ino == inode


def test_a_closed_descriptor_is_an_error_in_its_name() -> None:
    """Not a file of that name in /proc."""
    with pytest.raises(OSError, match="Bad file descriptor: '/dev/fd/987'"):
        put(Path("/dev/fd/987"))


# Permissions
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o644, 0o666, 0o755, 0o444])
def test_permissions_are_kept(
    permissions: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the file that is replaced; while it is written nobody else may read what nobody else
    may read later."""
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(permissions)
    born: list[int] = []
    real = os.open

    def watched(name: Any, flags: int, *rest: Any) -> int:
        handle = real(name, flags, *rest)
        if str(name).endswith(TEMPORARY):
            born.append(stat.S_IMODE(os.fstat(handle).st_mode))
            assert flags & os.O_EXCL
            assert flags & os.O_NOFOLLOW
        return handle

    monkeypatch.setattr(os, "open", watched)
    put(path)
    assert (mode(path), born, path.read_bytes()) == (permissions, [0o600], b"new")


def test_a_new_file_has_what_the_umask_allows(tmp_path: Path) -> None:
    """As any other program's."""
    before = os.umask(0o027)
    try:
        put(tmp_path / "file")
    finally:
        os.umask(before)
    assert mode(tmp_path / "file") == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_is_kept(tmp_path: Path) -> None:
    """A file that root writes anew still belongs to its user."""
    path = tmp_path / "file"
    path.write_text("old")
    os.chown(path, 12345, 54321)
    put(path)
    assert (path.stat().st_uid, path.stat().st_gid, path.read_bytes()) == (12345, 54321, b"new")


# Temporaries
# --------------------------------------------------------------------------------------------------


def test_temporaries_are_random_and_exclusive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their names cannot be foretold; where one is taken all the same, by a link to a file that is
    dear, nothing is written through it."""
    names: set[str] = set()
    for _ in range(20):
        with monkeypatch.context() as patch:
            at_the_flush(patch, lambda _: names.update(set(os.listdir(tmp_path)) - {"file"}))
            put(tmp_path / "file", b"old")
    assert len(names) == 20
    assert all(name.startswith(".file.") and name.endswith(TEMPORARY) for name in names)
    dear = tmp_path / "dear"
    dear.write_text("dear")
    monkeypatch.setattr(secrets, "token_hex", lambda _: "foretold")
    (tmp_path / f".file.foretold{TEMPORARY}").symlink_to(dear)
    with pytest.raises(FileExistsError) as caught:
        put(tmp_path / "file")
    assert caught.value.filename == str(tmp_path / "file")
    assert dear.read_text() == "dear"
    assert (tmp_path / "file").read_bytes() == b"old"
    assert (tmp_path / f".file.foretold{TEMPORARY}").is_symlink()


@pytest.mark.parametrize("when", ["write", "fsync", "replace"])
@pytest.mark.parametrize(
    "what",
    [
        OSError(errno.ENOSPC, "no space", "temporary"),
        KeyboardInterrupt(),
        OSError("in a library's words"),
    ],
)
def test_whatever_fails_nothing_is_left_behind(
    when: str, what: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old file is as it was, and an error of the system names the file."""
    path = tmp_path / "file"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise what

    if when != "write":
        monkeypatch.setattr(os, when, fail)
    with pytest.raises(type(what)) as caught:
        write_atomically(path, fail if when == "write" else lambda file: file.write(b"new"))
    monkeypatch.undo()
    if isinstance(what, OSError):
        words = (
            f"[Errno 28] No space left on device: '{path}'"
            if what.errno
            else f"{path}: in a library's words"
        )
        assert str(caught.value) == words
    assert os.listdir(tmp_path) == ["file"]
    assert path.read_text() == "old"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Return a file system of 64 KiB, where one can be mounted."""
    with small_disk(tmp_path / "disk", 64) as place:
        yield place


def test_disks_that_are_really_full_or_read_only(disk: Path) -> None:
    """Bytes, and what polars writes, of which it tells in its own words: the old file stays and
    nothing else."""
    path = disk / "x.parquet"
    path.write_text("old")
    frame = pl.DataFrame({"x": list(range(1_000_000))})
    for write in (lambda file: file.write(b"\1" * 200_000), frame.write_parquet, frame.write_csv):
        with pytest.raises(OSError, match="No space left on device") as caught:
            write_atomically(path, write)
        assert str(path) in str(caught.value)
        assert TEMPORARY not in str(caught.value)
        assert os.listdir(disk) == ["x.parquet"]
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    for name in ("x.parquet", "new.parquet"):
        with pytest.raises(OSError, match="Read-only file system") as caught:
            put(disk / name)
        assert caught.value.filename == str(disk / name)
    assert path.read_text() == "old"


# At random
# --------------------------------------------------------------------------------------------------

KINDS = (
    "nothing",
    "file",
    "link",
    "chain",
    "dangling",
    "absolute",
    "folder",
    "loop",
    "pipe",
    "null",
)
names = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="/\0"), min_size=1, max_size=40
).filter(lambda name: name not in (".", "..") and len(name.encode()) <= 200)


def prepare(folder: Path, name: str, kind: str) -> tuple[Path, Path | None]:
    """Make something of that name; return it and the regular file that is to hold what is written,
    if any."""
    path, target = folder / name, folder / "elsewhere" / "target"
    target.parent.mkdir()
    if kind in ("file", "link", "chain", "absolute"):
        (path if kind == "file" else target).write_text("old")
    if kind == "chain":
        (target.parent / "link").symlink_to("target")
    near = "elsewhere/target"
    leads: dict[str, str | Path] = {
        "link": near,
        "chain": "elsewhere/link",
        "dangling": near,
        "absolute": target,
        "loop": name,
    }
    leads["null"] = "/dev/null"
    if kind in leads:
        path.symlink_to(leads[kind])
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    regular = (
        path
        if kind in ("nothing", "file")
        else None
        if kind in ("folder", "loop", "pipe", "null")
        else target
    )
    return path, regular


@settings(max_examples=100, deadline=None, derandomize=True)
@given(names, st.sampled_from(KINDS), st.binary(max_size=300))
def test_any_name_and_any_kind_of_target(name: str, kind: str, data: bytes) -> None:
    """What is written is found where the name leads, links and pipes are what they were, and
    nothing else comes into being."""
    with TemporaryDirectory() as made:
        path, regular = prepare(Path(made), name, kind)
        before = {str(one): one.lstat().st_mode for one in Path(made).rglob("*")}
        if kind in ("folder", "loop"):
            with pytest.raises(OSError, match=r"^\[Errno") as caught:
                put(path, data)
            assert caught.value.filename == str(path)
        else:
            reader = read_from(path) if kind == "pipe" else None
            put(path, data)
            if reader is not None:
                reader[0].join(10)
                assert reader[1] == [data]
        if regular is not None:
            assert regular.read_bytes() == data
            before.setdefault(str(regular), regular.stat().st_mode)
        assert {str(one): one.lstat().st_mode for one in Path(made).rglob("*")} == before


# Cells of CSV files
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+SUM(A1)", "'+SUM(A1)"),
        ("-2+3", "'-2+3"),
        ("@x", "'@x"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("\n=1", "'\n=1"),
        ("＝1+1", "'＝1+1"),
        ("'=1+1", "''=1+1"),
        ("''", "''"),
        ("'tis", "'tis"),
        ("", ""),
        ("-", "'-"),
        ("-x", "'-x"),
        ("-0.5", "-0.5"),
        ("+3", "+3"),
        ("-1e-3", "-1e-3"),
        ("-1e-3+x", "'-1e-3+x"),
        ("-0.5\n", "'-0.5\n"),
        ("-٣", "'-٣"),
        ("a=1", "a=1"),
        ("Se7en (1995)", "Se7en (1995)"),
    ],
)
def test_cells_that_a_spreadsheet_would_run(text: str, cell: str) -> None:
    """They get an apostrophe, which can be taken away again; numbers and other texts stay."""
    assert harmless(text) == cell
    assert from_harmless(cell) == text


@settings(max_examples=300, derandomize=True)
@given(st.text(st.sampled_from("=+-@\t\r\n'＝＠1.e x\"")))
def test_no_cell_is_run_and_every_text_comes_back(text: str) -> None:
    """What begins like a formula is a number; no two texts give one cell."""
    cell = harmless(text)
    assert from_harmless(cell) == text
    if cell[:1] in tuple("=@\t\r\n＝＠"):
        pytest.fail(f"{cell!r} would be run")
    if cell[:1] in ("+", "-"):
        float(cell)


def test_backslashes_part_folders(tmp_path: Path) -> None:
    """Unless something has them in its name."""
    assert place_of(tmp_path, "a\\b.csv") == tmp_path / "a" / "b.csv"
    assert place_of(tmp_path, "a/b.csv") == tmp_path / "a" / "b.csv"
    (tmp_path / "a\\b.csv").write_text("")
    assert place_of(tmp_path, "a\\b.csv") == tmp_path / "a\\b.csv"


def test_names_of_pages(tmp_path: Path) -> None:
    """By their end, in capitals too; a regular file's must have it, a pipe's need not."""
    assert names_a_page(tmp_path / "a.HTM")
    (tmp_path / "a.pdf").write_bytes(b"")
    assert not names_a_page(tmp_path / "a.pdf")
    os.mkfifo(tmp_path / "pipe")
    assert names_a_page(tmp_path / "pipe")
