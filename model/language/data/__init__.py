"""Data that schedulers need in specs, as constructs over plain variables: sets, elements, records, channels, timers.

Nothing here has a meaning of its own. `sets`, `elements`, `records`, `channels` (`fifo`, `bag`) and `timers` declare
variables and build guards and updates; `base` has what they share. `declarations` is what a `Machine` offers.
"""

from model.language.data.channels import Channel, ChannelFamily, Message, Order
from model.language.data.elements import ElementArray, ElementScalar, ElementValue
from model.language.data.records import Record, RecordType, record
from model.language.data.sets import BoundedSet, SetFamily, SetValue
from model.language.data.store import Delivery
from model.language.data.timers import Timer

__all__ = [
    "BoundedSet",
    "Channel",
    "ChannelFamily",
    "Delivery",
    "ElementArray",
    "ElementScalar",
    "ElementValue",
    "Message",
    "Order",
    "Record",
    "RecordType",
    "SetFamily",
    "SetValue",
    "Timer",
    "record",
]
