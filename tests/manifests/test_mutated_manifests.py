"""Whatever becomes of a manifest, ``load`` answers or raises an InputError: never another exception.

A valid set of manifests is damaged at random places: values deleted, replaced by values of every type, keys renamed,
members duplicated; inside the queue configuration and the task-groups annotation too.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.cluster import Cluster
from reference.errors import InputError
from reference.manifests import LoadResult, load, to_native

DATA = Path(__file__).parent / "data" / "kubectl"
ANNOTATION = "yunikorn.apache.org/task-groups"


def parts() -> dict[str, Any]:
    """The valid manifests as values: objects, queue configuration, gang definition, native cluster."""
    pods = json.loads((DATA / "pods.json").read_text())
    queues = yaml.safe_load((DATA / "yunikorn-configs.yaml").read_text())["data"]["queues.yaml"]
    # unquoted amounts are typed by the YAML reader; as text they are what users quote
    config = yaml.load(queues, Loader=yaml.BaseLoader)  # noqa: S506  BaseLoader makes only str, list and dict
    return {
        "nodes": yaml.safe_load((DATA / "nodes.yaml").read_text()),
        "pods": pods,
        "queues": config,
        "gang": json.loads(pods["items"][0]["metadata"]["annotations"][ANNOTATION]),
    }


VALID = parts()
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


def damage(draw: st.DrawFn, root: Any) -> None:
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


def answered(paths: list[Path]) -> LoadResult | InputError:
    """The cluster, which must be sound, or the error, which must be one line."""
    try:
        result = load(paths)
    except InputError as error:
        assert str(error).isprintable()  # noqa: PT017  the message is what is tested
        assert error.file  # noqa: PT017
        return error
    assert result.cluster.problems() == []
    assert all(str(warning).isprintable() for warning in result.warnings)
    return result


@pytest.mark.parametrize("as_yaml", [False, True])
@settings(max_examples=250)
@given(manifests=damaged())
def test_damaged_manifests_are_read_or_refused(
    manifests: dict[str, Any], as_yaml: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "damaged"
    folder.mkdir(exist_ok=True)
    try:
        annotations = manifests["pods"]["items"][0]["metadata"]["annotations"]
        if isinstance(annotations[ANNOTATION], str):
            annotations[ANNOTATION] = json.dumps(manifests["gang"])
    except (KeyError, IndexError, TypeError):
        pass  # the damage took the annotation away
    config = yaml.safe_dump(manifests["queues"])
    carrier = {"kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"queues.yaml": config}}
    paths = []
    for name, value in (("nodes", manifests["nodes"]), ("pods", manifests["pods"]), ("queues", carrier)):
        path = folder / f"{name}.{'yaml' if as_yaml else 'json'}"
        path.write_text(yaml.safe_dump(value) if as_yaml else json.dumps(value), encoding="utf-8")
        paths.append(path)
    answered(paths)


@settings(max_examples=250)
@given(data=st.data())
def test_damaged_native_files_are_read_or_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    native = copy.deepcopy(NATIVE)
    for _ in range(data.draw(st.integers(1, 3))):
        damage(data.draw, native)
    path = tmp_path_factory.getbasetemp() / "native.json"
    path.write_text(json.dumps(native), encoding="utf-8")
    answered([path])


@settings(max_examples=300)
@given(data=st.data())
def test_damaged_text_is_read_or_refused(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    source = data.draw(st.sampled_from(sorted(DATA.iterdir())))
    content = bytearray(source.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content) - 1))
        junk = data.draw(
            st.binary(max_size=3) | st.sampled_from([b"*", b"&a ", b"- ", b": ", b"{", b"]", b"\n", b"\t"])
        )
        content[at : at + data.draw(st.integers(0, 4))] = junk
    path = tmp_path_factory.getbasetemp() / f"text-{source.name}"
    path.write_bytes(bytes(content))
    others = [p for p in DATA.iterdir() if p != source]
    answered([path, *others])


def test_the_valid_manifests_are_read() -> None:
    result = answered(sorted(DATA.iterdir()))
    assert isinstance(result, LoadResult)
    assert isinstance(result.cluster, Cluster)
