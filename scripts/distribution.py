"""What is shipped: wheel and source distribution, built, installed and tried outside of the source
tree, under every Python and with the oldest dependencies that pyproject.toml allows.

`scripts/verify.py --only distribution` runs all of it; each finding is a verdict and words. Downloads
some 300 MB for every environment, and compiles kernels in each.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CLIENT = Path(__file__).resolve().parent / "typed_client.py"
#: Files of the package that are no modules, and that users need.
SHIPPED = ("CITATION.cff", "LICENSE", "py.typed")
#: Tests that are run in each environment: of the ground floor, the store, the command line, and
#: the reference hashes of one kernel. All of the tests are run by continuous integration.
TESTS = (
    *("tests/support", "tests/study/test_store.py", "tests/study/test_saved.py"),
    *("tests/cli/test_parser.py", "tests/test_public_names.py"),
)
REFERENCE = ("tests/simulation/test_simulate.py", "-k", "reference and Vanilla and Bernoulli")
#: What of the extra `test` these need.
TOOLS = ("hypothesis", "pytest", "pytest-benchmark", "pytest-mpl", "pytest-xdist")
_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[\w,]+\])?(?:>=([\w.]+))?")


class Finding(NamedTuple):
    """Whether something holds, and what was seen."""

    passed: bool
    detail: str


class Failed(Exception):
    """A command failed; the message has the end of what it said."""


def project() -> dict[str, Any]:
    """Return what pyproject.toml says of the project."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        described: dict[str, Any] = tomllib.load(file)["project"]
    return described


def oldest(requirements: Iterable[str]) -> list[str]:
    """Return the requirements of the oldest versions that are allowed, as constraints of pip; where
    a package stands twice, of the first.

    Examples
    --------
    >>> oldest(["numba>=0.63", "llvmlite", "dask[distributed]>=2024.1", "numba>=0.65"])
    ['numba==0.63', 'dask==2024.1']
    """
    least: dict[str, str] = {}
    for one in requirements:
        name, version = _parts(one)
        if version:
            least.setdefault(name, version)
    return [f"{name}=={version}" for name, version in least.items()]


def _parts(requirement: str) -> tuple[str, str | None]:
    """Return a package's name, and its oldest version, if one is asked for."""
    match = _REQUIREMENT.match(requirement)
    assert match is not None, requirement
    return match[1], match[2]


def versions(classifiers: Iterable[str]) -> list[str]:
    """Return the versions of Python that are claimed.

    Examples
    --------
    >>> versions(["Programming Language :: Python :: 3", "Programming Language :: Python :: 3.11"])
    ['3.11']
    """
    found = (
        re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", one) for one in classifiers
    )
    return [one[1] for one in found if one]


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command without what would make it find the source tree, and return what it prints.

    Raises
    ------
    Failed
        If its exit code is not 0.
    """
    hidden = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment["NUMBA_CACHE_DIR"] = str(cwd / "kernels")
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        said = [line for line in lines if not line.startswith("WARNING")][-8:]
        raise Failed(
            f"{Path(command[0]).name} {' '.join(map(str, command[1:4]))}: {' | '.join(said)}"
        )
    return done.stdout


def interpreter(version: str) -> str | None:
    """Return the program that is Python of a version such as 3.12: this one, one on the path, or one
    of pyenv's; None without."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [
        *([sys.executable] if version == here else []),
        *filter(None, [shutil.which(f"python{version}")]),
        *map(str, sorted(pyenv.glob(f"{version}.*/bin/python{version}"))),
    ]
    for place in places:  # a shim may stand for a version that is not there
        asked = "import sys; print('%d.%d' % sys.version_info[:2])"
        done = subprocess.run([place, "-c", asked], capture_output=True, text=True, check=False)
        if done.stdout.strip() == version:
            return place
    return None


@contextmanager
def environment(python: str, *installed: str | Path) -> Iterator[Path]:
    """Make a virtual environment with what pip is told to install, in a folder of its own, and yield
    its programs' folder."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        run(python, "-m", "venv", folder / "venv", cwd=folder)
        programs = folder / "venv" / "bin"
        pip = (programs / "python", "-m", "pip", "install", "--quiet", "--no-input")
        run(*pip, *installed, cwd=folder)
        yield programs


# --------------------------------------------------------------------------------------------------
# Building
# --------------------------------------------------------------------------------------------------


def build(folder: Path) -> None:
    """Build the source distribution, and a wheel of it alone, into a folder."""
    with environment(sys.executable, "build>=1.0") as programs:
        run(programs / "python", "-m", "build", "--outdir", folder, ROOT, cwd=programs.parents[1])


def found(folder: Path) -> tuple[Path, Path]:
    """Return the wheel and the source distribution that are in a folder."""
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, source


def contents(wheel: Path, source: Path) -> Finding:
    """Everything that is of the package is in the wheel, and nothing else; tests and scripts are in
    the source distribution, too; the licence is in the wheel's metadata."""
    ours = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "rai_sim").rglob("*")
        if path.is_file() and path.suffix not in {".pyc", ".nbi", ".nbc"}
    }
    with zipfile.ZipFile(wheel) as file:
        within = {name for name in file.namelist() if ".dist-info/" not in name}
        (licence,) = (name for name in file.namelist() if name.endswith("licenses/rai_sim/LICENSE"))
        same = file.read(licence) == (ROOT / "rai_sim" / "LICENSE").read_bytes()
    with tarfile.open(source) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    tests = {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("*.py")}
    needed = {f"rai_sim/{name}" for name in SHIPPED}
    missing = sorted(((ours | needed) - within) | ((ours | tests | {"pyproject.toml"}) - names))
    stray = sorted((within - ours) | {one for one in names if one.endswith((".pyc", ".nbi"))})
    said = f"{len(within)} files in the wheel, {len(names)} in the source distribution"
    said += "".join(f"; {what}: {', '.join(some[:5])}" for what, some in _named(missing, stray))
    return Finding(not missing and not stray and same, said)


def _named(missing: list[str], stray: list[str]) -> list[tuple[str, list[str]]]:
    return [(what, some) for what, some in (("missing", missing), ("stray", stray)) if some]


# --------------------------------------------------------------------------------------------------
# Installing
# --------------------------------------------------------------------------------------------------

_WHERE = "import rai_sim; print(rai_sim.__file__)"
_RUN = "run --means 0.9,0.5,0.4 --problem best_arm --algorithm vanilla --replications 200 --json"
_GRID = """
import joblib
import rai_sim as rai
from distributed import Client
problem = rai.best_arm(rai.Bernoulli([0.9, 0.5, 0.4]))
study = rai.Study.grid([problem], [rai.Vanilla()], [0.1, 0.01], replications=100)
results = study.run("a.study", n_jobs=2)
assert study.run("a.study").progress() == (200, 200)
results.report("report.html")
results.to_csv("rows.csv")
rai.plotting.normalised_pulls(results).figure.savefig("pulls.png")
with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None):
    with joblib.parallel_config("dask"):
        result = rai.simulate(problem, rai.Vanilla(), delta=0.1, replications=100, seed=0, n_jobs=2)
assert result == results.result(study.tasks[0])
"""


def works(programs: Path, source: Path, old: bool) -> str:
    """See that the installed package runs outside of the source tree: the command line, a study on
    two workers and on Dask, its report and a figure, and a part of the source distribution's tests;
    return the versions of what it runs on.

    Raises
    ------
    Failed
        If anything does not.
    """
    folder, python = programs.parents[1], programs / "python"
    if not Path(run(python, "-c", _WHERE, cwd=folder).strip()).is_relative_to(folder):
        raise Failed("rai_sim was not imported from where it is installed")
    told = json.loads(run(programs / "rai-sim", *_RUN.split(), cwd=folder))
    if "Vanilla(merging=True)" not in json.dumps(told):
        raise Failed(f"rai-sim run --json tells of no Vanilla: {told}")
    run(python, "-c", _GRID, cwd=folder)
    with tarfile.open(source) as packed:
        packed.extractall(folder, filter="data")
    (unpacked,) = folder.glob("rai_sim-*/")
    # a copy of the package beside the tests would be imported in the place of the installed one
    shutil.rmtree(unpacked / "rai_sim")
    # what old dependencies say of others that are newer is not ours to mend
    spared = ("-W", "ignore::DeprecationWarning") if old else ()
    settings = ("-n", "0", "-v", "--rootdir", unpacked, "-c", unpacked / "pyproject.toml")
    said = []
    for some in (TESTS, REFERENCE):
        tests = [unpacked / one if one.startswith("tests/") else one for one in some]
        ran = run(programs / "pytest", *settings, *spared, "-m", "not slow", *tests, cwd=folder)
        said.append(ran.strip().splitlines()[-1].strip("= "))
    frozen = dict(
        line.lower().split("==")
        for line in run(python, "-m", "pip", "freeze", cwd=folder).splitlines()
        if "==" in line
    )
    on = ", ".join(
        f"{name} {frozen[name]}" for name in ("numba", "numpy", "scipy", "polars", "typer")
    )
    return f"{on}; {'; '.join(said)}"


def under(version: str, old: bool, wheel: Path, source: Path) -> Finding:
    """The wheel works under a version of Python, with the newest dependencies or the oldest."""
    python = interpreter(version)
    if python is None:
        return Finding(False, f"python{version} is not on the path; install it")
    told = project()
    extras = told["optional-dependencies"]
    tools = [one for one in extras["test"] if _parts(one)[0] in TOOLS]
    with TemporaryDirectory() as place:
        limits = Path(place) / "oldest.txt"
        needed = [*told["dependencies"], *extras["plot"], *extras["dask"]]
        limits.write_text("\n".join(oldest(needed) if old else []), encoding="ascii")
        asked: Sequence[str | Path] = (f"{wheel}[plot,dask]", *tools, "--constraint", limits)
        with environment(python, *asked) as programs:
            return Finding(True, works(programs, source, old))


def typed(wheel: Path) -> Finding:
    """The client runs, and passes mypy --strict, with the installed wheel; a mistake in it is
    found."""
    with environment(sys.executable, wheel, "mypy") as programs:
        folder = programs.parents[1]
        shutil.copy(CLIENT, folder / "client.py")
        mypy = (programs / "python", "-m", "mypy", "--strict")
        ran = run(programs / "python", "client.py", cwd=folder).strip()
        said = f"{ran}; {run(*mypy, 'client.py', cwd=folder).strip()}"
        wrong = CLIENT.read_text(encoding="utf-8") + '\nrai.simulate("a problem", rai.Vanilla())\n'
        (folder / "wrong.py").write_text(wrong, encoding="utf-8")
        try:
            run(*mypy, "wrong.py", cwd=folder)
        except Failed as error:
            return Finding("Found 1 error in 1 file" in str(error), f"{said}; a mistake is found")
    return Finding(False, "a wrong argument of simulate is not found")


def reference() -> Finding:
    """The API reference is built by its one command, of the package as it is here; its own tests
    look at what it says."""
    with environment(sys.executable, f"{ROOT}[docs,plot]") as programs:
        folder = programs.parents[1]
        script = ROOT / "scripts" / "api_reference.py"
        said = run(programs / "python", script, folder / "reference", cwd=folder)
        pages = len(list((folder / "reference").rglob("*.html")))
    return Finding(pages >= 8, said.strip())


# --------------------------------------------------------------------------------------------------
# All of it
# --------------------------------------------------------------------------------------------------


def all_of_it() -> list[tuple[str, Callable[[], Finding]]]:
    """Return what there is to be seen, by name; what is built is built once, by the first that needs
    it."""
    kept: list[TemporaryDirectory[str]] = []

    def built() -> tuple[Path, Path]:
        if not kept:
            place = TemporaryDirectory()
            build(Path(place.name))
            kept.append(place)
        return found(Path(kept[0].name))

    def of_the_wheel(version: str, old: bool) -> Finding:
        return under(version, old, *built())

    claimed = versions(project()["classifiers"])
    first = claimed[0]
    return [
        ("wheel and source distribution", lambda: contents(*built())),
        ("a typed client of the wheel", lambda: typed(built()[0])),
        *((f"the wheel under Python {one}", partial(of_the_wheel, one, False)) for one in claimed),
        (f"the oldest dependencies, Python {first}", partial(of_the_wheel, first, True)),
        ("API reference", reference),
    ]


def safely(check: Callable[[], Finding]) -> Finding:
    """Return what a check finds; a command that failed is a finding."""
    try:
        return check()
    except Failed as error:
        return Finding(False, str(error))
