"""The compiled functions of one machine, and those that all machines share.

The successor function is compiled twice: at once without optimisation, which takes a few milliseconds per action, and
well, which takes several times longer, only if the search lasts; then it is kept, and loaded the next time. The kernels
are the same for all machines whose states have the same number of words, so a process compiles them once.
"""

from __future__ import annotations

import ctypes
import functools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from model.explore.codegen.canon import canon_text
from model.explore.codegen.emit import expand_text, predicates_text
from model.explore.codegen.jit import Code, Level, compiled, fast, kept, quick
from model.explore.codegen.kernels import FUNCTIONS, kernel_text, shared_text
from model.explore.codegen.rounds import records_text
from model.explore.packing import PackedProgram
from model.lowering.ground import Node

SHARDS: Final = 4


@dataclass(frozen=True, slots=True)
class Kernels:
    """Compiled functions that do not depend on the machine. ``context`` arguments are addresses, see `context`.

    Calls release Python's global lock. ``code`` must outlive the functions.
    """

    run: Callable[[int, int, int, int, int, int], int]
    insert: Callable[[int, int, int], None]
    find: Callable[[int, int, int], None]
    rehash: Callable[[int], None]
    records: Callable[[int, int, int], None]
    code: Code


@functools.cache
def kernels(words: int, shards: int, collide: bool = False) -> Kernels:
    """The kernels for states of ``words`` words. ``collide`` gives all states the same hash, for tests."""
    code = fast(kernel_text(words, shards, collide))
    found = {name: code.function(name, *signature) for name, signature in FUNCTIONS.items()}
    return Kernels(**found, code=code)


class Native:
    """The compiled functions of one machine; ``kernels`` are those that it shares with others.

    ``expand`` is the successor function, ``expand_address`` is where it lies; both change when `improve` is done.
    ``text`` is the successor function as LLVM text. ``seconds`` is what compiling took, ``improving_seconds`` an
    estimate of what `improve` will take.
    """

    def __init__(self, program: PackedProgram, shards: int = SHARDS, collide: bool = False) -> None:
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
        self._whole = "\n\n".join([self.text, predicates_text(program, conditions), *own])
        better = kept(self._whole)
        code = better or quick(self._whole)
        word = ctypes.c_uint64
        self.records: Callable[[int, int, int], None] = (
            code.function("records", *FUNCTIONS["records"]) if own else self.kernels.records
        )
        self.predicates: Callable[[int, int, int], None] = code.function("predicates", None, word, word, word)
        self._codes = [self.kernels.code, code]
        self._use(code)
        now = time.perf_counter()
        self.seconds = now - started
        self.improving_seconds: Final = math.inf if better else 6 * (now - after_kernels)

    @property
    def problems(self) -> list[str]:
        """Why compiled code could not be kept, in words."""
        return sorted({code.problem for code in self._codes if code.problem is not None})

    def _use(self, code: Code) -> None:
        word = ctypes.c_uint64
        self.expand: Callable[[int, int, int], int] = code.function("expand", word, word, word, word)
        self.expand_address: int = code.address("expand")

    def predicates_of(self, conditions: Sequence[Node]) -> Callable[[int, int, int], None]:
        """A function like ``predicates`` for at most 64 other ``conditions``, the first one in the lowest bit."""
        text = "\n\n".join([self._shared, predicates_text(self._program, conditions)])
        word = ctypes.c_uint64
        return compiled(text, "predicates", None, word, word, word, level=Level.QUICK)

    def improve(self) -> None:
        """Compile the successor function well. May run in a thread of its own while the quick one is in use."""
        code = fast(self._whole)
        self._codes.append(code)
        self._use(code)


def nap_address() -> int:
    """A C function that sleeps for as many microseconds as its argument says."""
    library = ctypes.CDLL(None)
    return ctypes.cast(library.usleep, ctypes.c_void_p).value or 0


__all__ = ["Kernels", "Native", "kernels", "nap_address"]
