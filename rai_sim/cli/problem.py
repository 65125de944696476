"""The command-line options that define a problem.

Laws come from their registry and their options from the constructors: a new law needs no change
here.
"""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer

from rai_sim import kinds
from rai_sim.arms.base import LAWS, Arms
from rai_sim.cli.options import check_law, flag, read_option
from rai_sim.cli.options import whole_number as option_whole_number
from rai_sim.cli.parser import among
from rai_sim.problem import TABLE_MEANS, Problem, table_problem
from rai_sim.support.errors import ArgumentError, BadInput
from rai_sim.support.named_means import means_in
from rai_sim.support.parsing import (
    file_of,
    near,
    parse_integers,
    parse_row,
    parse_scalar,
    reader_of,
    seen,
)
from rai_sim.support.parsing import whole_number as whole

#: What is simulated or bounded if no problem is given.
_DEFAULT_TASK, _DEFAULT_INSTANCE, _DEFAULT_LAW = 2, "mirrored", "bernoulli"
#: What an option says that several laws have, beside the kind of value that it takes.
_MEANINGS = {
    "sigma": "a number, by which rewards are sigma-sub-Gaussian; algorithms see them over 2 sigma"
}
#: Options that name an instance of the paper.
_OF_THE_PAPER = ("table_task", "instance")


def law_options() -> dict[str, list[str]]:
    """Return the constructor arguments of all reward laws, each with the names of the laws that
    take it."""
    options: dict[str, list[str]] = {"means": []}
    for law, cls in LAWS.items():
        for name in arguments_of(cls):
            options.setdefault(name, []).append(law)
    return options


def arguments_of(cls: type[Arms]) -> dict[str, inspect.Parameter]:
    """Return the arguments from which arms of a law are made."""
    parameters = inspect.signature(cls.__init__).parameters
    return {name: parameter for name, parameter in parameters.items() if name != "self"}


def _is_scalar(parameter: inspect.Parameter) -> bool:
    return parameter.annotation in ("float", "int", float, int, "float | None")


def _is_either(parameter: inspect.Parameter) -> bool:
    """Whether an argument is a number for all arms, or one an arm."""
    return str(parameter.annotation) == "float | ArrayLike"


def _read(parameter: inspect.Parameter) -> Callable[[str], Any]:
    """Return what reads an argument from an option's text."""
    if _is_scalar(parameter):
        return parse_scalar
    return _one_or_several if _is_either(parameter) else reader_of(parameter.name)


def _one_or_several(text: str) -> Any:
    array = parse_row(text)
    return array.item() if array.size == 1 else array


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
        short = (f"-{name}",) if len(name) == 1 else ()
        found = typer.Option(
            *short,
            flag(name),
            help=text,
            metavar=metavar,
            show_default=False,
            autocompletion=completion,
        )
        return Annotated[str | None, found], None

    options = {
        "means": option(
            "means",
            "mean reward of each arm, in any order: 0.9,0.5 or @FILE (one a line, or .csv with a "
            "header)",
            "NUMBERS",
        ),
        "column": option(
            "column", "which column of the --means file, if several hold numbers", "NAME"
        ),
        "names": option(
            "names", "what arms are called: a column of the --means file, or A,B", "NAME"
        ),
        "law": option(
            "law", f"reward law: {', '.join(LAWS)}; default: {_DEFAULT_LAW}", "LAW", tuple(LAWS)
        ),
    }
    for name, users in law_options().items():
        given = [arguments_of(LAWS[law])[name] for law in users]
        kind, metavar = "numbers 0.9,0.5 or rows 0.2,0.8;0.6,0.4 or @FILE (.csv, .npy)", "NUMBERS"
        if any(map(_is_scalar, given)):
            kind, metavar = "a number", "NUMBER"
        elif any(map(_is_either, given)):
            kind = "a number, or one an arm: 0.5,0.25"
        what = _MEANINGS.get(name, kind)
        options.setdefault(name, option(name, f"of --law {' or '.join(users)}: {what}", metavar))
    why_strict = (
        "refuse rewards that are not 1/2-sub-Gaussian (or --sigma), for which no guarantee holds"
    )
    task = f"instead: a task of the paper's tables, 1 to 5; default: {_DEFAULT_TASK}"
    table_task = typer.Option(help=task, parser=option_whole_number, metavar="INTEGER")
    return options | {
        "problem": option(
            "problem", f"what is asked for: {', '.join(kinds.names())}", "KIND", list(kinds.names())
        ),
        "k": option(
            "k", "of --problem top, one_of_top, m_of_top: so many top arms, or 20%", "INTEGER"
        ),
        "m": option("m", "of --problem m_of_top: so many of the top k, or 20%", "INTEGER"),
        "clusters": option(
            "clusters",
            "cluster sizes, best first, such as 3,5,2, or proportions 3:5:2; of --problem coarse, or "
            "with --required",
            "INTEGERS",
        ),
        "required": option(
            "required", "representatives to name from each cluster, such as 1,0,0", "INTEGERS"
        ),
        "table_task": (Annotated[int | None, table_task], None),
        "instance": option(
            "instance",
            f"of that task: means mirrored or printed; default: {_DEFAULT_INSTANCE}",
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
    own = [name for name in given_options(options) if name not in _OF_THE_PAPER]
    if not own:
        task = _DEFAULT_TASK if options["table_task"] is None else options["table_task"]
        instance = options["instance"]
        return table_problem(
            task=task, instance=_DEFAULT_INSTANCE if instance is None else instance.lower()
        )
    for name in _OF_THE_PAPER:
        if options[name] is not None:
            raise BadInput(
                f"{flag(name)} {options[name]} names an instance of the paper but {flag(own[0])} "
                "describes another; give one of the two"
            )
    kind = _kind(options)
    needed = kinds.sizes_of(kind)
    for name in kinds.SIZES:  # what does not belong comes before what is missing
        if name not in needed and options[name] is not None:
            raise BadInput(_why_not(name, options[name], kind))
    arms = build_arms(options)
    for name in needed:
        if options[name] is None:
            raise BadInput(f"{flag(name)} is missing but {_why_needed(name, kind, own[0])}")
    sizes = {name: _size(name, options[name], arms.n_arms) for name in needed}
    if kind is None:
        return Problem(arms, **sizes, strict=options["strict"])
    try:
        return kinds.KINDS[kind](arms, **sizes, strict=options["strict"])
    except ArgumentError as error:
        if error.argument not in kinds.SIZES or error.argument in needed:
            raise
        raise type(error)("problem", *error.parts) from None  # its sizes follow from the kind


def given_options(options: Mapping[str, Any]) -> list[str]:
    """Return which of the options of `takes_problem` are given, in their order; `strict` alone
    describes no problem."""
    return [name for name, value in options.items() if value is not None and name != "strict"]


def _kind(options: Mapping[str, Any]) -> str | None:
    """Return what kind of problem is asked for; None where clusters and requirements tell."""
    text = options["problem"]
    kind = None if text is None else kinds.kind_of(text)
    if kind is None and text is not None:
        known = list(kinds.names())
        raise BadInput(
            f"--problem {seen(text)} is no kind of problem{near(text, known)} choose one of "
            f"{', '.join(known)}"
        )
    return kind


_EXAMPLES = {"k": "3", "m": "2", "clusters": "3,5,2", "required": "1,0,0"}


def _why_needed(name: str, kind: str | None, given: str) -> str:
    """Return by what an option that is missing is needed, and how it is given."""
    example = f"such as {flag(name)} {_EXAMPLES[name]}"
    if kind is not None:
        return f"--problem {kind} needs it, {example}"
    return (
        f"{flag(given)} is given; give one number a cluster, {example}, or a --problem such as "
        "best_arm"
    )


def _why_not(name: str, text: str, kind: str | None) -> str:
    """Return why an option has no meaning."""
    if kind is None:
        owners = ", ".join(one for one in kinds.KINDS if name in kinds.sizes_of(one))
        return f"{flag(name)} {text} belongs to a --problem; give one of {owners}"
    needed = ", ".join(map(flag, kinds.sizes_of(kind))) or "nothing more"
    return f"{flag(name)} {text} does not belong to --problem {kind}, which takes {needed}; leave it out"


def _size(name: str, text: str, n: int) -> Any:
    """Return a number of arms, or sizes of clusters."""
    if file_of(text) is None and ("%" in text or ":" in text):
        try:
            return kinds.size(text, n)
        except ValueError as error:
            raise BadInput(f"{flag(name)} {text}: {error}") from None
    if name in ("clusters", "required"):
        return read_option(name, parse_integers, text)
    return read_option(name, whole, text)


def build_arms(options: Mapping[str, Any]) -> Arms:
    """Return the arms that the options of `takes_problem` describe.

    Raises
    ------
    TypeError, ValueError
        As the laws; `BadInput` where it is the text that is at fault.
    """
    law = check_law(_DEFAULT_LAW if options["law"] is None else options["law"])
    arguments = arguments_of(LAWS[law])
    for name, users in law_options().items():
        if name not in arguments and options.get(name) is not None:
            raise BadInput(
                f"{flag(name)} {options[name]} does not belong to --law {law}; "
                f"leave it out or choose --law {' or '.join(users)}"
            )
    values: dict[str, Any] = {}
    column, names = options["column"], options["names"]
    file = None if options["means"] is None else file_of(options["means"])
    table = means_in(file, column, None if file is None else names)
    for name in arguments:
        text = options.get(name)
        if name == "means" and table is not None:
            values[name] = table.values
        elif text is not None:
            values[name] = read_option(name, _read(arguments[name]), text)
        elif arguments[name].default is inspect.Parameter.empty:
            raise BadInput(
                f"{flag(name)} is missing; --law {law} needs it: numbers such as 0.9,0.5 or @FILE"
            )
    arms = LAWS[law](**values)
    if table is not None:
        return arms if table.names is None else arms.with_names(table.names)
    return arms if names is None else arms.with_names(_listed_names(names))


def _listed_names(text: str) -> list[str]:
    """Return names that are apart by commas; those with commas of their own are in quotes."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
