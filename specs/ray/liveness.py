"""What must happen at last, if loops go on and the world is not against it forever."""

from __future__ import annotations

from model.language import Expr, Machine, among, each, strong, weak
from model.language.fairness import Fairness
from specs.ray.life_cycle import TO_TERMINATE, Status
from specs.ray.parameters import Timers
from specs.ray.state import Instance, State


class Assumed:
    """Fairness of the actions of this machine, by name; what the parameters leave out is not needed.

    By name, for the actions are declared in many functions.
    """

    def __init__(self, m: Machine) -> None:
        self.actions = {action.name: action for action in m.actions}

    def loops(self) -> list[Fairness]:
        """Loops are begun and end, and each does what it has to."""
        names = ("begin_loop", "next_phase")
        rows = ("allocated", "launch_failed", "terminated", "ray_running", "ray_stopped", "termination_failed", "adopt")
        steps = ("queue_instance", "terminate", "launch")
        # what a lowered maximum demands, whether the table has it or not: a loop does not end before it
        over = ("cancel_queued", "terminate_unstarted", "drain_over_maximum", "drain_unstarted", "drain_again")
        every = (*rows, *steps, *over, "ray_stopping", "ray_node_missing", "drain_rejected", "install_failed")
        return [
            *(weak(self.actions[n]) for n in names),
            *(weak(each(self.actions[n])) for n in every if n in self.actions),
        ]

    def often(self, *names: str) -> list[Fairness]:
        """What is possible again and again happens, for each row."""
        return [strong(each(self.actions[n])) for n in names if n in self.actions]


def declare_liveness(m: Machine, s: State) -> None:
    """Not for loops that an error may abort each time."""
    assumed = Assumed(m)
    if s.scope.errors:
        return

    @m.leads_to(fairness=[*assumed.loops(), *assumed.often("terminate_instance", "termination_timed_out")])
    def released_instances_leave(i: Instance) -> tuple[Expr, Expr]:
        """What Ray has left, or never reached, is terminated, if the cloud does so at last (R11, R15)."""
        return among(s.status[i], *TO_TERMINATE, Status.TERMINATING), s.status[i] == Status.TERMINATED

    @m.leads_to(fairness=[*assumed.loops(), *assumed.often("launch_instance", "request_timed_out", "request_given_up")])
    def requests_are_answered(i: Instance) -> tuple[Expr, Expr]:
        """A requested row gets an instance or is given up (ray#65694)."""
        ends = (Status.ALLOCATED, Status.ALLOCATION_FAILED, Status.TERMINATED)
        return s.status[i] == Status.REQUESTED, among(s.status[i], *ends)

    # with losses, timers that are never up leave rows of lost instances for ever, and free ones beat every boot
    unsettled = (s.scope.vanish or s.scope.crash) and s.scope.timers is not Timers.SLOW
    if not (s.scope.drains or s.scope.reconfigure or s.scope.late_launches or unsettled):
        moves = ("launch_instance", "start_ray", "place_job", "install", "finish_job", "terminate_instance")
        unsticks = ("request_timed_out", "request_given_up", "allocation_timed_out", "install_timed_out")
        drains = ("drain_timed_out", "accept_drain", "stop_ray", "termination_timed_out")

        @m.leads_to(fairness=[*assumed.loops(), *assumed.often(*moves, *unsticks, *drains)])
        def pending_jobs_run() -> tuple[Expr, Expr]:
            """While jobs wait, one runs at last, if the cloud, the installer and Ray succeed sometimes, and a job is
            placed sometimes where it may be, before instance or node are lost (R5, R9)."""
            return s.pending > 0, s.busy() > 0
