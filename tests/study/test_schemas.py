"""Columns of a store's parts: what is left out where nobody has a value, and null where a part lacks
it."""

import polars as pl
import pytest

from rai_sim.study.schemas import AT_CAP, KEEPS, SCHEMAS, as_written, filled, schema_of


@pytest.mark.parametrize("keep", sorted(KEEPS))
def test_columns_by_what_is_kept(keep: str) -> None:
    """Those of all stores first; pulls by arm where they are kept; those about caps last."""
    kind = KEEPS[keep]
    columns = list(schema_of(kind, keep))
    assert columns[: len(SCHEMAS[kind])] == list(SCHEMAS[kind])
    assert (keep in columns) == keep.startswith("arm_pulls")
    assert columns[-len(AT_CAP[kind]) :] == list(AT_CAP[kind])
    assert schema_of("tasks", keep) == SCHEMAS["tasks"]


def test_columns_about_caps_are_written_where_there_is_a_value() -> None:
    """Each by itself, of the right kind of parts alone; other empty columns stay."""
    frame = pl.DataFrame(
        {"pulls": [None, None], "recommended": [None, [3]], "recommended_correct": [None, None]}
    )
    assert as_written("replications", frame).columns == ["pulls", "recommended"]
    assert as_written("aggregates", frame).equals(frame)
    assert as_written("replications", frame[:1]).columns == ["pulls"]


def test_what_a_part_lacks_is_null() -> None:
    """In the order of the schema, of its type; what it has besides is left out."""
    frame = pl.DataFrame({"more": [1, 2], "b": [3, 4]})
    schema = {"a": pl.Boolean, "b": pl.Int64, "c": pl.List(pl.Int32)}
    full = filled(frame, frame.columns, schema)
    assert full.schema == schema
    assert full.rows() == [(None, 3, None), (None, 4, None)]
    assert filled(frame.lazy(), frame.columns, schema).collect().equals(full)
