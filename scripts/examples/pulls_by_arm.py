"""Pulls of each arm, kept: which arms an algorithm spends its pulls on, with standard errors.

Run it: python scripts/examples/pulls_by_arm.py
"""

import rai_sim as rai

problem = rai.best_arm(rai.Bernoulli([0.9, 0.7, 0.5, 0.3]))
study = rai.Study.grid(
    {"four arms": problem}, [rai.Vanilla()], [0.1], replications=200, keep="arm_pulls"
)


def table(folder: str) -> str:
    """Run the study and return what it pulled, arm by arm."""
    results = study.run(folder)
    results.to_csv(f"{folder}.csv", arms=True)
    columns = ("arm", "pulls_mean", "pulls_standard_error", "share")
    return str(results.by_arm().select(columns))


if __name__ == "__main__":
    print(table("pulls-by-arm.study"))
