"""What each fairness is enough for, on machines small enough to be followed by hand."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence

import pytest
from lively import check_liveness

from model.language import Expr, Fairness, Machine, Sort, all_, any_, choose, each, require, strong, weak
from model.verdict import Outcome, PropertyVerdict

HOLDS, VIOLATED, VACUOUS = Outcome.HOLDS, Outcome.VIOLATED, Outcome.VACUOUS


class App(Sort):
    """An application."""


class Node(Sort):
    """A node."""


class Light(enum.Enum):
    RED = 0
    GREEN = 1
    BROKEN = 2


def answer(machine: Machine) -> PropertyVerdict:
    """The answer for the machine's only liveness property, held against the interpreter."""
    _, found = check_liveness(machine)
    (p,) = (p for p in machine.properties if p.kind.is_liveness)
    return found[p.name]


def loop_of(found: PropertyVerdict) -> tuple[list[str], list[str]]:
    """The steps of the stem, and those of the loop."""
    assert found.trace is not None
    calls = [step.call for step in found.trace.steps]
    return calls[: found.trace.loop_start], calls[found.trace.loop_start :]


# ---- one light


def light(fairness: Callable[[Machine, dict[str, Callable[..., None]]], Sequence[Fairness]]) -> Machine:
    """Red, green, red, ...; when it is green, and only then, it can break."""
    m = Machine("light")
    color = m.scalar("color", Light, init=Light.RED)

    @m.action
    def go() -> None:
        require(color == Light.RED)
        color.next = Light.GREEN

    @m.action
    def stop() -> None:
        require(color == Light.GREEN)
        color.next = Light.RED

    @m.action
    def breaks() -> None:
        require(color == Light.GREEN)
        color.next = Light.BROKEN

    @m.action
    def flicker() -> None:
        """Changes nothing."""
        color.next = color

    @m.eventually(fairness=fairness(m, {"go": go, "stop": stop, "breaks": breaks, "flicker": flicker}))
    def broken() -> Expr:
        return color == Light.BROKEN

    return m


def test_without_fairness_a_run_may_stop_at_once() -> None:
    found = answer(light(lambda m, a: []))
    assert found.outcome is VIOLATED
    assert loop_of(found) == ([], [])


def test_a_step_that_changes_nothing_is_no_progress() -> None:
    """Else the run that flickers forever would be fair to all the other actions, which it never lets happen."""
    found = answer(light(lambda m, a: [m.progress(), strong(a["flicker"])]))
    assert loop_of(found) == ([], ["go()", "stop()"])


def test_weak_fairness_is_not_enough_for_what_is_disabled_again_and_again() -> None:
    found = answer(light(lambda m, a: [weak(a["go"]), weak(a["stop"]), weak(a["breaks"])]))
    assert found.outcome is VIOLATED
    assert loop_of(found) == ([], ["go()", "stop()"])


def test_strong_fairness_is() -> None:
    assert answer(light(lambda m, a: [weak(a["go"]), strong(a["breaks"])])).outcome is HOLDS


def test_strong_fairness_does_not_make_it_enabled() -> None:
    found = answer(light(lambda m, a: [strong(a["breaks"])]))
    assert loop_of(found) == ([], [])


def test_weak_fairness_is_enough_for_what_stays_enabled() -> None:
    """A green light at which nobody looks stays green until it breaks."""
    m = Machine("light")
    color = m.scalar("color", Light, init=Light.GREEN)

    @m.action
    def breaks() -> None:
        require(color == Light.GREEN)
        color.next = Light.BROKEN

    @m.eventually(fairness=[weak(breaks)])
    def broken() -> Expr:
        return color == Light.BROKEN

    assert answer(m).outcome is HOLDS


def test_progress_rules_out_stopping_only() -> None:
    found = answer(light(lambda m, a: [m.progress()]))
    assert loop_of(found) == ([], ["go()", "stop()"])


# ---- several applications


def server(
    fairness: Callable[[Callable[..., None]], Sequence[Fairness]], *, forever: bool, some: bool = False
) -> Machine:
    """Applications are served, once or again and again."""
    m = Machine("server")
    m.sort(App, 3, symmetric=True)
    served = m.variable("served", App, range(3), init=0)

    @m.action
    def serve(a: App) -> None:
        require((served[a] < 2) | forever)
        served[a] = (served[a] + 1) % 3 if forever else served[a] + 1

    if some:

        @m.eventually(fairness=fairness(serve))
        def somebody_is_served() -> Expr:
            return any_(served[a] == 2 for a in App)

    else:

        @m.eventually(fairness=fairness(serve))
        def everybody_is_served(a: App) -> Expr:
            return served[a] == 2

    return m


def test_some_argument_is_not_each() -> None:
    """As long as there are others to be served, an application may be passed over."""
    found = answer(server(lambda serve: [weak(serve)], forever=True))
    assert found.outcome is VIOLATED
    assert "for a = app1" in found.how
    stem, loop = loop_of(found)
    assert stem == []
    assert len(set(loop)) == 1
    assert len(loop) == 3
    assert loop[0] != "serve(app1)"


def test_each_argument_gets_its_turn() -> None:
    assert answer(server(lambda serve: [weak(each(serve))], forever=True)).outcome is HOLDS


def test_some_argument_is_enough_where_the_others_run_out() -> None:
    assert answer(server(lambda serve: [weak(serve)], forever=False)).outcome is HOLDS


def test_some_argument_is_enough_for_somebody() -> None:
    assert answer(server(lambda serve: [weak(serve)], forever=True, some=True)).outcome is HOLDS


def placement(fairness: Callable[[Callable[..., None]], Sequence[Fairness]]) -> Machine:
    """An application is put onto one of two nodes and taken away again; it claims that every application gets a node.

    A node that is full takes nobody else.
    """
    m = Machine("placement")
    m.sort(App, 2)
    m.sort(Node, 2)
    on = m.variable("on", (App, Node), bool, init=False)
    had = m.variable("had", App, bool, init=False)

    @m.action
    def put(a: App, n: Node) -> None:
        require(all_(~on[b, n] for b in App), all_(~on[a, k] for k in Node))
        on[a, n] = True
        had[a] = True

    @m.action
    def take(a: App) -> None:
        require(any_(on[a, n] for n in Node))
        for n in Node:
            on[a, n] = False

    @m.eventually(fairness=fairness(put))
    def gets_a_node(a: App) -> Expr:
        return had[a]

    return m


@pytest.mark.parametrize(
    ("fairness", "outcome"),
    [
        (lambda put: [weak(put)], VIOLATED),
        (lambda put: [strong(put)], VIOLATED),
        (lambda put: [weak(each(put, "n"))], VIOLATED),
        (lambda put: [weak(each(put))], VIOLATED),  # the other application moves from node to node
        (lambda put: [weak(each(put, "a"))], HOLDS),  # one node is always free for it
        (lambda put: [strong(each(put))], HOLDS),
        (lambda put: [strong(each(put, "a"))], HOLDS),
    ],
)
def test_each_of_some_parameters(
    fairness: Callable[[Callable[..., None]], Sequence[Fairness]], outcome: Outcome
) -> None:
    assert answer(placement(fairness)).outcome is outcome


# ---- ends


def ending(terminal: bool) -> Machine:
    """Counts down from 2; half of the time there is nothing to count."""
    m = Machine("ending")
    left = m.scalar("left", range(3), init=2)
    stuck = m.scalar("stuck", bool, init=False)

    @m.action
    def count() -> None:
        require(left > 0, ~stuck)
        left.next -= 1

    @m.action
    def jam() -> None:
        require(left == 1, ~stuck)
        stuck.next = True

    if terminal:

        @m.terminal
        def may_end() -> bool:
            return True

    @m.eventually(fairness=[strong(count), strong(jam)])
    def counted() -> Expr:
        return left == 0

    return m


@pytest.mark.parametrize("terminal", [True, False])
def test_a_run_that_ends_stays_in_its_last_state(terminal: bool) -> None:
    """What has not happened by then never will, whether the end is intended or a deadlock."""
    found = answer(ending(terminal))
    assert found.outcome is VIOLATED
    assert loop_of(found) == (["count()", "jam()"], [])


def test_a_faulty_step_is_no_way_out() -> None:
    """It has no state after it, so fairness to it is no promise."""
    m = Machine("overflow")
    x = m.scalar("x", range(2), init=0)

    @m.action
    def grow() -> None:
        x.next += 1

    @m.eventually(fairness=[strong(grow)])
    def never() -> Expr:
        return x == 5

    found = answer(m)
    assert loop_of(found) == (["grow()"], [])


# ---- leads_to


def requests(fairness: Sequence[str], *, lossy: bool = False) -> Machine:
    """An application asks, is answered, and asks again; a request may be lost."""
    m = Machine("requests")
    m.sort(App, 2)
    asking = m.variable("asking", App, bool, init=False)

    @m.action
    def ask(a: App) -> None:
        require(~asking[a])
        asking[a] = True

    @m.action
    def reply(a: App) -> None:
        require(asking[a], True if not lossy else all_((b == a) | ~asking[b] for b in App))
        asking[a] = False

    kinds = {"weak": weak(reply), "weak each": weak(each(reply)), "strong each": strong(each(reply))}

    @m.leads_to(fairness=[kinds[f] for f in fairness])
    def every_request_is_answered(a: App) -> tuple[Expr, Expr]:
        return asking[a], ~asking[a]

    return m


@pytest.mark.parametrize(
    ("fairness", "lossy", "outcome"),
    [
        ([], False, VIOLATED),
        (["weak"], False, VIOLATED),
        (["weak each"], False, HOLDS),
        (["weak each"], True, VIOLATED),
        (["strong each"], True, VIOLATED),  # both ask forever, and neither can be answered
    ],
)
def test_every_premise_is_followed(fairness: Sequence[str], lossy: bool, outcome: Outcome) -> None:
    found = answer(requests(fairness, lossy=lossy))
    assert found.outcome is outcome
    if not fairness:
        assert loop_of(found) == (["ask(app1)"], [])


def levels(goal: int) -> Machine:
    """Up from 0 to 3, then round 4, 5, 4, 5, ..., or back to 1; several states satisfy the premise."""
    m = Machine("levels")
    x = m.scalar("x", range(6), init=0)

    @m.action
    def up() -> None:
        require(x < 5)
        x.next += 1

    @m.action
    def down() -> None:
        require(x == 5)
        x.next -= 1

    @m.action
    def reset() -> None:
        require(x == 3)
        x.next = 1

    @m.leads_to(fairness=[weak(up), weak(down)])
    def premise_leads_to_goal() -> tuple[Expr, Expr]:
        return (x == 1) | (x == 3), x == goal

    return m


def test_several_premises() -> None:
    """After 1 comes 3; after 3 comes 1 or the end of the ladder, which never leads to 1 or 3 again."""
    found = answer(levels(0))
    assert found.outcome is VIOLATED
    assert loop_of(found) == (["up()"], ["up()", "up()", "reset()"])
    found = answer(levels(2))
    assert loop_of(found) == (["up()"] * 4, ["up()", "down()"])
    assert answer(levels(3)).outcome is HOLDS


def test_a_premise_inside_the_loop() -> None:
    """The premise may hold only on the loop: then the goal must fail all the way round."""
    m = Machine("round")
    x = m.scalar("x", range(4), init=0)

    @m.action
    def step() -> None:
        x.next = (x + 1) % 4

    @m.leads_to(fairness=[weak(step)])
    def two_leads_to_one() -> tuple[Expr, Expr]:
        return x == 2, x == 1

    assert answer(m).outcome is HOLDS


def test_vacuous() -> None:
    m = Machine("idle")
    x = m.scalar("x", range(3), init=0)

    @m.action
    def toggle() -> None:
        x.next = 1 - x

    @m.leads_to(fairness=[weak(toggle)])
    def two_leads_to_one() -> tuple[Expr, Expr]:
        return x == 2, x == 1

    found = answer(m)
    assert (found.outcome, found.how) == (VACUOUS, "premise never true: (x == 2)")


def test_what_holds_at_once_is_told() -> None:
    m = Machine("idle")
    x = m.scalar("x", range(2), init=0)

    @m.action
    def toggle() -> None:
        x.next = 1 - x

    @m.leads_to(fairness=[])
    def zero_is_less_than_two() -> tuple[Expr, Expr]:
        return x == 0, x < 2

    found = answer(m)
    assert (found.outcome, found.how) == (
        HOLDS,
        "in every fair run through all 2 states, at once whenever the premise holds",
    )


def test_choices_are_not_meant_separately() -> None:
    """A fair coin is more than fairness asks: the same side may come up forever."""
    m = Machine("coin")
    m.sort(App, 1)
    side = m.variable("side", App, range(3), init=0)

    @m.action
    def toss(a: App) -> None:
        up = choose(range(3), "up")
        require(up != side[a])
        side[a] = up

    @m.eventually(fairness=[strong(each(toss))])
    def two(a: App) -> Expr:
        return side[a] == 2

    found = answer(m)
    assert found.outcome is VIOLATED
    assert loop_of(found) == ([], ["toss(app1, 1)", "toss(app1, 0)"])
