"""Kinds of problems by name, and sizes in words."""

import inspect

import pytest

import rai_sim as rai
from rai_sim import kinds

ARMS = rai.Bernoulli([0.9, 0.7, 0.5, 0.3])
BUILT = {
    "best_arm": rai.best_arm(ARMS),
    "one_of_top": rai.one_of_top(ARMS, 2),
    "top": rai.top(ARMS, 2),
    "m_of_top": rai.m_of_top(ARMS, 1, 2),
    "coarse_ranking": rai.coarse_ranking(ARMS, (2, 2)),
    "full_ranking": rai.full_ranking(ARMS),
}
SIZES = {"k": 2, "m": 1, "clusters": (2, 2)}


def test_every_kind_is_made() -> None:
    """By its name and the sizes that it takes; there is none but these."""
    assert list(BUILT) == list(kinds.KINDS)
    for name, problem in BUILT.items():
        sizes = {size: SIZES[size] for size in kinds.sizes_of(name)}
        assert kinds.KINDS[name](ARMS, **sizes) == problem
    assert kinds.sizes_of(None) == ["clusters", "required"]


def test_every_public_constructor_is_a_kind() -> None:
    """What the package offers to make problems of arms."""
    made = {
        name
        for name in rai.__all__
        if inspect.isfunction(getattr(rai, name))
        and inspect.signature(getattr(rai, name)).return_annotation == "Problem"
    }
    assert made - {"table_problem"} == set(kinds.KINDS)


@pytest.mark.parametrize("name", [*kinds.KINDS, *kinds.names()])
def test_names_in_other_spellings(name: str) -> None:
    """Case, blanks and hyphens do not matter."""
    kind = kinds.kind_of(name)
    assert kind in kinds.KINDS
    assert kinds.kind_of(f" {name.upper().replace('_', '-')} ") == kind


@pytest.mark.parametrize("name", ["", "best", "rank", "top k"])
def test_what_is_no_kind(name: str) -> None:
    """None is returned."""
    assert kinds.kind_of(name) is None


@pytest.mark.parametrize(
    ("text", "n", "found"),
    [
        ("50%", 9, 4),
        (" 12.5 % ", 8, 1),
        ("100%", 7, 7),
        ("1:1", 5, (3, 2)),
        ("3 : 5:2", 10, (3, 5, 2)),
    ],
)
def test_sizes_in_words(text: str, n: int, found: int | tuple[int, ...]) -> None:
    """Shares are rounded, proportions by largest remainders."""
    assert kinds.size(text, n) == found


@pytest.mark.parametrize(
    ("text", "said"),
    [("1%", "none of 10 arms"), ("half", "^give a number, a list of"), ("9:1:0", "proportions is")],
)
def test_what_is_no_size(text: str, said: str) -> None:
    """With the remedy."""
    with pytest.raises(ValueError, match=said):
        kinds.size(text, 10)
