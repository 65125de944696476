"""The folder in which a study's results live: append-only Parquet parts, each named by the SHA-256
of its bytes.

A part is written to a temporary name, flushed to the disk and renamed, under a lock that the system
releases when its holder dies. So what has a part's name is whole, or was damaged later, which the
name tells. Files ending in .parquet that are no parts are set aside: renamed when the store is open
for writing, passed over otherwise, with a warning either way, and never read or deleted.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import os
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from rai_sim.simulation.arm_pulls import BY_REPLICATION, SUMMED
from rai_sim.study.schemas import (
    ARM_PULLS,
    AT_CAP,
    KEEPS,
    SCHEMAS,
    as_written,
    filled,
    keeps_arm_pulls,
    schema_of,
)
from rai_sim.support.files import MARKER, TEMPORARY, remedy_of, write_atomically

#: Version of the layout, in the marker and in every part.
FORMAT = 1
_READ_LATER = ("representatives", "recommended", BY_REPLICATION, SUMMED)
_PART = re.compile(rf"({'|'.join(SCHEMAS)})-([0-9a-f]{{40}})\.parquet")
#: Seconds between two looks whether another process still has the lock.
_PATIENCE = 0.005
_ASIDE = ".set-aside"
_NEWER = "it was written by a newer version of rai_sim"


class StoreError(OSError):
    """The store cannot be used; the message names the folder, the reason and the remedy.

    Examples
    --------
    >>> import rai_sim as rai
    >>> rai.open_study("no-such-folder")
    Traceback (most recent call last):
    ...
    rai_sim.study.store.StoreError: store no-such-folder is no study's folder: it has no rai-sim-store.json; ...
    """


class StoreWarning(UserWarning):
    """A file of the store was set aside, or passed over.

    Examples
    --------
    >>> import tempfile, warnings
    >>> import rai_sim as rai
    >>> study = rai.Study.grid([rai.table_problem()], [rai.Butterscotch()], [0.1], replications=5)
    >>> folder = study.run(tempfile.mkdtemp()).folder
    >>> for file in folder.glob("replications-*.parquet"):
    ...     _ = file.write_bytes(file.read_bytes()[:-9])  # a disk that fails
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always", rai.StoreWarning)
    ...     rai.open_study(folder).progress()
    (0, 0)
    >>> told[0].category is rai.StoreWarning
    True
    """


class Part(NamedTuple):
    """A part read from the store."""

    kind: str
    path: Path
    frame: pl.DataFrame


class Store:
    """An open store.

    Parameters
    ----------
    folder : path
        The folder.
    keep : {"replications", "aggregates", "arm_pulls", "arm_pulls_sum"} or None
        What to keep, if the store is to be written to; it is created where there is none. With None
        it is opened for reading alone.
    heed : callable, optional
        Called between parts that are read, and while another process has the lock; it may raise to
        end that.

    Raises
    ------
    StoreError
        If there is no store to read, the folder cannot be written to, holds something else, or
        keeps something else.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        keep: str | None = None,
        heed: Callable[[], None] = lambda: None,
    ) -> None:
        """Open the folder."""
        self.folder = Path(folder)
        self.heed = heed
        self.writable = keep is not None
        self._seen: set[str] = set()  # names that have been looked at, whole or not
        # columns of whole parts, by name
        self._whole: dict[str, frozenset[str]] = {}
        self._lock: int | None = None
        # a backend's threads may ask for work while the main one writes
        self._thread = threading.RLock()
        self._refuse_file()
        if keep is not None:
            self._create(keep)
        self.keep = self._read_marker()
        if keep not in (None, self.keep):
            raise StoreError(
                f"store {self.folder} keeps {self.keep} but {keep} are to be kept; "
                f"take another folder, or keep = {self.keep!r}"
            )

    @property
    def kind(self) -> str:
        """The kind of parts with results: replications or aggregates."""
        return KEEPS[self.keep]

    @property
    def keeps_arm_pulls(self) -> bool:
        """Whether the pulls of each arm are kept."""
        return keeps_arm_pulls(self.keep)

    def schema(self, kind: str) -> dict[str, Any]:
        """Return the columns of a kind of parts."""
        return schema_of(kind, self.keep)

    def _create(self, keep: str) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            strangers = self._visible()
        except OSError as error:
            raise self.cannot("be made", error) from error
        if strangers and MARKER not in strangers:
            raise StoreError(
                f"store {self.folder} is a folder that holds {strangers[0]} but no {MARKER}; "
                "name a new or an empty folder for the study's results"
            )
        if not strangers:
            with self.locked():
                if MARKER not in self._visible():  # of two first runs one writes it
                    self.write_json(
                        MARKER, {"format": "rai_sim study store", "version": FORMAT, "keep": keep}
                    )

    def _visible(self) -> list[str]:
        return sorted(name for name in os.listdir(self.folder) if not name.startswith("."))

    def _read_marker(self) -> str:
        path = self.folder / MARKER
        try:
            marker = json.loads(path.read_text(encoding="utf-8"))
            version, keep = marker["version"], marker["keep"]
        except FileNotFoundError:
            raise StoreError(
                f"store {self.folder} is no study's folder: it has no {MARKER}; "
                "name the folder that a study was run into"
            ) from None
        except OSError as error:
            raise self.cannot("be read", error) from error
        except (ValueError, TypeError, KeyError, RecursionError):
            raise StoreError(
                f"store {self.folder} has a damaged {MARKER}; restore it from a copy, or move it away "
                "and the parts into a new study's folder"
            ) from None
        if version != FORMAT or not isinstance(keep, str) or keep not in KEEPS:
            raise StoreError(
                f"store {self.folder} has format {version}, keeping {keep}; this version of "
                f"rai_sim reads format {FORMAT}: "
                "use the version that wrote it"
            )
        return str(keep)

    def cannot(self, what: str, error: OSError) -> StoreError:
        """Return the error that says what the store cannot, and the remedy."""
        if self._whole and not self.folder.is_dir():
            return StoreError(
                f"store {self.folder} was removed, renamed or replaced while it was in use, and "
                f"cannot {what}; "
                "put the folder back, then run the same again"
            )
        return StoreError(
            f"store {self.folder} cannot {what}: {error.strerror or error}; "
            f"{remedy_of(error) or 'mend that'}, then run the same again: finished parts are kept"
        )

    def _refuse_file(self) -> None:
        # not by Path, which raises for names that are too long
        if os.path.exists(self.folder) and not os.path.isdir(self.folder):
            raise StoreError(
                f"store {self.folder} is a file; name a folder for the study's results"
            )

    # Reading
    # ----------------------------------------------------------------------------------------------

    def new_parts(self) -> Iterator[Part]:
        """Yield whole parts that were not yielded before, in the order of their names; set other
        Parquet files aside."""
        try:
            names = sorted(set(os.listdir(self.folder)) - self._seen)
        except OSError as error:
            raise self.cannot("be read", error) from error
        for name in names:
            self.heed()
            # Who holds the lock knows that nobody is writing: a temporary file is what a process
            # that died has left.
            if not (
                name.endswith(".parquet") or (self._lock is not None and name.endswith(TEMPORARY))
            ):
                continue
            try:
                frame, flaw = self._read(name)
            except FileNotFoundError:
                continue  # another process has set it aside
            self._seen.add(name)
            if frame is None:
                self._set_aside(name, flaw)
            else:
                yield Part(name.partition("-")[0], self.folder / name, frame)

    def _read(self, name: str) -> tuple[pl.DataFrame | None, str]:
        """Return a part, or None and what is wrong with it."""
        match = _PART.fullmatch(name)
        if name.endswith(TEMPORARY):
            return None, "it was not finished by the process that wrote it"
        if match is None:
            return None, "it was not written by a study"
        try:
            data = (self.folder / name).read_bytes()
        except FileNotFoundError:
            raise
        except OSError as error:
            raise self.cannot(f"be read ({name})", error) from error
        kind, digest = match.groups()
        if hashlib.sha256(data).hexdigest()[: len(digest)] != digest:
            return None, "it is torn or was changed: its content does not match its name"
        if kind in ARM_PULLS and kind != self.kind:
            return None, f"it belongs to a store that keeps {kind}"
        schema, may_lack = self.schema(kind), AT_CAP.get(kind, {})
        at_once = {name: of for name, of in schema.items() if name not in _READ_LATER}
        try:
            found = pl.read_parquet_schema(io.BytesIO(data))
            about = self.about(io.BytesIO(data))
            if self._is_newer(about):
                return None, f"{_NEWER}, {about.get('rai_sim', 'unknown')}; use that to read it"
            # columns that a later version has added are not read
            if all(
                found.get(key, of if key in may_lack else None) == of for key, of in schema.items()
            ):
                self._whole[name] = frozenset(found)
                there = [key for key in at_once if key in found]
                frame = pl.read_parquet(io.BytesIO(data), columns=there)
                return filled(frame, there, at_once), ""
        except (pl.exceptions.PolarsError, OSError):
            pass
        return None, "it has other columns than this version writes"

    def about(self, part: Path | io.BytesIO) -> dict[str, Any]:
        """Return what a part says of how it was made; nothing if it does not."""
        try:
            # polars takes names of files for patterns
            file = io.BytesIO(part.read_bytes()) if isinstance(part, Path) else part
            about = json.loads(pl.read_parquet_metadata(file)["rai_sim"])
        except (pl.exceptions.PolarsError, OSError, ValueError, KeyError):
            return {}
        return about if isinstance(about, dict) else {}

    @staticmethod
    def _is_newer(about: dict[str, Any]) -> bool:
        version = about.get("format")
        return isinstance(version, int) and version > FORMAT

    def _set_aside(self, name: str, flaw: str) -> None:
        done = "is passed over"
        if self.writable and not flaw.startswith(_NEWER):
            new = name + _ASIDE
            while (self.folder / new).exists():
                new += "+"
            try:
                os.rename(self.folder / name, self.folder / new)
                done = f"is set aside as {new}"
            except OSError:
                pass  # it is passed over all the same
        warnings.warn(f"{self.folder / name} {done}: {flaw}", StoreWarning, stacklevel=2)

    def paths(self, kind: str) -> list[Path]:
        """Return the parts of a kind that have been read or written, in the order of their names.

        Raises
        ------
        StoreError
            If one is gone.
        """
        found = [self.folder / name for name in sorted(self._whole) if name.startswith(f"{kind}-")]
        gone = next((path for path in found if not path.exists()), None)
        if gone is not None:
            raise StoreError(
                f"store {self.folder} had a part {gone.name} when it was opened, which is gone; "
                "put it back, or open the store again"
            )
        return found

    def scan(self, kind: str) -> pl.LazyFrame:
        """Return the rows of the parts of a kind that have been read or written, those with the same
        columns in the order of their names.

        Polars takes what it is given for a pattern, a home folder or a partition, unless it is told
        not to: a folder may be called gaps[1].
        """
        schema = self.schema(kind)
        alike: dict[frozenset[str], list[Path]] = {}
        for part in self.paths(kind):
            alike.setdefault(self._whole[part.name], []).append(part)
        frames = [
            filled(self._scan(parts), columns, schema) for columns, parts in alike.items()
        ] or [pl.LazyFrame(schema=schema)]
        return frames[0] if len(frames) == 1 else pl.concat(frames)

    @staticmethod
    def _scan(parts: Sequence[Path]) -> pl.LazyFrame:
        paths = [os.path.abspath(part) for part in parts]
        # polars opens no name that is not in UTF-8
        nameless = re.search("[\ud800-\udfff]", paths[0]) is not None
        sources = [part.read_bytes() for part in parts] if nameless else paths
        return pl.scan_parquet(sources, glob=False, hive_partitioning=False)

    # Writing
    # ----------------------------------------------------------------------------------------------

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes of this machine, and other threads, from writing; the system lets go
        when this one dies. May be nested."""
        with self._thread:
            # a system without: then rows may be written twice, and are read once
            if importlib.util.find_spec("fcntl") is None or self._lock is not None:
                yield
                return
            try:
                handle = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
            except OSError as error:
                raise self.cannot("be written to", error) from error
            try:
                if self._take(handle):
                    self._lock = handle
                yield
            finally:
                self._lock = None
                os.close(handle)

    def _take(self, handle: int) -> bool:
        """Wait for the lock; return False on a network folder without locks."""
        import fcntl

        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            # another process is writing; asking again, not waiting, lets Ctrl-C end it
            except BlockingIOError:
                self.heed()
                time.sleep(_PATIENCE)
            except OSError:
                return False

    def write(self, kind: str, frame: pl.DataFrame, about: dict[str, str]) -> None:
        """Write a part, unless it is there already; `about` goes into the file's metadata."""
        memory, frame = io.BytesIO(), as_written(kind, frame)
        frame.write_parquet(memory, metadata={"rai_sim": json.dumps({"format": FORMAT, **about})})
        data = memory.getvalue()
        name = f"{kind}-{hashlib.sha256(data).hexdigest()[:40]}.parquet"
        self._write_bytes(name, data)
        self._seen.add(name)
        self._whole[name] = frozenset(frame.columns)

    def write_json(self, name: str, record: dict[str, Any]) -> None:
        """Write a JSON file, in place of an old one of that name."""
        self._write_bytes(name, (json.dumps(record, indent=2, allow_nan=False) + "\n").encode())

    def _write_bytes(self, name: str, data: bytes) -> None:
        try:
            with self.locked():
                write_atomically(self.folder / name, lambda file: file.write(data))
        except StoreError:
            raise
        except OSError as error:
            raise self.cannot(f"be written to ({name})", error) from error
