"""Build the API reference, HTML pages of every public name's docstring, into a folder.

python scripts/api_reference.py FOLDER          needs pdoc and matplotlib: pip install '.[docs,plot]'
"""

from __future__ import annotations

import argparse
import importlib
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import rai_sim

#: The page that the reference begins with.
START = "rai_sim.html"
#: What public classes have in common has pages of its own, or methods that are inherited would be
#: told of nowhere.
BASES = {
    "rai_sim.algorithms.base": ("Algorithm",),
    "rai_sim.arms.base": ("Arms",),
    "rai_sim.study.definition": ("Definition",),
    "rai_sim.study.holdings": ("Holdings",),
    "rai_sim.support.errors": ("ArgumentValueError", "ArgumentError", "WordedError"),
}


def reveal(module: ModuleType) -> None:
    """Put what is loaded on first use into a module, and Python's functions in the place of compiled
    ones, so that pdoc finds them."""
    for name in module.__all__:
        value = getattr(module, name)
        setattr(module, name, getattr(value, "py_func", value))
        if isinstance(value, ModuleType):
            reveal(value)


def build(folder: Path) -> list[Path]:
    """Write the pages and return their paths.

    Raises
    ------
    ValueError
        If the folder holds something else.
    """
    import pdoc
    import pdoc.render

    if folder.exists() and any(folder.iterdir()) and not (folder / START).exists():
        raise ValueError(f"{folder} holds something else; name a folder that is new or empty")
    reveal(rai_sim)
    for name, classes in BASES.items():
        vars(importlib.import_module(name))["__all__"] = classes
    pdoc.render.configure(docformat="numpy", show_source=False)
    with warnings.catch_warnings():
        # aliases of types that only type checkers look into are shown by their names
        warnings.filterwarnings("ignore", "Error parsing type annotation")
        # modules of functions that have their name are no pages
        pdoc.pdoc("rai_sim", r"!rai_sim\.\w+\.", *BASES, output_directory=folder)
    return sorted(folder.rglob("*.html"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Build it, and say where it begins."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="where the pages are written")
    folder = parser.parse_args(arguments).folder
    try:
        pages = build(folder)
    except ValueError as error:
        parser.error(str(error))
    except ModuleNotFoundError as error:
        parser.error(f"{error.name} is missing; pip install '.[docs,plot]'")
    print(f"{len(pages)} pages; begin with {folder / START}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
