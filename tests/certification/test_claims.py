"""Claims: what counts against each."""

import numpy as np
import pytest

import rai_sim as rai
from rai_sim.certification.claims import claim_called
from rai_sim.engine.faults import MOST_PULLS


def test_wrong_outputs_count_and_capped_ones_may() -> None:
    """The printed LUCB errs, and may not end."""
    problem = rai.table_problem(2)
    claim = claim_called("error", rai.LUCB(as_printed=True), 60_000)
    assert claim.cap(problem, rai.LUCB(), 0.1) == 60_000
    result = rai.simulate(
        problem, rai.LUCB(as_printed=True), delta=0.1, replications=60, seed=0, max_pulls=60_000
    )
    wrong, capped = claim.counts(result)
    assert wrong == np.count_nonzero(result.finished & ~result.correct) > 0
    assert capped == np.count_nonzero(~result.finished) > 0


def test_the_cap_is_four_times_what_theorems_allow() -> None:
    """On each instance; where that is beyond what may be counted, as much as may be."""
    claim = claim_called("error", rai.Vanilla(), None)
    problem, easy = rai.table_problem(2), rai.Problem(rai.Bernoulli([0.9, 0.1]), (2,), (1,))
    assert claim.cap(problem, rai.Vanilla(), 0.1) == int(4 * rai.bounds.vanilla(problem, 0.1))
    assert claim.cap(easy, rai.Vanilla(), 0.1) == int(4 * rai.bounds.butterscotch(easy, 0.1))
    assert rai.certify(rai.Butterscotch(), 0.1, problems={"easy": easy}, seed=0).rows[0].capped == 0
    endless = rai.best_arm(rai.Bernoulli([0.5, 0.5 - 1e-14]))
    assert claim.cap(endless, rai.Vanilla(), 0.1) == MOST_PULLS


@pytest.mark.parametrize("algorithm", [rai.Vanilla(), rai.Butterscotch()])
def test_who_passes_the_bound_does_not_finish(algorithm: rai.Vanilla) -> None:
    """Capped at it, exactly those replications are cut that without a cap take more: here at a
    bound that half of them pass."""
    problem = rai.Problem(rai.Bernoulli([0.9, 0.6, 0.4]), (1, 2), (1, 0))
    claim = claim_called("pulls", algorithm, None)
    free = rai.simulate(problem, algorithm, delta=0.1, replications=200, seed=0)
    bound = int(np.median(free.pulls))
    cut = rai.simulate(problem, algorithm, delta=0.1, replications=200, seed=0, max_pulls=bound)
    assert claim.counts(cut) == (int(np.count_nonzero(free.pulls > bound)), 0)
    theirs = {"vanilla": rai.bounds.vanilla, "butterscotch": rai.bounds.butterscotch}
    exact = theirs[type(algorithm).__name__.lower()](problem, 0.1)
    assert claim.cap(problem, algorithm, 0.1) == int(exact) + 3


def test_claims_that_cannot_be() -> None:
    """Unknown ones, a bound where there is none, a cap where the bound is one."""
    with pytest.raises(ValueError, match="claim is 'rounds'; choose 'error' or 'pulls'"):
        claim_called("rounds", rai.Vanilla(), None)
    with pytest.raises(TypeError, match="claim is 3; choose"):
        claim_called(3, rai.Vanilla(), None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no theorem bounds the pulls of LUCB"):
        claim_called("pulls", rai.LUCB(), None)
    with pytest.raises(ValueError, match="max_pulls is 10 but the claim is about pulls"):
        claim_called("pulls", rai.Vanilla(), 10)
    near = rai.best_arm(rai.Bernoulli([0.5 + 1e-9, 0.5]))  # to stop at 2^62 pulls is no violation
    with pytest.raises(ValueError, match=r"the bound is \d\.\d+e\+\d+ pulls, more than"):
        rai.certify(rai.Vanilla(), 0.1, problems={"near": near}, claim="pulls")
    with pytest.raises(ValueError, match="max_pulls is 0"):
        claim_called("error", rai.Vanilla(), 0)
