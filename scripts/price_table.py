"""Mean pulls of every algorithm on the five tasks of the table instance, over the tight lower bound; and
the price map.

    python scripts/price_table.py --replications 1000 --plot prices.png

With --write the table replaces the README's.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

import rai_sim as rai
from rai_sim.algorithms.base import sharper_algorithms
from rai_sim.cli.pictures import kind_of, write_picture
from rai_sim.plotting.prices import SIZE
from rai_sim.plotting.style import short_label
from rai_sim.support.entry import print_anything
from rai_sim.support.files import write_atomically

DELTA = 0.01
TASKS = range(1, 6)
README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN, END = "<!-- prices: begin -->", "<!-- prices: end -->"


def run_all(replications: int, seed: int, jobs: int) -> dict[str, dict[int, rai.Result]]:
    """Return the runs of every algorithm that a task is made for, by its name and the task."""
    todo = [
        (task, algorithm)
        for task in TASKS
        for algorithm in (
            rai.Vanilla(),
            rai.Butterscotch(),
            rai.LUCB(),
            *sharper_algorithms(rai.table_problem(task), DELTA),
        )
    ]
    found: dict[str, dict[int, rai.Result]] = {}
    for task, algorithm in tqdm(todo, unit="simulation", disable=None):
        run = rai.simulate(
            rai.table_problem(task),
            algorithm,
            delta=DELTA,
            replications=replications,
            seed=seed,
            n_jobs=jobs,
        )
        found.setdefault(short_label(algorithm), {})[task] = run
    return found


def table(runs: dict[str, dict[int, rai.Result]]) -> str:
    """Return the table in Markdown: means over the bound, with standard errors, and errors."""
    problems = {task: rai.table_problem(task) for task in TASKS}
    lower = {task: rai.bounds.at_delta(problem, DELTA).pulls for task, problem in problems.items()}
    head = [f"r = ({','.join(map(str, problems[task].required))})" for task in TASKS]
    rows = [
        ["algorithm", *head, "wrong outputs"],
        ["tight lower bound, pulls", *(f"{lower[task]:,.0f}" for task in TASKS), ""],
    ]
    for name, by_task in runs.items():
        cells = []
        for task in TASKS:
            if task not in by_task:
                cells.append("")
                continue
            summary = by_task[task].summary()
            cells.append(
                f"{summary.mean / lower[task]:.3g} ± {summary.standard_error / lower[task]:.1g}"
            )
        wrong = sum(run.summary().errors for run in by_task.values())
        count = sum(run.replications for run in by_task.values())
        rows.append([name, *cells, f"{wrong:,} of {count:,}"])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    return "\n".join(
        [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]
    )


def with_table(text: str, rows: str) -> str:
    """Return the README's text with another table."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not after:
        raise ValueError(f"{README.name} has no lines {BEGIN} and {END} to put the table between")
    return f"{before}{BEGIN}\n{rows}\n{END}{after}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script; return its exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--replications", type=int, default=1000, help="of each; default 1000")
    parser.add_argument("--seed", type=int, default=0, help="default 0")
    parser.add_argument("--jobs", type=int, default=1, help="workers; default 1")
    parser.add_argument("--plot", type=Path, help="write the price map into this file")
    parser.add_argument("--write", action="store_true", help="put the table into the README")
    options = parser.parse_args(arguments)
    print_anything()
    try:
        kind = "" if options.plot is None else kind_of(options.plot)
        runs = run_all(options.replications, options.seed, options.jobs)
    except (TypeError, ValueError, ImportError) as error:
        parser.error(str(error))
    rows = table(runs)
    print(rows)
    if options.plot is not None:
        every = [run for by_task in runs.values() for run in by_task.values()]
        write_picture(options.plot, kind, SIZE, lambda ax: rai.plotting.price_map(every, ax))
    if options.write:
        text = with_table(README.read_text(encoding="utf-8"), rows)
        write_atomically(README, lambda file: file.write(text.encode()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
