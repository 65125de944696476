"""Choosing delta: what certainty costs, and how far the error rate stays below what is promised. Run
it: python scripts/examples/choosing_delta.py"""

import math
import tempfile

import rai_sim as rai

DELTAS = [0.1, 0.01, 1e-3, 1e-6, 1e-12]


def main(replications: int = 2000, budget: float = 60_000.0) -> float:
    """Print pulls and error rates against delta; return the least delta within the budget."""
    problem = rai.table_problem(task=2)
    study = rai.Study.grid(
        {"top three": problem}, [rai.Vanilla()], DELTAS, replications=replications
    )
    with tempfile.TemporaryDirectory() as folder:
        frame = study.run(folder).summary()

    print(f"{'delta':>8}{'mean pulls':>12}{'per ln(1/delta)':>17}{'over bound':>12}  error rate")
    for row in frame.iter_rows(named=True):
        delta, mean = row["delta"], row["pulls_mean"]
        print(
            f"{delta:>8g}{mean:>12,.0f}{mean / math.log(1 / delta):>17,.0f}"
            f"{mean / row['tight_bound_pulls']:>12.1f}"
            f"  {row['error_rate_low_95']:.2%} to {row['error_rate_high_95']:.2%}"
        )
    # Pulls grow no faster than ln(1/delta), so a smaller delta costs little; error rates stay far
    # below delta, which union bounds over rounds and arms are the reason for.
    within: list[float] = frame.filter(frame["pulls_mean"] <= budget)["delta"].to_list()
    if not within:
        raise SystemExit(f"no delta of {DELTAS} takes at most {budget:,.0f} pulls on average")
    print(f"the least delta at {budget:,.0f} pulls on average: {min(within):g}")
    return min(within)


if __name__ == "__main__":
    main()
