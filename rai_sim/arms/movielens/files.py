"""Files of a download: in a folder, in a zip archive, alone; packed by gzip or plain; opened by
their own names, read in bounded memory."""

from __future__ import annotations

import gzip
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.files import remedy_of

DOWNLOAD = "give a MovieLens download: its folder, its zip or its file of ratings"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: What a file of ratings, or of titles or means, may hold unpacked. The largest of MovieLens have
#: 0.9 GB and 5 MB.
MOST_BYTES, MOST_SMALL = 2**32, 2**25
#: What is looked at to tell what a file is.
HEAD = 4096
_BLOCK = 2**22
_LONGEST_LINE = 2**20
_MOST_FILES = 500
_GZIP = b"\x1f\x8b"
#: Neighbours of a named file that may hold its titles.
_TITLES_END = (".csv", ".dat", ".item", ".gz")
Got = TypeVar("Got")


class MovieLensError(ArgumentValueError):
    """Ratings cannot be used; the message names the file, what is wrong and the remedy.

    `argument` is "path", or "top" or "scale" where the ratings are in order but not enough for it.

    Examples
    --------
    >>> import rai_sim as rai
    >>> rai.movielens.load("no-such-folder")
    Traceback (most recent call last):
    ...
    rai_sim.arms.movielens.files.MovieLensError: no-such-folder cannot be read: ...
    """


class MovieLensWarning(UserWarning):
    """Some ratings, or a file of titles, were left out.

    Examples
    --------
    >>> import tempfile, warnings
    >>> import rai_sim as rai
    >>> file = Path(tempfile.mkdtemp()) / "ratings.csv"
    >>> _ = file.write_text("userId,movieId,rating,timestamp\\n1,7,4.5,0\\n1,9,2.0,0\\n")
    >>> _ = file.with_name("movies.csv").write_text("movieId,title,genres\\n7,Seven,\\n")
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always", rai.movielens.MovieLensWarning)
    ...     rai.movielens.load(file, top=1).names
    ('Seven',)
    >>> told[0].category is rai.movielens.MovieLensWarning
    True
    """


@dataclass(frozen=True)
class File:
    """A file of a download.

    Attributes
    ----------
    name : str
        What messages call it.
    folder : str
        The folder that it lies in, or that of an archive.
    open : callable
        Opens it, still packed.
    archive : str
        The path of the archive that it is in, or "".
    head : bytes
        How it begins, unpacked.
    flaw : MovieLensError or None
        Why it cannot be read.
    """

    name: str
    folder: str
    open: Callable[[], IO[bytes]]
    archive: str = ""
    head: bytes = b""
    flaw: MovieLensError | None = None

    @property
    def base(self) -> str:
        """Its name alone, in small letters, as it would be unpacked."""
        return re.split(r"[/\\:]", self.name)[-1].lower().removesuffix(".gz")

    def blocks(self, most: int, size: int = _BLOCK) -> Generator[bytes, None, None]:
        """Yield the content, unpacked, in blocks of `size` bytes; refuse it from byte number `most`
        on."""
        total = 0
        with ExitStack() as stack:
            stream = self._tried(partial(self._unpacked, stack))
            while block := self._tried(lambda: stream.read(size)):
                total += len(block)
                if total > most:
                    raise MovieLensError(
                        "path",
                        f"{self.name} holds more than {most:,} bytes, unpacked, where the largest "
                        f"file of its kind in MovieLens holds less than a quarter of that; {DOWNLOAD}",
                    )
                yield block

    def lines(self, most: int) -> Iterator[tuple[int, bytes]]:
        """Yield the number of a line and as many whole lines from there on as a block holds, each
        with a line feed at its end alone.

        What ends them all, carriage returns before line feeds and a byte order mark are left out,
        as are empty lines at the file's end.
        """
        number, ready, rest, began = 1, b"", b"", False
        for block in self.blocks(most):
            rest += block if began else block.removeprefix(BYTE_ORDER_MARK)
            began = True
            if ready:
                yield number, ready
                number += ready.count(b"\n")
            # Empty lines are kept back: only what follows tells whether they are at the end.
            cut = rest.rstrip(b"\r\n").rfind(b"\n") + 1
            ready, rest = rest[:cut].replace(b"\r\n", b"\n"), rest[cut:]
            if len(rest) > _LONGEST_LINE:
                line = number + ready.count(b"\n")
                raise MovieLensError(
                    "path",
                    f"{self.name}, line {line:,}, with the empty lines after it, is longer than a "
                    f"megabyte; {DOWNLOAD}",
                )
        last = rest.rstrip(b"\r\n").replace(b"\r\n", b"\n")
        if ready or last:
            yield number, ready + last + b"\n" * bool(last)

    def looked_at(self) -> File:
        """Return the file with its head, or with the reason why there is none."""
        head, flaw = b"", None
        try:
            with closing(self.blocks(HEAD, HEAD)) as blocks:
                head = next(blocks, b"")
        except MovieLensError as error:
            flaw = error
        return File(self.name, self.folder, self.open, self.archive, head, flaw)

    def _unpacked(self, stack: ExitStack) -> IO[bytes]:
        raw: Any = stack.enter_context(self.open())
        if raw.peek(len(_GZIP))[: len(_GZIP)] != _GZIP:
            return cast(IO[bytes], raw)  # no type of files has both peek and read
        return cast(IO[bytes], stack.enter_context(gzip.GzipFile(fileobj=raw)))

    def _tried(self, call: Callable[[], Got]) -> Got:
        """Return what a call of the standard library gives; what archives and decoders raise is a
        matter of which byte is wrong."""
        try:
            return call()
        except Exception as error:
            raise _fault(
                self.archive or self.name,
                error,
                self.name.removeprefix(f"{self.archive}:") if self.archive else "",
            ) from None


def _fault(name: str, error: Exception, member: str = "") -> MovieLensError:
    """Return what opening or reading a file, or a member of an archive, has met."""
    words = str(error) or "it ends early"
    if isinstance(error, NotImplementedError):
        return MovieLensError(
            "path",
            f"{name} is packed in a way that Python cannot unpack "
            f"({words}{member and f' in {member}'}); unpack it with another program and give the folder",
        )
    if isinstance(error, RuntimeError) and "password" in words:
        return MovieLensError(
            "path", f"{name} is encrypted; unpack it with its password and give the folder"
        )
    if isinstance(error, OSError) and error.errno is not None:
        return MovieLensError(
            "path",
            f"{name} cannot be read: {error.strerror or error}; {remedy_of(error) or DOWNLOAD}",
        )
    if member:
        return MovieLensError(
            "path", f"{name} is a damaged zip archive ({words} in {member}); download it again"
        )
    if isinstance(error, (EOFError, zlib.error, gzip.BadGzipFile)):
        return MovieLensError("path", f"{name} is a damaged gzip file ({words}); download it again")
    return MovieLensError("path", f"{name} cannot be read: {words}; {DOWNLOAD}")


@contextmanager
def files_of(path: Path) -> Iterator[tuple[Sequence[File], bool]]:
    """Give the files of a folder or of an archive, or the file and those beside it, and whether the
    first is the one that was named."""
    if os.path.isdir(path):
        yield [_on_disk(file).looked_at() for file in _listed(path)], False
        return
    named = file_at(path)
    if not named.head.startswith(b"PK"):
        yield [named, *(_on_disk(file).looked_at() for file in _beside(path))], True
        return
    with ExitStack() as stack:
        try:
            archive = stack.enter_context(zipfile.ZipFile(path))
        except zipfile.BadZipFile:
            raise MovieLensError(
                "path", f"{path} is a damaged zip archive; download it again"
            ) from None
        except Exception as error:  # as of members
            raise _fault(str(path), error, "its list of files") from None
        yield [_member(archive, info, path).looked_at() for info in _members(archive, path)], False


def file_at(path: Path) -> File:
    """Return a file that is to be read whatever its name."""
    # a pipe gives its content once, a device may never end
    if os.path.exists(path) and not os.path.isfile(path):
        if os.path.isdir(path):
            raise MovieLensError("path", f"{path} is a folder; name the file in it that is meant")
        raise MovieLensError("path", f"{path} is neither a file nor a folder; {DOWNLOAD}")
    file = _on_disk(path).looked_at()
    if file.flaw is not None:
        raise file.flaw
    return file


def _on_disk(path: Path) -> File:
    return File(str(path), str(path.parent), lambda: open(path, "rb"))


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> File:
    folder = re.split(r"[/\\][^/\\]*$", f"/{info.filename}")[0]
    return File(f"{path}:{info.filename}", folder, lambda: archive.open(info), str(path))


def _beside(path: Path) -> list[Path]:
    """Return the files beside one that may hold its titles."""
    try:
        return sorted(
            file
            for file in path.parent.iterdir()
            if file != path and file.suffix.lower() in _TITLES_END and os.path.isfile(file)
        )
    except OSError as error:
        raise _fault(str(path.parent), error) from None


def _listed(folder: Path) -> list[Path]:
    """Return the files in a folder and in those below, but for hidden ones."""

    def fail(error: OSError) -> None:
        raise _fault(str(error.filename), error)

    found: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [
            Path(place, name)
            for name in names
            if not name.startswith(".") and os.path.isfile(os.path.join(place, name))
        ]
        if len(found) > _MOST_FILES:
            raise MovieLensError(
                "path",
                f"{folder} holds more than {_MOST_FILES} files; name the file of ratings, or the "
                "folder that it lies in",
            )
    return sorted(found)


def _members(archive: zipfile.ZipFile, path: Path) -> list[zipfile.ZipInfo]:
    """Return the files of an archive, but for hidden ones, which include those that macOS adds, and
    for those whose names damage has emptied."""
    found = [
        info
        for info in archive.infolist()
        # is_dir() fails where there is no name
        if info.filename[-1:] not in ("", "/")
        and not re.search(r"(^|[/\\])(\.|__MACOSX[/\\])", info.filename)
    ]
    if len(found) > _MOST_FILES:
        raise MovieLensError(
            "path",
            f"{path} holds more than {_MOST_FILES} files; unpack it and name the file of ratings",
        )
    return found
