"""What holds in YuniKorn's slice, for any number of applications, nodes and queues."""

from __future__ import annotations

from model.language import Expr, Machine, all_, among, any_, implies, ite, sum_
from specs.yunikorn.seed.state import App, Node
from specs.yunikorn.slice.state import Life, Queue, State


def declare(m: Machine, s: State) -> None:
    """All properties. Together they are inductive: a step from a state in which all hold leads to such a state."""

    @m.always
    def node_capacity() -> Expr:
        """No node holds more than it can (Y3, Y18)."""
        return all_(sum_(s.units(a, n) for a in App) <= s.capacity for n in Node)

    @m.always
    def quota_never_exceeded() -> Expr:
        """No leaf queue holds more than its quota, nor do all together hold more than their parent's (Y5, Y8, Y11)."""
        everything = sum_(s.units(a, n) for a in App for n in Node)
        return all_(sum_(s.counted[a, q] for a in App) <= s.leaf_quota for q in Queue) & (everything <= s.quota)

    @m.always
    def no_partial_gang_runs() -> Expr:
        """No application runs, or has a real pod asked for, parked or allocated, before all its placeholders have been
        allocated (Y1, Y14)."""
        return all_(
            implies(
                (s.life[a] == Life.RUNNING) | (s.asked(a) > 0),
                (s.asks[a] == 0) & among(s.life[a], Life.ACCEPTED, Life.RUNNING),
            )
            for a in App
        )

    @m.always
    def real_pods_run() -> Expr:
        """An application with a real pod allocated is Running, or Waiting (Y20)."""
        return all_(implies(sum_(s.reals[a, n] for n in Node) > 0, s.life[a] == Life.RUNNING) for a in App)

    @m.always
    def gangs_are_reserved_whole() -> Expr:
        """Of an accepted application for which no real pod was asked yet every member is pending or allocated: asks run
        out only when the whole gang has its placeholders (Y1, Y14, Y19)."""
        return all_(
            implies(
                (s.life[a] == Life.ACCEPTED) & (s.asked(a) == 0),
                s.asks[a] + sum_(s.placeholders[a, n] for n in Node) == s.size,
            )
            for a in App
        )

    @m.always
    def gangs_do_not_grow() -> Expr:
        """No application has more pending and allocated than its gang has members; one that is over, or not submitted,
        has nothing (Y10, Y26)."""
        return all_(
            s.asks[a] + s.held(a) + s.real_asks[a] <= ite(among(s.life[a], Life.NEW, Life.OVER), 0, s.size) for a in App
        )

    @m.always
    def gangs_that_time_out_end() -> Expr:
        """An application that timed out is over when its last placeholder is gone (Y26)."""
        return all_(implies(s.life[a] == Life.TIMED_OUT, s.held(a) > 0) for a in App)

    @m.always
    def node_usage_is_conserved() -> Expr:
        """What a node counts as used is what it holds (Y18)."""
        return all_(s.node_used[n] == sum_(s.units(a, n) for a in App) for n in Node)

    @m.always
    def queue_usage_is_conserved() -> Expr:
        """What a leaf counts is what it counts for its applications, which is what they hold; what the parent counts is
        what its leaves count, and what all applications hold (Y8, Y11)."""
        return (
            all_(s.leaf_used[q] == sum_(s.counted[a, q] for a in App) for q in Queue)
            & all_(s.held(a) == sum_(s.counted[a, q] for q in Queue) for a in App)
            & (s.parent_used == sum_(s.leaf_used[q] for q in Queue))
            & (s.parent_used == sum_(s.units(a, n) for a in App for n in Node))
        )

    @m.sometimes
    def a_whole_gang_runs() -> Expr:
        """All members of some gang are real pods, and run (Y1)."""
        return any_(sum_(s.reals[a, n] for n in Node) == s.size for a in App)

    @m.terminal
    def all_over() -> Expr:
        """Every application is over."""
        return all_(s.life[a] == Life.OVER for a in App)
