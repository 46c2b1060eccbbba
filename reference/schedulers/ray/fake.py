"""A cloud and a GCS that do what they are told, faults included: for tests, scenarios and simulations.

Orders are only noted. Whoever plays the world carries them out, late, in another order, or not at all; ``carry_out``
does it as a good world would.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from reference.schedulers.ray.arithmetic import Amount
from reference.schedulers.ray.instance_manager.instance import ManagedInstance
from reference.schedulers.ray.instance_manager.observed import ClusterState, RayNode, RayNodeStatus
from reference.schedulers.ray.instance_manager.provider import CloudError, CloudInstance, CloudUnavailableError


class FakeCloud:
    """A cloud. ``instances`` and ``errors`` are what the next loop finds; ``launches`` (request, type, count) and
    ``terminations`` are what was asked, oldest first. ``is_down``: every call fails."""

    def __init__(self) -> None:
        self.instances: dict[str, CloudInstance] = {}
        self.errors: list[CloudError] = []
        self.launches: list[tuple[str, str, int]] = []
        self.terminations: list[str] = []
        self.is_down = False
        self._made = 0

    def non_terminated(self) -> Mapping[str, CloudInstance]:
        """As ``CloudProvider``."""
        self._check()
        return dict(self.instances)

    def launch(self, shape: Mapping[str, int], request: str) -> None:
        """As ``CloudProvider``."""
        self._check()
        self.launches += [(request, node_type, count) for node_type, count in shape.items()]

    def terminate(self, instances: Sequence[str]) -> None:
        """As ``CloudProvider``."""
        self._check()
        self.terminations += instances

    def poll_errors(self) -> Sequence[CloudError]:
        """As ``CloudProvider``."""
        self._check()
        errors, self.errors = self.errors, []
        return errors

    def _check(self) -> None:
        if self.is_down:
            raise CloudUnavailableError("the cloud does not answer")

    def start(self, node_type: str) -> CloudInstance:
        """One more instance, that has booted, under a new name: c1, c2 and so on."""
        self._made += 1
        while (name := f"c{self._made}") in self.instances:
            self._made += 1
        self.instances[name] = CloudInstance(name, node_type)
        return self.instances[name]


class FakeGcs:
    """A GCS. ``nodes`` is what it reports, ``cluster`` what waits to run; nodes in ``refuses`` do not drain when asked.
    ``drained`` is who was asked, and whether as idle."""

    def __init__(self) -> None:
        self.nodes: dict[str, RayNode] = {}
        self.cluster = ClusterState()
        self.refuses: set[str] = set()
        self.drained: list[tuple[str, bool]] = []

    def cluster_state(self) -> ClusterState:
        """As ``Gcs``."""
        return replace(self.cluster, nodes=tuple(self.nodes.values()))

    def drain(self, node_id: str, only_if_idle: bool) -> bool:
        """As ``Gcs``."""
        self.drained.append((node_id, only_if_idle))
        return node_id in self.nodes and node_id not in self.refuses


class FakeInstaller:
    """Installs Ray. ``fails`` says how many attempts on a cloud instance fail from now on, ``attempts`` how many there
    were."""

    def __init__(self) -> None:
        self.fails: Counter[str] = Counter()
        self.attempts: Counter[str] = Counter()

    def install(self, instance: ManagedInstance) -> bool:
        """As ``Installs``."""
        self.attempts[instance.cloud_instance] += 1
        self.fails[instance.cloud_instance] -= 1
        return self.fails[instance.cloud_instance] < 0


def carry_out(cloud: FakeCloud, gcs: FakeGcs, resources: Mapping[str, Mapping[str, Amount]]) -> None:
    """Does all that was asked: what drains is dead, what is to go is gone, what was launched runs Ray, with the
    ``resources`` of its type, all of them free and idle for no time."""
    for name, _ in gcs.drained:
        if name in gcs.nodes and name not in gcs.refuses:
            gcs.nodes[name] = replace(gcs.nodes[name], status=RayNodeStatus.DEAD)
    for name in cloud.terminations:
        cloud.instances.pop(name, None)
        gcs.nodes = {key: node for key, node in gcs.nodes.items() if node.cloud_instance != name}
    for _, node_type, count in cloud.launches:
        for _ in range(count):
            made = cloud.start(node_type)
            total = resources[node_type]
            gcs.nodes[f"n-{made.id}"] = RayNode(f"n-{made.id}", made.id, node_type, total=total, available=total)
    gcs.drained, cloud.terminations, cloud.launches = [], [], []
