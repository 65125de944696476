"""Rules of a user's own: everywhere an algorithm is, told apart by their code."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from own_rules import EachOften, Elimination, Wander, wrong

import rai_sim as rai
from rai_sim.algorithms.base import ALGORITHMS
from rai_sim.algorithms.text import algorithm_from_text, algorithm_to_text


def input_of_python() -> str:
    """Return a text, by a function that Numba does not compile."""
    return str({"a": "0"}["a"])


SHARE = 4


class Sharing(rai.OwnRule, known=False):
    """Reads a global."""

    @staticmethod
    def step(task: Any, counts: Any, sums: Any, scratch: Any, arms: Any) -> int:
        """Return how many to pull."""
        arms[0] = 0
        return 0 if counts[0] == SHARE else 1


PROBLEM = rai.best_arm(rai.Bernoulli([0.8, 0.5, 0.4]))


def test_what_it_is_called() -> None:
    """Options in labels; in the identity the code, too; the base itself is no algorithm."""
    rule = EachOften(each=7)
    assert rule.label == "EachOften(each=7)"
    assert repr(rule).startswith("EachOften(each=7, code=")
    assert rule == EachOften(7) != EachOften()
    assert "ownrule" not in ALGORITHMS
    assert "eachoften" not in ALGORITHMS


@pytest.mark.landing
def test_other_code_is_another_experiment() -> None:
    """And another kernel: both give their own numbers, one after the other."""

    def made(share: int) -> Any:
        class Some(rai.OwnRule, known=False):
            @staticmethod
            def step(task: Any, counts: Any, sums: Any, scratch: Any, arms: Any) -> int:
                arms[0] = 0
                return 0 if counts[0] == share else 1

        return Some()

    one, other = made(2), made(3)
    assert repr(one) != repr(other)
    for rule, pulls in ((one, 2), (other, 3), (one, 2)):
        assert rai.simulate(PROBLEM, rule, replications=2, seed=1).pulls.tolist() == [pulls] * 2


@pytest.mark.slow
def test_workers_and_blocks_do_not_matter() -> None:
    """Threads, processes, blocks of any size, single replications."""
    rule = Wander()
    whole = rai.simulate(PROBLEM, rule, replications=40, seed=3)
    for options in ({"n_jobs": 2}, {"block_size": 7}):
        other = rai.simulate(PROBLEM, rule, replications=40, seed=3, **options)  # type: ignore[arg-type]
        assert other.pulls.tolist() == whole.pulls.tolist()
    one = rai.simulate(PROBLEM, rule, replications=1, first_replication=31, seed=3)
    assert one.pulls[0] == whole.pulls[31]
    assert len(set(whole.pulls.tolist())) > 5


@pytest.mark.slow
def test_traces_certify_and_figures() -> None:
    """A trace's states are the steps asked for; a rule that errs is rejected, one that does not is
    not."""
    trace = rai.trace(PROBLEM, Elimination(), 0.1, seed=1)
    result = rai.simulate(PROBLEM, Elimination(), delta=0.1, replications=1, seed=1)
    assert trace.result.pulls[0] == result.pulls[0] == trace.arm_pulls[-1].sum()
    assert trace.rounds[-1] == result.rounds[0]
    assert trace.representatives == tuple(result.representatives[0])
    assert trace.rounds.tolist() == sorted(set(trace.rounds.tolist()))
    guess = rai.certify(EachOften(each=1), delta=0.1, problems={"three": PROBLEM}, seed=0)
    assert not guess.passed
    sound = rai.certify(Elimination(), delta=0.1, problems={"three": PROBLEM}, seed=0)
    assert sound.passed
    rai.plotting.distribution(
        [result, rai.simulate(PROBLEM, rai.Vanilla(), replications=5, seed=1)]
    )


def test_studies_know_it_by_name_and_code(tmp_path: Path) -> None:
    """Stored, resumed, opened again; with other code under the same name it is another thing; text
    and back."""

    def made(more: int) -> Any:
        class Named(rai.OwnRule):
            each: int = 3

            @staticmethod
            def step(task: Any, counts: Any, sums: Any, scratch: Any, arms: Any) -> int:
                arms[0] = 0
                return 0 if counts[0] == task.each + more else 1

        return Named

    try:
        rule = made(0)(each=5)
        assert algorithm_to_text(rule) == "named:each=5"
        assert algorithm_from_text("named:each=5") == rule
        study = rai.Study.grid({"three": PROBLEM}, [rule], [0.1], replications=6, seed=0)
        study.run(tmp_path / "store")
        opened = rai.open_study(tmp_path / "store")
        assert opened.tasks[0].experiment == study.tasks[0].experiment
        more = rai.Study.grid({"three": PROBLEM}, [rule], [0.1], replications=9, seed=0)
        assert more.run(tmp_path / "store").summary()["replications"].to_list() == [9]
        made(1)
        words = "was another thing when this was stored: give .*Named the code and the options that"
        with pytest.warns(rai.StoreWarning, match=words):
            rai.open_study(tmp_path / "store")
    finally:
        ALGORITHMS.pop("named", None)


@pytest.mark.parametrize(
    ("returned", "arm", "words"),
    [
        (4, 0, r"step returned 4; return how many of `arms` are to be pulled, from 1 to N"),
        (1, 3, r"step wrote 3 into arms\[0\]"),
        (-1, 0, r"step returned -1"),
        (2, -1, r"step wrote -1 into arms\[0\]"),
        (0, 7, r"step wrote 7 into arms\[0\]"),
    ],
)
def test_what_is_no_arm_is_an_error(returned: int, arm: int, words: str) -> None:
    """Compiled or not, at once."""
    rule = wrong(returned, arm)
    for one in (rule, rule.in_python()):
        with pytest.raises(ValueError, match=words):
            rai.simulate(PROBLEM, one, replications=2, seed=1)


@pytest.mark.slow
def test_an_answer_names_no_arm_twice() -> None:
    """Of two that are asked for."""
    problem, rule = rai.top(rai.Bernoulli([0.8, 0.7, 0.4]), 2), wrong(0, 1)
    for one in (rule, rule.in_python()):  # arms[1] is 0 at first, and then 1, whichever was written
        rai.simulate(problem, one, replications=1, seed=1)

    class Twice(rai.OwnRule, known=False):
        @staticmethod
        def step(task: Any, counts: Any, sums: Any, scratch: Any, arms: Any) -> int:
            arms[0] = arms[1] = 2
            return 0

    for one in (Twice(), Twice().in_python()):
        with pytest.raises(ValueError, match=r"step wrote 2 into arms\[1\].*each arm once"):
            rai.simulate(problem, one, replications=1, seed=1)


def test_rules_that_cannot_be_made() -> None:
    """Each says what is missing."""

    class Empty(rai.OwnRule, known=False):
        pass

    with pytest.raises(TypeError, match=r"Empty has no function step\(task, counts"):
        Empty()

    class Worded(EachOften, known=False):
        note: str = "a"

    with pytest.raises(TypeError, match=r"Worded: note is 'a'; step can be told numbers alone"):
        Worded()

    class Told(EachOften, known=False):
        delta: float = 0.1

    with pytest.raises(TypeError, match=r"Told: delta is told to step anyway"):
        Told()
    with pytest.raises(TypeError, match="each must be an integer"):
        EachOften(each=1.5)  # type: ignore[arg-type]


@pytest.mark.landing
@pytest.mark.parametrize(
    ("value", "compiled", "in_python"),
    [
        ("task.n_arms / 2", "a float", r"np.float64\(1.5\)"),
        ("None", "nothing", "nothing"),
        ("(1, 2)", "a tuple", r"\(1, 2\)"),
    ],
)
def test_what_is_no_number_of_arms(value: str, compiled: str, in_python: str) -> None:
    """Half an arm is not pulled for ever, nor rounded; compiled or not it is one error."""
    rule, words = _rule(f"return {value}"), "return how many of `arms` .*: an integer"
    for one, given in ((rule, compiled), (rule.in_python(), in_python)):
        with pytest.raises(ValueError, match=f"step returned {given}; {words}"):
            rai.simulate(PROBLEM, one, replications=2, seed=1, max_pulls=100)


@pytest.mark.landing
def test_an_end_without_a_return() -> None:
    """Said when it is come to; truth values and any kind of integer are numbers of arms."""

    class Forgetful(rai.OwnRule, known=False):
        @staticmethod
        def step(task: Any, counts: Any, sums: Any, scratch: Any, arms: Any) -> Any:
            arms[0] = 0
            if counts[0] < 4:
                return 1
            if counts[0] > 4:
                return 0

    class Truthful(rai.OwnRule, known=False):
        @staticmethod
        def step(task: Any, counts: Any, sums: Any, scratch: Any, arms: Any) -> Any:
            arms[0] = 0
            return counts[0] < 5

    for forgetful in (Forgetful(), Forgetful().in_python()):
        with pytest.raises(ValueError, match="step returned nothing; return how many"):
            rai.simulate(PROBLEM, forgetful, replications=2, seed=1)
    for truthful in (Truthful(), Truthful().in_python()):
        assert rai.simulate(PROBLEM, truthful, replications=2, seed=1).pulls.tolist() == [5, 5]


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("scratch = -1", "scratch is -1; it must be at least 0"),
        ("uniforms = 2.5", "uniforms must be an integer; got 2.5"),
    ],
)
def test_memory_that_cannot_be_had(head: str, words: str) -> None:
    """By name."""
    with pytest.raises((ValueError, TypeError), match=words):
        rai.simulate(PROBLEM, _rule("x = 1", head).in_python(), replications=1, seed=1)


@pytest.mark.landing
def test_code_that_numba_does_not_know() -> None:
    """Names the function, what is wrong, and the remedy; Python runs it all the same."""

    class Worded(rai.OwnRule, known=False):
        @staticmethod
        def step(task: Any, counts: Any, sums: Any, scratch: Any, arms: Any) -> int:
            arms[0] = int(input_of_python())
            return 0

    with pytest.raises(ValueError, match=r"Worded.step cannot be compiled: .*numba.njit"):
        rai.simulate(PROBLEM, Worded(), replications=1, seed=1)
    assert rai.simulate(PROBLEM, Worded().in_python(), replications=1, seed=1).finished[0]


@pytest.mark.landing
def test_caps_and_recordings() -> None:
    """A step that the cap does not pay for is not made; a recording that ends is named."""
    # a recording, too: one kernel for both
    long = rai.best_arm(rai.Recorded([[1, 1, 1, 1, 0] * 4, [1, 0] * 10, [1, 1, 0, 0, 0] * 4]))
    capped = rai.simulate(long, EachOften(), replications=3, max_pulls=31, seed=1)
    assert capped.pulls.tolist() == [30] * 3
    assert not capped.finished.any()
    assert (capped.representatives == -1).all()
    short = rai.best_arm(rai.Recorded([[1, 1, 1], [0, 0, 0]]))
    for rule in (EachOften(), EachOften().in_python()):
        with pytest.raises(ValueError, match=r"recording of arm \d ran out: pull 4"):
            rai.simulate(short, rule, replications=1, seed=1)
    assert replace(EachOften(), each=3).each == 3


def _rule(body: str, head: str = "") -> rai.OwnRule:
    """Return a rule of some lines of code that otherwise pulls arm 0 five times."""
    text = (
        f"class Some(rai.OwnRule, known=False):\n    {head}\n    @staticmethod\n"
        f"    def step(task, counts, sums, scratch, arms):\n        {body}\n"
        "        arms[0] = 0\n        return 0 if counts[0] == 5 else 1\n"
    )
    space: dict[str, Any] = {"rai": rai, "__name__": "somewhere"}
    exec(text, space)
    made: rai.OwnRule = space["Some"]()
    return made


@pytest.mark.landing
@pytest.mark.parametrize(
    "body",
    [
        "counts[0] = 0",
        pytest.param("sums[:] = 0.0", marks=pytest.mark.slow),
        pytest.param("task.required[0] = 0", marks=pytest.mark.slow),
    ],
)
def test_what_is_only_read_cannot_be_written(body: str) -> None:
    """The kernel's own numbers are in these arrays: compiled or not, a rule that writes is refused."""
    with pytest.raises(ValueError, match=r"Some.step cannot be compiled: it writes into an array"):
        rai.simulate(PROBLEM, _rule(body), replications=1, seed=1)
    with pytest.raises(ValueError, match="read-only"):
        rai.simulate(PROBLEM, _rule(body).in_python(), replications=1, seed=1)


def test_what_cannot_be_compiled_is_said_with_its_line() -> None:
    """The cause, and the user's line; not Numba's."""

    class Nameless(rai.OwnRule, known=False):
        @staticmethod
        def step(task: Any, counts: Any, sums: Any, scratch: Any, arms: Any) -> int:
            arms[0] = task.nonsense
            return 1

    words = r"Unknown attribute 'nonsense' .*, in \"arms\[0\] = task.nonsense\"; use"
    with pytest.raises(ValueError, match=words):
        rai.simulate(PROBLEM, Nameless(), replications=1, seed=1)


def test_memory_and_uniforms_are_of_the_identity() -> None:
    """With other numbers of uniforms the same code draws other rewards."""
    plain, more, memory = (
        repr(_rule("x = 1", head)) for head in ("pass", "uniforms = 3", "scratch = 3")
    )
    assert len({plain, more, memory}) == 3
    assert plain == repr(_rule("x = 1"))


@pytest.mark.parametrize("option", ["_hidden", "delta"])
def test_options_that_cannot_be_told(option: str) -> None:
    """At once, by name."""
    with pytest.raises(TypeError, match=f"Some: {option} is .*; call the option otherwise"):
        _rule("x = 1", f"{option}: float = 1.0")


@pytest.mark.slow
def test_another_value_of_a_global(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule made anew runs with it; one made before is refused unless it was compiled before."""
    made = Sharing()
    assert rai.simulate(PROBLEM, made, replications=2, seed=1).pulls.tolist() == [4, 4]
    monkeypatch.setitem(globals(), "SHARE", 6)
    again = Sharing()
    assert repr(again) != repr(made)
    for rule, pulls in ((again, 6), (made, 4), (again.in_python(), 6)):
        assert rai.simulate(PROBLEM, rule, replications=2, seed=1).pulls.tolist() == [pulls] * 2
    monkeypatch.setitem(globals(), "SHARE", 7)
    late = Sharing()
    monkeypatch.setitem(globals(), "SHARE", 8)
    with pytest.raises(ValueError, match="Sharing, or a global that it reads, is not what it was"):
        rai.simulate(PROBLEM, late, replications=2, seed=1)
