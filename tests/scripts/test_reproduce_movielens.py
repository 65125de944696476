"""The script for the paper's MovieLens study: every cell is there, comes from the library, and a
cell without end costs no other."""

import csv
import math
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from script_modules import load

import rai_sim as rai
from rai_sim.arms import movielens

SCRIPT = Path(__file__).parents[2] / "scripts" / "reproduce_movielens.py"
TASKS = ["best arm", "1 of top K", "M of top K", "top K", "coarse ranking 3:5:2", "full ranking"]
MEANS = [0.9, 0.8, 0.6, 0.45, 0.3, 0.1]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """Return the script as a module."""
    return load("reproduce_movielens")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return a table of means."""
    path = tmp_path / "means.csv"
    path.write_text(
        "movie_id,ratings,mean\n"
        + "".join(f"{k},{100 - k},{mean}\n" for k, mean in enumerate(MEANS, 1))
    )
    return path


@pytest.mark.landing
def test_every_cell_is_there(
    script: ModuleType, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Six tasks, two numbers of movies, three algorithms, printed, written and drawn; numbers are
    those of `simulate`."""
    words = [
        "--means",
        str(table),
        "--sizes",
        "4,6",
        "--replications",
        "5",
        "--jobs",
        "1",
        "--output",
        str(tmp_path / "out"),
    ]
    assert script.main(words) == 0
    text = capsys.readouterr().out
    with (tmp_path / "out" / "movielens-means.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["task"], row["n_arms"], row["algorithm"]) for row in rows] == [
        (task, n, name)
        for n in ("4", "6")
        for task in TASKS
        for name in ("Vanilla", "Butterscotch", "LUCB")
    ]
    six = rai.Bernoulli(MEANS)
    for row, problem in (
        (rows[-1], rai.full_ranking(six)),
        (rows[-4], rai.coarse_ranking(six, (2, 3, 1))),
        (rows[-7], rai.top(six, 3)),
        (rows[-10], rai.m_of_top(six, 1, 3)),
        (rows[-13], rai.one_of_top(six, 3)),
        (rows[-16], rai.best_arm(six)),
    ):
        assert row["algorithm"] == "LUCB"
        summary = rai.simulate(
            problem, rai.LUCB(), delta=0.01, replications=5, seed=0, max_pulls=10**8
        ).summary()
        assert float(row["pulls_mean"]) == summary.mean
        assert (float(row["pulls_low_95"]), float(row["pulls_high_95"])) == pytest.approx(
            summary.interval
        )
        assert float(row["bottleneck_gap_reward"]) == pytest.approx(problem.bottleneck_gap)
        assert row["note"] == ""
        assert float(row["lower_bound_pulls"]) == summary.lower_bound
        tight = rai.bounds.at_delta(problem, 0.01).pulls
        assert float(row["tight_bound_pulls"]) == tight
        assert tight <= summary.mean
        line = next(
            line for line in text.splitlines() if line.startswith(f"{row['task']:<22}  6")
        ).split()
        assert float(line[-3].replace(",", "")) == pytest.approx(tight, rel=0.01)
        assert float(line[-2].replace(",", "")) == pytest.approx(summary.lower_bound, rel=0.01)
    assert text.count("\n1. LUCB needs the fewest pulls for best arm and 1 of top K: ") == 1
    assert text.count("\n2. Butterscotch almost always needs the fewest elsewhere: ") == 1
    assert text.count("\n3. Full ranking costs most by far (best algorithm on each task): ") == 1
    header = text[: text.index("\nbest arm")].splitlines()[-1]
    assert header.split()[-4:] == ["bound", "Theorem", "1", "gap"]
    assert (tmp_path / "out" / "movielens-means.png").read_bytes().startswith(b"\x89PNG")


def test_a_cell_without_end_says_how_far_it_came(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With no time at all: the first cap, the gap, and no mean; drawn as a bound."""
    monkeypatch.setattr(script, "_FIRST_CAP", 1000)
    arms = rai.Bernoulli([0.5, 0.4999, 0.2, 0.1])
    cell = script.run_cell("best arm", arms, "LUCB", 5, 0, 1, seconds=0.0)
    assert (cell.finished, cell.replications) == (0, 1)
    assert math.isnan(cell.pulls_mean)
    assert cell.note == "not done within 1e+03 pulls; gap 1.0e-04"
    assert "> 1e+03 pulls" in script._cell_text(cell)
    few = script.run_cell(
        "best arm", rai.Bernoulli([0.9, 0.2, 0.1, 0.05]), "Vanilla", 10**9, 0, 1, seconds=0.01
    )
    assert few.finished == few.replications < 10**9
    assert few.note == f"{few.replications} replications in the time given"


@pytest.mark.landing
def test_the_sharper_ones_join(
    script: ModuleType, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seven algorithms a task, the sharper ones with fewer pulls than the paper's; claims are about
    the paper's alone."""
    words = ["--sizes", "4", "--replications", "20", "--jobs", "1", "--algorithms", "all"]
    assert script.main(["--means", str(table), *words, "--output", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "Vanilla, mixture (errors)" in text
    assert "1. LUCB needs the fewest pulls" in text
    with (tmp_path / "movielens-means.csv").open(encoding="utf-8") as lines:
        rows = {(row["task"], row["algorithm"]): row for row in csv.DictReader(lines)}
    assert len(rows) == 6 * 7
    for task in TASKS:
        papers, sharper = (
            float(rows[task, name]["pulls_mean"]) for name in ("Vanilla", "Vanilla, mixture")
        )
        assert sharper < 0.5 * papers
        assert float(rows[task, "track and stop"]["pulls_mean"]) < papers


def test_claims_fall_as_the_numbers_do(script: ModuleType) -> None:
    """Both ways, with the places where they do not hold."""

    def cells(means: dict[str, dict[str, float]]) -> list[Any]:
        blank = dict.fromkeys((field for field in script.Cell.__dataclass_fields__), 0.0)
        return [
            script.Cell(
                **blank | {"task": task, "n_arms": 10, "algorithm": name, "pulls_mean": mean}
            )
            for task in TASKS
            for name, mean in means.get(task, means["else"]).items()
        ]

    usual = {"Vanilla": 3.0, "Butterscotch": 2.0, "LUCB": 4.0}
    easy = {"Vanilla": 3.0, "Butterscotch": 2.0, "LUCB": 1.0}
    full = {"Vanilla": 30.0, "Butterscotch": 20.0, "LUCB": math.nan}
    found = script.claims(
        cells({"best arm": easy, "1 of top K": easy, "full ranking": full, "else": usual})
    )
    assert found[0].endswith("holds (2 of 2).")
    assert found[1].endswith("holds (4 of 4).")
    assert found[2].endswith("holds (N = 10: 10 times M of top K).")
    found = script.claims(cells({"best arm": easy, "top K": easy, "else": usual}))
    assert found[0].endswith(
        "does not hold everywhere (1 of 2; not for 1 of top K N = 10: Butterscotch)."
    )
    assert found[1].endswith("does not hold everywhere (3 of 4; not for top K N = 10: LUCB).")
    assert found[2].endswith("does not hold everywhere (N = 10: 1 times 1 of top K).")


@pytest.mark.landing
def test_without_a_download_arms_are_synthetic(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script runs anywhere, and says what the arms are."""
    seen: list[Any] = []

    def run_all(arms: Any, *_: Any) -> list[Any]:
        seen.append(arms)
        return [
            script.run_cell(task, script.first_arms(rai.Bernoulli(MEANS), 6), name, 2, 0, 1, 1.0)
            for task in TASKS
            for name in ("Vanilla", "Butterscotch", "LUCB")
        ]

    monkeypatch.setattr(script, "run_all", run_all)
    assert script.main(["--sizes", "6", "--output", str(tmp_path)]) == 0
    assert seen == [movielens.like(6)]
    assert (tmp_path / "synthetic.csv").exists()


def test_first_arms_keep_law_and_names(script: ModuleType) -> None:
    """Of both laws."""
    arms = movielens.like(9)
    few = script.first_arms(arms, 4)
    assert few == movielens.like(4)
    assert few.names == movielens.like(4).names
    assert script.first_arms(rai.Bernoulli(MEANS), 4) == rai.Bernoulli(MEANS[:4])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--means", "none.csv"], "none.csv cannot be read"),
        (
            ["--ratings", "none"],
            "none cannot be read: No such file or directory; give a MovieLens download",
        ),
        (["--sizes", "3,10"], "3,10 holds 3; every task needs 4 movies at least"),
    ],
)
def test_bad_input_is_said(
    script: ModuleType, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, one line."""
    with pytest.raises(SystemExit) as caught:
        script.main(words)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err
