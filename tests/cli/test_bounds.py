"""The verb `bounds`: gaps and theorems, as a text and as JSON."""

from command_line import Capture, document, printed

from rai_sim import Bernoulli, bounds
from rai_sim.problem import Problem


def test_bounds_prints_gaps_and_the_three_theorems(capsys: Capture) -> None:
    """Arms best first with their clusters, the bottleneck gap, and each bound with its meaning."""
    words = "bounds --means 0.25,0.875,0.5 --clusters 1,2 --required 1,0 --delta 0.05"
    lines = printed(capsys, words).splitlines()
    assert (
        lines[0] == "3 Bernoulli arms, clusters 1,2, required 1,0, bottleneck gap 0.375, delta 0.05"
    )
    assert lines[4].split() == ["1", "0.875", "1", "0.375"]
    assert lines[5].split() == ["2", "0.5", "2", "0.375"]
    assert lines[6].split() == ["0", "0.25", "2", "0.625"]
    problem = Problem(Bernoulli([0.25, 0.875, 0.5]), (1, 2), (1, 0))
    exact = [
        function(problem, 0.05) for function in (bounds.lower, bounds.vanilla, bounds.butterscotch)
    ]
    said = (
        "lower bound of any algorithm's mean, asymptotic",
        "for Vanilla, with",
        "for Butterscotch, with",
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


def test_infinite_gaps_are_null_in_json(capsys: Capture) -> None:
    """JSON has no infinity."""
    found = document(capsys, "bounds --means 0.5,0.25 --clusters 2 --required 1")
    assert found["arm_gaps"] == [None, None]
    assert found["problem"]["bottleneck_gap"] is None


def test_many_arms_are_not_all_listed(capsys: Capture) -> None:
    """A text stays readable; JSON has them all."""
    means = ",".join(str(k / 100) for k in range(60))
    words = f"bounds --means {means} --clusters 30,30 --required 1,0"
    assert "... and 10 arms more; --json lists all" in printed(capsys, words)
    assert len(document(capsys, words)["arm_gaps"]) == 60
