"""Which figures a study gets."""

from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting.choice import choose
from rai_sim.plotting.drawing import render
from rai_sim.study import StudyResults


@pytest.mark.slow
def test_a_study_gets_the_figures_that_suit_it(study: StudyResults) -> None:
    """Of everything that varies one figure a family, equal bytes each time, all of them
    pictures."""
    drawings = choose(study)
    names = [drawing.name for drawing in drawings]
    kinds = {
        "pulls-against-delta",
        "pulls-against-gap",
        "pulls-against-n",
        "ratios",
        "distribution",
        "histogram",
        "pulls-by-gap",
        "efficiency-against-delta",
        "exponents-against-gap",
        "normalised-pulls",
        "calibration",
        "arm-map",
        "efficiency-against-gap",
        "moderate-confidence",
        "law",
        "allocation",
    }
    assert kinds <= set(names)
    assert len(set(names)) == len(names)
    gap = next(drawing for drawing in drawings if drawing.name == "pulls-against-gap")
    assert gap.caption.startswith("two arms, δ = 0.01: mean pulls against the bottleneck gap")
    assert "(3 of 5 such figures" in next(
        drawing.caption for drawing in drawings if drawing.name == "distribution"
    )
    first_of_each = [drawing for drawing in drawings if drawing.name in kinds]
    assert all(render(drawing, "svg") == render(drawing, "svg") for drawing in first_of_each)
    with matplotlib.rc_context({"axes.facecolor": "black", "font.size": 30}):
        dark = render(gap, "svg")
    assert dark == render(gap, "svg")
    assert render(gap, "png").startswith(b"\x89PNG")
    assert render(gap, "pdf") == render(gap, "pdf")


def test_studies_made_by_hand(tmp_path: Path) -> None:
    """Instances without parameters: drawn against what differs, the gap or the number of arms;
    nothing for a single task."""
    two = {f"gap {gap}": rai.best_arm(rai.Bernoulli([0.5 + gap, 0.5])) for gap in (0.2, 0.4)}
    names = [
        drawing.name
        for drawing in choose(
            rai.Study.grid(two, [rai.Vanilla()], [0.1], replications=20).run(tmp_path / "a")
        )
    ]
    assert names == [
        "pulls-against-gap",
        "efficiency-against-gap",
        "distribution",
        "histogram",
        "distribution-2",
        "histogram-2",
    ]
    one = choose(
        rai.Study.grid([rai.table_problem()], [rai.Vanilla()], [0.1], replications=20).run(
            tmp_path / "b"
        )
    )
    assert [drawing.name for drawing in one] == [
        "distribution",
        "histogram",
        "pulls-by-gap",
        "allocation",
    ]


def test_instances_that_share_a_place_make_no_line(tmp_path: Path) -> None:
    """Made by hand, with one gap for two of them, be it but for rounding, there is nothing against the
    gap; all other figures are drawn."""
    means = {"a": (0.75, 0.5), "b": (0.5, 0.25), "c": (0.7, 0.2), "d": (0.7, 0.45)}
    problems = {name: rai.best_arm(rai.Bernoulli(list(mu))) for name, mu in means.items()}
    assert problems["a"].bottleneck_gap != problems["d"].bottleneck_gap
    study = rai.Study.grid(problems, [rai.Vanilla()], [0.1], replications=20)
    results = study.run(tmp_path / "store")
    assert "pulls-against-gap" in names_of(results.select(instance=["a", "c"]))
    for some in ("abc", "acd", "ad"):
        drawings = choose(results.select(instance=list(some)))
        assert {drawing.name.rstrip("-123") for drawing in drawings} == {
            "distribution",
            "histogram",
        }


@pytest.mark.slow
def test_a_large_comparison_is_cut(tmp_path: Path) -> None:
    """50 rows: the figure has at most 40 and says which; all of them make two figures, of 40 and of
    10 rows."""
    problems = {
        f"instance {i}": rai.best_arm(rai.Bernoulli([0.9, 0.5 - i / 200])) for i in range(50)
    }
    results = rai.Study.grid(
        problems, [rai.Butterscotch(), rai.Vanilla(), rai.LUCB()], [0.1], replications=3
    ).run(tmp_path / "store")
    drawing = next(drawing for drawing in choose(results) if drawing.name == "ratios")
    assert "for the first 40 of 50 instances alone; --all draws all of them" in drawing.caption
    assert len(drawing.draw(Figure().subplots()).get_yticks()) == 40
    both = [
        drawing for drawing in choose(results, everything=True) if drawing.name.startswith("ratios")
    ]
    assert [len(drawing.draw(Figure().subplots()).get_yticks()) for drawing in both] == [40, 10]
    assert both[1].name == "ratios-2"


def names_of(results: StudyResults, *, everything: bool = False) -> list[str]:
    """Return the names of a study's figures."""
    return [drawing.name for drawing in choose(results, everything=everything)]


def against_theory(names: list[str]) -> list[str]:
    """Return those of figures that show results against theory."""
    kinds = ("efficiency", "normalised", "moderate", "law", "allocation")
    return [name for name in names if name.startswith(kinds)]


def test_figures_against_theory_suit_what_varies(tmp_path: Path) -> None:
    """Over delta efficiency, over N the sum of gap^-2, each with a title that tells the place and a
    line an algorithm; an oracle's law for several algorithms, best shares where arms are told."""
    both, problem = [rai.Vanilla(), rai.LUCB()], rai.table_problem(2)
    over_delta = rai.Study.grid({"x": problem}, both, [0.1, 0.01], replications=30)
    found = {drawing.name: drawing for drawing in choose(over_delta.run(tmp_path / "a"))}
    assert against_theory(list(found)) == [
        "efficiency-against-delta",
        "normalised-pulls",
        "law",
        "allocation",
    ]
    ax = found["efficiency-against-delta"].draw(Figure().subplots())
    assert ax.get_ylabel() == "mean pulls over the lower bound"
    assert ax.get_title(loc="left") == "x"
    labels = ax.get_legend_handles_labels()[1]
    assert {"Vanilla", "LUCB", "oracle, pairs of arms", "1: lower bound"} <= set(labels)
    assert found["law"].draw(Figure().subplots()).get_title(loc="left") == "x, δ = 0.01"
    assert found["allocation"].draw(Figure().subplots()).get_ylabel() == "share of pulls"
    assert found["allocation"].caption.startswith("x, δ = 0.01: each arm's share of the pulls")

    sizes = {f"N {n}": rai.best_arm(rai.Bernoulli(rai.instances.one_apart(n))) for n in (4, 8)}
    over_n = rai.Study.grid(sizes, both[:1], [0.1], replications=30).run(tmp_path / "b")
    found = {drawing.name: drawing for drawing in choose(over_n)}
    assert against_theory(list(found)) == ["moderate-confidence", "allocation"]
    ax = found["moderate-confidence"].draw(Figure().subplots())
    assert ax.get_xlabel() == "number of arms N"
    assert "(1 of 2 such figures; --all draws all of them" in found["allocation"].caption
    assert against_theory(names_of(over_n, everything=True)) == [
        "moderate-confidence",
        "allocation",
        "allocation-2",
    ]


def test_figures_against_theory_need_a_bound(tmp_path: Path) -> None:
    """Of 101 arms, of rewards that no bound is known for, and at deltas of which the bound is
    positive at one alone, nothing is drawn against it; nor shares of two arms, which are halves."""
    wide = rai.best_arm(rai.Bernoulli(rai.instances.one_apart(101)))
    loud = rai.best_arm(rai.Gaussian([1.0, 0.5, 0.0], sd=0.6), strict=False)
    pair = rai.best_arm(rai.Bernoulli([0.9, 0.1]))
    cases = {
        "wide": (wide, [0.1, 0.01], []),
        "loud": (loud, [0.1, 0.01], []),
        "pair": (pair, [0.1, 0.5], []),
        "pair again": (pair, [0.1, 0.01], ["efficiency-against-delta"]),
    }
    for name, (problem, deltas, expected) in cases.items():
        results = rai.Study.grid({name: problem}, [rai.Vanilla()], deltas, replications=5).run(
            tmp_path / name
        )
        assert "pulls-against-delta" in names_of(results)
        assert against_theory(names_of(results)) == [*expected, "normalised-pulls"]


@pytest.mark.slow
def test_panels_of_instances(tmp_path: Path) -> None:
    """Along delta one figure for all instances: of as many as a figure shows, and the caption says
    of how many; of a single one without panels."""
    problems = {f"x {i}": rai.best_arm(rai.Bernoulli([0.9, 0.5 - i / 50])) for i in range(14)}
    results = rai.Study.grid(problems, [rai.Butterscotch()], [0.2, 0.1], replications=20).run(
        tmp_path / "store"
    )
    found = {drawing.name: drawing for drawing in choose(results)}
    for name in ("normalised-pulls", "calibration"):
        assert "by instance. (The first 12 of 14 instances; --all" in found[name].caption
    frame = found["normalised-pulls"].draw(Figure().subplots())
    names = [ax.get_title(loc="left") for ax in frame.get_figure().axes]  # type: ignore[union-attr]
    assert [name for name in names if name] == [f"x {i}" for i in range(12)]
    every = names_of(results, everything=True)
    assert {"normalised-pulls", "normalised-pulls-2", "calibration-2"} <= set(every)
    one = {drawing.name: drawing for drawing in choose(results.select(instance="x 3"))}
    assert one["calibration"].caption.startswith("x 3: error rates against δ")
    assert one["calibration"].draw(Figure().subplots()).get_title(loc="left") == "x 3"


@pytest.mark.slow
def test_calibration_needs_replications(tmp_path: Path) -> None:
    """Deltas at which not one error would be expected tell nothing; an error does."""
    problem, deltas = rai.table_problem(task=2), [0.1, 0.05, 1e-6]
    few = rai.Study.grid({"x": problem}, [rai.Vanilla()], deltas, replications=15)
    assert "calibration" not in names_of(few.run(tmp_path / "few"))
    more = rai.Study.grid({"x": problem}, [rai.Vanilla()], deltas, replications=20)
    (drawing,) = (one for one in choose(more.run(tmp_path / "more")) if one.name == "calibration")
    (line,) = (
        one for one in drawing.draw(Figure().subplots()).get_lines() if one.get_label() == "Vanilla"
    )
    assert sorted(np.asarray(line.get_xdata(), float).tolist()) == [0.05, 0.1]
    wrong = rai.Study.grid(
        {"x": problem}, [rai.LUCB(as_printed=True)], [0.1, 0.01], replications=15
    )
    assert "calibration" in names_of(wrong.run(tmp_path / "wrong"))
