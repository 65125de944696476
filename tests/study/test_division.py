"""Shares of a study: disjoint, complete, even, and the same whoever asks."""

import hashlib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai_sim.study.division import Part, read_part


def keys(count: int) -> list[str]:
    """Return keys of tasks, which are hashes."""
    return [hashlib.sha256(str(k).encode()).hexdigest() for k in range(count)]


@given(
    count=st.integers(1, 40),
    tasks=st.integers(1, 60),
    replications=st.integers(1, 3000) | st.none(),
)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_shares_are_a_partition(count: int, tasks: int, replications: int | None) -> None:
    """Every replication of every task belongs to one part; without a number every task does."""
    shares = [Part(k, count).shares(keys(tasks), replications) for k in range(1, count + 1)]
    for at in range(tasks):
        of_task = [share[at] for share in shares]
        if replications is None:
            assert of_task.count(None) == 1
            assert of_task.count([]) == count - 1
        else:
            found = sorted(ends for ranges in of_task if ranges for ends in ranges)
            assert [start for start, _ in found] == [0, *(stop for _, stop in found[:-1])]
            assert found[-1][1] == replications
            assert all(start < stop for start, stop in found)


@pytest.mark.parametrize(
    ("count", "tasks", "replications", "most"),
    [
        (16, 24, 3000, 1.1),
        (16, 1, 3000, 1.1),
        (16, 1, 20, 2.0),
        (16, 2000, 100, 1.01),
        (3, 7, 5, 1.3),
    ],
)
def test_shares_are_even(count: int, tasks: int, replications: int, most: float) -> None:
    """The largest share is little larger than the mean."""
    sizes = [
        sum(stop - start for ranges in share if ranges for start, stop in ranges)
        for share in (Part(k, count).shares(keys(tasks), replications) for k in range(1, count + 1))
    ]
    assert sum(sizes) == tasks * replications
    assert max(sizes) <= most * sum(sizes) / count


def test_what_a_larger_study_adds_is_shared_evenly() -> None:
    """2,000 replications are there: of the 8,000 that 10,000 need every part has its share."""
    for k in range(1, 17):
        shares = Part(k, 16).shares(keys(24), 10_000)
        new = sum(
            max(stop - max(start, 2000), 0) for share in shares for start, stop in share or ()
        )
        assert new == pytest.approx(24 * 8000 / 16, rel=0.1)


def test_neighbours_in_the_grid_do_not_go_to_one_part() -> None:
    """Of four error probabilities in turn, whose last takes longest, four parts each have some."""
    for k in range(1, 5):
        shares = Part(k, 4).shares(keys(4000), None)
        held = [at % 4 for at, share in enumerate(shares) if share is None]
        assert all(200 < held.count(delta) < 300 for delta in range(4))


def test_parts_are_read() -> None:
    """As texts, pairs, or from SLURM's variables, whose numbers may begin anywhere."""
    assert read_part(None) is None
    assert read_part(" 3 / 16 ") == read_part((3, 16)) == read_part(Part(3, 16)) == Part(3, 16)
    array = {"SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_TASK_COUNT": "8"}
    assert read_part("slurm", array) == Part(1, 8)
    assert read_part("SLURM", array | {"SLURM_ARRAY_TASK_ID": "8"}) == Part(8, 8)
    first = {"SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": "7", "SLURM_ARRAY_TASK_ID": "7"}
    assert read_part("slurm", array | first) == Part(8, 8)


@pytest.mark.parametrize(
    ("value", "environment", "words"),
    [
        ("0/4", {}, "part is 0/4; parts are counted from 1"),
        ("5/4", {}, "part is 5/4; parts are counted from 1"),
        ("3", {}, "part is '3'; give number and count of parts such as 3/16"),
        ("-1/4", {}, "part is '-1/4'; give number"),
        (3, {}, "part is 3; give number"),
        ((3.0, 4), {}, r"part is \(3.0, 4\); give number"),
        ("slurm", {}, "SLURM_ARRAY_TASK_ID is not set: this is no job of a SLURM array"),
        ("slurm", {"SLURM_ARRAY_TASK_ID": "2"}, "SLURM_ARRAY_TASK_COUNT is not set"),
        (
            "slurm",
            {"SLURM_ARRAY_TASK_ID": "x", "SLURM_ARRAY_TASK_COUNT": "4"},
            "SLURM_ARRAY_TASK_ID is 'x', which is no number",
        ),
        (
            "slurm",
            {
                "SLURM_ARRAY_TASK_ID": "5",
                "SLURM_ARRAY_TASK_COUNT": "3",
                "SLURM_ARRAY_TASK_MIN": "1",
                "SLURM_ARRAY_TASK_MAX": "5",
            },
            "3 from 1 to 5, do not follow each other.*--array=1-3",
        ),
        (
            "slurm",
            {"SLURM_ARRAY_TASK_ID": "9", "SLURM_ARRAY_TASK_COUNT": "3"},
            "or 9 is none of them",
        ),
    ],
)
def test_what_is_no_part_is_refused(value: object, environment: dict[str, str], words: str) -> None:
    """With what to give instead."""
    with pytest.raises((ValueError, TypeError)) as caught:
        read_part(value, environment)
    assert re.search(words, str(caught.value))
