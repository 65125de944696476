"""The verb `warmup`: compile the kernels ahead of time."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import MISSING
from typing import Annotated, Any

from rai_sim import bounds
from rai_sim.algorithms.base import ALGORITHMS, Algorithm
from rai_sim.algorithms.options import options_of
from rai_sim.arms.base import LAWS, Arms
from rai_sim.arms.bernoulli import Bernoulli
from rai_sim.cli import options
from rai_sim.cli.options import check_law, once
from rai_sim.cli.problem import law_options
from rai_sim.cli.text import show
from rai_sim.problem import Problem
from rai_sim.simulation.simulate import simulate

#: Examples by argument, with which `warmup` builds two arms of any law that takes no other.
_EXAMPLES: dict[str, Any] = {
    "means": [0.9, 0.1],
    "values": [0.0, 0.5, 1.0],
    "probabilities": [[0.0, 0.2, 0.8], [0.8, 0.2, 0.0]],
    "rewards": [[1.0] * 4096, [0.0] * 4096],
    "low": [0.5, 0.0],
    "high": [1.0, 0.5],
}
_LAW = options.names(
    f"repeatable: {', '.join(LAWS)}; default: all", tuple(LAWS), "LAW", show_default=False
)


def warmup(
    law: Annotated[list[str] | None, _LAW] = None,
) -> None:
    """Compile the kernels ahead of time, or load them from the cache.

    Those of the tight lower bound, and of the paper's algorithms with all reward laws, or with
    some; what serves many arms alone (LUCB's view, Vanilla from 1,000 arms on), and other
    algorithms, are compiled when they are first needed.
    """
    wanted = once("law", [check_law(name) for name in law or LAWS])
    began = time.perf_counter()
    # of 36 answers: those are searched, not tried one by one
    eight = Bernoulli([0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.2, 0.1])
    bounds.degenne_koolen(Problem(eight, (4, 4), (2, 2)))
    show(f"{'':<12} {'tight bound':<16} {time.perf_counter() - began:8.2f} s")
    for law_name in wanted:
        arms = _example(LAWS[law_name])
        for name, algorithm_class in ALGORITHMS.items():
            if not algorithm_class.of_the_paper:
                continue
            if arms is None:
                show(f"{law_name:<12} {name:<16} left out: no example of this law is known here")
                continue
            if any(option.default is MISSING for option in options_of(algorithm_class).values()):
                show(f"{law_name:<12} {name:<16} left out: it has options without a default")
                continue
            started = time.perf_counter()
            problem = Problem(arms, (1, 1), (1, 0), strict=False)
            for algorithm in _every_switch(algorithm_class):
                simulate(problem, algorithm, delta=0.1, replications=2, seed=0)
            show(f"{law_name:<12} {name:<16} {time.perf_counter() - started:8.2f} s")
    show(f"{'total':<29} {time.perf_counter() - began:8.2f} s")


def _every_switch(cls: type[Algorithm]) -> Iterator[Algorithm]:
    """Yield an algorithm with every combination of its yes-or-no options."""
    switches = [
        name for name, option in options_of(cls).items() if isinstance(option.default, bool)
    ]
    for choice in itertools.product((True, False), repeat=len(switches)):
        yield cls(**dict(zip(switches, choice, strict=True)))


def _example(cls: type[Arms]) -> Arms | None:
    arguments = (name for name, users in law_options().items() if cls.__name__.lower() in users)
    try:
        return cls(**{name: _EXAMPLES[name] for name in arguments if name in _EXAMPLES})
    except (TypeError, ValueError):
        return None
