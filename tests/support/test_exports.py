"""Frames as files for other programs."""

import json
from pathlib import Path

import polars as pl
import pytest

from rai_sim.support.exports import write_table

FRAME = pl.DataFrame(
    {
        "name": ["=1+1", None, "two arms", "two arms"],
        "count": [1, 2, 3, None],
        "share": [0.1 + 0.2, 1e-300, None, -0.5],
        "fine": [True, None, False, True],
        "arms": [[3, 5], [], None, [7]],
        "named": pl.Series([[-1], [2, 1], [0], [4]], dtype=pl.List(pl.Int32)),
    }
)


def test_parquet_holds_everything(tmp_path: Path) -> None:
    """Types too, and in its metadata what it is about."""
    path = tmp_path / "a.PARQUET"
    write_table(FRAME, path, {"runs": [1]})
    assert pl.read_parquet(path).equals(FRAME)
    assert json.loads(pl.read_parquet_metadata(path)["rai_sim"]) == {"runs": [1]}
    write_table(FRAME, path)
    assert "rai_sim" not in pl.read_parquet_metadata(path)


def test_csv_holds_text(tmp_path: Path) -> None:
    """Lists apart by blanks, formulas harmless, nothing where there is nothing, doubles to the
    bit."""
    write_table(FRAME, tmp_path / "a.csv", {"runs": [1]})
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines == [
        "name,count,share,fine,arms,named",
        "'=1+1,1,0.30000000000000004,true,3 5,-1",
        ',2,1e-300,,"",2 1',
        "two arms,3,,false,,0",
        "two arms,,-0.5,true,7,4",
    ]


def test_another_name_is_refused(tmp_path: Path) -> None:
    """Before anything is written."""
    with pytest.raises(ValueError, match=r"path is .*a\.txt', which ends in neither .csv nor"):
        write_table(FRAME, tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []
