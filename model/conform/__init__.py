"""Does a recorded run belong to a spec?

`log` says what a log tells, `jsonl` reads it from JSON lines; `naming` gives the log's names to the spec's elements;
`candidates` holds every state that the spec may be in, and `conform` follows the log with them; `answer` is what comes
out. A log tells of a run in parts only, so there is no single state to follow: the steps that it does not record may
have been taken or not, arguments may be unknown, and several records may have one time.
"""

from model.conform.answer import Broken, Conformance, Divergence, Ending
from model.conform.conform import Limits, conform
from model.conform.jsonl import read_log
from model.conform.log import Log, Pattern, Record

__all__ = [
    "Broken",
    "Conformance",
    "Divergence",
    "Ending",
    "Limits",
    "Log",
    "Pattern",
    "Record",
    "conform",
    "read_log",
]
