"""From LLVM text to functions that Python can call, through llvmlite: no C compiler is needed on the user's machine.

The successor function is compiled twice: at once without optimisation, which takes a few milliseconds per action, and
well, which takes several times longer, only if the search lasts. The kernels are the same for all machines whose states
have the same number of words, so a process compiles them once.
"""

from __future__ import annotations

import ctypes
import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import llvmlite.binding as llvm

from model.explore.codegen.emit import expand_text, predicates_text
from model.explore.codegen.kernels import FUNCTIONS, kernel_text, shared_text
from model.explore.codegen.rounds import records_text
from model.explore.lowering.ground import Node
from model.explore.lowering.lower import Program
from model.explore.symmetry.emit import canon_text

SHARDS: Final = 4
_FAST, _QUICK = 2, 0


@dataclass(frozen=True, slots=True)
class Kernels:
    """Compiled functions that do not depend on the machine. ``context`` arguments are addresses, see `context`.

    Calls release Python's global lock. ``engine`` owns the code and must outlive the functions.
    """

    run: Callable[[int, int, int, int, int, int], int]
    insert: Callable[[int, int, int], None]
    find: Callable[[int, int, int], None]
    rehash: Callable[[int], None]
    records: Callable[[int, int, int], None]
    engine: Any


@functools.cache
def kernels(words: int, shards: int, collide: bool = False) -> Kernels:
    """The kernels for states of ``words`` words. ``collide`` gives all states the same hash, for tests."""
    engine = _compile(kernel_text(words, shards, collide), _FAST)
    found = {name: _function(engine, name, *signature) for name, signature in FUNCTIONS.items()}
    return Kernels(**found, engine=engine)


class Native:
    """The compiled functions of one machine; ``kernels`` are those that it shares with others.

    ``expand`` is the successor function, ``expand_address`` is where it lies; both change when `improve` is done.
    ``text`` is the successor function as LLVM text. ``seconds`` is what compiling took, ``improving_seconds`` an
    estimate of what `improve` will take.
    """

    def __init__(self, program: Program, shards: int = SHARDS, collide: bool = False) -> None:
        self.shards: Final = shards
        started = time.perf_counter()
        self.kernels: Final = kernels(program.layout.words, shards, collide)
        after_kernels = time.perf_counter()
        self._program = program
        words = program.layout.words
        canon = "" if program.canonical is None else canon_text(program.canonical)
        self._shared = shared_text(words, shards, collide, canon)
        self.text: Final = "\n\n".join([self._shared, expand_text(program, shards)])
        conditions = [program.initially, *(node for _, node in program.possible)]
        # The kernels' own ``records`` knows no symmetry.
        own = [records_text(words, shards)] if canon else []
        engine = _compile("\n\n".join([self.text, predicates_text(program, conditions), *own]), _QUICK)
        word = ctypes.c_uint64
        self.records: Callable[[int, int, int], None] = (
            _function(engine, "records", *FUNCTIONS["records"]) if own else self.kernels.records
        )
        self.predicates: Callable[[int, int, int], None] = _function(engine, "predicates", None, word, word, word)
        self._engines = [engine]
        self._use(engine)
        now = time.perf_counter()
        self.seconds = now - started
        self.improving_seconds: Final = 6 * (now - after_kernels)

    def _use(self, engine: Any) -> None:
        word = ctypes.c_uint64
        self.expand: Callable[[int, int, int], int] = _function(engine, "expand", word, word, word, word)
        self.expand_address: int = engine.get_function_address("expand")

    def predicates_of(self, conditions: Sequence[Node]) -> Callable[[int, int, int], None]:
        """A function like ``predicates`` for at most 64 other ``conditions``, the first one in the lowest bit."""
        text = "\n\n".join([self._shared, predicates_text(self._program, conditions)])
        word = ctypes.c_uint64
        return compiled(text, "predicates", None, word, word, word, level=_QUICK)

    def improve(self) -> None:
        """Compile the successor function well. May run in a thread of its own while the quick one is in use."""
        engine = _compile(self.text, _FAST)
        self._engines.append(engine)
        self._use(engine)


def _function(engine: Any, name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.CFUNCTYPE(result, *arguments)(engine.get_function_address(name))


def compiled(text: str, name: str, result: Any, *arguments: Any, level: int = _FAST) -> Callable[..., Any]:
    """The function ``name`` of the module ``text``."""
    engine = _compile(text, level)
    found = _function(engine, name, result, *arguments)
    found.engine = engine  # which owns the code
    return found  # type: ignore[no-any-return]


def _compile(text: str, level: int) -> Any:
    """An execution engine that holds the module ``text``."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    # A context of its own: threads that compile at the same time share nothing.
    module = llvm.parse_assembly(text, llvm.create_context())
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=level
    )
    # Few passes: ground expressions are already folded and shared when they get here.
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    if level > _QUICK:
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2)))
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


def yield_address() -> int:
    """A C function without arguments that lets another thread run."""
    library = ctypes.CDLL(None)
    return ctypes.cast(library.sched_yield, ctypes.c_void_p).value or 0


__all__ = ["Kernels", "Native", "compiled", "kernels", "yield_address"]
