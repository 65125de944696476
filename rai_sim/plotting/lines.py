"""Cases as lines along an axis: points of one label, and of one value of what else varies."""

from __future__ import annotations

from collections.abc import Sequence

from rai_sim.plotting.inputs import SELECT, Case, setting_words
from rai_sim.simulation.sweeps import abscissa, family_of, swept_parameters, twice_at_a_place
from rai_sim.support.errors import ArgumentValueError

#: Lines of one figure, at most.
MOST_LINES = 10


def lines_of(cases: Sequence[Case], against: str) -> dict[str, list[Case]]:
    """Return the cases by line: same label, and same value of what else varies.

    Raises
    ------
    ValueError
        If a line has two points at one place of the axis, or there are more than 10 lines.
    """
    lines = _by_line(cases, against)
    for line in lines.values():
        at = twice_at_a_place((abscissa(case, against) for case in line), against)
        if at is not None:
            raise ArgumentValueError(
                "results",
                f"results has two experiments of {line[0].label} at {against} = {at:g}; {SELECT}, or "
                "another `against`",
            )
    if len(lines) > MOST_LINES:
        raise ArgumentValueError(
            "results",
            f"results makes {len(lines)} lines against {against!r}; a figure shows at most "
            f"{MOST_LINES}: {SELECT}",
        )
    return lines


def makes_lines(cases: Sequence[Case], against: str) -> bool:
    """Whether cases are lines along an axis: at no place of it there are two of one line."""
    return all(
        twice_at_a_place((abscissa(case, against) for case in line), against) is None
        for line in _by_line(cases, against).values()
    )


def _by_line(cases: Sequence[Case], against: str) -> dict[str, list[Case]]:
    """Return the cases by label, and by the value of what else varies."""
    rest = [_rest(case, against) for case in cases]
    names = dict.fromkeys(name for one in rest for name in one)
    varying = [name for name in names if len({one.get(name) for one in rest}) > 1]
    lines: dict[str, list[Case]] = {}
    for case, one in zip(cases, rest, strict=True):
        words = [one[name] for name in varying if one.get(name)]
        lines.setdefault(", ".join([case.label, *words]), []).append(case)
    return lines


def _rest(case: Case, against: str) -> dict[str, str]:
    """Return in words what tells lines apart: family, delta, and what else was swept or set
    differently."""
    found = {"family": family_of(case, against)}
    if against != "delta":
        found["delta"] = f"δ = {case.experiment.delta:g}"
        found |= {
            name: f"{name} = {case.parameters[name]:g}"
            for name in swept_parameters(case)
            if name != against
        }
    return found | {f"setting {i}": words for i, words in enumerate(setting_words(case, against))}
