"""LUCB's picks: for which tasks they are defined, and how delta is shared."""

from __future__ import annotations

from typing import Any

import pytest

import rai_sim as rai
from rai_sim import LUCB
from rai_sim.algorithms.lucb.variants.picks import (
    ALL,
    BORDERS,
    WITHIN,
    choice_of,
    what_is_asked_for,
)
from rai_sim.algorithms.lucb.variants.radii import side_of

#: Clusters, required, and the picks that are defined beside "all".
TASKS: list[tuple[tuple[int, ...], tuple[int, ...], set[str]]] = [
    ((1, 9), (1, 0), {"lucb++", "k-m", "rank"}),
    ((3, 7), (3, 0), {"lucb++", "k-m", "rank"}),
    ((3, 7), (2, 0), {"k-m"}),
    ((3, 7), (3, 7), {"lucb++", "rank"}),
    ((3, 7), (0, 7), {"lucb++", "rank"}),
    ((3, 7), (0, 6), set()),
    ((3, 7), (3, 1), set()),
    ((3, 5, 2), (3, 0, 0), {"lucb++", "k-m", "rank"}),
    ((3, 5, 2), (0, 0, 2), {"lucb++", "rank"}),
    ((3, 5, 2), (1, 0, 0), {"k-m"}),
    ((3, 5, 2), (0, 5, 0), {"rank"}),
    ((3, 5, 2), (3, 0, 2), {"rank"}),
    ((1, 1, 1), (1, 1, 1), {"rank"}),
    ((4,), (4,), {"rank"}),
    ((4,), (2,), set()),
]


@pytest.mark.parametrize(
    ("clusters", "required", "defined"),
    TASKS,
    ids=lambda one: str(sorted(one)) if isinstance(one, set) else str(one),
)
def test_where_picks_are_defined(
    clusters: tuple[int, ...], required: tuple[int, ...], defined: set[str]
) -> None:
    """Each kind of task, by hand; "all" for every one."""
    names: tuple[Any, ...] = ("all", "lucb++", "k-m", "rank")
    found = {name for name in names if what_is_asked_for(name, clusters, required) is None}
    assert found == defined | {"all"}


def test_who_shares_delta() -> None:
    """2 N sides by default; LUCB++'s LCBs N - K, its UCBs K, wherever the border is."""
    for picks, kernel in (("all", ALL), ("rank", BORDERS), ("k-m", WITHIN)):
        choice = choice_of("mixture", picks, (3, 7), (3, 0), 0.1)  # type: ignore[arg-type]
        assert choice.picks == kernel
        assert choice.alike
        assert choice.down == choice.up == side_of("mixture", 0.1 / 20, alone=False)
    for clusters, required, K in (((3, 7), (3, 0), 3), ((3, 5, 2), (0, 0, 2), 8)):
        choice = choice_of("stitched", "lucb++", clusters, required, 0.1)
        assert (choice.picks, choice.alike) == (BORDERS, False)
        assert choice.down == side_of("stitched", 0.1 / (2 * (10 - K)), alone=True)
        assert choice.up == side_of("stitched", 0.1 / (2 * K), alone=True)


def test_a_task_that_is_none_of_theirs_is_refused_before_anything_runs() -> None:
    """By `simulate`, studies, certifications and traces, with task and remedy; the whole list of
    problems is looked at first."""
    task, rule = rai.table_problem(5), LUCB(picks="k-m")
    fine = rai.table_problem(1)
    says = (
        r"algorithm is LUCB\(as_printed=False, picks='k-m'\).* for M of the top K.*"
        r"clusters are \(3, 5, 2\), required \(0, 0, 1\): choose picks='all'"
    )
    with pytest.raises(ValueError, match=says) as caught:
        rai.simulate(task, rule)
    assert caught.value.argument == "algorithm"  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=says):
        rai.Study.grid({"fine": fine, "table": task}, [rule], [0.1], replications=1)
    with pytest.raises(ValueError, match=says):
        rai.certify(rule, 0.1, problems={"fine": fine, "table": task})
    with pytest.raises(ValueError, match=says):
        rai.trace(task, rule, delta=0.1, seed=1, replication=0)
    rai.Study.grid({"fine": fine}, [rule], [0.1], replications=1)
