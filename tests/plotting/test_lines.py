"""Cases as lines along an axis."""

import pytest
from figures import part

import rai_sim as rai
from rai_sim.plotting.inputs import cases_of
from rai_sim.plotting.lines import MOST_LINES, lines_of
from rai_sim.study import StudyResults


def test_a_line_for_each_value_of_what_else_varies(study: StudyResults) -> None:
    """Along the gap one for each algorithm and delta; along delta one for each instance."""
    cases = cases_of(part(study, "two arms", 0.1, 0.01))
    along_gap = lines_of(cases, "gap")
    assert list(along_gap)[:2] == ["Vanilla, δ = 0.1", "Vanilla, δ = 0.01"]
    assert {len(line) for line in along_gap.values()} == {3}
    along_delta = lines_of(cases, "delta")
    assert next(iter(along_delta)) == "Vanilla, two arms, gap = 0.4"
    assert {len(line) for line in along_delta.values()} == {2}


def test_what_makes_no_lines_is_refused(study: StudyResults, runs: list[rai.Result]) -> None:
    """Two points at one place, and more lines than can be told apart."""
    with pytest.raises(
        ValueError, match=r"two experiments of Vanilla at delta = 0\.01; choose some"
    ):
        lines_of(cases_of([runs[0], runs[0]]), "delta")
    cases = cases_of(study)
    with pytest.raises(ValueError, match=f"a figure shows at most {MOST_LINES}: choose some"):
        lines_of(cases, "delta")
