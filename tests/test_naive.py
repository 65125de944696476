"""The literal twin on runs that can be followed by hand.

Most arms here pay the same reward at every pull, a multiple of 1/32, so sums, means and their
differences are exact and the round of every event is the first R at which one inequality holds. In
Vanilla a difference g of two such arms exceeds w_R iff R > 2/g^2 ln(pi^2 R^2 N / (3 delta)); in
LUCB the radius of an arm pulled once a round is below x iff R > 1/(2 x^2) ln(pi^2 R^3 N / (3
delta)).
"""

import math
from collections.abc import Callable, Sequence
from random import Random

import pytest
from naive import Outcome, RanOut, bernoulli, butterscotch, lucb, replay, vanilla


def constant(*rewards: float) -> Callable[[int], float]:
    """Arms that pay the same reward at every pull."""
    return lambda arm: rewards[arm]


def test_a_single_arm_is_settled_after_the_first_round() -> None:
    """N = 1: there is nothing to beat.

    So round 1 settles the arm: one pull, or for Butterscotch ceil(128 ln(pi^2/0.03)) =
    ceil(741.89).
    """
    for algorithm, pulls in ((vanilla, 1), (lucb, 1), (butterscotch, 742)):
        outcome = algorithm(constant(0.5), 1, (1,), (1,), 0.01, order=(0,))
        assert outcome == Outcome(pulls, 1, (0,), {0: 1}, True, (pulls,))


@pytest.mark.parametrize("algorithm", [vanilla, lucb])
def test_one_cluster_settles_every_arm_after_one_pull(algorithm: Callable[..., Outcome]) -> None:
    """m = 1: no arm lies outside the cluster, so all are settled; the two that rank first are
    named."""
    outcome = algorithm(constant(0.25, 0.75, 0.5), 3, (3,), (2,), 0.1, order=(0, 1, 2))
    assert outcome == Outcome(3, 1, (1, 2), {0: 1, 1: 1, 2: 1}, True, (1, 1, 1))


@pytest.mark.parametrize("algorithm", [vanilla, butterscotch, lucb])
def test_ties_go_to_the_arm_that_is_earlier_in_the_order(algorithm: Callable[..., Outcome]) -> None:
    """All means are equal, so the ranking is `order` itself and its first two arms are named."""
    outcome = algorithm(constant(0.5, 0.5, 0.5), 3, (3,), (2,), 0.1, order=(2, 0, 1))
    assert outcome.representatives == (2, 0)


def test_vanilla_settles_two_arms_when_the_width_falls_below_their_difference() -> None:
    """g = 1, N = 2: R > 2 ln(pi^2 R^2 2/0.3) is 20 > 20.36 and 21 > 20.55, so both settle at R =
    21.

    The arm of cluster 2 joins no O_i, for r_2 = 0, and is settled all the same.
    """
    outcome = vanilla(replay([[0] * 21, [1] * 21]), 2, (1, 1), (1, 0), 0.1, order=(0, 1))
    assert outcome == Outcome(42, 21, (1,), {1: 21, 0: 21}, True, (21, 21))


def test_vanilla_follows_the_recording() -> None:
    """One late loss moves the end: with sums R - 1 against 0, R - 1 > sqrt(2 R ln(pi^2 R^2 2/0.3)).

    The right side is 20.77, 21.36 and 21.93 at R = 21, 22 and 23: 20 and 21 are too small, 22
    suffices.
    """
    outcome = vanilla(
        replay([[1] * 19 + [0] + [1] * 9, [0] * 29]), 2, (1, 1), (1, 1), 0.1, order=(0, 1)
    )
    assert outcome == Outcome(46, 23, (0, 1), {0: 23, 1: 23}, True, (23, 23))


def test_butterscotch_round_one_costs_what_the_paper_says() -> None:
    """N = 10, delta = 0.01: ten arms times ceil(128 ln(pi^2 10/0.03)) = ceil(1036.62) is 10370
    pulls.

    All differences across the border are 1 > w_1 = 1/8, so that round settles every arm.
    """
    outcome = butterscotch(constant(*[0] * 9, 1), 10, (1, 9), (1, 0), 0.01, order=range(10))
    assert outcome == Outcome(10370, 1, (9,), dict.fromkeys(range(10), 1), True, (1037,) * 10)


def test_a_difference_equal_to_the_width_does_not_settle() -> None:
    """w_1 = 1/8 is not exceeded by 1/8; w_2 = 1/16 is.

    t_2 = ceil(512 ln(pi^2 2^2 2/0.3)) = ceil(2853.31).
    """
    outcome = butterscotch(constant(1, 0.875), 2, (1, 1), (1, 1), 0.1, order=(0, 1))
    assert outcome == Outcome(2 * 2854, 2, (0, 1), {0: 2, 1: 2}, True, (2854, 2854))


def test_a_settled_arm_is_pulled_no_more_and_does_not_count() -> None:
    """Arm 0 beats the others by at least 3/4, settled at R = 44 (43 > 43.07 fails, 44 > 43.24
    holds).

    Arm 1 beats arm 2 by 1/4, settled at R = 551 (550 > 550.78 fails, 551 > 550.90 holds). N stays 3
    in the width although two arms are left. Clusters 2 and 3 are never full before, so nothing
    merges.
    """
    outcome = vanilla(constant(1, 0.25, 0), 3, (1, 1, 1), (1, 1, 1), 0.1, order=(0, 1, 2))
    assert outcome == Outcome(
        44 + 2 * 551, 551, (0, 1, 2), {0: 44, 1: 551, 2: 551}, True, (44, 551, 551)
    )


def test_an_arm_that_finds_its_output_full_leaves_all_the_same() -> None:
    """Both good arms beat the third by 1, settled at R = 22 (21 > 21.36 fails, 22 > 21.55 holds).

    There is room for one of them: the first in the ranking, which is a tie that `order` breaks.
    """
    outcome = vanilla(constant(1, 1, 0), 3, (2, 1), (1, 0), 0.1, order=(1, 2, 0))
    assert outcome == Outcome(66, 22, (1,), {0: 22, 1: 22, 2: 22}, True, (22, 22, 22))


@pytest.mark.parametrize(
    ("merging", "settled", "counts"),
    [(True, {0: 44, 1: 113, 2: 113}, (44, 113, 113)), (False, {2: 113}, (113, 113, 113))],
)
def test_merging_frees_arms_of_finished_clusters(
    merging: bool, settled: dict[int, int], counts: tuple[int, ...]
) -> None:
    """Only cluster 3 asks for an arm: it needs 1/2 over w_R (112 > 112.23 fails, 113 > 112.37
    holds).

    Clusters 1 and 2 ask for nothing, so round 1 merges them; then arm 0 needs to beat arm 2 alone,
    by 3/4 (R = 44), and arm 1 needs no more than arm 2 does. Unmerged, arms 0 and 1 must also be
    1/4 apart, which R = 551 would show, too late.
    """
    outcome = vanilla(
        constant(1, 0.75, 0.25), 3, (1, 1, 1), (0, 0, 1), 0.1, order=(0, 1, 2), merging=merging
    )
    assert outcome == Outcome(
        sum(counts), 113, (2,), settled, True, counts, ((1, 1),) if merging else ()
    )


@pytest.mark.parametrize("merging", [True, False])
def test_round_one_is_judged_unmerged(merging: bool) -> None:
    """w_1 = 1/8: arm 2 is beaten by more and ends the run; arms 0 and 1 are only 1/16 apart.

    Had clusters 1 and 2 been merged before the check, both would have been settled as well.
    t_1 = ceil(128 ln(pi^2 3/0.3)) = ceil(587.78).
    """
    arms = constant(1, 0.9375, 0)
    outcome = butterscotch(arms, 3, (1, 1, 1), (0, 0, 1), 0.1, order=(0, 1, 2), merging=merging)
    assert outcome == Outcome(3 * 588, 1, (2,), {2: 1}, True, (588,) * 3)


@pytest.mark.parametrize(
    ("merging", "settled"), [(True, {0: 2, 1: 2, 2: 2, 3: 2}), (False, {3: 2})]
)
def test_merges_chain_within_a_round(merging: bool, settled: dict[int, int]) -> None:
    """Rewards 32, 31, 30 | 27 thirty-seconds, widths w_1 = 4 and w_2 = 2 thirty-seconds.

    Round 1 settles nothing: arm 3 is beaten by arm 2 by 3 only, and arms 0 to 2 are 1 apart. Then
    cluster 1 merges into 2 and that into 3, so in round 2 each of arms 0 to 2 need only beat arm 3
    by more than 2, and does. Without merging they are still too close to one another, and arm 3
    alone is settled. t_2 = ceil(512 ln(pi^2 2^2 4/0.3)) = ceil(3208.20).
    """
    arms = constant(32 / 32, 31 / 32, 30 / 32, 27 / 32)
    outcome = butterscotch(
        arms, 4, (1, 1, 1, 1), (0, 0, 0, 1), 0.1, order=range(4), merging=merging
    )
    assert outcome == Outcome(
        4 * 3209, 2, (3,), settled, True, (3209,) * 4, ((1, 1), (1, 2)) if merging else ()
    )


def test_lucb_pulls_both_of_two_arms_until_their_bounds_part() -> None:
    """Both arms stand in each other's way, so n = R; apart when the radius is below 1/2.

    R > 2 ln(pi^2 R^3 2/0.3) is 28 > 28.37 and 29 > 28.58, so R = 29. The last round pulls nothing:
    the recording's 29 rewards an arm suffice.
    """
    outcome = lucb(replay([[0] * 29, [1] * 29]), 2, (1, 1), (1, 1), 0.1, order=(0, 1))
    assert outcome == Outcome(58, 29, (1, 0), {0: 29, 1: 29}, True, (29, 29))


def test_lucb_does_not_pull_an_arm_settled_this_round() -> None:
    """Arm 0 is settled when the radius is below 3/8: 60 > 60.0003 fails, 61 > 60.18 holds.

    In that round it attains L_2, for which cluster 2 would have it pulled, and yet it keeps its
    count. Arms 1 and 2 go on to a radius below 1/8: 787 > 787.10 fails, 788 > 787.22 holds.
    """
    outcome = lucb(constant(1, 0.25, 0), 3, (1, 1, 1), (1, 1, 1), 0.1, order=(0, 1, 2))
    settled = {0: 61, 1: 788, 2: 788}
    assert outcome == Outcome(61 + 2 * 788, 788, (0, 1, 2), settled, True, (61, 788, 788))


def test_lucb_pulls_the_weakest_arm_of_its_own_cluster() -> None:
    """c = (2, 1), r = (1, 0), rewards 1, 3/4 | 0: arm 0 has the smallest gap and arm 2 attains U_1.

    Arm 0 is named when the radius is below 1/2: 29 > 29.39 fails, 30 > 29.59 holds. Arm 1 is pulled
    as the cluster's own min-LCB arm, which the printed rule does not do; its first pull is then its
    only one.
    """
    arms = constant(1, 0.75, 0)
    ours = lucb(arms, 3, (2, 1), (1, 0), 0.1, order=(0, 1, 2))
    printed = lucb(arms, 3, (2, 1), (1, 0), 0.1, order=(0, 1, 2), as_printed=True)
    assert ours == Outcome(90, 30, (0,), {0: 30}, True, (30, 30, 30))
    assert printed == Outcome(61, 30, (0,), {0: 30}, True, (30, 1, 30))


def test_lucb_as_printed_looks_at_neighbouring_clusters_only() -> None:
    """c = (1, 1, 1), r = (1, 0, 0), rewards 1, 1/2, 0: the printed rule never looks at cluster 3.

    So arms 0 and 1 are pulled every round until their radius is below 1/4: 158 > 158.24 fails, 159
    > 158.39 holds. Our rule must also push the UCB of arm 2, which is its radius, below LCB_0 >
    1/2.
    """
    arms = constant(1, 0.5, 0)
    printed = lucb(arms, 3, (1, 1, 1), (1, 0, 0), 0.1, order=(0, 1, 2), as_printed=True)
    assert printed == Outcome(2 * 159 + 1, 159, (0,), {0: 159}, True, (159, 159, 1))
    ours = lucb(arms, 3, (1, 1, 1), (1, 0, 0), 0.1, order=(0, 1, 2))
    spread = math.log(math.pi**2 * ours.rounds**3 * 3 / 0.3) / 2
    assert ours.representatives == (0,)
    assert math.sqrt(spread / ours.counts[2]) < 1 - math.sqrt(spread / ours.counts[0])
    assert 1 < ours.counts[2] < ours.counts[1]


@pytest.mark.parametrize(
    ("cap", "pulls", "rounds"), [(1, 0, 0), (2, 2, 1), (40, 40, 20), (41, 40, 20), (42, 42, 21)]
)
def test_vanilla_starts_no_round_that_passes_the_cap(cap: int, pulls: int, rounds: int) -> None:
    """A round of two arms costs 2, and R = 21 finishes (see above): only a cap of 42 lets it."""
    outcome = vanilla(constant(1, 0), 2, (1, 1), (1, 0), 0.1, order=(0, 1), max_pulls=cap)
    assert (outcome.pulls, outcome.rounds, outcome.counts) == (pulls, rounds, (pulls // 2,) * 2)
    assert outcome.finished == (cap == 42)
    assert outcome.representatives == ((0,) if cap == 42 else ())


def test_butterscotch_starts_no_round_that_passes_the_cap() -> None:
    """Round 1 costs 2 ceil(128 ln(pi^2 2/0.3)) = 2 ceil(535.88) = 1072 pulls."""
    for cap, pulls in ((1071, 0), (1072, 1072)):
        outcome = butterscotch(constant(1, 0), 2, (1, 1), (1, 0), 0.1, order=(0, 1), max_pulls=cap)
        assert (outcome.pulls, outcome.finished) == (pulls, pulls > 0)


@pytest.mark.parametrize(
    ("cap", "pulls", "rounds"),
    [(1, 0, 0), (2, 2, 1), (3, 2, 1), (56, 56, 28), (57, 56, 28), (58, 58, 29)],
)
def test_lucb_judges_the_round_whose_pulls_it_cannot_afford(
    cap: int, pulls: int, rounds: int
) -> None:
    """n = R and R = 29 finishes (see above): with fewer than 58 pulls the last round judged is
    short of it.

    With a cap of 57, R = 28 is judged with 56 pulls and would take two more.
    """
    outcome = lucb(constant(1, 0), 2, (1, 1), (1, 0), 0.1, order=(0, 1), max_pulls=cap)
    assert (outcome.pulls, outcome.rounds, outcome.counts) == (pulls, rounds, (pulls // 2,) * 2)
    assert outcome.finished == (cap == 58)
    assert outcome.representatives == ((0,) if cap == 58 else ())


def test_a_recording_that_runs_out_names_the_arm_and_the_pull() -> None:
    """Arm 1 holds 20 rewards, R = 21 asks for one more."""
    with pytest.raises(RanOut) as caught:
        vanilla(replay([[0] * 21, [1] * 20]), 2, (1, 1), (1, 0), 0.1, order=(0, 1))
    assert (caught.value.arm, caught.value.pull_number) == (1, 21)


def test_bernoulli_rewards_are_zero_or_one_with_the_given_mean() -> None:
    """Means 0 and 1 are certain; 4,000 draws at 1/4 leave 1000 +- 150 once in 10^7 (sd 27.4)."""
    pull = bernoulli((0, 1, 0.25), Random(1))
    assert [pull(0) for _ in range(50)] == [0] * 50
    assert [pull(1) for _ in range(50)] == [1] * 50
    assert abs(sum(pull(2) for _ in range(4000)) - 1000) < 150


@pytest.mark.parametrize(
    ("clusters", "required", "order"),
    [
        ((1, 1), (1, 0), (0, 1, 2)),
        ((2, 1), (0, 2), (0, 1, 2)),
        ((2, 1), (0, 0), (0, 1, 2)),
        ((3,), (1,), (0, 1, 1)),
    ],
)
def test_what_is_no_instance_is_rejected(
    clusters: Sequence[int], required: Sequence[int], order: Sequence[int]
) -> None:
    """In turn: sizes not summing to N, r_2 > c_2, nothing required, an order that lacks an arm."""
    with pytest.raises(ValueError, match=r"arms|required"):
        vanilla(constant(0, 0, 0), 3, clusters, required, 0.1, order=order)
