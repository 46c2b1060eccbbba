"""From LLVM text to functions that Python can call, through llvmlite: no C compiler is needed on the user's machine."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from model.explore.emit import expand_text, predicates_text
from model.explore.kernels import kernel_text
from model.explore.lower import Program

_READY = False


@dataclass(frozen=True, slots=True)
class Native:
    """The compiled functions of one machine. ``context`` arguments are addresses; see `context` for what lies there.

    Calls release Python's global lock. ``engine`` owns the code and must outlive the functions.
    """

    run: Callable[[int], int]
    expand: Callable[[int, int, int], int]
    insert: Callable[[int], None]
    find: Callable[[int], None]
    rehash: Callable[[int], None]
    records: Callable[[int, int], None]
    predicates: Callable[[int, int, int], None]
    engine: Any


def compile_program(program: Program, collide: bool = False) -> Native:
    """Compile ``program``. ``collide`` gives all states the same hash, for tests."""
    conditions = [program.initially, *(node for _, node in program.possible)]
    text = "\n\n".join(
        [
            kernel_text(program.layout.words, collide),
            expand_text(program),
            predicates_text(program, conditions),
        ]
    )
    engine = _compile(text)
    word = ctypes.c_uint64

    def function(name: str, result: Any, *arguments: Any) -> Any:
        return ctypes.CFUNCTYPE(result, *arguments)(engine.get_function_address(name))

    return Native(
        run=function("run", word, word),
        expand=function("expand", word, word, word, word),
        insert=function("insert", None, word),
        find=function("find", None, word),
        rehash=function("rehash", None, word),
        records=function("records", None, word, word),
        predicates=function("predicates", None, word, word, word),
        engine=engine,
    )


def _compile(text: str) -> Any:
    """An execution engine that holds the module ``text``."""
    global _READY
    if not _READY:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        _READY = True
    module = llvm.parse_assembly(text)
    module.verify()
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2
    )
    _optimize(module, machine)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


def _optimize(module: Any, machine: Any) -> None:
    """The few passes that pay: ground expressions are already folded and shared when they get here."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes.run(module, builder)


__all__ = ["Native", "compile_program"]
