"""The verb `bounds`: gaps and theorems, as a text and as JSON."""

import math
import re

import pytest
from command_line import Capture, document, printed

from rai_sim import Bernoulli, bounds
from rai_sim.problem import Problem, table_problem


def test_bounds_prints_gaps_and_the_three_theorems(capsys: Capture) -> None:
    """Arms best first with their clusters, the bottleneck gap, and each bound with its meaning."""
    words = "bounds --means 0.25,0.875,0.5 --clusters 1,2 --required 1,0 --delta 0.05"
    lines = printed(capsys, words).splitlines()
    assert (
        lines[0] == "3 Bernoulli arms, clusters 1,2, required 1,0, bottleneck gap 0.375, delta 0.05"
    )
    problem = Problem(Bernoulli([0.25, 0.875, 0.5]), (1, 2), (1, 0))
    shares = bounds.degenne_koolen(problem, "bernoulli").weights
    assert lines[4].split() == ["1", "0.875", "1", "0.375", f"{100 * shares[1]:.2f}", "%"]
    assert lines[5].split() == ["2", "0.5", "2", "0.375", f"{100 * shares[2]:.2f}", "%"]
    assert lines[6].split() == ["0", "0.25", "2", "0.625", f"{100 * shares[0]:.2f}", "%"]
    exact = [
        function(problem, 0.05) for function in (bounds.lower, bounds.vanilla, bounds.butterscotch)
    ]
    said = (
        "lower bound of any algorithm's mean, asymptotic",
        "for Vanilla with the paper's width, with",
        "for Butterscotch with the paper's width, with",
    )
    for number, (line, pulls, words_) in enumerate(
        zip(lines[-3:], exact, said, strict=True), start=1
    ):
        assert line.startswith(f"Theorem {number} ")
        assert f" {pulls:,.{0 if pulls >= 1000 else 1}f} pulls " in line
        assert words_ in line
    found = document(capsys, words)
    assert [bound["pulls"] for bound in found["bounds"]] == exact
    assert found["arm_gaps"] == [0.625, 0.375, 0.375]
    assert found["cluster_of"] == [1, 0, 1]


def test_the_tight_bounds_stand_before_the_theorems(capsys: Capture) -> None:
    """At this delta and in the limit, for the arms' own laws and for Gaussian ones, with their
    conditions; oracles, what binds, and what can be said of the paper's derivations."""
    words = "bounds --table-task 1 --delta 0.05"
    text = printed(capsys, words)
    lines = text.splitlines()
    problem = table_problem(task=1)
    families: list[bounds.Family] = ["bernoulli", "gaussian"]
    for family, laws in zip(families, ("Bernoulli arms", "Gaussian arms of sd 1/2"), strict=True):
        exact = bounds.at_delta(problem, 0.05, family)
        (tight,) = [line for line in lines if line.startswith("tight ") and laws in line]
        assert f" {exact.pulls:,.1f} pulls  lower bound of any algorithm's mean at this" in tight
        assert f"{laws}, 3 right answers" in tight
        (limit,) = [line for line in lines if line.startswith("limit ") and laws in line]
        pulls = math.log(20.0) * exact.tight.value
        borrowed = "" if family == "bernoulli" else "as for "
        assert f" {pulls:,.1f} pulls  asymptotic (delta -> 0), {borrowed}{laws}: " in limit
    oracles = [line for line in lines if line.startswith("oracle ")]
    thresholds: list[bounds.Threshold] = ["gk16-unproven", "pairs", "paper"]
    for line, threshold in zip(oracles, thresholds, strict=True):
        pulls = bounds.practical(problem, 0.05, threshold)
        assert f" {pulls:,.{0 if pulls >= 1000 else 1}f} pulls " in line
    assert "which nobody has proved" in oracles[0]
    assert "cheapest answer to prove: arm 0 of cluster 1" in lines
    assert "hardest to exclude: arm 0 down to 0.735" in text
    assert re.search(r"down to 0\.735\d*, where arms \d(, \d)+ meet it$", text, re.MULTILINE)
    two = printed(capsys, "bounds --means 0.9,0.1 --problem best_arm")
    assert "hardest to exclude: arm 0 down to 0.5, where arm 1 meets it\n" in two
    assert "Where the paper can be bettered:" in lines
    found = document(capsys, words)
    assert [one["pulls_per_nat"] for one in found["tight"]] == [
        bounds.degenne_koolen(problem, family).value for family in families
    ]
    assert found["tight"][0]["binding"]["arm"] == 0
    assert found["tight"][0]["reason"] == "shares of answers"
    assert [one["threshold"] for one in found["oracles"]] == thresholds
    assert found["notes"]


def test_gaussian_arms_have_one_tight_bound(capsys: Capture) -> None:
    """Theirs."""
    words = "bounds --law gaussian --means 0.5,0.25 --clusters 1,1 --required 1,0"
    assert len(document(capsys, words)["tight"]) == 1


def test_infinite_gaps_are_null_in_json(capsys: Capture) -> None:
    """JSON has no infinity."""
    found = document(capsys, "bounds --means 0.5,0.25 --clusters 2 --required 1")
    assert found["arm_gaps"] == [None, None]
    assert found["problem"]["bottleneck_gap"] is None


def test_many_arms_are_not_all_listed(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal stays readable, and its width is kept to; a pipe and JSON have them all."""
    means = ",".join(str(k / 100) for k in range(60))
    words = f"bounds --means {means} --clusters 30,30 --required 1,0"
    whole = printed(capsys, words)
    assert len(re.findall(r"(?m)^ +\d+ +0\.\d+ ", whole)) == 59  # the worst mean is 0
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "20")
    table = printed(capsys, words).split("\n\n")[1].splitlines()
    assert len(table) == 2 + 50 + 2
    assert max(map(len, table[:-2])) <= 20
    assert table[-2:] == [
        "left out to fit 20 columns: gap; a pipe or --json has all",
        "... and 10 more arms; a pipe or --json has all",
    ]
    monkeypatch.undo()
    assert "the tight bound takes long for so many arms: rai.bounds.at_delta" in printed(
        capsys, words
    )
    found = document(capsys, words)
    assert len(found["arm_gaps"]) == 60
    assert (found["tight"], found["oracles"]) == ([], [])


def test_bounds_of_other_laws_say_so(capsys: Capture) -> None:
    """Theorem 1, the tight bound and its limit are those of Gaussian arms, and these arms are none;
    Gaussian arms of that deviation have bounds of their own."""
    for law, borrowed in (("beta", "as for "), ("gaussian", "")):
        lines = printed(
            capsys, f"bounds --law {law} --means 0.75,0.25 --problem best_arm"
        ).splitlines()
        told = [line for line in lines if line.startswith(("tight ", "limit ", "Theorem 1 "))]
        assert len(told) == 3
        assert all(f", {borrowed}Gaussian arms of sd 1/2" in line for line in told)
