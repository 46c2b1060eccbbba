"""Ray's autoscaler v2: a reconciler syncs its rows with the cloud and the GCS, decides, and tells its subscribers.

Sources are the design text "Autoscaler v2" of Ray 2.48 (the rules R1 to R19 of README.md), and the published table of
transitions of 2.48 and 2.60. The cloud, Ray and the users are adversaries: see `specs.ray.world`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from model.language import Expr, Machine, ite, require
from specs.ray.liveness import declare_liveness
from specs.ray.parameters import Edition, Scope, Timers
from specs.ray.properties import declare_properties
from specs.ray.state import Loop, State
from specs.ray.step import (
    declare_install,
    declare_launch,
    declare_scale,
    declare_stuck,
    declare_terminate,
)
from specs.ray.sync import Actions, declare_begin, declare_sync
from specs.ray.world import declare_world


def ray(
    edition: Edition = Edition.CURRENT,
    instances: int = 2,
    min_workers: int = 0,
    max_workers: int = 2,
    jobs: int = 2,
    retries: int = 1,
    max_concurrent_launches: int = 2,
    upscaling_speed: int = 0,
    late_launches: int = 0,
    kuberay: bool = False,
    timers: Timers = Timers.SLOW,
    vanish: bool = True,
    crash: bool = True,
    drains: bool = False,
    late_start: bool = False,
    errors: bool = False,
    reconfigure: bool = False,
    request_resources: int = 0,
    repaired: bool = False,
    split: bool = False,
    types: int = 1,
    max_nodes: int = 0,
) -> Machine:
    """Ray's autoscaler v2: instance life cycle, reconcile loop, and a cloud that fails in every way it can.

    ``instances``: rows, of which ``max_workers`` may be in use by intention; ``jobs``: each takes a whole node;
    ``retries``: launches that may time out before a row is given up; ``late_launches``: how many of those may still
    come; ``upscaling_speed``: whole nodes per running node, 0 for one a loop. What may happen: rows time out
    (``timers``), instances ``vanish``, Ray nodes ``crash``, somebody ``drains`` them, Ray may ``late_start``,
    ``errors`` abort a loop, the user may ``reconfigure`` the maximum and call ``request_resources`` for up to so many
    nodes. ``split``: the world moves while a loop works on its snapshot. ``repaired``: what README.md's findings would
    have. ``types``: worker groups, each with its rows, ``min_workers`` and ``max_workers``; ``max_nodes`` of all of
    them together, 0 for no such limit. ValueError for sizes that make no sense.
    """
    scope = Scope(
        edition,
        instances,
        min_workers,
        max_workers,
        jobs,
        retries,
        max_concurrent_launches,
        upscaling_speed,
        late_launches,
        kuberay,
        timers,
        vanish,
        crash,
        drains,
        late_start,
        errors,
        reconfigure,
        request_resources,
        repaired,
        split,
        types,
        max_nodes,
    )
    m = Machine("ray", doc="Ray's autoscaler v2: rows of instances, reconciled with a cloud and the GCS")
    s = State(m, scope)
    m.attach(s)
    declare_world(m, s)
    _loop(m, s)
    declare_properties(m, s)
    declare_liveness(m, s)
    return m


class Phases:
    """What each phase of a loop has to do, ``order`` of the phases, and when one follows another."""

    def __init__(self, m: Machine, s: State, must: Mapping[Loop, Actions], order: Sequence[Loop]) -> None:
        self._machine, self._state, self._must, self.order = m, s, must, tuple(order)

    def done(self) -> Expr:
        """Whether the phase has done all that it has to."""
        s = self._state
        left = s.loop != Loop.REST
        for phase, actions in self._must.items():
            for action in actions:
                left = left & ~((s.loop == phase) & self._machine.enabled(action))
        return left

    def following(self, order: Sequence[Loop]) -> Expr:
        """The next phase in ``order``; after the last, a pause."""
        s = self._state
        then: Expr = ite(s.loop == order[-1], Loop.REST, order[0])
        for phase, after_it in pairwise(order):
            then = ite(s.loop == phase, after_it, then)
        return then


def _loop(m: Machine, s: State) -> None:
    declare_begin(m, s)
    must: dict[Loop, Actions] = {
        Loop.SYNC: declare_sync(m, s),
        Loop.STUCK: declare_stuck(m, s),
        Loop.SCALE: declare_scale(m, s),
        Loop.TERMINATE: declare_terminate(m, s),
        Loop.LAUNCH: declare_launch(m, s),
    }
    if not s.scope.kuberay:
        must[Loop.INSTALL] = []
        declare_install(m, s)
    order = list(must)
    if not s.scope.current:  # 2.48 launches before it terminates (ray#63766)
        order[3], order[4] = order[4], order[3]
    phases = Phases(m, s, must, order)
    m.attach(phases)

    @m.action
    def next_phase() -> None:
        """Everything that this phase has to do is done: the next one, or a pause after the last (R5)."""
        require(phases.done())
        s.loop.next = phases.following(phases.order)
        s.choose_none()

    if s.scope.errors:

        @m.action
        def abort_loop() -> None:
            """An error: the rest of the loop is left out, whatever it was to be (R6)."""
            require(s.loop != Loop.REST)
            s.loop.next = Loop.REST
            s.choose_none()
