"""Verdicts on many error rates at once: the correction, and how often one of them is wrong."""

import numpy as np
import pytest

from rai_sim.certification.evidence import Evidence
from rai_sim.certification.verdicts import (
    ALPHA,
    Seen,
    check_alpha,
    counts_of,
    how_sure,
    level_of_each,
    most_over,
    verdict_on,
)
from rai_sim.simulation.intervals import clopper_pearson
from rai_sim.simulation.statistics import NOTHING, Sums


def sums(replications: int, errors: int, capped: int = 0) -> Sums:
    """Return sums of which only these numbers matter."""
    return Sums(replications, replications - capped, errors, 0, 0, 0, 0, 0)


def test_a_verdict_is_the_side_on_which_the_confidence_sequence_lies() -> None:
    """At the level of one task; it is open where the sequence holds delta."""
    for errors in (0, 5, 20, 40, 60):
        for level in (0.05, 0.05 / 45):
            low, high = Evidence(errors, 200, 0.1).interval(level)
            side = "above delta" if low > 0.1 else "below delta" if high < 0.1 else "open"
            assert verdict_on(sums(200, errors), 0.1, level) == side
    assert verdict_on(NOTHING, 0.1, 0.05) == "open"


def test_more_tasks_need_more_evidence() -> None:
    """What is known of one task alone may be open among a hundred; a share of alpha is each's."""
    assert level_of_each(0.05, 1) == 0.05
    assert level_of_each(0.05, 100) == 0.05 / 100
    seen = sums(60, 18)
    assert verdict_on(seen, 0.1, level_of_each(ALPHA, 1)) == "above delta"
    assert verdict_on(seen, 0.1, level_of_each(ALPHA, 100)) == "open"
    assert clopper_pearson(18, 60)[0] > 0.1  # what a single interval would say of any of them


def test_what_the_cap_ended_may_have_erred() -> None:
    """It is no error where a rate is to lie above, one where it is to lie below."""
    assert counts_of(sums(200, 3, capped=7)) == Seen(200, 3, 7)
    assert verdict_on(sums(400, 0), 0.1, 0.05) == "below delta"
    assert verdict_on(sums(400, 0, capped=100), 0.1, 0.05) == "open"
    assert verdict_on(sums(400, 80, capped=100), 0.1, 0.05) == "above delta"


def test_words_and_limits() -> None:
    """Alpha is a probability; a verdict is waited for 200 / delta replications, or 10^8."""
    assert how_sure(0.01, 1).startswith("verdicts on 1 task, all right with probability 99 %")
    assert most_over(0.03) == 6667
    assert most_over(2.5e-6) == 80_000_000
    assert most_over(1e-6) == most_over(1e-200) == 10**8
    assert check_alpha(0.2) == 0.2
    for wrong in (0.0, 1.0, float("nan")):
        with pytest.raises(ValueError, match=r"alpha is .*; it must be a probability strictly"):
            check_alpha(wrong)
    with pytest.raises(TypeError, match="alpha"):
        check_alpha("a tenth")


@pytest.mark.slow
def test_how_often_any_of_many_verdicts_is_wrong() -> None:
    """Studies of 40 tasks whose rate is just delta, looked at after every fifth of 1,000
    replications: in at most 5 % of 600 some verdict is ever "above" (seen by chance in more than
    7.5 % with probability 0.004). Negative control: 95 % intervals of single tasks, looked at once,
    are wrong in most."""
    rng, delta, tasks, studies = np.random.default_rng(0), 0.1, 40, 600
    looks = np.arange(200, 1001, 200)
    level = level_of_each(0.05, tasks)
    least = [
        next(s for s in range(n) if Seen(n, s).finding(delta, level) == "above delta")
        for n in looks.tolist()
    ]
    naive = next(s for s in range(1000) if clopper_pearson(s, 1000)[0] > delta)
    steps = rng.binomial(200, delta, (studies, tasks, len(looks)))
    errors = steps.cumsum(axis=2)
    assert (errors >= least).any(axis=(1, 2)).mean() <= 0.075
    assert (errors[:, :, -1] >= naive).any(axis=1).mean() > 0.5
