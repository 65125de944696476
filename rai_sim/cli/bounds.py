"""The verb `bounds`: a problem's gaps, and what theory says of its pulls."""

from __future__ import annotations

from typing import Any

import numpy as np

from rai_sim import bounds as theory
from rai_sim.algorithms.base import ALGORITHMS
from rai_sim.cli.options import Delta, Json
from rai_sim.cli.problem import build_problem, takes_problem
from rai_sim.cli.tables import headline, json_text, problem_document, text_table
from rai_sim.cli.text import show
from rai_sim.problem import Problem
from rai_sim.support.checks import check_delta
from rai_sim.support.wording import count, number

#: A text that lists arms stops after so many; JSON has them all.
_MOST_ARMS = 50


@takes_problem
def bounds(problem_options: dict[str, Any], delta: Delta = 0.01, json: Json = False) -> None:
    """Print a problem's gaps and the bounds on pulls."""
    problem, delta = build_problem(problem_options), check_delta(delta)
    if json:
        show(json_text(bounds_document(problem, delta)))
    else:
        show(bounds_text(problem, delta))


def all_bounds(problem: Problem, delta: float) -> list[tuple[str, float, str]]:
    """Return theorem, pulls and what is bounded, for Theorem 1 and every algorithm's upper
    bound."""
    what = "lower bound of any algorithm's mean, asymptotic (delta -> 0), Gaussian arms of sd 1/2"
    found = [("Theorem 1", theory.lower(problem, delta), what)]
    for cls in ALGORITHMS.values():
        if cls.upper_bound is not None:
            function, theorem = cls.upper_bound
            what = f"upper bound for {cls.__name__}, with probability {1.0 - delta:g}"
            found.append((theorem, getattr(theory, function)(problem, delta), what))
    return sorted(found)


def bounds_text(problem: Problem, delta: float) -> str:
    """Return the text of `bounds`: each arm's gap, the bottleneck gap and the bounds."""
    means, best_first = problem.arms.means, np.argsort(-problem.arms.means, kind="stable")
    rows = [("arm", "mean", "cluster", "gap")]
    for arm in best_first[:_MOST_ARMS].tolist():
        mean, gap = f"{means[arm]:.6g}", f"{problem.arm_gaps[arm]:.6g}"
        rows.append((str(arm), mean, str(problem.cluster_of[arm] + 1), gap))
    lines = [headline(problem, delta), "", *text_table(rows, left=0)]
    if problem.n_arms > _MOST_ARMS:
        lines.append(f"... and {count(problem.n_arms - _MOST_ARMS, 'arm')} more; --json lists all")
    found = [(theorem, number(pulls), what) for theorem, pulls, what in all_bounds(problem, delta)]
    width = max(len(pulls) for _, pulls, _ in found)
    lines += [
        "",
        *(f"{theorem}  {pulls.rjust(width)} pulls  {what}" for theorem, pulls, what in found),
    ]
    flaw = problem.arms.why_not_sub_gaussian()
    if flaw is not None:
        lines.append(f"WARNING: the bounds do not hold for these arms: {flaw}")
    return "\n".join(lines)


def bounds_document(problem: Problem, delta: float) -> dict[str, Any]:
    """Return what `bounds --json` prints."""
    return {
        "problem": problem_document(problem),
        "delta": delta,
        "arm_gaps": problem.arm_gaps.tolist(),
        "cluster_of": problem.cluster_of.tolist(),
        "unguarded": problem.arms.why_not_sub_gaussian(),
        "bounds": [
            {"theorem": theorem, "pulls": pulls, "what": what}
            for theorem, pulls, what in all_bounds(problem, delta)
        ],
    }
