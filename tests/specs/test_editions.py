"""Specs with editions: one function with the parameters of all of them, of which each edition has its own."""

from __future__ import annotations

import enum
import re

import pytest

from gangproof.catalogue import catalogue
from gangproof.cli import run
from model.language import Machine
from specs.editions import by_edition, default_edition, editions, of_edition
from specs.gang import gang
from specs.loading import SpecLoadError, build_spec, find_function, load_spec
from specs.parameters import parameters_of
from specs.yunikorn import Edition, yunikorn
from specs.yunikorn.current import yunikorn_current
from specs.yunikorn.current.parameters import Style
from specs.yunikorn.seed import yunikorn_seed


class Kind(enum.Enum):
    NEW = "new"
    OLD = "old"


def toy(
    edition: Kind = Kind.NEW,
    size: int = by_edition(old=1, new=2),
    only: int = by_edition(new=3),
    count: int = 4,
) -> Machine:
    raise AssertionError


def test_an_edition_has_its_own_defaults_and_its_own_parameters() -> None:
    assert editions(toy) == ("new", "old")
    assert default_edition(toy) == "new"
    assert of_edition(toy, {}) == {"edition": Kind.NEW, "size": 2, "only": 3, "count": 4}
    assert of_edition(toy, {"edition": Kind.OLD, "count": 5}) == {"edition": Kind.OLD, "size": 1, "count": 5}
    assert of_edition(toy, {"edition": Kind.OLD, "size": 7})["size"] == 7
    told = {p.name: (p.default, dict(p.by_edition)) for p in parameters_of(toy)}
    assert told["size"] == (2, {"old": 1, "new": 2})
    assert told["only"] == (3, {"new": 3})
    assert told["count"] == (4, {})


def test_a_parameter_of_another_edition_is_refused_even_with_its_default() -> None:
    for value in (3, 4):
        with pytest.raises(ValueError, match="only is for edition=new; edition=old has nothing instead"):
            of_edition(toy, {"edition": Kind.OLD, "only": value})
    with pytest.raises(ValueError, match="edition is a Kind, found 'old'"):
        of_edition(toy, {"edition": "old"})


def test_a_spec_without_editions() -> None:
    assert editions(gang) == ()
    assert default_edition(gang) == ""
    assert of_edition(gang, {"apps": 3})["apps"] == 3


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (
            ["style=hard"],
            "yunikorn: style is for edition=current; edition=seed has policy, reject_fair, gate instead",
        ),
        (
            ["edition=current", "policy=fair"],
            "yunikorn: policy is for edition=seed; edition=current has groups, reals, ",
        ),
        (
            ["deletions=0"],
            "yunikorn: deletions is for edition=current; edition=seed has policy, reject_fair, gate instead",
        ),
        (["edition=current", "size=2,2"], "yunikorn: size is an integer from 1 to 6, found (2, 2)"),
        (["edition=old"], "yunikorn: edition: expected seed|current, found 'old'"),
    ],
)
def test_what_an_edition_of_yunikorn_does_not_have_is_told(
    assignments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SpecLoadError, match=re.escape(message)):
        load_spec("yunikorn", assignments)
    assert run(["check", "yunikorn", *assignments]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert len(told.splitlines()) == 1


def test_both_editions_of_yunikorn_are_those_of_their_folders() -> None:
    """Each default of the common function is that of the edition's own, and each parameter is one."""
    common = {p.name: p for p in parameters_of(yunikorn)}
    for edition, function in ((Edition.SEED, yunikorn_seed), (Edition.CURRENT, yunikorn_current)):
        own = {p.name: p.default for p in parameters_of(function)}
        given = of_edition(yunikorn, {"edition": edition})
        assert given == {"edition": edition, **own}
        assert all(set(p.kinds) <= set(common[p.name].kinds) for p in parameters_of(function))
        assert [a.name for a in yunikorn(edition).actions] == [a.name for a in function().actions]


def test_the_list_tells_the_defaults_of_each_edition(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "edition=seed (seed|current), apps=2 in seed, 1 in current (int)" in told
    assert "policy=fifo in seed (fifo|stateaware|fair)" in told
    entry = next(e for e in catalogue() if e.name == "yunikorn")
    assert {"replace", "replace_on_same_node"} <= set(entry.actions)
    assert {"no_partial_gang_runs", "running_application_has_its_gang"} <= set(entry.properties)
    (policy,) = [p for p in entry.to_json()["parameters"] if p["name"] == "policy"]
    assert (policy["default"], policy["by_edition"]) == ("fifo", {"seed": "fifo"})


def test_a_value_may_be_a_python_value() -> None:
    assert build_spec("yunikorn", {"edition": Edition.CURRENT, "style": Style.HARD}).parameters["style"] == "hard"
    assert "style" not in build_spec("yunikorn", {}).parameters
    assert find_function("yunikorn") is yunikorn
