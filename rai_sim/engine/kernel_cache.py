"""Compiled kernels on disk: a file for every kernel and signature, whose checksum holds before
anything in it is believed.

Numba's own cache takes what it finds: a torn index or machine code (power cut, full disk) ends
every later run with an exception of the unpickler, flipped bits are executed, and two processes
that save at once may leave an index that gives one signature the code of another. Here there is no
index. A file is found by a digest of what its machine code depends on, says so in words of its own,
and is written atomically; bytes that do not match the checksum are neither unpickled nor run.
Whatever goes wrong while loading or saving, the kernel is compiled, one warning a process says what
is wrong and what to do, and the file is written anew.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba import types
from numba.core import config
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

from rai_sim.engine.kernel_lock import alone
from rai_sim.support.files import write_atomically

_MAGIC = b"rai_sim kernel 1\n"
_DIGEST = hashlib.sha256().digest_size
_LENGTH = 8
#: Numba's settings that change machine code; its own cache ignores them.
_SETTINGS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "OPT", "SLP_VECTORIZE")
#: What was warned of already, "load" or "save".
_warned: set[str] = set()


class Damaged(ValueError):
    """A file of the cache is not what was written."""


def warn_once(about: str, sentence: str) -> None:
    """Warn of a trouble, "load" or "save", unless this process has warned of such a one: every
    kernel would have the same."""
    if about not in _warned:
        _warned.add(about)
        warnings.warn(sentence, RuntimeWarning, stacklevel=3)


class KernelCache(FunctionCache):  # type: ignore[misc]  # numba is untyped
    """A function's machine code on disk, in place of Numba's cache: `dispatcher._cache =
    KernelCache(dispatcher.py_func)`.

    Parameters
    ----------
    function : callable
        The Python function; its qualified name and its file's place say which files are its own.

    Raises
    ------
    RuntimeError
        If there is no folder that can be written to.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        """Find the folder."""
        super().__init__(function)
        self._cache_file = KernelFiles(
            Path(self.cache_path), self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def unless_kept(
        self, sig: Any, target_context: Any, waiting: Callable[[], AbstractContextManager[object]]
    ) -> AbstractContextManager[None]:
        """Return a context in which no other process compiles for a signature, but where there is a
        file for it already (see `rai_sim.engine.kernel_lock`)."""
        path = self._cache_file.path(self._index_key(sig, target_context.codegen()))
        if os.path.lexists(path):
            return nullcontext()
        with suppress(OSError):  # whatever is wrong with the folder is said when a file is saved
            self._impl.locator.ensure_cache_path()
        return alone(path, waiting)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function for a signature, or None, also where what is on disk cannot
        be used."""
        try:
            return super().load_overload(sig, target_context)
        except MemoryError:
            raise
        except Exception as error:
            warn_once(
                "load",
                f"a compiled kernel in {self.cache_path} cannot be used ({_in_words(error)}); it "
                "is compiled again and written anew. "
                "If this is said again and again, delete that folder or set NUMBA_CACHE_DIR to "
                "another one.",
            )
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function, if that can be done."""
        try:
            super().save_overload(sig, data)
        except MemoryError:
            raise
        except Exception as error:
            warn_once(
                "save",
                f"compiled kernels are not kept in {self.cache_path} ({_in_words(error)}); every "
                "process compiles anew. "
                "Free space or change permissions there, or set NUMBA_CACHE_DIR to a writable "
                "folder.",
            )


class KernelFiles:
    """The files of one function in a folder: what Numba's `Cache` asks of an index and its data
    files.

    Parameters
    ----------
    folder : Path
        The folder.
    base : str
        How the names of the function's files begin.
    source_stamp : object
        Numba's stamp of the function's source file; a file with another one is outdated.
    """

    def __init__(self, folder: Path, base: str, source_stamp: object) -> None:
        """Nothing is read yet."""
        self._folder, self._base, self._stamp = folder, base, source_stamp

    def path(self, key: Any) -> Path:
        """Return the file of a key (signature, processor, hashes of the function)."""
        return (
            self._folder
            / f"{self._base}.{hashlib.sha256(repr(self._place(key)).encode()).hexdigest()[:24]}.nbc"
        )

    def load(self, key: Any) -> Any:
        """Return what was saved for a key; None if there is nothing, or something of another state
        of the sources.

        Raises
        ------
        Damaged
            If the bytes are not those that were written.
        Exception
            If the file cannot be read, or holds what this process cannot unpickle.
        """
        path = self.path(key)
        if _in_the_way(path):  # to read a pipe would be to wait for ever
            raise Damaged(f"{path.name} is no file")
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        words, body = _checked(data, path)
        if words != self._words(key):
            return None
        signature, reduced = pickle.loads(body)
        return reduced if signature == key[0] else None

    def save(self, key: Any, reduced: Any) -> None:
        """Write a file for a key, in place of what is there."""
        path, words, body = self.path(key), self._words(key), dumps((key[0], reduced))
        rest = len(words).to_bytes(_LENGTH, "big") + words + body
        content = _MAGIC + hashlib.sha256(rest).digest() + rest
        if _in_the_way(path):
            os.rename(path, f"{path}.{os.getpid()}.set-aside")
        write_atomically(path, lambda file: file.write(content))

    def flush(self) -> None:
        """Delete the function's files, as Numba does before it compiles anew."""
        for name in os.listdir(self._folder):
            if name.startswith(f"{self._base}.") and name.endswith(".nbc"):
                (self._folder / name).unlink(missing_ok=True)

    def _place(self, key: Any) -> tuple[object, ...]:
        """Return what may differ between files of equal right: each has its own place, and none
        drives another out."""
        signature, processor, _ = key
        settings = tuple(getattr(config, name, None) for name in _SETTINGS)
        return (
            str(signature),
            tuple(_classes(signature)),
            processor,
            numba.__version__,
            llvmlite.__version__,
            settings,
        )

    def _words(self, key: Any) -> bytes:
        """Return all that the machine code depends on."""
        return repr((*self._place(key), key[2], self._stamp)).encode()


def _in_the_way(path: Path) -> bool:
    """Return whether a name is taken by something that can hold no kernel: a folder, a pipe, a link
    to nowhere."""
    return os.path.lexists(path) and not path.is_file()


def _classes(signature: Any) -> Iterator[tuple[object, ...]]:
    """Yield module, name and fields of the NamedTuples in a signature, of which Numba's words give
    the bare name."""
    for one in signature if isinstance(signature, tuple) else getattr(signature, "args", ()):
        if isinstance(one, types.BaseNamedTuple):
            cls = one.instance_class
            yield cls.__module__, cls.__qualname__, cls._fields
        if isinstance(one, types.BaseTuple):
            yield from _classes(tuple(one.types))


def _checked(data: bytes, path: Path) -> tuple[bytes, memoryview]:
    """Return the words and the pickle of a file whose checksum holds."""
    if not data.startswith(_MAGIC):
        raise Damaged(
            f"{path.name} is no kernel's file, "
            f"{'it is empty' if not data else 'or its beginning is damaged'}"
        )
    rest = memoryview(data)[len(_MAGIC) + _DIGEST :]
    if hashlib.sha256(rest).digest() != data[len(_MAGIC) : len(_MAGIC) + _DIGEST]:
        raise Damaged(f"{path.name} is torn or was changed: its checksum does not hold")
    start = _LENGTH + int.from_bytes(rest[:_LENGTH], "big")
    return bytes(rest[_LENGTH:start]), rest[start:]


def _in_words(error: Exception) -> str:
    """Return an exception as a clause; those of the unpickler do not say what they are."""
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return (
        str(words) if isinstance(error, (OSError, Damaged)) else f"{type(error).__name__}: {words}"
    )
