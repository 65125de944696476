"""The kernels' disk cache: damage, full disks, foreign files and company cost time, never a result
or a run."""

import errno
import hashlib
import os
import pickle
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
import pytest
from command_line import ROOT, TESTS
from disks import small_disk
from numba.core import caching, config
from numba.core.codegen import CPUCodegen
from tiny_kernels import NAME, RIGHT, SOURCE, begin, files, fresh, values

from rai_sim.engine import kernel_cache
from rai_sim.engine.jit import driver


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the folder in which tests have the module, and a copy of it with both kernels in the
    cache: files in a cache know the place and the time of their source."""
    place = tmp_path_factory.mktemp("kernels")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "CACHE_DIR", "")
        patch.setitem(sys.modules, NAME, sys)
        begin(place)
        assert values(fresh(place)) == (RIGHT, 0)
        assert values(fresh(place)) == (RIGHT, 2)
    copy = place.with_name(f"{place.name}-copy")
    shutil.copytree(place, copy)
    return place, copy


@pytest.fixture
def folder(compiled: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the module and its two kernels in a cache."""
    place, copy = compiled
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setattr(kernel_cache, "_warned", set())
    monkeypatch.setitem(sys.modules, NAME, sys)
    shutil.rmtree(place)
    shutil.copytree(copy, place)
    begin(place)
    assert values(fresh(place)) == (RIGHT, 2)
    return place


def warned(folder: Path, match: str) -> tuple[tuple[float, float], int]:
    """Use the kernels as a new process, which must warn exactly once."""
    with pytest.warns(RuntimeWarning, match=match) as caught:
        found = values(fresh(folder))
    assert len(caught) == 1
    return found


def flipped(at: int) -> Callable[[Path], object]:
    """Return a damage: one bit of one byte."""

    def flip(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[at] ^= 4
        path.write_bytes(data)

    return flip


def rewritten(body: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    """Return what another program could have written: another pickle, whose checksum holds."""

    def write(path: Path) -> None:
        words, pickled = kernel_cache._checked(path.read_bytes(), path)
        rest = len(words).to_bytes(8, "big") + words + body(bytes(pickled))
        path.write_bytes(kernel_cache._MAGIC + hashlib.sha256(rest).digest() + rest)

    return write


def in_place(make: Callable[[Path], object]) -> Callable[[Path], object]:
    """Return a damage: something else in the file's place."""

    def put(path: Path) -> None:
        path.unlink()
        make(path)

    return put


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (lambda path: path.write_bytes(b""), "is no kernel's file, it is empty"),
    "a byte": (lambda path: path.write_bytes(b"r"), "is no kernel's file"),
    "cut at the checksum": (lambda path: os.truncate(path, 30), "its checksum does not hold"),
    "cut in half": (
        lambda path: os.truncate(path, path.stat().st_size // 2),
        "its checksum does not hold",
    ),
    "cut by a byte": (
        lambda path: os.truncate(path, path.stat().st_size - 1),
        "its checksum does not hold",
    ),
    "zeroed": (lambda path: path.write_bytes(b"\0" * path.stat().st_size), "is no kernel's file"),
    "garbage": (lambda path: path.write_bytes(bytes(range(256)) * 40), "is no kernel's file"),
    "numba's own": (
        lambda path: path.write_bytes(pickle.dumps(numba.__version__) + pickle.dumps({})),
        "is no kernel's file",
    ),
    "a bit of the beginning": (flipped(3), "is no kernel's file"),
    "a bit of the checksum": (flipped(20), "its checksum does not hold"),
    "a bit of the length": (flipped(50), "its checksum does not hold"),
    "a bit of machine code": (flipped(4000), "its checksum does not hold"),
    "a bit at the end": (flipped(-1), "its checksum does not hold"),
    "a torn pickle": (rewritten(lambda body: body[:-9]), "UnpicklingError|EOFError"),
    "no pickle": (rewritten(lambda _: b""), "EOFError"),
    "a class that is gone": (
        rewritten(lambda _: b"c%s\nGone\n." % NAME.encode()),
        "AttributeError",
    ),
    "a module that is gone": (
        rewritten(lambda _: b"cno_such_module\nGone\n."),
        "ModuleNotFoundError",
    ),
    "not a kernel": (
        rewritten(lambda body: pickle.dumps((pickle.loads(body)[0], ("what", "else")))),
        "TypeError|ValueError",
    ),
    "a folder": (in_place(Path.mkdir), "is no file"),
    "a full folder": (in_place(lambda path: (path / "more").mkdir(parents=True)), "is no file"),
    "a pipe": (in_place(os.mkfifo), "is no file"),
    "a link to nowhere": (in_place(lambda path: path.symlink_to("nowhere/at/all")), "is no file"),
    "a link to itself": (in_place(lambda path: path.symlink_to(path)), "is no file"),
    "a device": (in_place(lambda path: path.symlink_to("/dev/zero")), "is no file"),
}


@pytest.mark.landing
@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_told_once_and_mended(name: str, folder: Path) -> None:
    """Both kernels damaged alike: the right numbers, one warning that says what and the remedy, and
    the next process has them again."""
    damage, match = DAMAGES[name]
    for path in files(folder):
        damage(path)
    said = rf"compiled kernel in .* cannot be used \(.*({match}).*compiled again.*delete that folder or set NUMBA_CACHE_DIR"
    assert warned(folder, said) == (RIGHT, 0)
    assert values(fresh(folder)) == (RIGHT, 2)


@pytest.mark.slow
def test_whatever_is_damaged(tmp_path: Path) -> None:
    """Random damage of every kind, many times, in a process that machine code gone wrong would
    end."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([ROOT, str(TESTS)]))
    worker = [sys.executable, str(TESTS / "cache_worker.py"), str(tmp_path)]
    done = subprocess.run(worker, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


def test_files_in_each_others_place_are_not_used(folder: Path) -> None:
    """Each says for which signature it is; both are written anew."""
    one, two = files(folder)
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    assert values(fresh(folder)) == (RIGHT, 0)
    assert values(fresh(folder)) == (RIGHT, 2)


def other_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the cache believe that this is another processor."""
    monkeypatch.setattr(CPUCodegen, "magic_tuple", lambda _: ("triple", "another", ""))


@pytest.mark.parametrize(
    "foreign",
    [
        other_processor,
        lambda patch: patch.setattr(numba, "__version__", "0.0.1"),
        lambda patch: patch.setattr(llvmlite, "__version__", "0.0.1"),
        lambda patch: patch.setattr(config, "BOUNDSCHECK", 1),
    ],
    ids=["processor", "numba", "llvmlite", "bounds"],
)
def test_kernels_of_another_kind_live_side_by_side(
    folder: Path, foreign: Callable[[pytest.MonkeyPatch], None]
) -> None:
    """A home shared by machines: neither uses the other's, nor drives it out, and nothing is
    said."""
    with pytest.MonkeyPatch.context() as patch:
        foreign(patch)
        assert values(fresh(folder)) == (RIGHT, 0)
        assert values(fresh(folder)) == (RIGHT, 2)
    assert values(fresh(folder)) == (RIGHT, 2)
    assert len(files(folder)) == 4


def test_other_sources_are_other_kernels(folder: Path) -> None:
    """The outdated file is replaced without a word."""
    begin(folder, SOURCE.replace("+ line.offset", "- line.offset"))
    assert values(fresh(folder)) == ((7.5, 7.5), 0)
    assert values(fresh(folder)) == ((7.5, 7.5), 2)
    assert len(files(folder)) == 2


def test_laws_of_one_name_do_not_share_a_kernel(folder: Path) -> None:
    """Numba's words for a NamedTuple are its bare name and its types; here the fields stand the
    other way round."""
    other = "other_kernels_of_a_test"
    (folder / f"{other}.py").write_text(
        "from typing import NamedTuple\nclass Line(NamedTuple):\n    offset: float\n    slope: "
        "float\n"
    )
    module, second = fresh(folder), fresh(folder, other)
    assert module.at(second.Line(0.5, 2.0), 4.0) == 8.5
    module = fresh(folder)
    assert values(module) == (RIGHT, 2)
    assert module.at(second.Line(0.5, 2.0), 4.0) == 8.5
    assert sum(module.at.stats.cache_hits.values()) == 3
    del sys.modules[other]


def no_room(*_: object) -> None:
    """Fail as a full disk does."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_costs_no_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two kernels are not kept, one warning says so; nothing is left behind, and with room they are
    kept again."""
    for path in files(folder):
        path.unlink()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_room)
        found = warned(
            folder,
            r"not kept in .* \(No space left on device\); every process compiles anew\. Free "
            r"space .*NUMBA_CACHE_DIR",
        )
        assert found == (RIGHT, 0)
    assert [path for path in (folder / "cache").rglob("*") if path.is_file()] == []
    assert values(fresh(folder)) == (RIGHT, 0)
    assert values(fresh(folder)) == (RIGHT, 2)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Return a file system of 8 KiB, where one can be mounted."""
    with small_disk(tmp_path / "cache", 8) as place:
        yield place


def test_a_really_full_and_a_read_only_disk(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same on file systems that are full or read-only; a read-only one that has the kernels is
    read."""

    def remount(options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", str(disk)], check=True)

    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setattr(kernel_cache, "_warned", set())
    monkeypatch.setitem(sys.modules, NAME, sys)
    begin(tmp_path)
    assert warned(tmp_path, r"not kept in .* \(No space left on device\)") == (RIGHT, 0)
    assert files(tmp_path) == []
    remount("size=1m")
    module = fresh(tmp_path)
    remount("ro")
    with pytest.warns(RuntimeWarning, match=r"not kept in .* \(Read-only file system\)") as caught:
        assert values(module) == (RIGHT, 0)
    assert len(caught) == 1
    remount("rw")
    assert values(fresh(tmp_path)) == (RIGHT, 0)
    module = fresh(tmp_path)
    remount("ro")
    assert values(module) == (RIGHT, 2)


def test_without_any_folder_one_warning_for_all_kernels(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numba finds no place: it works, each process compiling for itself."""
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    with pytest.warns(
        RuntimeWarning,
        match=r"not kept on disk \(cannot cache function .*Set NUMBA_CACHE_DIR to a writable f",
    ) as caught:
        module = fresh(folder)
    assert len(caught) == 1
    driver(lambda x: x)  # a second warning would be an error
    assert values(module) == (RIGHT, 0)


def test_a_numba_whose_cache_is_built_otherwise(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version to come: everything works, uncached, with a warning instead of an exception."""
    monkeypatch.setattr(
        caching.CompileResultCacheImpl, "filename_base", property(lambda impl: impl.no_such_thing)
    )
    with pytest.warns(RuntimeWarning, match="not kept on disk"):
        module = fresh(folder)
    assert values(module) == (RIGHT, 0)


def test_a_folder_that_vanishes_is_made_again(folder: Path) -> None:
    """Between the start of a process and the end of its compilation."""
    module = fresh(folder)
    shutil.rmtree(folder / "cache")
    assert values(module) == (RIGHT, 0)
    assert values(fresh(folder)) == (RIGHT, 2)


def test_an_interrupt_while_a_kernel_is_saved_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C is not taken for a damaged cache."""

    def strike(_: int) -> None:
        raise KeyboardInterrupt

    for path in files(folder):
        path.unlink()
    module = fresh(folder)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", strike)
        with pytest.raises(KeyboardInterrupt):
            values(module)
    assert [path for path in (folder / "cache").rglob("*") if path.is_file()] == []


def test_recompiling_forgets_what_is_on_disk(folder: Path) -> None:
    """Of this function alone."""
    stranger = files(folder)[0].with_name("at.another.nbc")
    stranger.write_bytes(b"")
    module: Any = fresh(folder)
    values(module)
    before = {path: path.stat().st_mtime_ns for path in files(folder)}
    module.at.recompile()
    assert values(module)[0] == RIGHT
    assert all(
        (path == stranger) == (path.stat().st_mtime_ns == time) for path, time in before.items()
    )


_COMPANY = """
import sys, pathlib
from tiny_kernels import begin, fresh, values
folder = pathlib.Path(sys.argv[1])
begin(folder)
module = fresh(folder)
print("ready", flush=True)
sys.stdin.readline()
print(values(module)[0])
"""


@pytest.mark.slow
def test_processes_that_compile_at_once_do_not_disturb_each_other(folder: Path) -> None:
    """Three start together on an empty folder; all are right and silent, and the next finds both
    kernels."""
    for path in files(folder):
        path.unlink()
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([ROOT, str(TESTS)]))
    command = [sys.executable, "-c", _COMPANY, str(folder)]
    company = [
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for _ in range(3)
    ]
    for one in company:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in company:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    for one in company:
        assert one.communicate() == (f"{RIGHT}\n", "")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert values(fresh(folder)) == (RIGHT, 2)
    assert len(files(folder)) == 2
