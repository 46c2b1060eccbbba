"""Actions of the shim: it submits applications and pods, and does what the core tells it."""

from __future__ import annotations

from model.language import Expr, Machine, Operand, all_, among, any_, count_, implies, ite, require, when
from specs.yunikorn.current.moves import by_run, move
from specs.yunikorn.current.parameters import Style
from specs.yunikorn.current.state import App, Core, Member, Placeholder, Reason, Shim, State, Task


def declare_submission(m: Machine, s: State) -> None:
    """From the first pod to the core's answer."""
    scope = s.scope

    @m.action
    def submit_application(a: App) -> None:
        """The first pod of an application, with task groups, makes the shim submit it, with its placeholderAsk (Y1,
        Y2, Y4)."""
        require(s.shim[a] == Shim.NEW, all_(implies(b < a, s.shim[b] != Shim.NEW) for b in App))
        s.shim[a] = Shim.SUBMITTED

    if scope.oversized:

        @m.action
        def reject_application(a: App) -> None:
            """The placeholderAsk is larger than the least maximum on the path to the root (Y5)."""
            require(s.shim[a] == Shim.SUBMITTED, s.core[a] == Core.NEW)
            s.core[a] = Core.REJECTED
            s.shim[a] = Shim.REJECTED

        @m.action
        def fail_rejected_application(a: App) -> None:
            """The pods of a rejected application fail (Y5)."""
            require(s.shim[a] == Shim.REJECTED)
            s.shim[a] = Shim.FAILED
            s.ended[a] += s.unsubmitted[a]
            s.unsubmitted[a] = 0

    else:

        @m.action
        def accept_application(a: App) -> None:
            """The core takes the application into its queue, and the shim hears of it (Y5)."""
            require(s.shim[a] == Shim.SUBMITTED)
            s.shim[a] = Shim.ACCEPTED


def runs_with_an_ask(s: State, a: App, taken: Operand = True) -> None:
    """An ask reaches the core, and is ``taken``: the first one makes an application Accepted, one that is completing
    runs again."""
    state = s.core[a]
    move(s, a, ite(among(state, Core.NEW, Core.COMPLETING) & taken, by_run(state), state))


def declare_reservation(m: Machine, s: State) -> None:
    """Placeholders are created, asked for and bound; then it is the real pods' turn."""
    scope = s.scope

    @m.action
    def try_reserve(a: App) -> None:
        """No real pod was submitted yet: the shim creates the placeholder pods that are missing (Y12)."""
        require(s.shim[a] == Shim.ACCEPTED)
        s.shim[a] = Shim.RESERVING
        for p in Member:
            s.task[a, p] = ite(s.task[a, p] == Task.NEW, Task.PENDING, s.task[a, p])

    @m.action
    def ask_for_placeholders(a: App) -> None:
        """While it reserves the shim submits placeholders only, all that it has; the first ask makes the application
        Accepted (Y12, Y13, Y30)."""
        require(s.shim[a] == Shim.RESERVING, any_(s.task[a, p] == Task.PENDING for p in Member), ~s.over(a))
        if not scope.async_asks:
            for g in s.groups.each():
                s.count[a, g] += count_(s.groups.within(g, p, s.task[a, p] == Task.PENDING) for p in Member)
            runs_with_an_ask(s, a)
        for p in Member:
            with when(s.task[a, p] == Task.PENDING):
                if scope.async_asks:
                    s.asked[a, p] = True
                else:
                    s.placeholder[a, p] = Placeholder.PENDING
                s.task[a, p] = Task.SCHEDULING

    if scope.async_asks:

        @m.action
        def take_ask(a: App, p: Member) -> None:
            """The ask of one placeholder reaches the core. A new or a completing application goes on with it; one that
            is over takes no ask, so the task fails (Y12, Y13, Y21)."""
            require(s.asked[a, p], ~s.removing())
            # that a reservation takes asks when its time is up is a finding
            refused = s.over(a) | s.late[a] if scope.repaired else s.over(a)
            s.asked[a, p] = False
            s.placeholder[a, p] = ite(refused, s.placeholder[a, p], Placeholder.PENDING)
            s.count.add(a, p, ite(refused, 0, 1))
            s.task[a, p] = ite(refused & (s.task[a, p] == Task.SCHEDULING), Task.FAILED, s.task[a, p])
            runs_with_an_ask(s, a, ~refused)

    @m.action
    def hear_allocation(a: App, p: Member) -> None:
        """A placeholder was allocated. If its pod is gone by now the allocation is given back (YUNIKORN-677)."""
        require(s.told[a, p])
        s.told[a, p] = False
        gone = among(s.task[a, p], Task.COMPLETED, Task.FAILED)
        s.confirm[a, p] = ite(gone & (s.confirm[a, p] == Reason.NONE), Reason.STOPPED, s.confirm[a, p])
        s.task[a, p] = ite(s.task[a, p] == Task.SCHEDULING, Task.ALLOCATED, s.task[a, p])

    @m.action
    def bind_placeholder(a: App, p: Member) -> None:
        """The pod of a placeholder is bound to its node (Y3)."""
        require(s.task[a, p] == Task.ALLOCATED)
        s.task[a, p] = Task.BOUND

    @m.action
    def reservation_done(a: App) -> None:
        """As many placeholders are bound as each task group has members: the application runs (Y1, Y15)."""
        require(s.shim[a] == Shim.RESERVING, all_(s.task[a, p] == Task.BOUND for p in Member))
        s.shim[a] = Shim.RUNNING

    @m.action
    def ask_for_real_pod(a: App) -> None:
        """A running application submits real pods, and no others; a completing one runs again (Y1, Y14, Y21, Y30)."""
        g = s.groups.chosen()
        require(s.shim[a] == Shim.RUNNING, s.unsubmitted[a, g] > 0, s.updates[a].is_empty(), ~s.over(a))
        if s.groups.several:
            # asks do not overtake confirmations; with one group its counters hold the ask back as long
            require(all_(s.confirm[a, p] == Reason.NONE for p in Member))
        s.unsubmitted[a, g] -= 1
        s.real_asks[a, g] += 1
        runs_with_an_ask(s, a)


def declare_messages(m: Machine, s: State) -> None:
    """What the shim does when the core's messages arrive."""
    scope = s.scope

    def heard(a: App) -> Expr:
        """Updates of an application and releases go through one queue, updates first, unless they are reordered."""
        return s.updates[a].is_empty()

    @m.action
    def hear_release(a: App, p: Member) -> None:
        """The core wants a placeholder back: its pod is deleted, and the core told when it is gone. A reservation that
        loses a placeholder goes on without the rest (Y17, Y24, Y25)."""
        require(s.release[a, p] != Reason.NONE, ~s.told[a, p])
        if not scope.reordered:
            require(heard(a))
        has_pod = ~among(s.task[a, p], Task.COMPLETED, Task.FAILED)
        s.confirm[a, p] = ite(has_pod, s.release[a, p], s.confirm[a, p])
        s.task[a, p] = ite(has_pod, Task.COMPLETED, s.task[a, p])
        s.release[a, p] = Reason.NONE
        s.shim[a] = ite(among(s.shim[a], Shim.ACCEPTED, Shim.RESERVING), Shim.RUNNING, s.shim[a])

    if scope.can_time_out and scope.style is Style.SOFT:

        @m.action
        def hear_resuming(a: App) -> None:
            """The placeholders timed out, Soft: a reservation is given up (Y23)."""
            s.updates[a].receive(state=Core.RESUMING)
            s.shim[a] = ite(s.shim[a] == Shim.RESERVING, Shim.RESUMING, s.shim[a])

        @m.action
        def resumed(a: App) -> None:
            """All placeholder pods are gone: the real ones are submitted (Y23)."""
            require(s.shim[a] == Shim.RESUMING)
            require(all_(among(s.task[a, p], Task.COMPLETED, Task.FAILED) for p in Member))
            s.shim[a] = Shim.RUNNING

    if scope.can_time_out and scope.style is Style.HARD:

        @m.action
        def hear_failed(a: App) -> None:
            """The application fails: first Failing, then Failed; pods that were not submitted fail with it, and what is
            left of placeholder pods is deleted (Y23, Y27)."""
            message = s.updates[a].receive()
            require(among(message.state, Core.FAILING, Core.FAILED))
            active = among(s.shim[a], Shim.SUBMITTED, Shim.ACCEPTED, Shim.RESERVING, Shim.RUNNING)
            clean_up(s, a, s.shim[a] == Shim.FAILING)
            s.shim[a] = ite(active, Shim.FAILING, ite(s.shim[a] == Shim.FAILING, Shim.FAILED, s.shim[a]))
            s.ended[a] += s.unsubmitted[a]
            s.unsubmitted[a] = 0

    @m.action
    def hear_completed(a: App) -> None:
        """The application is done, and what is left of placeholder pods is deleted; a pod that comes now belongs to a
        new one (Y21, Y26, Y27, Y28)."""
        s.updates[a].receive(state=Core.COMPLETED)
        clean_up(s, a, s.shim[a] == Shim.RUNNING)
        s.shim[a] = ite(s.shim[a] == Shim.RUNNING, Shim.COMPLETED, s.shim[a])
        s.ended[a] += s.unsubmitted[a]
        s.unsubmitted[a] = 0

    if scope.duplicates:
        declare_duplicates(m, s)


def clean_up(s: State, a: App, ends: Expr) -> None:
    """The placeholder manager deletes the pods of placeholders that are still there, if the application ``ends``. The
    core, which has none of them any more, need not be told."""
    for p in Member:
        there = ~among(s.task[a, p], Task.NEW, Task.COMPLETED, Task.FAILED)
        s.task[a, p] = ite(ends & there, Task.COMPLETED, s.task[a, p])


def declare_duplicates(m: Machine, s: State) -> None:
    """Messages that their sender may send twice. A message that is on its way is one, however often it was sent: what
    counts is one that comes when the first has been heard."""

    @m.action
    def confirm_again(a: App, p: Member) -> None:
        """A confirmation is sent twice: a pod that ends, and is then deleted, says so both times (YUNIKORN-528)."""
        require(s.duplicates > 0, s.task[a, p] == Task.COMPLETED, s.confirm[a, p] == Reason.NONE)
        require(s.placeholder[a, p] == Placeholder.GONE)
        s.duplicates.next -= 1
        s.confirm[a, p] = Reason.REPLACED

    @m.action
    def release_again(a: App, p: Member) -> None:
        """A release is sent twice: the placeholder timeout releases what is released already, too (Y24)."""
        require(s.duplicates > 0, s.placeholder[a, p] == Placeholder.ALLOCATED, s.mark[a, p] != Reason.NONE)
        require(s.release[a, p] == Reason.NONE)
        s.duplicates.next -= 1
        s.release[a, p] = s.mark[a, p]

    @m.action
    def tell_again(a: App, p: Member) -> None:
        """An allocation is told twice: the core tells of those that it has taken over from the shim, too (Y29)."""
        require(s.duplicates > 0, s.placeholder[a, p] == Placeholder.ALLOCATED, ~s.told[a, p])
        s.duplicates.next -= 1
        s.told[a, p] = True
