"""Seeds have one default everywhere, 0: what is run here is what is run there."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from command_line import Capture, document

import rai_sim as rai
from rai_sim.cli import app

#: What has a seed with another default, and why.
OTHERS = {
    "rai_sim.study.results.StudyResults.verify": "which replications are looked at, not what they draw",
}


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the package's functions and methods that users may call, by their full names."""
    for found in pkgutil.walk_packages(rai.__path__, "rai_sim."):
        if found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            if name.startswith("_") or getattr(value, "__module__", None) != found.name:
                continue
            for part, one in vars(value).items() if inspect.isclass(value) else [(name, value)]:
                one = getattr(one, "__func__", one)
                if inspect.isfunction(one) and not part.startswith("_"):
                    yield f"{one.__module__}.{one.__qualname__}", one


def defaults(named: Iterator[tuple[str, Callable[..., Any]]]) -> dict[str, Any]:
    """Return the defaults of seeds, by the functions' names."""
    found = {}
    for name, function in named:
        seed = inspect.signature(function).parameters.get("seed")
        if seed is not None and seed.default is not inspect.Parameter.empty:
            found[name] = seed.default
    return found


def test_every_function_has_the_same_default() -> None:
    """0, but for what is no seed of draws."""
    found = defaults(functions())
    assert {name for name, seed in found.items() if type(seed) is not int or seed != 0} == {*OTHERS}
    of_streams = "simulation.simulate.simulate", "tracing.trace.trace", "study.grid.Study.grid"
    more = "certification.sequential.certify", "instances.random_means", "arms.own.OwnArms.sample"
    assert {f"rai_sim.{name}" for name in (*of_streams, *more)} <= found.keys()


def test_another_default_is_found() -> None:
    """Negative control."""

    def drawn(seed: int | None = None) -> None:
        """Do nothing."""

    assert defaults(iter([("drawn", drawn)])) == {"drawn": None}


def test_every_verb_has_the_same_default() -> None:
    """Those that draw anything."""
    verbs = getattr(typer.main.get_command(app), "commands", {})
    seeds = {
        name: one.default
        for name, verb in verbs.items()
        for one in verb.params
        if one.name == "seed"
    }
    assert seeds == dict.fromkeys(("run", "success", "trace", "certify", "scaling"), 0)


def test_what_is_traced_is_what_was_simulated(tmp_path: Path, capsys: Capture) -> None:
    """Without a word about seeds: replication 3 of `simulate`, of a study from Python and from a
    file, of `run`, and in `trace` and `rai-sim trace`."""
    problem, rule = rai.table_problem(task=2), rai.Vanilla()
    result = rai.simulate(problem, rule, replications=5)
    traced = rai.trace(problem, rule, replication=3)
    assert traced.result == rai.simulate(problem, rule, replications=1, first_replication=3)
    assert traced.result.pulls[0] == result.pulls[3]
    study = rai.Study.grid([problem], [rule], [0.01], replications=5)
    assert study.run(tmp_path / "grid").result(study.tasks[0]) == result
    file = tmp_path / "study.toml"
    file.write_text('algorithms = ["vanilla"]\nreplications = 5\n[[instances]]\ntable_task = 2')
    from_file = rai.Study.from_toml(file)
    assert from_file.tasks[0].experiment == study.tasks[0].experiment == result.experiment
    (run,) = document(capsys, "run --algorithm vanilla --replications 5")["runs"]
    assert run["experiment"] == result.experiment.identity()
    found = document(capsys, "trace --replication 3")
    assert (found["pulls"], found["experiment"]) == (result.pulls[3], run["experiment"])
    assert rai.simulate(problem, rule, replications=5, seed=None) != result


@pytest.mark.parametrize("axis", ["over_delta", "over_gap", "over_n", "over_k", "over_m"])
def test_ready_made_studies_too(axis: str) -> None:
    """Every point has the seed 0."""
    study = getattr(rai.scaling, axis)()
    assert {task.experiment.seed for task in study.tasks} == {0}


def test_certification_too() -> None:
    """Told in the result."""
    one = {"easy": rai.best_arm(rai.Bernoulli([0.9, 0.1]))}
    assert rai.certify(rai.Butterscotch(), 0.3, problems=one, replications=20).seed == 0
