"""The blocks of 64-bit words through which Python and the compiled search talk: which word says what.

The states are dealt out to shards by a few bits of their hash; each shard has its own states, table and block.
Addresses are stored as integers. Python owns the arrays; compiled code only reads and writes what they point to.
"""

from __future__ import annotations

from typing import Final

from model.explore.layout import INSTANCE_BITS

STATES: Final = 0  # address of the shard's packed states, in the order found
COUNT: Final = 1  # how many there are
LIMIT: Final = 2  # how many there may be; what is found beyond is dropped
DROPPED: Final = 3  # how many were dropped
TABLE: Final = 4  # address of the hash table: 32-bit entries, 0 for empty
BITS: Final = 5  # log2 of the table's size
SEEN: Final = 6  # address of one bit per event: it has occurred
FIRED: Final = 7  # address of one counter per action
LOG: Final = 8  # address of the log of first occurrences: word, bits, state, instance
LOG_COUNT: Final = 9  # entries in it
PAUSE: Final = 10  # return to grow when there could be more states than this
NEXT: Final = 11  # the next state to expand
END: Final = 12  # where to stop expanding
NEW_TABLE: Final = 13  # address of a larger table, zeroed
NEW_BITS: Final = 14  # log2 of its size
GUESSES: Final = 15  # address of 32 bits per record of a buffer: the number of the state it is, plus one
ROOM: Final = 16  # records of a buffer beyond which no further state is expanded
MOST: Final = 17  # most records that can be put into this shard in one round
EXPAND: Final = 18  # address of the successor function
ENABLED: Final = 19  # while expanding: 1 if an instance of the state was enabled
_LISTS: Final = 32  # from here on, one word for each shard:
# BUFFERS, addresses of this shard's records for it, and CURSORS, while expanding where the next record goes.

LOG_WORDS: Final = 4
ROWS: Final = 1 << (32 - INSTANCE_BITS)  # most states that are expanded in one call: a row has the bits that are left

# Words that all threads of a search share.
ARRIVED: Final = 0  # how many threads have arrived at barriers
NAP: Final = 8  # address of a function that sleeps for some microseconds
LEVELS: Final = 9  # address of the levels begun: for each the states of all shards before it
LEVEL_COUNT: Final = 10  # how many were
LEVEL_MOST: Final = 11  # begin at most so many; 0: only up to each shard's END
STOP: Final = 12  # begin none once so many states were expanded, or if one has so many states
ABORT: Final = 13  # not 0: leave the next barrier, and `run`; something was raised
EACH: Final = 14  # begin none of which a shard has more states than this: it is more than one batch
STATUS: Final = 16  # one status per thread
STATUS_STRIDE: Final = 8


def buffers(shards: int) -> int:
    """The first word of BUFFERS."""
    return _LISTS


def cursors(shards: int) -> int:
    """The first word of CURSORS."""
    return _LISTS + shards


def size(shards: int) -> int:
    """Words of a block."""
    return _LISTS + 2 * shards


def load(name: str, slot: int, kind: str = "i64") -> list[str]:
    """Text that loads a word as ``%name``."""
    return [f"%{name}.slot = getelementptr i64, ptr %ctx, i64 {slot}", f"%{name} = load {kind}, ptr %{name}.slot"]
