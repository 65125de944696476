"""Sets of ratings in every form there is, for tests of MovieLens files."""

from collections import Counter
from pathlib import Path

import pytest

import rai_sim as rai
from rai_sim.arms import movielens
from rai_sim.arms.movielens import MovieLensError

#: user, movie, rating: movie 30 has three ratings, 10 and 20 two each, 40 one.
RATINGS = [
    (1, 10, 4.0),
    (1, 20, 2.0),
    (1, 30, 5.0),
    (2, 10, 3.0),
    (2, 30, 4.0),
    (3, 20, 1.0),
    (3, 30, 5.0),
    (3, 40, 4.0),
]
TITLES = {
    10: "Ten: the film (1990)",
    20: "Twenty, The (2000)",
    30: "Très bien (1995)",
    40: 'He said "forty" (2010)',
}


def csv(
    header: str = "userId,movieId,rating,timestamp",
    rows: list[tuple[int, int, float]] | None = None,
) -> str:
    """Return ratings as the sets since 20M have them."""
    return (
        header
        + "\n"
        + "".join(f"{user},{movie},{rating},964982703\n" for user, movie, rating in rows or RATINGS)
    )


def quoted(title: str) -> str:
    """Return a title as a field of a CSV file."""
    return '"' + title.replace('"', '""') + '"' if "," in title or '"' in title else title


def latest(folder: Path) -> Path:
    """Write the form of latest, 32M, 25M and 20M, with the files that lie beside."""
    (folder / "ratings.csv").write_text(csv())
    titles = "".join(f"{k},{quoted(t)},Drama|War\n" for k, t in TITLES.items())
    (folder / "movies.csv").write_text("movieId,title,genres\n" + titles, "utf-8")
    (folder / "tags.csv").write_text("userId,movieId,tag,timestamp\n1,10,7,1139045764\n")
    (folder / "links.csv").write_text("movieId,imdbId,tmdbId\n10,0114709,862\n")
    (folder / "genome-scores.csv").write_text("movieId,tagId,relevance\n10,1,0.025\n")
    (folder / "README.txt").write_text("Summary\n")
    return folder


def kaggle(folder: Path) -> Path:
    """Write the form of Kaggle's copy of 20M: other names, quotes, times as text."""
    rows = "".join(
        f'{user},{movie},{rating},"2005-04-02 23:53:47"\n' for user, movie, rating in RATINGS
    )
    (folder / "rating.csv").write_text('"userId","movieId","rating","timestamp"\n' + rows)
    (folder / "movie.csv").write_text(
        '"movieId","title","genres"\n'
        + "".join('{},"{}","Drama"\n'.format(k, t.replace('"', '""')) for k, t in TITLES.items()),
        "utf-8",
    )
    return folder


def colons(folder: Path) -> Path:
    """Write the form of 10M and 1M."""
    (folder / "ratings.dat").write_text(
        "".join(f"{user}::{movie}::{rating:g}::838985046\n" for user, movie, rating in RATINGS)
    )
    (folder / "movies.dat").write_text(
        "".join(f"{k}::{t}::Drama|War\n" for k, t in TITLES.items()), "latin-1"
    )
    (folder / "tags.dat").write_text("15::10::excellent!::1215184630\n")
    (folder / "users.dat").write_text("1::F::1::10::48067\n")
    return folder


def tabs(folder: Path) -> Path:
    """Write the form of 100K, with one of its splits beside the whole."""
    whole = "".join(f"{user}\t{movie}\t{rating:g}\t881250949\n" for user, movie, rating in RATINGS)
    (folder / "u.data").write_text(whole)
    (folder / "u1.base").write_text(whole[:60])
    (folder / "u.item").write_text(
        "".join(f"{k}|{t}|01-Jan-1995||http://x|0|1\n" for k, t in TITLES.items()), "latin-1"
    )
    (folder / "u.user").write_text("1|24|M|technician|85711\n")
    return folder


def hetrec(folder: Path) -> Path:
    """Write the form of HetRec 2011."""
    head = "userID\tmovieID\trating\tdate_day\tdate_month\tdate_year\tdate_hour\tdate_minute\tdate_second\n"
    (folder / "user_ratedmovies.dat").write_text(
        head + "".join(f"{u}\t{m}\t{r:g}\t29\t10\t2006\t23\t17\t16\n" for u, m, r in RATINGS)
    )
    (folder / "user_ratedmovies-timestamps.dat").write_text(
        "userID\tmovieID\trating\ttimestamp\n"
        + "".join(f"{u}\t{m}\t{r:g}\t1162160236000\n" for u, m, r in RATINGS)
    )
    titles = "".join(f"{k}\t{t}\t0114709\t{t}\n" for k, t in TITLES.items())
    (folder / "movies.dat").write_text("id\ttitle\timdbID\tspanishTitle\n" + titles, "latin-1")
    return folder


FORMS = (latest, kaggle, colons, tabs, hetrec)


def check(arms: rai.Categorical, titled: bool = True) -> None:
    """Compare with RATINGS, worked out by hand."""
    assert arms.ids == (30, 10, 20)
    assert arms.names == (
        tuple(TITLES[k] for k in arms.ids) if titled else ("movie 30", "movie 10", "movie 20")
    )
    assert arms.values.tolist() == [0.2, 0.4, 0.6, 0.8, 1.0]
    third, half = 1 / 3, 0.5
    assert arms.probabilities.tolist() == [
        [0, 0, 0, third, 2 * third],
        [0, 0, half, half, 0],
        [half, half, 0, 0, 0],
    ]
    assert arms.means == pytest.approx([14 / 15, 0.7, 0.3], rel=1e-15)


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
