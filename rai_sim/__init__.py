"""Exact, fast simulation of representative arm identification (RAI) in stochastic bandits."""

# ruff: noqa: E402  # what answers Ctrl-C stands before what takes time to load
from __future__ import annotations

from rai_sim.support import entry as _entry

_entry.answer_interrupts()

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from rai_sim.support.loading import without_collections as _without_collections

with _without_collections():
    from rai_sim import instances as instances
    from rai_sim.algorithms.butterscotch import Butterscotch as Butterscotch
    from rai_sim.algorithms.lucb import LUCB as LUCB
    from rai_sim.algorithms.top_two import TopTwo as TopTwo
    from rai_sim.algorithms.track_and_stop import BatchedTrackAndStop as BatchedTrackAndStop
    from rai_sim.algorithms.vanilla import Vanilla as Vanilla
    from rai_sim.arms.bernoulli import Bernoulli as Bernoulli
    from rai_sim.arms.beta import Beta as Beta
    from rai_sim.arms.categorical import Categorical as Categorical
    from rai_sim.arms.gaussian import Gaussian as Gaussian
    from rai_sim.arms.poisson import Poisson as Poisson
    from rai_sim.arms.recorded import Recorded as Recorded
    from rai_sim.arms.student_t import StudentT as StudentT
    from rai_sim.arms.uniform import Uniform as Uniform
    from rai_sim.engine.streams import STREAM_VERSION as STREAM_VERSION
    from rai_sim.problem import Problem as Problem
    from rai_sim.problem import best_arm as best_arm
    from rai_sim.problem import coarse_ranking as coarse_ranking
    from rai_sim.problem import full_ranking as full_ranking
    from rai_sim.problem import m_of_top as m_of_top
    from rai_sim.problem import one_of_top as one_of_top
    from rai_sim.problem import table_problem as table_problem
    from rai_sim.problem import top as top
    from rai_sim.simulation.result import Experiment as Experiment
    from rai_sim.simulation.result import Result as Result
    from rai_sim.simulation.simulate import SimulationInterrupted as SimulationInterrupted
    from rai_sim.simulation.simulate import simulate as simulate

    # from now on forks are noted
    from rai_sim.support.forks import refuse_forked_polars as _refuse_forked_polars  # noqa: F401
    from rai_sim.support.version import __version__ as __version__

if TYPE_CHECKING:
    from rai_sim import bounds as bounds
    from rai_sim import plotting as plotting
    from rai_sim import samplers as samplers
    from rai_sim import scaling as scaling
    from rai_sim.algorithms.own.round_robin import OwnRoundRobin as OwnRoundRobin
    from rai_sim.algorithms.own.rule import OwnRule as OwnRule
    from rai_sim.arms.own import OwnArms as OwnArms
    from rai_sim.certification import Certification as Certification
    from rai_sim.certification import CertificationInterrupted as CertificationInterrupted
    from rai_sim.certification import certify as certify
    from rai_sim.certification import hard_problems as hard_problems
    from rai_sim.simulation.pools import WorkersLost as WorkersLost
    from rai_sim.simulation.success import SuccessCurve as SuccessCurve
    from rai_sim.simulation.success import SuccessInterrupted as SuccessInterrupted
    from rai_sim.simulation.success import success_by as success_by
    from rai_sim.simulation.summary import Summary as Summary
    from rai_sim.study import StoreError as StoreError
    from rai_sim.study import StoreWarning as StoreWarning
    from rai_sim.study import Study as Study
    from rai_sim.study import StudyFailed as StudyFailed
    from rai_sim.study import StudyInterrupted as StudyInterrupted
    from rai_sim.study import StudyResults as StudyResults
    from rai_sim.study import TimeLimitWarning as TimeLimitWarning
    from rai_sim.study import load_result as load_result
    from rai_sim.study import merge_studies as merge_studies
    from rai_sim.study import open_study as open_study
    from rai_sim.tracing.events import Event as Event
    from rai_sim.tracing.history import arm_pulls as arm_pulls
    from rai_sim.tracing.trace import Trace as Trace
    from rai_sim.tracing.trace import trace as trace

__all__ = [
    "LUCB",
    "STREAM_VERSION",
    "BatchedTrackAndStop",
    "Bernoulli",
    "Beta",
    "Butterscotch",
    "Categorical",
    "Certification",
    "CertificationInterrupted",
    "Event",
    "Experiment",
    "Gaussian",
    "OwnArms",
    "OwnRoundRobin",
    "OwnRule",
    "Poisson",
    "Problem",
    "Recorded",
    "Result",
    "SimulationInterrupted",
    "StoreError",
    "StoreWarning",
    "StudentT",
    "Study",
    "StudyFailed",
    "StudyInterrupted",
    "StudyResults",
    "SuccessCurve",
    "SuccessInterrupted",
    "Summary",
    "TimeLimitWarning",
    "TopTwo",
    "Trace",
    "Uniform",
    "Vanilla",
    "WorkersLost",
    "__version__",
    "arm_pulls",
    "best_arm",
    "bounds",
    "certify",
    "coarse_ranking",
    "full_ranking",
    "hard_problems",
    "instances",
    "load_result",
    "m_of_top",
    "merge_studies",
    "movielens",
    "one_of_top",
    "open_study",
    "plotting",
    "samplers",
    "scaling",
    "simulate",
    "success_by",
    "table_problem",
    "top",
    "trace",
]
# an extra, without which `from rai_sim import *` must not fail
if importlib.util.find_spec("matplotlib") is None:
    __all__.remove("plotting")

#: Names that are loaded when first used, by the module that has them: programs that need none of
#: these start sooner, and frames are slow to import.
_LATER = {
    name: module
    for module, names in {
        "study": (
            "StoreError",
            "StoreWarning",
            "Study",
            "StudyFailed",
            "StudyInterrupted",
            "StudyResults",
            "TimeLimitWarning",
            "load_result",
            "merge_studies",
            "open_study",
        ),
        "certification": (
            "Certification",
            "CertificationInterrupted",
            "certify",
            "hard_problems",
        ),
        "simulation.pools": ("WorkersLost",),
        "simulation.success": ("SuccessCurve", "SuccessInterrupted", "success_by"),
        "simulation.summary": ("Summary",),
        "tracing.events": ("Event",),
        "tracing.history": ("arm_pulls",),
        "tracing.trace": ("Trace", "trace"),
        "arms.own": ("OwnArms",),
        "algorithms.own.round_robin": ("OwnRoundRobin",),
        "algorithms.own.rule": ("OwnRule",),
    }.items()
    for name in names
}
#: Parts of the package, likewise; figures need matplotlib, which is an extra.
_PARTS = ("bounds", "movielens", "plotting", "samplers", "scaling")


def __getattr__(name: str) -> Any:
    """Load what not every program needs on first use."""
    if name in _LATER:
        return getattr(importlib.import_module(f"rai_sim.{_LATER[name]}"), name)
    if name in _PARTS:
        return importlib.import_module(f"rai_sim.{name}")
    raise AttributeError(f"module 'rai_sim' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, those that are loaded on first use included."""
    return sorted(__all__)
