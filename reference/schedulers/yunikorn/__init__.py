"""YuniKorn's gang scheduling as first designed: an event-driven core, and a batch run over it.

Start reading at ``core.py`` (events), then ``state.py`` (what an application is) and ``cycle.py`` (who is next).
"""

from reference.schedulers.yunikorn.batch import schedule
from reference.schedulers.yunikorn.books import NotEnabledError
from reference.schedulers.yunikorn.core import Core
from reference.schedulers.yunikorn.enabled import Environment, Timers
from reference.schedulers.yunikorn.events import CORE_DECIDES, Event, EventName, Outcome, Record
from reference.schedulers.yunikorn.options import Gate, NodeOrder, Options
from reference.schedulers.yunikorn.state import Allocation, ApplicationState, Ask, GroupCount, TrackedApplication

__all__ = [
    "CORE_DECIDES",
    "Allocation",
    "ApplicationState",
    "Ask",
    "Core",
    "Environment",
    "Event",
    "EventName",
    "Gate",
    "GroupCount",
    "NodeOrder",
    "NotEnabledError",
    "Options",
    "Outcome",
    "Record",
    "Timers",
    "TrackedApplication",
    "schedule",
]
