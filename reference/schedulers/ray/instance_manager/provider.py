"""What the autoscaler needs of a cloud: to list, launch and terminate instances, and to say what went wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from reference.schedulers.ray.request import NodeKind


class CloudUnavailableError(Exception):
    """The cloud does not answer."""


@dataclass(frozen=True, slots=True)
class CloudInstance:
    """An instance of the cloud; its id is never used again. It is listed before it has booted (``is_running``)."""

    id: str
    type: str
    kind: NodeKind = NodeKind.WORKER
    is_running: bool = True


@dataclass(frozen=True, slots=True)
class LaunchNodeError:
    """``count`` instances of a type that were asked for will not come."""

    launch_request: str
    type: str
    count: int


@dataclass(frozen=True, slots=True)
class TerminateNodeError:
    """The instance could not be terminated."""

    cloud_instance: str


CloudError = LaunchNodeError | TerminateNodeError


class CloudProvider(Protocol):
    """A cloud. Orders are taken at once and carried out later. Any call may raise CloudUnavailableError, which ends the
    loop."""

    def non_terminated(self) -> Mapping[str, CloudInstance]:
        """What there is, by id, in the cloud's order."""

    def launch(self, shape: Mapping[str, int], request: str) -> None:
        """Asks for instances: how many of each type."""

    def terminate(self, instances: Sequence[str]) -> None:
        """Asks for these to go; for those that are gone already, that is nothing."""

    def poll_errors(self) -> Sequence[CloudError]:
        """What went wrong since the last call."""
