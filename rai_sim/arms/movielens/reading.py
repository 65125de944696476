"""From the lines of a file to ratings and titles: each line is read as it stands, or the file is
refused with the line's number."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rai_sim.arms.movielens.files import DOWNLOAD, MOST_BYTES, MOST_SMALL, File, MovieLensError
from rai_sim.arms.movielens.forms import Form, fields_of
from rai_sim.support.wording import count, shortened

#: What a movie can get, in half stars.
LEAST, MOST = 1, 10
_LARGEST_ID = 2**31
_MOST_RATINGS = 10**8
_COLUMNS = {"user": pl.Int64, "movie": pl.Int64, "rating": pl.Float64, "time": pl.Float64}


# Ratings
# --------------------------------------------------------------------------------------------------


def read_ratings(file: File, form: Form) -> pl.DataFrame:
    """Return movie, half_stars and the number of such ratings, after checking every line; it takes
    sixteen bytes a rating."""
    keys: list[NDArray[np.uint64]] = []
    cells = pl.DataFrame(schema={"movie": pl.Int64, "half_stars": pl.Int64, "times": pl.Int64})
    wrong: list[pl.DataFrame] = []
    found = 0
    for first, ratings in _blocks(file, form):
        _refuse_ids(file.name, ratings, first)
        half_stars = pl.col("rating") * 2.0
        right = (half_stars == half_stars.floor()) & half_stars.is_between(LEAST, MOST)
        wrong.append(ratings.with_row_index("line", first).filter(~right))
        ratings = ratings.filter(right).with_columns(
            half_stars.cast(pl.Int64).alias("half_stars"), times=pl.lit(1, pl.Int64)
        )
        cells = (
            pl.concat([cells, ratings.select(cells.columns)])
            .group_by("movie", "half_stars")
            .agg(pl.col("times").sum())
        )
        keys.append(
            (ratings["user"].cast(pl.UInt64) * 2**32 + ratings["movie"].cast(pl.UInt64)).to_numpy()
        )
        found += len(ratings)
        if found > _MOST_RATINGS:
            raise MovieLensError(
                "path",
                f"{file.name} holds more than {_MOST_RATINGS:,} ratings, three times as many as "
                f"the largest set of MovieLens; {DOWNLOAD}",
            )
    _refuse_ratings(file.name, wrong)
    if not found:
        raise MovieLensError("path", f"{file.name} holds no ratings; {DOWNLOAD}")
    pairs = np.concatenate(keys)
    keys.clear()
    pairs.sort()
    _refuse_duplicates(file, form, pairs)
    return cells


def _blocks(file: File, form: Form) -> Iterator[tuple[int, pl.DataFrame]]:
    """Yield the number of a line, and user, movie and rating of the lines from there on."""
    for first, body in file.lines(MOST_BYTES):
        if form.header and first == 1:
            first, body = 2, body.partition(b"\n")[2]
        yield first, _numbers(file, form, first, body)


def _numbers(file: File, form: Form, first: int, body: bytes) -> pl.DataFrame:
    """Return user, movie and rating of whole lines, of which the first has a number; refuse lines
    that lack one."""
    flaws: dict[int, str] = {}
    texts = _split(form, body)
    if texts is None:
        texts, flaws = _split_one_by_one(form, body)
    if form.separator == ";":
        texts = texts.with_columns(pl.col("rating").str.replace(",", ".", literal=True))
    numbers = texts.select(
        pl.col(name).str.strip_chars(" ").cast(_COLUMNS[name], strict=False)
        for name in texts.columns
    )
    bad = np.flatnonzero(
        numbers.select(pl.any_horizontal(pl.all().is_null())).to_series().to_numpy()
    )
    if bad.size:
        at = int(bad[0])
        line = body.split(b"\n", at + 1)[at].decode("latin-1")
        last = first + len(numbers) - 1
        flaw = flaws.get(at) or _what_is_missing(
            texts.row(at, named=True), numbers.row(at, named=True)
        )
        raise MovieLensError(
            "path",
            f"{file.name} cannot be read: up to line {last:,} it has {bad.size:,} lines without "
            f"user, movie or rating, the first is line {first + at:,}, {shortened(line)!r}: {flaw}; "
            "mend it, or download the set again",
        )
    return numbers


def _split(form: Form, body: bytes) -> pl.DataFrame | None:
    """Return the texts of the columns to take, or None where it takes a closer look.

    A reader of CSV decides for itself what quotes, empty lines, and lines with too few or too many
    fields mean. So quotes are switched off, and what it returns is taken only if it has as many
    rows as there are line feeds, there are as many separators as so many rows have, and no row ends
    early: then none has a field too many either, and each is one line, cut at its separators.
    """
    separator, quotes = form.separator, form.separator in (",", ";") and b'"' in body
    if separator == "::":
        separator = "\t"
        if separator.encode() in body:
            return None
        body = body.replace(b"::", b"\t")
    rows = body.count(b"\n")
    if (
        not body.isascii()
        or b"\0" in body
        or b"\r" in body
        or body.count(separator.encode()) != rows * (form.width - 1)
    ):
        return None
    try:
        frame = pl.read_csv(
            body, has_header=False, separator=separator, quote_char=None, infer_schema=False
        )
    except (pl.exceptions.PolarsError, OSError):
        return None
    if frame.shape != (rows, form.width) or frame.to_series(form.width - 1).null_count():
        return None
    if (
        quotes
        and not frame.select(
            pl.all_horizontal(pl.all().str.contains('^(?:[^"]*|"[^"]*")$').all())
        ).item()
    ):
        return None
    taken = frame.select(
        pl.nth(at).alias(name) for at, name in zip(form.at, _COLUMNS, strict=False)
    )
    return taken.with_columns(pl.all().str.replace('^"(.*)"$', "${1}")) if quotes else taken


def _split_one_by_one(form: Form, body: bytes) -> tuple[pl.DataFrame, dict[int, str]]:
    """Return the same as `_split` from a line at a time, nothing for lines that cannot be read, and
    what is wrong with those."""
    names = list(_COLUMNS)[: len(form.at)]
    rows: list[Sequence[str | None]] = []
    flaws = {}
    for at, line in enumerate(body.decode("latin-1").split("\n")[:-1]):
        try:
            fields = fields_of(line, form.separator)
            if len(fields) != form.width:
                raise csv.Error(
                    f"it has {len(fields)} fields, not {form.width}" if line else "it is empty"
                )
            rows.append([fields[column] for column in form.at])
        except csv.Error as error:
            rows.append([None] * len(names))
            flaws[at] = str(error)
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row"), flaws


def _what_is_missing(texts: dict[str, str | None], numbers: dict[str, float | None]) -> str:
    name = next(name for name, number in numbers.items() if number is None)
    return (
        f"its {name} is {texts[name]!r}, which is no number" if texts[name] else f"it has no {name}"
    )


def _refuse_ids(name: str, ratings: pl.DataFrame, first: int) -> None:
    for who in ("user", "movie"):
        wrong = np.flatnonzero(~ratings[who].is_between(1, _LARGEST_ID - 1).to_numpy())
        if wrong.size:
            at = int(wrong[0])
            raise MovieLensError(
                "path",
                f"{name}, line {first + at:,}: {who} {ratings[who][at]} is no id of MovieLens: "
                "those are positive integers below 2^31; remove such lines",
            )


def _refuse_ratings(name: str, wrong: Sequence[pl.DataFrame]) -> None:
    found = pl.concat(wrong) if wrong else pl.DataFrame()
    if len(found):
        line, movie, rating, user = found.select("line", "movie", "rating", "user").row(0)
        others = f", nor are {len(found) - 1:,} more below" if len(found) > 1 else ""
        raise MovieLensError(
            "path",
            f"{name}, line {line:,}: rating {rating:g} of movie {movie} by user {user} is no number "
            f"of half stars from 0.5 to 5{others}; remove or mend such lines",
        )


def _refuse_duplicates(file: File, form: Form, pairs: NDArray[np.uint64]) -> None:
    """Refuse a user's second rating of a movie, of sorted pairs of them; its line is looked for in
    the file, which is read again."""
    twice = np.flatnonzero(pairs[1:] == pairs[:-1])
    if twice.size:
        user, movie = divmod(int(pairs[twice[0]]), 2**32)
        theirs = (pl.col("user") == user) & (pl.col("movie") == movie)
        lines = [
            line
            for first, ratings in _blocks(file, form)
            for line in ratings.with_row_index("line", first).filter(theirs)["line"]
        ]
        raise MovieLensError(
            "path",
            f"{file.name}, line {lines[1]:,}: user {user} has rated movie {movie} in line "
            f"{lines[0]:,}, too; {count(twice.size, 'line')} too many: keep one rating a user and "
            "movie",
        )


# Titles, and tables of means
# --------------------------------------------------------------------------------------------------


def rows_of(file: File, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield number and fields of each line of a small file; UTF-8 if all of it decodes as that,
    else Latin-1."""
    raw = b"".join(block for _, block in file.lines(MOST_SMALL))
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    for number, line in enumerate(io.StringIO(text, newline="\n"), 1):
        try:
            yield number, fields_of(line.removesuffix("\n"), separator)
        except csv.Error as error:
            raise MovieLensError(
                "path",
                f"{file.name}, line {number:,}, {shortened(line)!r}: {error}; mend that line",
            ) from None


def read_titles(file: File, form: Form) -> dict[int, str]:
    """Return the title of each movie."""
    exact = form.separator in (",", ";")
    titles: dict[int, str] = {}
    for number, row in rows_of(file, form.separator):
        if form.header and number == 1:
            continue
        flaw = ""
        if len(row) < form.width or (exact and len(row) > form.width):
            flaw = f"it has {len(row)} fields, not {form.width}" if row != [""] else "it is empty"
        elif not re.fullmatch(r" *[0-9]{1,10} *", row[form.at[0]]):
            flaw = f"its movie is {row[form.at[0]]!r}, which is no positive integer"
        else:
            movie = int(row[form.at[0]])
            # A title may hold two colons: it ends before the last field.
            title = "::".join(row[1:-1]) if form.separator == "::" else row[form.at[1]]
            if not title.strip(" "):
                flaw = f"movie {movie} has no title"
            elif titles.setdefault(movie, title.strip(" ")) != title.strip(" "):
                flaw = f"movie {movie} has another title above, {titles[movie]!r}"
        if flaw:
            raise MovieLensError(
                "path",
                f"{file.name}, line {number:,}: {flaw}; mend that line, or download the set again",
            )
    return titles
