"""Which reward laws lower bounds are about: a problem's own, or others with its means."""

from __future__ import annotations

from rai_sim.arms.bernoulli import Bernoulli
from rai_sim.arms.gaussian import Gaussian
from rai_sim.bounds.tight_bound import Family
from rai_sim.problem import Problem


def laws_of(family: Family, sd: float) -> str:
    """Return the laws that a bound is about, in words.

    Examples
    --------
    >>> laws_of("gaussian", 0.5), laws_of("gaussian", 2.0), laws_of("bernoulli", 0.5)
    ('Gaussian arms of sd 1/2', 'Gaussian arms of sd 2', 'Bernoulli arms')
    """
    if family == "bernoulli":
        return "Bernoulli arms"
    return f"Gaussian arms of sd {'1/2' if sd == 0.5 else format(sd, '.6g')}"


def natural_family(problem: Problem) -> Family:
    """Return the family of a problem's own laws; of those of a law of the user's own, Gaussian."""
    return "bernoulli" if type(problem.arms) is Bernoulli else "gaussian"


def sd_of(problem: Problem) -> float:
    """Return the standard deviation of the Gaussian arms that bounds are about: the arms' sigma."""
    sigma = problem.arms.sigma
    return 0.5 if sigma is None else sigma


def is_of(problem: Problem, family: Family) -> bool:
    """Whether a problem's arms are of a family of laws."""
    arms = problem.arms
    if family == "bernoulli":
        return type(arms) is Bernoulli
    return isinstance(arms, Gaussian) and isinstance(arms.sd, float) and arms.sd == sd_of(problem)


def borrowed_laws(problem: Problem) -> str:
    """Return the laws that a problem's lower bounds are about where these are not those of its arms, in
    words; nothing where they are.

    Examples
    --------
    >>> import rai_sim as rai
    >>> borrowed_laws(rai.best_arm(rai.Beta([0.75, 0.25], 4.0)))
    'Gaussian arms of sd 1/2'
    >>> borrowed_laws(rai.table_problem())
    ''
    """
    family = natural_family(problem)
    return "" if is_of(problem, family) else laws_of(family, sd_of(problem))
