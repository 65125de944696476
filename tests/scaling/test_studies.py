"""Ready-made studies: what they run, and that they resume."""

from pathlib import Path
from typing import Any

import pytest

import rai_sim as rai
from rai_sim import scaling
from rai_sim.scaling import fit, over_delta, over_gap, over_k, over_m, over_n
from rai_sim.study import Study

PAPER = ["Vanilla(merging=True)", "Butterscotch(merging=True)", "LUCB(as_printed=False)"]


def labels(study: Study) -> list[str]:
    """Return the algorithms, once each."""
    return list(dict.fromkeys(task.experiment.algorithm.label for task in study.tasks))


def test_each_runs_the_papers_algorithms_on_an_axis() -> None:
    """With defaults: a name that ends in the axis' value, and nothing else that varies."""
    for study, name, first, last in (
        (over_gap(), "gap", 0.3, 1e-6),
        (over_n(), "n", 10, 100_000),
        (over_k(), "k", 1, 10),
        (over_m(), "m", 1, 10),
    ):
        assert labels(study) == PAPER
        values = list(dict.fromkeys(task.parameters[name] for task in study.tasks))
        assert (values[0], values[-1]) == (first, last)
        for task in study.tasks:
            assert task.instance.endswith(f", {name} = {task.parameters[name]}")
        assert len({(t.experiment.delta, t.experiment.seed) for t in study.tasks}) == 1
    study = over_delta()
    assert labels(study) == PAPER
    assert len({task.instance for task in study.tasks}) == 1
    assert [task.experiment.delta for task in study.tasks[::36]] == [0.1]
    assert min(task.experiment.delta for task in study.tasks) == 1e-100
    assert {t.experiment.problem.identity() for t in study.tasks} == {
        rai.table_problem(task=2).identity()
    }


def test_arms_are_those_asked_for() -> None:
    """Numbers of arms, K and M as they are named."""
    for task in over_n([10, 30]).tasks:
        means = task.experiment.problem.arms.means
        assert means.tolist() == [0.7] + [0.3] * (task.parameters["n"] - 1)
        assert task.experiment.delta == 0.1
    arms = rai.Gaussian([0.1, 0.4, 0.2, 0.3])
    few = rai.Bernoulli([0.9, 0.8, 0.5, 0.4])  # the values by default are cut to the arms
    assert [task.parameters for task in over_k(few).tasks[::3]] == [{"k": k} for k in (1, 2, 3)]
    assert [task.parameters for task in over_m(few).tasks[::3]] == [{"m": m} for m in (1, 2, 3)]
    assert over_m(few).tasks[0].experiment.problem.clusters == (3, 1)
    assert [task.parameters for task in over_m(few, k=2).tasks[::3]] == [{"m": 1}, {"m": 2}]
    for task in over_k(arms, ks=[1, 3]).tasks:
        k = task.parameters["k"]
        assert task.experiment.problem == rai.top(arms, k)
    for task in over_m(arms, k=3, ms=[1, 2]).tasks:
        assert task.experiment.problem == rai.m_of_top(arms, task.parameters["m"], 3)

    def build(n: int) -> rai.Problem:
        return rai.top(rai.Bernoulli(rai.instances.evenly_spaced(n)), n // 2)

    study = over_n([4, 8], instance=build, delta=0.05, seed=3, algorithms=[rai.LUCB()])
    assert [task.experiment.problem for task in study.tasks] == [build(4), build(8)]
    assert {(t.experiment.delta, t.experiment.seed) for t in study.tasks} == {(0.05, 3)}


def test_limits_leave_algorithms_out() -> None:
    """LUCB beyond 1,000 arms, unless told otherwise."""
    numbers = {task.parameters["n"] for task in over_n().tasks if "LUCB" in task.label}
    assert max(numbers) == 1000
    free = over_n([10, 3000], limits={}, algorithms=[rai.LUCB()])
    assert len(free.tasks) == 2
    some = over_n([10, 3000], limits={"vanilla": 10})
    assert [task.experiment.algorithm.label for task in some.tasks] == [*PAPER, *PAPER[1:]]
    with pytest.raises(ValueError, match=r"limits is \{'lucb': 5\}, which leaves nothing to run"):
        over_n([10], limits={"lucb": 5}, algorithms=[rai.LUCB()])


def test_what_is_there_is_not_run_again(tmp_path: Path) -> None:
    """More replications, and more points, go on from what is there: the numbers are those of one
    run, and of `simulate`."""
    folder = tmp_path / "store"
    algorithms = [rai.Vanilla()]
    over_delta(deltas=[0.1, 0.01], algorithms=algorithms, replications=20, seed=5).run(folder)
    more = over_delta(deltas=[0.1, 0.01, 1e-9], algorithms=algorithms, replications=30, seed=5)
    results = more.run(folder)
    assert [run["replications_added"] for run in results.runs()] == [40, 20 + 30]
    alone = rai.simulate(
        rai.table_problem(task=2), rai.Vanilla(), delta=0.01, replications=30, seed=5
    )
    assert results.result(more.tasks[1]) == alone
    at_once = more.run(tmp_path / "at once", n_jobs=2)
    assert fit(results).equals(fit(at_once))
    assert more.run(folder).runs()[-1]["replications_added"] == 0


def test_how_much_is_wanted() -> None:
    """Replications, few of them where one takes long, or a precision."""
    assert (over_k().replications, over_n().replications) == (1000, 100)
    assert over_n(replications=7).replications == 7
    study = over_n([10, 20], precision=0.05, most_replications=500, keep="aggregates")
    assert (study.replications, study.precision) == (None, 0.05)
    assert (study.most_replications, study.keep) == (500, "aggregates")
    capped = over_gap(max_pulls=10**6, skip_error=0.0)
    assert {(t.experiment.max_pulls, t.experiment.skip_error) for t in capped.tasks} == {(10**6, 0)}


def categorical() -> rai.Problem:
    """Return a problem whose means cannot be set."""
    return rai.best_arm(rai.Categorical([0.0, 1.0], [[0.5, 0.5], [0.25, 0.75]]))


ONE = rai.coarse_ranking(rai.Bernoulli([0.5, 0.25]), (2,))


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("over_delta", {"deltas": []}, "deltas is empty; give at least one value"),
        ("over_delta", {"deltas": [0.1, 0.1]}, "deltas holds 0.1 twice; leave one out"),
        ("over_delta", {"deltas": [0.1, 0.0]}, "delta is 0.0"),
        ("over_delta", {"deltas": 0.1}, "deltas is 0.1; give a list of numbers"),
        ("over_delta", {"problem": "table"}, "problem is 'table'.*must be a Problem"),
        ("over_delta", {"replicas": 3}, "unexpected argument 'replicas'; .* replications"),
        ("over_delta", {"seed": None}, "seed is None; a study is resumed by its seed"),
        ("over_delta", {"replications": 3, "precision": 0.1}, "give one of the two"),
        ("over_delta", {"algorithms": ["lucb"]}, "algorithm must be an algorithm"),
        ("over_delta", {"algorithms": []}, "algorithms is empty; give at least one algorithm"),
        ("over_gap", {"gaps": [0.1, -0.1]}, "gaps holds -0.1; every gap must be positive"),
        ("over_gap", {"gaps": ["0.1"]}, "gaps must be a number; got '0.1'"),
        ("over_gap", {"gaps": [1.5]}, r"gaps holds 1.5, for which means\[0\] is 1.25"),
        ("over_gap", {"gaps": [1e-15]}, "gaps holds 1e-15, which means near 0.5 cannot have"),
        ("over_gap", {"problem": ONE}, "problem has a single cluster, whose gap is infinite"),
        ("over_gap", {"problem": categorical()}, "problem has Categorical arms, whose means can"),
        ("over_gap", {"delta": 2.0}, "delta is 2.0"),
        ("over_n", {"numbers": [1, 10]}, "numbers is 1; it must be at least 2"),
        ("over_n", {"numbers": [10.5]}, "numbers must be an integer; got 10.5"),
        ("over_n", {"instance": lambda n: ONE}, "instance returned 2 arms for 10"),
        ("over_n", {"instance": lambda n: n}, "instance returned 10; it must return a Problem"),
        ("over_n", {"instance": 3}, "instance is 3; give a function from a number of arms"),
        ("over_delta", {"algorithms": 3}, "algorithms is 3; give a list"),
        ("over_n", {"limits": {"lucv": 3}}, "which names no algorithm with 'lucv'; choose among"),
        ("over_n", {"limits": {"lucb": 0}}, "limits is 0; it must be at least 1"),
        ("over_n", {"limits": 100}, "limits is 100; give a dict"),
        ("over_k", {"ks": [20]}, "ks is 20; it must be an integer from 1 to 19, N - 1"),
        ("over_k", {"arms": [0.1, 0.9]}, r"arms is \[0.1, 0.9\]; give arms such as"),
        ("over_m", {"ms": [11]}, "ms is 11; it must be an integer from 1 to 10, k"),
        ("over_k", {"strict": 1}, "strict is 1; it must be True or False"),
        ("over_m", {"k": 20}, "k is 20; it must be an integer from 1 to 19, N - 1"),
    ],
)
def test_bad_arguments_are_named(name: str, arguments: dict[str, Any], message: str) -> None:
    """The argument, its value and what would do, before anything runs."""
    with pytest.raises((TypeError, ValueError), match=message):
        getattr(scaling, name)(**arguments)
