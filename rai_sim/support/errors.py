"""Errors about arguments: each names its argument, and is told in the words of whoever was spoken
to.

A message is made of parts. Most are plain text; a part that another front end than Python says
differently is a `Part`, which a `Speech` puts into words. Front ends with words of their own derive
from `Speech`; nobody looks for an argument's name, or for words to replace, in a finished message.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any


class Speech:
    """How arguments and their values are spoken of: in Python's words.

    Examples
    --------
    >>> Speech().passing("strict", False)
    'pass strict=False'
    """

    def argument(self, name: str) -> str:
        """Return what an argument is called."""
        return name

    def passing(self, name: str, value: object) -> str:
        """Return how an argument is given a value."""
        return f"pass {name}={value!r}"

    def none(self, words: str) -> str:
        """Return what None is good for; nothing where it cannot be given."""
        return words

    def truth_values(self) -> str:
        """Return how the two truth values are written."""
        return "True or False"


class Part(ABC):
    """A part of a message that is put into words by a `Speech`; as text it is in Python's."""

    @abstractmethod
    def said(self, speech: Speech) -> str:
        """Return the words."""

    def __str__(self) -> str:
        """Return Python's words."""
        return self.said(Speech())


@dataclass(frozen=True)
class Named(Part):
    """An argument that is named in passing: not the one at fault, or not at the message's head."""

    name: str

    def said(self, speech: Speech) -> str:
        """Return what the argument is called."""
        return speech.argument(self.name)


@dataclass(frozen=True)
class Passing(Part):
    """A remedy: to give an argument a value."""

    name: str
    value: Any

    def said(self, speech: Speech) -> str:
        """Return how that is done."""
        return speech.passing(self.name, self.value)


@dataclass(frozen=True)
class OrNone(Part):
    """A remedy by None, such as ", or None to draw one"."""

    words: str

    def said(self, speech: Speech) -> str:
        """Return the words, or nothing."""
        return speech.none(self.words)


@dataclass(frozen=True)
class TruthValues(Part):
    """What a switch may be."""

    def said(self, speech: Speech) -> str:
        """Return both values."""
        return speech.truth_values()


class WordedError(Exception):
    """An error whose message is made of parts.

    Parameters
    ----------
    *parts : str or Part
        The message, in this order, nothing between them.

    Examples
    --------
    >>> class InCapitals(Speech):
    ...     def argument(self, name):
    ...         return name.upper()
    >>> error = WordedOverflowError("too many pulls; cap them with ", Named("max_pulls"))
    >>> str(error), error.said(InCapitals())
    ('too many pulls; cap them with max_pulls', 'too many pulls; cap them with MAX_PULLS')
    """

    def __init__(self, *parts: str | Part) -> None:
        """Keep the parts; what Python shows is in its own words."""
        super().__init__("".join(map(str, parts)))
        self.parts = parts

    def said(self, speech: Speech) -> str:
        """Return the message in the words of a front end.

        Parameters
        ----------
        speech : Speech
            How a front end calls arguments and values.

        Returns
        -------
        str
            The message; `str` of the error has Python's words.
        """
        return "".join(part if isinstance(part, str) else part.said(speech) for part in self.parts)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes it anew in another process."""
        return type(self), self.parts


class ArgumentError(WordedError):
    """An argument that cannot be used; raised as `ArgumentTypeError` or `ArgumentValueError`.

    Parameters
    ----------
    argument : str
        The argument's name as the public function has it, whatever entry of it is at fault.
    *parts : str or Part
        The message: the argument (or its entry) and its value, what is wrong, and the remedy.

    Examples
    --------
    >>> try:
    ...     raise ArgumentValueError("n", "n is 1; it must be at least 2")
    ... except ValueError as error:
    ...     print(f"{error.argument}: {error}")
    n: n is 1; it must be at least 2
    """

    def __init__(self, argument: str, *parts: str | Part) -> None:
        """Keep the name beside the message."""
        super().__init__(*parts)
        self.argument = argument

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes it anew in another process."""
        return type(self), (self.argument, *self.parts)


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument of a wrong type."""


class ArgumentValueError(ArgumentError, ValueError):
    """An argument of the right type with a value that cannot be used."""


class WordedOverflowError(WordedError, OverflowError):
    """Numbers that grow too large in the course of a run, through no one argument's fault."""


class BadInput(ValueError):
    """What was written, on a command line or in a file, cannot be used; the message has the
    remedy."""


def told(error: BaseException, speech: Speech) -> str:
    """Return any error's message, in the words of a front end where it has such.

    Examples
    --------
    >>> told(ValueError("so it is"), Speech())
    'so it is'
    """
    return error.said(speech) if isinstance(error, WordedError) else str(error)
