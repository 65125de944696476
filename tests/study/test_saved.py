"""Results in files of their own: everything comes back, and what is no such file is refused."""

import io
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.arms import movielens
from rai_sim.arms.base import LAWS, Arms
from rai_sim.engine.blocks import Block, Setting
from rai_sim.study import StoreWarning, saved
from rai_sim.study.saved import load_result, save_result


@dataclass(frozen=True)
class Nines(Algorithm):
    """Takes 9 pulls and names the best arm; of any law, without drawing."""

    more: int = 0

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Write them."""
        block.pulls[:] = 9 + self.more + np.arange(len(block.pulls)) + first
        block.rounds[:] = 1
        block.finished[:] = block.correct[:] = True
        block.representatives[:] = np.flatnonzero(setting.cluster_of == 0)[:1]


class Penny(rai.Bernoulli):
    """A law of the user's own."""


@pytest.fixture(autouse=True)
def registries() -> Iterator[None]:
    """Have the classes of this file known in its tests alone."""
    ALGORITHMS["nines"], LAWS["penny"] = Nines, Penny
    yield
    ALGORITHMS.pop("nines", None)
    LAWS.pop("penny", None)


del ALGORITHMS["nines"], LAWS["penny"]

ARMS: dict[str, Arms] = {
    "bernoulli": rai.Bernoulli([0.1 + 0.2, 1 / 3, 0.7]),
    "gaussian": rai.Gaussian([1e-300, -1e50, 3.0], sd=1 / 3),
    "categorical": rai.Categorical(
        [0, 1 / 3, 1], [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.1, 0.1, 0.8]]
    ),
    "recorded": rai.Recorded(np.random.default_rng(0).random((3, 50)), means=[0.1, 0.2, 0.3]),
    "movies": movielens.like(3),
    "named": rai.Bernoulli([0.9, 0.5]).with_names(["Stalker", "=1+1\n\u2192"], [2**40, -1]),
    "own": Penny([0.25, 0.5]),
}


@pytest.mark.parametrize("law", ARMS)
def test_everything_comes_back(law: str, tmp_path: Path) -> None:
    """Arms of every law with their names, to the bit; options, seeds beyond 64 bits, ranges."""
    arms = ARMS[law]
    problem = rai.best_arm(arms, strict=False)
    options: dict[str, Any] = {"delta": 1 / 3, "seed": 2**2047 + 1, "max_pulls": 10**12}
    parts = [
        rai.simulate(problem, Nines(more=2), replications=3, first_replication=k, **options)
        for k in (0, 2**40)
    ]
    result, file = rai.Result.merge(parts), tmp_path / f"{law}[1].parquet"
    result.save(file)
    back = rai.load_result(file)
    assert back == result
    assert back.ranges == ((0, 3), (2**40, 2**40 + 3))
    assert back.experiment.identity() == result.experiment.identity()
    assert (back.problem.arms.names, back.problem.arms.ids) == (arms.names, arms.ids)
    assert (back.seconds, back.compile_seconds) == (result.seconds, result.compile_seconds)
    assert str(back.summary()) == str(result.summary())
    assert os.listdir(tmp_path) == [file.name]


def test_what_a_file_says_of_itself(tmp_path: Path) -> None:
    """Rows for any reader, and in the metadata what was run, when, where and with what."""
    result = rai.simulate(rai.table_problem(2), rai.Vanilla(), replications=5)
    save_result(result, tmp_path / "vanilla.parquet")
    assert load_result(tmp_path / "vanilla.parquet") == result
    assert pl.read_parquet(tmp_path / "vanilla.parquet").equals(result.to_frame())
    about = json.loads(pl.read_parquet_metadata(tmp_path / "vanilla.parquet")["rai_sim"])
    run = about["experiment"]
    assert run["experiment"] == result.experiment.identity()
    assert (run["algorithm"], run["delta"], run["seed"]) == ("Vanilla(merging=True)", 0.01, "0")
    assert about["instance"]["clusters"] == [3, 5, 2]
    assert about["saved_with"]["rai_sim"] == rai.__version__
    assert {"python", "system", "processor", "libraries"} <= about["saved_with"].keys()
    assert about["saved"].startswith("20")


def test_one_cluster_has_an_infinite_gap(tmp_path: Path) -> None:
    """For which JSON has no number."""
    problem = rai.top(rai.Bernoulli([0.5, 0.5]), 2)
    result = rai.simulate(problem, rai.Vanilla(), replications=2)
    result.save(tmp_path / "one.parquet")
    assert rai.load_result(tmp_path / "one.parquet") == result


@pytest.mark.parametrize("unknown", ["algorithm", "reward law"])
def test_what_is_not_known_here(tmp_path: Path, unknown: str) -> None:
    """It has a stand-in that says what to import; the numbers are all there, further replications
    are refused, and so is saving half of it."""
    arms, file = Penny([0.25, 0.5, 0.75]), tmp_path / "own.parquet"
    result = rai.simulate(rai.best_arm(arms), Nines(), replications=4)
    result.save(file)
    name = "Nines" if unknown == "algorithm" else "Penny"
    (ALGORITHMS if unknown == "algorithm" else LAWS).pop(name.lower())
    with pytest.warns(
        StoreWarning,
        match=f"{unknown} {name.lower()} is not known here: import .* before the file is",
    ):
        back = rai.load_result(file)
    assert back == result
    assert back.experiment.identity() == result.experiment.identity()
    assert (back.algorithm.label, type(back.problem.arms).__name__) == ("Nines(more=0)", "Penny")
    assert back.problem.arms.means.tolist() == [0.25, 0.5, 0.75]
    assert back.summary().mean == result.summary().mean
    with pytest.raises(ValueError, match=f"cannot be .*: {unknown} {name.lower()} is not known"):
        rai.simulate(back.problem, back.algorithm, replications=1)
    with pytest.raises(ValueError, match=f"the result cannot be saved, .*{name.lower()} is not"):
        back.save(file)


def test_of_other_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an earlier version drew can be looked at, and is another experiment."""
    result = rai.simulate(rai.table_problem(), rai.Butterscotch(), replications=2)
    for module in ("study.task", "simulation.experiment"):
        monkeypatch.setattr(f"rai_sim.{module}.STREAM_VERSION", 2)
    old = rai.simulate(rai.table_problem(), rai.Butterscotch(), replications=2)
    old.save(tmp_path / "old.parquet")
    monkeypatch.undo()
    ALGORITHMS["nines"], LAWS["penny"] = Nines, Penny
    with pytest.warns(StoreWarning, match="has the streams of version 2, this rai_sim those of"):
        back = rai.load_result(tmp_path / "old.parquet")
    assert back.pulls.tolist() == result.pulls.tolist()
    assert back != result
    assert back.experiment.why_not_run is not None


def test_a_name_that_is_no_parquet(tmp_path: Path) -> None:
    """Is refused, as is a folder that is not there; what was there stays."""
    result = rai.simulate(rai.table_problem(), rai.Butterscotch(), replications=2)
    with pytest.raises(ValueError, match=r"path is .*csv'; a result is saved as Parquet: give a"):
        result.save(tmp_path / "result.csv")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        result.save(tmp_path / "nowhere" / "result.parquet")
    words = r"path is .*result\.parquet', which cannot be read: .*; name a file that Result.save"
    with pytest.raises(FileNotFoundError, match=words):
        rai.load_result(tmp_path / "result.parquet")
    given: Any
    for given, words in (
        (None, "path is None; give a path"),
        ("", "path is '', which names nothing"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            rai.load_result(given)
        with pytest.raises((TypeError, ValueError), match=words):
            result.save(given)
    assert list(tmp_path.iterdir()) == []


def resealed(file: Path, **changes: Any) -> None:
    """Write a file anew with other metadata, as another version of the package might."""
    about = json.loads(pl.read_parquet_metadata(file)["rai_sim"]) | changes | {"sealed": "0" * 64}
    memory = io.BytesIO()
    pl.read_parquet(file).write_parquet(memory, metadata={"rai_sim": json.dumps(about)})
    data = saved._sealed(memory.getvalue())
    assert data is not None
    file.write_bytes(data)


def test_what_is_no_saved_result(tmp_path: Path) -> None:
    """Other files, later versions, changed rows and settings: a ValueError that says which."""
    result = rai.simulate(rai.table_problem(), rai.Butterscotch(), replications=3)
    file = tmp_path / "result.parquet"

    def refused(said: str) -> None:
        with pytest.raises(ValueError, match=f"which holds no result: {said}"):
            rai.load_result(file)

    file.write_text("pulls\n3\n")
    refused("it has no seal; name a file that Result.save has written")
    result.to_frame().write_parquet(file)
    refused("it has no seal")
    result.save(file)
    about = pl.read_parquet_metadata(file)["rai_sim"]
    more = pl.read_parquet(file).with_columns(pl.col("pulls") + 1)
    more.write_parquet(file, metadata={"rai_sim": about})
    refused("it was damaged, or changed after it was saved")
    result.save(file)
    resealed(file)
    assert rai.load_result(file) == result
    resealed(file, format=2, saved_with={"rai_sim": "9.1"})
    refused("it has format 2, this rai_sim reads format 1; use rai_sim 9.1")
    resealed(file, format=1, experiment=[])
    refused("what is written in it makes no sense")
    result.save(file)
    resealed(file, experiment=json.loads(about)["experiment"] | {"seed": "7"})
    with pytest.warns(StoreWarning, match="its setting is was another thing"):
        assert rai.load_result(file).experiment.why_not_run is not None


def test_damage_is_an_error_of_values(tmp_path: Path) -> None:
    """Whatever bit is flipped, wherever the file ends, or whatever stands after it."""
    result = rai.simulate(rai.table_problem(), rai.Butterscotch(), replications=3)
    file = tmp_path / "result.parquet"
    result.save(file)
    whole, rng = file.read_bytes(), np.random.default_rng(1)
    for at in rng.integers(0, len(whole), 60).tolist():
        damaged = bytearray(whole)
        damaged[at] ^= 1 << int(rng.integers(8))
        for data in (bytes(damaged), whole[:at], whole + damaged[at : at + 1]):
            file.write_bytes(data)
            with pytest.raises(ValueError, match=r"it has no seal|it was damaged"):
                rai.load_result(file)
    file.write_bytes(whole)
    assert rai.load_result(file) == result
