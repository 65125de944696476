"""Stores that hold what this process does not know: algorithms, laws and options of elsewhere, and
parts of later versions."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from command_line import ROOT, Capture, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.arms.base import LAWS
from rai_sim.engine.blocks import Block, Setting
from rai_sim.study import StoreWarning, Study
from rai_sim.study.data import StudyData
from rai_sim.study.schemas import SCHEMAS
from rai_sim.study.store import Store
from rai_sim.study.task import Task


@dataclass(frozen=True)
class Sevens(Algorithm):
    """Takes 7 pulls, or 14, and names the true best arms."""

    twice: bool = False

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Write them."""
        block.pulls[:] = 14 if self.twice else 7
        block.rounds[:] = 1
        block.finished[:] = block.correct[:] = True
        block.representatives[:] = np.flatnonzero(setting.cluster_of == 0)[
            : block.representatives.shape[1]
        ]


class Coin(rai.Bernoulli):
    """A law of the user's own."""


def forget() -> None:
    """Have only the package's classes known."""
    ALGORITHMS.pop("sevens", None)
    LAWS.pop("coin", None)


forget()  # tests of other modules list what is known while they are collected


@pytest.fixture(autouse=True)
def registries() -> Iterator[None]:
    """Have only the package's classes known, before and after."""
    forget()
    yield
    forget()


def mixed(folder: Path, keep: str = "replications", n: int = 40) -> Study:
    """Run a study of two laws and three algorithms, of which the process then forgets one law and
    one algorithm."""
    ALGORITHMS["sevens"], LAWS["coin"] = Sevens, Coin
    means = [0.9, 0.6, 0.2]
    study = Study.grid(
        {"plain": rai.best_arm(rai.Bernoulli(means)), "own": rai.best_arm(Coin(means))},
        [rai.Vanilla(), Sevens(), Sevens(twice=True)],
        [0.1, 0.05],
        replications=n,
        keep=keep,
    )
    study.run(folder)
    forget()
    return study


@pytest.mark.parametrize("keep", ["replications", "aggregates"])
def test_everything_stored_is_shown(tmp_path: Path, keep: str) -> None:
    """The summary is that of a process which knows all classes, but for the bounds that hold for
    known arms alone; rows are all there."""
    study = mixed(tmp_path / "store", keep)
    known = study.results(tmp_path / "store").summary().sort("task")
    with pytest.warns(StoreWarning) as caught:
        results = rai.open_study(tmp_path / "store")
    said = [str(one.message) for one in caught]
    assert len(said) == 2
    assert any(
        f"algorithm sevens is not known here: import {__name__}.Sevens before the store is opened"
        in one
        for one in said
    )
    assert any(
        f"reward law coin is not known here: import {__name__}.Coin before" in one for one in said
    )
    assert {task.key for task in results.tasks} == {task.key for task in study.tasks}
    assert {task.id for task in results.tasks} == {task.id for task in study.tasks}
    assert {task.label for task in results.tasks} == {task.label for task in study.tasks}
    shown = results.summary().sort("task")
    other = ["precision_reached", "complete", "tight_bound_pulls"]
    assert shown.drop(other).equals(known.drop(other))
    tight = [
        (row["law"], row["tight_bound_pulls"] is None)
        for frame in (shown, known)
        for row in frame.iter_rows(named=True)
    ]  # which needs the means, of which a law that is not known says nothing
    assert sorted(set(tight[:12])) == [("Bernoulli", False), ("Coin", True)]
    assert sorted(set(tight[12:])) == [("Bernoulli", False), ("Coin", False)]
    assert shown.filter(algorithm="Sevens(twice=True)", instance="plain")[
        "pulls_mean"
    ].to_list() == [14.0, 14.0]
    assert set(shown["law"]) == {"Bernoulli", "Coin"}
    if keep == "replications":
        assert results.rows().collect().height == 480
        unknown = next(
            task
            for task in results.tasks
            if task.experiment.algorithm.label == "Sevens(twice=False)"
        )
        assert results.result(unknown).summary().mean == 7.0
    assert "Sevens(twice=True)" in results._repr_html_()
    assert not set(ALGORITHMS) & {"sevens", "unknownalgorithm", "sevens(twice=true)"}
    assert "coin" not in LAWS


@pytest.mark.filterwarnings("ignore::rai_sim.study.StoreWarning")
def test_what_cannot_be_done_is_refused(tmp_path: Path) -> None:
    """Running again, adding replications, tracing: each says what to import, and writes nothing;
    known tasks do all of it."""
    study, folder = mixed(tmp_path / "store"), tmp_path / "store"
    results, before = rai.open_study(folder), sorted(path.name for path in folder.iterdir())
    unknown = next(
        task
        for task in results.tasks
        if (task.instance, task.experiment.algorithm.label) == ("plain", "Sevens(twice=False)")
    )
    coin = next(
        task
        for task in results.tasks
        if task.instance == "own" and task.experiment.algorithm == rai.Vanilla()
    )
    again: tuple[tuple[Task, str], ...] = (
        (unknown, re.escape(f"{__name__}.Sevens")),
        (coin, re.escape(f"{__name__}.Coin")),
    )
    for task, origin in again:
        with pytest.raises(ValueError, match=rf"task .* cannot be run: .*import {origin}"):
            Study([task], replications=100).run(folder)
        with pytest.raises(ValueError, match=rf"cannot be (run|drawn from): .*import {origin}"):
            rai.simulate(task.experiment.problem, task.experiment.algorithm, replications=1)
        with pytest.raises(ValueError, match=rf"cannot be (run|drawn from): .*import {origin}"):
            rai.arm_pulls(results.result(task))
    assert sorted(path.name for path in folder.iterdir()) == before
    known = [task for task in results.tasks if task.experiment.why_not_run is None]
    assert len(known) == 2
    assert Study(known, replications=60).run(folder).progress() == (120, 120)
    assert study.results(folder).progress() == (480, 480)
    with pytest.warns(
        StoreWarning,
        match=r"10 of 12 tasks are not verified: task .* cannot be run: .*import "
        rf"{re.escape(__name__)}\.",
    ):
        found = rai.open_study(folder).verify(1000)
    assert (found.checked, found.mismatches) == (120, ())
    only = Study.grid(
        {"own": rai.best_arm(Coin([0.9, 0.1]))}, [rai.Vanilla()], [0.1], replications=3
    )
    only.run(tmp_path / "only")
    with pytest.raises(
        ValueError,
        match=r"task own, Vanilla\(merging=True\), delta 0\.1 cannot be run: reward law coin is "
        r"not known here",
    ):
        rai.open_study(tmp_path / "only").verify()


def test_names_of_arms_survive_too(tmp_path: Path) -> None:
    """A store opened without its study still knows them."""
    arms = rai.Bernoulli([0.9, 0.5]).with_names(["Stalker", "Solaris"], [3, 4])
    Study.grid({"films": rai.best_arm(arms)}, [rai.Vanilla()], [0.1], replications=3).run(tmp_path)
    (task,) = rai.open_study(tmp_path).tasks
    assert (task.experiment.problem.arms.names, task.experiment.problem.arms.ids) == (
        arms.names,
        arms.ids,
    )


_RULE = """
from dataclasses import dataclass
import sys
import rai_sim as rai
from rai_sim.algorithms.base import Algorithm
@dataclass(frozen=True)
class SuccElim(Algorithm):
    def run_block(self, law, setting, first, block):
        block.pulls[:], block.rounds[:], block.finished[:], block.correct[:], block.representatives[:] = 5, 1, True, True, 0
if __name__ == "__main__":
    study = rai.Study.grid([rai.best_arm(rai.Bernoulli([0.9, 0.5, 0.1]))], [rai.Vanilla(), SuccElim()], [0.1], replications=50)
    study.run(sys.argv[1])
"""


@pytest.mark.slow
def test_the_command_line_shows_a_store_of_another_program(tmp_path: Path, capsys: Capture) -> None:
    """`report` and `plot` work, with a line that names the class and the program it is in; pulls by
    arm are drawn of what can be run."""
    (tmp_path / "rule.py").write_text(_RULE)
    store = tmp_path / "own.study"
    subprocess.run(
        [sys.executable, tmp_path / "rule.py", store],
        check=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": ROOT},
    )
    for command in (
        f"report {store} -o {tmp_path / 'page.html'}",
        f"plot {store} -o {tmp_path / 'figures'}",
    ):
        run(command)
        said = capsys.readouterr().err
        assert "WARNING: store" in said
        assert (
            "1 of 2 tasks can be looked at, but not run again: algorithm succelim is not known "
            "here: import SuccElim of the program "
            "rule.py before the store is opened" in said
        )
        assert said.count("\n") == 1
    page = (tmp_path / "page.html").read_text()
    assert "SuccElim()" in page
    assert 'id="pulls-by-gap"' in page


def rewrite(folder: Path, kind: str, change: Any, about: dict[str, Any] | None = None) -> None:
    """Write the part of a kind anew with other rows, named by its content."""
    path = next(folder.glob(f"{kind}-*.parquet"))
    rows = [change(row) for row in pl.read_parquet(path).to_dicts()]
    metadata = json.loads(pl.read_parquet_metadata(path)["rai_sim"]) | (about or {})
    path.unlink()
    metadata.pop("format")
    Store(folder, Store(folder).keep).write(
        kind, pl.DataFrame(rows, schema=SCHEMAS[kind], orient="row"), metadata
    )


def test_options_of_another_version(tmp_path: Path) -> None:
    """An option that this version's Vanilla does not have: shown, and the version that wrote it is
    named."""
    study = Study.grid(
        [rai.best_arm(rai.Bernoulli([0.9, 0.1]))], [rai.Vanilla()], [0.1], replications=20
    )
    study.run(tmp_path)
    rewrite(
        tmp_path,
        "tasks",
        lambda row: (
            row
            | {
                "algorithm_options": '{"name": "vanilla", "merging": true, "warm": 3}',
                "algorithm": "Vanilla(merging=True, warm=3)",
            }
        ),
        {"rai_sim": "7.5"},
    )
    with pytest.warns(
        StoreWarning,
        match=r"algorithm vanilla is here, but not with what is stored of it \(TypeError: "
        r".*warm.*\): "
        r"use the version of rai_sim that wrote it, .*7\.5",
    ):
        results = rai.open_study(tmp_path)
    assert results.summary().select("algorithm", "replications").rows() == [
        ("Vanilla(merging=True, warm=3)", 20)
    ]


def test_another_class_of_the_same_name(tmp_path: Path) -> None:
    """The one that is stored is to be imported, in place of the one that is here; no version of the
    package would help."""
    mixed(tmp_path)

    class Other(Sevens):
        thrice: bool = True

    try:
        ALGORITHMS["sevens"], LAWS["coin"] = Other, Coin
        words = rf"import {__name__}.Sevens before the store is opened, in place of .*Other"
        with pytest.warns(StoreWarning, match=words):
            rai.open_study(tmp_path)
    finally:
        ALGORITHMS.pop("other")


def test_stand_ins_leave_the_registries_as_they_are(tmp_path: Path) -> None:
    """Also in their order, in which the command line lists them: where the stand-in is of a class
    that is known, and where it is not."""
    mixed(tmp_path)
    rewrite(tmp_path, "instances", lambda row: row | {"arguments": '{"warm": 3}'})
    rewrite(
        tmp_path, "tasks", lambda row: row | {"algorithm_options": '{"name": "vanilla", "x": 3}'}
    )
    before = [list(known.items()) for known in (ALGORITHMS, LAWS)]
    assert {"vanilla", "bernoulli"} <= {name for known in before for name, _ in known}
    with pytest.warns(StoreWarning):
        results = rai.open_study(tmp_path)
    stand_ins = {type(task.experiment.problem.arms).__name__ for task in results.tasks}
    assert stand_ins == {"Bernoulli", "Coin"}
    assert [list(known.items()) for known in (ALGORITHMS, LAWS)] == before


def test_an_algorithm_of_a_later_version(tmp_path: Path) -> None:
    """One that the package itself will have: its version is what to look for, not a module."""
    Study.grid(
        [rai.best_arm(rai.Bernoulli([0.9, 0.1]))], [rai.Vanilla()], [0.1], replications=20
    ).run(tmp_path)
    rewrite(
        tmp_path,
        "tasks",
        lambda row: row | {"algorithm_options": '{"name": "klucb"}', "algorithm": "KLUCB()"},
        {"rai_sim": "0.9", "classes": '{"klucb": "rai_sim.algorithms.klucb.KLUCB"}'},
    )
    with pytest.warns(
        StoreWarning,
        match=r"klucb is not known here: use the version of rai_sim that wrote it, .*0\.9",
    ):
        assert rai.open_study(tmp_path).tasks[0].experiment.algorithm.label == "KLUCB()"


def test_a_store_that_does_not_say_where_classes_come_from(tmp_path: Path) -> None:
    """As versions before this one have written them: it opens too, without the module's name."""
    folder = tmp_path / "store"
    mixed(folder)
    for kind in ("tasks", "instances"):
        rewrite(folder, kind, lambda row: row, {"classes": "{}"})
    with pytest.warns(StoreWarning) as caught:
        results = rai.open_study(folder)
    assert len(results.summary()) == 12
    assert any(
        "algorithm sevens is not known here: import the module that defines it before the store "
        "is opened" in str(one.message)
        for one in caught
    )


def test_a_definition_that_has_changed_is_not_run(tmp_path: Path) -> None:
    """What this version makes of a task has another identity: its rows are shown, and nothing is
    added to them."""
    Study.grid(
        [rai.best_arm(rai.Bernoulli([0.9, 0.1]))], [rai.Vanilla()], [0.1], replications=20
    ).run(tmp_path)
    rewrite(tmp_path, "tasks", lambda row: row | {"skip_error": 1e-9})
    with pytest.warns(
        StoreWarning,
        match=r"1 of 1 tasks .* was another thing when this was stored: use the version of rai_sim",
    ):
        results = rai.open_study(tmp_path)
    assert results.summary()["replications"].to_list() == [20]
    with pytest.raises(ValueError, match=r"cannot be run: what Vanilla\(merging=True\)"):
        Study(results.tasks, replications=30).run(tmp_path)


@pytest.mark.slow
def test_an_unknown_law_without_means(tmp_path: Path) -> None:
    """Its stored gap serves the lower bound; the upper bounds need all means, and are left out, not
    made up."""
    folder = tmp_path / "store"
    study = mixed(folder)
    rewrite(
        folder,
        "instances",
        lambda row: row | ({"arguments": '{"scale": [1, 2, 3]}'} if row["law"] == "coin" else {}),
    )
    with pytest.warns(StoreWarning):
        shown = (
            rai.open_study(folder)
            .summary()
            .filter(law="Coin", algorithm="Vanilla(merging=True)")
            .sort("delta")
        )
    known = (
        study.results(folder)
        .summary()
        .filter(law="Coin", algorithm="Vanilla(merging=True)")
        .sort("delta")
    )
    for name in ("task", "lower_bound_pulls", "bottleneck_gap_reward", "pulls_mean", "n_arms"):
        assert shown[name].to_list() == known[name].to_list()
    assert shown["upper_bound_pulls"].to_list() == [None, None]
    with pytest.warns(StoreWarning):
        rai.open_study(folder).report(tmp_path / "page.html")
    assert "no reward law" not in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("arguments", ['{"means": [3.0, 1.0], "sigma": 2.0}', '{"sigma": 2.0}'])
def test_an_unknown_law_with_sigma(tmp_path: Path, arguments: str) -> None:
    """Gaps in its bounds count in units of 2 sigma, whether its means are known or its gap alone."""
    arms = rai.Gaussian([3.0, 1.0], sd=2.0, sigma=2.0)
    study = Study.grid([rai.best_arm(arms)], [rai.Vanilla()], [0.1], replications=10)
    study.run(tmp_path)
    known = study.results(tmp_path).summary()
    rescaled = rai.best_arm(rai.Gaussian([0.75, 0.25]))
    assert known["lower_bound_pulls"].to_list() == [rai.bounds.lower(rescaled, 0.1)]
    assert known["upper_bound_pulls"].to_list() == [rai.bounds.vanilla(rescaled, 0.1)]
    rewrite(tmp_path, "instances", lambda row: row | {"law": "bell", "arguments": arguments})
    with pytest.warns(StoreWarning):
        shown = rai.open_study(tmp_path).summary()
    for name in ("lower_bound_pulls", "bottleneck_gap_reward", "pulls_mean"):
        assert shown[name].to_list() == known[name].to_list()
    upper = known["upper_bound_pulls"].to_list() if "means" in arguments else [None]
    assert shown["upper_bound_pulls"].to_list() == upper


def test_columns_that_a_later_version_adds(tmp_path: Path) -> None:
    """They are passed over in all kinds of parts, and what is known is read; nothing is set
    aside."""
    study = Study.grid(
        [rai.best_arm(rai.Bernoulli([0.9, 0.1]))], [rai.Vanilla()], [0.1], replications=20
    )
    whole = study.run(tmp_path).summary()
    for path in list(tmp_path.glob("*.parquet")):
        kind, frame = (
            path.name.partition("-")[0],
            pl.read_parquet(path).with_columns(later=pl.lit(1.5)),
        )
        path.unlink()
        Store(tmp_path, "replications").write(kind, frame, {})
    results = rai.open_study(tmp_path)
    assert results.summary().drop("complete").equals(whole.drop("complete"))
    longer = Study(study.tasks, replications=30).run(tmp_path)
    problem = study.tasks[0].experiment.problem
    assert longer.result(study.tasks[0]) == rai.simulate(
        problem, rai.Vanilla(), delta=0.1, seed=0, replications=30
    )
    assert longer.rows().collect().height == 30
    assert not list(tmp_path.glob("*.set-aside"))


def test_a_part_of_a_later_format_stays_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is passed over, with the version that wrote it, and not renamed, which would take it from
    that version."""
    import rai_sim.study.store as module

    study = Study.grid(
        [rai.best_arm(rai.Bernoulli([0.9, 0.1]))], [rai.Vanilla()], [0.1], replications=20
    )
    study.run(tmp_path)
    monkeypatch.setattr(module, "FORMAT", 2)
    frame = pl.DataFrame({"what": [1]})
    store = Store.__new__(Store)
    store.folder, store._lock, store._seen, store._whole = tmp_path, None, set(), {}
    store._thread = threading.RLock()
    store.write("replications", frame, {"rai_sim": "3.0"})
    monkeypatch.undo()
    names = sorted(path.name for path in tmp_path.glob("*.parquet"))
    with pytest.warns(
        StoreWarning,
        match=r"is passed over: it was written by a newer version of rai_sim, 3\.0; use that to "
        r"read it",
    ):
        study.run(tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.parquet")) == names


def _or_none(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


_SHORT = st.text(max_size=3)
_ROW = {
    "task": _or_none(_SHORT),
    "experiment": _SHORT,
    "instance": _SHORT,
    "name": _SHORT,
    "algorithm": _or_none(_SHORT),
    "parameters": st.sampled_from(["{}", "[]", "null", "1", "{", '{"n": NaN}', ""]),
    "delta": _or_none(st.floats()),
    "seed": _or_none(st.sampled_from(["1", "-1", "x", "", "1e3"])),
    "skip_error": _or_none(st.floats()),
    "max_pulls": _or_none(st.integers(-5, 5)),
    "stream_version": _or_none(st.integers(-1, 3)),
}
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | _SHORT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_SHORT, inner, max_size=2),
    max_leaves=4,
)
_TEXT = st.sampled_from(
    [
        "",
        "{",
        "null",
        "[]",
        '"vanilla"',
        "1",
        '{"name": null}',
        '{"name": ["vanilla"]}',
        "[" * 3000,
        '{"name": "\\u0000"}',
    ]
)
_NAMES = st.sampled_from(["vanilla", "lucb", "sevens", "abc"])
_OPTIONS = _TEXT | st.dictionaries(
    st.sampled_from(["name", "merging", "as_printed", "k"]), _VALUES | _NAMES, max_size=3
).map(json.dumps)
_NUMBERS = st.lists(st.floats(), min_size=3, max_size=3)
_ARGUMENTS = _TEXT | st.dictionaries(
    st.sampled_from(["means", "sd", "values", "rewards"]), _VALUES | _NUMBERS, max_size=3
).map(json.dumps)
_INSTANCE = {
    "law": _or_none(
        st.sampled_from(["bernoulli", "gaussian", "categorical", "recorded", "coin", ""])
    ),
    "arguments": _or_none(_ARGUMENTS),
    "n_arms": _or_none(st.integers(-2, 4)),
    "clusters": _or_none(st.lists(_or_none(st.integers(-1, 3)), max_size=3)),
    "required": _or_none(st.lists(st.integers(-1, 2), max_size=3)),
    "bottleneck_gap_reward": _or_none(st.floats()),
    "names": _or_none(st.lists(_or_none(_SHORT), max_size=3)),
    "ids": _or_none(st.lists(st.integers(-2, 2), max_size=3)),
}


def _changes(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    chosen = st.sets(st.sampled_from(sorted(fields)), max_size=3)
    return chosen.flatmap(
        lambda names: st.fixed_dictionaries({name: fields[name] for name in sorted(names)})
    )


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store of two tasks."""
    folder = tmp_path_factory.mktemp("fuzzed")
    study = Study.grid(
        {"a": rai.best_arm(rai.Bernoulli([0.9, 0.5, 0.1]))},
        [rai.Vanilla(), rai.Butterscotch()],
        [0.1],
        replications=30,
    )
    study.run(folder)
    return folder


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::rai_sim.study.StoreWarning")
@given(
    task=_changes({**_ROW, "algorithm_options": _or_none(_OPTIONS)}), instance=_changes(_INSTANCE)
)
@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
def test_whatever_is_written_about_tasks_a_store_opens(
    fuzzed: Path, task: dict[str, Any], instance: dict[str, Any]
) -> None:
    """Of two tasks one is changed at random, or both by their instance: the store opens and shows
    what is left; what changed is not run."""
    data = StudyData(fuzzed)
    rows = {key: dict(row) for key, row in data._tasks.items()}
    victim, other = rows
    rows[victim] |= task
    data._tasks = rows
    data._instances = {key: row | instance for key, row in data._instances.items()}
    results = rai.StudyResults(data, None)
    if not instance:
        assert other in {one.key for one in results.tasks}
    frame = results.summary()
    assert len(frame) == len(results.tasks) <= 2
    assert set(frame["replications"]) <= {0, 30}
    results._repr_html_()
    assert results.rows().collect().height == frame["replications"].sum()
    unknown = [one for one in results.tasks if one.experiment.why_not_run is not None]
    if unknown:
        with pytest.raises(ValueError, match="cannot be run: "):
            Study(unknown[:1], replications=31).run(fuzzed)
    if not task and not instance:
        assert (len(results.tasks), unknown) == (2, [])
