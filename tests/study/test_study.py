"""The package of studies as a whole."""

import subprocess
import sys

import pytest

import rai_sim as rai


@pytest.mark.landing
def test_importing_the_package_loads_no_study_code() -> None:
    """Studies are loaded on first use, and listed."""
    code = (
        "import sys, rai_sim; early = [m for m in sys.modules if m.startswith('rai_sim.study') or "
        "m == 'polars']; "
        "print(early, 'Study' in dir(rai_sim)); rai_sim.Study; print('rai_sim.study' in "
        "sys.modules)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    assert found[:2] == ["[] True", "True"]
    with pytest.raises(AttributeError, match="module 'rai_sim' has no attribute 'Studie'"):
        rai.Studie  # noqa: B018
