"""Sets, elements and records used wrongly: the message and the line."""

from __future__ import annotations

import pytest
from data_mistakes import rich
from mistakes import App, Build, Ghost, Mistakes, Node, State, check_mistake

from model.language import Expr, all_, choose, count_, record, require, when

mistakes = Mistakes()


# ---- sets


@mistakes("'in' has no meaning in a spec", "waiting.contains(...)")
def in_a_set() -> None:
    s = rich()

    @s.m.always
    def claim() -> Expr:
        return all_(a in s.waiting for a in App)  # ERR


@mistakes("waiting has no elements while the spec is read; go through App")
def loop_over_a_set() -> None:
    s = rich()

    @s.m.action
    def act() -> None:
        for a in s.waiting:  # ERR
            s.waiting.discard(a)


@mistakes("write waiting.size()")
def length_of_a_set() -> None:
    s = rich()

    @s.m.always
    def claim() -> Expr:
        return len(s.waiting) < 2  # ERR


@mistakes("has no truth value")
def truth_of_a_set() -> None:
    s = rich()

    @s.m.action
    def act(a: App) -> None:
        if s.waiting:  # ERR
            s.waiting.add(a)


@mistakes("waiting.add() takes an element of App, found n, which is an element of Node")
def element_of_another_sort() -> None:
    s = rich()

    @s.m.action
    def act(n: Node) -> None:
        s.waiting.add(n)  # ERR


@mistakes("pairs.contains() takes App, Node as its elements, found 1")
def half_a_pair() -> None:
    s = rich()

    @s.m.always
    def claim() -> Expr:
        return all_(s.pairs.contains(a) for a in App)  # ERR


@mistakes("'|' takes a set of App, found pairs")
def union_of_different_sets() -> None:
    s = rich()

    @s.m.always
    def claim() -> Expr:
        return (s.waiting | s.pairs).is_empty()  # ERR


@mistakes("'==' takes a set of App, found a")
def set_against_an_element() -> None:
    s = rich()

    @s.m.always
    def claim() -> Expr:
        return all_(s.waiting == a for a in App)  # ERR


@mistakes("sets compare with <= >= == !=")
def proper_subset() -> None:
    s = rich()

    @s.m.always
    def claim() -> Expr:
        return s.waiting < s.members  # ERR


@mistakes("members is not assigned; each of its sets is, by its element")
def family_in_place_of_a_set() -> None:
    s = rich()

    @s.m.action
    def act(a: App, n: Node) -> None:
        s.members[n] = a  # ERR


@mistakes("waiting is a variable of the machine, and this only sets a Python name")
def set_that_is_only_a_name() -> None:
    s = rich()
    waiting = s.waiting  # noqa: F841

    @s.m.action
    def act(a: App) -> None:
        waiting = s.members  # ERR  # noqa: F841
        s.waiting.add(a)


@mistakes("waiting is read after it was written")
def set_read_after_it_was_written() -> None:
    s = rich()

    @s.m.action
    def act(a: App) -> None:
        s.waiting.add(a)
        require(s.waiting.size() < 2)  # ERR


@mistakes("waiting is written at line", "one cell takes one value")
def element_added_twice() -> None:
    s = rich()

    @s.m.action
    def act(a: App) -> None:
        s.waiting.add(a)
        s.waiting.discard(a)  # ERR


@mistakes("writing waiting belongs in an action")
def set_changed_in_a_property() -> None:
    s = rich()

    @s.m.always
    def claim() -> Expr:
        return all_(s.waiting.add(a) for a in App)  # ERR


@mistakes("waiting.clear() belongs in an action, found it in a property")
def set_cleared_in_a_property() -> None:
    s = rich()

    @s.m.always
    def claim() -> Expr:
        s.waiting.clear()  # ERR
        return s.waiting.is_empty()


@mistakes("late: declare the sort first, with m.sort(Ghost, ...)")
def set_of_an_unknown_sort() -> None:
    rich().m.set("late", Ghost)  # ERR


@mistakes("late: an index is a sort, found <enum 'State'>")
def set_of_an_enum() -> None:
    rich().m.set("late", State)  # ERR


@mistakes("two variables or tables are named waiting")
def set_of_a_name_that_is_taken() -> None:
    rich().m.set("waiting", App)  # ERR


# ---- elements


@mistakes("'is' compares Python objects")
def element_is_none() -> None:
    s = rich()
    place = s.place

    @s.m.action
    def act(a: App) -> None:
        require(place[a] is None)  # ERR
        s.holder.next = a


@mistakes("'is' compares Python objects")
def holder_is_not_none() -> None:
    s = rich()
    holder = s.holder

    @s.m.action
    def act(a: App) -> None:
        require(holder is not None)  # ERR
        s.holder.next = a


@mistakes("holder takes an element of App, found n, which is an element of Node")
def holder_of_another_sort() -> None:
    s = rich()

    @s.m.action
    def act(n: Node) -> None:
        s.holder.next = n  # ERR


@mistakes("holder == takes an element of App, found 1")
def holder_against_a_number() -> None:
    s = rich()

    @s.m.always
    def claim() -> Expr:
        return s.holder == 1  # ERR


@mistakes("place[a] takes an element of Node, found holder")
def place_of_another_element() -> None:
    s = rich()

    @s.m.action
    def act(a: App) -> None:
        s.place[a] = s.holder  # ERR


@mistakes("place[...] takes an element of App, found n")
def place_by_another_sort() -> None:
    s = rich()

    @s.m.action
    def act(n: Node) -> None:
        s.place[n] = n  # ERR


@mistakes("holder is a variable of the machine, and this only sets a Python name")
def holder_that_is_only_a_name() -> None:
    s = rich()
    holder = s.holder  # noqa: F841

    @s.m.action
    def act(a: App) -> None:
        holder = a  # ERR  # noqa: F841
        s.waiting.add(a)


@mistakes("place is read after it was written")
def place_read_after_it_was_written() -> None:
    s = rich()

    @s.m.action
    def act(a: App, n: Node) -> None:
        s.place[a] = n
        require(s.place[a] == n)  # ERR


@mistakes("holder.next is assigned, it cannot be read")
def next_of_an_element() -> None:
    s = rich()

    @s.m.action
    def act(a: App) -> None:
        s.holder.next = a
        require(s.holder.next == a)  # ERR


# ---- records


@mistakes("pod has no field status; it has state, tries, node")
def unknown_field() -> None:
    s = rich()

    @s.m.action
    def act(a: App) -> None:
        s.pod.status[a] = State.DONE  # ERR


@mistakes("pod.state cannot be set; write one of its fields")
def field_without_an_index() -> None:
    s = rich()

    @s.m.action
    def act(a: App) -> None:
        s.pod.state = State.DONE  # ERR


@mistakes("pod_state holds a State, found 1")
def field_of_another_type() -> None:
    s = rich()

    @s.m.action
    def act(a: App) -> None:
        s.pod.assign(a, state=1)  # ERR


@mistakes("init has no value for tries")
def field_without_a_start() -> None:
    rich().m.record("late", App, record(state=State, tries=range(3)), init={"state": State.NEW})  # ERR


@mistakes("node starts as none; init has values for state")
def start_of_an_element() -> None:
    rich().m.record("late", App, record(state=State, node=Node), init={"state": State.NEW, "node": 0})  # ERR


@mistakes("late: the fields are given by record(...), found {'state': <enum 'State'>}")
def record_from_a_dict() -> None:
    rich().m.record("late", App, {"state": State}, init={"state": State.NEW})  # ERR


@mistakes("tries: a domain is bool, an enum class or range(...), found <class 'int'>")
def field_that_is_any_integer() -> None:
    record(tries=int)  # ERR


@mistakes("a field cannot be named next")
def field_of_a_taken_name() -> None:
    record(next=bool)  # ERR


@pytest.mark.parametrize(("build", "words"), mistakes)
def test_mistake(build: Build, words: tuple[str, ...]) -> None:
    check_mistake(build, words)


def test_names_of_constructs_in_a_body_are_fine() -> None:
    s = rich()

    @s.m.action
    def act(a: App, n: Node) -> None:
        message, mine = s.line.receive(app=a), s.members[n]
        size = choose(range(3))
        require(message.size == size, count_(mine.contains(b) for b in App) < 2, s.place[a] != n)
        for b in App:
            with when(s.pairs.contains((b, n))):
                mine.add(b)
        s.line.send(color=message.color, app=a, size=size)
        s.timer.start(a)

    assert [str(g.condition) for g in s.m.actions[1].guards][:2] == ["(line_length > 0)", "line_1_app[a]"]
    assert s.m.actions[1].guards[0].at.line == s.m.actions[1].at.line + 1
