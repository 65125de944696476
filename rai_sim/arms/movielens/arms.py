"""Arms from ratings of a download, from a table of means, and synthetic ones."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rai_sim.arms.bernoulli import Bernoulli
from rai_sim.arms.categorical import Categorical
from rai_sim.arms.movielens.files import MovieLensError, MovieLensWarning, file_at, files_of
from rai_sim.arms.movielens.forms import find_ratings, find_titles
from rai_sim.arms.movielens.reading import LEAST, MOST, read_ratings, read_titles, rows_of
from rai_sim.support.checks import check_count
from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.forks import refuse_forked_polars
from rai_sim.support.values import is_choice, path_of

_SCALES = ("stars/5", "min-max")
#: A million synthetic movies are made in a minute; MovieLens has some 90,000.
_MOST_LIKE = 10**6


def load(path: str | os.PathLike[str], top: int = 50, scale: str = "stars/5") -> Categorical:
    """Return the most-rated movies of a MovieLens set as arms.

    Parameters
    ----------
    path : path
        Folder, zip archive or file of ratings of a MovieLens set: latest, 32M, 25M, 20M, 10M, 1M,
        100K, HetRec 2011, or a copy of one, as `rai_sim.arms.movielens` says; a file may be packed
        by gzip.
    top : int, default 50
        How many movies, by number of ratings; of two with as many the one with the smaller id.
    scale : {"stars/5", "min-max"}, default "stars/5"
        Whether a reward is the stars over 5, or 0 for the worst rating given to any movie of the
        set and 1 for the best.

    Returns
    -------
    Categorical
        One arm a movie, by number of ratings, over the levels that occur; `names` are titles where
        a file of titles lies beside the ratings (else "movie 356"), `ids` the movies' ids.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or value.
    MovieLensError
        A ValueError: if there are no ratings, a column is missing, a line is no rating or title or
        has too few or too many fields, a rating is no number of half stars from 0.5 to 5, an id is
        no positive integer, a user has rated a movie twice, an archive is damaged, encrypted or
        larger than any of MovieLens, several files could be meant, or there are fewer than `top`
        movies.

    Warns
    -----
    MovieLensWarning
        Ratings of movies that the file of titles does not have are left out. Without such a file
        they stay. A file with the usual name of titles that is in no form of them is passed over.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "u.data").write_text("1\\t7\\t4\\t0\\n2\\t7\\t5\\t0\\n1\\t9\\t2\\t0\\n")
    >>> _ = (folder / "u.item").write_text("7|Seven (1995)||||0\\n9|Nine (2009)||||0\\n")
    >>> arms = load(folder, top=2)
    >>> arms.names, arms.ids, arms.means
    (('Seven (1995)', 'Nine (2009)'), (7, 9), array([0.9, 0.4]))
    """
    if not is_choice(scale, _SCALES):
        raise ArgumentValueError(
            "scale",
            f"scale is {scale!r}; choose one of {', '.join(map(repr, _SCALES))}",
        )
    table = counts(path, top)
    half_stars = table.half_stars
    if scale == "stars/5":
        values = half_stars / 10.0
    else:
        low, high = table.extremes
        if low == high:
            raise MovieLensError(
                "scale",
                f"{path!s}: every rating is {low / 2:g} stars, which min-max cannot scale; use "
                "scale='stars/5'",
            )
        values = (half_stars - low) / float(high - low)
    probabilities = table.ratings / table.ratings.sum(axis=1, keepdims=True)
    return Categorical(values, probabilities).with_names(table.titles, table.ids)


@dataclass(frozen=True)
class Counts:
    """How often the most-rated movies got which rating.

    Attributes
    ----------
    ids : tuple of int
        The movies, by number of ratings.
    titles : tuple of str
        Their titles, or "movie 356".
    half_stars : (L,) int64
        The ratings that occur among them, in half stars, ascending.
    ratings : (N, L) int64
        How often each movie got each rating.
    extremes : (int, int)
        The worst and the best rating of the whole set, in half stars.

    Examples
    --------
    >>> table = Counts((7,), ("Seven",), np.array([4, 10]), np.array([[1, 3]]), (1, 10))
    >>> float(table.ratings[0] @ table.half_stars) / int(table.ratings.sum()) / 2  # mean stars
    4.25
    """

    ids: tuple[int, ...]
    titles: tuple[str, ...]
    half_stars: NDArray[np.int64]
    ratings: NDArray[np.int64]
    extremes: tuple[int, int]


def counts(path: str | os.PathLike[str], top: int = 50) -> Counts:
    """Return how often the most-rated movies got which rating; arguments and errors as in `load`.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "ratings.csv"
    >>> _ = file.write_text("userId,movieId,rating,timestamp\\n1,7,4.5,0\\n2,7,4.5,0\\n1,9,2.0,0\\n")
    >>> table = counts(file, top=1)
    >>> table.ids, table.half_stars, table.ratings, table.extremes
    ((7,), array([9]), array([[2]]), (4, 9))
    """
    refuse_forked_polars("movielens.counts")
    n = check_count("top", top, 1)
    with files_of(path_of("path", path)) as (files, named):
        file, form = find_ratings(os.fspath(path), files, named)
        of_titles = find_titles(file, form, files)
        titles = None if of_titles is None else read_titles(*of_titles)
        cells = read_ratings(file, form)
    return _ranked(cells, titles, n, file.name)


def _ranked(cells: pl.DataFrame, titles: dict[int, str] | None, n: int, name: str) -> Counts:
    extremes = (int(cells["half_stars"].min()), int(cells["half_stars"].max()))  # type: ignore[arg-type]
    if titles is not None:
        strays = cells.filter(~pl.col("movie").is_in(list(titles)))
        if len(strays):
            unknown = strays["movie"].unique().sort()
            warnings.warn(
                f"{name}: {strays['times'].sum():,} ratings of {len(unknown):,} movies that the "
                f"file of titles does not have, such as movie {unknown[0]}, are left out",
                MovieLensWarning,
                stacklevel=4,
            )
            cells = cells.filter(pl.col("movie").is_in(list(titles)))
    movies = (
        cells.group_by("movie")
        .agg(pl.col("times").sum())
        .sort(["times", "movie"], descending=[True, False])
    )
    if len(movies) < n:
        raise MovieLensError(
            "top",
            f"top is {n} but {name} has ratings of {len(movies):,} movies; ask for as many at most",
        )
    ids = movies["movie"].head(n).to_list()
    chosen = cells.filter(pl.col("movie").is_in(ids))
    half_stars = np.sort(chosen["half_stars"].unique().to_numpy())
    table = np.zeros((n, len(half_stars)), np.int64)
    row = {movie: at for at, movie in enumerate(ids)}
    for movie, level, times in chosen.iter_rows():
        table[row[movie], np.searchsorted(half_stars, level)] = times
    return Counts(
        tuple(ids),
        tuple((titles or {}).get(movie, f"movie {movie}") for movie in ids),
        half_stars,
        table,
        extremes,
    )


def load_means(path: str | os.PathLike[str], top: int | None = None) -> Bernoulli:
    """Return Bernoulli arms from a table of movies with their mean ratings.

    Parameters
    ----------
    path : path
        A comma-separated file with a header: `movie_id`, `ratings` (their number), `mean_stars`
        (then a mean is the stars over 5) or `mean` (in [0, 1]), and perhaps `title`; in UTF-8, or
        else Latin-1.
    top : int, optional
        How many movies, by number of ratings, ties to the smaller id; all when None.

    Returns
    -------
    Bernoulli
        With `names` and `ids` as `load` gives them.

    Raises
    ------
    TypeError, ValueError
        If `top` is no integer, or below 1.
    MovieLensError
        A ValueError: if the file cannot be read, a column is missing, a movie is there twice, a
        number is out of range, or there are fewer than `top` movies.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "means.csv"
    >>> _ = file.write_text("movie_id,ratings,mean_stars\\n7,10,4.0\\n3,20,2.5\\n")
    >>> arms = load_means(file)
    >>> arms.ids, arms.means
    ((3, 7), array([0.5, 0.8]))
    """
    refuse_forked_polars("movielens.load_means")
    place = path_of("path", path)
    name = os.fspath(path)
    frame, lines = _table(place)
    column = "mean" if "mean" in frame.columns else "mean_stars"
    for needed in ("movie_id", "ratings", column):
        if needed not in frame.columns:
            raise MovieLensError(
                "path",
                f"{name} has no column {needed} but {', '.join(frame.columns)}; name it so, or "
                "add it",
            )
    kinds = {"movie_id": pl.Int64, "ratings": pl.Int64, column: pl.Float64}
    frame, most = _cast(frame, name, lines, kinds), 1.0 if column == "mean" else 5.0
    titled = "title" in frame.columns
    bad = frame.select(
        pl.any_horizontal(pl.col(*kinds, *(["title"] if titled else [])).is_null())
        | ~pl.col(column).is_between(0.0, most)
        | ~pl.col("movie_id").is_first_distinct()
        | (pl.col("ratings") < 1)
    ).to_series()
    if bad.any():
        at = int(bad.arg_true()[0])
        raise MovieLensError(
            "path",
            f"{name}, line {lines[at]:,}: {frame.row(at, named=True)} is no movie with an id of its "
            f"own, at least one rating, a {column} from 0 to {most:g}{', and a title' * titled}; mend "
            "or remove the line",
        )
    n = len(frame) if top is None else check_count("top", top, 1)
    if not 1 <= n <= len(frame):
        raise MovieLensError(
            "top", f"top is {n} but {name} has {len(frame)} movies; ask for as many at most"
        )
    frame = frame.sort(["ratings", "movie_id"], descending=[True, False]).head(n)
    names = (
        frame["title"].to_list() if titled else [f"movie {movie}" for movie in frame["movie_id"]]
    )
    return Bernoulli(frame[column].to_numpy() / most).with_names(names, frame["movie_id"].to_list())


def _table(path: Path) -> tuple[pl.DataFrame, list[int]]:
    """Return a table of means as it stands in its file, every entry as a text, or null if it is
    blank, and the numbers of its lines."""
    remedy = "it must be comma-separated, with a header"
    rows = list(rows_of(file_at(path), ","))
    if not rows:
        raise MovieLensError("path", f"{path} cannot be read: it is empty; {remedy}")
    names = [name.strip(" ") for name in rows[0][1]]
    for number, row in rows:
        if len(row) != len(names):
            raise MovieLensError(
                "path",
                f"{path} cannot be read: line {number} has {len(row)} fields, not {len(names)}; "
                f"{remedy}",
            )
    if len(set(names)) < len(names):
        raise MovieLensError(
            "path",
            f"{path} has several columns "
            f"{next(name for name in names if names.count(name) > 1)!r}; keep one of them",
        )
    frame = pl.DataFrame(
        [[text if text.strip(" ") else None for text in row] for _, row in rows[1:]],
        schema=dict.fromkeys(names, pl.String),
        orient="row",
    )
    return frame, [number for number, _ in rows[1:]]


def _cast(
    frame: pl.DataFrame, name: str, lines: list[int], kinds: Mapping[str, type[pl.DataType]]
) -> pl.DataFrame:
    """Return the table with columns of numbers; messages have the lines' numbers."""
    for column, kind in kinds.items():
        numbers = frame[column].str.strip_chars(" ").cast(kind, strict=False)
        wrong = (numbers.is_null() & frame[column].is_not_null()).arg_true()
        if len(wrong):
            at = int(wrong[0])
            kind_of_number = "integer" if kind is pl.Int64 else "number"
            raise MovieLensError(
                "path",
                f"{name} cannot be read: line {lines[at]:,}, {column} is {frame[column][at]!r}, no "
                f"{kind_of_number}; it must be comma-separated, with a header",
            )
        frame = frame.with_columns(numbers)
    return frame


def like(n: int, seed: int = 0) -> Categorical:
    """Return n SYNTHETIC arms that look like the most-rated movies of MovieLens: no rating in them
    was given by anyone.

    Each arm's ten levels, half a star to five, are a discretised normal distribution, with whole
    stars given more often than halves, as people do. Their centres are spread around 3.7 with
    standard deviation 0.4; so average stars, as there are no more than five, around 3.6 with 0.34.
    The law of the arms is a function of (n, seed), and the first arms of a
    larger n are those of a smaller one.

    Parameters
    ----------
    n : int
        Number of arms.
    seed : int, default 0
        Seed of the arms; it has nothing to do with a simulation's.

    Returns
    -------
    Categorical
        Rewards are stars over 5; `names` are "synthetic movie 1" and so on.

    Raises
    ------
    TypeError, ValueError
        If `n` is no positive integer, or above a million, or `seed` none of 0 or more.

    Examples
    --------
    >>> arms = like(3)
    >>> arms.names[0], arms.n_arms, bool((arms.means > 0.4).all())
    ('synthetic movie 1', 3, True)
    """
    n, seed = check_count("n", n, 1), check_count("seed", seed, 0)
    if n > _MOST_LIKE:
        raise ArgumentValueError(
            "n", f"n is {n}; it must be at most {_MOST_LIKE}, ten times as many as MovieLens has"
        )
    stars = np.arange(LEAST, MOST + 1) / 2.0
    rows = []
    for arm in range(n):
        rng = np.random.Generator(np.random.PCG64([seed, arm]))
        centre, spread = np.clip(rng.normal(3.7, 0.4), 1.0, 4.8), rng.uniform(0.75, 1.05)
        weights = np.exp(-0.5 * ((stars - centre) / spread) ** 2) * np.where(
            stars % 1.0 == 0.0, 1.0, rng.uniform(0.3, 0.6)
        )
        rows.append(weights / weights.sum())
    return Categorical(stars / 5.0, rows).with_names(
        [f"synthetic movie {arm + 1}" for arm in range(n)]
    )
