"""Which figures a study gets."""

from pathlib import Path

import matplotlib
import pytest
from matplotlib.figure import Figure

import rai_sim as rai
from rai_sim.plotting.choice import choose, render
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
    assert [drawing.name for drawing in one] == ["distribution", "histogram", "pulls-by-gap"]


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
