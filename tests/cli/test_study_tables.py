"""Tables of studies as files."""

import csv
from pathlib import Path

import polars as pl
import pytest
from command_line import Capture, printed
from hypothesis import given, settings
from hypothesis import strategies as st

from rai_sim.support.exports import write_table
from rai_sim.support.files import from_harmless


@pytest.fixture
def file(formula: Path) -> Path:
    """Return the file of the study that these tests are about."""
    return formula


# CSV
# --------------------------------------------------------------------------------------------------


def test_a_name_like_a_formula(file: Path, tmp_path: Path, capsys: Capture) -> None:
    """It gets an apostrophe in CSV alone; numbers, negative ones too, stay numbers."""
    for kind in ("csv", "parquet"):
        printed(capsys, f"study '{file}' --output '{tmp_path}/s.{kind}'")
    frame, whole = pl.read_csv(tmp_path / "s.csv"), pl.read_parquet(tmp_path / "s.parquet")
    assert whole["instance"].to_list() == ["=1+1, two arms with δ → 0"] * 2
    assert frame["instance"].to_list() == ["'=1+1, two arms with δ → 0"] * 2
    assert [from_harmless(cell) for cell in frame["instance"]] == whole["instance"].to_list()
    assert frame["pulls_mean"].to_list() == whole["pulls_mean"].to_list()
    assert frame.columns == whole.columns


cells = st.text(
    st.one_of(
        st.sampled_from("=+-@\t\r\n'\",;1.e"),
        st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"),
    )
)


@pytest.mark.landing
@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(cells, st.floats(allow_nan=False), st.integers(-(2**63), 2**63 - 1)),
        min_size=1,
        max_size=5,
    )
)
def test_every_text_comes_back_from_csv_and_none_is_run(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, float, int]]
) -> None:
    """Read by another program's parser; numbers are not touched."""
    path = tmp_path_factory.mktemp("cells") / "t.csv"
    write_table(
        pl.DataFrame(
            rows, schema={"text": pl.String, "x": pl.Float64, "n": pl.Int64}, orient="row"
        ),
        path,
    )
    with path.open(encoding="utf-8", newline="") as lines:
        head, *found = csv.reader(lines)
    assert head == ["text", "x", "n"]
    assert [(from_harmless(text), float(x), int(n)) for text, x, n in found] == rows
    for text, _, _ in found:
        assert text[:1] not in tuple("=@\t\r\n")
        assert text[:1] not in ("+", "-") or float(text) is not None
