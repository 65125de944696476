"""Licence, citation, authors and versions: one statement each, wherever they stand; what is required,
and what an index of packages shows."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

import pytest

import rai_sim

PACKAGE = Path(rai_sim.__file__).parent
ROOT = PACKAGE.parent
with open(ROOT / "pyproject.toml", "rb") as file:
    SETTINGS: dict[str, Any] = tomllib.load(file)
PROJECT, TOOLS = SETTINGS["project"], SETTINGS["tool"]


def test_the_licence_is_shipped_in_the_package() -> None:
    """MIT, by its text and by its name."""
    assert PROJECT["license"] == "MIT"
    assert PROJECT["license-files"] == ["rai_sim/LICENSE"]
    text = (PACKAGE / "LICENSE").read_text(encoding="utf-8")
    assert text.startswith(
        "MIT License\n\nCopyright (c) 2026 rai_sim contributors\n\nPermission is hereby granted, "
        "free of charge"
    )
    assert 'THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND' in text
    assert not [one for one in PROJECT["classifiers"] if one.startswith("License ::")], (
        "a license expression must stand alone (PEP 639)"
    )


def test_authors_and_version_are_the_same_everywhere() -> None:
    """In pyproject.toml, the package, the citation, and the README."""
    assert PROJECT["authors"] == [{"name": "rai_sim contributors"}]
    citation = (PACKAGE / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^  - name: rai_sim contributors$", citation, re.MULTILINE)
    assert re.search(r"^cff-version: 1\.2\.0$", citation, re.MULTILINE)
    assert re.search(r"^license: MIT$", citation, re.MULTILINE)
    (cited,) = re.findall(r"^version: (\S+)$", citation, re.MULTILINE)
    (shown,) = re.findall(
        r"^  version = \{(\S+)\},$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {PROJECT["version"], rai_sim.__version__, cited, shown} == {rai_sim.__version__}


def test_the_installed_metadata_says_so() -> None:
    """What `pip show` reads; from an installation of this source, as continuous integration
    makes."""
    try:
        found = metadata("rai_sim")
    except PackageNotFoundError:
        pytest.skip("rai_sim is not installed, it is imported from its folder")
    assert found["Version"] == rai_sim.__version__
    assert found["Author"] == "rai_sim contributors"
    assert found["License-Expression"] == "MIT"
    assert found["License-File"] == "rai_sim/LICENSE"
    assert set(found.get_all("Classifier") or ()) == set(PROJECT["classifiers"])


def test_every_python_is_named_from_the_oldest_on() -> None:
    """The classifiers, without a gap; the oldest is what is required, and what ruff writes for."""
    found = [
        re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", one)
        for one in PROJECT["classifiers"]
    ]
    minors = [int(one[1]) for one in found if one]
    assert minors == list(range(minors[0], minors[-1] + 1))
    assert PROJECT["requires-python"] == f">=3.{minors[0]}"
    assert TOOLS["ruff"]["target-version"] == f"py3{minors[0]}"


def test_every_dependency_has_an_oldest_version() -> None:
    """One that scripts/verify.py tries; the same wherever a package stands, but for matplotlib, of
    whose versions one alone draws the stored pictures. Numba says which llvmlite it needs."""
    extras = PROJECT["optional-dependencies"]
    listed = [one for some in (PROJECT["dependencies"], *extras.values()) for one in some]
    bounds: dict[str, set[str]] = {}
    for one in listed:
        name, _, bound = one.partition(">=")
        bounds.setdefault(name, set()).add(bound)
    assert [name for name, some in bounds.items() if "" in some] == ["llvmlite"]
    assert [name for name, some in bounds.items() if len(some) > 1] == ["matplotlib"]


def test_what_else_an_index_shows() -> None:
    """Words to find it by, and what it is; no addresses, as there is none that will last."""
    assert PROJECT["description"] == (rai_sim.__doc__ or "").rstrip(".").replace(" (RAI)", "")
    assert PROJECT["readme"] == "README.md"
    assert "urls" not in PROJECT
    citation = (PACKAGE / "CITATION.cff").read_text(encoding="utf-8")
    cited = re.findall(r"^  - ([\w -]+)$", citation.partition("keywords:")[2], re.MULTILINE)
    assert cited == PROJECT["keywords"]
    assert (PACKAGE / "py.typed").read_bytes() == b""
    assert "Typing :: Typed" in PROJECT["classifiers"]
