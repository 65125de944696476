"""The examples: each is short, runs, and does what it says."""

import ast
import importlib.util
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import numpy as np
import polars as pl
import pytest
from command_line import Capture
from matplotlib import pyplot

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS
from rai_sim.arms.base import LAWS

FOLDER = Path(__file__).parents[2] / "scripts" / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))


@contextmanager
def loaded(name: str) -> Iterator[ModuleType]:
    """Import an example; what it registers is forgotten after."""
    algorithms, laws = set(ALGORITHMS), set(LAWS)
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.modules.pop(name, None)
        for name in set(ALGORITHMS) - algorithms:
            del ALGORITHMS[name]
        for name in set(LAWS) - laws:
            del LAWS[name]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_they_are_short(example: Path) -> None:
    """Below 60 lines, and each says how it is run."""
    text = example.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 60
    assert f"scripts/examples/{example.name}" in " ".join(text.split())


# Of one's own
# --------------------------------------------------------------------------------------------------


def same(problem: rai.Problem, rule: Any, count: int) -> rai.Result:
    """Return replications, and see that Python's are the same."""
    ours, theirs = (
        rai.simulate(problem, one, delta=0.1, replications=count, seed=4, keep="arm_pulls")
        for one in (rule, rule.in_python())
    )
    assert ours.pulls.tolist() == theirs.pulls.tolist()
    assert ours.representatives.tolist() == theirs.representatives.tolist()
    assert ours.arm_pulls is not None
    assert theirs.arm_pulls is not None
    assert ours.arm_pulls.tolist() == theirs.arm_pulls.tolist()
    return ours


def test_successive_elimination() -> None:
    """As many pulls as Vanilla for the best arm, which is the same rule; Python's numbers; its
    program runs."""
    with loaded("successive_elimination") as example:
        rule, problem = (
            example.SuccessiveElimination(),
            rai.best_arm(rai.Bernoulli([0.8, 0.4, 0.3])),
        )
        same(problem, rule, 3)
        ours, theirs = (
            rai.simulate(problem, one, delta=0.1, replications=4_000, seed=seed).pulls
            for seed, one in enumerate((rule, rai.Vanilla()))
        )
        error = (ours.var() / 4_000 + theirs.var() / 4_000) ** 0.5
        assert abs(ours.mean() - theirs.mean()) < 4.5 * error
        example.main()


@pytest.mark.slow
def test_kl_lucb() -> None:
    """Half the pulls of LUCB on the top two of five, hardly an error; Python's numbers; certified."""
    with loaded("kl_lucb") as example:
        problem = rai.top(rai.Bernoulli([0.9, 0.8, 0.5, 0.4, 0.2]), 2)
        same(problem, example.KLLUCB(), 2)
        ours = rai.simulate(problem, example.KLLUCB(), delta=0.1, replications=100, seed=1)
        lucb = rai.simulate(problem, rai.LUCB(), delta=0.1, replications=100, seed=1)
        assert ours.pulls.mean() < 0.7 * lucb.pulls.mean()
        assert ours.correct.mean() > 0.9
        found = rai.certify(example.KLLUCB(), delta=0.1, problems={"five": problem}, seed=0)
        assert found.passed


@pytest.mark.slow
def test_own_law() -> None:
    """Triangular: deviation width / sqrt 6."""
    with loaded("own_law") as example:
        arms = example.Triangular([0.7, 0.3], width=0.3)
        assert arms.sample(0, 20_000).std() == pytest.approx(0.3 / 6**0.5, rel=0.03)
        result = rai.simulate(rai.best_arm(arms), rai.Vanilla(), replications=20, seed=1)
        assert result.correct.all()


# What is done with the package's own
# --------------------------------------------------------------------------------------------------


def test_first_simulation(capsys: Capture) -> None:
    """The three best are named, and the costliest replication's arms stand in their order."""
    with loaded("first_simulation") as example:
        result = example.main(50)
    assert result.correct.all()
    told = capsys.readouterr().out
    assert "named most often  cluster 1: Dumplings, Ramen, Tacos" in told
    assert f"replication {result.pulls.argmax()} took the most pulls" in told
    assert f"pull {result.pulls.max():>8,}: Tacos" in told


def test_comparing_algorithms(capsys: Capture, tmp_path: Path) -> None:
    """The first is once its own; the others' ratios are those of the means; a figure is drawn."""
    pyplot.switch_backend("agg")
    with loaded("comparing_algorithms") as example:
        runs = example.main(40, str(tmp_path / "ratios.png"))
    pyplot.close("all")
    lines = capsys.readouterr().out.splitlines()
    assert "1.000 ± 0.000" in lines[1]
    assert f"{runs[3].pulls.mean() / runs[0].pulls.mean():.3f} ±" in lines[4]
    assert (tmp_path / "ratios.png").stat().st_size > 5_000


def test_choosing_delta(capsys: Capture) -> None:
    """A line a delta; the least within the budget, or a word that there is none."""
    with loaded("choosing_delta") as example:
        assert example.main(40, budget=60_000.0) == 1e-3
        assert len(capsys.readouterr().out.splitlines()) == len(example.DELTAS) + 2
        with pytest.raises(SystemExit, match="takes at most 10 pulls on average"):
            example.main(40, budget=10.0)


def test_resuming_study(capsys: Capture, tmp_path: Path) -> None:
    """What the first run stored is not run again."""
    with loaded("resuming_study") as example:
        results = example.main(str(tmp_path / "store"), 50)
    assert results.progress() == (400, 400)
    assert "added by each run: [80, 320]" in capsys.readouterr().out


def test_ratings_as_arms(capsys: Capture, tmp_path: Path) -> None:
    """The made-up set has its best films last, and they are named."""
    with loaded("ratings_as_arms") as example:
        result = example.main(example.make_up(tmp_path), replications=20)
        assert result.named()["name"].to_list() == example.TITLES[-2:]
    assert "stars  Stalker (1979)" in capsys.readouterr().out


def test_against_the_bound(capsys: Capture) -> None:
    """Means over the bound, all above 1, and the shares of all arms."""
    with loaded("against_the_bound") as example:
        found = example.main(40)
    assert list(found) == ["Vanilla", "Butterscotch", "LUCB"]
    assert min(found.values()) > 10.0
    told = capsys.readouterr().out
    assert "tight, at this delta, Bernoulli arms, one right answer: 3,577 pulls" in told
    assert "best shares of pulls, arm by arm: [0.01, 0.015, 0.471, 0.471," in told


def test_cluster_array(capsys: Capture, tmp_path: Path) -> None:
    """Three parts, and what one process finds; the script that it names is there."""
    with loaded("cluster_array") as example:
        merged = example.main(tmp_path, replications=20)
        assert "scripts/study_array.sh" in str(example.__doc__)
    assert merged.progress() == (80, 80)
    assert "the same numbers as those of one process" in capsys.readouterr().out
    assert (FOLDER.parent / "study_array.sh").is_file()


def test_the_tour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notebook is kept without outputs, and its cells run in their order; it draws four figures."""
    tour = nbformat.read(FOLDER / "tour.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(tour)
    cells = [cell for cell in tour.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in cells)
    assert sum(len(cell.source.splitlines()) for cell in cells) < 60
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pyplot.switch_backend("agg")
    names: dict[str, Any] = {}
    for cell in cells:
        exec(cell.source, names)
    assert len(pyplot.get_fignums()) == 4
    assert names["results"].progress() == (600, 600)
    pyplot.close("all")


def lines_of_code(name: str) -> int:
    """Return how many lines of an example's `main` are code."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    (main,) = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "main"
    ]
    last = main.body[-1].end_lineno
    assert last is not None
    return last - main.body[1].lineno + 1  # after the docstring


@pytest.mark.parametrize("name", ["estimate", "error_rate", "success_curve", "error_at_budgets"])
def test_worked_examples_are_of_a_dozen_lines(name: str) -> None:
    """At most."""
    assert lines_of_code(name) <= 12


def test_an_estimate_and_a_time_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The estimate is of all tasks; in the end nothing is left."""
    with loaded("estimate") as example:
        results = example.main(str(tmp_path / "store"))
        assert results.unfinished() == []
        shown = capsys.readouterr().out
        told = int(
            re.findall(r"in all some ([\d,]+) replications of 4 tasks", shown)[0].replace(",", "")
        )
        assert 0.5 < told / sum(results.summary()["replications"]) < 2.0
        assert "all is there" in shown
        assert "nothing is left to run" in shown


@pytest.mark.landing
def test_stopping_on_the_error_rate(tmp_path: Path) -> None:
    """The printed rule is found out, the other one is not."""
    with loaded("error_rate") as example:
        frame = example.main(str(tmp_path / "store")).summary()
        assert frame["error_verdict"].to_list() == ["above delta"] * 2 + ["below delta"] * 2
        assert frame["complete"].all()


def test_errors_at_budgets(tmp_path: Path, capsys: Capture) -> None:
    """More pulls, fewer errors, as single runs have them; drawn."""
    with loaded("error_at_budgets") as example:
        results = example.main(str(tmp_path / "store"), 200)
    rates = results.summary()["error_rate_at_cap"].to_list()
    assert rates[0] > rates[2] > rates[4]
    alone = rai.simulate(
        results.tasks[1].experiment.problem,
        rai.Vanilla(),
        delta=0.1,
        max_pulls=100,
        replications=200,
    )
    assert rates[1] == pytest.approx(1.0 - alone.recommended_correct.mean())
    assert "error_rate_at_cap" in capsys.readouterr().out
    assert (tmp_path / "store.png").stat().st_size > 5_000


def test_pulls_by_arm(tmp_path: Path) -> None:
    """The best arm and its rival are pulled alike, and most; the table is that of the file."""
    with loaded("pulls_by_arm") as example:
        text = example.table(str(tmp_path / "a"))
    assert "pulls_standard_error" in text
    frame = pl.read_csv(tmp_path / "a.csv")
    pulls = frame["pulls_mean"].to_list()
    assert pulls[0] == pulls[1] > pulls[2] > pulls[3]
    assert frame["share"].sum() == pytest.approx(1.0)


def test_success_curve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More pulls, more often right, up to nearly always; a cap's error is the curve's; drawn."""
    monkeypatch.chdir(tmp_path)
    with loaded("success_curve") as example:
        vanilla, butterscotch = example.main()
    for curve in (vanilla, butterscotch):
        assert curve.share[0] < 0.7
        assert curve.share[-1] > 0.97
    run, (low, high) = vanilla.experiment, vanilla.band(0.999_999)
    capped = rai.simulate(run.problem, run.algorithm, delta=0.1, max_pulls=400, replications=2000)
    between = np.interp(400, vanilla.pulls, low), np.interp(400, vanilla.pulls, high)
    assert between[0] < capped.recommended_correct.mean() < between[1]
    assert (tmp_path / "success.png").stat().st_size > 10_000
