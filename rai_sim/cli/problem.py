"""The command-line options that define a problem.

Laws come from their registry and their options from the constructors: a new law needs no change
here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer

from rai_sim.arms.base import LAWS, Arms
from rai_sim.cli.options import check_law, flag, read_option, whole_number
from rai_sim.cli.parser import among
from rai_sim.problem import TABLE_MEANS, Problem, table_problem
from rai_sim.support.errors import BadInput
from rai_sim.support.parsing import parse_array, parse_integers, parse_scalar

#: What is simulated or bounded if no problem is given.
_DEFAULT_TASK, _DEFAULT_INSTANCE, _DEFAULT_LAW = 2, "mirrored", "bernoulli"


def law_options() -> dict[str, list[str]]:
    """Return the constructor arguments of all reward laws, each with the names of the laws that
    take it."""
    options: dict[str, list[str]] = {"means": []}
    for law, cls in LAWS.items():
        for name in _arguments(cls):
            options.setdefault(name, []).append(law)
    return options


def _arguments(cls: type[Arms]) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(cls.__init__).parameters
    return {name: parameter for name, parameter in parameters.items() if name != "self"}


def _is_scalar(parameter: inspect.Parameter) -> bool:
    return parameter.annotation in ("float", "int", float, int)


def takes_problem(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that define a problem; it gets the values as the dict
    `problem_options`."""
    keyword_only = inspect.Parameter.KEYWORD_ONLY
    given = inspect.signature(command, eval_str=True).parameters.values()
    own = [p.replace(kind=keyword_only) for p in given if p.name != "problem_options"]
    shared = [
        inspect.Parameter(name, keyword_only, default=default, annotation=annotation)
        for name, (annotation, default) in _problem_options().items()
    ]

    def with_problem(**options: Any) -> None:
        command(problem_options={p.name: options.pop(p.name) for p in shared}, **options)

    with_problem.__name__, with_problem.__doc__ = command.__name__, command.__doc__
    # Where the parser looks for options depends on its version.
    with_problem.__signature__ = inspect.Signature([*shared, *own])  # type: ignore[attr-defined]
    with_problem.__annotations__ = {p.name: p.annotation for p in (*shared, *own)}
    return with_problem


def _problem_options() -> dict[str, tuple[Any, Any]]:
    """Return annotation and default of each option."""

    def option(name: str, text: str, metavar: str, known: Sequence[str] = ()) -> tuple[Any, Any]:
        completion = among(known) if known else None
        found = typer.Option(
            flag(name), help=text, metavar=metavar, show_default=False, autocompletion=completion
        )
        return Annotated[str | None, found], None

    options = {
        "means": option(
            "means",
            "mean reward of each arm, in any order: 0.9,0.5 or @FILE (one a line)",
            "NUMBERS",
        ),
        "law": option(
            "law", f"reward law: {', '.join(LAWS)}; default {_DEFAULT_LAW}", "LAW", tuple(LAWS)
        ),
    }
    for name, users in law_options().items():
        scalar = any(_is_scalar(_arguments(LAWS[law])[name]) for law in users)
        kind = (
            "a number"
            if scalar
            else "numbers 0.9,0.5 or rows 0.2,0.8;0.6,0.4 or @FILE (.csv, .npy)"
        )
        options.setdefault(
            name,
            option(
                name, f"of --law {' or '.join(users)}: {kind}", "NUMBER" if scalar else "NUMBERS"
            ),
        )
    why_strict = "refuse rewards that are not 1/2-sub-Gaussian, for which no guarantee holds"
    task = f"instead: a task of the paper's tables, 1 to 5; default {_DEFAULT_TASK}"
    table_task = typer.Option(help=task, parser=whole_number, metavar="INTEGER")
    return options | {
        "clusters": option("clusters", "cluster sizes, best first, such as 3,5,2", "INTEGERS"),
        "required": option(
            "required", "representatives to name from each cluster, such as 1,0,0", "INTEGERS"
        ),
        "table_task": (Annotated[int | None, table_task], None),
        "instance": option(
            "instance",
            f"its means, mirrored or printed; default {_DEFAULT_INSTANCE}",
            "NAME",
            tuple(TABLE_MEANS),
        ),
        "strict": (Annotated[bool, typer.Option("--strict/--no-strict", help=why_strict)], True),
    }


def build_problem(options: Mapping[str, Any]) -> Problem:
    """Return the problem that the options of `takes_problem` describe.

    Raises
    ------
    TypeError, ValueError
        As `Problem` and the laws; `BadInput` where it is the text that is at fault.
    """
    own = [
        name
        for name in (*law_options(), "law", "clusters", "required")
        if options.get(name) is not None
    ]
    if not own:
        task = _DEFAULT_TASK if options["table_task"] is None else options["table_task"]
        instance = options["instance"]
        return table_problem(
            task=task, instance=_DEFAULT_INSTANCE if instance is None else instance.lower()
        )
    for name in ("table_task", "instance"):
        if options[name] is not None:
            raise BadInput(
                f"{flag(name)} {options[name]} names an instance of the paper but {flag(own[0])} "
                "describes another; give one of the two"
            )
    arms = build_arms(options)
    for name, example in (("clusters", "3,5,2"), ("required", "1,0,0")):
        if options[name] is None:
            raise BadInput(
                f"{flag(name)} is missing but {flag(own[0])} is given; "
                f"give one number a cluster, such as {flag(name)} {example}"
            )
    clusters, required = (
        read_option(name, parse_integers, options[name]) for name in ("clusters", "required")
    )
    return Problem(arms, clusters, required, strict=options["strict"])


def build_arms(options: Mapping[str, Any]) -> Arms:
    """Return the arms that the options of `takes_problem` describe.

    Raises
    ------
    TypeError, ValueError
        As the laws; `BadInput` where it is the text that is at fault.
    """
    law = check_law(_DEFAULT_LAW if options["law"] is None else options["law"])
    arguments = _arguments(LAWS[law])
    values: dict[str, Any] = {}
    for name, users in law_options().items():
        text = options.get(name)
        if name not in arguments:
            if text is not None:
                raise BadInput(
                    f"{flag(name)} {text} does not belong to --law {law}; "
                    f"leave it out or choose --law {' or '.join(users)}"
                )
        elif text is not None:
            scalar = _is_scalar(arguments[name])
            values[name] = read_option(name, parse_scalar if scalar else parse_array, text)
        elif arguments[name].default is inspect.Parameter.empty:
            raise BadInput(
                f"{flag(name)} is missing; --law {law} needs it: numbers such as 0.9,0.5 or @FILE"
            )
    if "means" in values:
        values["means"] = values["means"].ravel()
    return LAWS[law](**values)
