"""The public names: listed once, all there, and nothing else is shown."""

from __future__ import annotations

import subprocess
import sys

import pytest

import rai_sim as rai

#: What scripts and checks call; a name that goes breaks somebody's work.
_FIXED = (
    "BatchedTrackAndStop Bernoulli Beta Butterscotch Categorical Certification "
    "CertificationInterrupted Gaussian LUCB Poisson Problem Recorded Result STREAM_VERSION "
    "SimulationInterrupted StudentT Study StudyFailed StudyInterrupted StudyResults Summary "
    "TopTwo Trace Uniform Vanilla WorkersLost arm_pulls best_arm bounds certify coarse_ranking "
    "full_ranking hard_problems instances load_result m_of_top merge_studies movielens one_of_top "
    "open_study plotting scaling simulate table_problem top trace "
)


def test_all_names_are_there() -> None:
    """Those that are loaded late too."""
    assert set(rai.__all__) >= set(_FIXED.split())
    assert len(set(rai.__all__)) == len(rai.__all__)
    for name in rai.__all__:
        assert getattr(rai, name) is not None


def test_nothing_else_is_shown() -> None:
    """Neither modules that were imported on the way nor tools."""
    assert dir(rai) == sorted(rai.__all__)


def test_names_that_are_loaded_late_are_not_loaded_early() -> None:
    """Importing the package stays quick."""
    program = "import sys, rai_sim; print([name for name in ('polars', 'matplotlib', 'typer', 'tqdm') if name in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert found.stdout.strip() == "[]"


def test_an_unknown_name() -> None:
    """Is an AttributeError, as from any module."""
    with pytest.raises(AttributeError, match="module 'rai_sim' has no attribute 'Vanila'"):
        rai.Vanila  # noqa: B018


def test_a_star_without_matplotlib() -> None:
    """Figures are an extra: everything else is there."""
    program = (
        "import importlib.util as u; found = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'matplotlib' else found(name, *rest)\n"
        "from rai_sim import *\n"
        "import rai_sim; print('plotting' in dir(rai_sim), Vanilla())"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert found.stdout.strip() == "False Vanilla(merging=True)"


def test_a_star() -> None:
    """Gives the public names."""
    names: dict[str, object] = {}
    exec("from rai_sim import *", names)
    assert names.keys() - {"__builtins__"} == set(rai.__all__)
