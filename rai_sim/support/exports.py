"""Frames as files for other programs: CSV or Parquet, as the name's end says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rai_sim.support.errors import ArgumentValueError
from rai_sim.support.files import harmless, write_atomically

if TYPE_CHECKING:
    import polars as pl


def write_table(frame: pl.DataFrame, path: Path, about: dict[str, Any] | None = None) -> None:
    """Write a frame; in CSV lists become text, their entries apart by blanks, and texts are made
    `harmless`.

    Parameters
    ----------
    frame : polars.DataFrame
        Of numbers, texts, truth values and lists of integers.
    path : Path
        A name that ends in .csv or .parquet; a file of that name is replaced.
    about : dict, optional
        What Parquet's metadata hold, as JSON, under the key rai_sim.

    Raises
    ------
    ValueError
        If the name ends otherwise.
    OSError
        If the file cannot be written; what was there stays.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> path = Path(tempfile.mkdtemp()) / "arms.csv"
    >>> write_table(pl.DataFrame({"name": ["=1+1"], "arms": [[3, 5]]}), path)
    >>> path.read_text()
    "name,arms\\n'=1+1,3 5\\n"
    """
    kind = path.suffix.lower()
    if kind == ".parquet":
        metadata = None if about is None else {"rai_sim": json.dumps(about)}
        write_atomically(path, lambda file: frame.write_parquet(file, metadata=metadata))
    elif kind == ".csv":
        plain = _plain(frame)
        write_atomically(path, plain.write_csv)
    else:
        raise ArgumentValueError(
            "path",
            f"path is {str(path)!r}, which ends in neither .csv nor .parquet; give a name that does",
        )


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame as CSV can hold it."""
    import polars as pl

    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
    frame = frame.with_columns(pl.col(lists).cast(pl.List(pl.String)).list.join(" "))
    for name, kind in frame.schema.items():
        if kind == pl.String:  # of many rows few texts differ
            texts = frame[name].drop_nulls().unique()
            cells = pl.Series(map(harmless, texts), dtype=pl.String)
            frame = frame.with_columns(pl.col(name).replace_strict(texts, cells, default=None))
    return frame
