"""A first simulation: how many pulls until three of ten arms are known to be the best, and how often
that is wrong. Run it: python scripts/examples/first_simulation.py"""

import rai_sim as rai

#: The probabilities that a guest likes a dish.
DISHES = {"Dumplings": 0.85, "Ramen": 0.8, "Tacos": 0.65, "Pizza": 0.6, "Falafel": 0.4} | {
    "Curry": 0.36, "Gnocchi": 0.35, "Risotto": 0.3, "Borscht": 0.15, "Haggis": 0.1}  # fmt: skip


def main(replications: int = 10_000) -> rai.Result:
    """Simulate, print what was found, and look at one replication more closely."""
    arms = rai.Bernoulli(list(DISHES.values())).with_names(list(DISHES))
    problem = rai.top(arms, 3)
    print(problem)

    result = rai.simulate(problem, rai.Vanilla(), delta=0.01, replications=replications, seed=0)
    print(result.summary())
    print(result.named())  # which arms were named, and how often
    print(result.to_frame())  # a row a replication

    costliest = int(result.pulls.argmax())
    trace = rai.trace(problem, rai.Vanilla(), delta=0.01, seed=0, replication=costliest)
    print(f"replication {costliest} took the most pulls; its arms were settled in this order:")
    for event in trace.events:
        where = "clusters merged" if event.arm is None else problem.arms.name(event.arm)
        print(f"  round {event.round:>7,}, pull {event.pulls:>8,}: {where}")
    return result


if __name__ == "__main__":
    main()
