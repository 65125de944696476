"""Output goes where it was told, whole or not at all.

A file is written under a temporary name, flushed and renamed: whoever reads it finds all of it or
none. Links are followed first, so a link stays one. What is no regular file (a device, a pipe, the
process's own standard output) is written into.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

#: How the names of files end that are being written.
TEMPORARY = ".writing"
#: What makes a folder a study's: a file of this name, which `rai_sim.study.store` writes.
MARKER = "rai-sim-store.json"
#: How the names of pages end.
PAGES = (".html", ".htm")
#: Not through links, not into what is there; without newlines made anew, where a system would.
_NEW = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
#: Where a process finds its own open files.
_DESCRIPTORS = re.compile(
    rf"/dev/fd|/proc/(self|thread-self|{os.getpid()}|{os.getpid()}/task/\d+)/fd"
)
#: What spreadsheets take for the beginning of a formula, also after apostrophes, so that `harmless`
#: can be undone.
_FORMULA = re.compile("'*[=+\\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", re.ASCII)
#: The most links on the way to a file; Linux, too, gives up after so many.
_MOST_LINKS = 40


#: What helps against an error of the system.
_REMEDIES = {
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "change permissions"),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "free space"),
}


def remedy_of(error: OSError) -> str | None:
    """Return what helps against an error of the system; None where that is not known.

    Examples
    --------
    >>> remedy_of(PermissionError(errno.EACCES, "Permission denied")), remedy_of(OSError())
    ('change permissions', None)
    """
    return _REMEDIES.get(error.errno or 0)


def place_of(folder: Path, name: str) -> Path:
    r"""Return the place that a name in a file means, relative to the file's folder; backslashes part
    folders, as on the system where the file may have been written, unless there is what has them in
    its name.

    Examples
    --------
    >>> place_of(Path("studies"), "data\\means.csv").parts
    ('studies', 'data', 'means.csv')
    """
    place = folder / name
    if "\\" not in name or os.path.lexists(place):
        return place
    return folder / name.replace("\\", "/")


def write_atomically(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file so that whoever reads it finds all of it or none, and nothing is left behind
    where that fails.

    Parameters
    ----------
    path : Path
        The file. A regular one is replaced and keeps its permissions, a link is followed, anything
        else is written into.
    write : callable
        Is given a binary file in memory.

    Raises
    ------
    OSError
        If it cannot be written; the error names `path`, whatever was opened on the way.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "numbers.txt"
    >>> write_atomically(path, lambda file: file.write(b"1 2 3"))
    >>> path.read_bytes()
    b'1 2 3'
    """
    # In memory first: libraries tell of a full disk by exceptions of their own, and a pipe has no
    # way back, which some formats take.
    whole = io.BytesIO()
    try:
        write(whole)
        number = _descriptor(path)
        there = None if number is not None else _status(path)
        if number is not None or (there is not None and not stat.S_ISREG(there.st_mode)):
            _write_into(path if number is None else number, whole.getvalue())
        else:
            _replace(Path(os.path.realpath(path)), there, whole.getvalue())
    except OSError as error:
        if error.errno is None:  # of a library, in words of its own
            raise OSError(f"{path}: {error}") from error
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error


def is_own_output(path: Path) -> bool:
    """Return whether a name stands for this process's standard output, so that nothing else may be
    printed there.

    Examples
    --------
    >>> is_own_output(Path("/dev/null")), is_own_output(Path("report.html"))
    (False, False)
    """
    return _descriptor(path) == 1


def names_a_page(path: Path) -> bool:
    """Return whether a page of HTML may be written under a name: it says so, or stands for a device,
    a pipe or an open file, which need not.

    Examples
    --------
    >>> names_a_page(Path("report.html")), names_a_page(Path("/dev/stdout"))
    (True, True)
    >>> names_a_page(Path("report.pdf")), names_a_page(Path("report"))
    (False, False)
    """
    if path.suffix.lower() in PAGES or _descriptor(path) is not None:
        return True
    there = _status(path)
    return there is not None and not stat.S_ISREG(there.st_mode)


def harmless(text: str) -> str:
    """Return a text as a cell of a CSV file: with an apostrophe before what a spreadsheet would run
    as a formula; numbers stay.

    Examples
    --------
    >>> harmless("=1+1"), harmless("two arms"), harmless("-0.5"), harmless("'=1+1")
    ("'=1+1", 'two arms', '-0.5', "''=1+1")
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def from_harmless(cell: str) -> str:
    """Return the text that `harmless` made a cell of.

    Examples
    --------
    >>> from_harmless("'=1+1"), from_harmless("'tis"), from_harmless("-0.5")
    ('=1+1', "'tis", '-0.5')
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _status(path: Path) -> os.stat_result | None:
    """Return what a name, its links followed, stands for; None if for nothing yet."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _descriptor(path: Path) -> int | None:
    """Return the number of an open file of this process that a name such as /dev/stdout stands for.

    Opening it anew would be another place in it: what is there would be cut off, and what is
    printed next would write over it.
    """
    place = os.path.abspath(path)
    for _ in range(_MOST_LINKS):
        folder, name = os.path.split(place)
        if name.isdecimal() and (
            _DESCRIPTORS.fullmatch(folder) or _DESCRIPTORS.fullmatch(os.path.realpath(folder))
        ):
            return int(name)
        try:
            place = os.path.abspath(os.path.join(folder, os.readlink(place)))
        except OSError:
            break
    return None


def _write_into(place: Path | int, data: bytes) -> None:
    """Write into what is there: a device, a pipe, an open file by its number."""
    if isinstance(place, int):
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()  # what was printed before comes first
        handle = os.dup(place)
    else:
        handle = os.open(place, os.O_WRONLY | getattr(os, "O_BINARY", 0))
    with open(handle, "wb") as file:
        file.write(data)


def _replace(target: Path, there: os.stat_result | None, data: bytes) -> None:
    """Write a new file beside the target and rename it; with the permissions, and if possible the
    owner, of one that is there."""
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}{TEMPORARY}")
    handle = os.open(temporary, _NEW, 0o666 if there is None else 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            if there is not None:
                _like(file.fileno(), there)
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    flush_folder(target.parent)


def _like(handle: int, there: os.stat_result) -> None:
    """Give a file the permissions of another, and its owner where that is allowed."""
    if not hasattr(os, "fchmod"):
        return
    with contextlib.suppress(OSError):
        os.fchown(handle, there.st_uid, there.st_gid)
    os.fchmod(handle, stat.S_IMODE(there.st_mode))


def flush_folder(folder: Path) -> None:
    """Make a renaming durable, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
