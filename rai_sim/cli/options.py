"""Options that several verbs share: how they are declared, read from text, and named in messages.

Here lives what turns the text of an option into a value, or refuses it by the option's name, and
the words in which the command line speaks of the library's arguments. What one verb alone
declares stands in that verb's file.
"""

from __future__ import annotations

import difflib
import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import typer

from rai_sim.algorithms.base import Algorithm
from rai_sim.algorithms.text import algorithm_from_text
from rai_sim.arms.base import LAWS
from rai_sim.cli.parser import among
from rai_sim.support import parsing
from rai_sim.support.checks import check_delta
from rai_sim.support.errors import ArgumentError, BadInput, Speech, told
from rai_sim.support.files import MARKER
from rai_sim.support.parsing import near, seen
from rai_sim.support.reading import was_read

#: What `run` runs if no algorithm is named: the five variants of the paper's tables.
VARIANTS = (
    "vanilla",
    "vanilla:merging=false",
    "butterscotch",
    "butterscotch:merging=false",
    "lucb",
)
#: What `run --algorithms` may be: those that are named, or the sharper ones besides.
SETS = ("paper", "all")
#: What skipping rounds may cost if nothing is said.
SKIP_ERROR = 1e-12
#: Kinds of files that figures are written as.
KINDS = ("png", "svg", "pdf")
#: Arguments of the library whose option has another name.
_OTHER_NAMES = {
    "n_jobs": "jobs",
    "task": "table_task",
    "arms": "law",
    "problems": "law",
    **dict.fromkeys(("deltas", "gaps", "numbers", "ks", "ms"), "points"),
}
Read = TypeVar("Read")


# Values from text
# --------------------------------------------------------------------------------------------------


def real_number(text: str | float) -> float:
    """Return an option's number; the parser, which calls this, names the option."""
    return _of_option(parsing.real_number, text)


def whole_number(text: str | int) -> int:
    """Return an option's integer, also from 1e6; the parser, which calls this, names the option."""
    return _of_option(parsing.whole_number, text)


def _of_option(read: Callable[[Any], Read], text: Any) -> Read:
    try:
        return read(text)
    except BadInput as error:
        raise typer.BadParameter(str(error)) from None


def error_probabilities(texts: Sequence[str]) -> list[float]:
    """Return the error probabilities of --delta, given once or several times, each time one or
    several that are apart by commas.

    Examples
    --------
    >>> error_probabilities(["0.1,0.01", "1e-3"])
    [0.1, 0.01, 0.001]
    """
    parts = [part.strip() for text in texts for part in text.split(",")]
    found = [check_delta(read_option("delta", parsing.real_number, part)) for part in parts]
    return once("delta", found, parts)


def once(name: str, values: list[Read], texts: Iterable[object] | None = None) -> list[Read]:
    """Return the values of an option that may have several; refuse what is given twice, in the words
    in which it was.

    Examples
    --------
    >>> once("pulls", [10, 100, 10])
    Traceback (most recent call last):
    rai_sim.support.errors.BadInput: --pulls 10 is given twice; leave one of them out
    """
    for i, text in enumerate(values if texts is None else texts):
        if values[i] in values[:i]:
            raise BadInput(f"{flag(name)} {text} is given twice; leave one of them out")
    return values


def path_name(text: str | Path) -> Path:
    """Return an option's file or folder; the parser, which calls this, names the option."""
    if not str(text).strip():
        raise typer.BadParameter(f"{str(text)!r} is no name; give that of a file or folder")
    return Path(text)


def read_option(
    name: str, read: Callable[[str], Read], text: str, metavar: str | None = None
) -> Read:
    """Return what is read from an option's text, or refuse it by the option's name, or by what it is
    called where it has none."""
    try:
        return read(text)
    except BadInput as error:
        raise BadInput(f"{flag(name) if metavar is None else metavar} {error}") from None


def parse_algorithm(text: str, metavar: str | None = None) -> Algorithm:
    """Return the algorithm that --algorithm, or what stands in its place, names, as in
    `vanilla:merging=false`."""
    return read_option("algorithm", algorithm_from_text, text, metavar)


def parse_algorithms(texts: Iterable[str]) -> list[Algorithm]:
    """Return the algorithms that --algorithm, given several times, names; refuse one that is named
    twice, in whatever words."""
    found = [parse_algorithm(text) for text in texts]
    return once("algorithm", found, [one.label for one in found])


def check_law(text: str) -> str:
    """Return the name of a reward law, in lower case."""
    law = text.strip().lower()
    if law not in LAWS:
        raise BadInput(
            f"--law {seen(text)} is no reward law{near(law, LAWS)} choose one of {', '.join(LAWS)}"
        )
    return law


def check_file(path: Path, option: str) -> None:
    """Refuse a file's name that cannot be written to."""
    if path.is_dir():
        raise BadInput(f"{option} {path} is a folder; give the name of a file")
    check_parent(path, option)
    check_unread(path, option)
    check_no_store(path, option)


def check_unread(path: Path, option: str) -> None:
    """Refuse the place of a file that other options, or a study's file, have read."""
    if was_read(path):
        raise BadInput(f"{option} {path} is a file that is read here; give another name")


def check_folder(path: Path, option: str) -> None:
    """Refuse a name under which no folder is or can be made."""
    if path.exists() and not path.is_dir():
        raise BadInput(f"{option} {path} is a file; give a folder")
    check_parent(path, option)


def check_no_store(path: Path, option: str) -> None:
    """Refuse a place in a folder of results, as which alone it is kept whole; links are followed, as
    they are when it is written."""
    place = path.resolve()
    for folder in (place, *place.parents):
        if (folder / MARKER).is_file():
            raise BadInput(
                f"{option} {path} lies among the study's results in {folder}; give another place"
            )


def check_parent(path: Path, option: str) -> None:
    """Refuse a name in a folder that is not there, and a link, which is followed, into one."""
    for place in (path, Path(os.path.realpath(path))):
        if not place.parent.is_dir():
            raise BadInput(f"{option} {path}: there is no folder {place.parent}; make it first")


def near_file(path: Path, *suffixes: str) -> str:
    """Return `; did you mean ...?` with a file or folder of that name that ends in one of the
    suffixes, or `;`."""
    found = [name for suffix in suffixes if (name := path.with_name(path.name + suffix)).exists()]
    if not found and path.parent.is_dir():
        there = [name for name in os.listdir(path.parent) if name.endswith(suffixes)]
        found = [
            path.with_name(name) for name in difflib.get_close_matches(path.name, there, 1, 0.8)
        ]
    return f"; did you mean {found[0]}?" if found else ";"


class Belongs(NamedTuple):
    """Which of a verb's options go together: the one statement of what would do nothing.

    Attributes
    ----------
    needs : mapping of str to str
        Options that have a meaning with another one alone.
    apart : sequence of (str, str)
        Options of which the first has no meaning with the second.
    """

    needs: Mapping[str, str] = {}
    apart: Sequence[tuple[str, str]] = ()

    def check(self, given: Mapping[str, Any]) -> None:
        """Refuse an option that would do nothing, before anything runs.

        Parameters
        ----------
        given : mapping of str to object
            Values by option; None and False for those that are not given.

        Examples
        --------
        >>> Belongs({"sample": "verify"}).check({"sample": 5, "verify": False})
        Traceback (most recent call last):
        rai_sim.support.errors.BadInput: --sample 5 has no meaning without --verify; add it, or leave --sample out
        """
        words = {name: _as_given(name, value) for name, value in given.items()}
        for name, other in self.needs.items():
            if words[name] and not words[other]:
                raise BadInput(
                    f"{words[name]} has no meaning without {flag(other)}; add it, or leave "
                    f"{flag(name)} out"
                )
        for name, other in self.apart:
            if words[name] and words[other]:
                raise BadInput(
                    f"{words[name]} has no meaning with {words[other]}; leave one of them out"
                )


def _as_given(name: str, value: object) -> str:
    """Return an option with its value as it was written; nothing of one that was not given."""
    if value is None or value is False:
        return ""
    return flag(name) if value is True else f"{flag(name)} {value}"


# Declarations
# --------------------------------------------------------------------------------------------------


def real(text: str) -> Any:
    """Return the option of a number."""
    return typer.Option(help=text, parser=real_number, metavar="NUMBER")


def whole(text: str) -> Any:
    """Return the option of an integer."""
    return typer.Option(help=text, parser=whole_number, metavar="INTEGER")


def path(text: str, *names: str, metavar: str = "FILE") -> Any:
    """Return the option of a file or folder."""
    return typer.Option(*names, help=text, parser=path_name, metavar=metavar, show_default=False)


def names(text: str, known: Sequence[str], metavar: str = "NAME", **more: Any) -> Any:
    """Return the option of a name among known ones, which a shell completes."""
    return typer.Option(help=text, metavar=metavar, autocompletion=among(known), **more)


PROGRESS = typer.Option(
    "--progress/--no-progress",
    help="progress: bars, in a log lines; default: on a terminal, in a log from 30 s on",
)
Delta = Annotated[float, real("error probability, in (0, 1)")]
Json = Annotated[bool, typer.Option("--json", help="print one JSON document instead of a table")]
FOLDER = "where results are kept; default: the file's `store`, else the file's name with .study"
STUDY = typer.Argument(
    help="a study's folder, or its TOML file", metavar="STUDY", parser=path_name, show_default=False
)
SELECT = typer.Option(
    help="repeatable: only tasks of instance=NAME, algorithm=NAME or delta=NUMBER; in names * and "
    "? stand for any "
    "text and any letter",
    metavar="WHAT=VALUE",
    show_default=False,
)
ALL = typer.Option("--all", help="all figures, not only three of a kind")
Jobs = Annotated[int, whole("workers; -1 for all cores; does not change the numbers")]
Seed = Annotated[int, whole("seed of all streams; the same seed gives the same numbers")]
SkipError = Annotated[float, real("total variation that skipping rounds may cost")]
FORMAT = typer.Option(
    "--format",
    help=f"{', '.join(KINDS[:-1])} or {KINDS[-1]}; default: {KINDS[0]}",
    metavar="NAME",
    autocompletion=among(KINDS),
    show_default=False,
)


# In words
# --------------------------------------------------------------------------------------------------


def flag(name: str) -> str:
    """Return the option of an argument's name."""
    return f"--{name.replace('_', '-')}"


class CommandLine(Speech):
    """How a verb speaks of arguments: by its options, where it has such; None cannot be given.

    Parameters
    ----------
    options : iterable of str
        The verb's options, as they are written.

    Examples
    --------
    >>> spoken = CommandLine(["--jobs", "--no-strict"])
    >>> spoken.argument("n_jobs"), spoken.argument("seed"), spoken.passing("strict", False)
    ('--jobs', 'seed', 'pass --no-strict')
    """

    def __init__(self, options: Iterable[str]) -> None:
        """Keep the verb's options."""
        self._options = frozenset(options)

    def argument(self, name: str) -> str:
        """Return the option, or the library's name where the verb has no such option."""
        for option in (flag(name), flag(_OTHER_NAMES.get(name, name))):
            if option in self._options:
                return option
        return name

    def passing(self, name: str, value: object) -> str:
        """Return how an option is given a value; switches have none."""
        if isinstance(value, bool):
            return f"pass {flag(name if value else f'no_{name}')}"
        return f"pass {self.argument(name)} {value}"

    def none(self, words: str) -> str:
        """Return nothing."""
        return ""

    def truth_values(self) -> str:
        """Return how options of algorithms write them."""
        return "true or false"

    def tell(self, error: BaseException) -> str:
        """Return an error's message after the option that it is about, if it is about one."""
        words = told(error, self)
        option = self.argument(error.argument) if isinstance(error, ArgumentError) else ""
        return f"{option}: {words}" if option.startswith("--") else words


def again(*command: str, **options: Any) -> str:
    """Return the command that gives the same numbers, or goes on; what is not given, and what is as
    it would be without, is left out.

    Examples
    --------
    >>> again("study", dry_run=True, verify=False, jobs=2, store=None)
    'rai-sim study --dry-run --jobs 2'
    """
    words = ["rai-sim", *command]
    for name, value in options.items():
        if name == "strict":
            words += [] if value else ["--no-strict"]
        elif isinstance(value, bool):
            words += [flag(name)] if value else []
        elif isinstance(value, list):
            words += [word for entry in value for word in (flag(name), entry)]
        elif value is not None and (name, value) not in (
            ("skip_error", SKIP_ERROR),
            ("algorithms", SETS[0]),
        ):
            words += [flag(name), str(value)]
    return shlex.join(words)
