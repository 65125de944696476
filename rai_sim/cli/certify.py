"""The verb `certify`: is an algorithm delta-PC on instances made to break it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rai_sim.algorithms.text import describe_algorithms
from rai_sim.cli import options
from rai_sim.cli.fitted import fitted_table
from rai_sim.cli.options import (
    PROGRESS,
    SKIP_ERROR,
    VARIANTS,
    Delta,
    Jobs,
    Json,
    Seed,
    SkipError,
    again,
    flag,
    parse_algorithm,
)
from rai_sim.cli.parser import among
from rai_sim.cli.pictures import kind_of, write_picture
from rai_sim.cli.problem import build_problem, given_options, takes_problem
from rai_sim.cli.tables import json_text
from rai_sim.cli.text import show
from rai_sim.problem import Problem
from rai_sim.support.errors import BadInput
from rai_sim.support.parsing import near

if TYPE_CHECKING:
    from rai_sim.certification import Certification

#: What the claims are called, and what is printed where a problem was given.
_CLAIMS = ("error", "pulls")
_GIVEN = "the problem given"
#: Columns that a narrow terminal goes without, the first one first.
_LEAST = ("e_value", "capped", "rate")
_METAVAR = "ALGORITHM"
_ALGORITHM = typer.Argument(
    help=f"known, with defaults: {describe_algorithms()}",
    metavar=_METAVAR,
    autocompletion=among(VARIANTS),
    show_default=False,
)
_ONLY = typer.Option(
    help="repeatable: only ready-made instances of this name; * and ? stand for any text and any "
    "letter, as in 'near ties*'",
    metavar="NAME",
    show_default=False,
)
_KEEP_GOING = typer.Option("--keep-going", help="go on after a violation: on which are there more?")


@takes_problem
def certify(
    problem_options: dict[str, Any],
    algorithm: Annotated[str, _ALGORITHM],
    delta: Delta = 0.01,
    claim: Annotated[
        str,
        options.names("error: outputs are wrong; pulls: its theorem's bound is passed", _CLAIMS),
    ] = "error",
    alpha: Annotated[float, options.real("error rate of either verdict, in (0, 1)")] = 0.01,
    replications: Annotated[
        int | None, options.whole("at most so many of each instance; default: 200 / delta")
    ] = None,
    only: Annotated[list[str] | None, _ONLY] = None,
    pulls: Annotated[
        float | None,
        options.real("what Theorem 2 allows on ready-made instances; default: 200000"),
    ] = None,
    keep_going: Annotated[bool, _KEEP_GOING] = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    max_pulls: Annotated[
        int | None,
        options.whole(
            "give a replication up at so many pulls; default: 4 times what Theorems 2 and 3 allow"
        ),
    ] = None,
    skip_error: SkipError = SKIP_ERROR,
    plot: Annotated[
        Path | None, options.path("draw the error rates into a .png, .svg or .pdf file")
    ] = None,
    progress: Annotated[bool | None, PROGRESS] = None,
    json: Json = False,
) -> None:
    """Test whether an algorithm is delta-PC on hard instances.

    On ready-made ones, or on the problem that is given. The exit code is 0 if no violation was
    found, 1 if one was, 2 for bad input.
    """
    from rai_sim import certification  # here: most runs certify nothing

    chosen = parse_algorithm(algorithm, _METAVAR)
    problems = _problems(problem_options, delta, only, pulls)
    kind = None if plot is None else kind_of(plot)
    numbers: dict[str, Any] = {
        "delta": delta,
        "claim": claim,
        "alpha": alpha,
        "replications": replications,
        "seed": seed,
        "max_pulls": max_pulls,
        "skip_error": skip_error,
    }
    try:
        found = certification.certify(
            chosen,
            problems=problems,
            keep_going=keep_going,
            n_jobs=jobs,
            progress=progress,
            **numbers,
        )
    except certification.CertificationInterrupted as interrupt:
        found = interrupt.result
    notes = [f"drawn into {plot}"] if _draw(found, plot, kind) else []
    given: dict[str, Any] = {"only": only or [], "pulls": pulls, "keep_going": keep_going}
    rerun = again("certify", algorithm, **problem_options, **numbers, **given)
    if json:
        show(json_text({**found.to_dict(), "rerun": rerun}))
    else:
        show(certification_text(found, [*notes, f"the same again: {rerun}"]))
    if found.interrupted or found.violations:
        raise typer.Exit(130 if found.interrupted else 1)


def _draw(found: Certification, path: Path | None, kind: str | None) -> bool:
    """Draw what was found, if that is asked for and anything was run."""
    if path is None or kind is None or not found.tried:
        return False
    from rai_sim.plotting.certifications import error_rates, size_for

    write_picture(path, kind, size_for(found), lambda axes: error_rates(found, axes))
    return True


def certification_text(found: Certification, notes: Sequence[str]) -> str:
    """Return the verdict with a table of the instances that were run, and the notes."""
    from rai_sim.certification.outcome import columns_for

    table = fitted_table(
        columns_for(found.claim), found.tried, 1, _LEAST, "a pipe or --json has all"
    )
    return "\n".join([found.headline, "", *table, "", *found.statements, *notes])


def _problems(
    problem_options: Mapping[str, Any], delta: float, only: list[str] | None, pulls: float | None
) -> dict[str, Problem]:
    """Return the instances: the one that is given, or ready-made ones."""
    from rai_sim.certification.family import hard_problems

    given = given_options(problem_options)
    if given:
        for name, value in (("only", only), ("pulls", pulls)):
            if value:
                raise BadInput(
                    f"{flag(name)} chooses among ready-made instances but {flag(given[0])} "
                    "describes another; give one of the two"
                )
        return {_GIVEN: build_problem(problem_options)}
    found = hard_problems(delta) if pulls is None else hard_problems(delta, pulls=pulls)
    if not only:
        return found
    for pattern in only:
        if not any(_matches(name, pattern) for name in found):
            raise BadInput(
                f"--only {pattern!r} is no name of an instance{near(pattern, found)} * and ? stand "
                f"for any text and any letter; there are {', '.join(found)}"
            )
    return {
        name: problem
        for name, problem in found.items()
        if any(_matches(name, pattern) for pattern in only)
    }


def _matches(name: str, pattern: str) -> bool:
    return fnmatchcase(name.lower(), pattern.lower())
