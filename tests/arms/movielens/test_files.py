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
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arms.movielens.test_arms import (
    RATINGS,
    TITLES,
    check,
    colons,
    csv,
    hetrec,
    kaggle,
    latest,
    tabs,
)
from rai_sim.arms import movielens
from rai_sim.arms.movielens import MovieLensError, MovieLensWarning, files, reading

Cells = dict[tuple[int, int], int]


def cells(path: Path, movies: int) -> Cells:
    """Return how often which of all movies got how many half stars."""
    table = movielens.counts(path, top=movies)
    found = {
        (movie, int(level)): int(times)
        for movie, row in zip(table.ids, table.ratings, strict=True)
        for level, times in zip(table.half_stars, row, strict=True)
    }
    return {cell: times for cell, times in found.items() if times}


def cells_or_flaw(path: Path, movies: int) -> Cells | str:
    """Return the same, or why they cannot be read."""
    try:
        return cells(path, movies)
    except MovieLensError as error:
        return str(error)


EXPECTED: Cells = dict(Counter((movie, round(2 * rating)) for _, movie, rating in RATINGS))


# Lines
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [latest, kaggle, colons, tabs, hetrec])
def test_quotes_never_swallow_lines(form: Callable[[Path], Path], tmp_path: Path) -> None:
    """A stray quote in the time of the first and of the fourth line: eight ratings, or the line's
    number."""
    form(tmp_path)
    usual = ("ratings.csv", "rating.csv", "ratings.dat", "u.data", "user_ratedmovies.dat")
    path = next(file for file in tmp_path.iterdir() if file.name in usual)
    lines = path.read_text().split("\n")
    first = 1 if lines[0][0].isalpha() or lines[0][0] == '"' else 0
    for at in (first, first + 3):
        lines[at] = lines[at][:-4] + '"' + lines[at][-4:]
    path.write_text("\n".join(lines))
    if form in (colons, tabs, kaggle):
        with pytest.raises(
            MovieLensError,
            match=rf"cannot be read: .* has 2 lines without .*, the first is line {first + 1}, ",
        ):
            movielens.counts(tmp_path, top=4)
    else:
        assert cells(tmp_path, 4) == EXPECTED


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'4,10,"4.0,1', "unexpected end of data"),
        (b'"4,10,4.0,1', "unexpected end of data"),
        (b'4,1"0,4.0,1', "its movie is '1\"0', which is no number"),
        (b"4,10,4.0", "it has 3 fields, not 4"),
        (b"4,10,4.0,1,2", "it has 5 fields, not 4"),
        (b"4,10,4.0,1\r5,10,4.0,1", "it holds a carriage return"),
        (b"4,10,4.0,\x00", "it holds a NUL byte"),
        (b"\xef\xbb\xbf4,10,4.0,1", "its user is 'ï»¿4', which is no number"),
        (b"4,10,4.0.,1", "its rating is '4.0.', which is no number"),
        (b"4,10,4_0,1", "its rating is '4_0', which is no number"),
        (b"4,10.0,4.0,1", "its movie is '10.0', which is no number"),
        (
            b"4,99999999999999999999,4.0,1",
            "its movie is '99999999999999999999', which is no number",
        ),
        (b"4;10;4.0;1", "it has 1 fields, not 4"),
        (b"# a comment", "it has 1 fields, not 4"),
        (b"", "it is empty"),
        (b"\x1a", "it has 1 fields, not 4"),
        (b"userId,movieId,rating,timestamp", "its user is 'userId', which is no number"),
        ("4,1٠,4.0,1".encode(), "its movie is"),
    ],
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_line_that_is_no_rating_is_named(
    line: bytes, said: str, end: bytes, tmp_path: Path
) -> None:
    """Number, text and flaw, in the midst of good lines."""
    path = tmp_path / "ratings.csv"
    path.write_bytes(csv().encode().replace(b"\n", end) + line + end + b"5,10,4.0,1" + end)
    with pytest.raises(
        MovieLensError,
        match=rf"up to line 11 it has 1 lines .*, the first is line 10, .*: {re.escape(said)}.*; "
        r"mend it",
    ):
        movielens.counts(path, top=1)


@pytest.mark.parametrize(
    "text",
    [
        csv() + "\n",
        csv() + "\r\n\n\n",
        csv().rstrip("\n"),
        csv("user_id,movie_id,rating,timestamp"),
        csv("User ID,Movie-Id,RATING,when"),
        csv().replace(",", ";"),
        csv().replace(",", ";").replace(".", ","),
        csv().partition("\n")[2],
        csv().partition("\n")[2].replace(",", ";").replace(".", ","),
        csv().replace(",", "\t"),
        csv().replace(",", " , "),
        re.sub(r"([^,\n]+)", r'"\1"', csv()),
        "timestamp,userId,movieId,rating\n" + "".join(f"1,{u},{m},{r}\n" for u, m, r in RATINGS),
        csv("userId,movieId,rating,title").replace("964982703", '"Très ""bien"", the film"'),
        csv("userId,movieId,rating,comment").replace("964982703", ""),
    ],
)
def test_common_variants_are_read(text: str, tmp_path: Path) -> None:
    """Plain and packed by gzip."""
    path = tmp_path / "ratings.csv"
    path.write_bytes(text.encode())
    check(movielens.load(path, top=3), titled=False)
    assert cells(path, 4) == EXPECTED
    packed = tmp_path / "packed" / "ratings.csv.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(text.encode()))
    check(movielens.load(packed, top=3), titled=False)
    assert cells(packed.parent, 4) == EXPECTED


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            b"PAR1\x15\x04",
            r"is a Parquet file; write it as text: polars\.read_parquet\(\.\.\.\)\.write_csv",
        ),
        (csv().encode("utf-16"), "is text in UTF-16; save it as UTF-8"),
        (csv().encode("utf-16-le"), "is no text, or none in UTF-8; give"),
        (
            csv().replace("\n", "\r").encode(),
            "has lines that end in carriage returns alone; save it with line feeds",
        ),
        (
            b"\n <!DOCTYPE html>\n",
            "is a page of HTML or XML, as a download may give that needs a login",
        ),
        (b"BZh91AY&SY", "is packed; unpack it and give the folder"),
        (b"7z\xbc\xaf\x27\x1c", "is packed; unpack it and give the folder"),
        (b"ratings.csv".ljust(257, b"\0") + b"ustar\x0000", "is a tar archive; unpack it"),
        (
            b"1,10,4.0\n2,20,5.0\n",
            "has no header to tell users from movies; put the line userId,movieId,rating",
        ),
        (csv("userId,movieId,rating,Rating").encode(), "has 2 columns rating; keep one of them"),
        (csv("userId,user_id,movieId,rating").encode(), "has 2 columns userid; keep one of them"),
        (b"\n\n\n", "holds no ratings in a form"),
        (
            b"\n" + csv().encode(),
            "it has 2 lines without user, movie or rating, the first is line 1, '': it is empty",
        ),
    ],
)
def test_other_files_are_told(data: bytes, said: str, tmp_path: Path) -> None:
    """What the file is, and what to do; alone, in a folder, and packed."""
    path = tmp_path / "ratings.csv"
    path.write_bytes(data)
    for place in (path, tmp_path):
        with pytest.raises(MovieLensError, match=said):
            movielens.counts(place, top=1)
    path.write_bytes(gzip.compress(data))
    with pytest.raises(MovieLensError, match=said):
        movielens.counts(path, top=1)


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
    with pytest.raises(MovieLensError, match="cannot be read: embedded null byte"):
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


# Titles
# --------------------------------------------------------------------------------------------------


def test_titles_are_utf_8_or_latin_1(tmp_path: Path) -> None:
    """Whatever the form; a line ends at a line feed alone: the bytes of Å in UTF-8 hold the control
    character U+0085."""
    titles = {
        10: "Misérables, Les (1995)",
        20: "Å i åa ä e ö (2000)",
        30: "À bout… de\u2028souffle (1960)\u00a0",
        40: "東京物語 (1953)",
    }
    western = titles | {30: "\u0085", 40: "x"}
    for form, name in (
        (colons, "movies.dat"),
        (tabs, "u.item"),
        (hetrec, "movies.dat"),
        (latest, "movies.csv"),
    ):
        for encoding, known in (("utf-8", titles), ("latin-1", western)):
            folder = tmp_path / f"{form.__name__} {encoding}"
            folder.mkdir()
            form(folder)
            path = folder / name
            text = path.read_text("utf-8" if form is latest else "latin-1")
            for movie, title in TITLES.items():
                for old in ('"' + title.replace('"', '""') + '"', title):
                    text = text.replace(
                        old, f'"{known[movie]}"' if form is latest else known[movie]
                    )
            path.write_bytes(text.encode(encoding))
            assert movielens.counts(folder, top=4).titles == tuple(
                known[k] for k in (30, 10, 20, 40)
            )


def test_titles_come_from_the_ratings_own_folder(tmp_path: Path) -> None:
    """Another set's titles beside or below are none, in folders and in archives; of two in the
    folder one must have the usual name."""
    small, old = tmp_path / "data" / "ml-latest-small", tmp_path / "data" / "ml-100k"
    small.mkdir(parents=True)
    old.mkdir()
    latest(small)
    wrong = "".join(
        f"{movie}|Wrong {movie}|01-Jan-1995||http://x|0|1\n" for movie in (20, 30, 40, 50)
    )
    (old / "u.item").write_text(wrong)
    (old / "movies.csv").write_text("movieId,title,genres\n20,Wrong,Drama\n")
    archive = tmp_path / "data.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in sorted((tmp_path / "data").rglob("*.*")):
            packed.write(file, str(file.relative_to(tmp_path)))
    for place in (tmp_path, tmp_path / "data", archive, small / "ratings.csv"):
        check(movielens.load(place, top=3))
    (small / "u.item").write_text(wrong)
    (small / "a copy.csv").write_text("movieId,title,genres\n20,Wrong,Drama\n")
    check(movielens.load(small, top=3))
    (small / "movies.csv").rename(small / "another.csv")
    with pytest.raises(
        MovieLensError,
        match=r"several files of titles beside it \(.*a copy\.csv, .*another\.csv\); keep one of them",
    ):
        movielens.load(small, top=3)
    (small / "a copy.csv").unlink()
    (small / "another.csv").unlink()
    check(movielens.load(small, top=3), titled=False)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            '50,"Never closed (1999),Drama\n60,"Next (1999),Drama',
            "line 6, .*: unexpected end of data; mend that line",
        ),
        ("50,American President, The (1995),Drama", "line 6: it has 4 fields, not 3"),
        ("50", "line 6: it has 1 fields, not 3"),
        ("", "line 6: it is empty"),
        ("²,Square,Drama", "line 6: its movie is '²', which is no positive integer"),
        ("tt0114709,Toy Story (1995),Drama", "line 6: its movie is 'tt0114709'"),
        (
            "10,Another (1995),Drama",
            "line 6: movie 10 has another title above, 'Ten: the film \\(1990\\)'",
        ),
        ("50,Fif\0ty,Drama", "line 6, .*: it holds a NUL byte; mend that line"),
    ],
)
def test_a_line_that_is_no_title_is_named(line: str, said: str, tmp_path: Path) -> None:
    """For which movies are arms depends on the titles."""
    latest(tmp_path)
    with (tmp_path / "movies.csv").open("a", encoding="utf-8") as file:
        file.write(f"{line}\n70,Good (2000),Drama\n")
    with pytest.raises(MovieLensError, match=rf"movies\.csv, {said}"):
        movielens.counts(tmp_path)


def test_titles_in_an_unknown_form_are_told(tmp_path: Path) -> None:
    """They are left out with a warning, rather than in silence."""
    latest(tmp_path)
    (tmp_path / "movies.csv").write_bytes(
        (tmp_path / "movies.csv").read_text("utf-8").encode("utf-16")
    )
    with pytest.warns(
        MovieLensWarning,
        match=r"movies\.csv is not in the form of titles that goes with .*ratings\.csv, so",
    ):
        check(movielens.load(tmp_path, top=3), titled=False)


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


# Anything
# --------------------------------------------------------------------------------------------------


def literal(data: bytes) -> Cells | None:
    """Return the ratings of a file that still has its first line, read by hand, or None if some
    line is none."""
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1").split("\n")
    lines = [line.removesuffix("\r") for line in lines]
    while lines and not lines[-1].strip("\r"):
        lines.pop()
    separator = next(sign for sign in ("::", "\t", ";", ",") if sign in lines[0])
    at, width = (0, 1, 2), 4
    if lines[0][0].isalpha() or lines[0][0] == '"':
        names = [re.sub("[ _-]", "", name).lower() for name in by_hand(lines[0], separator) or []]
        at, width = (
            (names.index("userid"), names.index("movieid"), names.index("rating")),
            len(names),
        )
        lines = lines[1:]
    seen, found = set(), Counter[tuple[int, int]]()
    for line in lines:
        fields = None if "\r" in line or "\0" in line else by_hand(line, separator)
        if fields is None or len(fields) != width:
            return None
        user, movie, stars = (fields[k].strip(" ") for k in at)
        stars = stars.replace(",", ".", 1) if separator == ";" else stars
        if not (
            all(re.fullmatch(r"\+?[0-9]+", number) for number in (user, movie))
            and re.fullmatch(r"\+?([0-9]+\.?|\.[0-9])[0-9]*(e[+-]?[0-9]+)?", stars)
        ):
            return None
        ids, half_stars = (int(user), int(movie)), 2 * float(stars)
        if (
            not (all(0 < number < 2**31 for number in ids) and half_stars in range(1, 11))
            or ids in seen
        ):
            return None
        seen.add(ids)
        found[ids[1], int(half_stars)] += 1
    return dict(found) or None


def by_hand(line: str, separator: str) -> list[str] | None:
    """Return a line's fields, character by character, or None if its quotes do not match."""
    if separator in ("::", "\t"):
        return line.split(separator)
    fields, at = [""], 0
    while at < len(line):
        if line[at] == '"' and not fields[-1] and (at == 0 or line[at - 1] == separator):
            at += 1
            while line[at : at + 1] != '"' or line[at + 1 : at + 2] == '"':
                if at >= len(line):
                    return None
                fields[-1] += line[at]
                at += 2 if line[at] == '"' else 1
            at += 1
            if at < len(line) and line[at] != separator:
                return None
        elif line[at] == separator:
            fields.append("")
            at += 1
        else:
            fields[-1] += line[at]
            at += 1
    return fields


BASES = [
    csv(),
    csv("user_id,movie_id,rating,timestamp").replace(",", ";"),
    csv().replace(",", "\t"),
    re.sub(r"(\d+)\n", r'"2005-04-02 23:53:47"\n', csv('"userId","movieId","rating","timestamp"')),
    "".join(f"{user}::{movie}::{rating:g}::838985046\n" for user, movie, rating in RATINGS),
    "".join(f"{user}\t{movie}\t{rating:g}\t881250949\n" for user, movie, rating in RATINGS),
]
PIECES = [
    *"\"\n\r,;\t:#\0 -+.05_'",
    '""',
    "\r\n",
    "::",
    "e0",
    "\x85",
    "\xa0",
    "\xff",
    "\x1a",
    "\u2028",
    "nan",
    "9" * 20,
]
KINDS = ["insert", "replace", "delete", "repeat", "cut"]
MUTATIONS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.floats(0, 1), st.sampled_from(PIECES)),
    min_size=1,
    max_size=4,
)


def mutated(text: str, changes: list[tuple[str, float, str]]) -> bytes:
    """Return the file with pieces put in, taken out or repeated after its first line."""
    start = text.index("\n") + 1
    head, body = text[:start].encode(), text[start:].encode()
    for kind, where, piece in changes:
        at = int(where * len(body))
        put = piece.encode("utf-8" if piece == "\u2028" else "latin-1")
        rest = {
            "insert": put + body[at:],
            "replace": put + body[at + 1 :],
            "delete": body[at + 1 :],
            "repeat": body[max(0, at - 9) :],
            "cut": b"",
        }[kind]
        body = body[:at] + rest
    return head + body


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(BASES), MUTATIONS)
def test_a_changed_file_is_read_by_its_letters_or_refused(
    base: str, changes: list[tuple[str, float, str]]
) -> None:
    """What comes out is what an independent reading of the same bytes gives; where that finds a
    flaw, there is an error."""
    data = mutated(base, changes)
    expected = literal(data)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r[1]*.csv"
        path.write_bytes(data)
        found = cells_or_flaw(path, len({movie for movie, _ in expected or {(0, 0)}}))
    assert found == expected or (isinstance(found, str) and "top is" not in found)


@pytest.mark.parametrize("base", BASES)
def test_the_files_that_are_changed_can_be_read(base: str, tmp_path: Path) -> None:
    """By hand and by the package, so that the test above does not pass by refusing everything."""
    (tmp_path / "r").write_text(base)
    assert cells(tmp_path / "r", 4) == literal(base.encode()) == EXPECTED


ARCHIVES = [
    packed_set(),
    packed_set(zipfile.ZIP_STORED),
    packed_set(zipfile.ZIP_LZMA),
    gzip.compress(csv().encode()),
]


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
