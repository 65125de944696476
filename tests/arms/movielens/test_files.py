"""Files of ratings as they are found in the wild: read exactly as they stand, or refused with a
message that says what to do."""

import gzip
import io
import os
import re
import struct
import tempfile
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ratings import (
    EXPECTED,
    RATINGS,
    TITLES,
    cells,
    cells_or_flaw,
    check,
    csv,
    latest,
)

from rai_sim.arms import movielens
from rai_sim.arms.movielens import MovieLensError, MovieLensWarning, files, reading


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    """A pipe would be waited for, a device may never end."""
    pipe = tmp_path / "ratings.csv"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(
            MovieLensError, match="is neither a file nor a folder; give a MovieLens download"
        ):
            movielens.counts(path)
        with pytest.raises(
            MovieLensError, match="is neither a file nor a folder; give a MovieLens download"
        ):
            movielens.load_means(path)
    with pytest.raises(MovieLensError, match="is a folder; name the file in it that is meant"):
        movielens.load_means(tmp_path)
    with pytest.raises(ValueError, match="which names nothing"):
        movielens.counts("a\0b")
    with pytest.raises(MovieLensError, match="cannot be read: File name too long"):
        movielens.counts("a" * 300)


@pytest.mark.parametrize("size", [7, 40, 101])
def test_blocks_leave_no_trace(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a file is cut into blocks, it is read the same, and lines have the same numbers."""
    monkeypatch.setattr(files.File.blocks, "__defaults__", (size,))
    path = tmp_path / "ratings.csv"
    for end in ("\n", "\r\n"):
        path.write_bytes(b"\xef\xbb\xbf" + (csv() + "\n\n").replace("\n", end).encode())
        assert cells(path, 4) == EXPECTED
        path.write_bytes((csv() + "\n4,10,4.0,1\n").replace("\n", end).encode())
        with pytest.raises(MovieLensError, match="the first is line 10, '': it is empty"):
            movielens.counts(path)


# Names
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sibling"),
    [
        ("ratings[1].csv", "ratings1.csv"),
        ("r*.csv", "rr.csv"),
        ("r?.csv", "r2.csv"),
        ("{a,b}.csv", "a.csv"),
        ("~", "x"),
        ("%41.csv", "A.csv"),
        ("file:r.csv", "r.csv"),
    ],
)
def test_names_are_no_patterns(
    name: str, sibling: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of that name is read, and no other; the same of folders and of tables of means."""
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(csv())
    Path(sibling).write_text(csv(rows=[*RATINGS, (7, 10, 1.0)]))
    assert cells(Path(name), 4) == EXPECTED
    means = "movie_id,ratings,mean\n"
    Path(name).write_text(means + "7,3,0.5\n")
    Path(sibling).write_text(means + "8,3,0.5\n")
    assert movielens.load_means(name).ids == (7,)
    for file, rows in ((name, RATINGS), (sibling, [*RATINGS, (7, 10, 1.0)])):
        Path(file).unlink()
        Path(file).mkdir()
        (Path(file) / "ratings.csv").write_text(csv(rows=rows))
    assert cells(Path(name), 4) == EXPECTED


def test_hidden_files_are_passed_over_and_too_many_are_not_cut_short(tmp_path: Path) -> None:
    """Copies that notebooks and macOS keep are no ratings; where not all files are looked at, none
    is."""
    latest(tmp_path)
    for folder in (".ipynb_checkpoints", ".Trash"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "ratings.csv").write_text(csv())
    check(movielens.load(tmp_path, top=3))
    for number in range(500):
        (tmp_path / f"a{number}").touch()
    with pytest.raises(
        MovieLensError,
        match="holds more than 500 files; name the file of ratings, or the folder that it lies in",
    ):
        movielens.load(tmp_path, top=3)
    check(movielens.load(tmp_path / "ratings.csv", top=3))


# Archives
# --------------------------------------------------------------------------------------------------


def packed_set(method: int = zipfile.ZIP_DEFLATED, movies: bytes | None = None) -> bytes:
    """Return an archive of ratings and titles."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        archive.writestr("ml/ratings.csv", csv())
        archive.writestr(
            "ml/movies.csv",
            movies or "movieId,title,genres\n" + "".join(f"{k},{k},War\n" for k in TITLES),
        )
    return data.getvalue()


def with_fields(data: bytes, offset: int, in_directory: int, value: int) -> bytes:
    """Return an archive with a two-byte field of all its members changed."""
    changed = bytearray(data)
    for begin, at in ((b"PK\x03\x04", offset), (b"PK\x01\x02", in_directory)):
        for match in re.finditer(re.escape(begin), data):
            struct.pack_into("<H", changed, match.start() + at, value)
    return bytes(changed)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            with_fields(packed_set(), 6, 8, 1),
            r"set\.zip is encrypted; unpack it with its password and give the folder",
        ),
        (
            with_fields(packed_set(), 8, 10, 9),
            r"packed in a way that Python cannot unpack \(.*\); unpack it with another program",
        ),
        (
            with_fields(packed_set(), 8, 10, 97),
            r"packed in a way that Python cannot unpack \(.*\); unpack it with another program",
        ),
        (
            with_fields(packed_set(), 8, 10, 14),
            r"set\.zip is a damaged zip archive \(.* in ml/ratings\.csv\); download it again",
        ),
        (
            packed_set(zipfile.ZIP_STORED).replace(b"964982703", b"964982704", 1),
            r"damaged zip archive \(Bad CRC-32.*\); download it again",
        ),
        (packed_set()[:-40], r"set\.zip is a damaged zip archive; download it again"),
        (
            packed_set(movies=b"movieId,title\n" + b"\n" * 2**26),
            r"movies\.csv, line 1, with .*, is longer than a megabyte",
        ),
        (
            packed_set(movies=b"movieId,title\n" + b"1,x\n" * 2**23),
            r"movies\.csv holds more than 33,554,432 bytes, unpacked",
        ),
    ],
)
def test_archives_that_cannot_be_read(data: bytes, said: str, tmp_path: Path) -> None:
    """One error whatever the standard library raises, and little memory."""
    path = tmp_path / "set.zip"
    path.write_bytes(data)
    tracemalloc.start()
    try:
        with pytest.raises(MovieLensError, match=said):
            movielens.counts(path, top=1)
        assert tracemalloc.get_traced_memory()[1] < 150e6
    finally:
        tracemalloc.stop()


def test_ratings_beyond_a_size_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In bytes, unpacked, and in ratings."""
    path = tmp_path / "ratings.csv.gz"
    path.write_bytes(gzip.compress(csv().encode()))
    monkeypatch.setattr(reading, "MOST_BYTES", 100)
    with pytest.raises(MovieLensError, match="holds more than 100 bytes, unpacked"):
        movielens.counts(path)
    monkeypatch.setattr(reading, "MOST_BYTES", 1000)
    monkeypatch.setattr(reading, "_MOST_RATINGS", 7)
    with pytest.raises(MovieLensError, match="holds more than 7 ratings"):
        movielens.counts(path)


def test_a_damaged_gzip_file(tmp_path: Path) -> None:
    """Cut short, changed, with garbage after its end; of two files packed into one all is read."""
    path, data = tmp_path / "ratings.csv.gz", gzip.compress(csv().encode())
    middle = len(data) // 2
    changed = data[:middle] + bytes([data[middle] ^ 255]) + data[middle + 1 :]
    for bad in (data[:-9], data[:20], changed, data + b"garbage", data[:-8] + bytes(8)):
        path.write_bytes(bad)
        with pytest.raises(
            MovieLensError,
            match=r"ratings\.csv\.gz is a damaged gzip file \(.*\); download it again",
        ):
            movielens.counts(path)
    path.write_bytes(gzip.compress(csv().encode()[:60]) + gzip.compress(csv().encode()[60:]))
    assert cells(path, 4) == EXPECTED


ARCHIVES = [
    packed_set(),
    packed_set(zipfile.ZIP_STORED),
    packed_set(zipfile.ZIP_LZMA),
    gzip.compress(csv().encode()),
]


@pytest.mark.landing
@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(ARCHIVES),
    st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=3
    ),
    st.integers(0, 40),
)
def test_flipped_bytes_of_archives(data: bytes, flips: list[tuple[float, int]], cut: int) -> None:
    """The ratings are those of the archive, or there is an error."""
    changed = bytearray(data)
    for where, value in flips:
        changed[int(where * len(changed))] = value
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set"
        path.write_bytes(bytes(changed[: len(changed) - cut // 2 * (cut > 30)]))
        with warnings.catch_warnings():
            # where it is the header of the titles that is hit
            warnings.simplefilter("ignore", MovieLensWarning)
            found = cells_or_flaw(path, 4)
    assert found == EXPECTED or (isinstance(found, str) and str(path) in found and ";" in found)


@pytest.mark.parametrize("name", ["ratings.csv", "movies.csv"])
def test_a_name_that_damage_has_emptied(tmp_path: Path, name: str) -> None:
    """The file is none: without ratings there is an error, without titles there are none."""
    path, data = tmp_path / "set", packed_set()
    at = data.rindex(name.encode())  # in the directory at the archive's end
    at = data.rindex(b"PK", 0, at) + 46  # where the entry has its name, the folder's before it
    path.write_bytes(data[:at] + b"\0" + data[at + 1 :])
    found = cells_or_flaw(path, 4)
    if name == "ratings.csv":
        assert isinstance(found, str)
        assert "holds no ratings" in found
    else:
        assert found == EXPECTED


def test_bad_paths_and_archives(tmp_path: Path) -> None:
    """Missing, truncated, changed, without ratings, with several."""
    with pytest.raises(
        MovieLensError,
        match="none cannot be read: No such file or directory; give a MovieLens download",
    ):
        movielens.load(tmp_path / "none")
    folder = tmp_path / "set"
    folder.mkdir()
    latest(folder)
    archive = tmp_path / "set.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.write(folder / "ratings.csv", "ratings.csv")
    data = archive.read_bytes()
    archive.write_bytes(data[:-30])
    with pytest.raises(
        MovieLensError, match=r"set\.zip is a damaged zip archive; download it again"
    ):
        movielens.load(archive, top=2)
    place = data.index(b"964982703")
    archive.write_bytes(data[:place] + b"964982704" + data[place + 9 :])
    with pytest.raises(
        MovieLensError,
        match=r"set\.zip is a damaged zip archive \(Bad CRC-32.*\); download it again",
    ):
        movielens.load(archive, top=2)
    (folder / "ratings.csv").unlink()
    with pytest.raises(MovieLensError, match="holds no ratings in a form that MovieLens uses"):
        movielens.load(folder, top=2)
    for name in ("a.csv", "b.csv"):
        (folder / name).write_text(csv())
    with pytest.raises(
        MovieLensError,
        match=r"holds several files of ratings \(.*a\.csv, .*b\.csv\); name the one to read",
    ):
        movielens.load(folder, top=2)
    with pytest.raises(ValueError, match="top is 0; it must be at least 1"):
        movielens.load(folder / "a.csv", top=0)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(MovieLensError, match="empty is empty; give a MovieLens download"):
        movielens.load(empty)
