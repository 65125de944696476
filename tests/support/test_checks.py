"""Every refusal of a problem or a delta: its type, and that its message names argument, value and
remedy."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import rai_sim.problem as p
from rai_sim import Bernoulli, Categorical, Gaussian, Recorded
from rai_sim.arms.base import Arms
from rai_sim.problem import Problem, check_delta
from rai_sim.support.checks import check_class_name, check_switch, check_title, of_package
from rai_sim.support.errors import ArgumentError, ArgumentTypeError, ArgumentValueError

THREE = Bernoulli([0.5, 0.75, 0.25])
HALF = Fraction(1, 2)

UNSAFE: list[tuple[Arms, str]] = [
    (Gaussian([0.5, 0.25, 0.0], sd=0.75), "sd is 0.75"),
    (Categorical([0.0, 5.0], [[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]]), "values[1] is 5.0"),
    (Recorded([[1, 0], [2, 2], [0, 0]]), "rewards[1, 0] is 2.0"),
]


@pytest.mark.parametrize(("arms", "flaw"), UNSAFE)
def test_laws_without_guarantee_need_strict_false(arms: Arms, flaw: str) -> None:
    """The refusal names the value at fault and the way out; every constructor takes that way."""
    with pytest.raises(ValueError, match="1/2-sub-Gaussian") as refusal:
        Problem(arms, (1, 2), (1, 0))
    assert "arms" in str(refusal.value)
    assert flaw in str(refusal.value)
    assert "strict=False" in str(refusal.value)
    for problem in (
        Problem(arms, (1, 2), (1, 0), strict=False),
        p.best_arm(arms, strict=False),
        p.one_of_top(arms, 2, strict=False),
        p.top(arms, 2, strict=False),
        p.m_of_top(arms, 1, 2, strict=False),
        p.coarse_ranking(arms, (1, 2), strict=False),
        p.full_ranking(arms, strict=False),
    ):
        assert not problem.strict


#: Constructor or function, its arguments, and what the message must hold: argument, value, remedy.
WRONG_TYPES: list[tuple[str, tuple[Any, ...], list[str]]] = [
    (
        "Problem",
        ([0.5, 0.25], (1, 1), (1, 0)),
        ["arms is [0.5, 0.25]", "wrap them: rai.Bernoulli([...])"],
    ),
    ("best_arm", (np.array([0.5]),), ["arms is array([0.5])", "wrap them: rai.Bernoulli([...])"]),
    ("full_ranking", (None,), ["arms is None", "wrap them"]),
    ("top", ((0.5, 0.25), 1), ["arms is (0.5, 0.25)", "wrap them"]),
    ("coarse_ranking", (0.5, (1,)), ["arms is 0.5", "wrap them"]),
    ("Problem", (THREE, 3, (1,)), ["clusters is 3", "sequence"]),
    ("Problem", (THREE, "12", (1,)), ["clusters is '12'", "sequence"]),
    ("Problem", (THREE, {1, 2}, (1, 0)), ["clusters is {1, 2}", "sequence"]),
    ("Problem", (THREE, np.array(3), (1,)), ["clusters is array(3)", "sequence"]),
    ("Problem", (THREE, (1, 2.0), (1, 0)), ["clusters[1] is 2.0", "float", "give integers"]),
    ("Problem", (THREE, np.array([1.0, 2.0]), (1, 0)), ["clusters[0] is 1.0", "give integers"]),
    ("Problem", (THREE, np.array([[1, 2]]), (1, 0)), ["clusters[0] is [1, 2]", "give integers"]),
    ("Problem", (THREE, (True, 2), (1, 0)), ["clusters[0] is True", "bool", "give integers"]),
    (
        "Problem",
        (THREE, (np.bool_(True), 2), (1, 0)),
        ["clusters[0] is", "True", "bool", "give integers"],
    ),
    ("Problem", (THREE, (1, 2), 1), ["required is 1", "sequence"]),
    ("Problem", (THREE, (1, 2), (1, HALF)), ["required[1] is Fraction(1, 2)", "give integers"]),
    ("Problem", (THREE, (1, 2), (True, False)), ["required[0] is True", "give integers"]),
    ("top", (THREE, 1.0), ["k is 1.0", "float", "from 1 to 3"]),
    ("one_of_top", (THREE, True), ["k is True", "bool", "from 1 to 3"]),
    ("m_of_top", (THREE, "1", 2), ["m is '1'", "from 1 to 2"]),
    ("table_problem", ("1",), ["task is '1'", "from 1 to 5"]),
    ("table_problem", (1, 2), ["instance is 2", "'mirrored' or 'printed'"]),
    ("check_delta", ("0.1",), ["delta is '0.1'", "between 0 and 1"]),
    ("check_delta", (None,), ["delta is None", "between 0 and 1"]),
    ("check_delta", (True,), ["delta is True", "between 0 and 1"]),
    ("check_delta", (np.bool_(False),), ["delta is", "False", "between 0 and 1"]),
    ("check_delta", ([0.1],), ["delta is [0.1]", "between 0 and 1"]),
    ("check_delta", (0.1j,), ["delta is 0.1j", "between 0 and 1"]),
]
WRONG_VALUES: list[tuple[str, tuple[Any, ...], list[str]]] = [
    ("Problem", (THREE, (1, 0, 2), (1, 0, 0)), ["clusters[1] is 0", "(1, 0, 2)", "leave it out"]),
    ("Problem", (THREE, (4, -1), (1, 0)), ["clusters[1] is -1", "(4, -1)", "leave it out"]),
    ("Problem", (THREE, (1, 1), (1, 0)), ["clusters=(1, 1)", "add up to 2", "add up to 3"]),
    ("Problem", (THREE, (10**30,), (1,)), ["clusters=(1000", "add up to 3"]),
    ("Problem", (THREE, (), ()), ["clusters=()", "add up to 3"]),
    (
        "Problem",
        (THREE, (1, 2), (1,)),
        ["required=(1,)", "length 1", "length 2", "one number a cluster"],
    ),
    (
        "Problem",
        (THREE, (1, 2), (1, 0, 0)),
        ["required=(1, 0, 0)", "length 3", "one number a cluster"],
    ),
    ("Problem", (THREE, (1, 2), (1, -1)), ["required[1] is -1", "ask for 0 to 2"]),
    (
        "Problem",
        (THREE, (1, 2), (2, 0)),
        ["required[0] is 2", "clusters[0] is 1", "ask for 0 to 1"],
    ),
    ("Problem", (THREE, (1, 2), (0, 0)), ["required=(0, 0)", "at least one"]),
    (
        "best_arm",
        (Bernoulli([0.5, 0.25, 0.5]),),
        [
            "clusters=(1, 2)",
            "arms 0 and 2",
            "mean 0.5",
            "between clusters 1 and 2",
            "make the means differ",
        ],
    ),
    (
        "Problem",
        (Bernoulli([0.1, 0.2, 0.9, 0.1, 0.8]), (1, 1, 2, 1), (0, 0, 0, 1)),
        [
            "clusters=(1, 1, 2, 1)",
            "arms 0 and 3",
            "mean 0.1",
            "between clusters 3 and 4",
            "means differ",
        ],
    ),
    ("full_ranking", (Gaussian([0.0, 1.0, -0.0]),), ["arms 0 and 2", "between clusters 2 and 3"]),
    ("top", (THREE, 0), ["k is 0", "from 1 to 3"]),
    ("one_of_top", (THREE, 4), ["k is 4", "from 1 to 3"]),
    ("m_of_top", (THREE, 3, 2), ["m is 3", "from 1 to 2"]),
    ("m_of_top", (THREE, 0, 2), ["m is 0", "from 1 to 2"]),
    ("coarse_ranking", (THREE, (2, 2)), ["clusters=(2, 2)", "add up to 3"]),
    ("table_problem", (0,), ["task is 0", "from 1 to 5"]),
    ("table_problem", (6,), ["task is 6", "from 1 to 5"]),
    ("table_problem", (1, "paper"), ["instance is 'paper'", "'mirrored' or 'printed'"]),
    ("check_delta", (math.nan,), ["delta is nan", "between 0 and 1"]),
    ("check_delta", (np.float64("nan"),), ["delta is", "nan", "between 0 and 1"]),
    ("check_delta", (0,), ["delta is 0", "between 0 and 1"]),
    ("check_delta", (-0.1,), ["delta is -0.1", "between 0 and 1"]),
    ("check_delta", (1.0,), ["delta is 1.0", "between 0 and 1"]),
    ("check_delta", (math.inf,), ["delta is inf", "between 0 and 1"]),
    ("check_delta", (10**400,), ["delta is 1000", "between 0 and 1"]),
    ("check_delta", (Fraction(1, 10**400),), ["delta is Fraction(1, 1", "between 0 and 1"]),
]


def check_message(
    error: type[Exception], name: str, arguments: tuple[Any, ...], parts: list[str]
) -> None:
    """Make the call and look for the parts in the message of the error it must raise."""
    with pytest.raises(error) as refusal:
        getattr(p, name)(*arguments)
    assert (
        type(refusal.value) is {TypeError: ArgumentTypeError, ValueError: ArgumentValueError}[error]
    )
    assert isinstance(refusal.value, ArgumentError)
    assert str(refusal.value).startswith(refusal.value.argument)
    for part in parts:
        assert part in str(refusal.value)


@pytest.mark.parametrize(("name", "arguments", "parts"), WRONG_TYPES)
def test_a_wrong_type_is_a_type_error(
    name: str, arguments: tuple[Any, ...], parts: list[str]
) -> None:
    """The message names the argument, its value and the remedy."""
    check_message(TypeError, name, arguments, parts)


@pytest.mark.parametrize(("name", "arguments", "parts"), WRONG_VALUES)
def test_a_wrong_value_is_a_value_error(
    name: str, arguments: tuple[Any, ...], parts: list[str]
) -> None:
    """The message names the argument, its value and the remedy."""
    check_message(ValueError, name, arguments, parts)


@pytest.mark.parametrize("strict", [1, None, "no"])
def test_strict_is_true_or_false(strict: Any) -> None:
    """A text or a number is not taken for a truth value."""
    with pytest.raises(TypeError, match=f"strict is {strict!r}; it must be True or False"):
        Problem(THREE, (1, 2), (1, 0), strict=strict)


def test_long_sizes_are_shortened_in_messages() -> None:
    """A million sizes do not fill the screen."""
    with pytest.raises(ValueError, match="add up to 3") as refusal:
        Problem(THREE, (1,) * 10**6, (1,))
    assert len(str(refusal.value)) < 200


def test_delta_becomes_a_float() -> None:
    """Any real number strictly between 0 and 1 is fine."""
    for delta in (0.5, np.float64(0.5), np.float32(0.5), HALF):
        assert check_delta(delta) == 0.5  # type: ignore[arg-type]
        assert type(check_delta(delta)) is float  # type: ignore[arg-type]
    assert check_delta(5e-324) == 5e-324


@pytest.mark.parametrize("value", [1, 0, None, "yes", np.True_])
def test_a_switch_is_true_or_false(value: Any) -> None:
    """What is merely as good as either is refused by the argument's name."""
    assert check_switch("titles", True) is True
    with pytest.raises(TypeError, match=r"titles is .*; it must be True or False") as refusal:
        check_switch("titles", value)
    assert isinstance(refusal.value, ArgumentTypeError)
    assert refusal.value.argument == "titles"


def test_a_title_is_there_to_be_seen() -> None:
    """Or left to what stands there by default."""
    assert (check_title("a", "its name"), check_title(None, "its name")) == ("a", None)
    for blank in ("", " \n"):
        with pytest.raises(
            ArgumentValueError, match=r"^title is '.*'; give a text, or None for it"
        ):
            check_title(blank, "its name")
    wrong: Any = 5
    with pytest.raises(ArgumentTypeError, match=r"^title is 5; give a text"):
        check_title(wrong, "its name")


def test_the_packages_names_are_its_own() -> None:
    """Whoever is not of the package cannot have them; others may be taken again."""

    class Known:
        __module__ = "somewhere"

    known: dict[str, type] = {"bernoulli": Bernoulli, "known": Known}
    assert (of_package(Bernoulli), of_package(Known)) == (True, False)
    check_class_name("arms", known, Known)
    check_class_name("arms", known, Bernoulli)
    with pytest.raises(
        ArgumentValueError, match="arms: bernoulli is the name of the package's own"
    ):
        check_class_name("arms", known, type("bernoulli", (), {}))
