"""What the command line prints: tables drawn with plain text, and JSON documents."""

from __future__ import annotations

import json
import math
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from rai_sim import bounds
from rai_sim.algorithms.base import Algorithm
from rai_sim.bounds.paper import theorem_2
from rai_sim.problem import Problem
from rai_sim.simulation.columns import COLUMNS
from rai_sim.simulation.result import Result
from rai_sim.simulation.summary import Summary, found_in, summarise
from rai_sim.simulation.theorems import lower_bound, lower_bound_conditions, upper_bound
from rai_sim.support.columns import Column, titles
from rai_sim.support.wording import (
    all_but,
    count,
    ends,
    json_safe,
    listed,
    number,
    percent,
    printable,
)


def _upper_cell(bound: tuple[str | None, float | None]) -> str:
    theorem, pulls = (bound[0] or "").replace("Theorem", "Th."), bound[1]
    return "none" if pulls is None else f"{number(pulls)} ({theorem})"


def _shares(pair: tuple[float, float]) -> str:
    """Return an interval of shares in words, the unit only once."""
    low, high = map(percent, pair)
    return ends(low.removesuffix(" %"), high)


#: What `run` shows of a result, a row an algorithm; some columns in words of its own.
_RUN_COLUMNS = (
    *COLUMNS.pick("algorithm", "pulls_mean"),
    *COLUMNS.pick("pulls_interval", "error_rate"),
    COLUMNS["error_interval"].shown("95 % interval", _shares),
    COLUMNS["lower_bound"].shown("lower bound"),
    COLUMNS["upper_bound"].shown("upper bound", _upper_cell),
    COLUMNS["seconds"],
)
#: What it shows besides where a cap is set: of what is recommended there.
_AT_CAP = (
    COLUMNS["error_rate_at_cap"],
    COLUMNS["error_interval_at_cap"].shown("95 % interval", _shares),
)
#: Which of them a narrow terminal goes without, the first one first.
_LEAST_OF_RUN = ("lower_bound", "seconds", "upper_bound", "error_interval")


def terminal_width() -> int | None:
    """Return the columns of the terminal that standard output is; None where it is none, and
    nothing is left out."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


class Columns:
    """Which columns of a table fit a width, and its lines.

    Parameters
    ----------
    names : sequence of str
        The header.
    widths : sequence of int
        Width of each column, its name included.
    left : int
        So many of the first columns are flush left.
    least : sequence of int
        Columns that may be left out, the least important one first. Where those that must stay do
        not fit, the first one of several that are flush left becomes a heading above its rows, and
        where that is not enough, all stand one below the other.
    width : int or None
        What must not be exceeded; None for any width.
    """

    def __init__(
        self,
        names: Sequence[str],
        widths: Sequence[int],
        left: int,
        least: Sequence[int],
        width: int | None,
    ) -> None:
        """Choose the columns."""
        self._names, self._widths, self._left, self._width = names, list(widths), left, width
        self._kept = list(range(len(names)))
        self._heading: str | None = None  # above the last row
        self._headed = self._stacked = False
        if self._fits(least):
            return
        if left > 1:
            self._headed = True
            self._widths[1] += 2  # below its heading a row is indented
            if self._fits(least, without=1):
                return
        self._stacked, self._kept = True, list(range(len(names)))

    def _fits(self, least: Sequence[int], without: int = 0) -> bool:
        """Leave columns out until the rest fits, and tell whether it does."""
        for gone in range(len(least) + 1):
            self._kept = [i for i in range(without, len(self._names)) if i not in least[:gone]]
            if self._width is None or self._total() <= self._width:
                return True
        return False

    def _total(self) -> int:
        return sum(self._widths[i] for i in self._kept) + 2 * (len(self._kept) - 1)

    def head(self) -> list[str]:
        """Return the header and the rule below it."""
        return [] if self._stacked else [self._line(self._names), "-" * self._total()]

    def row(self, cells: Sequence[str]) -> list[str]:
        """Return the lines of a row."""
        if self._stacked:
            return self._one_below_the_other(cells)
        if not self._headed:
            return [self._line(cells)]
        lines = [] if cells[0] == self._heading else self._wrapped(cells[0])
        self._heading = cells[0]
        return [*lines, self._line([cells[0], f"  {cells[1]}", *cells[2:]])]

    def _one_below_the_other(self, cells: Sequence[str]) -> list[str]:
        lines = [line for cell in cells[: self._left] for line in self._wrapped(cell)]
        names = [name.strip() for name in self._names[self._left :]]
        longest = max(map(len, names))
        for name, cell in zip(names, cells[self._left :], strict=True):
            if cell.strip():
                lines += self._wrapped(
                    f"{'  ' if lines else ''}{name.ljust(longest)}  {cell.strip()}", "    "
                )
        return lines

    def _wrapped(self, text: str, indent: str = "  ") -> list[str]:
        # Narrower than this, lines may as well be broken by the terminal.
        width = max(self._width or 0, 12)
        return (
            [text] if len(text) <= width else textwrap.wrap(text, width, subsequent_indent=indent)
        )

    def left_out(self, remedy: str) -> list[str]:
        """Return a line that names what was left out and where it is; nothing where all is
        there."""
        gone = [
            self._spoken(i) for i in range(self._headed, len(self._names)) if i not in self._kept
        ]
        return (
            [f"left out to fit {self._width} columns: {', '.join(gone)}; {remedy}"]
            if gone and not self._stacked
            else []
        )

    def _spoken(self, column: int) -> str:
        name = self._names[column]
        return name if self._names.count(name) == 1 else f"{name} of {self._names[column - 1]}"

    def _line(self, cells: Sequence[str]) -> str:
        placed = [
            cells[i].ljust(self._widths[i]) if i < self._left else cells[i].rjust(self._widths[i])
            for i in self._kept
        ]
        return "  ".join(placed).rstrip()


def places(columns: Sequence[Column], keys: Sequence[str]) -> list[int]:
    """Return where the columns of some keys stand.

    Raises
    ------
    ValueError
        If a key is that of no column.

    Examples
    --------
    >>> places(COLUMNS.pick("errors", "finished", "task"), ["task", "errors"])
    [2, 0]
    """
    known = [column.key for column in columns]
    for key in keys:
        if key not in known:
            raise ValueError(
                f"there is no column {key!r} in this table; choose among {', '.join(known)}"
            )
    return [known.index(key) for key in keys]


def fitted_table(
    columns: Sequence[Column], rows: Iterable[Any], left: int, least: Sequence[str], remedy: str
) -> list[str]:
    """Return the lines of a table that fits the terminal, if there is one (see `Columns`).

    A line below says what had to be left out.
    `least` are the keys of columns that may be left out, the least important one first.
    """
    rows = [[printable(column.cell(row).text) for column in columns] for row in rows]
    return fitted_texts([titles(columns), *rows], left, places(columns, least), remedy)


def fitted_texts(
    rows: Sequence[Sequence[str]], left: int, least: Sequence[int], remedy: str
) -> list[str]:
    """Return the lines of a table of texts that fits the terminal, as `fitted_table`; row 0 is the
    header, `least` are places of columns."""
    names, *texts = rows
    widths = [max(map(len, entries)) for entries in zip(*rows, strict=True)]
    fitted = Columns(names, widths, left, least, terminal_width())
    return [
        *fitted.head(),
        *(line for row in texts for line in fitted.row(row)),
        *fitted.left_out(remedy),
    ]


def most_rows(most: int, n: int) -> int:
    """Return how many of n rows a table shows: in a terminal `most` at most, in a pipe all.

    Examples
    --------
    >>> most_rows(200, 240)  # here is no terminal
    240
    """
    return n if terminal_width() is None else min(most, n)


class RunTable:
    """The table of `run`, row by row: columns are as wide as what the bounds let expect, before
    anything has run.

    Parameters
    ----------
    problem, deltas, algorithms
        What is run; of several deltas each row tells its own.
    width : int or None
        Columns that the table may take; None for any number.
    capped : bool, default False
        Whether a cap is set: then the error rate of what is recommended there is shown, too.
    """

    def __init__(
        self,
        problem: Problem,
        deltas: Sequence[float],
        algorithms: Sequence[Algorithm],
        width: int | None,
        capped: bool = False,
    ) -> None:
        """Choose the columns."""
        self._problem, self._deltas = problem, deltas
        self._tight = [bounds.shown(problem, delta) for delta in deltas]
        self._lower = [lower_bound(problem, delta) for delta in deltas]
        least = min(deltas)  # bounds grow as it falls
        uppers = [upper_bound(problem, algorithm, least) for algorithm in algorithms]
        # Of an algorithm without a bound of its own, as many pulls are expected as Vanilla may
        # take.
        most = len(
            number(
                max(theorem_2(problem, least) if bound is None else bound for _, bound in uppers)
            )
        )
        by_unit = {"pulls": most, "rounds": most, "share": len("0.123 %"), "s": len("1234.56")}
        lowers = [
            lower if tight is None else tight.pulls
            for lower, tight in zip(self._lower, self._tight, strict=True)
        ]
        expected = {
            "algorithm": max(len(algorithm.label) for algorithm in algorithms),
            "delta": max(len(f"{delta:g}") for delta in deltas),
            "pulls_interval": 2 * most + 4,
            **dict.fromkeys(("error_interval", "error_interval_at_cap"), len("0.123 to 0.456 %")),
            "lower_bound": max(len(number(lower)) for lower in lowers),
            "upper_bound": max(len(_upper_cell(upper)) for upper in uppers),
        }
        several = len(deltas) > 1
        at_cap: tuple[Column, ...] = _AT_CAP if capped else ()
        first, *others = (*_RUN_COLUMNS[:-1], *at_cap, _RUN_COLUMNS[-1])
        self._shown = (first, *([COLUMNS["delta"]] if several else []), *others)
        widths = [
            max(len(column.title), expected.get(column.key, by_unit.get(column.unit, 0)))
            for column in self._shown
        ]
        keys = (*_LEAST_OF_RUN, *(["error_interval_at_cap"] if capped else ()))
        least_of = places(self._shown, keys)
        self._columns = Columns(titles(self._shown), widths, 1 + several, least_of, width)
        self._summaries: list[Summary] = []

    def lines(self, result: Result) -> str:
        """Return a result's row, before the first one the table's head."""
        head = (
            []
            if self._summaries
            else [headline(self._problem, *self._deltas), "", *self._columns.head()]
        )
        found = found_in(result)
        self._summaries.append(summarise(result, found))
        return "\n".join(
            [*head, *self._columns.row([column.cell(found).text for column in self._shown])]
        )

    def _lower_legend(self) -> str:
        """Return which lower bound is shown, and how much Theorem 1 says where it is another."""
        if all(math.isnan(lower) for lower in self._lower):  # the arms' law, at any delta
            return "lower bound: none holds for these arms"
        conditions = lower_bound_conditions(self._problem)
        theorem = f"Theorem 1, of the mean, {conditions}"
        told = {None if tight is None else tight.conditions for tight in self._tight}
        if told == {None}:
            return f"lower bound: {theorem}"
        tight = " or ".join(sorted(theorem if one is None else one for one in told))
        values = (
            number(lower) if len(self._deltas) == 1 else f"{number(lower)} at delta {delta:g}"
            for delta, lower in zip(self._deltas, self._lower, strict=True)
        )
        return f"lower bound: of the mean, {tight} (Theorem 1, {conditions}: {', '.join(values)})"

    def end(self, notes: Sequence[str]) -> str:
        """Return what stands below the rows: the legend, what a reader must be warned of, the arms
        that were named if they have names, and the notes; without rows the notes alone."""
        if not self._summaries:
            return "\n".join(notes)
        legend = self._lower_legend()
        if any(summary.upper_bound is not None for summary in self._summaries):
            one = len(self._deltas) == 1
            sure = all_but(self._deltas[0]) if one else "1 - delta"
            legend += f"; upper bound: with probability {sure}"
        compiling = sum(summary.compile_seconds for summary in self._summaries)
        if compiling:
            legend += f"; seconds: without {compiling:.0f} s of compiling kernels"
        said = [
            f"WARNING: {self._spoken(summary)}: {text}"
            for summary in self._summaries
            for text in summary.warnings
        ]
        left_out = self._columns.left_out("a pipe or --json has all")
        return "\n".join(["", legend, *said, *left_out, *self._named(), *notes])

    def _spoken(self, summary: Summary) -> str:
        """Return which row a sentence is about."""
        several = len(self._deltas) > 1
        return f"{summary.algorithm}, delta {summary.delta:g}" if several else summary.algorithm

    def _named(self) -> list[str]:
        """Return the names of the arms that were named most often, and by whom; nothing of arms
        without names."""
        by: dict[str, list[str]] = {}
        for summary in self._summaries:
            words = summary.named_words
            if words is not None:
                by.setdefault(words, []).append(self._spoken(summary))
        if len(by) == 1:
            return [f"named most often: {words}" for words in by]
        return [f"named most often by {'; '.join(whom)}: {words}" for words, whom in by.items()]


def headline(problem: Problem, *deltas: float) -> str:
    """Return what a problem is, in one line."""
    arms = count(problem.n_arms, f"{type(problem.arms).__name__} arm")
    sigma = "" if problem.arms.sigma is None else f"sigma {problem.arms.sigma:g}, "
    return (
        f"{arms}, {sigma}clusters {_few(problem.clusters)}, required {_few(problem.required)}, "
        f"bottleneck gap {problem.bottleneck_gap:.4g}, "
        f"delta {', '.join(f'{delta:g}' for delta in deltas)}"
    )


def _few(values: Sequence[int]) -> str:
    return (
        listed(values, 12, ",")
        if len(values) <= 12
        else listed(values, 10, ",", f",... ({len(values)} clusters)")
    )


def problem_document(problem: Problem) -> dict[str, Any]:
    """Return what JSON documents say of a problem."""
    names = problem.arms.names
    return {
        "law": type(problem.arms).__name__,
        "means": problem.arms.means.tolist(),
        **({} if names is None else {"names": names}),
        **({} if problem.arms.sigma is None else {"sigma": problem.arms.sigma}),
        "clusters": problem.clusters,
        "required": problem.required,
        "bottleneck_gap": problem.bottleneck_gap,
        "identity": problem.identity(),
    }


def json_text(document: dict[str, Any]) -> str:
    """Return a document as JSON text; infinities and NaN become null, which JSON has no words
    for."""
    return json.dumps(json_safe(document), allow_nan=False, indent=2)
