"""Ratings and titles are read exactly as they stand, or refused by line and flaw."""

import gzip
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ratings import (
    EXPECTED,
    RATINGS,
    TITLES,
    Cells,
    cells,
    cells_or_flaw,
    check,
    colons,
    csv,
    hetrec,
    kaggle,
    latest,
    tabs,
)

from rai_sim.arms import movielens
from rai_sim.arms.movielens import MovieLensError, MovieLensWarning


def test_byte_order_mark_and_line_ends(tmp_path: Path) -> None:
    """As spreadsheets write them."""
    path = tmp_path / "ratings.csv"
    path.write_bytes(b"\xef\xbb\xbf" + csv().replace("\n", "\r\n").encode())
    check(movielens.load(path, top=3), titled=False)


def test_ratings_of_unknown_movies_are_left_out_with_a_warning(tmp_path: Path) -> None:
    """A bogus row (user 999, movie 999999): known by the file of titles; without one it stays, and
    is at the end of the ranking."""
    latest(tmp_path)
    (tmp_path / "ratings.csv").write_text(csv(rows=[*RATINGS, (999, 999999, 5.0)]))
    said = "1 ratings of 1 movies that the file of titles does not have, such as movie 999999, are left out"
    with pytest.warns(MovieLensWarning, match=said):
        check(movielens.load(tmp_path, top=3))
    with (
        pytest.warns(MovieLensWarning),
        pytest.raises(MovieLensError, match=r"top is 5 but .* has ratings of 4 movies"),
    ):
        movielens.load(tmp_path, top=5)
    (tmp_path / "movies.csv").unlink()
    check(movielens.load(tmp_path, top=3), titled=False)
    assert movielens.load(tmp_path, top=5).ids == (30, 10, 20, 40, 999999)


#: The lines of a rating that is added, and of user 1's of movie 10.
NEXT, FIRST = len(RATINGS) + 2, 2 + [one[:2] for one in RATINGS].index((1, 10))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            csv("userId,movieId,stars,timestamp"),
            r"ratings\.csv has no column rating but userid, movieid, stars, timestamp; give",
        ),
        (
            csv("user,movieId,rating,timestamp"),
            r"ratings\.csv has no column userid but user, movieid, rating, timestamp",
        ),
        (
            csv("user,movie,stars,timestamp"),
            r"holds no ratings in a form that MovieLens uses; give a MovieLens download",
        ),
        ("", r"is empty; give a MovieLens download"),
        (
            "userId,movieId,rating,timestamp\n",
            r"ratings\.csv holds no ratings; give a MovieLens download",
        ),
        (
            csv(rows=[*RATINGS, (4, 10, 7.5)]),
            rf"ratings\.csv, line {NEXT}: rating 7\.5 of movie 10 by user 4 is no number of half "
            r"stars from 0\.5 to 5; rem",
        ),
        (csv(rows=[*RATINGS, (4, 10, 0.0)]), r"rating 0 of movie 10 by user 4"),
        (
            csv(rows=[*RATINGS, (4, 10, 3.7), (5, 10, -1.0)]),
            rf"line {NEXT}: rating 3\.7 of movie 10 by user 4 .* nor are 1 more below",
        ),
        (csv(rows=[*RATINGS, (4, 10, float("nan"))]), r"rating nan of movie 10 by user 4"),
        (
            csv(rows=[*RATINGS, (1, 10, 2.0)]),
            rf"line {NEXT}: user 1 has rated movie 10 in line {FIRST}, too; 1 line too many: keep",
        ),
        (
            csv(rows=[*RATINGS, (-3, 10, 2.0)]),
            r"user -3 is no id of MovieLens: those are positive integers",
        ),
        (csv(rows=[*RATINGS, (4, 0, 2.0)]), r"movie 0 is no id of MovieLens"),
        (csv(rows=[*RATINGS, (4, 2**31, 2.0)]), r"movie 2147483648 is no id of MovieLens"),
        (csv() + "4,10,,1\n", r"has 1 lines without user, movie or rating"),
        (csv() + "4\n", r"ratings\.csv (cannot be read|has 1 lines without)"),
        (csv() + "4,ten,3.0,1\n", r"ratings\.csv cannot be read: .*ten"),
        (csv() + "4,10,good,1\n", r"ratings\.csv cannot be read: .*good"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, message: str) -> None:
    """The file, what is wrong, what would do."""
    (tmp_path / "ratings.csv").write_text(text)
    for path in (tmp_path, tmp_path / "ratings.csv"):
        with pytest.raises(MovieLensError, match=message):
            movielens.load(path, top=2)


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
        ("50, ,Drama", "line 6: movie 50 has no title; mend that line"),
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


@pytest.mark.slow
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


def test_errors_carry_the_argument_at_fault(tmp_path: Path) -> None:
    """The path, whatever is wrong with what lies there; or how many movies, or which scale, where
    it would do for others."""
    (tmp_path / "ratings.csv").write_text(csv(rows=[(1, 10, 3.0), (2, 10, 3.0)]))
    (tmp_path / "means.csv").write_text("movie_id,ratings,mean\n7,10,0.5\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "wrong.csv").write_text("movie_id,ratings,mean\n7,10,high\n")
    calls: list[tuple[str, Callable[[], object]]] = [
        ("path", lambda: movielens.load(tmp_path / "none.csv")),
        ("path", lambda: movielens.load(tmp_path / "empty.csv")),
        ("path", lambda: movielens.load(tmp_path / "means.csv")),
        ("top", lambda: movielens.load(tmp_path / "ratings.csv", top=2)),
        ("scale", lambda: movielens.load(tmp_path / "ratings.csv", top=1, scale="min-max")),
        ("path", lambda: movielens.load_means(tmp_path / "empty.csv")),
        ("path", lambda: movielens.load_means(tmp_path / "wrong.csv")),
        ("path", lambda: movielens.load_means(tmp_path / "ratings.csv")),
        ("top", lambda: movielens.load_means(tmp_path / "means.csv", top=2)),
    ]
    for argument, call in calls:
        with pytest.raises(MovieLensError) as caught:
            call()
        assert caught.value.argument == argument
        assert isinstance(caught.value, ValueError)
