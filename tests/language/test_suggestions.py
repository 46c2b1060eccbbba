"""Messages that say what to write instead: a misspelt member of an enum, and Python's and our own min and max."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mistakes import App, Mistakes, State, check_mistake, small

from model.language import Expr, all_, count_, max_, min_, require, sum_
from specs.loading import SpecLoadError, load_spec

mistakes = Mistakes()


@mistakes("State has no member RUNING; it has NEW, RUNNING, DONE")
def a_misspelt_member_in_an_action() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        require(s.state[a] == State.RUNING)  # type: ignore[attr-defined]  # ERR
        s.tasks[a] = 1


@mistakes("State has no member DUN; it has NEW, RUNNING, DONE")
def a_misspelt_member_in_a_property() -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return all_(s.state[a] != State.DUN for a in App)  # type: ignore[attr-defined]  # ERR


@mistakes("Python's min() cannot compare it", "ite(a < b, a, b)", "min_(... for a in App)")
def the_smaller_of_two_in_python() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        s.tasks[a] = min(s.tasks[a], s.clock)  # ERR


@mistakes("Python's max() cannot compare it", "ite(a < b, b, a)")
def the_larger_in_a_longer_line() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        require(
            s.ready[a],
            1 + max(1, s.tasks[a]) < 3,  # ERR
        )
        s.tasks[a] = 1


def two_values(name: str, quantifier: Any, instead: str) -> Any:
    def build() -> None:
        s = small()

        @s.m.action
        def act(a: App) -> None:
            s.tasks[a] = quantifier(s.tasks[a], 2)  # ERR

    return pytest.param(build, (f"{name} takes one generator over sorts", "found 2 values", instead), id=name)


mistakes += [
    two_values("min_", min_, "the smaller of two values is ite(a < b, a, b)"),
    two_values("max_", max_, "the larger of two values is ite(a < b, b, a)"),
    two_values("sum_", sum_, "a + b"),
    two_values("count_", count_, "ite(a, 1, 0) + ite(b, 1, 0)"),
]


@pytest.mark.parametrize(("build", "words"), mistakes)
def test_a_mistake_is_told_with_what_to_write(build: Any, words: tuple[str, ...]) -> None:
    check_mistake(build, words)


def test_a_comparison_beside_a_call_of_min_is_not_its_fault() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        require(s.tasks[a] < min(2, 3))
        s.tasks[a] = 1

    assert "3" not in repr(s.m.actions[0].guards)


def test_a_misspelt_member_outside_of_any_body(tmp_path: Path) -> None:
    path = tmp_path / "typo.py"
    path.write_text(
        "import enum\nfrom model.language import Machine\n\n\nclass Light(enum.Enum):\n    RED = 0\n    GREEN = 1\n\n\n"
        "def spec() -> Machine:\n    m = Machine('m')\n    m.scalar('x', Light, init=Light.GREN)\n    return m\n"
    )
    with pytest.raises(SpecLoadError, match=r"typo\.py:12: Light has no member GREN; it has RED, GREEN"):
        load_spec(f"{path}:spec")
