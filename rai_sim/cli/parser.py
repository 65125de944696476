"""What the command line's parser is told beside the commands: help that fits the terminal, near
names, the version, completion."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from rai_sim.support.parsing import near

#: In help of fewer columns there is no room beside the options for what they mean.
_NARROW = 60
#: The parser wraps help at 80 columns, and by itself takes no terminal for narrower than this; so
#: many it leaves free.
_NARROWEST, _FREE = 52, 2
#: The options by which the parser's library completes words in a shell.
COMPLETION = ("--install-completion", "--show-completion")

#: How some versions of the parser's library end the name of an argument, as in `STUDY <Path>`.
_TYPE = re.compile(r" <[^<>]+>$")

# The parser's classes live in another place from version to version; these ways to them are public.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]
_HelpFormatter: Any = typer.Context.formatter_class


class _Formatter(_HelpFormatter):  # type: ignore[misc]  # its place is known when it runs alone
    """In a narrow terminal what an option means stands below it, not in a column of a few letters
    beside it; and of what stands after a command the type in the program is not told."""

    def write_dl(
        self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        told = [(_TYPE.sub("", name), words) for name, words in rows]
        super().write_dl(told, 4 if self.width < _NARROW else col_max, col_spacing)


class _Context(typer.Context):
    formatter_class = _Formatter


class Command(TyperCommand):
    """A command that is summed up by the first line of its help, at any width."""

    context_class = _Context

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the first line, which is short enough."""
        return (self.help or "").partition("\n")[0]


class Group(TyperGroup):
    """Commands that are found by name; where there is none of that name, near ones are told. One
    that Ctrl-C ends without a word of its own is told of."""

    context_class = _Context

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return name, command and the words after it."""
        if self.get_command(ctx, args[0]) is None:
            known = [*self.list_commands(ctx), *options_of(ctx)]
            ctx.fail(f"No such command {args[0]!r}{near(args[0], known)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # its own words, if it has any, are for Python
            print("rai-sim: INTERRUPTED", file=sys.stderr)
            raise typer.Exit(130) from None


def options_of(ctx: Any) -> list[str]:
    """Return the options of the command that a context is of, as they are written."""
    return _options(ctx.command, ctx)


def _options(command: Any, ctx: Any) -> list[str]:
    return _names(command.get_params(ctx))


def own_options(command: Any) -> list[str]:
    """Return a command's options as they are written, but for those that the parser adds."""
    return _names(command.params)


def _names(parameters: Iterable[Any]) -> list[str]:
    return [
        name
        for parameter in parameters
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name[0] == "-"
    ]


def among(known: Iterable[str]) -> Callable[[str], list[str]]:
    """Return what completes a value that is one of the known ones."""
    words = list(known)

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete.lower())]

    return complete


def usage(error: Any, command: str) -> str:
    """Return the parser's message with near names and where to look; not every error knows its
    command."""
    known = f"rai-sim {command}" if command.isalpha() else "rai-sim"
    path = known if error.ctx is None else error.ctx.command_path
    message = error.format_message().replace(": Value error, ", ": ").rstrip(".;")
    option = getattr(error, "option_name", None)
    if option is not None and message.startswith("No such option") and error.ctx is not None:
        owners = [
            name
            for name, command in getattr(error.ctx.command, "commands", {}).items()
            if option in _options(command, error.ctx)
        ]
        hint = (
            f"; it stands after a command, as in rai-sim {owners[0]} {option}"
            if owners
            else near(option, options_of(error.ctx))
        )
        message = f"No such option: {option}{hint}".rstrip(";")
    elif "unexpected extra argument" in message:
        message += "; what a command is told has names, as in --algorithm vanilla"
    return f"{message}{'' if message.endswith('?') else ';'} see {path} --help"


def help_width() -> int | None:
    """Return how wide help may be in a terminal narrower than the parser would believe; None to
    leave it to the parser."""
    columns = shutil.get_terminal_size().columns
    return max(columns - _FREE, 16) if columns < _NARROWEST else None
