"""Whatever becomes of a manifest, ``load`` answers or raises an InputError: never another exception.

A valid set of manifests is damaged at random places: values deleted, replaced by values of every type, keys renamed,
members duplicated; inside the queue configuration and the task-groups annotation too.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.errors import InputError
from reference.manifests import LoadResult, load, to_native

DATA = Path(__file__).parent / "data" / "kubectl"
ANNOTATION = "yunikorn.apache.org/task-groups"


def parts() -> dict[str, Any]:
    """The valid manifests as values: objects, queue configuration, gang definition, native cluster."""
    pods = json.loads((DATA / "pods.json").read_text())
    queues = yaml.safe_load((DATA / "yunikorn-configs.yaml").read_text())["data"]["queues.yaml"]
    return {
        "nodes": yaml.safe_load((DATA / "nodes.yaml").read_text()),
        "pods": pods,
        "queues": yaml.safe_load(queues),
        "gang": json.loads(pods["items"][0]["metadata"]["annotations"][ANNOTATION]),
    }


VALID = parts()
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
BYTES = st.binary(max_size=3) | st.sampled_from([b"*", b"&a ", b"- ", b": ", b"{", b"]", b"\n", b"\t", b"7", b" "])
NATIVE = to_native(load(DATA).cluster)

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.sampled_from([0, -1, 1, 2**31, 2**63, 1.5, 1e300]),
    st.sampled_from(["", "x", "-1", "1.5", "10Q", "root", "root.batch", "a.b", "a\nb", "9" * 30, "2Gi", "true", "*"]),
    st.text(max_size=4),
    st.sampled_from([[], {}, [None], [[]], [{}], {"": None}, {"name": "x"}, {"a": {"b": []}}]),
)


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The paths of everything inside a value."""
    steps: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        steps = list(value.items())
    elif isinstance(value, list):
        steps = list(enumerate(value))
    return [p for step, inner in steps for p in [(*path, step), *places(inner, (*path, step))]]


def damage(draw: Callable[..., Any], root: Any) -> None:
    """One change at one place of ``root``, in place."""
    path = draw(st.sampled_from(places(root)))
    holder = root
    for step in path[:-1]:
        holder = holder[step]
    last = path[-1]
    how = draw(st.sampled_from(["replace", "replace", "replace", "delete", "rename", "repeat"]))
    if how == "delete":
        del holder[last]
    elif how == "rename" and isinstance(holder, dict):
        holder[draw(st.text(max_size=3))] = holder.pop(last)
    elif how == "repeat" and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[int(last)]))
    else:
        holder[last] = copy.deepcopy(draw(JUNK))


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """The valid manifests with one to three changes."""
    result = copy.deepcopy(VALID)
    for _ in range(draw(st.integers(1, 3))):
        part = draw(st.sampled_from([key for key in result if places(result[key])]))
        damage(draw, result[part])
    return result


def answered(paths: list[Path], *, require_applications: bool = True) -> LoadResult | InputError:
    """The cluster, which must be sound, or the error, which must be one line."""
    try:
        result = load(paths, require_applications=require_applications)
    except InputError as error:
        assert str(error).isprintable()  # noqa: PT017  the message is what is tested
        assert error.file  # noqa: PT017
        return error
    assert result.cluster.problems() == []
    assert all(str(warning).isprintable() for warning in result.warnings)
    return result


@dataclass
class Tally:
    """How many examples were read and how many refused: a test that only sees one of them tests nothing."""

    read: int = 0
    refused: int = 0

    def add(self, answer: LoadResult | InputError) -> None:
        """One more."""
        if isinstance(answer, LoadResult):
            self.read += 1
        else:
            self.refused += 1

    def check(self) -> None:
        """A tenth of each at least."""
        assert min(self.read, self.refused) * 10 >= self.read + self.refused, self


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_damaged_manifests_are_read_or_refused(suffix: str, tmp_path: Path) -> None:
    tally = Tally()

    @settings(max_examples=100 if suffix == "json" else 30)
    @given(manifests=damaged())
    def run(manifests: dict[str, Any]) -> None:
        try:
            annotations = manifests["pods"]["items"][0]["metadata"]["annotations"]
            if isinstance(annotations[ANNOTATION], str):
                annotations[ANNOTATION] = json.dumps(manifests["gang"])
        except (KeyError, IndexError, TypeError):
            pass  # the damage took the annotation away
        config = yaml.dump(manifests["queues"], Dumper=DUMPER)
        carrier = {"kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"queues.yaml": config}}
        paths = []
        for name, value in (("nodes", manifests["nodes"]), ("pods", manifests["pods"]), ("queues", carrier)):
            path = tmp_path / f"{name}.{suffix}"
            text = json.dumps(value) if suffix == "json" else yaml.dump(value, Dumper=DUMPER)
            path.write_text(text, encoding="utf-8")
            paths.append(path)
        tally.add(answered(paths))

    run()
    tally.check()


def test_damaged_native_files_are_read_or_refused(tmp_path: Path) -> None:
    tally = Tally()

    @settings(max_examples=80)
    @given(data=st.data())
    def run(data: st.DataObject) -> None:
        native = copy.deepcopy(NATIVE)
        for _ in range(data.draw(st.sampled_from([1, 1, 1, 2]))):
            damage(data.draw, native)
        path = tmp_path / "native.json"
        path.write_text(json.dumps(native), encoding="utf-8")
        tally.add(answered([path]))

    run()
    tally.check()


def test_damaged_text_is_read_or_refused(tmp_path: Path) -> None:
    tally = Tally()
    sources = sorted(DATA.iterdir())

    @settings(max_examples=100)
    @given(data=st.data())
    def run(data: st.DataObject) -> None:
        source = data.draw(st.sampled_from(sources))
        content = bytearray(source.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            at = data.draw(st.integers(0, len(content) - 1))
            content[at : at + data.draw(st.integers(0, 4))] = data.draw(BYTES)
        path = tmp_path / source.name
        path.write_bytes(bytes(content))
        tally.add(answered([path, *(p for p in sources if p != source)]))

    run()
    tally.check()


def test_the_valid_manifests_are_read() -> None:
    assert isinstance(answered(sorted(DATA.iterdir())), LoadResult)
