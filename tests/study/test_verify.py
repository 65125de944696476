"""Stored replications that are run again."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from studies import grid, pairs

import rai_sim as rai
from rai_sim.study import Study
from rai_sim.study.store import Store
from rai_sim.study.verify import Verification


@pytest.mark.landing
@pytest.mark.parametrize("keep", ["replications", "aggregates"])
def test_verify_finds_what_was_changed(tmp_path: Path, keep: str) -> None:
    """A store as it was written passes; one number changed in each part, with its name made to fit,
    is found: the negative control."""
    study = grid(replications=40, keep=keep)
    results = study.run(tmp_path)
    for n_jobs in (1, 2):
        found = results.verify(10**6, n_jobs=n_jobs)
        assert found.checked == 320
        assert found.mismatches == ()
    assert "all are the same to the bit" in str(found)
    some = results.verify(11, seed=3)
    assert some.checked >= 11 if keep == "aggregates" else some.checked == 11
    (path,) = tmp_path.glob(f"{keep}-*.parquet")
    frame = pl.read_parquet(path)
    column = "pulls" if keep == "replications" else "pulls_most"
    changed = frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 5)
        .then(pl.col(column) + 1)
        .otherwise(pl.col(column))
        .alias(column)
    )
    path.unlink()
    Store(tmp_path, keep).write(keep, changed, {})
    found = study.results(tmp_path).verify(10**6)
    assert found.checked == 320
    assert len(found.mismatches) == 1
    assert "1 mismatches, first" in str(found)
    if keep == "replications":
        representatives = (
            pl.when(pl.int_range(pl.len()) == 9)
            .then(pl.lit([9], pl.List(pl.Int32)))
            .otherwise(pl.col("representatives"))
        )
        next(tmp_path.glob(f"{keep}-*.parquet")).unlink()
        Store(tmp_path, keep).write(
            keep, frame.with_columns(representatives.alias("representatives")), {}
        )
        assert len(study.results(tmp_path).verify(10**6).mismatches) == 1


def test_a_sample_must_be_a_number(tmp_path: Path) -> None:
    """Of one replication at least; and no seed or worker may be anything else."""
    results = grid(replications=1).run(tmp_path, n_jobs=np.int64(1))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="sample is 0; it must be at least 1"):
        results.verify(0)
    with pytest.raises(ValueError, match="seed is -1"):
        results.verify(1, seed=-1)
    with pytest.raises(ValueError, match="n_jobs is 0"):
        results.verify(1, n_jobs=0)


def test_what_verification_says() -> None:
    """In a sentence: nothing to check, nothing found, and of many mismatches the first five."""
    assert str(Verification(0, ())).startswith("nothing of this study is stored yet")
    assert str(Verification(1200, ())) == (
        "1,200 stored replications were run again: all are the same to the bit"
    )
    flaws = tuple(f"flaw {k}" for k in range(6))
    assert str(Verification(9, flaws)) == (
        "9 stored replications were run again: 6 mismatches, first "
        "flaw 0; flaw 1; flaw 2; flaw 3; flaw 4"
    )


def test_nothing_stored_is_nothing_checked(tmp_path: Path) -> None:
    """Nor is what is stored of other tasks."""
    grid(replications=3).run(tmp_path)
    other = Study.grid(pairs(0.4), [rai.Vanilla()], [0.1], replications=3)
    assert other.results(tmp_path).verify() == Verification(0, ())
