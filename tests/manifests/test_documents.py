"""YAML and JSON with positions: both readers against each other and against the standard library."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.manifests.document import ManifestError, embedded_json, embedded_yaml, json_field, yaml_fields
from reference.manifests.json_text import JsonPositions, parse_json
from reference.manifests.position import Path, SyntaxProblem, path_text, steps_of
from reference.manifests.yaml_text import parse_yaml

WORDS = st.sampled_from(["<<", "null", "1", "true", "a b", "*a", "- x", "#"])
TEXT = WORDS | st.text(
    st.characters(
        codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff\u2028\u2029\x85\ufffe\uffff"
    ),
    max_size=6,
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(10**20), 10**20), TEXT)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=12,
)


def paths(value: Any, path: Path = ()) -> list[Path]:
    """All paths of a value, the root's first."""
    members: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        members = list(value.items())
    elif isinstance(value, list):
        members = list(enumerate(value))
    return [path, *(below for step, member in members for below in paths(member, (*path, step)))]


@given(
    st.one_of(st.lists(VALUES, max_size=3), st.dictionaries(TEXT, VALUES, max_size=3)),
    st.sampled_from([None, 0, 2]),
    st.data(),
)
def test_json_is_read_alike_by_both_readers(value: Any, indent: int | None, data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    [(as_yaml, spot)] = parse_yaml(text)
    assert parse_json(text) == value
    assert as_yaml == value
    positions = JsonPositions(text)
    for path in data.draw(st.permutations(paths(value))):
        found = spot.find(path)
        assert found is not None
        assert positions.find(path) == found.position
        if path and isinstance(path[-1], str):
            parent = spot.find(path[:-1])
            assert parent is not None
            assert positions.find(path, of_key=True) == parent.keys[path[-1]].position


def test_scalars_are_typed_exactly() -> None:
    text = """
    {null1: ~, null2: , t: true, f: False, i: -12, d: 1.50, e: 1e3, s: "12", yes: yes, octal: 0123, hex: 0x1F,
     date: 2026-01-01T00:00:00Z, big: 123456789012345678901234567890, tagged: !!str 12, plus: +5, inf: .inf}
    """
    [(value, spot)] = parse_yaml(text)
    assert value == {
        "null1": None, "null2": None, "t": True, "f": False, "i": -12, "d": Decimal("1.50"), "e": Decimal(1000),
        "s": "12", "yes": "yes", "octal": "0123", "hex": "0x1F", "date": "2026-01-01T00:00:00Z",
        "big": 123456789012345678901234567890, "tagged": "12", "plus": 5, "inf": ".inf",
    }  # fmt: skip
    assert isinstance(value, dict)
    assert type(value["e"]) is Decimal
    written = spot.find(("d",))
    assert written is not None
    assert written.text == "1.50"


def test_merge_keys_and_aliases() -> None:
    [(value, _)] = parse_yaml("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: {<<: [{z: 1}, *a], x: 0}\nd: *a\n")
    assert value == {
        "a": {"x": 1, "y": 2},
        "b": {"y": 3, "x": 1},
        "c": {"x": 0, "z": 1, "y": 2},
        "d": {"x": 1, "y": 2},
    }


def test_several_documents_and_empty_ones() -> None:
    assert [value for value, _ in parse_yaml("---\n---\na: 1\n---\n# nothing\n---\n- 2\n")] == [{"a": 1}, [2]]


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)
)

BAD_YAML = [
    ("a: 1\na: 2\n", 2, 1, "the key 'a' twice"),
    ("a: 1\nb:\n  c: 1\n  'c': 2\n", 4, 3, "the key 'c' twice"),
    ("a: [1, 2\nb: 3\n", 2, 2, "bad YAML"),
    ("a: b: c\n", 1, 5, "bad YAML"),
    ("a:\n\t- x\n", 2, 1, "bad YAML"),
    ("a: *b\n", 1, 4, "the alias *b of nothing"),
    ("a: &a [*a]\n", 1, 8, "the alias *a inside"),
    ("a: !!python/object/apply:os.system [ls]\n", 1, 4, "the tag"),
    ("a: !!int x\n", 1, 4, "the tag"),
    ("? [a]\n: 1\n", 1, 3, "a mapping or list as a key"),
    ("a: &x [1]\n*x : 2\n", 2, 1, "a mapping or list as a key"),
    ("a: {<<: 1}\n", 1, 9, "a merge key"),
    ("a: {<<: x}\n", 1, 9, "a merge key"),
    ("a: {<<: [x]}\n", 1, 9, "a merge key"),
    ("a: \x01\n", 1, 4, "bad YAML"),
    ("[" * 300, 1, 201, "nested levels"),
    (BOMB, None, None, "aliases that expand"),
]


@pytest.mark.parametrize(("text", "line", "column", "found"), BAD_YAML)
def test_bad_yaml_is_one_message_with_its_place(text: str, line: int | None, column: int, found: str) -> None:
    with pytest.raises(ManifestError) as caught:
        yaml_fields(text, "f.yaml")
    assert found in str(caught.value)
    assert str(caught.value).startswith("f.yaml:")
    assert "\n" not in str(caught.value)
    if line is not None:
        assert (caught.value.line, caught.value.column) == (line, column)


BAD_JSON = [
    ('{"a": }', 1, 7, "bad JSON (expecting value)"),
    ('{"a": 1}\n{}', 2, 1, "bad JSON (extra data)"),
    ('{"a": 1,\n "a": 2}', 2, 2, "the key 'a' twice"),
    ('{"a": NaN}', None, None, "the number NaN"),
    ("[" * 100_000, None, None, "nested too deeply"),
    ("[" * 300 + "]" * 300, 1, 201, "nested levels"),
    ("9" * 5000, None, None, "thousands of digits"),
    ('{"a": "\\ud800"}', None, None, "surrogate"),
]


@pytest.mark.parametrize(("text", "line", "column", "found"), BAD_JSON)
def test_bad_json_is_one_message(text: str, line: int | None, column: int | None, found: str) -> None:
    with pytest.raises(ManifestError) as caught:
        json_field(text, "f.json")
    assert found in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_surrogate_pairs_are_characters() -> None:
    assert parse_json('"\\ud83d\\ude00"') == "\N{GRINNING FACE}"


@given(st.text(max_size=40))
def test_any_text_parses_or_is_refused(text: str) -> None:
    for parse in (parse_yaml, parse_json):
        try:
            parse(text)
        except SyntaxProblem:
            continue


@pytest.mark.parametrize("style", ["|", "|-", "|+", "|2-"])
def test_a_place_inside_a_block_scalar_is_exact(style: str) -> None:
    text = f"data:\n  list: {style}\n" + '    [1,\n\n      {"b":  7}]\n'.replace("    [", "    [")
    [root] = yaml_fields(text, "f.yaml")
    host = root.need("data", "").need("list", "")
    seven = embedded_json(host).elements()[1].need("b", "")
    error = seven.error("8")
    assert text.splitlines()[error.line - 1][error.column - 1] == "7" if error.line and error.column else False
    assert error.where == "data.list[1].b"


def test_a_place_inside_a_quoted_string_is_that_of_the_string() -> None:
    [root] = yaml_fields('x: 1\nlist: "[1,\\n 2"\n', "f.yaml")
    with pytest.raises(ManifestError) as caught:
        embedded_json(root.need("list", ""))
    assert (caught.value.line, caught.value.column) == (2, 7)
    assert "at line 2, column 3 of this text" in str(caught.value)


def test_embedded_yaml_says_where_in_both() -> None:
    [root] = yaml_fields("data:\n  q: |\n    a: 1\n    b: [x]\n", "f.yaml")
    [inner] = embedded_yaml(root.need("data", "").need("q", ""))
    error = inner.need("b", "").elements()[0].error("y")
    assert str(error) == "f.yaml:4:9: data.q.b[0]: found 'x', expected y"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("a", 3, "b-c"), "a[3].b-c"),
        (("annotations", "yunikorn.apache.org/queue"), 'annotations["yunikorn.apache.org/queue"]'),
        (('q"\\', ""), '["q\\"\\\\"][""]'),
        ((), ""),
    ],
)
def test_paths_read_as_users_write_them(path: Path, text: str) -> None:
    assert path_text(path) == text
    assert steps_of(text) == path
