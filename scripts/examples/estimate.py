"""What a study will cost, and a limit of its time. Run it: python scripts/examples/estimate.py"""

import warnings

import rai_sim as rai


def main(folder: str) -> rai.StudyResults:
    """Say what the study will take, run it for two minutes at most, and say what is left."""
    problems = {f"{n} arms": rai.best_arm(rai.Bernoulli([0.8] + [0.5] * (n - 1))) for n in (3, 6)}
    study = rai.Study.grid(problems, [rai.Vanilla(), rai.Butterscotch()], [0.1], precision=0.05)
    print(study.estimate(folder, n_jobs=2))
    warnings.simplefilter("ignore", rai.TimeLimitWarning)
    results = study.run(folder, n_jobs=2, time_limit="2m")  # rai-sim study FILE --time 2m
    print(results.cut_short or "all is there")  # the same call goes on
    print(study.estimate(folder).statements[0])
    return results


if __name__ == "__main__":
    main("estimate.study")
