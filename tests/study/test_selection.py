"""Some of a study's tasks: which are chosen, what is said where none is, and that everything else
follows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot

import rai_sim as rai
from rai_sim.plotting.choice import choose
from rai_sim.plotting.drawing import render
from rai_sim.plotting.inputs import cases_of
from rai_sim.report import report
from rai_sim.study import StudyResults
from rai_sim.study.selection import select_tasks

VANILLA, PLAIN, BUTTERSCOTCH = rai.Vanilla(), rai.Vanilla(merging=False), rai.Butterscotch()
PROBLEMS = {
    **{
        f"two arms, gap = {gap}": rai.best_arm(rai.Bernoulli([0.5 + gap, 0.5]))
        for gap in (0.4, 0.2, 0.1)
    },
    "odd [1] *name*": rai.table_problem(1),
    "odd 1 name": rai.table_problem(2),
    "new\nline": rai.table_problem(3),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """Six instances, three algorithms, two deltas."""
    study = rai.Study.grid(PROBLEMS, [VANILLA, PLAIN, BUTTERSCOTCH], [0.1, 0.01], replications=40)
    return study.run(tmp_path_factory.mktemp("study") / "store")


@pytest.fixture(autouse=True)
def headless() -> Iterator[None]:
    """Pictures without a screen, and no figure left open."""
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def chosen(results: StudyResults, **what: Any) -> set[tuple[str, str, float]]:
    """Return instance, algorithm and delta of the tasks selected."""
    return {
        (task.instance, task.experiment.algorithm.label, task.experiment.delta)
        for task in results.select(**what).tasks
    }


@pytest.mark.parametrize(
    ("what", "test"),
    [
        ({}, lambda i, a, d: True),
        ({"instance": "two arms, gap = 0.2"}, lambda i, a, d: i == "two arms, gap = 0.2"),
        ({"instance": "two arms*"}, lambda i, a, d: i.startswith("two arms")),
        ({"instance": "two arms, gap = 0.?"}, lambda i, a, d: i.startswith("two arms")),
        (
            {"instance": ["two arms, gap = 0.1", "odd*"]},
            lambda i, a, d: i.endswith("= 0.1") or i.startswith("odd"),
        ),
        ({"instance": "odd [1] *name*"}, lambda i, a, d: i == "odd [1] *name*"),
        ({"instance": "new*"}, lambda i, a, d: i == "new\nline"),
        ({"delta": 0.1}, lambda i, a, d: d == 0.1),
        ({"delta": 0.1 * 0.1}, lambda i, a, d: d == 0.01),
        ({"delta": (0.1, 0.01)}, lambda i, a, d: True),
        ({"algorithm": "vanilla"}, lambda i, a, d: a.startswith("Vanilla")),
        ({"algorithm": "Vanilla(merging=False)"}, lambda i, a, d: a == PLAIN.label),
        ({"algorithm": "Vanilla (merging=False)"}, lambda i, a, d: a == PLAIN.label),
        ({"algorithm": "*merging=true*"}, lambda i, a, d: "True" in a),
        ({"algorithm": PLAIN}, lambda i, a, d: a == PLAIN.label),
        ({"algorithm": [BUTTERSCOTCH, "Vanilla(merging=True)"]}, lambda i, a, d: "True" in a),
        (
            {"instance": "two*", "algorithm": "butter*", "delta": 0.01},
            lambda i, a, d: i[0] == "t" and a[0] == "B" and d == 0.01,
        ),
    ],
)
def test_what_is_selected(what: dict[str, Any], test: Any, results: StudyResults) -> None:
    """Names as they stand and patterns, labels of tables and figures, several values of one
    argument, several arguments."""
    everything = {
        (task.instance, task.experiment.algorithm.label, task.experiment.delta)
        for task in results.tasks
    }
    expected = {one for one in everything if test(*one)}
    assert expected
    assert chosen(results, **what) == expected


@pytest.mark.parametrize(
    ("what", "error", "words"),
    [
        (
            {"instance": "three arms*"},
            ValueError,
            "instance is 'three arms\\*', which no task has; there are 'two arms, gap = 0.4', ",
        ),
        ({"instance": "odd [2]*"}, ValueError, "which no task has"),
        ({"instance": 3}, TypeError, "instance is 3; give an instance's name"),
        ({"delta": 0.05}, ValueError, "delta is 0.05, which no task has; there are 0.1, 0.01$"),
        ({"delta": "0.1"}, TypeError, "delta is '0.1'"),
        ({"delta": 2}, ValueError, "delta is 2"),
        ({"delta": []}, ValueError, "delta is empty; give at least one value, or None for all"),
        (
            {"algorithm": "lucb"},
            ValueError,
            r"algorithm is 'lucb', which no task has; there are "
            r"Vanilla\(merging=True\), ",
        ),
        ({"algorithm": rai.LUCB()}, ValueError, "which no task has"),
        ({"algorithm": 3}, TypeError, "algorithm is 3; give an algorithm such as"),
    ],
)
def test_what_is_refused(
    what: dict[str, Any], error: type[Exception], words: str, results: StudyResults
) -> None:
    """Argument and value, and what there is."""
    with pytest.raises(error, match=words):
        results.select(**what)


def test_a_study_without_tasks(results: StudyResults) -> None:
    """Nothing asked for is all that there is, also where that is nothing."""
    assert select_tasks(results.tasks) == results.tasks
    assert select_tasks([]) == ()
    with pytest.raises(ValueError, match="instance is 'a', but the study's folder holds no task"):
        select_tasks([], instance="a")


def test_none_has_all(results: StudyResults) -> None:
    """Each value is there, but not together."""
    some = results.select(algorithm="butterscotch", delta=0.1)
    with pytest.raises(ValueError, match=r"which no task has; there are 0\.1$"):
        some.select(delta=0.01)
    both = rai.Study(
        (
            *results.select(algorithm="butterscotch", delta=0.1).tasks,
            *results.select(algorithm=PLAIN, delta=0.01).tasks,
        )
    )
    with pytest.raises(
        ValueError,
        match=r"no task has algorithm 'butterscotch' and delta 0\.01; there are two arms, gap = "
        r"0\.4, Butter",
    ):
        both.results(results.folder).select(algorithm="butterscotch", delta=0.01)


@pytest.mark.slow
def test_everything_follows_the_selection(results: StudyResults) -> None:
    """Summary, rows, progress, reports and figures are of the tasks chosen; the whole is left as it
    was."""
    some = results.select(instance="two*", delta=0.01)
    assert len(some.tasks) == 9
    assert some.summary().equals(
        results.summary()
        .filter(instance=some.tasks[0].instance, delta=0.01)
        .vstack(results.summary().filter(instance=some.tasks[3].instance, delta=0.01))
        .vstack(results.summary().filter(instance=some.tasks[6].instance, delta=0.01))
    )
    assert some.progress() == (360, 360)
    assert set(some.rows().collect()["delta"]) == {0.01}
    page = report(some)
    assert "two arms, gap = 0.4" in page
    assert ">odd" not in page
    assert ">odd" in report(results)
    assert len(results.tasks) == 36
    assert {case.instance for case in cases_of(some)} == {
        f"two arms, gap = {gap}" for gap in (0.4, 0.2, 0.1)
    }


def test_errors_of_figures_name_it(results: StudyResults) -> None:
    """What is too much for a figure can be selected from, and then is drawn."""
    with pytest.raises(
        ValueError,
        match=r"a figure shows at most 10: choose some, of a study's results with "
        r"select\(instance=..., ",
    ):
        rai.plotting.distribution(results)
    with pytest.raises(ValueError, match=r"select\(instance=..., algorithm=..., delta=...\)"):
        rai.plotting.mean_pulls(results, against="n")
    with pytest.raises(ValueError, match=r"select\(instance=...\)"):
        rai.plotting.pulls_by_gap(results.select(instance="odd*", delta=0.1))


@pytest.mark.landing
def test_all_figures_are_drawn(results: StudyResults) -> None:
    """Three of a kind with a word of the others, or all of them and no such word."""
    few, everything = choose(results), choose(results, everything=True)
    assert "(3 of 6 such figures; --all draws all of them, --select chooses.)" in next(
        d.caption for d in few if d.name == "distribution"
    )
    names = [drawing.name for drawing in everything]
    assert len([name for name in names if name.startswith("distribution")]) == 12
    assert len([name for name in names if name.startswith("pulls-by-gap")]) == 6
    assert len(set(names)) == len(names)
    assert not [drawing.caption for drawing in everything if "such figures" in drawing.caption]
    assert {
        drawing.caption.partition(":")[0]
        for drawing in few
        if drawing.name.startswith("pulls-by-gap")
    } <= {drawing.caption.partition(":")[0] for drawing in everything}


@pytest.mark.slow
def test_pdf_has_no_type_3(results: StudyResults) -> None:
    """Fonts are TrueType, powers and Greek letters too, which conferences ask for."""
    for drawing in choose(results.select(instance="two*"))[:4]:
        file = render(drawing, "pdf")
        assert b"/Type3" not in file
        assert b"/CIDFontType2" in file or b"/TrueType" in file


@pytest.mark.landing
def test_few_replications_have_no_interval(tmp_path: Path) -> None:
    """From 30 on there is one; of fewer the figure says why there is none; bands of distributions
    hold for any number."""
    problem, algorithms = rai.table_problem(task=1), (VANILLA, BUTTERSCOTCH)
    for n in (2, 29, 30):
        runs = [
            rai.simulate(problem, algorithm, replications=n, seed=0) for algorithm in algorithms
        ]
        deltas = [
            rai.simulate(problem, VANILLA, delta=delta, replications=n, seed=0)
            for delta in (0.1, 0.01)
        ]
        figures = [
            (rai.plotting.mean_pulls(deltas), "band"),
            (rai.plotting.ratios(runs), "bar"),
            (rai.plotting.pulls_by_gap(runs), "bar"),
        ]
        for ax, kind in figures:
            figure: Any = ax.get_figure(root=True)
            said = [text.get_text() for text in figure.legends[0].get_texts()]
            assert bool([words for words in said if words.startswith(f"{kind}: 95 %")]) == (n >= 30)
            assert ("no interval: fewer than 30 replications" in said) == (n < 30)
            drawn = [
                path
                for one in ax.collections
                for path in one.get_paths()
                if len(path) and np.isfinite(path.vertices).all()
            ]
            assert bool(drawn) == (n >= 30)
            pyplot.close(figure)
    ax = rai.plotting.distribution(runs[0])
    assert ax.collections
