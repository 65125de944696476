"""How often algorithms are right if they are asked after so many pulls.
Run it: python scripts/examples/success_curve.py"""

import numpy as np
from matplotlib.figure import Figure

import rai_sim as rai


def main() -> list[rai.SuccessCurve]:
    """Print one, and draw both."""
    problem = rai.best_arm(rai.Bernoulli([0.7, 0.55, 0.5, 0.4]))
    pulls = np.unique(np.geomspace(4, 4000, 15).astype(int))
    curves = [
        rai.success_by(problem, one, pulls=pulls, delta=0.1, replications=2000)
        for one in (rai.Vanilla(), rai.Butterscotch())
    ]
    print(curves[0].to_frame().select("pulls", "error_rate", "low", "high"))
    figure = Figure(layout="constrained")
    rai.plotting.success(curves, figure.subplots())
    figure.savefig("success.png")
    return curves


if __name__ == "__main__":
    main()
