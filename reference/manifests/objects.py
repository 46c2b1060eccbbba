"""Kubernetes objects other than nodes and pods: who they are, and which of their members nobody looks at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reference.manifests.document import Field
from reference.manifests.notices import Notices
from reference.manifests.pods import created_at, namespace_of, object_name, texts

CORE = ""
"""The API group of ``apiVersion: v1``."""


@dataclass(frozen=True, slots=True)
class Object:
    """One object. ``group`` is its API group without the version; ``number`` its place in reading order."""

    field: Field
    kind: str
    group: str
    number: int

    @property
    def metadata(self) -> Field:
        """Its metadata, which has to be there."""
        return self.field.need("metadata", "metadata with a name")

    @property
    def name(self) -> str:
        """``metadata.name``, or ``generateName`` and the object's number."""
        return object_name(self.metadata, self.number)

    @property
    def namespace(self) -> str:
        """Its namespace; ``default`` where none is named."""
        return namespace_of(self.metadata)

    @property
    def full_name(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"

    @property
    def created(self) -> int | None:
        """Microseconds since 1970."""
        return created_at(self.metadata)

    @property
    def spec(self) -> Field:
        """Its spec, empty where there is none."""
        return self.field.get("spec") or self.field.child("spec", {})

    @property
    def status(self) -> Field:
        """Its status, empty where there is none."""
        return self.field.get("status") or self.field.child("status", {})

    def labels(self) -> dict[str, Field]:
        """Labels that are not empty."""
        return texts(self.metadata, "labels")

    def annotations(self) -> dict[str, Field]:
        """Annotations that are not empty."""
        return texts(self.metadata, "annotations")

    def name_field(self) -> Field:
        """The place of its name, for messages."""
        return self.metadata.get("name") or self.field

    def owners(self) -> Iterator[tuple[str, str]]:
        """Kind and name of each owner."""
        return owners_of(self.metadata)


def owners_of(metadata: Field) -> Iterator[tuple[str, str]]:
    """Kind and name of each of ``ownerReferences``."""
    for owner in metadata.list_of("ownerReferences"):
        yield owner.need("kind", "the owner's kind").name(), owner.need("name", "the owner's name").name()


def by_name(objects: Iterable[Object], namespaced: bool = True) -> dict[str, Object]:
    """The objects by name, with their namespace where they have one. Raises ManifestError for one that comes twice."""
    found: dict[str, Object] = {}
    for each in objects:
        name = each.full_name if namespaced else each.name
        first = found.setdefault(name, each)
        if first is not each:
            raise each.name_field().error(
                f"each {each.kind} once",
                f"the {each.kind} {name!r} a second time (first at {first.name_field().location})",
            )
    return found


def unread(field: Field | None, notices: Notices, what: str, *used: str) -> None:
    """A warning that names the members of ``field`` that are not among ``used``: nothing here looks at them."""
    if field is None:
        return
    rest = [key for key, _ in field.members() if key not in used]
    if rest:
        text = f"not looked at in {what}: {', '.join(sorted(rest))}"
        notices.add(field.child(rest[0], field.mapping()[rest[0]]), text, text, of_key=True)


def whole_number(field: Field | None, default: int, least: int = 0) -> int:
    """A count such as ``minMember``, ``default`` where it is absent."""
    return default if field is None else field.integer(least, 2**31 - 1, f"a whole number, {least} or more")
