"""MovieLens ratings as arms: the most-rated movies, whose pulls are ratings of random users, scaled to [0, 1].

No ratings come with the package: `load` reads the user's own download (https://grouplens.org/datasets/movielens/), `like` makes
synthetic arms of the same shape. F. M. Harper and J. A. Konstan, The MovieLens Datasets: History and Context, ACM Transactions on
Interactive Intelligent Systems 5(4), 2015, doi 10.1145/2827872.

Files are told apart by their content:

========================================  ==============================================  ===========================
set                                       ratings                                         titles
========================================  ==============================================  ===========================
latest, 32M, 25M, 20M, Kaggle's copies    commas, a header with userId, movieId, rating   a header with movieId, title
10M, 1M                                   ``user::movie::rating::time``                   ``movie::title::genres``
100K                                      tabs: user, movie, rating, time                 ``movie|title|...``
HetRec 2011                               tabs, a header with userID, movieID, rating     tabs, a header with id, title
========================================  ==============================================  ===========================
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rai_sim.arms.bernoulli import Bernoulli
from rai_sim.arms.categorical import Categorical
from rai_sim.checks import check_count

_SCALES = ("stars/5", "min-max")
#: What a movie can get, in half stars.
_LEAST, _MOST = 1, 10
_LARGEST_ID = 2**31
#: A folder's further files are not looked at.
_MOST_FILES = 500
#: Where several files hold ratings (the 100K set has its splits for cross-validation beside the whole), one with such a name is taken.
_USUAL_NAMES = ("ratings.csv", "rating.csv", "ratings.dat", "u.data", "user_ratedmovies.dat")
_DOWNLOAD = "give a MovieLens download: its folder, its zip or its file of ratings"


class MovieLensError(ValueError):
    """Ratings cannot be used; the message names the file, what is wrong and the remedy."""


class MovieLensWarning(UserWarning):
    """Some ratings were left out."""


@dataclass(frozen=True)
class _Format:
    """How a kind of file is recognised and read: separator, columns to take (by name after a header, else by place), encoding."""

    line: str
    separator: str
    columns: tuple[str, ...] | tuple[int, ...]
    encoding: str = "utf-8"

    @property
    def header(self) -> bool:
        return isinstance(self.columns[0], str)


_RATINGS = (
    _Format("", ",", ("userid", "movieid", "rating")),
    _Format("", "\t", ("userid", "movieid", "rating")),
    # Every second of the fields between single colons is empty.
    _Format(r"\d+::\d+::[\d.]+::\d+", ":", (0, 2, 4)),
    _Format(r"\d+\t\d+\t[\d.]+\t\d+", "\t", (0, 1, 2)),
)
_TITLES = (
    _Format("", ",", ("movieid", "title")),
    _Format("", "\t", ("id", "title"), "latin-1"),
    # Three fields, where ratings and tags have four; many, where the 100K set's users have five.
    _Format(r"\d+::((?!::).)+::((?!::).)*", "::", (0, 1), "latin-1"),
    _Format(r"\d+(\|[^|]*){5,}", "|", (0, 1), "latin-1"),
)


@dataclass(frozen=True)
class _File:
    """A file of the download: its name, how to open it, its first lines, and its path unless it is in an archive."""

    name: str
    open: Callable[[], IO[bytes]]
    head: tuple[str, ...]
    path: Path | None

    def is_of(self, form: _Format) -> bool:
        if form.header:
            return bool(self.head) and set(form.columns) <= set(self.columns(form.separator))
        return bool(self.head) and all(re.fullmatch(form.line, line) for line in self.head)

    def columns(self, separator: str) -> list[str]:
        return [name.strip().strip('"').lower() for name in self.head[0].split(separator)] if self.head else []


def load(path: str | os.PathLike[str], top: int = 50, scale: str = "stars/5") -> Categorical:
    """Return the most-rated movies of a MovieLens set as arms.

    Parameters
    ----------
    path : path
        Folder, zip archive or file of ratings of a MovieLens set: latest, 32M, 25M, 20M, 10M, 1M, 100K, HetRec 2011, or a copy of one.
    top : int, default 50
        How many movies, by number of ratings; of two with as many the one with the smaller id.
    scale : {"stars/5", "min-max"}
        Whether a reward is the stars over 5, or 0 for the worst rating given to any movie of the set and 1 for the best.

    Returns
    -------
    Categorical
        One arm a movie, by number of ratings, over the levels that occur; `names` are titles where a file of titles lies beside the
        ratings (else "movie 356"), `ids` the movies' ids.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or value.
    MovieLensError
        A ValueError: if there are no ratings, a column is missing, a rating is no number of half stars from 0.5 to 5, an id is no positive
        integer, a user has rated a movie twice, the archive is damaged, or there are fewer than `top` movies.

    Warns
    -----
    MovieLensWarning
        Ratings of movies that the file of titles does not have are left out. Without such a file they stay.

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
    table = counts(path, top)
    if scale not in _SCALES:
        raise ValueError(f"scale is {scale!r}; choose one of {', '.join(map(repr, _SCALES))}")
    half_stars = table.half_stars
    if scale == "stars/5":
        values = half_stars / 10.0
    else:
        low, high = table.extremes
        if low == high:
            raise MovieLensError(f"{path!s}: every rating is {low / 2:g} stars, which min-max cannot scale; use scale='stars/5'")
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
    n = check_count("top", top, 1)
    with _files(Path(path)) as files:
        ratings, form = _find_ratings(os.fspath(path), files)
        titles = _read_titles(files)
        with _on_disk(ratings) as plain:
            scan = _scan(plain, form)
            try:
                cells = _cells(scan, ratings.name)
                _refuse_duplicates(scan, ratings.name)
            except pl.exceptions.PolarsError as error:
                raise MovieLensError(f"{ratings.name} cannot be read: {str(error).splitlines()[0]}; "
                                     "mend that line, or download the set again") from None
    return _ranked(cells, titles, n, ratings.name)


def _cells(scan: pl.LazyFrame, name: str) -> pl.DataFrame:
    """Return movie, half_stars and their number, in one pass over the file, after checking every value."""
    user = pl.col("user")
    sums = [pl.len().alias("times"), user.min().alias("least"), user.max().alias("most"), user.null_count().alias("none")]
    cells = scan.group_by("movie", "rating").agg(sums).collect(engine="streaming")
    if not len(cells):
        raise MovieLensError(f"{name} holds no ratings; {_DOWNLOAD}")
    half_stars = pl.col("rating") * 2.0
    missing = cells.filter(pl.col("movie").is_null() | pl.col("rating").is_null() | (pl.col("none") > 0))
    if len(missing):
        raise MovieLensError(f"{name} has {missing['times'].sum():,} lines without user, movie or rating; download the set again")
    wrong = cells.filter((half_stars != half_stars.floor()) | (half_stars < _LEAST) | (half_stars > _MOST) | pl.col("rating").is_nan())
    if len(wrong):
        movie, rating, first = wrong.sort("movie", "rating").select("movie", "rating", "least").row(0)
        raise MovieLensError(f"{name}: rating {rating:g} of movie {movie} by user {first} is no number of half stars from 0.5 to 5, "
                             f"nor are {wrong['times'].sum() - 1:,} others; remove or mend such lines")
    for who, least, most in (("user", "least", "most"), ("movie", "movie", "movie")):
        ids = [int(number) for number in (*cells[least], *cells[most])]
        if min(ids) < 1 or max(ids) >= _LARGEST_ID:
            number = min(ids) if min(ids) < 1 else max(ids)
            raise MovieLensError(f"{name}: {who} {number} is no id of MovieLens: those are positive integers below 2^31; remove such lines")
    return cells.select("movie", half_stars.cast(pl.Int64).alias("half_stars"), "times")


def _refuse_duplicates(scan: pl.LazyFrame, name: str) -> None:
    """Refuse a user's second rating of a movie, in a second pass; eight bytes a rating."""
    pairs = scan.select(pl.col("user").cast(pl.UInt64) * 2**32 + pl.col("movie").cast(pl.UInt64)).collect(engine="streaming")
    keys = np.sort(pairs.to_series().to_numpy())  # sorting in place would need a copy as well: the column is read-only
    twice = np.flatnonzero(keys[1:] == keys[:-1])
    if twice.size:
        user, movie = divmod(int(keys[twice[0]]), 2**32)
        raise MovieLensError(f"{name}: user {user} has rated movie {movie} more than once, and so {twice.size:,} lines are too many; "
                             "keep one rating a user and movie")


def _ranked(cells: pl.DataFrame, titles: dict[int, str] | None, n: int, name: str) -> Counts:
    extremes = (int(cells["half_stars"].min()), int(cells["half_stars"].max()))  # type: ignore[arg-type]
    if titles is not None:
        strays = cells.filter(~pl.col("movie").is_in(list(titles)))
        if len(strays):
            unknown = strays["movie"].unique().sort()
            warnings.warn(f"{name}: {strays['times'].sum():,} ratings of {len(unknown):,} movies that the file of titles does not have, "
                          f"such as movie {unknown[0]}, are left out", MovieLensWarning, stacklevel=4)
            cells = cells.filter(pl.col("movie").is_in(list(titles)))
    movies = cells.group_by("movie").agg(pl.col("times").sum()).sort(["times", "movie"], descending=[True, False])
    if len(movies) < n:
        raise MovieLensError(f"top is {n} but {name} has ratings of {len(movies):,} movies; ask for as many at most")
    ids = movies["movie"].head(n).to_list()
    chosen = cells.filter(pl.col("movie").is_in(ids))
    half_stars = np.sort(chosen["half_stars"].unique().to_numpy())
    table = np.zeros((n, len(half_stars)), np.int64)
    row = {movie: at for at, movie in enumerate(ids)}
    for movie, level, times in chosen.iter_rows():
        table[row[movie], np.searchsorted(half_stars, level)] = times
    return Counts(tuple(ids), tuple((titles or {}).get(movie, f"movie {movie}") for movie in ids), half_stars, table, extremes)


def load_means(path: str | os.PathLike[str], top: int | None = None) -> Bernoulli:
    """Return Bernoulli arms from a table of movies with their mean ratings.

    Parameters
    ----------
    path : path
        A comma-separated file with a header: `movie_id`, `ratings` (their number), `mean_stars` (then a mean is the stars over 5) or
        `mean` (in [0, 1]), and perhaps `title`.
    top : int, optional
        How many movies, by number of ratings, ties to the smaller id; all when None.

    Returns
    -------
    Bernoulli
        With `names` and `ids` as `load` gives them.

    Raises
    ------
    MovieLensError
        A ValueError: if the file cannot be read, a column is missing, a movie is there twice, a number is out of range, or there are fewer
        than `top` movies.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "means.csv"
    >>> _ = file.write_text("movie_id,ratings,mean_stars\\n7,10,4.0\\n3,20,2.5\\n")
    >>> arms = load_means(file)
    >>> arms.ids, arms.means
    ((3, 7), array([0.5, 0.8]))
    """
    name = os.fspath(path)
    try:
        kinds = {"movie_id": pl.Int64, "ratings": pl.Int64, "mean_stars": pl.Float64, "mean": pl.Float64}
        frame = pl.read_csv(Path(path), schema_overrides=kinds)
    except OSError as error:
        raise MovieLensError(f"{name} cannot be read: {error.strerror or error}; name a file with movie_id, ratings, mean_stars") from None
    except pl.exceptions.PolarsError as error:
        raise MovieLensError(f"{name} cannot be read: {str(error).splitlines()[0]}; it must be comma-separated, with a header") from None
    column = "mean" if "mean" in frame.columns else "mean_stars"
    for needed in ("movie_id", "ratings", column):
        if needed not in frame.columns:
            raise MovieLensError(f"{name} has no column {needed} but {', '.join(frame.columns)}; name it so, or add it")
    most = 1.0 if column == "mean" else 5.0
    bad = frame.filter(pl.any_horizontal(pl.col("movie_id", "ratings", column).is_null()) | ~pl.col(column).is_between(0.0, most)
                       | pl.col("movie_id").is_duplicated() | (pl.col("ratings") < 1))
    if len(bad):
        raise MovieLensError(f"{name}: {bad.row(0, named=True)} is no movie with an id of its own, at least one rating and a {column} "
                             f"from 0 to {most:g}; mend or remove the line")
    n = len(frame) if top is None else check_count("top", top, 1)
    if not 1 <= n <= len(frame):
        raise MovieLensError(f"top is {n} but {name} has {len(frame)} movies; ask for as many at most")
    frame = frame.sort(["ratings", "movie_id"], descending=[True, False]).head(n)
    names = frame["title"].to_list() if "title" in frame.columns else [f"movie {movie}" for movie in frame["movie_id"]]
    return Bernoulli(frame[column].to_numpy() / most).with_names(names, frame["movie_id"].to_list())


def like(n: int, seed: int = 0) -> Categorical:
    """Return n SYNTHETIC arms that look like the most-rated movies of MovieLens: no rating in them was given by anyone.

    Each arm's ten levels, half a star to five, are a discretised normal distribution, with whole stars given more often than halves, as
    people do. Average stars are spread around 3.7 with standard deviation 0.4; the law of the arms is a function of (n, seed), and the
    first arms of a larger n are those of a smaller one.

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

    Examples
    --------
    >>> arms = like(3)
    >>> arms.names[0], arms.n_arms, bool((arms.means > 0.4).all())
    ('synthetic movie 1', 3, True)
    """
    n, seed = check_count("n", n, 1), check_count("seed", seed, 0)
    stars = np.arange(_LEAST, _MOST + 1) / 2.0
    rows = []
    for arm in range(n):
        rng = np.random.Generator(np.random.PCG64([seed, arm]))
        centre, spread = np.clip(rng.normal(3.7, 0.4), 1.0, 4.8), rng.uniform(0.75, 1.05)
        weights = np.exp(-0.5 * ((stars - centre) / spread) ** 2) * np.where(stars % 1.0 == 0.0, 1.0, rng.uniform(0.3, 0.6))
        rows.append(weights / weights.sum())
    return Categorical(stars / 5.0, rows).with_names([f"synthetic movie {arm + 1}" for arm in range(n)])


# Files ---------------------------------------------------------------------------------------------


@contextmanager
def _files(path: Path) -> Iterator[list[_File]]:
    """Give the files of a folder, of an archive, or the file and its neighbours; the first is the one that was named, if one was."""
    try:
        if path.is_dir():
            yield [_plain(file) for file in sorted(path.rglob("*"))[:_MOST_FILES] if file.is_file() and not file.name.startswith(".")]
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                members = [info for info in archive.infolist() if not info.is_dir()][:_MOST_FILES]
                yield [_member(archive, info, path) for info in members]
        else:
            named = _plain(path)
            if named.head and named.head[0].startswith("PK"):
                raise MovieLensError(f"{path} is a damaged zip archive; download it again")
            neighbours = [file for file in sorted(path.parent.iterdir())[:_MOST_FILES] if file.is_file() and file != path]
            yield [named, *(_plain(file) for file in neighbours if file.suffix.lower() in (".csv", ".dat", ".item"))]
    except (zipfile.BadZipFile, EOFError) as error:
        raise MovieLensError(f"{path} is a damaged zip archive ({error}); download it again") from None
    except OSError as error:
        raise MovieLensError(f"{path} cannot be read: {error.strerror or error}; {_DOWNLOAD}") from None


def _plain(path: Path) -> _File:
    with open(path, "rb") as file:
        return _File(str(path), lambda: open(path, "rb"), _first_lines(file), path)


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> _File:
    with archive.open(info) as file:
        return _File(f"{path}:{info.filename}", lambda: archive.open(info), _first_lines(file), None)


def _first_lines(file: IO[bytes]) -> tuple[str, ...]:
    lines = file.read(4096).decode("latin-1").removeprefix("\u00ef\u00bb\u00bf").splitlines()
    return tuple(line for line in (lines[:-1] if len(lines) > 1 else lines)[:20] if line)


def _find_ratings(path: str, files: Sequence[_File]) -> tuple[_File, _Format]:
    found = [(file, form) for file in files for form in _RATINGS if file.is_of(form)]
    if Path(path).is_file() and not zipfile.is_zipfile(path):
        found = [pair for pair in found if pair[0] is files[0]]
    if len(found) > 1:
        usual = [pair for pair in found if re.split(r"[/\\:]", pair[0].name)[-1].lower() in _USUAL_NAMES]
        if len(usual) != 1:
            names = ", ".join(pair[0].name for pair in (usual or found)[:5])
            raise MovieLensError(f"{path} holds several files of ratings ({names}); name the one to read")
        found = usual
    if found:
        return found[0]
    if all(not file.head for file in files):
        raise MovieLensError(f"{path} is empty; {_DOWNLOAD}")
    for file in files:
        for separator in (",", "\t"):
            missing = {"userid", "movieid", "rating"} - set(file.columns(separator))
            if len(missing) == 1 and (file is files[0] or "rating" not in missing):
                raise MovieLensError(f"{file.name} has no column {missing.pop()} but {', '.join(file.columns(separator))}; {_DOWNLOAD}")
    raise MovieLensError(f"{path} holds no ratings in a form that MovieLens uses; {_DOWNLOAD}")


def _read_titles(files: Sequence[_File]) -> dict[int, str] | None:
    for file in files:
        for form in _TITLES:
            if file.is_of(form):
                return _titles_of(file, form)
    return None


def _titles_of(file: _File, form: _Format) -> dict[int, str]:
    with file.open() as raw:
        lines = raw.read().decode(form.encoding, errors="replace").removeprefix("\ufeff").splitlines()
    rows = iter(csv.reader(lines)) if form.separator == "," else (line.split(form.separator) for line in lines)
    at = [0, 1]
    if form.header:
        names = [name.strip().lower() for name in next(rows)]
        at = [names.index(str(column)) for column in form.columns]
    return {int(row[at[0]]): row[at[1]].strip() for row in rows if len(row) > max(at) and row[at[0]].strip().isdigit()}


@contextmanager
def _on_disk(file: _File) -> Iterator[Path]:
    """Give the file's path; what is in an archive is unpacked to a temporary file, whose checksum is compared on the way."""
    if file.path is not None:
        yield file.path
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings"
        with file.open() as packed, open(path, "wb") as plain:
            shutil.copyfileobj(packed, plain, 1 << 20)
        yield path


def _scan(path: Path, form: _Format) -> pl.LazyFrame:
    """Return user, movie and rating of each line."""
    scan = pl.scan_csv(path, separator=form.separator, has_header=form.header, infer_schema=False)
    names = scan.collect_schema().names()
    if form.header:
        lower = [name.strip().lower() for name in names]
        chosen = [names[lower.index(str(column))] for column in form.columns]
    else:
        chosen = [names[int(column)] for column in form.columns]
    kinds = {"user": pl.Int64, "movie": pl.Int64, "rating": pl.Float64}
    return scan.select(pl.col(name).str.strip_chars().cast(kind).alias(new)
                       for name, (new, kind) in zip(chosen, kinds.items(), strict=True))
