"""A program of a user's that is checked by `mypy --strict` against the installed package: what is
public has types, none of which is Any."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import rai_sim as rai


def main() -> None:
    """Simulate, keep a study, ask for bounds; types are as they are documented."""
    problem = rai.top(rai.Bernoulli([0.9, 0.6, 0.5, 0.2]), 2)
    assert_type(problem, rai.Problem)
    assert_type(problem.arm_gaps, NDArray[np.float64])
    result = rai.simulate(problem, rai.Vanilla(merging=True), delta=0.1, replications=100, seed=0)
    assert_type(result, rai.Result)
    assert_type(result.pulls, NDArray[np.int64])
    assert_type(result.correct, NDArray[np.bool_])
    summary = result.summary()
    assert_type(summary.mean, float)
    assert_type(summary.upper_bound, float | None)
    assert_type(rai.bounds.at_delta(problem, 0.1).pulls, float)
    study = rai.Study.grid([problem], [rai.Vanilla()], [0.1], replications=100)
    with TemporaryDirectory() as folder:
        results = study.run(f"{folder}/top.study")
        assert_type(results, rai.StudyResults)
        assert_type(results.progress(), tuple[int, int])
        assert results.result(study.tasks[0]) == result
    print(f"rai_sim {rai.__version__}: {summary.mean:.0f} pulls, {summary.errors} errors")


if __name__ == "__main__":
    main()
