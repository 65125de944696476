"""What the command line prints: tables drawn with plain text, and JSON documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from rai_sim import bounds
from rai_sim.algorithms.base import ALGORITHMS
from rai_sim.engine.streams import STREAM_VERSION
from rai_sim.problem import Problem
from rai_sim.result import Result
from rai_sim.summary import Summary, count, json_safe, number, percent

#: A text that lists arms stops after so many; JSON has them all.
_MOST_ARMS = 50
_COLUMNS = (
    "algorithm",
    "mean pulls",
    "95 % interval",
    "errors",
    "95 % interval",
    "lower bound",
    "upper bound",
    "seconds",
)


def text_table(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Return lines with aligned columns; row 0 is the header, the first `left` columns are flush left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        cells = [text.ljust(w) if i < left else text.rjust(w)
                 for i, (text, w) in enumerate(zip(row, widths, strict=True))]
        return "  ".join(cells).rstrip()

    return [line(rows[0]), "-" * (sum(widths) + 2 * (len(widths) - 1)), *map(line, rows[1:])]


def run_text(problem: Problem, delta: float, results: Sequence[Result], notes: Sequence[str]) -> str:
    """Return the table of `run`: one line an algorithm, what a reader must be warned of, and the notes."""
    summaries = [result.summary() for result in results]
    table = text_table([_COLUMNS, *map(_run_row, summaries)])
    legend = "lower bound: Theorem 1, of the mean, asymptotic (delta -> 0)"
    if any(summary.upper_bound is not None for summary in summaries):
        legend += f"; upper bound: with probability {1.0 - delta:g}"
    said = [f"WARNING: {summary.algorithm}: {text}" for summary in summaries for text in summary.warnings]
    return "\n".join([_headline(problem, delta), "", *table, "", legend, *said, *notes])


def _run_row(summary: Summary) -> list[str]:
    theorem = (summary.upper_bound_theorem or "").replace("Theorem", "Th.")
    upper = "none" if summary.upper_bound is None else f"{number(summary.upper_bound)} ({theorem})"
    return [
        summary.algorithm,
        number(summary.mean),
        _interval(*map(number, summary.interval)),
        percent(summary.error_rate),
        _interval(*map(percent, summary.error_interval)),
        number(summary.lower_bound),
        upper,
        f"{summary.seconds:.2f}",
    ]


def _interval(low: str, high: str) -> str:
    """Return an interval in words, the unit only once."""
    return low if low == high == "n/a" else f"{low.removesuffix(' %')} to {high}"


def _headline(problem: Problem, delta: float) -> str:
    arms = count(problem.n_arms, f"{type(problem.arms).__name__} arm")
    return (f"{arms}, clusters {_few(problem.clusters)}, required {_few(problem.required)}, "
            f"bottleneck gap {problem.bottleneck_gap:.4g}, delta {delta:g}")


def _few(values: Sequence[int]) -> str:
    if len(values) <= 12:
        return ",".join(map(str, values))
    return f"{','.join(map(str, values[:10]))},... ({len(values)} clusters)"


def run_document(problem: Problem, results: Sequence[Result], **more: Any) -> dict[str, Any]:
    """Return what `run --json` prints."""
    runs = [
        result.summary().to_dict() | {"experiment": result.experiment.identity(), "ranges": result.ranges}
        for result in results
    ]
    return {"problem": _problem_document(problem), "stream_version": STREAM_VERSION, **more, "runs": runs}


def _problem_document(problem: Problem) -> dict[str, Any]:
    return {
        "law": type(problem.arms).__name__,
        "means": problem.arms.means.tolist(),
        "clusters": problem.clusters,
        "required": problem.required,
        "bottleneck_gap": problem.bottleneck_gap,
        "identity": problem.identity(),
    }


def json_text(document: dict[str, Any]) -> str:
    """Return a document as JSON text; infinities and NaN become null, which JSON has no words for."""
    return json.dumps(json_safe(document), allow_nan=False, indent=2)


def all_bounds(problem: Problem, delta: float) -> list[tuple[str, float, str]]:
    """Return theorem, pulls and what is bounded, for Theorem 1 and every algorithm's upper bound."""
    what = "lower bound of any algorithm's mean, asymptotic (delta -> 0), Gaussian arms of sd 1/2"
    found = [("Theorem 1", bounds.lower(problem, delta), what)]
    for cls in ALGORITHMS.values():
        if cls.upper_bound is not None:
            function, theorem = cls.upper_bound
            what = f"upper bound for {cls.__name__}, with probability {1.0 - delta:g}"
            found.append((theorem, getattr(bounds, function)(problem, delta), what))
    return sorted(found)


def bounds_text(problem: Problem, delta: float) -> str:
    """Return the text of `bounds`: each arm's gap, the bottleneck gap and the bounds."""
    means, best_first = problem.arms.means, np.argsort(-problem.arms.means, kind="stable")
    rows = [("arm", "mean", "cluster", "gap")]
    for arm in best_first[:_MOST_ARMS].tolist():
        mean, gap = f"{means[arm]:.6g}", f"{problem.arm_gaps[arm]:.6g}"
        rows.append((str(arm), mean, str(problem.cluster_of[arm] + 1), gap))
    lines = [_headline(problem, delta), "", *text_table(rows, left=0)]
    if problem.n_arms > _MOST_ARMS:
        lines.append(f"... and {count(problem.n_arms - _MOST_ARMS, 'arm')} more; --json lists all")
    found = [(theorem, number(pulls), what) for theorem, pulls, what in all_bounds(problem, delta)]
    width = max(len(pulls) for _, pulls, _ in found)
    lines += ["", *(f"{theorem}  {pulls.rjust(width)} pulls  {what}" for theorem, pulls, what in found)]
    flaw = problem.arms.why_not_sub_gaussian()
    if flaw is not None:
        lines.append(f"WARNING: the bounds do not hold for these arms: {flaw}")
    return "\n".join(lines)


def bounds_document(problem: Problem, delta: float) -> dict[str, Any]:
    """Return what `bounds --json` prints."""
    return {
        "problem": _problem_document(problem),
        "delta": delta,
        "arm_gaps": problem.arm_gaps.tolist(),
        "cluster_of": problem.cluster_of.tolist(),
        "unguarded": problem.arms.why_not_sub_gaussian(),
        "bounds": [
            {"theorem": theorem, "pulls": pulls, "what": what}
            for theorem, pulls, what in all_bounds(problem, delta)
        ],
    }
