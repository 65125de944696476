"""Reward laws of a user's own: the package's numbers with the package's samplers, and errors for laws
that are not what they say."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from own_rules import Bell, Coin, Noisy
from scipy import stats

import rai_sim as rai
from rai_sim.arms.base import LAWS
from rai_sim.arms.own import _look_at_sums
from rai_sim.samplers import uniform
from rai_sim.study.task import arms_to_json


@pytest.mark.slow
def test_gaussian_arms_once_more() -> None:
    """With the same draws every number is the package's."""
    ours, theirs = (
        rai.simulate(rai.best_arm(arms), rai.Vanilla(), delta=0.1, replications=50, seed=2)
        for arms in (Bell([0.7, 0.5, 0.4], sd=0.4), rai.Gaussian([0.7, 0.5, 0.4], sd=0.4))
    )
    for name in ("pulls", "rounds", "representatives"):
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist()


@pytest.mark.slow
def test_coins_without_sums() -> None:
    """One pull after another, the same law as Bernoulli arms: Kolmogorov-Smirnov at 1e-6 for each
    algorithm."""
    for algorithm in (rai.Vanilla(), rai.Butterscotch()):
        ours, theirs = (
            rai.simulate(rai.best_arm(arms), algorithm, delta=0.1, replications=1_000, seed=seed)
            for seed, arms in enumerate((Coin([0.8, 0.5]), rai.Bernoulli([0.8, 0.5])))
        )
        assert stats.ks_2samp(ours.pulls, theirs.pulls).pvalue > 1e-6


def test_samples() -> None:
    """Rewards one by one and sums at once, a function of the seed."""
    bells = Bell([0.7, 0.5], sd=0.25)
    rewards, sums = bells.sample(1, 20_000, seed=3), bells.sample_sums(1, 16, 20_000, seed=3)
    assert abs(rewards.mean() - 0.5) < 5 * 0.25 / math.sqrt(20_000)
    assert sums.std() == pytest.approx(1.0, rel=0.03)
    assert (bells.sample(1, 5, seed=3) == rewards[:5]).all()
    assert not (bells.sample(1, 5, seed=4) == rewards[:5]).any()


@pytest.mark.slow
def test_what_it_is_called_and_stored(tmp_path: Path) -> None:
    """Fields in the identity, code too; a study opens with the same arms."""

    class Stored(Bell):
        pass

    try:
        arms = Stored([0.7, 0.5], sd=0.3)
        assert repr(arms) == "Stored(2 arms, means [0.7, 0.5], sd 0.3)"
        assert arms == Stored([0.7, 0.5], sd=0.3) != Stored([0.7, 0.5])
        study = rai.Study.grid({"x": rai.best_arm(arms)}, [rai.Vanilla()], [0.1], replications=3)
        study.run(tmp_path / "store")
        assert rai.open_study(tmp_path / "store").tasks[0].experiment.problem.arms == arms
    finally:
        LAWS.pop("stored", None)
    assert "ownarms" not in LAWS
    type("Nameless", (Coin,), {}, known=False)
    assert "nameless" not in LAWS


def made(body: Any, **attributes: Any) -> Any:
    """Return a class of arms with a pull of its own."""
    return type("Odd", (rai.OwnArms,), {"pull": staticmethod(body), **attributes}, known=False)


def _double(law: Any, arm: Any, random: Any) -> Any:
    u, random = uniform(random)
    return 2.0 * u * law.means[arm], random


def _infinite(law: Any, arm: Any, random: Any) -> Any:
    u, random = uniform(random)
    return (math.inf if u < 0.01 else 0.5), random


def _more(law: Any, arm: Any, k: Any, random: Any) -> Any:
    u, random = uniform(random)
    return k * (law.means[arm] + 0.2 * (u - 0.5)), random


def test_laws_that_are_not_what_they_say() -> None:
    """Means, bounds, sums, finiteness: each is seen, and says the numbers."""
    assert (
        made(_double)([0.5, 0.3]).why_not_sub_gaussian()
        == "Odd has neither bounds nor a variance_proxy"
    )
    for cls, words in (
        (made(lambda law, arm, random: _double(law, arm, random)), None),
        (made(_double, bounds=(0.0, 0.5)), r"outside its bounds 0 and 0.5; mend them"),
        (made(_infinite), r"rewards of arm 0 one is inf; mend pull"),
        (made(_double, pulls=staticmethod(_more)), r"sums of 64 rewards of arm 0 .*; mend pulls"),
    ):
        problem = rai.Problem(cls([0.5, 0.3]), (1, 1), (1, 0), strict=False)
        if words is not None:
            with pytest.raises(ValueError, match=words):
                rai.simulate(problem, rai.Vanilla(), replications=1, seed=1)
    shifted = made(lambda law, arm, random: (0.25, random))
    problem = rai.Problem(shifted([0.5, 0.3]), (1, 1), (1, 0), strict=False)
    with pytest.raises(ValueError, match=r"arm 0 the mean is 0.25, but means\[0\] is 0.5"):
        rai.simulate(problem, rai.Vanilla(), replications=1, seed=1)


def test_bad_fields() -> None:
    """Each names the field."""
    with pytest.raises(TypeError, match="has no function pull"):
        type("None_", (rai.OwnArms,), {}, known=False)([0.5])
    with pytest.raises(ValueError, match=r"bounds are 1\.0 and 0\.0"):
        made(_double, bounds=(1.0, 0.0))([0.5]).why_not_sub_gaussian()

    class Wide(Bell, known=False):
        skew: Any = 0.0

    with pytest.raises(ValueError, match="skew has 3 entries for 2 arms"):
        Wide([0.5, 0.4], skew=[1.0, 2.0, 3.0])
    assert Wide([0.5, 0.4], skew=[1.0, 2.0]).skew.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match=r"strict|sub-Gaussian|sd"):
        rai.best_arm(Bell([0.5, 0.4], sd=3.0))


def _not_compiled() -> float:
    return float({"a": "0"}["a"])


def test_numba_errors_are_told() -> None:
    """With the class's name."""
    cls = made(lambda law, arm, random: (_not_compiled(), random))
    with pytest.raises(ValueError, match="pull or pulls of Odd cannot be compiled"):
        cls([0.5, 0.3]).sample(0, 3)
    assert np.isfinite(Coin([0.5]).sample(0, 10)).all()


@pytest.mark.parametrize(
    ("pull", "given"),
    [(lambda law, arm, random: None, "nothing"), (lambda law, arm, random: 0.5, "a float")],
)
def test_what_pull_gives_back(pull: Any, given: str) -> None:
    """A reward without the state, or nothing at all."""
    with pytest.raises(
        ValueError, match=f"Odd.pull returned {given}; return a number and the state"
    ):
        made(pull)([0.5, 0.3]).sample(0, 3)


def test_parameters_are_looked_at_when_a_class_is_defined() -> None:
    """Of both functions; and the package's own names are taken."""
    with pytest.raises(TypeError, match=r"arms: Odd.pull takes \(law, arm\); write it as a static"):
        made(lambda law, arm: (0.5, 0))
    with pytest.raises(TypeError, match=r"Odd.pulls takes .* of \(law, arm, k, random\)"):
        made(_double, pulls=staticmethod(_double))
    with pytest.raises(ValueError, match=r"arms: BETA is .* own rai_sim\.arms\.beta\.Beta"):
        type("BETA", (rai.OwnArms,), {"pull": staticmethod(_double), "__module__": __name__})
    assert LAWS["beta"] is rai.Beta


class Interval(rai.OwnArms, known=False):
    """Uniform rewards, with the fields that come to mind first."""

    low: Any = 0.0
    high: Any = 1.0
    bounds = (0.0, 1.0)

    @staticmethod
    def pull(law: Any, arm: Any, random: Any) -> Any:
        """Return a reward and the state."""
        u, random = uniform(random)
        return law.low[arm] + (law.high[arm] - law.low[arm]) * u, random


def test_fields_may_be_called_low_and_high() -> None:
    """The package's own are called otherwise, and theirs are refused."""
    arms = Interval([0.5, 0.3], low=[0.4, 0.1], high=[0.6, 0.5])
    rewards = arms.sample(1, 1000)
    assert 0.1 <= rewards.min() < 0.12 < 0.48 < rewards.max() <= 0.5
    for name in ("used_proxy", "_hidden"):
        cls = type("Odd", (Coin,), {name: 0.5, "__annotations__": {name: float}}, known=False)
        with pytest.raises(TypeError, match=f"Odd: {name} is a name that the package uses, or"):
            cls([0.5, 0.3])


def test_a_law_cannot_be_written() -> None:
    """Its arrays are those of all blocks and threads."""

    def drifting(law: Any, arm: Any, random: Any) -> Any:
        law.means[arm] += 0.1
        return law.means[arm], random

    with pytest.raises(
        ValueError, match=r"cannot be compiled: it writes into an array .*, in \"law"
    ):
        made(drifting, bounds=(0.0, 1.0))([0.5, 0.3]).sample(0, 3)


def test_proxies_and_bounds_that_cannot_be() -> None:
    """No law varies by more than its proxy; the best one there is goes through."""
    for proxy, words in ((0.24, r"the variance is 0.2\d+, but its variance proxy is said to be"),):
        problem = rai.best_arm(made(_coin, variance_proxy=proxy)([0.5, 0.4]))
        with pytest.raises(ValueError, match=words):
            rai.simulate(problem, rai.Vanilla(), replications=1, seed=1)
    made(_coin, variance_proxy=0.25)([0.5, 0.4]).kernel_law()
    with pytest.raises(TypeError, match="variance_proxy must be a number; got 'some'"):
        made(_coin, variance_proxy="some")([0.5, 0.3]).why_not_sub_gaussian()
    with pytest.raises(ValueError, match=r"variance_proxy is -0\.1; give a number of 0 or more"):
        made(_coin, variance_proxy=-0.1)([0.5, 0.3]).why_not_sub_gaussian()
    with pytest.raises(TypeError, match="bounds is 5; give the least and the greatest reward"):
        made(_coin, bounds=5)([0.5, 0.3]).why_not_sub_gaussian()


@pytest.mark.parametrize("mean", [0.1, 1e8 / 3.0, -1e8 / 3.0])
def test_rewards_that_do_not_vary_are_a_law(mean: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """What rounding makes of their sums is no other mean, and no other deviation."""
    rewards, sum_ = np.full(4096, mean), sum([mean] * 64)

    def look_at(sums: float) -> None:
        drawn = np.full(1024, sums)
        monkeypatch.setattr(rai.OwnArms, "sample_sums", lambda *given: drawn)
        _look_at_sums(Coin([0.5]), 0, mean, float(rewards.std()))

    look_at(sum_)
    with pytest.raises(ValueError, match="mend pulls"):
        look_at(sum_ * (1.0 + 1e-6))


def _coin(law: Any, arm: Any, random: Any) -> Any:
    u, random = uniform(random)
    return (1.0 if u < law.means[arm] else 0.0), random


def test_arms_made_before_a_global_was_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their law is not what they say."""
    arms = made(_leveled, bounds=(0.0, 1.0))([0.5, 0.5])
    assert arms != _of_level(monkeypatch, 0.6)
    with pytest.raises(ValueError, match="is not what it was when Odd was made"):
        arms.sample(0, 3)
    assert _of_level(monkeypatch, 0.7).sample(0, 3).tolist() == [0.7] * 3


LEVEL = 0.5


def _leveled(law: Any, arm: Any, random: Any) -> Any:
    return LEVEL, random


def _of_level(monkeypatch: pytest.MonkeyPatch, level: float) -> Any:
    monkeypatch.setitem(globals(), "LEVEL", level)
    return made(_leveled, bounds=(0.0, 1.0))([0.5, 0.5])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"arm": 2}, "arm is 2; give an integer from 0 to 1"),
        ({"arm": -1}, "arm is -1"),
        ({"k": 0}, "k is 0; give an integer from 1 on"),
        ({"count": -1}, "count is -1; give an integer from 0 on"),
    ],
)
def test_samples_of_what_there_is(given: dict[str, int], words: str) -> None:
    """Compiled code does not check indices."""
    with pytest.raises(ValueError, match=words):
        Coin([0.5, 0.3]).sample_sums(**{"arm": 0, "k": 1, "count": 3, **given})


def test_sigma_of_an_own_law() -> None:
    """A field, judged by bounds or proxy; theory sees gaps over 2 sigma; stores have it."""
    arms = Noisy([3.0, 1.0], sd=1.5, sigma=1.5)
    assert arms.why_not_sub_gaussian() is None
    flaw = Noisy([3.0, 1.0], sd=1.5, sigma=1.0).why_not_sub_gaussian()
    assert flaw == "the variance proxy of Noisy is 2.25, more than sigma^2, 1"
    told = rai.best_arm(rai.Gaussian([3.0, 1.0], sd=1.5, sigma=1.5))
    ours = rai.bounds.at_delta(rai.best_arm(arms), 0.1)
    assert ours.pulls == rai.bounds.at_delta(told, 0.1).pulls
    assert ours.conditions.startswith("at this delta, as for Gaussian arms of sd 1.5,")
    # kernels see rewards over 2 sigma, a trace and its events have rewards
    assert (arms.law_units(), arms.rescaled.law_units()) == ((0.0, 3.0), (0.0, 1.0))
    assert '"sigma": 1.5' in arms_to_json(arms)
    assert "sigma" not in arms_to_json(Noisy([0.5, 0.25], sd=0.5))
    assert arms != Noisy([3.0, 1.0], sd=1.5) != Noisy([3.0, 1.0], sd=1.5, sigma=2.0)
    wide = made(_coin, bounds=(-2.0, 2.0), sigma=2.0, __annotations__={"sigma": float})
    assert wide([0.5, 0.3]).why_not_sub_gaussian() is None
    with pytest.raises(
        TypeError, match=r"Odd: sigma is 2\.0, but no field, and would not be stored"
    ):
        made(_coin, sigma=2.0)([0.5, 0.3])
    with pytest.raises(ValueError, match="sigma is -1; it must be a positive finite number"):
        Noisy([0.5, 0.25], sigma=-1)


@pytest.mark.slow
def test_runs_of_an_own_law_with_sigma() -> None:
    """Are the package's with the same draws; samples stay rewards."""
    ours, theirs = (
        rai.simulate(rai.best_arm(arms), rai.Vanilla(), delta=0.1, replications=50, seed=2)
        for arms in (
            Noisy([3.0, 1.0, 0.5], sd=1.5, sigma=1.6),
            rai.Gaussian([3.0, 1.0, 0.5], sd=1.5, sigma=1.6),
        )
    )
    assert ours.pulls.tolist() == theirs.pulls.tolist()
    seen = [rai.trace(one.problem, rai.Vanilla(), delta=0.1, seed=2) for one in (ours, theirs)]
    np.testing.assert_allclose(seen[0].means, seen[1].means, rtol=1e-9)
    means = [[one.mean for one in told.events if one.kind == "settled"] for told in seen]
    assert len(means[0]) == 3
    np.testing.assert_allclose(means[0], means[1], rtol=1e-9)
    bells = Noisy([3.0, 1.0], sd=1.5, sigma=1.6)
    assert abs(bells.sample(0, 20_000).mean() - 3.0) < 5 * 1.5 / math.sqrt(20_000)
    assert bells.sample_sums(0, 16, 20_000).std() == pytest.approx(6.0, rel=0.03)
