"""The block of 64-bit words through which Python and the compiled search talk: which word says what.

Addresses are stored as integers. The search owns the arrays; compiled code only reads and writes what they point to.
"""

from __future__ import annotations

from typing import Final

STATES: Final = 0  # address of the packed states, in the order found
COUNT_STATES: Final = 1  # how many there are
LIMIT: Final = 2  # how many there may be; what is found beyond is dropped
DROPPED: Final = 3  # how many were dropped
TABLE: Final = 4  # address of the hash table: 32-bit entries, 0 for empty
BITS: Final = 5  # log2 of the table's size
OUT: Final = 6  # address of the successors' records
OUT_END: Final = 7  # the address behind them
COUNT: Final = 8  # number of records
ENDS: Final = 9  # address of 32-bit counts: records after each expanded state
SEEN: Final = 10  # address of one bit per event: it has occurred
FIRED: Final = 11  # address of one counter per action
LOG: Final = 12  # address of the log of first occurrences: word, bits, state, instance
LOG_COUNT: Final = 13  # entries in it
PAUSE: Final = 14  # return to grow when this many states could be passed
NEXT: Final = 15  # the next state to expand
END: Final = 16  # where to stop expanding
NEW_TABLE: Final = 17  # address of a larger table, zeroed
NEW_BITS: Final = 18  # log2 of its size
INDICES: Final = 19  # address of 32-bit state numbers, for `find`
BATCH: Final = 20  # most records of one batch
ROWS: Final = 21  # most states expanded in one batch
EXPAND: Final = 22  # address of the successor function
SIZE: Final = 24

LOG_WORDS: Final = 4


def load(name: str, slot: int, kind: str = "i64") -> list[str]:
    """Text that loads a word as ``%name``."""
    return [f"%{name}.slot = getelementptr i64, ptr %ctx, i64 {slot}", f"%{name} = load {kind}, ptr %{name}.slot"]


def store(value: str, slot: int) -> list[str]:
    """Text that stores the i64 ``value``; once per slot and function."""
    return [f"%slot{slot} = getelementptr i64, ptr %ctx, i64 {slot}", f"store i64 {value}, ptr %slot{slot}"]
