"""Which files hold ratings and titles, and in which form."""

import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from ratings import FORMS, check, csv, latest

from rai_sim.arms import movielens
from rai_sim.arms.movielens import MovieLensError, MovieLensWarning


@pytest.mark.parametrize("form", FORMS)
def test_every_format_is_read_the_same(form: Callable[[Path], Path], tmp_path: Path) -> None:
    """As a folder, as a zip archive, and as the file of ratings, whatever its name."""
    folder = tmp_path / "ml-set"
    folder.mkdir()
    form(folder)
    check(movielens.load(folder, top=3))
    with zipfile.ZipFile(tmp_path / "set.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in folder.iterdir():
            archive.write(file, f"ml-set/{file.name}")
    check(movielens.load(tmp_path / "set.zip", top=3))
    usual = ("ratings.csv", "rating.csv", "ratings.dat", "u.data", "user_ratedmovies.dat")
    ratings = next(file for file in folder.iterdir() if file.name in usual)
    check(movielens.load(ratings, top=3))
    alone = tmp_path / "alone"
    alone.mkdir()
    ratings.rename(alone / "anything.txt")
    check(movielens.load(alone / "anything.txt", top=3), titled=False)
    check(movielens.load(str(alone), top=3), titled=False)


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
