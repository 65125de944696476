"""The remedy for arms that are not sub-Gaussian is one that helps."""

from typing import Any

import pytest
from own_rules import Bell

import rai_sim as rai
from rai_sim.arms.base import Arms


class Unsaid(rai.OwnArms, known=False):
    """Says nothing of its rewards."""

    @staticmethod
    def pull(law: Any, arm: Any, random: Any) -> Any:
        """Return a reward and the state."""
        return law.means[arm], random


@pytest.mark.parametrize(
    ("arms", "words"),
    [
        (rai.Gaussian([3.0, 1.0], sd=2.0), "; give the arms their sigma, rescale the rewards, or "),
        (
            rai.Gaussian([3.0, 1.0], sd=2.0, sigma=1.0),
            "; give the arms a larger sigma, rescale the rewards, or pass strict=False to go",
        ),
        (rai.Recorded([[1, 0], [2, 2]]), "; give the arms their sigma, rescale"),
        (rai.Uniform([0.0, 1.0], [4.0, 5.0]), "; give the arms their sigma, rescale"),
        (rai.Poisson([3.0, 1.0]), "for no sigma; pass strict=False to go without"),
        (rai.StudentT([3.0, 1.0]), "for no sigma; pass strict=False to go without"),
        (Unsaid([0.5, 0.4]), "; give the class its bounds, or a variance_proxy, or pass strict"),
        (Bell([0.5, 0.4], sd=3.0), "; rescale the rewards, or pass strict=False to go without"),
    ],
)
def test_the_remedy_is_one_that_helps(arms: Arms, words: str) -> None:
    """Its sigma where the law has one; nothing but to go without where none exists."""
    with pytest.raises(ValueError, match="sub-Gaussian, as the guarantees need") as refusal:
        rai.best_arm(arms)
    assert words in str(refusal.value)
    for helped in (
        rai.Gaussian([3.0, 1.0], sd=2.0, sigma=2.0),
        rai.Recorded([[1, 0], [2, 2]], sigma=1.0),
        rai.Uniform([0.0, 1.0], [4.0, 5.0], sigma=2.0),
    ):
        assert rai.best_arm(helped).n_arms == 2
