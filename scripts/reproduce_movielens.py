"""The paper's MovieLens study (arXiv 2408.14195, section 5): six tasks on the most-rated movies, as
a table and a figure of six panels.

    python scripts/reproduce_movielens.py --ratings ml-latest-small --means ml-20m-top50.csv

Each of the two sets is run by itself; with neither, synthetic arms of the same shape are. A cell
that is not done in the time given (LUCB where two means are very close) says how far it came, and
at which gap. Writes NAME.csv and NAME.png for each set.
"""

from __future__ import annotations

import argparse
import csv
import io
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

import rai_sim as rai
from rai_sim import movielens
from rai_sim.algorithms.base import Algorithm
from rai_sim.arms.base import Arms
from rai_sim.support.entry import print_anything
from rai_sim.support.files import write_atomically
from rai_sim.support.wording import json_safe, number

DELTA = 0.01
ALGORITHMS: dict[str, Algorithm] = {
    "Vanilla": rai.Vanilla(),
    "Butterscotch": rai.Butterscotch(),
    "LUCB": rai.LUCB(),
}
#: Those that need fewer pulls with the same guarantee (`--algorithms all`).
SHARPER: dict[str, Algorithm] = {
    "Vanilla, mixture": rai.Vanilla(width="mixture"),
    "Butterscotch, pairs": rai.Butterscotch(width="pairwise"),
    "LUCB, mixture": rai.LUCB(radius="mixture"),
    "track and stop": rai.BatchedTrackAndStop(),
}
#: K is half of the arms, M a fifth.
TASKS: dict[str, Callable[[Arms], rai.Problem]] = {
    "best arm": rai.best_arm,
    "1 of top K": lambda arms: rai.one_of_top(arms, arms.n_arms // 2),
    "M of top K": lambda arms: rai.m_of_top(arms, max(1, arms.n_arms // 5), arms.n_arms // 2),
    "top K": lambda arms: rai.top(arms, arms.n_arms // 2),
    "coarse ranking 3:5:2": lambda arms: rai.coarse_ranking(
        arms, rai.instances.shares(arms.n_arms, (3, 5, 2))
    ),
    "full ranking": rai.full_ranking,
}
#: A cell's first replication may take so many pulls at first, then ten times as many as long as
#: there is time.
_FIRST_CAP = 10**7


@dataclass(frozen=True)
class Cell:
    """One algorithm on one task with the first N movies.

    The tight bound is that of `rai.bounds.at_delta`, for Bernoulli arms or, of ratings, as for
    Gaussian ones with these means; `lower_bound_pulls` is that of Theorem 1.
    """

    task: str
    n_arms: int
    algorithm: str
    replications: int
    finished: int
    pulls_mean: float
    pulls_low_95: float
    pulls_high_95: float
    errors: int
    tight_bound_pulls: float
    lower_bound_pulls: float
    bottleneck_gap_reward: float
    smallest_gap_reward: float
    seconds: float
    note: str


def first_arms(arms: Arms, n: int) -> Arms:
    """Return the first n arms, with their names."""
    few = rai.Bernoulli(arms.means[:n]) if isinstance(arms, rai.Bernoulli) else _first_of(arms, n)
    return (
        few
        if arms.names is None
        else few.with_names(arms.names[:n], None if arms.ids is None else arms.ids[:n])
    )


def _first_of(arms: Arms, n: int) -> Arms:
    assert isinstance(arms, rai.Categorical)
    return rai.Categorical(arms.values, arms.probabilities[:n])


def run_cell(
    task: str, arms: Arms, name: str, replications: int, seed: int, jobs: int, seconds: float
) -> Cell:
    """Run as many replications as the time allows; a cell's numbers do not depend on the time, only
    how many there are."""
    problem, algorithm = TASKS[task](arms), (ALGORITHMS | SHARPER)[name]
    began = time.perf_counter()
    result, note = _within(problem, algorithm, replications, seed, jobs, seconds)
    summary = result.summary()
    gaps = -np.diff(np.sort(arms.means)[::-1])
    return Cell(
        task,
        arms.n_arms,
        name,
        summary.replications,
        summary.finished,
        summary.mean,
        *summary.interval,
        summary.errors,
        rai.bounds.at_delta(problem, DELTA).pulls,
        summary.lower_bound,
        problem.bottleneck_gap,
        float(gaps.min()),
        time.perf_counter() - began,
        note,
    )


def _within(
    problem: rai.Problem,
    algorithm: Algorithm,
    replications: int,
    seed: int,
    jobs: int,
    seconds: float,
) -> tuple[rai.Result, str]:
    options: dict[str, Any] = {"delta": DELTA, "seed": seed}
    cap, each = _FIRST_CAP, 0.0
    while True:
        began = time.perf_counter()
        first = rai.simulate(problem, algorithm, replications=1, max_pulls=cap, **options)
        each = time.perf_counter() - began
        if first.finished[0]:
            break
        if 10.0 * each > seconds or cap >= 2**62 // 10:
            return first, f"not done within {cap:.0e} pulls; gap {problem.bottleneck_gap:.1e}"
        cap *= 10
    # Others may take longer than the first one; at ten times its cap they are given up, and the
    # cell says so.
    n = max(1, min(replications, int(seconds / each * jobs)))
    whole = rai.simulate(
        problem, algorithm, replications=n, max_pulls=10 * cap, n_jobs=jobs, **options
    )
    notes = [f"{n} replications in the time given"] if n < replications else []
    if not whole.finished.all():
        notes.append(f"{np.count_nonzero(~whole.finished)} not done within {10 * cap:.0e} pulls")
    return whole, "; ".join(notes)


def run_all(
    arms: Arms,
    sizes: Sequence[int],
    replications: int,
    seed: int,
    jobs: int,
    seconds: float,
    sharper: bool = False,
) -> Iterator[Cell]:
    """Run every task with every number of movies and every algorithm, the sharper ones if wanted."""
    chosen = ALGORITHMS | SHARPER if sharper else ALGORITHMS
    for algorithm in chosen.values():  # compilation is not to count
        rai.simulate(
            rai.best_arm(first_arms(arms, 2)), algorithm, replications=2, seed=0, max_pulls=1000
        )
    todo = [(task, n, name) for n in sizes for task in TASKS for name in chosen]
    for task, n, name in tqdm(todo, disable=None, unit="cell"):
        yield run_cell(task, first_arms(arms, n), name, replications, seed, jobs, seconds)


def names_in(cells: Sequence[Cell]) -> list[str]:
    """Return the algorithms that were run, in their order."""
    return list(dict.fromkeys(cell.algorithm for cell in cells))


def table_text(cells: Sequence[Cell]) -> str:
    """Return a line a task and number of movies, with the algorithms side by side."""
    names = names_in(cells)
    lines = [
        f"{'task':<22}{'N':>3}"
        + "".join(f"{name + ' (errors)':>34}" for name in names)
        + f"{'lower bound':>14}{'Theorem 1':>12}{'gap':>9}"
    ]
    for task in TASKS:
        for n in sorted({cell.n_arms for cell in cells}):
            row = {cell.algorithm: cell for cell in cells if (cell.task, cell.n_arms) == (task, n)}
            one = next(iter(row.values()))
            words = "".join(f"{_cell_text(row[name]):>34}" for name in names)
            lines.append(
                f"{task:<22}{n:>3}{words}{number(one.tight_bound_pulls):>14}"
                f"{number(one.lower_bound_pulls):>12}{one.bottleneck_gap_reward:>9.1e}"
            )
    notes = [
        f"{cell.task}, N = {cell.n_arms}, {cell.algorithm}: {cell.note}"
        for cell in cells
        if cell.note
    ]
    return "\n".join([*lines, *(["", "Where the time was up:", *notes] if notes else [])])


def _cell_text(cell: Cell) -> str:
    if not cell.finished:
        return cell.note.partition(";")[0].replace("not done within", ">")
    half = (cell.pulls_high_95 - cell.pulls_low_95) / 2.0
    spread = "" if math.isnan(half) else f" +- {100 * half / cell.pulls_mean:.2g} %"
    return f"{cell.pulls_mean:.4g}{spread} ({cell.errors}/{cell.finished})"


def claims(cells: Sequence[Cell]) -> list[str]:
    """Return the paper's three claims, each with how often it holds here, whichever way it
    falls."""
    means = {(cell.task, cell.n_arms, cell.algorithm): cell.pulls_mean for cell in cells}
    low = {key: value for key, value in means.items() if not math.isnan(value)}
    sizes = sorted({cell.n_arms for cell in cells})

    def best(task: str, n: int) -> str:
        return min(
            (name for name in ALGORITHMS if (task, n, name) in low),
            key=lambda name: low[task, n, name],
        )

    def held(name: str, places: Sequence[tuple[str, int]]) -> str:
        there = [(task, n) for task, n in places if best(task, n) == name]
        others = ", ".join(
            f"{task} N = {n}: {best(task, n)}" for task, n in places if (task, n) not in there
        )
        verdict = (
            "holds"
            if len(there) == len(places)
            else "does not hold everywhere"
            if there
            else "does not hold"
        )
        return f"{verdict} ({len(there)} of {len(places)}" + (
            f"; not for {others})" if others else ")"
        )

    easy = [(task, n) for task in ("best arm", "1 of top K") for n in sizes]
    hard = [(task, n) for task in TASKS for n in sizes if (task, n) not in easy]

    def costliest(n: int) -> tuple[str, float]:
        by_task = {task: low[task, n, best(task, n)] for task in TASKS}
        others = {task: pulls for task, pulls in by_task.items() if task != "full ranking"}
        rival = max(others, key=others.__getitem__)
        return rival, by_task["full ranking"] / others[rival]

    ratios = {n: costliest(n) for n in sizes}
    words = ", ".join(f"N = {n}: {ratio:.3g} times {rival}" for n, (rival, ratio) in ratios.items())
    far = (
        "holds" if all(ratio > 1.0 for _, ratio in ratios.values()) else "does not hold everywhere"
    )
    return [
        f"1. LUCB needs the fewest pulls for best arm and 1 of top K: {held('LUCB', easy)}.",
        f"2. Butterscotch almost always needs the fewest elsewhere: {held('Butterscotch', hard)}.",
        f"3. Full ranking costs most by far (best algorithm on each task): {far} ({words}).",
    ]


def draw(cells: Sequence[Cell], title: str, path: Path) -> None:
    """Draw six panels: mean pulls over the number of movies, with 95 % intervals and the lower bound,
    Theorem 1's beside it."""
    from matplotlib.figure import Figure

    from rai_sim.plotting.style import looks

    figure = Figure(figsize=(10.5, 6.4), layout="constrained")
    axes = figure.subplots(2, 3, sharex=True)
    for ax, task in zip(axes.flat, TASKS, strict=True):
        for name, look in looks(names_in(cells)).items():
            colour, mark, line = look.colour, look.marker, look.line
            mine = [cell for cell in cells if (cell.task, cell.algorithm) == (task, name)]
            # A cell without a mean breaks the line; of one replication there is no interval.
            x, y = [cell.n_arms for cell in mine], [cell.pulls_mean for cell in mine]
            bars = np.nan_to_num(
                [
                    [c.pulls_mean - c.pulls_low_95 for c in mine],
                    [c.pulls_high_95 - c.pulls_mean for c in mine],
                ]
            )
            ax.errorbar(
                x,
                y,
                yerr=bars,
                color=colour,
                marker=mark,
                linestyle=line,
                markersize=5,
                capsize=3,
                label=name,
            )
            for cell in (cell for cell in mine if not cell.finished):
                reached = float(cell.note.split()[3])
                ax.plot(
                    [cell.n_arms],
                    [reached],
                    color=colour,
                    marker=mark,
                    markersize=6,
                    markerfacecolor="none",
                    linestyle="none",
                )
                ax.annotate(
                    "",
                    (cell.n_arms, reached * 8),
                    (cell.n_arms, reached * 1.3),
                    arrowprops={"arrowstyle": "->", "color": colour},
                )
        there = {cell.n_arms: cell for cell in cells if cell.task == task}
        x = sorted(there)
        for label, heights, how in (
            (
                "lower bound (tight, at this delta)",
                [there[n].tight_bound_pulls for n in x],
                ("black", "-", 1.3),
            ),
            (
                "lower bound (Theorem 1, asymptotic)",
                [there[n].lower_bound_pulls for n in x],
                ("0.4", "-.", 1.0),
            ),
        ):
            # one that is 0 has no place on this axis
            shown = [height if height > 0.0 else math.nan for height in heights]
            colour, line, width = how
            ax.plot(x, shown, color=colour, linestyle=line, linewidth=width, label=label)
        ax.set(yscale="log", title=task)
        ax.grid(alpha=0.3)
    for ax in axes[1]:
        ax.set_xlabel("number of movies N")
        ax.set_xticks(sorted({cell.n_arms for cell in cells}))
    for ax in axes[:, 0]:
        ax.set_ylabel("mean pulls")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    caption = "bars: 95 % intervals"
    if any(not cell.finished for cell in cells):
        caption += "; hollow, with an arrow: not done, at least so many pulls"
    figure.suptitle(f"{title}, delta = {DELTA:g}\n{caption}", fontsize=10)
    picture = io.BytesIO()
    figure.savefig(picture, dpi=150, format="png")
    write_atomically(path, lambda file: file.write(picture.getvalue()))


def write_csv(cells: Sequence[Cell], path: Path) -> None:
    """Write one line a cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(asdict(cells[0])))
    writer.writeheader()
    writer.writerows(
        {key: "" if value is None else value for key, value in json_safe(asdict(cell)).items()}
        for cell in cells
    )
    write_atomically(path, lambda file: file.write(text.getvalue().encode()))


def _sizes(text: str) -> list[int]:
    sizes = [int(word) for word in text.split(",")]
    if min(sizes) < 4:
        raise argparse.ArgumentTypeError(
            f"{text} holds {min(sizes)}; every task needs 4 movies at least"
        )
    return sizes


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and write everything; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--ratings",
        help="a MovieLens download: folder, zip or file of ratings; arms are Categorical",
    )
    parser.add_argument(
        "--means", help="a table of movie_id, ratings, mean_stars; arms are Bernoulli"
    )
    parser.add_argument(
        "--sizes",
        type=_sizes,
        default=[10, 20, 30, 40, 50],
        help="numbers of movies; default 10,20,30,40,50",
    )
    parser.add_argument(
        "--algorithms",
        choices=("paper", "all"),
        default="paper",
        help="all: the sharper ones, too; default paper",
    )
    parser.add_argument("--replications", type=int, default=100, help="of each cell; default 100")
    parser.add_argument("--seed", type=int, default=0, help="default 0")
    parser.add_argument("--jobs", type=int, default=2, help="workers; default 2")
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="time given to a cell; default 20"
    )
    parser.add_argument(
        "--output", default=".", help="folder for NAME.csv and NAME.png; default here"
    )
    options = parser.parse_args(arguments)
    try:
        import rai_sim.plotting  # noqa: F401
    except ImportError as error:
        parser.error(str(error))
    most = max(options.sizes)
    try:
        sets: dict[str, tuple[str, Arms]] = {}
        if options.ratings:
            sets["movielens-ratings"] = (
                "Ratings of MovieLens' most-rated movies",
                movielens.load(options.ratings, top=most),
            )
        if options.means:
            sets["movielens-means"] = (
                "Mean ratings of MovieLens' most-rated movies",
                movielens.load_means(options.means, top=most),
            )
    except ValueError as error:
        parser.error(str(error))
    if not sets:
        sets["synthetic"] = ("Synthetic arms in the shape of movie ratings", movielens.like(most))
    print_anything()
    folder = Path(options.output)
    try:
        folder.resolve().mkdir(parents=True, exist_ok=True)
        for name, (title, arms) in sets.items():
            cells = list(
                run_all(
                    arms,
                    options.sizes,
                    options.replications,
                    options.seed,
                    options.jobs,
                    options.seconds,
                    options.algorithms == "all",
                )
            )
            print(f"{title}, delta = {DELTA:g}, seed {options.seed}\n")
            print(
                table_text(cells),
                "",
                "The paper's claims, on these arms:",
                *claims(cells),
                "",
                sep="\n",
            )
            write_csv(cells, folder / f"{name}.csv")
            draw(cells, title, folder / f"{name}.png")
    except OSError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
