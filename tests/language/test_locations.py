"""Where errors and parts of a machine say they stand, also where a statement spans lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from mistakes import App, Mistakes, Node, State, check_mistake, marked_line, small

from model.language import Expr, SpecError, all_, require, sum_

mistakes = Mistakes()


@mistakes("compares state[a], which is a State, with 1, which is an integer")
def comparison_in_the_third_line_of_a_call() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        require(
            s.ready[a],
            s.state[a] == 1,  # ERR
            s.tasks[a] < 3,
        )
        s.tasks[a] = 1


@mistakes("held is indexed by [App, Node]")
def index_in_a_long_sum() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return (
            s.clock
            + sum_(
                s.held[n, a]  # ERR
                for a in App
                for n in Node
            )
            <= 3
        )


@mistakes("tasks holds an integer, found State.NEW")
def value_in_the_line_below() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = (  # ERR
            State.NEW
        )


@mistakes("has no truth value")
def condition_over_lines() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(
            s.ready[a]  # ERR
            and s.busy
            for a in App
        )


@mistakes("action act writes nothing")
def below_several_decorators() -> None:
    s = small()

    def unchanged(body: object) -> object:
        return body

    @s.m.action
    @unchanged
    @unchanged
    def act(  # ERR
        a: App,
    ) -> None:
        require(s.ready[a])


@pytest.mark.parametrize(("build", "words"), mistakes)
def test_mistake(build: object, words: tuple[str, ...]) -> None:
    check_mistake(build, words)


def test_the_innermost_user_line_counts_also_in_another_file(tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    helper.write_text("def too_many(variable, a):\n    '''A helper.'''\n    return variable[a, a]\n", encoding="utf-8")
    names: dict[str, object] = {}
    exec(compile(helper.read_text(encoding="utf-8"), str(helper), "exec"), names)  # noqa: S102
    s = small()

    def build() -> None:
        @s.m.action
        def act(a: App) -> None:
            require(names["too_many"](s.tasks, a))  # type: ignore[operator]
            s.tasks[a] = 1

    with pytest.raises(SpecError, match="2 indices") as caught:
        build()
    assert (caught.value.at.file, caught.value.at.line) == (str(helper), 3)


def test_parts_of_a_machine_know_their_lines() -> None:
    def build() -> object:
        s = small()

        @s.m.action
        def act(a: App) -> None:
            require(s.ready[a], s.tasks[a] > 0)
            s.tasks[a] -= 1  # ERR

        return s.m.actions[0]

    action = build()
    update = action.updates[0].at  # type: ignore[attr-defined]
    assert update == marked_line(build)
    assert [g.at.line for g in action.guards] == [update.line - 1] * 2  # type: ignore[attr-defined]
    assert action.at.line == update.line - 2  # type: ignore[attr-defined]


def test_an_error_of_the_whole_machine_has_no_line() -> None:
    s = small()
    with pytest.raises(SpecError) as caught:
        s.m.finish()
    assert caught.value.at is None
    assert str(caught.value) == "small: a spec needs at least one action"
