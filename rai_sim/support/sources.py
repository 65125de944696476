"""What a user's function is made of: a digest by which its numbers can be told from those of another
version."""

from __future__ import annotations

import ast
import enum
import functools
import hashlib
import inspect
import itertools
import re
import sys
import sysconfig
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from tokenize import TokenError
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from rai_sim.support.errors import ArgumentTypeError, ArgumentValueError


def digest_of(*functions: Callable[..., Any], facts: object = (), by_source: bool = True) -> str:
    """Return the SHA-256 of functions and of all of the user's that they refer to, 64 digits.

    That is their code, without comments, docstrings, annotations and layout, that of functions they
    call (compiled by Numba or not), and the values of global names they read, in modules of the
    user's, too. Of a function without a source, such as one of an interactive session, or with a
    source that was edited since, it is the bytecode, which differs between versions of Python.
    Modules count by their names, functions of libraries likewise unless they are compiled by Numba.

    Parameters
    ----------
    *functions : callable
        The functions.
    facts : object, optional
        What else tells them from others.
    by_source : bool, default True
        False: by the bytecode in any case, which is the same wherever one Python runs the functions.

    Examples
    --------
    >>> def double(x): return x + x  # a comment
    >>> def twice(x):
    ...     return x + x
    >>> digest_of(double) == digest_of(twice)
    False
    >>> len(digest_of(double))
    64
    """
    digest, look = hashlib.sha256(), _Look(set(), frozenset(), by_source)
    for given in (*functions, *((facts,) if facts else ())):
        for part in _value(given, look, given_by_caller=True):
            digest.update(f"{len(part)}:".encode() + part)
    return digest.hexdigest()


def plain(function: Any) -> FunctionType | None:
    """Return the Python function of one that is compiled, static or plain; None of anything else."""
    if isinstance(function, staticmethod):
        function = function.__func__
    function = getattr(function, "_dispatcher", function)  # of `numba.vectorize`
    function = getattr(function, "py_func", function)
    return function if isinstance(function, FunctionType) else None


class Code(NamedTuple):
    """Functions of a user's as they were when something was made of them."""

    digest: str  # `digest_of` them
    bytecode: str  # the same by their bytecode


def code_of(*functions: Callable[..., Any], facts: object = ()) -> Code:
    """Look at functions, as `digest_of` does."""
    return Code(
        digest_of(*functions, facts=facts), digest_of(*functions, facts=facts, by_source=False)
    )


@functools.cache
def is_still(code: Code, functions: tuple[Callable[..., Any], ...], facts: object = ()) -> bool:
    """Whether functions are what they were; asked once in a process, before they are compiled, which
    makes the globals they read constants.

    A global may have been assigned anew since, or have another value in a worker process; what is
    compiled would then be kept under the digest of something else.
    """
    return code.bytecode == digest_of(*functions, facts=facts, by_source=False)


def why_not_compiled(error: Exception) -> str:
    """Return what Numba's many words say is wrong with a user's function, and in which line of it.

    They begin with the function that was called, and what is said of its code comes after it,
    inside out; lines of Numba's own files and of this package's tell nothing.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    start = next(
        (j + 1 for j, line in enumerate(lines) if line.endswith("raised a specific error:")), 0
    )
    telling = [
        line
        for line in lines[start:]
        if not line.startswith(("Failed in", "During:", "File", "<source", "[1"))
        and "Failed in nopython mode" not in line
    ]
    said = " ".join(telling[: 2 if ">>>" in "".join(telling[1:2]) else 1])[:300]
    if any("Cannot modify readonly array" in line for line in lines):
        said = "it writes into an array that can only be read"
    place, user = "", False
    for line, after in itertools.pairwise(lines[start:]):
        if line.startswith('File "'):
            user = "site-packages" not in line
        if user and after == "^":
            place = f', in "{line[:120]}"'
            break
    return said + place


class _Look(NamedTuple):
    """What is known while functions are gone through."""

    seen: set[int]  # ids of functions
    names: frozenset[str]  # what the function at hand reads: of modules and classes these
    by_source: bool


def _parts(function: FunctionType, look: _Look) -> Iterator[bytes]:
    """Yield what a function is made of: itself, then what it refers to."""
    if id(function) in look.seen:
        return
    look.seen.add(id(function))
    code = _text(function) if look.by_source else repr(_of_code(function.__code__))
    yield code.encode()
    look = look._replace(names=frozenset(_names(function.__code__)))
    yield from _value((function.__defaults__, function.__kwdefaults__), look)
    for name, value in _referred(function, sorted(look.names)):
        yield name.encode()
        yield from _value(value, look)


def _referred(function: FunctionType, names: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield the global names and free variables that a function reads, with their values."""
    for name in names:
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet: to run the function would be an error
            continue


def _value(value: Any, look: _Look, given_by_caller: bool = False) -> Iterator[bytes]:
    """Yield what a value is."""
    if isinstance(value, ModuleType):
        yield from _of_module(value, look)
    elif (function := plain(value)) is not None:
        compiled = not isinstance(value, (FunctionType, staticmethod))
        place = function.__module__ or ""
        if given_by_caller or not _of_a_library(place) or (compiled and not _of_package(place)):
            yield repr(sorted(_options(value).items())).encode()
            yield from _parts(function, look)
        else:
            yield f"{place}.{function.__qualname__}".encode()
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        yield repr((value.dtype.str, value.shape)).encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, (tuple, list)):
        yield repr((type(value).__name__, getattr(value, "_fields", ()), len(value))).encode()
        for one in value:
            yield from _value(one, look)
    elif isinstance(value, dict):
        yield repr(("dict", len(value))).encode()
        for key, one in value.items():
            yield from _value((key, one), look)
    elif isinstance(value, type):
        yield from _of_class(value, look)
    else:  # an address says nothing
        yield re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value)).encode()


def _of_module(module: ModuleType, look: _Look) -> Iterator[bytes]:
    """Yield a module's name, and what the function at hand reads of it: all of the user's own, of a
    library numbers and what is compiled by Numba."""
    yield module.__name__.encode()
    if _of_package(module.__name__):
        return
    library = _of_a_library(module.__name__)
    for name in sorted(look.names):
        value = vars(module).get(name)
        compiled = plain(value) is not None and not isinstance(value, FunctionType)
        if value is not None and (
            not library or compiled or isinstance(value, (int, float, np.ndarray))
        ):
            yield name.encode()
            # a module within itself would not end
            yield from _value(value, look._replace(names=look.names - {name}))


def _of_class(cls: type, look: _Look) -> Iterator[bytes]:
    """Yield a class's name, and what the function at hand reads of one of the user's."""
    if _of_a_library(cls.__module__):
        yield repr(cls).encode()
        return
    yield cls.__qualname__.encode()
    if issubclass(cls, enum.Enum):
        yield repr([(member.name, member.value) for member in cls]).encode()
    for name in sorted(look.names & vars(cls).keys()):
        yield name.encode()
        yield from _value(vars(cls)[name], look._replace(names=look.names - {name}))


def _options(function: Any) -> dict[str, Any]:
    """Return the options of a function compiled by Numba that may change its numbers."""
    given = getattr(getattr(function, "_dispatcher", function), "targetoptions", {})
    return {name: given[name] for name in ("fastmath", "error_model") if given.get(name)}


def _of_a_library(module: str) -> bool:
    """Whether a module is installed, or this package's: its versions are told apart by other means."""
    top = module.partition(".")[0]
    if top == "rai_sim":
        return True
    place = getattr(sys.modules.get(top), "__file__", None)
    if place is None:
        return top in sys.stdlib_module_names
    installed = "site-packages" in place or "dist-packages" in place
    return installed or place.startswith(sysconfig.get_path("stdlib"))


def _of_package(module: str) -> bool:
    return module.partition(".")[0] == "rai_sim"


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code and the code inside of it read."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _text(function: FunctionType) -> str:
    """Return a function's code as text: its source in one layout, or its bytecode."""
    code = function.__code__
    try:
        lines, start = inspect.findsource(code)
        (definition,) = ast.parse(textwrap.dedent("".join(inspect.getblock(lines[start:])))).body
        # the file may have been edited since it was read
        current = _of_code(code) in _codes("".join(lines))[code.co_name, code.co_firstlineno]
    except (OSError, TypeError, SyntaxError, ValueError, LookupError, TokenError):
        return repr(_of_code(code))
    if not current or not isinstance(definition, ast.FunctionDef):
        return repr(_of_code(code))
    return ast.unparse(_Bare().visit(definition))


@functools.lru_cache(maxsize=8)
def _codes(source: str) -> dict[tuple[str, int], list[tuple[object, ...]]]:
    """Return what the functions of a file do, by name and line."""
    found: dict[tuple[str, int], list[tuple[object, ...]]] = {}
    with warnings.catch_warnings():  # the user has seen them
        warnings.simplefilter("ignore")
        module = compile(source, "<source>", "exec", dont_inherit=True)
    for code in _inside(module):
        found.setdefault((code.co_name, code.co_firstlineno), []).append(_of_code(code))
    return found


def _inside(code: CodeType) -> Iterator[CodeType]:
    """Yield all code inside of code."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _inside(constant)


def _of_code(code: CodeType) -> tuple[object, ...]:
    """Return what code does: its instructions with all that they name, without lines."""
    return (
        code.co_code,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
        tuple(map(_constant, code.co_consts)),
    )


def _constant(value: Any) -> object:
    if isinstance(value, CodeType):
        return _of_code(value)
    if isinstance(value, tuple):
        return tuple(map(_constant, value))
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    return repr(value)


class _Bare(ast.NodeTransformer):
    """Takes away what changes no number."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Leave docstring, decorators and annotations out."""
        self.generic_visit(node)
        node.decorator_list, node.returns = [], None
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            node.body = node.body[1:] or [ast.Pass()]
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Leave the annotation out."""
        node.annotation = None
        return node


def check_parameters(
    argument: str, where: str, function: Callable[..., Any], wanted: Sequence[str]
) -> None:
    """Make sure that a function of a user's class takes what it will be given, without the class's
    object.

    Raises
    ------
    ArgumentTypeError
        If it does not.
    """
    signature = inspect.signature(function)
    try:
        signature.bind(*wanted)
    except TypeError:
        fits = False
    else:
        fits = next(iter(signature.parameters)) != "self"
    if not fits:
        raise ArgumentTypeError(
            argument,
            f"{argument}: {where} takes ({', '.join(signature.parameters)}); write it as a static "
            f"method, with @staticmethod above it, of ({', '.join(wanted)})",
        )


def confirm(
    argument: str,
    name: str,
    code: Code,
    functions: tuple[Callable[..., Any], ...],
    facts: object = (),
) -> None:
    """Make sure that what is compiled is what an algorithm, or arms, were made of.

    Raises
    ------
    ArgumentValueError
        If it is not.
    """
    if not is_still(code, functions, facts):
        raise ArgumentValueError(
            argument,
            f"{argument}: the code of {name}, or a global that it reads, is not what it was when "
            f"{name} was made, or is another one in a worker process; make it after all of this is "
            "set, and set globals outside of `if __name__ == '__main__'`",
        )
