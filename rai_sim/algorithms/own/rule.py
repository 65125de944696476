"""Any rule of a user's own, as one function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any, ClassVar, Self

import numpy as np
from numba.core.errors import NumbaError

from rai_sim.algorithms.own import loop, plain
from rai_sim.algorithms.own.code import (
    Coded,
    announce,
    check_options,
    function_of,
    not_compiled,
    what_returned,
)
from rai_sim.engine.blocks import Block, Setting
from rai_sim.engine.faults import wrong_count
from rai_sim.engine.jit import WHOLE
from rai_sim.engine.tags import seen, tag
from rai_sim.support import sources
from rai_sim.support.checks import check_count

_STEP = ("task", "counts", "sums", "scratch", "arms")
#: Fields of what `step` is told, before the rule's own options.
_TOLD = ("n_arms", "clusters", "required", "delta", "uniforms")


class OwnRule(Coded, known=False):
    """A user's own algorithm: derive from this class and write `step`.

    The rule is asked again and again what to pull next, until it gives its answer. `step` is compiled
    by Numba and run pull by pull, 20 million pulls a second and more; `in_python()` runs it without.
    It works in `simulate`, studies, `trace`, figures and `certify` like the package's algorithms.

    `step(task, counts, sums, scratch, arms)` is a static method of

    task
        What is asked: `n_arms`, `clusters` and `required` (m,) int64, `delta`; `uniforms` (U,)
        float64, new in each step; and the class's options by their names.
    counts, sums : (N,) int64 and float64
        Pulls of each arm, and sums of its rewards. They, and the arrays of `task`, can only be read:
        code that writes into them is refused.
    scratch : (S,) float64
        The rule's own memory, zeros when a replication begins.
    arms : (N,) int64
        To be written: the arms to pull once each, an arm several times if it is there several times;
        or the answer, cluster after cluster, each arm once.

    It returns how many arms are to be pulled, or 0 if `arms` begins with the answer. Arms are
    numbered in a random order of each replication's own, so that a rule may break ties by number.

    An option is an annotated name with a default, a number or truth value. `scratch` (numbers) and
    `uniforms` say how large these arrays are; `scratch_for(n_arms)` may be overridden.

    What Numba asks of `step`: loops, arithmetic, `math`, indexing of arrays; functions that it calls
    are decorated with `numba.njit`; it makes no arrays. Divisions by zero give inf or nan. Indices
    are not checked: where one may be out of range, `in_python()` tells, or the environment variable
    NUMBA_BOUNDSCHECK=1.

    Two rules are one experiment if their names, options and code are the same; see
    `rai_sim.support.sources.digest_of`. To open a study, import the class first.

    Raises
    ------
    TypeError
        If there is no `step`, or an option is no number; where the class is defined, if `step` takes
        other parameters.

    Examples
    --------
    >>> import rai_sim as rai
    >>> class Fixed(rai.OwnRule):
    ...     each: int = 50  # pulls an arm
    ...
    ...     @staticmethod
    ...     def step(task, counts, sums, scratch, arms):
    ...         if counts[0] == task.each:
    ...             best = 0
    ...             for arm in range(task.n_arms):
    ...                 if sums[arm] > sums[best]:
    ...                     best = arm
    ...             arms[0] = best
    ...             return 0
    ...         for arm in range(task.n_arms):
    ...             arms[arm] = arm
    ...         return task.n_arms
    >>> problem = rai.best_arm(rai.Bernoulli([0.7, 0.4, 0.2]))
    >>> result = rai.simulate(problem, Fixed(each=30), replications=100, seed=1)
    >>> result.pulls.max(), bool(result.correct.mean() > 0.9)
    (np.int64(90), True)
    >>> in_python = rai.simulate(problem, Fixed(each=30).in_python(), replications=3, seed=1)
    >>> in_python.representatives.tolist() == result.representatives[:3].tolist()
    True
    """

    looks_at_most_rounds: ClassVar[bool] = True
    #: How many numbers of memory the rule has, and how many uniforms it gets in each step.
    scratch: ClassVar[int] = 0
    uniforms: ClassVar[int] = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        super().__post_init__()
        functions, facts = self._made_of()
        check_options(type(self).__name__, "step", self.options_told(), _TOLD)
        object.__setattr__(self, "_code", sources.code_of(*functions, facts=facts))

    def scratch_for(self, n_arms: int) -> int:
        """Return how many numbers of memory the rule has: `scratch`; override it where that depends on
        the number of arms.

        Parameters
        ----------
        n_arms : int
            Number of arms N.

        Returns
        -------
        int
            Doubles, all 0.0 when a replication begins.
        """
        return self.scratch

    def in_python(self) -> Self:
        """Return the same algorithm, whose `step` is run by Python: slowly, with the same results.

        For print and debuggers, and for a look at what a replication does.

        Returns
        -------
        OwnRule
            A copy, which is the same algorithm to studies.
        """
        copy = type(self)(**self.options_told())
        object.__setattr__(copy, "_in_python", True)
        return copy

    def run_block(self, law: Any, setting: Setting, first: int, block: Block) -> None:
        """Run len(block.pulls) replications from index `first` on and write them into `block`."""
        N = setting.cluster_of.size
        memory = check_count("scratch", self.scratch_for(N), 0)
        work = loop.new_work(law, self._task(setting), memory, setting, block)
        if getattr(self, "_in_python", False):
            plain.run_block(self._function(), work, first, block)
            return
        told_as: Any = type(work.task)
        sources.confirm("algorithm", type(self).__name__, getattr(self, "_code"), *self._made_of())  # noqa: B009
        announce(loop.step, told_as, self._function())
        try:
            loop.run_block(work, first, block)
        except (NumbaError, TypeError) as error:
            told = work.task, work.counts_seen, work.sums_seen, work.scratch, work.arms
            given = what_returned(error, self._function(), told, WHOLE)
            if given is not None:
                raise wrong_count(given) from error
            if isinstance(error, TypeError):
                raise
            raise not_compiled(f"{type(self).__name__}.step", error) from error

    def _function(self) -> FunctionType:
        """Return `step` as Python has it."""
        return function_of(type(self), "step", ", ".join(_STEP))

    @classmethod
    def _parameters(cls) -> Mapping[str, Sequence[str]]:
        return {"step": _STEP}

    def _made_of(self) -> tuple[tuple[FunctionType, ...], object]:
        """Return the functions that say what is pulled, and what else says it: how much memory the
        rule has, and how many uniforms a step takes off the stream."""
        functions: tuple[FunctionType, ...] = (self._function(),)
        if type(self).scratch_for is not OwnRule.scratch_for:
            functions += (function_of(type(self), "scratch_for", "n_arms"),)
        return functions, (self.scratch, self.uniforms)

    def _task(self, setting: Setting) -> Any:
        """Return what `step` is told."""
        options = self.options_told()
        module = self._function().__module__
        cls = tag(type(self).__name__, self._digest, [*_TOLD, *options], module)
        return cls(
            setting.cluster_of.size,
            seen(setting.sizes),
            seen(setting.required),
            setting.delta,
            np.zeros(check_count("uniforms", self.uniforms, 0)),
            *options.values(),
        )
