"""The verb `report`."""

from pathlib import Path

import pytest
from command_line import Capture, printed, refused


@pytest.mark.landing
@pytest.mark.usefixtures("one_figure")
def test_report_writes_a_page(file: Path, capsys: Capture) -> None:
    """Beside the study unless told otherwise; with the file's text where there is one."""
    assert printed(capsys, f"report '{file}'").strip() == str(file.with_suffix(".html"))
    page = file.with_suffix(".html").read_text(encoding="utf-8")
    assert "<h1>gaps</h1>" in page
    assert "gap = [0.8, 0.4]" in page
    other = file.parent / "r.html"
    printed(capsys, f"report '{file.with_suffix('.study')}' -o '{other}' --title 'A study'")
    assert "<h1>A study</h1>" in other.read_text(encoding="utf-8")


def test_a_page_is_not_written_under_another_kinds_name(file: Path, capsys: Capture) -> None:
    """Nor under one that tells no kind."""
    for name in ("x.pdf", "x"):
        assert refused(capsys, f"report '{file}' -o '{file.parent}/{name}'") == (
            f"rai-sim: --output {file.parent}/{name} ends in none of .html, .htm; give a name that "
            "does\n"
        )
