"""The only place that sets Numba options.

Five kinds of compiled functions exist:

`kernel`, `inlined`
    A helper. It is compiled into whatever calls it, as a call or in place of one, and never cached
    on disk by itself.
`driver`, `exposed`
    An entry point that Python calls, or a helper as one. It is cached on disk, so a fresh process
    does not compile it again.
`implements`
    One law's version of an operation that every law offers (see `rai_sim.engine.law`), or one
    schedule's, or one engine's for many arms.
`of_types`
    A helper for numbers of some kinds alone: a call with anything else does not compile.
`for_words`, `for_bridges`, `for_type`
    A helper for laws that give words of rewards, or sums between two known ones, or for one class
    of named tuples; elsewhere a stand-in is compiled, which takes less time and is never run: the
    caller asks the law first. `in_place` makes of it, or of an operation, what `inlined` makes of
    other helpers.

Numba's disk cache notices a change of the entry point's own file only; a changed helper in another
file would go unnoticed (numba #1833). `driver` therefore puts a digest of all of the package's
kernel sources into the function's qualified name, from which Numba makes the names of the cache
files, and keeps them in a cache that checks what it loads (see `rai_sim.engine.kernel_cache`).
"""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, update_wrapper
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
from numba import types
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError
from numba.core.registry import CPUDispatcher
from numba.extending import overload

from rai_sim.engine.kernel_cache import KernelCache, warn_once

try:
    from rai_sim.engine import linking

    _COMPILERS: tuple[type, type] = linking.PartCompiler, linking.WholeCompiler
    _IN_PLACE, _STANDS_IN_PLACE = linking.IN_PLACE, dict[str, Any]()
# a version of Numba that is built otherwise: compiling takes longer
except (ImportError, AttributeError):
    _COMPILERS = numba.core.compiler.Compiler, numba.core.compiler.Compiler
    _IN_PLACE, _STANDS_IN_PLACE = set(), {"forceinline": True}

F = TypeVar("F", bound=Callable[..., Any])

#: error_model="numpy": a division by zero gives inf, as the formulas want, instead of a branch a
#: division. nogil: threads run blocks side by side. fastmath stays off: it deletes tests for NaN
#: and infinity. _nrt: no reference counts, which took three quarters of LUCB's time; a kernel that
#: allocates an array then does not compile, and none should: callers allocate.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}


#: pipeline_class: entry points are optimised once, with all their helpers, see
#: `rai_sim.engine.linking`. Python calls them, C never does.
_ENTRY: dict[str, Any] = _OPTIONS | {"pipeline_class": _COMPILERS[1], "no_cfunc_wrapper": True}
#: Of what only compiled code calls: no wrappers for Python and C, which took over a quarter of the
#: time of compilation (measured).
_INNER: dict[str, Any] = _OPTIONS | {
    "pipeline_class": _COMPILERS[0],
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


class _Inner(CPUDispatcher):  # type: ignore[misc]  # numba is untyped
    """What stands in Python for a compiled function without a wrapper: a call would end the
    process."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Refuse."""
        name = self.py_func.__name__
        raise TypeError(
            f"{name} is compiled into other compiled functions only; to call it from Python take "
            "`exposed` of it"
        )

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile for the types of arguments, whatever a constant among them is: of LUCB's 207
        compiled functions 31 were variants for constants."""
        kws = {name: types.unliteral(given) for name, given in dict(kws).items()}
        return super().get_call_template([types.unliteral(given) for given in args], kws)


def _options_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return Numba's options for a helper."""
    return _INNER | (_STANDS_IN_PLACE if function in _IN_PLACE else {})


def _inner(function: F) -> F:
    dispatcher = numba.njit(**_options_of(function))(function)
    dispatcher.__class__ = _Inner
    return cast(F, dispatcher)


#: New objects after which garbage is looked for while a kernel is compiled.
_SELDOM = 200_000


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Look for garbage seldom: what Numba makes of a kernel, millions of objects, is needed until
    the kernel is done, and to look through it 1,500 times took a fifth of LUCB's compilation.

    It needs some 40 MB more for that (measured). Whoever has switched looking off finds it off.
    """
    before = gc.get_threshold()
    if before[0] > 0:
        gc.set_threshold(max(before[0], _SELDOM), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class _Entry(CPUDispatcher):  # type: ignore[misc]  # numba is untyped
    """An entry point, which one process compiles while others that need it wait for the file."""

    def compile(self, signature: Any) -> Any:
        """Load, or compile and keep, what a signature needs."""
        # threads wait for each other anyway
        with global_compiler_lock, collected_seldom():
            unless_kept = getattr(self._cache, "unless_kept", None)
            if unless_kept is None:
                return super().compile(signature)
            told = {"dispatcher": self, "args": signature, "return_type": None}
            with unless_kept(
                signature,
                self.targetctx,
                lambda: event.trigger_event("numba:compile", data=told),
            ):
                return super().compile(signature)


def kernel(function: F) -> F:
    """Compile a helper that other compiled functions call; Python cannot."""
    return _inner(function)


def inlined(function: F) -> F:
    """Compile a helper whose call must vanish.

    That is the few lines in which a random word is made, short functions of many arrays (passing
    an array by value is seven words), and what is given a constant on which its loops hang. It does
    not hold of what the helper calls.
    """
    _IN_PLACE.add(function)
    return _inner(function)


#: Files and folders among the kernels' that hold none, and of which no kernel reads a name
#: (tests/engine/test_jit.py): an edit of them need not compile everything anew.
_WITHOUT_KERNELS = ("algorithms/options.py", "algorithms/text.py", "arms/movielens/")


@cache
def source_digest() -> str:
    """Return the SHA-256 of every source file that kernels are compiled from."""
    return digest_of(Path(__file__).parent.parent)


def digest_of(package: Path) -> str:
    """Return the SHA-256 of a package's kernel sources, those in subfolders included: their places
    and their bytes."""
    digest = hashlib.sha256()
    for place, path in sorted(kernel_sources(package).items()):
        data = path.read_bytes()
        digest.update(f"{place}\n{len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()


def kernel_sources(package: Path) -> dict[str, Path]:
    """Return the files of a package that kernels are compiled from, by their places in it."""
    found = [
        path
        for folder in ("algorithms", "arms", "engine")
        for path in (package / folder).rglob("*.py")
    ]
    sources = {
        path.relative_to(package).as_posix(): path
        for path in (*found, package / "support" / "limits.py")
    }
    return {
        place: path for place, path in sources.items() if not place.startswith(_WITHOUT_KERNELS)
    }


def driver(function: F) -> F:
    """Compile an entry point and keep the machine code on disk, named by the digest of all kernel
    sources.

    Where there is no folder to keep it in, the function works without, after a warning.
    """
    function.__qualname__ += f"_{source_digest()[:16]}"
    dispatcher = numba.njit(**_ENTRY)(function)
    dispatcher.__class__ = _Entry
    try:
        dispatcher._cache = KernelCache(function)
    # no folder that may be written to, or a version of Numba whose cache is built otherwise
    except Exception as problem:
        warn_once(
            "save",
            f"compiled kernels are not kept on disk ({problem}); every process compiles anew. "
            "Set NUMBA_CACHE_DIR to a writable folder.",
        )
    return cast(F, dispatcher)


@cache
def _way_in(helper: Any) -> Any:
    given = getattr(helper, "py_func", helper)
    copy = FunctionType(
        given.__code__, given.__globals__, argdefs=given.__defaults__, closure=given.__closure__
    )
    return driver(update_wrapper(copy, given))


def exposed(function: F) -> F:
    """Return a helper as Python can call it, compiled once more and kept like a driver: where both
    Python and kernels ask for it, for tests, and for a look by hand."""
    return cast(F, _way_in(function))


def in_place(function: F) -> F:
    """Let an operation, in every version, or a function that is chosen by `for_words` and the like
    stand in the place of its calls, as what is `inlined` does."""
    _IN_PLACE.add(function)
    return function


def implements(operation: Callable[..., Any], law: type) -> Callable[[F], F]:
    """Register the decorated function as `operation` for kernels that are given a `law` (a
    NamedTuple class).

    Dispatch happens on the type of the first argument while compiling, so it costs nothing at run
    time, and unlike functions passed as arguments it does not keep drivers off the disk cache
    (numba #6251, #6972).
    """

    def register(function: F) -> F:
        if operation in _IN_PLACE:
            _IN_PLACE.add(function)

        def choose(first: Any, *_rest: Any) -> Callable[..., Any] | None:
            # of a named tuple, or of a reference to one
            return function if getattr(first, "instance_class", None) is law else None

        overload(operation, strict=False, jit_options=_options_of(function))(choose)
        return function

    return register


#: Laws that give words of rewards.
_WITH_WORDS: set[type] = set()


def gives_words(law: F) -> F:
    """Class decorator of a law that may give words of rewards (see `rai_sim.engine.law`)."""
    _WITH_WORDS.add(cast(type, law))
    return law


def may_give_words(law: object) -> bool:
    """Whether a law is of a class that `gives_words`."""
    return type(law) in _WITH_WORDS


#: Laws that give sums between two known ones.
_WITH_BRIDGES: set[type] = set()


def gives_bridges(law: F) -> F:
    """Class decorator of a law that gives sums between two known ones (see `rai_sim.engine.law`)."""
    _WITH_BRIDGES.add(cast(type, law))
    return law


def may_give_bridges(law: object) -> bool:
    """Whether a law is of a class that `gives_bridges`."""
    return type(law) in _WITH_BRIDGES


#: Laws whose sums are binomial.
_OF_BINOMIALS: set[type] = set()


def sums_are_binomial(law: F) -> F:
    """Class decorator of a law in which k pulls of an arm sum up to a binomial of k trials with
    probability `mean_of`, whatever came before."""
    _OF_BINOMIALS.add(cast(type, law))
    return law


def has_binomial_sums(law: object) -> bool:
    """Whether a law is of a class whose `sums_are_binomial`."""
    return type(law) in _OF_BINOMIALS


def for_words(stand_in: Callable[..., Any]) -> Callable[[F], F]:
    """Compile the decorated helper where its first argument, or the field `law` of it,
    `gives_words`, and the stand-in elsewhere."""
    return _where(_WITH_WORDS.__contains__, stand_in)


def for_bridges(stand_in: Callable[..., Any]) -> Callable[[F], F]:
    """Compile the decorated helper where its first argument, or the field `law` of it,
    `gives_bridges`, and the stand-in elsewhere."""
    return _where(_WITH_BRIDGES.__contains__, stand_in)


#: Numba's kinds of types of whole numbers, truth values counted as 1 and 0, and of all numbers.
WHOLE: tuple[type, ...] = (types.Integer, types.Boolean)
REAL: tuple[type, ...] = (*WHOLE, types.Float)


def of_types(*kinds: type) -> Callable[[F], F]:
    """Compile the decorated helper, of one argument, where that is of one of Numba's kinds of types;
    a call with another does not compile."""

    def register(function: F) -> F:
        def choose(given: Any) -> Callable[..., Any] | None:
            return function if isinstance(given, kinds) else None

        overload(function, strict=False, jit_options=_options_of(function))(choose)
        return function

    return register


def returned(function: Callable[..., Any], arguments: Iterable[Any]) -> Any:
    """Return Numba's type of what a function gives back for arguments like these, None where it does
    not compile by itself: to say what is wrong with a user's, not to run it."""
    alone = numba.njit(**_OPTIONS)(function)
    try:
        alone.compile(tuple(map(numba.typeof, arguments)))
    except NumbaError:
        return None
    return alone.nopython_signatures[-1].return_type


def in_words(given: Any) -> str:
    """Return what a function gives back, in words, by Numba's type of it (`returned`).

    Examples
    --------
    >>> [in_words(given) for given in (types.none, types.float64, types.Optional(types.int64))]
    ['nothing', 'a float', 'an integer or nothing']
    """
    if isinstance(given, types.Optional):
        return f"{in_words(given.type)} or nothing"
    kinds = {
        types.NoneType: "nothing",
        types.Boolean: "a truth value",
        types.Integer: "an integer",
        types.Float: "a float",
        types.Complex: "a complex number",
        types.UnicodeType: "a text",
        types.BaseTuple: "a tuple",
        types.Array: "an array",
    }
    given = types.unliteral(given)
    return next((words for kind, words in kinds.items() if isinstance(given, kind)), str(given))


def for_type(wanted: type, stand_in: Callable[..., Any]) -> Callable[[F], F]:
    """Compile the decorated helper where its first argument is of a class of named tuples, the
    stand-in where it is of another."""
    return _where(lambda given: given is wanted, stand_in)


def _where(suits: Callable[[type], bool], stand_in: Callable[..., Any]) -> Callable[[F], F]:
    def register(function: F) -> F:
        def choose(first: Any, *_rest: Any) -> Callable[..., Any]:
            given = first.types[first.fields.index("law")] if "law" in first.fields else first
            # a user's law may have a number that it calls `law`
            held = getattr(given, "instance_class", first.instance_class)
            return function if suits(held) else stand_in

        overload(function, strict=False, jit_options=_options_of(function))(choose)
        return function

    return register
