"""Stopping when the error rate is known: looks, verdicts, and how often they are wrong."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from studies import pairs

from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.certification.verdicts import Seen, how_sure
from rai_sim.engine.blocks import Block, Setting
from rai_sim.simulation.statistics import Sums
from rai_sim.study import Study, open_study
from rai_sim.study.error_rate import expected, follow_errors, later, most_of
from rai_sim.study.stopping import FIRST_LOOK, Verdict, looks_within, next_look
from rai_sim.study.tables import legend_of, shown_of, warnings_of


def prefixes(wrong: Any, finished: Any = None) -> Callable[[int], Sums | None]:
    """Return a function that adds up the first n of replications that are wrong or not."""
    wrong = np.asarray(wrong, bool)
    yes = np.ones(len(wrong), bool) if finished is None else np.asarray(finished, bool)
    ones = np.ones(len(wrong), np.int64)

    def prefix(n: int) -> Sums | None:
        return (
            Sums.of(ones[:n], ones[:n], ~wrong[:n] & yes[:n], yes[:n]) if n <= len(wrong) else None
        )

    return prefix


@pytest.mark.parametrize(("rate", "side"), [(0.0, "below delta"), (0.3, "above delta")])
def test_a_task_stops_at_the_first_look_it_takes_at_which_the_side_is_known(
    rate: float, side: str
) -> None:
    """Of the looks before none was enough; it stops at one of `rai_sim.study.stopping`."""
    wrong = np.random.default_rng(1).random(20_000) < rate
    for delta in (0.1, 0.01):
        verdict = follow_errors(delta, 0.001, 20_000, prefixes(wrong))
        n = verdict.replications
        assert (verdict.final, verdict.reached) == (True, True)
        assert next_look(n) == n
        assert Seen(n, int(wrong[:n].sum())).finding(delta, 0.001) == side
        before = looks_within(0, n)
        if before:  # looks are a fifth apart, and at most half of them is left out
            half = max(look for look in before if look <= n / 1.6)
            assert Seen(half, int(wrong[:half].sum())).finding(delta, 0.001) == "open"


def test_what_follows_depends_on_the_first_replications_alone() -> None:
    """With fewer of them the verdict asks for more, at most twice as many; with more it is the
    same."""
    wrong = np.random.default_rng(2).random(60_000) < 0.013
    final = follow_errors(0.01, 0.001, 60_000, prefixes(wrong))
    assert final.final
    assert final.reached
    assert final == follow_errors(0.01, 0.001, 60_000, prefixes(wrong[: final.replications]))
    n, steps = 0, 0
    while not (verdict := follow_errors(0.01, 0.001, 60_000, prefixes(wrong[:n]))).final:
        assert n < verdict.replications <= max(FIRST_LOOK, next_look(2 * n))
        n, steps = verdict.replications, steps + 1
    assert verdict == final
    assert steps > 3


def test_a_rate_that_cannot_be_told_from_delta_stops_at_the_limit() -> None:
    """With one error in ten at 0.1; so does one of which all replications were capped."""
    wrong = np.arange(3000) % 10 == 0
    limited = follow_errors(0.1, 0.05, 3000, prefixes(wrong))
    assert (limited.replications, limited.final, limited.reached) == (3000, True, False)
    assert follow_errors(0.1, 0.05, 100, prefixes(wrong)).replications == 100
    capped = follow_errors(0.1, 0.05, 1000, prefixes(wrong, np.zeros(3000)))
    assert (capped.replications, capped.reached) == (1000, False)
    assert most_of(0.1) == next_look(2000)
    assert most_of(1e-4) >= 2_000_000
    assert most_of(1e-100) == next_look(10**8)


def test_what_is_expected_is_the_look_at_which_the_same_rates_decide() -> None:
    """Never beyond the limit, nor much beyond what one looks ahead."""
    none = Sums(256, 256, 0, 0, 0, 0, 0, 0)
    n = expected(none, 0.001, 0.05, 10**6, 10**6)
    assert Seen(n, 0).finding(0.001, 0.05) == "below delta"
    before = looks_within(256, n)[-1]
    assert Seen(before, 0).finding(0.001, 0.05) == "open"
    assert expected(none, 0.001, 0.05, 3000, 10**6) == 3000
    assert expected(none, 0.001, 0.05, 10**6, 512) == 512
    even = Sums(1000, 1000, 100, 0, 0, 0, 0, 0)
    assert expected(even, 0.1, 0.05, 10**5, 10**7) == 10**5


def test_of_two_wishes_the_later_one_counts() -> None:
    """Final when both are; the precision's interval where it is of all replications."""
    precise = Verdict(512, True, True, (1.0, 2.0), 0.3)
    assert later(precise, Verdict(305, True, False)) == precise
    assert later(precise, Verdict(305, False, False)).final is False
    more = later(precise, Verdict(609, True, True))
    assert (more.replications, more.final, more.reached) == (609, True, True)
    assert np.isnan(more.interval).all()
    assert later(Verdict(256, False, False), Verdict(512, True, True)).final is False


@pytest.mark.slow
def test_how_often_a_verdict_is_wrong() -> None:
    """2,000 tasks whose rate is just above or at delta: a wrong side is told in at most 5 % (more
    than 6.5 % would be seen by chance with probability 0.002). Negative control: to stop when a
    95 % interval of the moment lies on one side, at the same looks, is wrong far more often."""
    rng = np.random.default_rng(3)
    for rate, side in ((0.1 + 1e-12, "below delta"), (0.1, "above delta")):
        told = naive = 0
        for _ in range(2000):
            wrong = rng.random(4871) < rate
            verdict = follow_errors(0.1, 0.05, 4871, prefixes(wrong))
            n = verdict.replications
            told += Seen(n, int(wrong[:n].sum())).finding(0.1, 0.05) == side
            naive += _naive_side(wrong) == side
        assert told / 2000 <= 0.065
        assert naive / 2000 > 0.08


def _naive_side(wrong: Any) -> str:
    for n in looks_within(0, 4872):
        rate = wrong[:n].mean()
        half = 1.96 * np.sqrt(rate * (1.0 - rate) / n)
        if rate - half > 0.1:
            return "above delta"
        if rate + half < 0.1:
            return "below delta"
    return "open"


# Whole studies
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Erring(Algorithm):
    """Errs in a share of replications, by their index, and takes 10 pulls or 11."""

    share: float = 0.0

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Name a wrong arm now and then."""
        index = slice(first, first + len(block.pulls))
        block.pulls[:] = (10 + np.arange(3000) % 2)[index]
        block.rounds[:] = 1
        block.finished[:] = True
        block.correct[:] = np.random.default_rng(7).random(3000)[index] >= self.share
        block.representatives[:] = np.where(block.correct, 0, 1)[:, np.newaxis]


del ALGORITHMS["erring"]  # no choice of the command line in other tests

SHARES = (0.0, 0.3, 0.1)


def erring(**options: Any) -> Study:
    """Return a study of three tasks: far below delta, far above, and as near as can be."""
    wanted = {"until": "error rate", "alpha": 0.03, "most_replications": 1100, **options}
    return Study.grid(pairs(0.4), [Erring(share) for share in SHARES], [0.1], **wanted)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stores open what they hold of it."""
    monkeypatch.setitem(ALGORITHMS, "erring", Erring)


@pytest.mark.usefixtures("known")
def test_a_study_stops_where_each_task_is_decided(tmp_path: Path) -> None:
    """At a hundredth each of three tasks; the one that cannot be told is said to be open. On two
    workers, in two parts, of sums alone, and after another study, all is the same."""
    results = erring().run(tmp_path / "one")
    frame = results.summary()
    assert frame["error_verdict"].to_list() == ["below delta", "above delta", "open"]
    assert frame["complete"].all()
    assert frame["replications"][2] == 1100
    for row in frame.iter_rows(named=True):
        seen = Seen(row["replications"], row["errors"])
        assert seen.finding(0.1, 0.01) == row["error_verdict"]
    assert results.unfinished() == []
    (said,) = warnings_of(results, frame)[1:]
    assert said.startswith("of 1 task it is not known on which side of delta the error rate lies")
    assert legend_of(results).endswith(how_sure(0.03, 3))
    assert shown_of(results)[-1].key == "error_verdict"

    again = erring().run(tmp_path / "two", n_jobs=2)
    erring(until=None, most_replications=None, replications=300).run(tmp_path / "three")
    longer = erring().run(tmp_path / "three")
    sums = erring(keep="aggregates").run(tmp_path / "four")
    erring().run(tmp_path / "five", part="2/2")
    shares = erring().run(tmp_path / "five", part="1/2")
    for other in (again, longer, sums, shares):
        assert other.summary().drop("pulls_q05").equals(frame.drop("pulls_q05"))
    assert longer.runs()[-1]["study"]["until"] == "error rate"


@pytest.mark.usefixtures("known")
def test_a_verdict_is_of_all_tasks_of_the_study(tmp_path: Path) -> None:
    """Selected or not; those of a folder without a study are judged at 5 % for all that it
    holds."""
    results = erring().run(tmp_path)
    some = results.select(algorithm="Erring(share=0.3)")
    assert (some.judged, some.alpha) == (3, 0.03)
    assert some.summary()["error_verdict"].to_list() == ["above delta"]
    everything = open_study(tmp_path)
    assert (everything.judged, everything.alpha) == (3, 0.05)


@pytest.mark.usefixtures("known")
def test_with_a_precision_both_are_waited_for(tmp_path: Path) -> None:
    """The precision is reached at the first look, a hundredth of an error rate is not told there;
    and the other way round."""
    one = erring(precision=0.3).run(tmp_path / "one").summary()
    alone = erring().run(tmp_path / "two").summary()
    assert one["replications"].to_list() == alone["replications"].to_list()
    assert one["precision_reached"].all()
    both = erring(precision=0.003).run(tmp_path / "three").summary()
    assert both["replications"][1] > alone["replications"][1]
    assert alone["precision_reached"].to_list() == [None] * 3
