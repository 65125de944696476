"""What makes arms sub-Gaussian with a known parameter that are not: the remedy in messages."""

from __future__ import annotations

from inspect import signature
from typing import Any

from rai_sim.arms.base import LARGEST, Arms
from rai_sim.support.errors import Named, Part


def sub_gaussian_remedy(arms: Arms) -> tuple[str | Part, ...]:
    """Return what can be done, but for going without guarantees, as parts of a message: to tell the
    arms their sigma, or to have smaller rewards; nothing of a law that is sub-Gaussian for no sigma.

    Examples
    --------
    >>> import rai_sim as rai
    >>> "".join(map(str, sub_gaussian_remedy(rai.Gaussian([0.5], sd=1.0))))
    'give the arms their sigma, rescale the rewards'
    >>> sub_gaussian_remedy(rai.Poisson([2.0]))
    ()
    """
    from rai_sim.arms.own import OwnArms  # here: most programs have none, and it is slow to load

    if isinstance(arms, OwnArms) and arms.bounds is None and arms.variance_proxy is None:
        return ("give the class its bounds, or a variance_proxy",)
    if _sigma_helps(arms):
        which = "their" if arms.sigma is None else "a larger"
        return f"give the arms {which} ", Named("sigma"), ", rescale the rewards"
    return ("rescale the rewards",) if isinstance(arms, OwnArms) else ()


def _sigma_helps(arms: Any) -> bool:
    """Whether the arms are sub-Gaussian with a sigma, if it is but large enough."""
    names = [name for name in signature(type(arms).__init__).parameters if name != "self"]
    if "sigma" not in names:
        return False
    given = {name: getattr(arms, name) for name in names} | {"sigma": LARGEST}
    flaw: str | None = type(arms)(**given).why_not_sub_gaussian()
    return flaw is None
