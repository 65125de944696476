"""Figures are an extra: everything else works without matplotlib, and does not load it."""

import subprocess
import sys

import pytest

_WITHOUT = """
import sys
sys.modules["matplotlib"] = None
import rai_sim as rai
rai.simulate(rai.table_problem(), rai.Vanilla(), replications=2, seed=0).summary()
trace = rai.trace(rai.table_problem(), rai.Vanilla())
for use in (lambda: rai.plotting, trace.plot):
    try:
        use()
    except ImportError as error:
        print(error)
"""


@pytest.mark.landing
def test_without_matplotlib() -> None:
    """Everything else works, traces too; figures name the extra that is missing."""
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT], capture_output=True, text=True, check=True
    )
    assert (
        done.stdout.splitlines()
        == ["plots need matplotlib, which is not installed: pip install 'rai_sim[plot]'"] * 2
    )


@pytest.mark.landing
def test_importing_loads_no_matplotlib() -> None:
    """Nor do a simulation, a trace, a study and its summary."""
    code = (
        "import sys, tempfile, rai_sim as rai; p = rai.table_problem(); rai.trace(p, "
        "rai.Vanilla());"
        "rai.Study.grid([p], [rai.Vanilla()], [0.1], "
        "replications=2).run(tempfile.mkdtemp())._repr_html_();"
        "import rai_sim.cli; print([name for name in sys.modules if name.partition('.')[0] == "
        "'matplotlib'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
