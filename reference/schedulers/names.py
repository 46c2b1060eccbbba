"""Names for what a gang becomes in a scheduler that has one flat space of names: unique, whatever users' names hold."""

from __future__ import annotations


def part(name: str) -> str:
    """``name`` without a bar, written as in a JSON pointer."""
    return name.replace("~", "~0").replace("|", "~1")


def group_name(app: str, group: str) -> str:
    """A task group's; the last bar is ours."""
    return f"{app}|{part(group)}"


def pod_name(app: str, group: str, number: int) -> str:
    """That of one pod of a task group; the last two bars are ours."""
    return f"{group_name(app, group)}|{number}"


__all__ = ["group_name", "part", "pod_name"]
