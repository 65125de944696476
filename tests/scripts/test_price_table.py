"""The table of what algorithms take over the tight bound: its numbers, its place in the README."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from script_modules import load

import rai_sim as rai
from rai_sim.algorithms.base import sharper_algorithms
from rai_sim.plotting.style import short_label

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """Return the script as a module."""
    return load("price_table")


def cells(line: str) -> list[str]:
    """Return the cells of a line of the table."""
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_cells_are_means_over_the_bound(script: ModuleType) -> None:
    """With standard errors; what a task is not made for is empty; errors are counted."""
    runs = {
        "one": {
            task: rai.simulate(rai.table_problem(task), rai.Butterscotch(), replications=9, seed=0)
            for task in (1, 2)
        }
    }
    lines = script.table(runs).splitlines()
    assert cells(lines[0])[1] == "r = (1,0,0)"
    name, first, second, *others, wrong = cells(lines[3])
    assert (name, others, wrong) == ("one", ["", "", ""], "0 of 18")
    for cell, task in ((first, 1), (second, 2)):
        bound = rai.bounds.at_delta(rai.table_problem(task), 0.01).pulls
        pulls = runs["one"][task].pulls / bound
        mean, error = map(float, cell.split(" ± "))
        assert mean == pytest.approx(pulls.mean(), rel=0.01)
        assert error == pytest.approx(pulls.std(ddof=1) / 3.0, rel=0.5, abs=1e-12)


def test_the_readme_has_all_algorithms(script: ModuleType) -> None:
    """A row each, of at least 500 replications, without more wrong outputs than delta allows."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.partition(script.BEGIN)[2].partition(script.END)[0].strip().splitlines()
    rows = {cells(line)[0]: cells(line) for line in table[3:]}
    wanted = {
        short_label(algorithm)
        for task in script.TASKS
        for algorithm in (
            rai.Vanilla(),
            rai.Butterscotch(),
            rai.LUCB(),
            *sharper_algorithms(rai.table_problem(task), 0.01),
        )
    }
    assert set(rows) == wanted
    for row in rows.values():
        errors, _, count = row[-1].replace(",", "").partition(" of ")
        assert int(count) >= 500
        assert int(errors) <= 0.01 * int(count)
    assert script.with_table(text, "\n".join(table)) == text
    with pytest.raises(ValueError, match="has no lines"):
        script.with_table("nothing", "")


def test_the_readme_is_what_is_found(script: ModuleType) -> None:
    """Vanilla's row once more, with fewer replications and another seed: within 5 standard errors."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (row,) = (line for line in text.splitlines() if line.startswith("| Vanilla (width='mixture') "))
    for task, cell in zip(script.TASKS, cells(row)[1:6], strict=True):
        problem = rai.table_problem(task)
        pulls = (
            rai.simulate(
                problem, rai.Vanilla(width="mixture"), delta=0.01, replications=500, seed=77
            ).pulls
            / rai.bounds.at_delta(problem, 0.01).pulls
        )
        mean, error = map(float, cell.split(" ± "))
        off = np.hypot(1.5 * error, pulls.std() / np.sqrt(len(pulls)))
        assert abs(pulls.mean() - mean) < 5.0 * off + 0.005 * mean
