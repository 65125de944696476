"""What a file is, told from how it begins: the forms of ratings and of titles, and which files of a
download hold them."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rai_sim.arms.movielens.files import (
    BYTE_ORDER_MARK,
    DOWNLOAD,
    HEAD,
    File,
    MovieLensError,
    MovieLensWarning,
)

_WANTED = ("userid", "movieid", "rating")


@dataclass(frozen=True)
class Family:
    """Ratings and titles that belong together: the names that their files usually have, in small
    letters."""

    ratings: tuple[str, ...]
    titles: tuple[str, ...]


_CSV = Family(("ratings.csv", "rating.csv"), ("movies.csv", "movie.csv"))
_COLONS = Family(("ratings.dat",), ("movies.dat",))
_TABS = Family(("u.data",), ("u.item",))
_HETREC = Family(("user_ratedmovies.dat",), ("movies.dat",))
_FAMILIES = (_CSV, _COLONS, _TABS, _HETREC)
#: Where several files hold ratings (the 100K set has its splits for cross-validation beside the
#: whole), one with such a name is taken.
_USUAL_NAMES = {name for family in _FAMILIES for name in family.ratings}
#: Separators of ratings after a header, and of those without.
_AFTER_HEADER = {",": _CSV, "\t": _HETREC, ";": _CSV}
_WITHOUT_HEADER = {"::": _COLONS, "\t": _TABS, ",": _CSV, ";": _CSV}
#: What files that are no text begin with, and what to do about it.
_STRANGERS = {
    b"PK": "is a zip archive; name it itself",
    b"PAR1": "is a Parquet file; write it as text: "
    "polars.read_parquet(...).write_csv('ratings.csv')",
    b"\xff\xfe": "is text in UTF-16; save it as UTF-8",
    b"\xfe\xff": "is text in UTF-16; save it as UTF-8",
    b"<": "is a page of HTML or XML, as a download may give that needs a login; download it again",
} | dict.fromkeys(
    (b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf", b"Rar!"),
    "is packed; unpack it and give the folder",
)


@dataclass(frozen=True)
class Form:
    """How a file's lines are read.

    Attributes
    ----------
    family : Family
        What it belongs to.
    separator : str
        What stands between two fields; between commas and semicolons there may be quotes.
    header : bool
        Whether the first line names the columns.
    at : tuple of int
        The columns to take: user, movie, rating, and time where there is no header; or movie,
        title.
    width : int
        How many fields a line has; of titles not in CSV, how many at least.
    """

    family: Family
    separator: str
    header: bool
    at: tuple[int, ...]
    width: int


def fields_of(line: str, separator: str) -> list[str]:
    """Return a line's fields, or raise csv.Error; quotes mean nothing but between commas and
    semicolons, and never span lines."""
    for sign, word in (("\0", "NUL byte"), ("\r", "carriage return")):
        if sign in line:
            raise csv.Error(f"it holds a {word}")
    if separator not in (",", ";"):
        return line.split(separator)
    return next(csv.reader([line], delimiter=separator, strict=True)) or [""]


def columns_of(line: str, separator: str) -> list[str]:
    """Return the names of columns, in small letters and without what words may be joined by."""
    try:
        names = fields_of(line, separator)
    except csv.Error:
        return []
    return [re.sub(r"[ _-]", "", name).lower() for name in names]


def find_ratings(path: str, files: Sequence[File], named: bool) -> tuple[File, Form]:
    """Return the file that holds the ratings, and its form, or say why there is none."""
    candidates = files[:1] if named else files
    found = [(file, form) for file in candidates if (form := _ratings_form(file)) is not None]
    for file in candidates:
        if file.flaw is not None and (not found or file.base in _USUAL_NAMES):
            raise file.flaw
    if len(found) > 1:
        usual = [pair for pair in found if pair[0].base in _USUAL_NAMES]
        if len(usual) != 1:
            names = ", ".join(pair[0].name for pair in (usual or found)[:5])
            raise MovieLensError(
                "path", f"{path} holds several files of ratings ({names}); name the one to read"
            )
        found = usual
    if not found:
        raise _no_ratings(path, candidates, named)
    return found[0]


def find_titles(ratings: File, form: Form, files: Sequence[File]) -> tuple[File, Form] | None:
    """Return the file of titles that lies beside the ratings and belongs to their form, and its own
    form."""
    beside = [file for file in files if file.folder == ratings.folder and file is not ratings]
    usual = form.family.titles
    for file in beside:
        if file.flaw is not None and file.base in usual:
            raise file.flaw
    found = [
        (file, titles) for file in beside if (titles := _titles_form(file, form.family)) is not None
    ]
    if len(found) > 1:
        chosen = [pair for pair in found if pair[0].base in usual]
        if len(chosen) != 1:
            names = ", ".join(pair[0].name for pair in (chosen or found)[:5])
            raise MovieLensError(
                "path",
                f"{ratings.name} has several files of titles beside it ({names}); keep one of "
                "them there",
            )
        found = chosen
    if found:
        return found[0]
    for file in beside:
        if file.base in usual:
            warnings.warn(
                f"{file.name} is not in the form of titles that goes with {ratings.name}, so "
                "movies have none",
                MovieLensWarning,
                stacklevel=4,
            )
    return None


def _lines(file: File) -> list[str]:
    """Return the whole lines of a file's head, without empty ones at its end."""
    lines = file.head.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    if len(file.head) >= HEAD and len(lines) > 1:
        lines.pop()
    while lines and not lines[-1].strip():
        lines.pop()
    return [line.decode("latin-1").removesuffix("\r") for line in lines[:20]]


def _mostly(pattern: str, lines: Sequence[str]) -> bool:
    """Tell whether more than half of the lines match, so that one bad line does not hide what a
    file is."""
    return 2 * sum(re.fullmatch(pattern, line) is not None for line in lines) > len(lines)


def _numbers(lines: Sequence[str], separator: str, fields: int) -> bool:
    """Tell whether most lines have so many fields, all of them numbers, and the first is no
    header."""
    rating = "[0-9.,]+" if separator == ";" else "[0-9.]+"
    pattern = separator.join(
        f'"?{number}"?' for number in ("[0-9]+", "[0-9]+", rating, "[0-9.]+")[:fields]
    )
    return not re.search("[A-Za-z]", lines[0]) and _mostly(pattern, lines)


def _named(
    file: File, lines: Sequence[str], separator: str, wanted: Sequence[str], family: Family
) -> Form | None:
    """Return the form of a file with a header that has the wanted columns."""
    names = columns_of(lines[0], separator)
    if not set(wanted) <= set(names):
        return None
    for name in wanted:
        if names.count(name) > 1:
            raise MovieLensError(
                "path", f"{file.name} has {names.count(name)} columns {name}; keep one of them"
            )
    return Form(family, separator, True, tuple(names.index(name) for name in wanted), len(names))


def _ratings_form(file: File) -> Form | None:
    lines = _lines(file)
    if not lines:
        return None
    for separator, family in _AFTER_HEADER.items():
        form = _named(file, lines, separator, _WANTED, family)
        if form is not None:
            return form
    for separator, family in _WITHOUT_HEADER.items():
        if _numbers(lines, separator, 4):
            return Form(family, separator, False, (0, 1, 2, 3), 4)
    return None


def _titles_form(file: File, family: Family) -> Form | None:
    lines = _lines(file)
    if not lines:
        return None
    if family is _CSV:
        forms = (
            _named(file, lines, separator, ("movieid", "title"), family)
            for separator in (",", ";")
            if "rating" not in columns_of(lines[0], separator)
        )
        return next(filter(None, forms), None)
    if family is _HETREC:
        form = _named(file, lines, "\t", ("id", "title"), family)
        return form and replace(form, width=max(form.at) + 1)
    # Three fields, where ratings and tags have four; many, where the 100K set's users have five.
    if family is _COLONS and _mostly(r"[0-9]+::((?!::).)+::((?!::).)*", lines):
        return Form(family, "::", False, (0, 1), 3)
    if family is _TABS and _mostly(r"[0-9]+(\|[^|]*){5,}", lines):
        return Form(family, "|", False, (0, 1), 6)
    return None


def _no_ratings(path: str, files: Sequence[File], named: bool) -> MovieLensError:
    """Return what is wrong with the file that was most likely meant."""
    if all(not file.head for file in files):
        return MovieLensError("path", f"{path} is empty; {DOWNLOAD}")
    for file in files:
        lines = _lines(file)
        for separator in _AFTER_HEADER:
            columns = columns_of(lines[0], separator) if lines else []
            missing = set(_WANTED) - set(columns)
            if len(missing) == 1 and (file is files[0] or "rating" not in missing):
                return MovieLensError(
                    "path",
                    f"{file.name} has no column {missing.pop()} but {', '.join(columns)}; "
                    f"{DOWNLOAD}, or rename a column",
                )
    for file in files:
        if (
            named
            or "rating" in file.base
            or file.base in _USUAL_NAMES
            or file.head.startswith((b"PK", b"PAR1"))
        ):
            flaw = _strangeness(file)
            if flaw:
                return MovieLensError("path", f"{file.name} {flaw}")
    return MovieLensError(
        "path",
        f"{path} holds no ratings in a form that MovieLens uses; {DOWNLOAD}, or one with a header "
        "that names userId, movieId and rating",
    )


def _strangeness(file: File) -> str | None:
    """Return why a file's content is no text of ratings, and what to do."""
    head, lines = file.head, _lines(file)
    for begin, flaw in _STRANGERS.items():
        if head.lstrip().startswith(begin):
            return flaw
    if head[257:262] == b"ustar":
        return "is a tar archive; unpack it and give the folder"
    if b"\0" in head:
        return f"is no text, or none in UTF-8; {DOWNLOAD}"
    if b"\r" in head and b"\n" not in head:
        return "has lines that end in carriage returns alone; save it with line feeds"
    if lines and any(_numbers(lines, separator, 3) for separator in _WITHOUT_HEADER):
        return "has no header to tell users from movies; put the line userId,movieId,rating, in the order of its columns, before the others"
    return None
