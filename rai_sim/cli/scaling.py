"""The verb `scaling`: run a ready-made study along an axis, and print how pulls grow and how far
they are from the lower bound."""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rai_sim.algorithms.base import Algorithm
from rai_sim.arms.base import LAWS, Arms
from rai_sim.cli import options
from rai_sim.cli.options import (
    FORMAT,
    PROGRESS,
    Belongs,
    Jobs,
    Json,
    Seed,
    again,
    check_folder,
    check_law,
    check_no_store,
    flag,
    parse_algorithms,
    read_option,
)
from rai_sim.cli.outputs import check_apart
from rai_sim.cli.plot import check_kind, write_drawings
from rai_sim.cli.problem import (
    arguments_of,
    build_arms,
    build_problem,
    given_options,
    law_options,
    takes_problem,
)
from rai_sim.cli.scaling_tables import scaling_document, scaling_text
from rai_sim.cli.study import run_or_tell
from rai_sim.cli.tables import json_text
from rai_sim.cli.text import interrupts_in_a_line, show, warnings_in_a_line
from rai_sim.problem import Problem, best_arm
from rai_sim.support.errors import BadInput
from rai_sim.support.parsing import near, parse_integers, parse_row, seen, whole_number

if TYPE_CHECKING:
    from rai_sim.plotting.drawing import Drawing
    from rai_sim.study import Study, StudyResults


class Axis(StrEnum):
    """What may be varied."""

    DELTA = "delta"
    GAP = "gap"
    N = "n"
    K = "k"
    M = "m"


#: The same in words.
_WORDS = {
    Axis.DELTA: "error probability to 0, down to 1e-100",
    Axis.GAP: "bottleneck gap to 0",
    Axis.N: "number of arms, at delta 0.1",
    Axis.K: "K of the top K",
    Axis.M: "M of the top K (-k, default: 10)",
}
#: Options that describe arms, whatever is asked for.
_OF_ARMS = (*law_options(), "law", "column", "names")
#: Families of means that take a number of arms alone.
_FAMILIES = ("one_apart", "evenly_spaced", "linear_gaps")
_ALGORITHMS = "repeatable, as in `run`; default: vanilla, butterscotch, lucb"
_BELONGS = Belongs(needs={"format": "plot"})
#: A message lists so many options that may be meant instead.
_FEW = 10
_AXIS = typer.Argument(
    help="what is varied: " + "; ".join(f"{name}, {what}" for name, what in _WORDS.items()),
    metavar="AXIS",
    case_sensitive=False,
    show_default=False,
)


@takes_problem
def scaling(
    problem_options: dict[str, Any],
    along: Annotated[Axis, _AXIS],
    points: Annotated[
        str | None,
        typer.Option(
            help="where on the axis: 0.1,1e-10,1e-100 or @FILE; default: some ten values",
            metavar="NUMBERS",
            show_default=False,
        ),
    ] = None,
    family: Annotated[
        str | None,
        options.names(
            f"for n: the means, {', '.join(_FAMILIES)}; default: one_apart",
            _FAMILIES,
            show_default=False,
        ),
    ] = None,
    algorithm: Annotated[
        list[str] | None, options.names(_ALGORITHMS, options.VARIANTS, show_default=False)
    ] = None,
    delta: Annotated[
        float | None, options.real("error probability; default: 0.01, for n 0.1")
    ] = None,
    replications: Annotated[
        int | None, options.whole("of each point and algorithm; default: 1000, for n 100")
    ] = None,
    precision: Annotated[
        float | None, options.real("instead: relative half-width of each mean's 95 % interval")
    ] = None,
    seed: Seed = 0,
    max_pulls: Annotated[
        int | None, options.whole("give a replication up at so many pulls; default: never")
    ] = None,
    jobs: Jobs = 1,
    store: Annotated[
        Path | None,
        options.path(
            "where results are kept; default: scaling-AXIS.study; what is there is not run again",
            metavar="FOLDER",
        ),
    ] = None,
    plot: Annotated[
        Path | None, options.path("for the figures", "--plot", "-o", metavar="FOLDER")
    ] = None,
    form: Annotated[str | None, FORMAT] = None,
    progress: Annotated[bool | None, PROGRESS] = None,
    json: Json = False,
) -> None:
    """Run a study along an axis; print exponents and the lower bound.

    The study is resumed where its folder has some of it. `rai-sim plot` and `report` take the
    folder, too.
    """
    axis, kind = str(along.value), check_kind(form)
    _BELONGS.check({"format": form, "plot": plot})
    chosen = parse_algorithms(algorithm) if algorithm else None
    numbers: dict[str, Any] = {"seed": seed, "max_pulls": max_pulls}
    numbers |= {"precision": precision} if replications is None else {"replications": replications}
    _check_numbers(replications, precision)
    _check_options(axis, problem_options, {"family": family, "delta": delta})
    study = _study(axis, problem_options, points, family, delta, chosen, numbers)
    folder = Path(f"scaling-{axis}.study") if store is None else store
    check_folder(folder, "--store")
    if plot is not None:
        check_folder(plot, "--plot")
        check_no_store(plot, "--plot")
        check_apart(plot, folder, option="--plot")
        import rai_sim.plotting  # noqa: F401  # without matplotlib nothing is run
    asked = {
        **problem_options,
        "points": points,
        "family": family,
        "algorithm": algorithm,
        "delta": delta,
        "replications": replications,
        "precision": precision,
        "seed": seed or None,
        "max_pulls": max_pulls,
        "store": store,
    }
    onward = again(
        "scaling",
        **asked,
        jobs=None if jobs == 1 else jobs,
        plot=plot,
        format=form,
        json=json,
    )
    rerun, onward = (
        f"{words} {shlex.quote(axis)}" for words in (again("scaling", **asked), onward)
    )
    with warnings_in_a_line(every=True), interrupts_in_a_line(onward):
        results, code, said, failures = run_or_tell(study, folder, jobs, progress, onward)
        if json:
            document = scaling_document(
                results, axis, rerun=rerun, interrupted=code == 130, failures=failures
            )
            show(json_text(document))
        elif code != 130:
            show(scaling_text(results, axis))
        if plot is not None and code != 130:
            for line in write_drawings(_drawings(results, axis), plot, kind):
                if json:
                    print(line, file=sys.stderr)
                else:
                    show(line)
    if said:
        print("rai-sim:", said, file=sys.stderr)
    raise typer.Exit(code)


def _drawings(results: StudyResults, axis: str) -> list[Drawing]:
    from rai_sim.plotting.scaling import choose_along

    return choose_along(results, axis)


# What is run
# --------------------------------------------------------------------------------------------------


def _check_numbers(replications: int | None, precision: float | None) -> None:
    from rai_sim.scaling.fits import LEAST_REPLICATIONS

    if replications is not None and precision is not None:
        raise BadInput(
            f"--precision {precision} and --replications {replications} are both given; give one "
            "of the two"
        )
    if replications is not None and replications < LEAST_REPLICATIONS:
        raise BadInput(
            f"--replications {replications} leaves nothing to fit; give at least "
            f"{LEAST_REPLICATIONS}"
        )


def _check_options(axis: str, problem_options: Mapping[str, Any], more: Mapping[str, Any]) -> None:
    """Refuse options that have no meaning along an axis."""
    arms = {*_OF_ARMS, "strict"}
    # sizes of a problem that is not named
    loose = set() if problem_options["problem"] is not None else {"k", "m"}
    known = {
        "delta": {*problem_options} - loose,
        "gap": {*problem_options, "delta"} - loose,
        "n": {*_of_families(), "family", "delta"},
        "k": {*arms, "delta"},
        "m": {*arms, "k", "delta"},
    }[axis]
    for name, value in (*problem_options.items(), *more.items()):
        given = not value if name == "strict" else value is not None
        if given and name not in known:
            option = "--no-strict" if name == "strict" else f"{flag(name)} {value}"
            raise BadInput(
                f"{option} has no meaning for `scaling {axis}`; leave it out"
                f"{_instead(name, axis, known - {'strict'})}"
            )


def _instead(name: str, axis: str, known: set[str]) -> str:
    """Return what may be meant by an option: values along the axis, or one of a few others."""
    if name == axis:
        return f", or give values of {axis} as --points"
    few = sorted(map(flag, known)) if len(known) <= _FEW else []
    return f", or take {', '.join(few)}" if few else ""


def _study(
    axis: str,
    problem_options: Mapping[str, Any],
    points: str | None,
    family: str | None,
    delta: float | None,
    algorithms: Sequence[Algorithm] | None,
    numbers: Mapping[str, Any],
) -> Study:
    """Return the study that the options ask for."""
    from rai_sim import scaling as studies
    from rai_sim.scaling.points import as_argument

    wanted: dict[str, Any] = {"algorithms": algorithms, **numbers}
    wanted |= {} if delta is None else {"delta": delta}
    places = None if points is None else _places(axis, points)
    if axis in ("delta", "gap"):
        problem = build_problem(problem_options) if given_options(problem_options) else None
        wanted |= {} if places is None else {f"{axis}s": places}
        build = studies.over_delta if axis == "delta" else studies.over_gap
        return build(problem, **wanted)
    if axis == "n":
        wanted |= {} if places is None else {"numbers": places}
        own = any(name in _of_families() for name in given_options(problem_options))
        if family is not None or own or not problem_options["strict"]:
            wanted["instance"] = _instance_of(family, problem_options)
        return studies.over_n(**wanted)
    arms = _arms(problem_options)
    wanted |= {} if places is None else {f"{axis}s": places}
    wanted["strict"] = problem_options["strict"]
    k = problem_options["k"]
    wanted |= {} if k is None else {"k": read_option("k", whole_number, k)}
    build_along = studies.over_k if axis == "k" else studies.over_m
    # clusters, which follow from the axis, are undefined where arms tie
    with as_argument("law" if problem_options["means"] is None else "means", of="clusters"):
        study = build_along(arms, **wanted)
    if len({task.parameters[axis] for task in study.tasks}) < 2:
        problem = study.tasks[0].experiment.problem
        raise BadInput(
            f"`scaling {axis}` has one point on {problem.n_arms} arms, and a slope needs at least two; "
            "give more arms" + ("" if axis == "k" else ", or a larger -k")
        )
    return study


def _places(axis: str, text: str) -> list[Any]:
    """Return the values along the axis, at least two."""
    found: list[Any]
    if axis in ("delta", "gap"):
        found = read_option("points", parse_row, text).tolist()
    else:
        found = list(read_option("points", parse_integers, text))
    if len(found) < 2:
        raise BadInput(f"--points {seen(text)} is one; a slope needs at least two")
    return found


def _arms(problem_options: Mapping[str, Any]) -> Arms | None:
    given = any(problem_options.get(name) is not None for name in _OF_ARMS)
    return build_arms(problem_options) if given else None


def _laws_of_means() -> list[str]:
    """Return the laws whose arms are made from means, and from nothing else that is needed."""
    empty = inspect.Parameter.empty
    needed = {
        law: [name for name, one in arguments_of(cls).items() if one.default is empty]
        for law, cls in LAWS.items()
    }
    return [law for law, names in needed.items() if names == ["means"]]


def _of_families() -> set[str]:
    """Return the options that say of what law, and how, arms of a family of means are made."""
    own = {name for law in _laws_of_means() for name in arguments_of(LAWS[law])}
    return {*own, "law", "strict"} - {"means"}


def _instance_of(
    family: str | None, problem_options: Mapping[str, Any]
) -> Callable[[int], Problem]:
    """Return what makes the instance of a number of arms: the best arm of a family of means."""
    from rai_sim import instances

    name = "one_apart" if family is None else family.strip().lower()
    if name not in _FAMILIES:
        raise BadInput(
            f"--family {seen(family or '')} is no family of means"
            f"{near(name, _FAMILIES)} choose {', '.join(_FAMILIES)}"
        )

    law = check_law(problem_options["law"] or "bernoulli")
    if law not in (laws := _laws_of_means()):
        raise BadInput(
            f"--law {law} is not given by means alone; for `scaling n` choose {' or '.join(laws)}"
        )

    def instance(n: int) -> Problem:
        means: Any = getattr(instances, name)(n)
        text = ",".join(map(repr, means.tolist()))
        arms = build_arms({**problem_options, "means": text})
        return best_arm(arms, strict=problem_options["strict"])

    return instance
