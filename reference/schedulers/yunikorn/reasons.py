"""Why an application is rejected, killed or waits, in one line that names queue, task group, type and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.cluster import Application, SortPolicy
from reference.schedulers.amounts import show
from reference.schedulers.yunikorn import cycle
from reference.schedulers.yunikorn.queues import Shortage
from reference.schedulers.yunikorn.state import ApplicationState, Ask, TrackedApplication

if TYPE_CHECKING:
    from reference.schedulers.yunikorn.books import Books
    from reference.schedulers.yunikorn.core import Core


def why_rejected(core: Books, application: Application) -> str | None:
    """Y5, Y6: the rule that refuses ``application`` at submission, or None."""
    leaf = core.queues.leaf(application.queue)
    if core.options.reject_fair and core.policy(leaf) is SortPolicy.FAIR:
        return f"rejected: queue {leaf.name} has sort policy FAIR, which cannot keep gangs whole"
    large = core.queues.too_large(leaf.name, application.placeholder_ask)
    if large is not None:
        return f"rejected: ask larger than the quota of queue {_over(large)}"
    return None


def why_timed_out(core: Core, app: TrackedApplication) -> str:
    """What a placeholder timeout says, asked before it happens: how far the gang came and what stopped it."""
    members = app.application.members
    return f"placeholder timeout: {len(app.placeholders)} of {members} reserved; {_why_no_placeholder(core, app)}"


def why_pending(core: Core, app: TrackedApplication) -> str:
    """Why a live application cannot go on now."""
    if app.state is ApplicationState.NEW:
        return "no placeholder was asked for"
    ahead = cycle.ahead_of(core, app)
    if ahead is not None:
        policy = core.policy(core.queues.leaf(app.leaf)).value
        return f"waits behind {ahead.name} in queue {app.leaf} ({policy})"
    gate = cycle.stopped_by_gate(core, app)
    if gate is not None:
        return f"cannot start: the whole gang does not fit what is free in queue {_over(gate)}"
    full = core.queues.full_of_applications(app.leaf)
    if full is not None and not app.counted:
        most = full.queue.max_applications
        return f"cannot start: queue {full.name} runs {full.begun} gangs, maxapplications is {most}"
    reserved = f"{len(app.placeholders)} of {app.application.members} reserved; " if app.begun else ""
    return f"{reserved}{_why_no_placeholder(core, app)}"


def _why_no_placeholder(core: Core, app: TrackedApplication) -> str:
    """What stops the first pending placeholder."""
    ask = next(iter(app.placeholder_asks.values()), None)
    if ask is None:
        return "no placeholder ask is pending"
    shortage = core.queues.shortage(app.leaf, ask.resources)
    if shortage is not None:
        return f"one more pod of {ask.task_group} exceeds the quota of queue {_over(shortage)}"
    return _why_no_node(core, ask)


def _why_no_node(core: Core, ask: Ask) -> str:
    """What nodes lack, counted: ``0 of 3 nodes can take a pod of workers: 2 not enough vcore, 1 node is cordoned``."""
    reasons = core.nodes.why_none(ask.resources, ask.constraints)
    fitting = reasons.pop(None, 0)
    told = sorted(((-count, reason or "") for reason, count in reasons.items()))
    text = "".join((", " if i else ": ") + f"{-count} {reason}" for i, (count, reason) in enumerate(told))
    return f"{fitting} of {len(core.nodes.index)} nodes can take a pod of {ask.task_group}{text}"


def _over(shortage: Shortage) -> str:
    needed, limit = (show(shortage.resource, amount) for amount in (shortage.needed, shortage.limit))
    return f"{shortage.queue}: {shortage.resource} {needed} > {limit}"
