"""Which cases one figure shows."""

from figures import part

from rai_sim.plotting import groups
from rai_sim.plotting.inputs import cases_of
from rai_sim.study import StudyResults


def test_some_are_the_first_the_last_and_one_between(study: StudyResults) -> None:
    """With words for what is left out; all of them if they are asked for."""
    five = groups.by_instance(cases_of(study))
    chosen = groups.some(five, 10, everything=False)
    assert [group[0].instance for group, _ in chosen] == [five[i][0].instance for i in (0, 2, 4)]
    assert all(words.startswith(" (3 of 5 such figures; --all") for _, words in chosen)
    assert [group for group, _ in groups.some(five, 10, everything=False, most=1)] == five[:1]
    assert groups.some(five, 10, everything=True) == [(group, "") for group in five]


def test_algorithms_that_do_not_fit(study: StudyResults) -> None:
    """The first ones, or one piece after the other."""
    cases = cases_of(part(study, "top fifth, n = 5"))
    ((first, words),) = groups.of_few_algorithms(cases, 2, everything=False)
    assert {case.label for case in first} == {"Vanilla", "Butterscotch"}
    assert words == f" (Algorithms 1 to 2 of 3; {groups.MORE}.)"
    pieces = list(groups.of_few_algorithms(cases, 2, everything=True))
    assert [len(piece) for piece, _ in pieces] == [6, 3]
    assert pieces[1][1] == " (Algorithms 3 to 3 of 3.)"


def test_groups_have_what_varies(study: StudyResults) -> None:
    """Along delta one an instance; along the gap those of one family, at the smallest delta unless
    all are wanted."""
    cases = cases_of(study)
    assert len(groups.wide_groups(cases, "delta", everything=False)) == 5
    (one,) = groups.wide_groups(cases, "gap", everything=False)
    assert groups.title(one, "gap", cases) == "two arms, δ = 0.01"
    assert len(groups.wide_groups(cases, "gap", everything=True)) == 3
    assert groups.wide_groups(cases_of(part(study, "two arms", 0.1)), "delta", False) == []


def test_places_are_instances_and_deltas(study: StudyResults) -> None:
    """The smallest delta of each, or all."""
    cases = cases_of(study)
    assert len(groups.places(cases, everything=False)) == 5
    every = groups.places(cases, everything=True)
    assert len(every) == 15
    assert groups.where(every[0], cases) == "two arms, gap = 0.4, δ = 0.1"
