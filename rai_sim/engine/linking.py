"""How compiled functions are put together: helpers stay as they were lowered, and the entry point
that they end in is optimised once.

By itself Numba optimises each function together with all that it calls and makes machine code of
it, before the next one takes it in and optimises it again: of LUCB's 83 seconds of compiling that
was 33, of which 9 are left. Kernels' helpers are called by kernels alone, so what was made of them
on the way was thrown away. The code that runs gives the same numbers, as fast.

Built on what Numba offers for compilers of one's own (`pipeline_class`, passes) and on its code
libraries, which it does not promise to keep: where they are missing, `rai_sim.engine.jit` does
without.

A library, in Numba's sense, is what was compiled of one function, and a list of the libraries of
those that it calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

# Numba is untyped, hence the words to mypy.


#: Helpers whose code stands in the place of every call. Not by Numba's option `forceinline`: what
#: they call inherits it, and what that calls, so that whole samplers stood in thirty places of an
#: entry point, which made half of its code and took a fifth of Vanilla's compilation (measured).
IN_PLACE: set[Callable[..., Any]] = set()

#: How Numba's names of functions that Python calls begin.
_FROM_PYTHON = "_ZN7cpython"


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """A helper: code that is linked into others, and never run by itself."""

    def finalize(self) -> None:
        """Leave the code as it is; nothing is linked in, optimised or made into machine code."""
        self._raise_if_finalized()
        self._finalized = True

    def alone(self) -> Any:
        """Return the function's own code, without what it calls, to be linked in."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """Return the code with all that it calls: for functions that are compiled as Numba does it,
        such as a user's own."""
        together = self.alone().clone()
        for callee in _callers_first(self):
            together.link_in(_code_of(callee), preserve=True)
        return together


class _Whole(JITCodeLibrary):  # type: ignore[misc]
    """An entry point: it takes in all helpers, those of helpers too, and is then optimised."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Take code in; that in which Python's arguments are unpacked stays as it is.

        It runs once a call, and to optimise it took a third of the time of a small entry point
        that is given some forty arrays (measured).
        """
        for function in ir_module.functions:
            if not function.is_declaration and function.name.startswith(_FROM_PYTHON):
                function.attributes.add("noinline")
                function.attributes.add("optnone")
        super().add_ir_module(ir_module)

    def finalize(self) -> None:
        """Link, optimise, and make machine code."""
        for library in _callers_first(self):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(_code_of(library), preserve=True)
        self._linking_libraries.clear()
        super().finalize()


def _code_of(library: Any) -> Any:
    return library.alone() if isinstance(library, _Part) else library._get_module_for_linking()


def _callers_first(start: Any) -> list[Any]:
    """Return all libraries that one needs, each before those that it calls itself: of a module LLVM
    takes in what is called already."""
    done: dict[Any, None] = {}

    def visit(library: Any) -> None:
        if library not in done:
            if library is start or isinstance(library, _Part):  # what others call is in their code
                for callee in library._linking_libraries:
                    visit(callee)
            done[library] = None

    visit(start)
    return list(reversed(done))[1:]


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerPart(NativeLowering):  # type: ignore[misc]
    """Lower a helper."""

    _name = "rai_sim_lower_part"

    def run_pass(self, state: Any) -> bool:
        """Lower into a `_Part`, and register the function with those that compile calls to it."""
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags = state.flags.copy()
        state.flags.no_compile = True
        state.flags.forceinline = state.func_id.func in IN_PLACE
        super().run_pass(state)
        result, described = state["cr"], state["cr"].fndesc
        # What Numba knows the function by; there is no code behind it, and `_Inner` refuses calls.
        name = described.qualname.split(".")[-1]
        handle = _dynfunc.make_function(
            described.lookup_module(), name, "", 0, result.env, (state.library,)
        )
        state.targetctx.insert_user_function(handle, described, [state.library])
        state["cr"] = result._replace(cfunc=handle)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerWhole(NativeLowering):  # type: ignore[misc]
    """Lower an entry point."""

    _name = "rai_sim_lower_whole"

    def run_pass(self, state: Any) -> bool:
        """Lower into a `_Whole`, whose machine code can be kept on disk."""
        state.library = _Whole(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class _Flags(Flags):  # type: ignore[misc]
    """The options of a compilation, which are compared at every call in what is compiled: read one
    by one, as Numba does it, that took a tenth of the time (measured)."""

    __slots__ = ()
    _DEFAULTS: ClassVar = {name: option.default for name, option in Flags.options.items()}

    def values(self) -> dict[str, Any]:
        """Return all options, by name."""
        return self._DEFAULTS | self._values


class _Compiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler with another pass in the place of the lowering."""

    _lowering: type

    def __init__(
        self,
        typing_context: Any,
        target_context: Any,
        library: Any,
        args: Any,
        return_type: Any,
        flags: Any,
        local_types: Any,
    ) -> None:
        super().__init__(
            typing_context,
            target_context,
            library,
            args,
            return_type,
            _Flags(flags),
            local_types,
        )

    def define_pipelines(self) -> list[Any]:
        """Return the one pipeline."""
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        assert any(one is NativeLowering for one, _ in manager.passes)
        manager.passes = [
            (self._lowering if one is NativeLowering else one, words)
            for one, words in manager.passes
        ]
        manager._finalized = False
        manager.finalize()
        return [manager]


class PartCompiler(_Compiler):
    """Compiles helpers."""

    _lowering = _LowerPart


class WholeCompiler(_Compiler):
    """Compiles entry points."""

    _lowering = _LowerWhole
