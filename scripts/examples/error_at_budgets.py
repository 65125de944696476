"""A study over budgets: the error rate of what is recommended at each cap on pulls, and its figure.
Run it: python scripts/examples/error_at_budgets.py"""

import sys

from matplotlib.figure import Figure

import rai_sim as rai


def main(folder: str, replications: int = 2000) -> rai.StudyResults:
    """Run it into a folder, print the rates, draw them."""
    problem = rai.top(rai.Bernoulli([0.8, 0.7, 0.5, 0.4, 0.2]), 2)
    algorithms, caps = [rai.Vanilla(), rai.LUCB()], [50, 100, 200, 400, 800]
    study = rai.Study.grid(
        {"top 2": problem}, algorithms, [0.1], max_pulls=caps, replications=replications
    )
    results = study.run(folder)
    rates = "error_rate_at_cap", "error_rate_at_cap_low_95", "error_rate_at_cap_high_95"
    print(results.summary().select("algorithm", "max_pulls", *rates))
    figure = Figure(layout="constrained")
    rai.plotting.budgets(results, figure.subplots())
    figure.savefig(f"{folder}.png")
    return results


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "budgets")
