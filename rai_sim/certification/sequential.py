"""certify(): run an algorithm on hard instances until it is clear whether what is claimed of it
holds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rai_sim.algorithms.base import Algorithm
from rai_sim.arms.recorded import Recorded
from rai_sim.certification.claims import Claim, claim_called
from rai_sim.certification.family import hard_problems
from rai_sim.certification.outcome import ABOVE, OPEN, Certification, Seen, Tried
from rai_sim.certification.verdicts import check_alpha, level_of_each, most_over
from rai_sim.problem import Problem
from rai_sim.simulation.progress import Bar
from rai_sim.simulation.result import Experiment
from rai_sim.simulation.simulate import checked_experiment, simulate
from rai_sim.support.checks import check_count, check_progress, check_switch, check_workers
from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError, OrNone
from rai_sim.support.wording import short

#: Replications after which an instance is looked at first, and how much later it is each time.
_FIRST_LOOK, _GROWTH = 32, 1.25
#: Seen of an instance that was not run yet.
_NOTHING = Seen()


class CertificationInterrupted(KeyboardInterrupt):
    """Ctrl-C during `certify`; `.result` is what had been found by then.

    It is a `Certification` whose statements hold as they stand: the test may be stopped at any
    time.

    Examples
    --------
    >>> import rai_sim as rai
    >>> found = rai.certify(rai.Vanilla(), 0.1, problems={"table": rai.table_problem()}, seed=0)
    >>> try:
    ...     raise rai.CertificationInterrupted(found)  # as Ctrl-C does
    ... except rai.CertificationInterrupted as stopped:
    ...     stopped.result.verdict
    'no violation above delta found'
    """

    def __init__(self, result: Certification) -> None:
        """Keep what was found."""
        super().__init__("interrupted; what was found is in this exception's .result")
        self.result = result


def certify(
    algorithm: Algorithm,
    delta: float = 0.01,
    *,
    problems: Mapping[str, Problem] | None = None,
    claim: str = "error",
    alpha: float = 0.01,
    replications: int | None = None,
    max_pulls: int | None = None,
    keep_going: bool = False,
    seed: int | None = 0,
    n_jobs: int | None = 1,
    progress: bool | None = False,
    skip_error: float = 1e-12,
) -> Certification:
    """Test whether an algorithm errs with probability at most delta on hard instances.

    Each instance is run until the interval of its error rate lies on one side of delta, or it has
    had all its replications. The intervals are those of a confidence sequence
    (`rai_sim.certification.evidence`): with probability 1 - alpha none of their lower ends is ever
    above the truth on any instance, with probability 1 - alpha none of their upper ends below it,
    however often one looks and whenever one stops (an instance has a share of alpha, one over their
    number). So the test has two error rates, each at most alpha: to say "not delta-PC" though no
    error rate is above delta, and to pass though one is.

    An algorithm that passes is not proven delta-PC: other instances may be harder for it.

    Parameters
    ----------
    algorithm : Algorithm
        What is tested, with its options.
    delta : float, default 0.01
        Error probability that it is run with and held to, in (0, 1).
    problems : mapping of str to Problem, optional
        Instances by name; `hard_problems(delta)` when None. Those of one's own beside them:
        ``{**rai.hard_problems(delta), "mine": problem}``.
    claim : {"error", "pulls"}, default "error"
        What is tested: that the output is wrong with probability at most delta, or that the pulls
        exceed the algorithm's own bound (Theorem 2, Theorem 3) with probability at most delta.
    alpha : float, default 0.01
        What either error rate of the test is at most, in (0, 1).
    replications : int, optional
        The most that an instance may have; 200 / delta when None, so that a rate of 1.5 delta on
        one of the ready-made instances is found with probability 0.96, or 10^8 if that is less. An
        algorithm without errors needs some 10 / delta.
    max_pulls : int, optional
        Pulls at which a replication is given up; four times what Theorems 2 and 3 allow on the
        instance when None. One that is given up may still have erred: it counts as right where a
        violation is to be shown, as wrong where it is to be excluded.
    keep_going : bool, default False
        Go on after a violation, to learn on which instances there are more.
    seed, n_jobs, progress, skip_error
        As in `simulate`. What is found is a function of the seed, not of the workers; replications
        of all instances have the streams of (seed, index).

    Returns
    -------
    Certification
        Print it for verdict and table.

    Raises
    ------
    TypeError, ValueError
        If an argument is of a wrong type or value, before anything is run: among others if
        `problems` holds a recording, or arms that are not 1/2-sub-Gaussian (sigma-sub-Gaussian, of
        arms with `sigma`), of which delta-PC promises nothing.
    CertificationInterrupted
        On Ctrl-C; a KeyboardInterrupt whose `.result` holds what was found.

    Examples
    --------
    >>> import rai_sim as rai
    >>> found = rai.certify(rai.LUCB(as_printed=True), 0.1, seed=0)
    >>> found.verdict, found.violations[0].instance
    ('not delta-PC', 'clusters of one: second of five')
    """
    named = hard_problems(delta) if problems is None else _checked_problems(problems)
    check_switch("keep_going", keep_going)
    one = checked_experiment(next(iter(named.values())), algorithm, delta, seed, skip_error, None)
    for problem in named.values():
        algorithm.check_problem(problem, one.delta)
    held = claim_called(claim, algorithm, max_pulls)
    instances = [
        _Instance(name, problem, held.cap(problem, algorithm, one.delta))
        for name, problem in named.items()
    ]
    test = _Test(
        experiment=one,
        claim=held,
        alpha=check_alpha(alpha),
        most=_check_most(replications, one.delta),
        instances=instances,
        keep_going=keep_going,
        n_jobs=check_workers(n_jobs),
    )
    check_progress(progress)
    layout = "{n_fmt}/{total_fmt} replications{postfix}"
    with Bar(0, progress, algorithm.label, layout=layout) as bar:
        try:
            test.run(bar)
        except KeyboardInterrupt:
            raise CertificationInterrupted(test.result(interrupted=True)) from None
    return test.result()


@dataclass
class _Instance:
    """An instance and what was seen on it."""

    name: str
    problem: Problem
    cap: int
    seen: Seen = _NOTHING


@dataclass
class _Test:
    """A certification under way."""

    experiment: Experiment
    claim: Claim
    alpha: float
    most: int
    instances: list[_Instance]
    keep_going: bool
    n_jobs: int | None
    decided: set[str] = field(default_factory=set)

    @property
    def _level(self) -> float:
        """What is said of one instance may be wrong with this probability."""
        return level_of_each(self.alpha, len(self.instances))

    def run(self, bar: Bar) -> None:
        """Run every instance until it is clear or a violation ends the test, and tell how far it
        is."""
        for one, look in self._next():
            if bar.due:
                self._tell(bar, look)
            self._run_to(one, look)
        self._tell(bar, 0)

    def _next(self) -> Iterator[tuple[_Instance, int]]:
        """Yield an open instance and up to how many replications it is to be run, look after look,
        until none is open or a violation is found."""
        for look in _looks(self.most):
            for one in self._open():
                yield one, look
                finding = one.seen.finding(self.experiment.delta, self._level)
                if finding != OPEN:
                    self.decided.add(one.name)
                if finding == ABOVE and not self.keep_going:
                    return

    def _open(self) -> list[_Instance]:
        return [one for one in self.instances if one.name not in self.decided]

    def _run_to(self, one: _Instance, look: int) -> None:
        result = simulate(
            one.problem,
            self.experiment.algorithm,
            delta=self.experiment.delta,
            replications=look - one.seen.replications,
            first_replication=one.seen.replications,
            seed=self.experiment.seed,
            n_jobs=self.n_jobs,
            skip_error=self.experiment.skip_error,
            max_pulls=one.cap,
        )
        errors, capped = self.claim.counts(result)
        one.seen = Seen(look, one.seen.errors + errors, one.seen.capped + capped)

    def _tell(self, bar: Bar, look: int) -> None:
        """Show replications done, and in all if every open instance is run up to a look."""
        done = sum(one.seen.replications for one in self.instances)
        total = done + sum(max(look - one.seen.replications, 0) for one in self._open())
        words = f"{len(self.decided)} of {len(self.instances)} instances are clear"
        bar.put(done, total, words)

    def result(self, *, interrupted: bool = False) -> Certification:
        """Return what was found so far."""
        delta, level = self.experiment.delta, self._level
        rows = (
            Tried.of((one.name, one.problem, one.cap), one.seen, delta, level)
            for one in self.instances
        )
        return Certification(
            algorithm=self.experiment.algorithm,
            claim=self.claim,
            delta=delta,
            alpha=self.alpha,
            seed=self.experiment.seed,
            skip_error=self.experiment.skip_error,
            most_replications=self.most,
            rows=tuple(rows),
            interrupted=interrupted,
        )


def _looks(most: int) -> Iterator[int]:
    """Yield after how many replications an instance is looked at.

    They are fixed beforehand; what is found hangs on no worker.
    """
    look = min(_FIRST_LOOK, most)
    while look < most:
        yield look
        look = min(math.ceil(_GROWTH * look), most)
    yield most


def _checked_problems(problems: Any) -> dict[str, Problem]:
    if not isinstance(problems, Mapping):
        raise ArgumentTypeError(
            "problems",
            f"problems is {short.repr(problems)} of type {type(problems).__name__}; give instances "
            'by name: {"mine": problem}',
            OrNone(", or None for hard ones"),
        )
    if not problems:
        raise ArgumentValueError("problems", "problems is empty; give at least one instance")
    for name, problem in problems.items():
        _check_problem(name, problem)
    return dict(problems)


def _check_problem(name: Any, problem: Any) -> None:
    where = f"problems[{short.repr(name)}]"
    if not isinstance(name, str):
        raise ArgumentTypeError("problems", f"{where} has no name; names are texts")
    if not isinstance(problem, Problem):
        raise ArgumentTypeError(
            "problems", f"{where} is {short.repr(problem)}; build one: rai.Problem(...)"
        )
    if isinstance(problem.arms, Recorded):
        raise ArgumentValueError(
            "problems",
            f"{where} has Recorded arms, the same rewards in every replication, of which delta "
            "says nothing; give arms with a law, such as rai.Bernoulli",
        )
    flaw = problem.arms.why_not_sub_gaussian()
    if flaw is not None:
        raise ArgumentValueError(
            "problems",
            f"{where} has arms of which delta-PC promises nothing: {flaw}; give 1/2-sub-Gaussian "
            "ones",
        )


def _check_most(replications: int | None, delta: float) -> int:
    if replications is None:
        return most_over(delta)
    return check_count("replications", replications, 1)
