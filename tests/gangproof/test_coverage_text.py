"""What was not seen, as text: long lists are cut and say so, and what was looked at only in part is not told of all."""

from __future__ import annotations

from gangproof.coverage_text import unseen_text
from gangproof.output import table
from model.coverage import Blocked, Conjunct, Taken, Unseen


def text_of(unseen: Unseen) -> str:
    return " ".join("\n".join(unseen_text(unseen)).split())


def odd(name: str, count: int) -> Taken:
    """Takes the even ones of its values."""
    return Taken(name, "range", 2 * count, count, tuple(str(2 * i + 1) for i in range(count)))


def test_few_values_never_taken_are_all_shown() -> None:
    never = [odd(f"x{i}", 10) for i in range(10)]
    text = text_of(Unseen((), tuple(never), (), None))
    assert all(f"x{i} = 1, 3, 5, 7, 9, 11, 13, 15, 17, 19" in text for i in range(10))
    assert "more" not in text


def test_many_values_never_taken_are_cut() -> None:
    text = text_of(Unseen((), (odd("x", 4_000), odd("y", 11)), (), None))
    assert text == (
        "Values never taken: x = 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, and 3,990 more (see --json); "
        "y = 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, and 1 more (see --json)."
    )
    many = text_of(Unseen((), (*(odd(f"x{i}", 1) for i in range(12)), Taken("all", "range", 2, 2, ())), (), None))
    assert "x9 = 1; and of 2 more variables, see --json." in many
    assert "x10" not in many


def test_what_was_looked_at_in_part_is_told_of_that_part() -> None:
    conjuncts = tuple(Conjunct(f"{name} > 0", "spec.py:1", 4, 0) for name in "xy")
    part = Blocked("go", 9, 4, 8, conjuncts, ((0, 1),))
    whole = Blocked("go", 9, 9, 18, conjuncts, ((0, 1),))
    assert text_of(Unseen((part,), (), (), None)).endswith(
        "Never together in the first 4 combinations of arguments: x > 0 and y > 0."
    )
    assert text_of(Unseen((whole,), (), (), None)).endswith("Never together: x > 0 and y > 0.")


def test_a_table_fits_whatever_its_first_column_holds() -> None:
    told = table(
        ["property", "kind", "because"], [("short", "always", "so"), ("long_" * 12, "always", "a reason of its own")]
    )
    assert max(map(len, told.splitlines())) <= 80
    rows = told.splitlines()
    assert rows[3] == "long_" * 12
    assert rows[4].split() == ["always", "a", "reason", "of", "its"]
