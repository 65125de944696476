"""Pictures of what a verb found."""

from pathlib import Path

import pytest
from matplotlib.axes import Axes

from rai_sim.cli.pictures import kind_of, write_picture
from rai_sim.support.errors import BadInput


@pytest.mark.parametrize("name", ["a.png", "a.b.SVG", "a.pdf"])
def test_the_kind_is_the_names_ending(name: str, tmp_path: Path) -> None:
    """In any case."""
    assert kind_of(tmp_path / name) == name[-3:].lower()


@pytest.mark.parametrize("name", ["a", "a.jpeg", "nofolder/a.png", "folder.png"])
def test_names_that_cannot_be_written(name: str, tmp_path: Path) -> None:
    """The option is named."""
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(BadInput, match="--picture"):
        kind_of(tmp_path / name, "--picture")


def test_what_is_drawn_is_written(tmp_path: Path) -> None:
    """At its size, in the package's own style."""

    def draw(axes: Axes) -> Axes:
        axes.set_title("what was found")
        return axes

    write_picture(tmp_path / "a.svg", "svg", (4.0, 2.0), draw)
    text = (tmp_path / "a.svg").read_text()
    assert 'width="288pt" height="144pt"' in text
    assert "what was found" in text
