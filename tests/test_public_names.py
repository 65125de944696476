"""The public names: listed once, all there, and nothing else is shown."""

from __future__ import annotations

import doctest
import functools
import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import rai_sim as rai

#: What scripts and checks call; a name that goes breaks somebody's work.
_FIXED = (
    "BatchedTrackAndStop Bernoulli Beta Butterscotch Categorical Certification "
    "CertificationInterrupted Gaussian LUCB Poisson Problem Recorded Result STREAM_VERSION "
    "SimulationInterrupted StudentT Study StudyFailed StudyInterrupted StudyResults SuccessCurve "
    "SuccessInterrupted Summary "
    "TopTwo Trace Uniform Vanilla WorkersLost arm_pulls best_arm bounds certify coarse_ranking "
    "full_ranking hard_problems instances load_result m_of_top merge_studies movielens one_of_top "
    "open_study plotting scaling simulate success_by table_problem top trace "
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


@pytest.mark.landing
def test_names_that_are_loaded_late_are_not_loaded_early() -> None:
    """Importing the package stays quick."""
    late = (
        *("polars", "matplotlib", "typer", "tqdm", "joblib"),
        # kernels, each of which takes a fifth of a millisecond to declare
        *("rai_sim.engine.round_robin.loop", "rai_sim.algorithms.lucb.loop", "rai_sim.bounds"),
    )
    program = f"import sys, rai_sim; print([name for name in {late} if name in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert found.stdout.strip() == "[]"


def test_an_unknown_name() -> None:
    """Is an AttributeError, as from any module."""
    with pytest.raises(AttributeError, match="module 'rai_sim' has no attribute 'Vanila'"):
        rai.Vanila  # noqa: B018


@pytest.mark.landing
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


# --------------------------------------------------------------------------------------------------
# Their docstrings
# --------------------------------------------------------------------------------------------------


def described(module: ModuleType = rai) -> Iterator[tuple[str, Any]]:
    """Yield the public modules, classes and functions by their names from `rai_sim` on; constants
    and names of types have no docstrings."""
    for name in module.__all__:
        value = getattr(module, name)
        if isinstance(value, ModuleType):
            yield f"{module.__name__}.{name}", value
            yield from described(value)
        elif inspect.isclass(value) or inspect.isroutine(inspect.unwrap(value)):
            yield f"{module.__name__}.{name}", inspect.unwrap(value)


def has_doctest(value: object) -> bool:
    """Whether a docstring has a section of examples that are run."""
    text = inspect.getdoc(value) or ""
    _, heading, examples = text.partition("Examples\n--------\n")
    return bool(heading and doctest.DocTestParser().get_examples(examples))


def methods(cls: type) -> Iterator[tuple[str, list[Any]]]:
    """Yield the public methods and properties of a class by name, each with what it overrides; none
    that come from elsewhere, as those of exceptions and NamedTuples do."""
    for name in dir(cls):
        found = [_plain(vars(base)[name]) for base in cls.__mro__ if name in vars(base)]
        ours = [one for one in found if _module(one).startswith("rai_sim")]
        if not name.startswith("_") and ours:
            yield name, ours


def _plain(value: Any) -> Any:
    return value.__func__ if isinstance(value, (classmethod, staticmethod)) else value


def _module(value: Any) -> str:
    if isinstance(value, property):
        value = value.fget
    elif isinstance(value, functools.cached_property):
        value = value.func
    return getattr(value, "__module__", None) or "" if callable(value) else ""


def is_told(method: Any) -> bool:
    """Whether a docstring says what goes in and what comes out: by an example, or by sections; of
    what has neither, such as a property, by its words."""
    text = inspect.getdoc(method) or ""
    if has_doctest(method) or isinstance(method, (property, functools.cached_property)):
        return bool(text)
    takes = len(inspect.signature(method).parameters) > 1
    gives = inspect.signature(method).return_annotation not in (None, "None")
    headings = re.findall(r"^(\w+)\n-+$", text, re.MULTILINE)
    return bool(text) and takes <= ("Parameters" in headings) and gives <= ("Returns" in headings)


def untold(named: Iterator[tuple[str, Any]]) -> list[str]:
    """Return the names whose docstrings lack something."""
    missing = []
    for name, value in named:
        if not has_doctest(value):
            missing.append(name)
        if inspect.isclass(value):
            missing += [
                f"{name}.{method}"
                for method, found in methods(value)
                if not any(is_told(one) for one in found)
            ]
    return missing


def test_every_name_has_an_example() -> None:
    """Modules, classes and functions one that is run; methods that, or their parameters and what
    they return."""
    named = dict(described())
    assert {"rai_sim.simulate", "rai_sim.plotting.law", "rai_sim.samplers.gamma"} <= named.keys()
    assert untold(iter(named.items())) == []


class _Told:
    """A class.

    Examples
    --------
    >>> _Told().double(2)
    4
    """

    @property
    def words(self) -> str:
        """Words."""
        return ""

    def double(self, number: int) -> int:
        """Return twice a number.

        Parameters
        ----------
        number : int
            Any.

        Returns
        -------
        int
            Its double.
        """
        return 2 * number


def _told() -> None:
    """Do nothing, as `>>> _told()` shows."""


class _Untold(_Told):
    """A class, with words of an example: none."""

    @property
    def words(self) -> str:
        return ""

    def half(self, number: int) -> float:
        """Return half of a number.

        Returns
        -------
        float
            Its half.
        """
        return number / 2


def test_what_lacks_an_example_is_found() -> None:
    """Negative control: of a function, a class, and a method of which one section is missing; what
    is overridden speaks for what overrides it."""
    for one in (*vars(_Told).values(), *vars(_Untold).values()):
        function = one.fget if isinstance(one, property) else one
        if inspect.isfunction(function):
            function.__module__ = "rai_sim.told"
    found: list[tuple[str, Callable[..., Any]]] = [("Told", _Told), ("Untold", _Untold)]
    assert untold(iter([*found, ("told", _told)])) == ["Untold", "Untold.half", "told"]
