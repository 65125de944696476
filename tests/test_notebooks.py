"""Notebooks: every figure is shown, once, the user's own too; nothing global is left changed;
objects show themselves as tables.

Cells are run by a fresh IPython kernel, which is where pyplot's backend is loaded with the first
figure.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

import rai_sim as rai
from rai_sim.study import tables

ROOT = Path(rai.__file__).parents[1]
SET_UP = f"""
import sys, tempfile
sys.path.insert(0, {str(ROOT)!r})
import rai_sim as rai
runs = [rai.simulate(rai.table_problem(), algorithm, replications=40, seed=0) for algorithm in (rai.Vanilla(), rai.Butterscotch())]
study = rai.Study.grid([rai.table_problem()], [rai.Vanilla(), rai.Butterscotch()], [0.1, 0.01], replications=40)
results = study.run(tempfile.mkdtemp())
"""


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a kernel of this interpreter, known to Jupyter for the time of a test."""
    folder = tmp_path / "jupyter" / "kernels" / "here"
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (folder / "kernel.json").write_text(
        json.dumps({"argv": command, "display_name": "here", "language": "python"})
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.delenv("MPLBACKEND", raising=False)
    return "here"


def run(kernel: str, cells: Sequence[str]) -> list[list[Any]]:
    """Run cells one after the other in a fresh kernel and return the outputs of each."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=300, kernel_name=kernel).execute()
    return [cell.outputs for cell in notebook.cells]


def images(outputs: Sequence[Any]) -> int:
    """Return how many pictures a cell shows."""
    return sum("image/png" in output.get("data", {}) for output in outputs)


def printed(outputs: Sequence[Any]) -> str:
    """Return what a cell prints."""
    return "".join(
        output["text"]
        for output in outputs
        if output["output_type"] == "stream" and output["name"] == "stdout"
    )


#: Each shows one figure.
FIGURES = [
    "rai.plotting.distribution(runs);",
    "import matplotlib.pyplot as plt\nplt.plot([1, 2])",
    "rai.trace(rai.table_problem(), rai.Vanilla()).plot();",
    "rai.plotting.distribution(runs, kind='histogram')",
    "rai.plotting.ratios(runs);",
    "rai.plotting.mean_pulls(results);",
    "figure, (one, two) = plt.subplots(1, 2)\nrai.plotting.distribution(runs, "
    "one)\nrai.plotting.pulls_by_gap(runs, two);",
    "plt.plot([3, 4]);",
]


@pytest.mark.landing
@pytest.mark.parametrize(
    ("first", "count"),
    [
        ("", 3),
        pytest.param("", len(FIGURES), marks=pytest.mark.slow),
        pytest.param("%matplotlib inline", len(FIGURES), marks=pytest.mark.slow),
    ],
)
def test_every_figure_is_shown_once(kernel: str, first: str, count: int) -> None:
    """The first and all later ones, those of the user, those drawn into the user's axes; with and
    without the magic."""
    shown = run(kernel, [first, SET_UP, *FIGURES[:count]])
    assert [images(outputs) for outputs in shown] == [0, 0] + [1] * count


@pytest.mark.landing
def test_the_trap_is_seen(kernel: str) -> None:
    """Negative control: a first figure inside a context of settings makes the next ones vanish, and
    the count notices."""
    trap = "import matplotlib\nimport matplotlib.pyplot as plt\nwith matplotlib.rc_context():\n    plt.subplots()"
    assert [images(outputs) for outputs in run(kernel, [trap, "plt.plot([1, 2]);"])] == [1, 0]


@pytest.mark.slow
def test_the_tour(kernel: str) -> None:
    """The example's cells in a kernel of their own: each figure is shown, and three tables."""
    tour = nbformat.read(ROOT / "scripts" / "examples" / "tour.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    cells = [cell for cell in tour.cells if cell.cell_type == "code"]
    source = f"import sys\nsys.path.insert(0, {str(ROOT)!r})"
    shown = run(kernel, [source, *(cell.source for cell in cells)])[1:]
    drawn = [cell.source.endswith(";") for cell in cells]
    assert [images(outputs) for outputs in shown] == [int(figure) for figure in drawn]
    tables = [output for outputs in shown for output in outputs if "<table" in str(output)]
    assert len(tables) == 3


@pytest.mark.slow
def test_figures_for_files_are_not_shown(kernel: str) -> None:
    """Nor do they change what is shown later; and a figure that fails leaves none behind, and the
    next one is shown."""
    cells = [
        "results.report(tempfile.mktemp('.html'))",
        "import matplotlib.pyplot as plt\nplt.plot([1, 2]);",
        "try:\n    rai.plotting.ratios(runs[0])\nexcept ValueError as error:\n    print(error)",
        "rai.plotting.distribution(runs);",
    ]
    shown = run(kernel, [SET_UP, *cells])
    assert [images(outputs) for outputs in shown] == [0, 0, 1, 0, 1]
    assert "nothing to compare" in printed(shown[3])


#: What a process has one of: what is looked at is what it says, not what it is.
STATE = """
def state():
    import contextlib, io, locale, logging, os, random, signal, sys, threading, warnings
    import matplotlib, numpy as np, polars as pl
    from IPython import get_ipython
    shell = get_ipython()
    return {
        "rcParams": {name: repr(value) for name, value in matplotlib.rcParams.items()}, "interactive": matplotlib.is_interactive(),
        "warnings": [repr(one) for one in warnings.filters], "showwarning": repr(warnings.showwarning), "errstate": np.geterr(),
        "print": repr(np.get_printoptions()), "numpy": repr(np.random.get_state()), "random": hash(random.getstate()),
        "polars": pl.Config.state(env_only=False), "locale": locale.setlocale(locale.LC_ALL), "signals":
        [repr(signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM)],
        "root": (logging.root.level, repr(logging.root.handlers)),
        "hooks": (repr(sys.excepthook), repr(sys.displayhook), repr(threading.excepthook)), "streams": (repr(sys.stdout), repr(sys.stderr)),
        "environment": dict(os.environ), "folder": os.getcwd(), "cells": {name: [repr(one) for one in calls]
        for name, calls in shell.events.callbacks.items()}, "limits": sys.getrecursionlimit(), "path": list(sys.path),
    }
"""
USE = """
import matplotlib.pyplot as plt
from rai_sim.cli import main
for use in (rai.plotting.distribution, rai.plotting.ratios, rai.plotting.pulls_by_gap):
    use(runs)
rai.plotting.mean_pulls(results)
rai.trace(rai.table_problem(), rai.Vanilla()).plot()
rai.simulate(rai.table_problem(), rai.Vanilla(), replications=5, progress=True, n_jobs=2).summary()
results.report(tempfile.mktemp(".html"))
results.verify(5)
study.run(results.folder, progress=None)._repr_html_()
main(["run", "--replications", "5", "--algorithm", "vanilla"]), main(["plot", str(results.folder), "-o", tempfile.mkdtemp()])
plt.close("all")
"""


@pytest.mark.slow
def test_nothing_global_is_left_changed(kernel: str) -> None:
    """Settings of matplotlib, NumPy, polars, warnings, signals, logs and the shell are after all
    that the package does what they were."""
    compare = "after = state()\nprint({name: [before[name], value] for name, value in after.items() if before[name] != value})"
    change = (
        "import matplotlib, numpy, warnings\nmatplotlib.rcParams['font.size'] = "
        "33\nnumpy.seterr(all='raise')\n"
        "warnings.simplefilter('ignore')\nmatplotlib.interactive(False)"
    )
    # the user's backend is loaded, the package used not yet
    first = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nbefore = state()"
    changed = "after = state()\nprint([name for name in after if after[name] != before[name]])"
    shown = run(
        kernel,
        [SET_UP, STATE, first, USE, changed, "before = state()", USE, compare, change, changed],
    )
    # libraries, when they are loaded, add filters; the package does not
    assert set(eval(printed(shown[4]))) <= {"warnings"}
    assert printed(shown[-3]).strip() == "{}"
    # Negative control: what changes is seen to.
    assert {"rcParams", "interactive", "warnings", "errstate"} <= set(eval(printed(shown[-1])))


@pytest.mark.slow
def test_studies_problems_and_arms_show_themselves(kernel: str) -> None:
    """As tables where the last line of a cell is one of them."""
    shown = run(
        kernel,
        [SET_UP, "study", "rai.table_problem()", "rai.table_problem().arms", "results", "runs[0]"],
    )
    for outputs in shown[1:]:
        (output,) = outputs
        assert "<table>" in output["data"]["text/html"]
        assert "\n" not in output["data"]["text/plain"] or "Result(" in output["data"]["text/plain"]


# What they show
# --------------------------------------------------------------------------------------------------

LAWS = [
    (rai.Bernoulli([0.5]), "Bernoulli(1 arm, means [0.5])"),
    (
        rai.Gaussian(np.linspace(0.0, 1.0, 1001)),
        "Gaussian(1,001 arms, means [0, 0.001, 0.002, 0.003, 0.004, 0.005, ...], sd 0.5)",
    ),
    (
        rai.Categorical([0, 0.5, 1], [[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]]),
        "Categorical(2 arms, means [0.65, 0.3], values [0, 0.5, 1], probabilities 2 x 3)",
    ),
    (
        rai.Recorded([[1, 0, 1, 1], [0, 0, 1, 0]]),
        "Recorded(2 arms, means [0.75, 0.25], rewards 2 x 4)",
    ),
]


@pytest.mark.parametrize(("arms", "words"), LAWS, ids=[type(arms).__name__ for arms, _ in LAWS])
def test_arms_in_a_line_and_as_a_table(arms: Any, words: str) -> None:
    """However many there are: one line of text, at most 50 rows, and how many are left out."""
    assert repr(arms) == words
    shown = arms._repr_html_()
    assert shown.count("<tr>") == 1 + min(arms.n_arms, 50)
    assert ("... and 951 more arms" in shown) == (arms.n_arms == 1001)
    assert f">{arms.means[0]:.10g}<" in shown


def test_names_of_arms_are_text() -> None:
    """Names and ids stand beside the means, best first in a problem, and are escaped."""
    arms = rai.Bernoulli([0.25, 0.9]).with_names(["<script>alert(1)</script>", "A & B"], [7, 11])
    for shown in (arms._repr_html_(), rai.best_arm(arms)._repr_html_()):
        assert "<script>" not in shown
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
        assert "A &amp; B" in shown
        assert ">11<" in shown
    problem = rai.best_arm(arms)._repr_html_()
    assert problem.index("A &amp; B") < problem.index("&lt;script&gt;")
    assert "&lt;" not in repr(arms)


def test_problems_in_a_line_and_as_a_table() -> None:
    """What is asked, the gap, and each arm's cluster and gap."""
    problem = rai.table_problem(task=2)
    assert repr(problem) == (
        "Problem(Bernoulli(10 arms, means [0.85, 0.8, 0.65, 0.6, 0.4, 0.36, ...]), "
        "clusters=(3, 5, 2), required=(3, 0, 0))"
    )
    shown = problem._repr_html_()
    assert "bottleneck gap 0.05" in shown
    assert shown.count("3 of 3") == 3
    assert shown.count("0 of 5") == 5
    assert shown.count("<tr>") == 11
    many = rai.full_ranking(rai.Bernoulli(np.linspace(0.1, 0.9, 300)))
    assert len(repr(many)) < 400
    assert "... and 250 more arms" in many._repr_html_()


def test_studies_in_a_line_and_as_a_table() -> None:
    """A row an instance; names escaped; of many instances the first 50; whether the grid is
    whole."""
    problems = {"<a>": rai.table_problem(1), "b": rai.table_problem(2)}
    study = rai.Study.grid(problems, [rai.Vanilla(), rai.LUCB()], [0.1, 0.01], replications=7)
    assert (
        repr(study) == "Study(8 tasks: 2 instances x 2 algorithms x 2 deltas; 7 replications each)"
    )
    shown = study._repr_html_()
    assert shown.count("<tr>") == 3
    assert "&lt;a&gt;" in shown
    assert "Vanilla(merging=True), LUCB(as_printed=False)" in shown
    part = rai.Study(study.tasks[:3], precision=0.05)
    assert repr(part) == (
        "Study(3 tasks: 1 instance, 2 algorithms, 2 deltas; to a precision of 5 % of the mean, "
        "at most 100,000,000 replications each)"
    )
    many = rai.Study.grid(
        {f"i{k}": rai.best_arm(rai.Bernoulli([0.9, k / 200])) for k in range(120)},
        [rai.Vanilla()],
        [0.1],
    )
    assert "... and 70 more instances" in many._repr_html_()
    assert many._repr_html_().count("<tr>") == 51
    assert len(repr(many)) < 120
    assert len(tables.instance_rows(many.tasks)) == 120
    assert "\n" not in repr(study.tasks[0]) + repr(study.tasks[0].experiment)
