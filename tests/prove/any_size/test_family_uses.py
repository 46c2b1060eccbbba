"""What a spec function may do with its sizes, and what makes some sizes unknown."""

from __future__ import annotations

import enum
import inspect
import itertools
import operator
from collections.abc import Callable
from typing import Any

import pytest
from families import at_size

from model.language import Machine, Sort, all_, require
from model.language.sizes import Record, Size
from model.prove.any_size import prove_any_size
from model.prove.any_size.family import Family, family_of
from model.prove.any_size.terms import Unreadable
from model.verdict import Outcome
from specs.gang import gang
from specs.kubernetes.slice import kubernetes_slice
from specs.parameters import check_product, check_size
from specs.volcano.slice import volcano_slice
from specs.yunikorn.slice import yunikorn_slice

pytestmark = pytest.mark.no_cover


class Job(Sort):
    """A job."""


class Slot(Sort):
    """A slot."""


class Odd(enum.Enum):
    """An enum with a size among its values."""

    FOUR = 4
    OTHER = 0

    @classmethod
    def _missing_(cls, value: object) -> Odd:
        return cls.OTHER


def spec(jobs: Any, slots: Any, most: int = 1) -> Machine:
    """Jobs that count to ``most``."""
    m = Machine("spec")
    m.sort(Job, jobs)
    m.sort(Slot, slots)
    x = m.variable("x", Job, range(4), init=0)

    @m.action
    def up(j: Job) -> None:
        require(x[j] < most)
        x[j] += 1

    @m.always
    def low() -> Any:
        return all_(x[j] <= 1 for j in Job)

    return m


def family(most: Callable[[Any], int], given: int = 2) -> Family:
    """The family of `spec` whose ``most`` depends on how many jobs there are."""

    def build(jobs: int = given, slots: int = 2) -> Machine:
        return spec(jobs, slots, most(jobs))

    return family_of(build, {"jobs": given, "slots": 2})


@pytest.mark.parametrize("odd", [4, 6, 7, 40, 99])
def test_a_spec_that_is_another_one_at_a_size_it_compares_with_is_refused(odd: int) -> None:
    """It is one machine at all sizes that are tried without looking, and another at ``odd`` jobs."""

    def build(jobs: int = 2, slots: int = 2) -> Machine:
        return spec(jobs, slots, 1 if jobs != odd else 2)

    told = prove_any_size(build, {"jobs": 2, "slots": 2})["low"].verdict
    assert told.outcome is Outcome.UNKNOWN
    assert f"the spec is another one at jobs={odd}" in told.how


@pytest.mark.parametrize(
    "compare", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne], ids=lambda f: f.__name__
)
def test_every_comparison_is_tried_on_both_sides(compare: Callable[[Any, int], bool]) -> None:
    with pytest.raises(Unreadable, match=r"another one at jobs=(6|7|8)"):
        family(lambda jobs: 1 + compare(jobs, 7) if compare(2, 7) is False else 2 - compare(jobs, 7))
    with pytest.raises(Unreadable, match=r"another one at jobs=(6|7|8)"):
        family(lambda jobs: 1 + compare(7, jobs) if compare(7, 2) is False else 2 - compare(7, jobs))


def test_a_comparison_behind_another_is_found() -> None:
    with pytest.raises(Unreadable, match="another one at jobs=23"):
        family(lambda jobs: 2 if jobs > 20 and jobs == 23 else 1)


def test_sizes_that_are_compared_for_nothing_are_of_the_family() -> None:
    found = family(lambda jobs: 1 + 0 * (jobs > 6))
    assert found.compared == 13  # 11 that are always tried, among them 5 jobs; and 6 and 7 jobs


def test_a_condition_is_a_comparison_with_nothing() -> None:
    assert family(lambda jobs: 1 if jobs else 2).machine.name == "spec"


USES: dict[str, Callable[[Any], Any]] = {
    "arithmetic": lambda n: n + 0,
    "reflected": lambda n: 7 - n,
    "remainder": lambda n: n % 17,
    "halves": lambda n: n // 2,
    "negative": lambda n: -n,
    "divmod": lambda n: divmod(n, 3),
    "repeated": lambda n: [0] * n,
    "range": lambda n: range(n),
    "islice": lambda n: list(itertools.islice(itertools.count(), n)),
    "slice": lambda n: (1, 2, 3)[:n],
    "index": lambda n: list(range(9))[n],
    "dict": lambda n: {4: 1}.get(n, 2),
    "set": lambda n: n in {4, 5},
    "enum": lambda n: Odd(n),
    "int": lambda n: int(n),
    "float": lambda n: float(n),
    "operator.index": lambda n: operator.index(n),
    "f-string": lambda n: f"{n}" == "4",
    "f-string with a format": lambda n: f"{n:03}" == "004",
    "str": lambda n: str(n),
    "repr": lambda n: f"{n!r}",
    "percent": lambda n: "%d" % n,  # noqa: UP031 - another way into a text
    "sum": lambda n: sum([n]),
    "round": lambda n: round(n),
    "bits": lambda n: n.bit_length(),
    "real": lambda n: n.real,
    "another size": lambda n: n == Size("slots", 2, Record()),
    "a fraction": lambda n: n < 2.5,
}


@pytest.mark.parametrize("use", USES)
def test_any_other_use_is_unknown_with_its_line(use: str) -> None:
    """None of them makes another machine at sizes that are tried."""

    def most(jobs: Any) -> int:
        USES[use](jobs)
        return 1

    with pytest.raises(Unreadable, match=r"^jobs (is|becomes) .* at .*test_family_uses\.py:\d+: the spec may say some"):
        family(most)


ASKED: dict[str, Callable[[Machine], Any]] = {
    "size": lambda m: m.sorts[Job].size,
    "names": lambda m: len(m.sorts[Job].names),
    "last name": lambda m: m.sorts[Job].names[-1],
    "each name": lambda m: [*m.sorts[Job].names],
    "values": lambda m: m.values(Job),
    "cells": lambda m: len(m.cells()),
}


@pytest.mark.parametrize("asked", ASKED)
def test_what_a_machine_is_asked_about_sizes_is_unknown(asked: str) -> None:
    def build(jobs: int = 2, slots: int = 2) -> Machine:
        m = spec(jobs, slots)
        ASKED[asked](m)
        return m

    with pytest.raises(Unreadable, match=r"^jobs is asked of the machine at .*test_family_uses\.py:\d+"):
        family_of(build, {"jobs": 2, "slots": 2})


def test_sizes_are_compared_with_each_other_is_unknown() -> None:
    def build(jobs: int = 2, slots: int = 2) -> Machine:
        return spec(jobs, slots, 1 + 0 * (jobs > slots))

    with pytest.raises(Unreadable, match="is compared with a size at"):
        family_of(build, {"jobs": 2, "slots": 2})


def test_what_is_not_for_sorts_may_be_used_in_any_way() -> None:
    def build(jobs: int = 2, slots: int = 2, most: int = 1) -> Machine:
        return spec(jobs, slots, len(range(most)) + most // 3)

    assert family_of(build, {"jobs": 2, "slots": 2, "most": 1}).sizes == {"jobs": ("Job",), "slots": ("Slot",)}


def test_checks_of_sizes_are_passed() -> None:
    def build(jobs: int = 2, slots: int = 2) -> Machine:
        check_size("jobs", jobs, most=50)
        check_product({"jobs": jobs, "slots": slots}, 100)
        if jobs > 60:
            raise ValueError(f"at most 60 jobs, found {jobs}")
        return spec(jobs, slots)

    assert family_of(build, {"jobs": 2, "slots": 2}).fewer == ()


def test_a_check_that_fails_and_is_caught_is_unknown() -> None:
    def build(jobs: int = 2, slots: int = 2) -> Machine:
        try:
            check_size("jobs", jobs, most=50)
        except ValueError:
            return spec(jobs, slots, 2)
        return spec(jobs, slots)

    with pytest.raises(Unreadable, match="a check of sizes fails at jobs=2 slots=2, and the spec goes on"):
        family_of(build, {"jobs": 2, "slots": 2})


def test_an_integer_too_large_to_be_tried_is_unknown() -> None:
    with pytest.raises(Unreadable, match=r"jobs is compared with 700 at .*test_family_uses\.py:\d+, more than the 100"):
        family(lambda jobs: 2 if jobs == 700 else 1)


def test_a_spec_that_takes_only_integers_is_unknown() -> None:
    """It refuses a size that records its use: what it does with others is not known."""

    def most(jobs: int) -> int:
        if not isinstance(jobs, int):
            raise ValueError("jobs is an integer")
        return 1

    with pytest.raises(Unreadable, match="cannot be recorded at jobs=2 slots=2: jobs is an integer"):
        family(most)


def test_a_machine_that_is_resized_is_a_family() -> None:
    """The random machines of other tests are."""
    assert family_of(at_size(spec(2, 2)), {"size": 2}).sizes == {"size": ("Job", "Slot")}


SHIPPED = [(gang, ()), (kubernetes_slice, ()), (volcano_slice, ()), (yunikorn_slice, ("nodes=1",))]


@pytest.mark.slow
@pytest.mark.parametrize(("build", "fewer"), SHIPPED, ids=[b.__name__ for b, _ in SHIPPED])
def test_shipped_specs_are_families(build: Callable[..., Machine], fewer: tuple[str, ...]) -> None:
    defaults = {n: p.default for n, p in inspect.signature(build).parameters.items()}
    assert family_of(build, defaults).fewer == fewer
