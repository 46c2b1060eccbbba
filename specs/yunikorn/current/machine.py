"""YuniKorn gang scheduling as its code has it in 2026: core and shim, and the messages between them.

README.md beside this file lists what is modelled, and what differs from the design of 2020/21 (the seed edition).
Rules Y1 to Y30 are those of the design document; YUNIKORN-1900 and the like are reports of the YuniKorn project.
"""

from __future__ import annotations

from model.language import Machine
from specs.yunikorn.current.core import declare_confirmations, declare_cycle, declare_expiry, declare_pods
from specs.yunikorn.current.events import declare_events
from specs.yunikorn.current.life_cycle import declare_life_cycles
from specs.yunikorn.current.parameters import Recovery, Scope, Style
from specs.yunikorn.current.progress import declare_progress
from specs.yunikorn.current.properties import (
    declare_admission,
    declare_gangs,
    declare_placeholders,
    declare_rejection,
    declare_timeouts,
    declare_usage,
)
from specs.yunikorn.current.shim import declare_messages, declare_reservation, declare_submission
from specs.yunikorn.current.state import State
from specs.yunikorn.current.timers import declare_timers
from specs.yunikorn.parameters import Queues, Timers


def yunikorn_current(
    apps: int = 1,
    size: int = 2,
    groups: int = 1,
    reals: int = 1,
    placeholder: int = 1,
    real: int = 1,
    nodes: int = 2,
    capacity: int = 2,
    memory: int = 0,
    placeholder_memory: int = 0,
    real_memory: int = 0,
    queues: Queues = Queues.ONE_LEAF,
    quota: int = 4,
    leaf_quota: int = 4,
    max_apps: int = 0,
    user_limit: int = 0,
    style: Style = Style.SOFT,
    timers: Timers = Timers.SLOW,
    split_timeout: bool = False,
    async_asks: bool = False,
    reordered: bool = False,
    duplicates: int = 0,
    deletions: int = 0,
    bind_failures: int = 0,
    preemptions: int = 0,
    node_removals: int = 0,
    app_removals: int = 0,
    restarts: int = 0,
    config_updates: int = 0,
    autoscaler: bool = False,
    recovery: Recovery = Recovery.KEPT,
    repaired: bool = False,
) -> Machine:
    """YuniKorn's gang scheduling as its code has it: core and shim with messages between them, Soft and Hard timeouts.

    ``size``: placeholders of each gang; ``groups``: task groups that they are of, in turn; ``reals``: real pods that
    come of each group; ``placeholder`` and ``real``: units of one of them. ``memory``: that of a node, a second
    resource, with what one of them takes of it; 0: not modelled. ``leaf_quota``, ``max_apps`` (maxapplications) and
    ``user_limit``: 0 for none. The parameters from ``duplicates`` to ``config_updates`` say how often the environment
    may do something; with each of ``config_updates`` the user may have one unit more. ValueError for sizes that make no
    sense.
    """
    scope = Scope(
        apps,
        size,
        groups,
        reals,
        placeholder,
        real,
        nodes,
        capacity,
        memory,
        placeholder_memory,
        real_memory,
        queues,
        quota,
        leaf_quota,
        max_apps,
        user_limit,
        style,
        timers,
        split_timeout,
        async_asks,
        reordered,
        duplicates,
        deletions,
        bind_failures,
        preemptions,
        node_removals,
        app_removals,
        restarts,
        config_updates,
        autoscaler,
        recovery,
        repaired,
    )
    m = Machine("yunikorn", doc="YuniKorn gang scheduling, as its code has it in 2026")
    s = State(m, scope)
    m.attach(s)
    declare_submission(m, s)
    declare_expiry(m, s)
    if not scope.oversized:
        declare_reservation(m, s)
        declare_cycle(m, s)
        declare_confirmations(m, s)
        declare_messages(m, s)
        declare_timers(m, s)
        declare_events(m, s)
        declare_pods(m, s)
        declare_usage(m, s)
        declare_placeholders(m, s)
        declare_gangs(m, s)
        declare_timeouts(m, s)
        declare_progress(m, s)
    declare_life_cycles(m, s)
    declare_admission(m, s)
    if scope.oversized:
        declare_rejection(m, s)
    return m
