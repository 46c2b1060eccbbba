"""Every report of Ray, KubeRay, Kubernetes and schedulers beside them that was looked at is told of once: as a mutant,
or as not modelled and why."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import specs
from specs.registry import mutants

FOLDER = Path(str(specs.__file__)).parent
SPECS = ("ray", "kubernetes", "composite", "coscheduling")
REPORTS = (Path(__file__).parent / "data" / "reports-ray-kubernetes.txt").read_text(encoding="utf-8").split()
_ROW = re.compile(r"^\| ((?:[\w-]+#\d+(?:, )?)+) \| (.+) \|$", re.MULTILINE)


def tables(spec: str) -> tuple[list[str], dict[str, str]]:
    """Reports that a README has as mutants, and those that it has not, with the reason."""
    text = (FOLDER / spec / "README.md").read_text(encoding="utf-8")
    told: list[str] = []
    left: dict[str, str] = {}
    for ids, rest in _ROW.findall(text):
        if " | " in rest:
            told += ids.split(", ")
        else:
            left.update(dict.fromkeys(ids.split(", "), rest))
    return told, left


TABLES = {spec: tables(spec) for spec in SPECS}


@pytest.mark.parametrize("spec", SPECS)
def test_the_reports_of_a_readme_are_its_mutants(spec: str) -> None:
    assert TABLES[spec][0] == [m.report for m in mutants(spec) if m.report]


def test_every_report_is_a_mutant_or_left_out_and_none_is_both() -> None:
    modelled = Counter(report for told, _ in TABLES.values() for report in told)
    left = {report for _, reasons in TABLES.values() for report in reasons}
    assert set(REPORTS) <= modelled.keys() | left
    assert not modelled.keys() & left
    assert set(modelled.values()) == {1}


def test_what_is_modelled_is_in_the_list() -> None:
    others = {"koordinator#872", "kueue#4270"}  # in the list of another system's reports
    assert {report for told, _ in TABLES.values() for report in told} - others <= set(REPORTS)


def test_the_list_is_in_order() -> None:
    assert sorted(set(REPORTS), key=lambda x: (x.split("#")[0].lower(), int(x.split("#")[1]))) == REPORTS


@pytest.mark.parametrize("spec", SPECS)
def test_a_reason_is_a_reason(spec: str) -> None:
    assert all(len(reason) >= 15 for reason in TABLES[spec][1].values())
