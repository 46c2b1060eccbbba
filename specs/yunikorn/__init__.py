"""YuniKorn's gang scheduling as a state machine: its design of 2020/21, and its code of today. README.md says what both
are."""

from specs.yunikorn.machine import yunikorn
from specs.yunikorn.parameters import Edition, Queues, Timers

__all__ = ["Edition", "Queues", "Timers", "yunikorn"]
