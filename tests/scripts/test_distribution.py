"""What looks at wheel and source distribution sees what is missing; building and installing them is
`scripts/verify.py --only distribution`."""

import io
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest
from script_modules import load

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """Return the script as a module."""
    return load("distribution")


def shipped(folder: Path, names: Iterable[str], licence: bytes) -> tuple[Path, Path]:
    """Write a wheel of the package's files among names, and a source distribution of all."""
    wheel, source = folder / "rai_sim-0-py3-none-any.whl", folder / "rai_sim-0.tar.gz"
    with zipfile.ZipFile(wheel, "w") as file:
        for name in names:
            if name.startswith("rai_sim/"):
                file.writestr(name, b"")
        file.writestr("rai_sim-0.dist-info/licenses/rai_sim/LICENSE", licence)
    with tarfile.open(source, "w:gz", compresslevel=1) as packed:
        for name in names:
            packed.addfile(tarfile.TarInfo(f"rai_sim-0/{name}"), io.BytesIO())
    return wheel, source


def everything() -> set[str]:
    """Return what is to be in a source distribution, at least."""
    package = (path for path in (ROOT / "rai_sim").rglob("*") if path.is_file())
    tests = (ROOT / "tests").rglob("*.py")
    found = {str(path.relative_to(ROOT)) for path in (*package, *tests)} | {"pyproject.toml"}
    return {one for one in found if not one.endswith((".pyc", ".nbi", ".nbc"))}


def test_what_is_missing_is_found(script: ModuleType, tmp_path: Path) -> None:
    """A licence, a module, a test; and what should not be there."""
    licence, names = (ROOT / "rai_sim" / "LICENSE").read_bytes(), everything()
    assert script.contents(*shipped(tmp_path, names, licence)).passed
    assert not script.contents(*shipped(tmp_path, names, b"All rights reserved")).passed
    lost = {"rai_sim/LICENSE", "rai_sim/engine/jit.py", "rai_sim/py.typed", "tests/naive.py"}
    found = script.contents(*shipped(tmp_path, names - lost | {"rai_sim/old.py"}, licence))
    assert not found.passed
    assert f"missing: {', '.join(sorted(lost))}; stray: rai_sim/old.py" in found.detail


def test_every_python_and_the_oldest_dependencies(script: ModuleType) -> None:
    """Those that pyproject.toml names; where one is not to be had that is a finding."""
    names = [name for name, _ in script.all_of_it()]
    told = script.project()
    claimed = script.versions(told["classifiers"])
    assert [f"the wheel under Python {one}" for one in claimed] == names[2:-2]
    assert names[-2] == f"the oldest dependencies, Python {claimed[0]}"
    limits = script.oldest(told["dependencies"])
    assert len(limits) == len(told["dependencies"]) - 1  # but for llvmlite
    assert script.oldest(["numba>=0.63", "llvmlite", "dask[distributed]>=2024.1"]) == [
        "numba==0.63",
        "dask==2024.1",
    ]
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert script.interpreter(here) == sys.executable
    missing = script.under("3.999", False, Path("a.whl"), Path("a.tar.gz"))
    assert missing == (False, "python3.999 is not on the path; install it")


def test_a_command_that_fails_is_a_finding(script: ModuleType, tmp_path: Path) -> None:
    """With what it said."""

    def fails() -> object:
        return script.run(sys.executable, "-c", "raise SystemExit('no disk')", cwd=tmp_path)

    found = script.safely(fails)
    assert not found.passed
    assert "no disk" in found.detail
