"""The line of a study while it runs."""

from pathlib import Path

import pytest
from studies import grid


def test_progress_shows_tasks_replications_time_and_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the error stream if asked; None shows nothing where there is no terminal."""
    grid(replications=500).run(tmp_path / "a", progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "4.00k/4.00k replications, 8/8 tasks, 00:00 left, mean pulls +-" in shown.err
    grid(replications=500).run(tmp_path / "b", progress=None)
    grid(replications=500).run(tmp_path / "c", progress=False)
    assert capsys.readouterr().err == ""
