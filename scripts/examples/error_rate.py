"""Is it delta-PC? Run until the error rate is known to lie above or below delta. Run it:
python scripts/examples/error_rate.py"""

import rai_sim as rai


def main(folder: str) -> rai.StudyResults:
    """Compare the rule as it was printed, which errs too often, with one that keeps its promise."""
    study = rai.Study.grid(
        {"two clusters": rai.table_problem(task=2)},
        [rai.LUCB(as_printed=True), rai.Vanilla()],
        [0.1, 0.05],
        until="error rate",
        alpha=0.01,  # all four verdicts are right with probability 99 %
    )
    results = study.run(folder, n_jobs=2)
    print(results.summary().select("algorithm", "delta", "replications", "errors", "error_verdict"))
    return results


if __name__ == "__main__":
    main("error-rate.study")
