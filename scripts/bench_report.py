"""Measure the benchmark table, print it with a verdict a row and the machine, and keep the copies in
`benchmarks/README.md` and, of what users ask first, in the README.

python scripts/bench_report.py                  everything; exit code 1 if a row is below its must
python scripts/bench_report.py --rows 1,4,9     some rows; `scaling` names the table of time against
                                                pulls
python scripts/bench_report.py --write          also rewrite both between their markers
python scripts/bench_report.py --strides        instead: what each stride buys, in time without it
                                                over time with all
python scripts/bench_report.py --sizes          instead: time and memory against the number of arms;
                                                with --write, `benchmarks/README.md`, too
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

import numba
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import rows, sizes, strides
from benchmarks.rows import Effort, Point, Row, number_text, seconds_text
from rai_sim.simulation.provenance import processor, usable_cores
from rai_sim.support.files import write_atomically

README = Path(__file__).resolve().parent.parent / "README.md"
#: What holds the whole tables.
TABLES = README.parent / "benchmarks" / "README.md"
BENCHMARKS, SCALING, SIZES = "benchmarks", "scaling", "sizes"
#: The README's table: between which markers, and its rows in its readers' words.
SHORT = "speed"
FOR_USERS = {
    "1": "Vanilla, all of the top three of ten arms",
    "5": "Butterscotch, the same",
    "6": "LUCB, all of the middle five of ten arms",
    "7": "LUCB, the better of two arms, means 0.001 apart",
    "13c": "Vanilla, ten of each third of a million arms",
    "14": "Vanilla, all of the top half of 10,000 arms",
}


# --------------------------------------------------------------------------------------------------
# Words
# --------------------------------------------------------------------------------------------------


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose columns are aligned, so that it reads well as text, too."""
    widths = [max(len(line[i]) for line in (head, *lines)) for i in range(len(head))]

    def joined(cells: Sequence[str]) -> str:
        return (
            "| "
            + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            + " |"
        )

    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([joined(head), rule, *map(joined, lines)])


def rows_table(found: Sequence[Row]) -> str:
    """Return the rows as a table: measured, must, aim, verdict and both sides' times."""
    head = ("#", "what", "measured", "must", "aim", "verdict", "times")
    return markdown(
        head,
        [
            (
                row.number,
                row.what,
                _amount(row, row.ratio),
                _level(row, row.must),
                _level(row, row.aim),
                row.verdict,
                row.times,
            )
            for row in found
        ],
    )


def users_table(found: Sequence[Row]) -> str:
    """Return the rows that users ask for first, as the README shows them."""
    rows = {row.number: row for row in found if row.number in FOR_USERS}
    return markdown(
        ("simulation", "times faster", "time"),
        [
            (words, _amount(rows[number], rows[number].ratio), rows[number].times)
            for number, words in FOR_USERS.items()
            if number in rows
        ],
    )


def _amount(row: Row, value: float) -> str:
    words = "-" if np.isnan(value) else number_text(value)
    return f"{words} {row.unit}".strip()


def _level(row: Row, value: float | None) -> str:
    if row.must is None:  # only shown
        return ""
    return (
        "-" if value is None else f"{'>=' if row.higher_is_better else '<='} {_amount(row, value)}"
    )


def scaling_table(points: Sequence[Point], per_pull_speed: float) -> str:
    """Return the table of time against pulls, beside what simulating every pull would take."""
    head = (
        "gap",
        "pulls a replication",
        "time a replication",
        "pulls/s",
        f"pull by pull, extrapolated from {number_text(per_pull_speed)} pulls/s",
    )
    return markdown(
        head,
        [
            (
                f"{p.gap:.0e}".replace("e-0", "e-"),
                number_text(p.pulls),
                seconds_text(p.seconds),
                number_text(p.pulls_per_second),
                seconds_text(p.pulls / per_pull_speed),
            )
            for p in points
        ],
    )


def strides_table(found: Sequence[strides.Gain], columns: Sequence[str]) -> str:
    """Return by case the time a replication takes with all strides, and how many times as long it
    takes without some."""
    head = ("case", "all", *(f"without {name}" for name in columns))
    return markdown(
        head,
        [
            (gain.case, seconds_text(gain.seconds), *map(number_text, gain.without))
            for gain in found
        ],
    )


def report_strides(effort: Effort) -> str:
    """Measure and return both algorithms' tables."""
    tables = []
    for name, cases, columns in (
        ("LUCB", strides.CASES, strides.LUCBS),
        ("Vanilla", strides.cases_of_vanilla(), strides.VANILLAS),
    ):
        found = []
        for case in cases:
            found.append(strides.gain(case, list(columns.values()), effort))
            print(f"{name}, {case.name}: measured", file=sys.stderr, flush=True)
        tables.append(f"{name}\n\n{strides_table(found, list(columns))}")
    return "\n\n".join(
        [
            *tables,
            f"{machine()}. Times a pull; sides taking turns, best of {effort.repeats} blocks.",
        ]
    )


def sizes_table(cells: Sequence[sizes.Cell]) -> str:
    """Return the table of time and memory against the number of arms."""
    head = ("algorithm", "arms", "pulls", "time", "a round", "memory", "pull by pull")
    return markdown(
        head,
        [
            (
                cell.algorithm,
                number_text(cell.n_arms),
                number_text(cell.pulls) + ("" if cell.finished else ", capped"),
                seconds_text(cell.seconds),
                seconds_text(cell.round_seconds),
                f"{number_text(cell.megabytes)} MB",
                "-" if cell.rival_seconds is None else seconds_text(cell.rival_seconds),
            )
            for cell in cells
        ],
    )


def report_sizes() -> str:
    """Measure and return the table, and how it was measured."""
    cells = []
    for cell in sizes.measure():
        cells.append(cell)
        print(
            f"{cell.algorithm}, {number_text(cell.n_arms)} arms: measured",
            file=sys.stderr,
            flush=True,
        )
    return (
        "Time and memory against arms: means evenly spaced in [0.05, 0.95], three clusters of equal "
        "size, ten representatives of each (one of each at ten arms), delta = 0.01:\n\n"
        f"{sizes_table(cells)}\n\n{machine()}. A replication each, in a process of its own; time a "
        "round without what goes before the first; memory: the peak above that after imports. LUCB "
        f"is capped at {number_text(sizes.CAP)} pulls after the first of every arm. "
        f"Pull by pull: `-` if it takes more than {number_text(sizes.PATIENCE)} s."
    )


def machine() -> str:
    """Return processor model, cores and versions: what the numbers depend on, without the machine's
    name."""
    cores = usable_cores()
    return (
        f"{processor()}, {cores} core{'s' if cores > 1 else ''}; Python "
        f"{platform.python_version()}, "
        f"numba {numba.__version__}, numpy {np.__version__}"
    )


def method(effort: Effort) -> str:
    """Return how it was measured."""
    return (
        "Each ratio in one run, on one core unless said, after warm-up, sides taking turns, "
        f"best of {effort.repeats} blocks (of {effort.processes} fresh processes in rows 10 and 11)."
    )


# --------------------------------------------------------------------------------------------------
# The files
# --------------------------------------------------------------------------------------------------


def between_markers(text: str, name: str, content: str) -> str:
    """Return the text with what stands between the markers of that name replaced by the content.

    Raises
    ------
    ValueError
        Unless both markers are there once, begin before end.
    """
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    for marker in (begin, end):
        if text.count(marker) != 1:
            raise ValueError(
                f"the marker {marker} is there {text.count(marker)} times; it must be once"
            )
    before, _, rest = text.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"the marker {end} stands before {begin}; exchange them")
    return f"{before}{begin}\n{content.strip()}\n{end}{after}"


def rewrite(path: Path, sections: dict[str, str]) -> None:
    """Replace each section, by name, between its markers; readers see the old file or the new one.

    Raises
    ------
    OSError
        If the file cannot be read or written.
    ValueError
        If a marker is missing, doubled or out of order; the file is then left as it is.
    """
    text = path.read_bytes().decode()
    for name, content in sections.items():
        text = between_markers(text, name, content)
    write_atomically(path, lambda file: file.write(text.encode()))


# --------------------------------------------------------------------------------------------------
# The command
# --------------------------------------------------------------------------------------------------


def chosen(text: str | None) -> list[str]:
    """Return the names of a comma-separated list, in the table's order; all if None.

    Raises
    ------
    ValueError
        If a name is unknown, or there is none.
    """
    known = [*rows.ROWS, SCALING]
    if text is None:
        return known
    names = {name.strip() for name in text.split(",")} - {""}
    unknown = sorted(names - set(known))
    if unknown or not names:
        what = ", ".join(unknown) or "nothing"
        raise ValueError(f"--rows is {text!r}, which holds {what}; choose among {', '.join(known)}")
    return [name for name in known if name in names]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write if asked; return 1 if a measured row is below its must."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    everything = ",".join([*rows.ROWS, SCALING])
    parser.add_argument("--rows", metavar="LIST", help=f"rows to measure ({everything})")
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    parser.add_argument(
        "--write",
        action="store_true",
        help="rewrite benchmarks/README.md and README.md between their markers",
    )
    parser.add_argument(
        "--strides", action="store_true", help="measure what each stride buys, and nothing else"
    )
    parser.add_argument(
        "--sizes",
        action="store_true",
        help="measure time and memory against arms, and nothing else",
    )
    options = parser.parse_args(arguments)
    if options.sizes and (options.strides or options.rows is not None):
        parser.error("--sizes: it prints a table of its own; leave --rows and --strides out")
    if options.strides and (options.write or options.rows is not None):
        parser.error("--strides: it prints tables of its own; leave --rows and --write out")
    if options.write and options.rows is not None:
        parser.error("--write: the files hold whole tables; leave --rows out")
    try:
        names = chosen(options.rows)
        if options.write:  # before minutes are spent
            for path, name in (
                ((TABLES, SIZES),)
                if options.sizes
                else ((TABLES, BENCHMARKS), (TABLES, SCALING), (README, SHORT))
            ):
                between_markers(path.read_bytes().decode(), name, "")
    except (OSError, ValueError) as error:
        parser.error(str(error))

    if options.sizes:
        table = report_sizes()
        print(table)
        if options.write:
            rewrite(TABLES, {SIZES: table})
        return 0
    effort = rows.QUICK if options.quick else rows.FULL
    if options.strides:
        print(report_strides(effort))
        return 0
    found = []
    for name in names:
        if name != SCALING:
            row = rows.ROWS[name](effort)
            found.append(row)
            print(
                f"row {name}: {_amount(row, row.ratio)}, {row.verdict}", file=sys.stderr, flush=True
            )
    footnote = f"{machine()}. {method(effort)}"
    sections = {}
    if found:
        sections[BENCHMARKS] = f"{rows_table(found)}\n\n{footnote}"
    if SCALING in names:
        sections[SCALING] = f"{scaling_table(*rows.scaling(effort))}\n\n{machine()}."
    print("\n\n".join(sections.values()))
    if options.write:
        rewrite(TABLES, sections)
        rewrite(README, {SHORT: f"{users_table(found)}\n\n{machine()}."})
    below = [row.number for row in found if row.verdict == "below must"]
    if below:
        print(f"below must: {', '.join(below)}", file=sys.stderr)
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
