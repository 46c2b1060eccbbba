"""Helpers to load manifests written inside a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reference.manifests import LoadResult, ManifestError, load

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a text, bytes or a JSON-able value to a file of that name below a fresh directory."""

    def write(name: str, content: str | bytes | dict[str, Any] | list[Any]) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


@pytest.fixture
def load_objects(write: Write) -> Callable[..., LoadResult]:
    """Loads Kubernetes objects, given as values, and the text of a queues.yaml."""

    def load_objects(*objects: Any, queues: str | None = None, **options: Any) -> LoadResult:
        paths = [write("objects.json", {"kind": "List", "items": list(objects)})]
        if queues is not None:
            paths.append(write("queues.yaml", queues))
        return load(paths, **options)

    return load_objects


@pytest.fixture
def refuse(load_objects: Callable[..., LoadResult]) -> Callable[..., ManifestError]:
    """Loads what must be refused and returns the error."""

    def refuse(*objects: Any, **options: Any) -> ManifestError:
        with pytest.raises(ManifestError) as caught:
            load_objects(*objects, **options)
        return caught.value

    return refuse
