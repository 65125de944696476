"""What the command line prints: tables drawn with plain text, and JSON documents."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from rai_sim import bounds
from rai_sim.algorithms.base import Algorithm
from rai_sim.bounds.paper import theorem_2
from rai_sim.cli.fitted import Columns, places
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
