"""A picture of what a verb found, for verbs that draw one into a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rai_sim.cli.options import KINDS, check_file
from rai_sim.support.errors import BadInput
from rai_sim.support.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def kind_of(path: Path, option: str = "--plot") -> str:
    """Return the kind of file that a name asks for; refuse what cannot be written before anything
    is run.

    Raises
    ------
    BadInput
        If the name ends in no known kind, or no file can be there.
    ImportError
        Without matplotlib.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise BadInput(
            f"{option} {path} does not end in {', '.join(f'.{known}' for known in KINDS)}; give a "
            "name that does"
        )
    check_file(path, option)
    import rai_sim.plotting  # noqa: F401  # without matplotlib nothing is run

    return kind


def write_picture(
    path: Path, kind: str, size: tuple[float, float], draw: Callable[[Axes], Axes]
) -> None:
    """Write what is drawn into axes of a size in inches."""
    from rai_sim.plotting.drawing import figure_bytes
    from rai_sim.plotting.style import house_style, own_axes

    with house_style():
        picture = figure_bytes(draw(own_axes(size)), kind)
    write_atomically(path, lambda file: file.write(picture))
