"""The script for the paper's tables: every entry is there, in the right form, and comes from the
library."""

import csv
import re
from pathlib import Path
from types import ModuleType

import pytest
from script_modules import load

import rai_sim as rai
from rai_sim import LUCB, Butterscotch, Vanilla
from rai_sim.algorithms.base import Algorithm

SCRIPT = Path(__file__).parents[2] / "scripts" / "reproduce_tables.py"
TASKS = ["(1,0,0)", "(3,0,0)", "(2,2,0)", "(0,5,0)", "(0,0,1)"]
ALGORITHMS: dict[str, Algorithm] = {
    "Vanilla": Vanilla(),
    "Vanilla, no merging": Vanilla(merging=False),
    "Butterscotch": Butterscotch(),
    "Butterscotch, no merging": Butterscotch(merging=False),
    "LUCB": LUCB(),
}
TABLES = {
    2: ["Vanilla", "Butterscotch", "LUCB"],
    3: [name for name in ALGORITHMS if name != "LUCB"],
}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """Return the script as a module."""
    return load("reproduce_tables")


@pytest.mark.landing
def test_every_entry_is_printed_and_written(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two tables, two instances, five tasks, all variants: paper, ours, standard error and
    ratio."""
    file = tmp_path / "entries.csv"
    assert script.main(["--replications", "3", "--seed", "4", "--csv", str(file)]) == 0
    text = capsys.readouterr().out
    with file.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    keys = [(row["table"], row["instance"], row["required"], row["variant"]) for row in rows]
    assert sorted(keys) == sorted(
        (str(table), instance, task, name)
        for table, names in TABLES.items()
        for instance in ("mirrored", "printed")
        for task in TASKS
        for name in names
    )
    for row in rows:
        problem = rai.table_problem(task=TASKS.index(row["required"]) + 1, instance=row["instance"])
        algorithm = ALGORITHMS[row["variant"]]
        summary = rai.simulate(problem, algorithm, delta=0.01, replications=3, seed=4).summary()
        paper, ours = int(row["paper"]), float(row["ours"])
        assert (ours, float(row["standard_error"])) == (summary.mean, summary.standard_error)
        assert float(row["ratio"]) == pytest.approx(ours / paper)
        assert (row["replications"], row["seed"]) == ("3", "4")
        block = text.partition(f"Table {row['table']}, {row['instance']} instance")[2].partition(
            "\n\n"
        )[0]
        numbers = (
            f"{paper:,}",
            f"{ours:,.0f}",
            f"{summary.standard_error:,.0f}",
            f"{ours / paper:.3f}",
        )
        cells = [row["required"], row["variant"], *numbers, str(summary.errors)]
        assert re.search("^" + " +".join(map(re.escape, cells)) + "$", block, flags=re.MULTILINE)


def test_the_papers_numbers(script: ModuleType) -> None:
    """Spot checks of the printed values, the entry that the two tables print differently among
    them."""
    assert script.PAPER[2]["Vanilla"] == (4588, 48632, 8958, 56730, 8913)
    assert script.PAPER[3]["Vanilla"][3] == 55932
    assert script.PAPER[2]["Butterscotch"][3] == 50142
    assert script.PAPER[3]["Butterscotch"][3] == 50162
    assert script.PAPER[3]["Butterscotch, no merging"][1] == 44358
    assert script.PAPER[2]["LUCB"] == (3634, 63802, 19444, 61302, 9257)


def test_it_says_why_entries_cannot_match(
    script: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """The instance, the authors' program, LUCB's mended rule and the noise of 100 runs."""
    assert script.main(["--replications", "2"]) == 0
    text = capsys.readouterr().out
    for words in (
        "mirrored",
        "departs from the paper's pseudo-code",
        "own weakest arms",
        "100 runs",
    ):
        assert words in text.partition("Why some entries cannot match")[2]


def test_bad_input_is_one_line_of_argparse(
    script: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """The library's message, exit code 2."""
    with pytest.raises(SystemExit) as stop:
        script.main(["--replications", "0"])
    assert stop.value.code == 2
    assert "replications is 0; it must be at least 1" in capsys.readouterr().err
