"""The verb `bounds`: a problem's gaps, and what theory says of its pulls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from rai_sim import bounds as theory
from rai_sim.algorithms.base import ALGORITHMS
from rai_sim.cli.fitted import fitted_texts, most_rows
from rai_sim.cli.options import Delta, Json
from rai_sim.cli.problem import build_problem, takes_problem
from rai_sim.cli.tables import headline, json_text, problem_document
from rai_sim.cli.text import show
from rai_sim.problem import Problem
from rai_sim.simulation.theorems import lower_bound_conditions
from rai_sim.support.checks import check_delta
from rai_sim.support.wording import all_but, count, json_safe, number, shortened

#: In a terminal a text that lists arms stops after so many; a pipe and JSON have them all.
_MOST_ARMS = 50
#: Of longer names of arms the beginning is shown.
_LONGEST = 40
#: The tight bound of more arms is left to Python, but where it takes a second.
_MOST_TIGHT = 50
_ORACLES = {
    "gk16-unproven": "ln((1 + ln t) / delta), which nobody has proved",
    "pairs": "pairs of arms in a mixture, proved for every sampling rule",
    "paper": "the paper's width at each arm's own count",
}
#: Where the paper's derivations can be bettered.
_NOTES = (
    "Theorem 1 moves one arm alone, and gives it all pulls; the tight bound lets arms meet, and shares "
    "pulls out against all alternatives at once.",
    "The appendix says variance 1/2 where its divergence 2 (a - b)^2 is that of sd 1/2; bounds that "
    "are asymptotic in delta say nothing at a fixed one.",
    "With several right answers kl(delta, 1 - delta) pulls a nat are no bound at a fixed delta: an "
    "algorithm need not be sure of each of them.",
    "Theorems 2 and 3 pay for a width of twice one arm's radius, and for a union over rounds: a "
    "difference of two means is narrower, and a mixture needs no union.",
    "Theorem 3's inner logarithm is of zero or of a squared negative number for gaps of 1/2 and "
    "more; its second term is the bound there.",
)


class Line(NamedTuple):
    """A number of pulls, what it is called, and what it is."""

    name: str
    pulls: float
    what: str


@takes_problem
def bounds(problem_options: dict[str, Any], delta: Delta = 0.01, json: Json = False) -> None:
    """Print a problem's gaps, and bounds on pulls with their conditions."""
    problem, delta = build_problem(problem_options), check_delta(delta)
    if json:
        show(json_text(bounds_document(problem, delta)))
    else:
        show(bounds_text(problem, delta))


def all_bounds(problem: Problem, delta: float) -> list[Line]:
    """Return theorem, pulls and what is bounded, for Theorem 1 and every algorithm's upper
    bound; nothing for arms for which they do not hold."""
    if problem.arms.why_not_sub_gaussian() is not None:
        return []
    what = f"lower bound of any algorithm's mean, {lower_bound_conditions(problem)}"
    found = [Line("Theorem 1", theory.lower(problem, delta), what)]
    for cls in ALGORITHMS.values():
        if cls.upper_bound is not None:
            function, theorem = cls.upper_bound
            what = f"upper bound for {cls.__name__} with the paper's width, with probability {all_but(delta)}"
            found.append(Line(theorem, getattr(theory, function)(problem, delta), what))
    return sorted(found)


def tight_bounds(problem: Problem, delta: float) -> list[theory.FiniteBound]:
    """Return the tight bounds, that of the arms' own laws first; none of too many arms to print
    them in passing, and of arms for which they do not hold."""
    if problem.arms.why_not_sub_gaussian() is not None:
        return []
    if problem.n_arms > _MOST_TIGHT and theory.shown(problem, delta) is None:
        return []
    own = theory.at_delta(problem, delta)
    if own.tight.family == "gaussian":
        return [own]
    return [own, theory.at_delta(problem, delta, "gaussian")]


def tight_lines(problem: Problem, delta: float) -> list[Line]:
    """Return the tight bounds at this delta and in the limit, and what oracles pay."""
    found, log = [], -math.log(delta)
    for bound in tight_bounds(problem, delta):
        tight = bound.tight
        found += [
            Line(
                "tight",
                bound.pulls,
                f"lower bound of any algorithm's mean {bound.conditions}: {bound.nats:.3g} nats",
            ),
            Line(
                "limit",
                log * tight.value,
                f"asymptotic (delta -> 0), {bound.laws}: {tight.value:.6g} pulls a nat, to {tight.gap:.0e}",
            ),
        ]
    for threshold, what in _ORACLES.items() if found else ():
        pulls = theory.practical(problem, delta, threshold)  # type: ignore[arg-type]
        found.append(Line("oracle", pulls, f"that knows the best shares of pulls, stops by {what}"))
    return found


def bounds_text(problem: Problem, delta: float) -> str:
    """Return the text of `bounds`: each arm's gap and share of pulls, the bounds, and what can be
    said of the paper's."""
    lines = [headline(problem, delta), "", *_arms_table(problem, delta), ""]
    flaw = problem.arms.why_not_sub_gaussian()
    if flaw is not None:
        return "\n".join([*lines, f"WARNING: the bounds do not hold for these arms: {flaw}"])
    tight = tight_lines(problem, delta)
    if tight:
        lines += [*_in_words(problem, tight_bounds(problem, delta)[0].tight), ""]
    else:
        said = "the tight bound takes long for so many arms: rai.bounds.at_delta(problem, delta)"
        lines += [said, ""]
    lines += ["Where the paper can be bettered:", *(f"- {note}" for note in _NOTES), ""]
    found = [*tight, *all_bounds(problem, delta)]
    name, width = (max(map(len, texts)) for texts in _columns(found))
    lines += [
        f"{one.name.ljust(name)}  {number(one.pulls).rjust(width)} pulls  {one.what}"
        for one in found
    ]
    return "\n".join(lines)


def _columns(found: list[Line]) -> tuple[list[str], list[str]]:
    return [one.name for one in found], [number(one.pulls) for one in found]


def _arms_table(problem: Problem, delta: float) -> list[str]:
    """Return the table of arms, best first."""
    means, best_first = problem.arms.means, np.argsort(-problem.arms.means, kind="stable")
    found = tight_bounds(problem, delta)
    names = problem.arms.names is not None
    rows = [
        (
            "arm",
            *(["name"] if names else []),
            "mean",
            "cluster",
            "gap",
            *(["best share"] if found else []),
        )
    ]
    most, remedy = most_rows(_MOST_ARMS, problem.n_arms), "a pipe or --json has all"
    for arm in best_first[:most].tolist():
        mean, gap = f"{means[arm]:.6g}", f"{problem.arm_gaps[arm]:.6g}"
        share = [f"{100.0 * found[0].tight.weights[arm]:.2f} %"] if found else []
        name = [shortened(" ".join(problem.arms.name(arm).split()), _LONGEST)] if names else []
        rows.append((str(arm), *name, mean, str(problem.cluster_of[arm] + 1), gap, *share))
    # a narrow terminal goes without shares, then without gaps
    least = range(3 + names, len(rows[0]))[::-1]
    lines = fitted_texts(rows, 2 if names else 0, least, remedy)
    if problem.n_arms > most:
        lines.append(f"... and {count(problem.n_arms - most, 'more arm')}; {remedy}")
    return lines


def _in_words(problem: Problem, tight: theory.TightBound) -> list[str]:
    """Return which answer is the cheapest to prove, and what is the hardest to exclude."""
    name = str if problem.arms.names is None else problem.arms.name
    named = [
        f"{_arms(list(map(name, arms)))} of cluster {i + 1}"
        for i, arms in enumerate(tight.answer)
        if arms
    ]
    lines = [f"cheapest answer to prove: {'; '.join(named)}"]
    one = tight.binding
    if one is not None:
        moved = list(map(name, one.moved))
        meet = (
            f"{_arms(moved)} meet{'s' if len(moved) == 1 else ''} it"
            if moved
            else "no other arm moves"
        )
        lines.append(
            f"hardest to exclude: arm {name(one.arm)} {one.direction} to {one.theta:.6g}, where {meet}"
        )
    return lines


def _arms(names: Sequence[str]) -> str:
    """Return some arms, one or several, by their names."""
    return f"arm{'' if len(names) == 1 else 's'} {', '.join(names)}"


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
        "tight": [
            {
                "pulls": bound.pulls,
                "conditions": bound.conditions,
                "reason": bound.reason,
                "nats": bound.nats,
                "answers": json_safe(bound.answers),
                "pulls_per_nat": bound.tight.value,
                "gap": bound.tight.gap,
                "weights": bound.tight.weights.tolist(),
                "answer": [list(arms) for arms in bound.tight.answer],
                "binding": None if bound.tight.binding is None else asdict(bound.tight.binding),
            }
            for bound in tight_bounds(problem, delta)
        ],
        "oracles": [
            {"threshold": threshold, "pulls": theory.practical(problem, delta, threshold)}  # type: ignore[arg-type]
            for threshold in (_ORACLES if tight_bounds(problem, delta) else ())
        ],
        "notes": list(_NOTES),
    }
