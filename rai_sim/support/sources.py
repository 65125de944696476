"""What a user's function is made of: a digest by which its numbers can be told from those of another
version."""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np


def digest_of(*functions: Callable[..., Any]) -> str:
    """Return the SHA-256 of functions and of all of the user's that they refer to, 64 digits.

    That is their code, without comments, docstrings, annotations and layout, that of functions they
    call (compiled by Numba or not), and the values of global names they read. Of a function without
    a source, such as one of an interactive session, it is the bytecode, which differs between
    versions of Python. Modules count by their names, libraries' functions likewise.

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
    digest = hashlib.sha256()
    seen: set[int] = set()
    for function in functions:
        for part in _parts(function, seen):
            digest.update(f"{len(part)}:".encode() + part)
    return digest.hexdigest()


def plain(function: Any) -> FunctionType | None:
    """Return the Python function of one that is compiled, static or plain; None of anything else."""
    if isinstance(function, staticmethod):
        function = function.__func__
    function = getattr(function, "py_func", function)
    return function if isinstance(function, FunctionType) else None


def _parts(given: Any, seen: set[int]) -> Iterator[bytes]:
    """Yield what a function is made of: itself, then what it refers to."""
    function = plain(given)
    assert function is not None  # callers hand over functions
    if id(function) in seen:
        return
    seen.add(id(function))
    yield _text(function).encode()
    yield repr((function.__defaults__, function.__kwdefaults__)).encode()
    names = sorted(set(_names(function.__code__)))
    for name, value in _referred(function, names):
        yield name.encode()
        yield from _value(value, names, seen)


def _referred(function: FunctionType, names: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield the global names and free variables that a function reads, with their values."""
    for name in names:
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


def _value(value: Any, names: list[str], seen: set[int]) -> Iterator[bytes]:
    """Yield what a value is."""
    if isinstance(value, ModuleType):
        yield value.__name__.encode()
        if not _of_a_library(value.__name__):
            for name in names:
                if plain(getattr(value, name, None)) is not None:
                    yield name.encode()
                    yield from _parts(getattr(value, name), seen)
    elif (function := plain(value)) is not None:
        if _of_a_library(function.__module__ or ""):
            yield f"{function.__module__}.{function.__qualname__}".encode()
        else:
            yield from _parts(function, seen)
    elif isinstance(value, np.ndarray):
        yield repr((value.dtype.str, value.shape)).encode()
        yield np.ascontiguousarray(value).tobytes()
    else:
        yield repr(value).encode()


def _of_a_library(module: str) -> bool:
    """Whether a module is installed, or this package's: its versions are told apart by other means."""
    top = module.partition(".")[0]
    if top == "rai_sim" or top in sys.stdlib_module_names:
        return True
    place = getattr(sys.modules.get(top), "__file__", None) or ""
    return "site-packages" in place or "dist-packages" in place


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code and the code inside of it read."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _text(function: FunctionType) -> str:
    """Return a function's code as text: its source in one layout, or its bytecode."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        (definition,) = tree.body
        assert isinstance(definition, ast.FunctionDef)
    except (OSError, TypeError, SyntaxError, ValueError, AssertionError):
        code = function.__code__
        return repr((code.co_code, [c for c in code.co_consts if not isinstance(c, CodeType)]))
    return ast.unparse(_Bare().visit(definition))


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
