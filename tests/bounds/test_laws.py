"""Which laws bounds are about."""

import pytest

import rai_sim as rai
from rai_sim.arms.base import Arms
from rai_sim.bounds.laws import borrowed_laws


@pytest.mark.parametrize(
    ("arms", "words"),
    [
        (rai.Bernoulli([0.75, 0.25]), ""),
        (rai.Gaussian([0.75, 0.25]), ""),
        (rai.Gaussian([3.0, 1.0], sd=2.0, sigma=2.0), ""),
        (rai.Gaussian([0.75, 0.25], sd=0.25), "Gaussian arms of sd 1/2"),
        (rai.Gaussian([3.0, 1.0], sd=[2.0, 1.0], sigma=2.0), "Gaussian arms of sd 2"),
        (rai.Beta([0.75, 0.25], 4.0), "Gaussian arms of sd 1/2"),
    ],
    ids=str,
)
def test_laws_of_their_own_or_others(arms: Arms, words: str) -> None:
    """Bernoulli arms and Gaussian ones of standard deviation sigma have bounds of their own."""
    problem = rai.best_arm(arms)
    assert borrowed_laws(problem) == words
    bound = rai.bounds.at_delta(problem, 0.01)
    assert bound.own is (not words)
    assert bound.laws == (f"as for {words}" if words else bound.laws)
    assert bound.laws in bound.conditions
