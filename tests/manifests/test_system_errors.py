"""Every way in which objects of Volcano, Kueue, Kubernetes and coscheduling are refused: one message each, with its
place; and that damaged ones are read or refused, never anything else."""
# ruff: noqa: E501  a line of the table is a manifest, its place and the message

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from test_mutated_manifests import Tally, answered, damage

from reference.manifests import ManifestError, load

NODE = "{kind: Node, metadata: {name: n}, status: {allocatable: {cpu: 8, pods: 9}}}\n---\n"
VJ = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j}\n"
VG = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g}\n"
VQ = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q}\n"
HN = "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: h}\n"
CQ = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\n"
LQ = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: lq}\nspec: {clusterQueue: a}\n"
CO = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: c}\n"
KW = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: w}\n"
TO = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\nmetadata: {name: t}\n"
PG = "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: g}\n"
CP = "apiVersion: scheduling.k8s.io/v1alpha3\nkind: CompositePodGroup\nmetadata: {name: c}\n"
EQ = "apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: ElasticQuota\nmetadata: {name: q}\n"
PC = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\n"
KQ = "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: q}\n"
KG = "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: g}\n"
POD = "template: {spec: {containers: [{resources: {requests: {cpu: 1}}}]}}"
QUEUES = f"{CQ}spec: {{}}\n---\n{LQ}---\n"
PODS = "{kind: Pod, metadata: {name: p, labels: {scheduling.x-k8s.io/pod-group: g}}, spec: {containers: [{}]}}\n---\n"


def tree(parent: str) -> str:
    return CP + f"spec: {{schedulingPolicy: {{basic: {{}}}}, parentCompositePodGroupName: {parent}}}\n"


# the text after the node; line, column and field; found and expected
BAD: list[tuple[str, str, str]] = [
    ("kind: PodGroup\nmetadata: {name: g}\n", "3:1", "found none, expected an apiVersion: PodGroup is a kind of several"),
    (KQ + "spec: {resources: {disk: {limit: 1}}}\n", "document 2: spec.resources.disk", "found 'disk', expected one of cpu, gpu, memory"),
    (KQ + "spec: {resources: {gpu: {limit: -2}}}\n", "document 2: spec.resources.gpu.limit", "found -2, expected a number, 0 or more, or -1"),
    (KQ + "spec: {resources: {gpu: {limit: 0.0005}}}\n", "document 2: spec.resources.gpu.limit", "found 0.0005, expected a number, 0 or more"),
    (KQ + "spec: {resources: {cpu: {limit: true}}}\n", "document 2: spec.resources.cpu.limit", "found true, expected a number"),
    (KQ + "spec: {resources: {cpu: {overQuotaWeight: -1}}}\n", "spec.resources.cpu.overQuotaWeight", "found -1, expected a weight"),
    (KQ + "spec: {resources: {cpu: {quota: 5, limit: 1}}}\n", "document 2: spec.resources", "found a quota of vcore above its limit"),
    (KQ + "spec: {parentQueue: p}\n", "document 2: spec.parentQueue", "found the unknown parent 'p'"),
    (KG + "spec: {minMember: 1}\n", "document 2: spec", "found none, expected the name of a queue"),
    (f"{KQ}---\n{KG}" + "spec: {queue: p}\n", "document 3: spec.queue", "found the queue 'p', which does not exist"),
    (KG + "spec: {queue: q, subGroups: [{name: a}, {name: a}]}\n", "spec.subGroups[1].name", "found 'a' a second time"),
    (KG + "spec: {queue: q, subGroups: [{name: a, parent: b}]}\n", "spec.subGroups[0].parent", "found 'b', which is not given"),
    (KG + "spec: {queue: q, subGroups: [{name: c}, {name: a, parent: b}, {name: b, parent: a}]}\n", "spec.subGroups[1]",
     "found 'a' inside itself"),
    (KG + "spec: {queue: q, minSubGroup: 2, subGroups: [{name: a}]}\n", "spec.minSubGroup", "found 2, expected 1 to 1, the subgroups"),
    (f"{KG}spec: {{queue: q}}\n---\n{VQ}", "one system's queues and gangs", "KAI's beside Volcano's"),
    (VJ + "spec: {}\n", "6:7: document 2: spec.tasks", "found nothing, expected a list of tasks"),
    (VJ + "spec: {tasks: [{replicas: -1, " + POD + "}]}\n", "6:27: document 2: spec.tasks[0].replicas",
     "found -1, expected a whole number, 0 or more"),
    (VJ + "spec: {tasks: [{}]}\n", "6:16: document 2: spec.tasks[0].template", "found nothing, expected a pod template"),
    (VJ + "spec: {tasks: [{template: {}}]}\n", "6:27: document 2: spec.tasks[0].template.spec",
     "found nothing, expected the spec of the pods"),
    (VJ + "spec: {tasks: [{minAvailable: 2, " + POD + "}]}\n", "6:31: document 2: spec.tasks[0].minAvailable",
     "found 2, expected 0 to 1, the replicas"),
    (VJ + "spec: {minAvailable: 2, tasks: [{" + POD + "}]}\n", "6:22: document 2: spec.minAvailable",
     "found 2, expected 1 to 1, the pods of all tasks"),
    (VJ + "spec: {tasks: [{name: a, " + POD + "}, {name: a, " + POD + "}]}\n", "document 2: spec.tasks[1]",
     "found the task 'a' a second time, expected each task once"),
    (VJ + "spec: {tasks: [{replicas: 4, partitionPolicy: {totalPartitions: 3, partitionSize: 2}, " + POD + "}]}\n",
     "6:47: document 2: spec.tasks[0].partitionPolicy", "found 3 partitions of 2 for 4 replicas, expected partitions"),
    (VJ + "spec: {tasks: [{replicas: 20002, partitionPolicy: {totalPartitions: 10001, partitionSize: 2}, " + POD + "}]}",
     "6:16: document 2: spec.tasks[0]", "found 10001 slices, expected at most 10000 slices"),
    (VJ + "spec: {networkTopology: {mode: firm}, tasks: [{" + POD + "}]}\n",
     "6:32: document 2: spec.networkTopology.mode", "found 'firm', expected hard or soft"),
    (HN + "spec: {tier: 2, members: []}\n---\n" + VJ + "spec: {networkTopology: {highestTierAllowed: 1}, tasks: [{"
     + POD + "}]}\n", "11:46: document 3: spec.networkTopology.highestTierAllowed",
     "found 1, expected a tier that HyperNodes have (2)"),
    (HN + "spec: {tier: 2}\n---\n" + VJ + "spec: {networkTopology: {highestTierName: rack}, tasks: [{" + POD + "}]}\n",
     "11:43: document 3: spec.networkTopology.highestTierName", "found 'rack', expected the tierName of a HyperNode"),
    (VJ + "spec: {queue: x, tasks: [{" + POD + "}]}\n---\n" + VQ, "6:15: document 2: spec.queue",
     "found the queue 'x', which does not exist, expected a queue without others below (default, q)"),
    (VQ + "spec: {parent: up}\n", "6:16: document 2: spec.parent", "found the unknown parent 'up', expected the name of"),
    (VQ + "spec: {parent: q}\n", "6:16: document 2: spec.parent",
     "found the queue 'q' inside itself, expected queues that lead to the root"),
    (VQ + "---\n" + VQ, "9:18: document 3: metadata.name", "found the Queue 'q' a second time (first at"),
    (VQ + "spec: {weight: 0}\n", "6:16: document 2: spec.weight", "found 0, expected a whole number, 1 or more"),
    (VQ + "spec: {reclaimable: 1}\n", "6:21: document 2: spec.reclaimable", "found 1, expected true or false"),
    (VQ + "spec: {priority: x}\n", "6:18: document 2: spec.priority", "found 'x', expected a priority"),
    (VQ + "spec: {capability: {cpu: 1}, deserved: {cpu: 2}}\n", "6:40: document 2: spec.deserved",
     "found more than the queue's capability, expected no more than its capability"),
    (VQ + "spec: {capability: {cpu: 1Q}}\n", "6:26: document 2: spec.capability.cpu", "found '1Q' with the unknown suffix"),
    (VG + "spec: {minMember: two}\n", "6:19: document 2: spec.minMember", "found 'two', expected a whole number"),
    (VG + "spec: {minTaskMember: {w: 1}}\n---\n{kind: Pod, metadata: {name: p, annotations: {scheduling.k8s.io/group-name: "
     "g}}, spec: {containers: [{}]}}\n", "6:27: document 2: spec.minTaskMember.w", "found 1, expected 0 to 0, the pods"),
    (HN + "spec: {}\n", "6:7: document 2: spec.tier", "found nothing, expected the tier"),
    (HN + "spec: {tier: 1, members: [{type: Rack, selector: {}}]}\n", "6:34: document 2: spec.members[0].type",
     "found 'Rack', expected Node or HyperNode"),
    (HN + "spec: {tier: 1, members: [{type: Node, selector: {}}]}\n", "6:50: document 2: spec.members[0].selector",
     "found an empty mapping, expected one of exactMatch, regexMatch, labelMatch"),
    (HN + "spec: {tier: 1, members: [{type: Node, selector: {regexMatch: {pattern: '('}}}]}\n",
     "6:73: document 2: spec.members[0].selector.regexMatch.pattern", "found '(', expected a regular expression"),
    (HN + "spec: {tier: 1, members: [{type: HyperNode, selector: {exactMatch: {name: h}}}]}\n",
     "6:27: document 2: spec.members[0]", "found the HyperNode 'h' of tier 1 in 'h' of tier 1, expected members of a lower"),
    (HN + "spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: n}}}]}\n---\n"
     + HN.replace("h}", "i}") + "spec: {tier: 2, members: [{type: Node, selector: {exactMatch: {name: n}}}]}\n",
     "11:27: document 3: spec.members[0]", "found the Node 'n' in 'h' and in 'i', expected each member in one HyperNode"),
    (HN + "spec: {tier: 1, tierName: x}\n---\n" + HN.replace("h}", "i}") + "spec: {tier: 2, tierName: x}\n",
     "11:27: document 3: spec.tierName", "found tier 2 beside 1, expected one tier for 'x'"),
    (QUEUES + "partitions: [{name: default, queues: [{name: root}]}]\n", "3:1: document 2",
     "found Kueue's beside YuniKorn's (at"),
    (KW + "spec: {queueName: lq, podSets: []}\n", "6:19: document 2: spec.queueName",
     "found the LocalQueue default/lq, which does not exist, expected a LocalQueue (there is none)"),
    (LQ + "---\n" + KW + "spec: {queueName: lq, podSets: []}\n", "6:22: document 2: spec.clusterQueue",
     "found the ClusterQueue 'a', which does not exist, expected a ClusterQueue (there is none)"),
    (QUEUES + KW + "spec: {queueName: lq}\n", "16:7: document 4: spec.podSets", "found nothing, expected a list of pod sets"),
    (QUEUES + KW + "spec: {queueName: lq, podSets: [{count: 2, minCount: 3, " + POD + "}]}\n",
     "16:54: document 4: spec.podSets[0].minCount", "found 3, expected 1 to 2, the count"),
    (QUEUES + KW + "spec: {queueName: lq, podSets: [{" + POD + "}, {" + POD + "}]}\n", "document 4: spec.podSets[1]",
     "found the pod set 'main' a second time"),
    (QUEUES + KW + "spec: {queueName: lq, podSets: [{count: 3, topologyRequest: {podSetSliceRequiredTopology: r, "
     "podSetSliceSize: 2}, " + POD + "}]}\n", "spec.podSets[0].topologyRequest.podSetSliceSize",
     "found 2, expected a divisor of the count (3)"),
    (CQ + "spec: {cohortName: c}\n---\n" + CO + "spec: {parentName: c}\n", "11:20: document 3: spec.parentName",
     "found the queue 'c' inside itself"),
    (CQ + "spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: memory}]}]}]}\n",
     "6:90: document 2: spec.resourceGroups[0].flavors[0].resources[0].name",
     "found 'memory', expected one of the coveredResources (cpu)"),
    (CQ + "spec: {resourceGroups: [{flavors: [{name: f, resources: [{name: cpu}, {name: cpu}]}]}]}\n",
     "6:78: document 2: spec.resourceGroups[0].flavors[0].resources[1].name", "found vcore of 'f' a second time"),
    (CQ + "spec: {fairSharing: {weight: heavy}}\n", "6:30: document 2: spec.fairSharing.weight", "found 'heavy', expected"),
    (TO + "spec: {levels: []}\n", "6:16: document 2: spec.levels", "found an empty list, expected at least one level"),
    (TO + "spec: {levels: [{nodeLabel: a}, {nodeLabel: a}]}\n", "6:45: document 2: spec.levels[1].nodeLabel",
     "found 'a' a second time, expected each label once"),
    (TO + "spec: {levels: [{nodeLabel: a}]}\n---\n" + CQ + "spec: {resourceGroups: [{flavors: [{name: f, resources: "
     "[{name: cpu, nominalQuota: 1}]}]}]}\n---\n" + LQ + "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, "
     "metadata: {name: f}, spec: {topologyName: t}}\n---\n" + KW + "spec: {queueName: lq, podSets: [{topologyRequest: "
     "{required: z}, " + POD + "}]}\n", "document 6: spec.podSets[0].topologyRequest.required",
     "found 'z', expected a level of the Topology 't' (a)"),
    (QUEUES + "{apiVersion: batch/v1, kind: Job, metadata: {name: j, labels: {kueue.x-k8s.io/queue-name: lq}, annotations: "
     "{kueue.x-k8s.io/job-min-parallelism: '2'}}, spec: {" + POD + "}}\n", "job-min-parallelism",
     "found '2', expected 1 to 1, the parallelism"),
    (PG + "spec: {}\n", "6:7: document 2: spec.schedulingPolicy", "found nothing, expected basic or gang"),
    (PG + "spec: {schedulingPolicy: {}}\n", "6:26: document 2: spec.schedulingPolicy", "found neither, expected one of"),
    (PG + "spec: {schedulingPolicy: {basic: {}, gang: {minCount: 1}}}\n", "6:26: document 2: spec.schedulingPolicy",
     "found both, expected one of basic and gang"),
    (PG + "spec: {schedulingPolicy: {gang: {minCount: 0}}}\n", "6:44: document 2: spec.schedulingPolicy.gang.minCount",
     "found 0, expected a whole number from 1 to"),
    (PG + "spec: {schedulingPolicy: {basic: {}}, schedulingConstraints: {topology: [{key: a}, {key: b}]}}\n",
     "6:84: document 2: spec.schedulingConstraints.topology[1]", "found 2, expected at most one topology key"),
    (PG + "spec: {schedulingPolicy: {basic: {}}, parentCompositePodGroupName: c}\n",
     "6:68: document 2: spec.parentCompositePodGroupName", "found 'default/c', which is not given, expected the name of"),
    (tree("c"), "document 2: spec.parentCompositePodGroupName", "found 'default/c' deeper in, or inside itself, expected"),
    (CP + "spec: {}\n", "6:7: document 2: spec.schedulingPolicy", "found nothing, expected basic or gang"),
    (PODS + PG + "spec: {schedulingPolicy: {basic: {}}, priority: 1.5}\n", "8:49: document 3: spec.priority",
     "found 1.5, expected a priority, a whole number of 32 bits"),
    (EQ + "spec: {min: {cpu: 2}, max: {cpu: 1}}\n", "6:13: document 2: spec.min", "found more than max, expected no more than"),
    (EQ + "---\n" + EQ, "9:18: document 3: metadata.name", "found the namespace 'default' has another one, expected one"),
    (PC, "3:1: document 2: value", "found nothing, expected the priority, a whole number"),
    (PC + "value: 1\nglobalDefault: 2\n", "7:16: document 2: globalDefault", "found 2, expected true or false"),
    (VG + "---\n" + VG, "9:18: document 3: metadata.name", "found the PodGroup 'default/g' a second time (first at"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "says"), BAD, ids=range(len(BAD)))
def test_refused_with_place_and_reason(text: str, place: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "objects.yaml"
    path.write_text(NODE + text, encoding="utf-8")
    with pytest.raises(ManifestError) as caught:
        load(path, require_applications=False)
    shown = str(caught.value).removeprefix(f"{path}:")
    assert shown != str(caught.value), "no line"
    assert place in shown
    assert says in shown
    assert caught.value.line
    assert shown.isprintable()


CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "data" / "systems" / "cases.yaml").read_text())


def test_damaged_objects_are_read_or_refused(tmp_path: Path) -> None:
    tally = Tally()
    node = yaml.safe_load(NODE.split("\n")[0])
    path = tmp_path / "objects.json"

    @settings(max_examples=100)
    @given(data=st.data())
    def run(data: st.DataObject) -> None:
        case = data.draw(st.sampled_from(CASES))
        items = [copy.deepcopy(each) for each in (node, {**node, "metadata": {"name": "n1"}}, *case["objects"])]
        for _ in range(data.draw(st.sampled_from((1, 1, 1, 2)))):  # few objects stay valid when two things change
            damage(data.draw, items)
        path.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
        tally.add(answered([path], require_applications=False))

    run()
    tally.check()
