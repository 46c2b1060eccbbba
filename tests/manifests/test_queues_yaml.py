"""queues.yaml: keys, defaults and validation of core's configs package (config.go, configvalidator.go)."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable
from typing import Any

import pytest
from objects import gang, node

from reference.cluster import NOTHING, Queue, QueueTree, Resources, SortPolicy
from reference.manifests import LoadResult, ManifestError, load

Load = Callable[..., LoadResult]
Refuse = Callable[..., ManifestError]


def partition(queues: str, more: str = "") -> str:
    """A queues.yaml whose default partition has these queues, written in flow style."""
    return f"partitions:\n- name: default\n  queues: {queues}\n{more}"


def root(children: str) -> str:
    """A queues.yaml with these queues below root."""
    return partition(f"[{{name: root, queues: {children}}}]")


def read(load_objects: Load, text: str) -> LoadResult:
    """The result for a cluster of one node and no application."""
    return load_objects(node(), queues=text, require_applications=False)


def tree(load_objects: Load, text: str) -> QueueTree:
    """The queues of that text."""
    return read(load_objects, text).cluster.queues


def test_every_setting(load_objects: Load) -> None:
    text = root(
        "[{name: Batch, parent: true, maxapplications: 20, resources: {max: {memory: 40G, vcore: 40, "
        "nvidia.com/gpu: 4}}, properties: {application.sort.policy: fair}, queues: [{name: gang, maxapplications: 5, "
        "resources: {guaranteed: {memory: 10 G, vcore: 10}, max: {vcore: 20500m}}, "
        "properties: {application.sort.policy: StateAware}}, {name: heir, maxapplications: 1}]}, "
        "{name: empty, parent: yes}]"
    )
    assert tree(load_objects, text).root == Queue(
        "root",
        is_parent=True,
        children=(
            Queue(
                "root.batch",
                maximum=Resources({"memory": 40 * 10**9, "vcore": 40_000, "nvidia.com/gpu": 4000}),
                sort_policy=SortPolicy.FAIR,
                max_applications=20,
                is_parent=True,
                children=(
                    Queue(
                        "root.batch.gang",
                        maximum=Resources({"vcore": 20_500}),
                        guaranteed=Resources({"memory": 10 * 10**9, "vcore": 10_000}),
                        sort_policy=SortPolicy.STATE_AWARE,
                        max_applications=5,
                    ),
                    Queue("root.batch.heir", sort_policy=SortPolicy.FAIR, max_applications=1),
                ),
            ),
            Queue("root.empty", is_parent=True),
        ),
    )


@pytest.mark.parametrize(
    ("queues", "names"),
    [
        ("[{name: root}]", ["root"]),
        ("[{name: ROOT, queues: [{name: a}]}]", ["root", "root.a"]),
        ("[{name: a}, {name: b}]", ["root", "root.a", "root.b"]),
        ("[{name: a}]", ["root", "root.a"]),
        ("[]", ["root"]),
        ("[{name: root}, {name: a}]", ["root", "root.root", "root.a"]),
    ],
)
def test_a_missing_root_is_inserted(queues: str, names: list[str], load_objects: Load) -> None:
    result = read(load_objects, partition(queues))
    assert [q.name for q in result.cluster.queues] == names
    assert any("root.root" in w.text for w in result.warnings) == ("root.root" in names)


def test_nested_queues_may_be_named_root(load_objects: Load) -> None:
    assert tree(load_objects, root("[{name: root}]")).find("root.root") is not None


def test_several_partitions(load_objects: Load) -> None:
    text = partition("[{name: a}]", "- name: gpu\n  queues: [{name: b}]\n")
    result = read(load_objects, text)
    assert [q.name for q in result.cluster.queues] == ["root", "root.a"]
    assert any("the partition 'gpu' is passed over" in w.text for w in result.warnings)


def test_a_partition_without_a_name_is_the_default(load_objects: Load) -> None:
    assert tree(load_objects, "partitions: [{queues: [{name: a}]}]").find("root.a")


def test_no_queues_yaml(load_objects: Load) -> None:
    result = load_objects(node(), gang())
    assert [q.name for q in result.cluster.queues.leaves()] == ["root.default"]
    assert any("no queues.yaml" in w.text for w in result.warnings)


def test_a_max_of_zeros_is_no_limit(load_objects: Load) -> None:
    result = read(load_objects, root("[{name: a, resources: {max: {vcore: 0, memory: 0}}}]"))
    assert result.cluster.queues.root.children[0].maximum == NOTHING
    assert any("only zeros" in w.text for w in result.warnings)


def test_one_zero_beside_another_limit_stays(load_objects: Load) -> None:
    text = root("[{name: a, resources: {max: {vcore: 0, memory: 1}}}]")
    assert tree(load_objects, text).root.children[0].maximum == Resources({"vcore": 0, "memory": 1})


def test_cpu_limits_nothing(load_objects: Load) -> None:
    result = read(load_objects, root("[{name: a, resources: {max: {cpu: 4}}}]"))
    assert result.cluster.queues.root.children[0].maximum == NOTHING
    assert any("'vcore'" in w.text for w in result.warnings)


def test_node_sort_policy(load_objects: Load) -> None:
    assert read(load_objects, partition("[]")).node_sort_policy == "fair"
    text = partition("[]", "  nodesortpolicy: {type: binpacking, resourceweights: {vcore: 2.5, memory: 1}}\n")
    assert read(load_objects, text).node_sort_policy == "binpacking"


DROPPED = [
    ("[{name: a, limits: [{limit: x, users: ['*'], maxapplications: 2}]}]", "limits of users and groups"),
    ("[{name: a, limits: [{users: [ann], groups: [ml, '*'], maxresources: {vcore: 5}}]}]", "limits of users"),
    ("[{name: a, submitacl: 'ann ml,dev'}]", "submitacl is not modelled"),
    ("[{name: a, adminacl: ann}]", "adminacl is not modelled"),
    ("[{name: a, parent: true, childtemplate: {maxapplications: 1, resources: {max: {vcore: 1}}}}]", "childtemplate"),
    ("[{name: a, properties: {priority.offset: 10}}]", "priority.offset is not modelled"),
    ("[{name: a, properties: {preemption.policy: fence}}]", "preemption.policy is not modelled"),
]


@pytest.mark.parametrize(("queues", "says"), DROPPED)
def test_what_is_not_modelled_is_said_once(queues: str, says: str, load_objects: Load) -> None:
    plain = tree(load_objects, root("[{name: a}]"))
    result = read(load_objects, root(queues))
    [warning] = [w for w in result.warnings if says in w.text]
    assert warning.file.endswith("queues.yaml")
    assert warning.line == 3
    assert [q.maximum for q in result.cluster.queues] == [q.maximum for q in plain]


def test_partition_settings_that_are_not_modelled(load_objects: Load) -> None:
    more = (
        "  placementrules: [{name: tag, value: namespace, create: true, parent: {name: fixed, value: users}}]\n"
        "  limits: [{users: [ann], maxapplications: 1}]\n"
        "  preemption: {enabled: true}\n  usergroupresolver: {type: os}\n"
    )
    texts = [w.text for w in read(load_objects, partition("[{name: a}]", more)).warnings]
    assert len(texts) == 3
    assert any("placement rules" in t for t in texts)
    assert any("limits" in t for t in texts)
    assert any("preemption" in t for t in texts)


def test_acl_of_everyone_passes_without_remark(load_objects: Load) -> None:
    assert read(load_objects, root("[{name: a, submitacl: '*', adminacl: ''}]")).warnings == ()


REFUSED = [
    ("x: 1\npartitions: []", "x", "the unknown key 'x'"),
    ("partitions: {}", "partitions", "found an empty mapping"),
    ("partitions: []", "partitions", "found no partition"),
    ("partitions: [{name: other, queues: []}]", "partitions", "found the partitions 'other'"),
    ("partitions: [{queues: []}, {name: Default, queues: []}]", "partitions[1].name", "'default' a second time"),
    ("partitions: [{name: default}]", "partitions[0].queues", "expected a list of queues"),
    (partition("[{name: root, resources: {max: {vcore: 1}}}]"), "queues[0].resources", "no resources on the root"),
    (root("[{}]"), "queues[0].name", "expected the queue's name"),
    (root("[null]"), "queues[0].queues[0]", "found nothing"),
    (root("[{name: a.b}]"), "queues[0].name", "the path 'a.b'"),
    (root("[{name: 'a b'}]"), "queues[0].name", "1 to 64 letters"),
    (root(f"[{{name: {'a' * 65}}}]"), "queues[0].name", "1 to 64 letters"),
    (root("[{name: a}, {name: A}]"), "queues[1].name", "the queue 'a' a second time"),
    (root("[{name: a, prent: true}]"), "queues[0].prent", "the unknown key 'prent'"),
    (root("[{name: a, parent: maybe}]"), "queues[0].parent", "expected true or false"),
    (root("[{name: a, resources: {maximum: {}}}]"), "resources.maximum", "the unknown key 'maximum'"),
    (root("[{name: a, resources: {max: {vcore: 1.5}}}]"), "max.vcore", "found '1.5'"),
    (root("[{name: a, resources: {max: {memory: -1}}}]"), "max.memory", "the negative quantity -1"),
    (root("[{name: a, resources: {max: {memory: 10Q}}}]"), "max.memory", "unknown suffix 'Q'"),
    (root("[{name: a, resources: {max: {memory: 500m}}}]"), "max.memory", "only vcore takes m"),
    (root("[{name: a, resources: {max: {memory: [1]}}}]"), "max.memory", "found a list"),
    (root("[{name: a, resources: {max: 4}}]"), "resources.max", "found 4"),
    (root("[{name: a, resources: {max: {vcore: 1}, guaranteed: {vcore: 2}}}]"), "guaranteed", "the queue's max"),
    (
        root("[{name: a, resources: {max: {vcore: 1}}, queues: [{name: b, resources: {max: {vcore: 2}}}]}]"),
        "queues[0].queues[0].resources.max",
        "no more than the max of the queues above, {vcore: 1000}",
    ),
    (
        root(
            "[{name: a, resources: {max: {vcore: 1}}, queues: [{name: b, queues: "
            "[{name: c, resources: {max: {vcore: 2}}}]}]}]"
        ),
        "queues[0].queues[0].queues[0].resources.max",
        "no more than the max of the queues above",
    ),
    (
        root(
            "[{name: a, resources: {guaranteed: {vcore: 3}}, queues: [{name: b, resources: {guaranteed: {vcore: 2}}}, "
            "{name: c, resources: {guaranteed: {vcore: 2}}}]}]"
        ),
        "queues[0].resources.guaranteed",
        "at least what its children are guaranteed together, {vcore: 4000}",
    ),
    (
        root(
            "[{name: a, resources: {max: {vcore: 3}}, queues: [{name: b, resources: {guaranteed: {vcore: 2}}}, "
            "{name: c, resources: {guaranteed: {vcore: 2}}}]}]"
        ),
        "queues[0].resources.max",
        "at least what its children are guaranteed together",
    ),
    (root("[{name: a, maxapplications: -1}]"), "maxapplications", "found -1"),
    (root("[{name: a, maxapplications: many}]"), "maxapplications", "found 'many'"),
    (root("[{name: a, maxapplications: 2, queues: [{name: b}]}]"), "queues[0]", "no maxapplications"),
    (
        root("[{name: a, maxapplications: 2, queues: [{name: b, maxapplications: 3}]}]"),
        "queues[0].maxapplications",
        "expected 1 to 2",
    ),
    (root("[{name: a, properties: {application.sort.polcy: fifo}}]"), 'polcy"]', "the unknown queue property"),
    (root("[{name: a, properties: {application.sort.policy: fiffo}}]"), 'policy"]', "fifo, fair or stateaware"),
    (root("[{name: a, properties: {priority.offset: high}}]"), 'offset"]', "a whole number"),
    (root("[{name: a, properties: {preemption.delay: soon}}]"), 'delay"]', "a duration"),
    (root("[{name: a, properties: [x]}]"), "properties", "found a list"),
    (root("[{name: a, submitacl: 'a b c'}]"), "submitacl", "a single space"),
    (root("[{name: a, limits: [{limit: x, maxapplications: 1}]}]"), "limits[0]", "a limit for nobody"),
    (root("[{name: a, limits: [{users: [ann]}]}]"), "limits[0]", "a limit of nothing"),
    (root("[{name: a, limits: [{users: [ann], maxresources: {vcore: 0}}]}]"), "maxresources", "only zeros"),
    (root("[{name: a, limits: [{users: ['*', ann], maxapplications: 1}]}]"), "users[1]", "after the wildcard"),
    (root("[{name: a, limits: [{users: [ann, ann], maxapplications: 1}]}]"), "users[1]", "a second time"),
    (root("[{name: a, limits: [{users: ['a b'], maxapplications: 1}]}]"), "users[0]", "a name of users"),
    (root("[{name: a, limits: [{groups: ['*'], maxapplications: 1}]}]"), "limits[0]", "only the wildcard group"),
    (
        root("[{name: a, resources: {max: {vcore: 1}}, limits: [{users: [ann], maxresources: {vcore: 2}}]}]"),
        "limits[0].maxresources",
        "above the queue's max",
    ),
    (
        root("[{name: a, maxapplications: 1, limits: [{users: [ann], maxapplications: 2}]}]"),
        "limits[0].maxapplications",
        "at most 1",
    ),
    (root("[{name: a, childtemplate: {max: 1}}]"), "childtemplate.max", "the unknown key"),
    (partition("[]", "  placementrules: [{name: 'a-b'}]\n"), "placementrules[0].name", "found 'a-b'"),
    (partition("[]", "  placementrules: [{name: user, filter: {type: some}}]\n"), "filter.type", "allow or deny"),
    (partition("[]", "  nodesortpolicy: {type: best}\n"), "nodesortpolicy.type", "fair or binpacking"),
    (partition("[]", "  nodesortpolicy: {resourceweights: {vcore: -1}}\n"), "resourceweights.vcore", "found -1"),
    (partition("[]", "  preemption: {on: true}\n"), "preemption.on", "the unknown key"),
    ("partitions: [{queues: " + "[{name: a, queues: " * 60 + "[]" + "}]" * 60 + "}]", "queues[0]", "levels of queues"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "where", "says"), REFUSED)
def test_a_bad_configuration_is_refused(text: str, where: str, says: str, refuse: Refuse) -> None:
    error = refuse(node(), queues=text, require_applications=False)
    assert error.file.endswith("queues.yaml")
    assert error.where.endswith(where)
    assert says in str(error)
    assert error.line is not None


def config_map(name: str = "yunikorn-configs", /, **parts: Any) -> dict[str, Any]:
    """A ConfigMap object."""
    return {"kind": "ConfigMap", "metadata": {"name": name}, **parts}


QUEUES = root("[{name: a}]")
PACKED = base64.b64encode(gzip.compress(QUEUES.encode(), mtime=0)).decode()


@pytest.mark.parametrize(
    "parts",
    [
        {"data": {"queues.yaml": QUEUES, "service.schedulingInterval": "1s"}},
        {"data": {"queues.yaml.gz": PACKED}},
        {"binaryData": {"queues.yaml.gz": PACKED[:40] + "\n" + PACKED[40:]}},
        {"binaryData": {"queues.yaml": base64.b64encode(QUEUES.encode()).decode()}},
    ],
)
def test_queues_inside_a_config_map(parts: dict[str, dict[str, str]], load_objects: Load) -> None:
    result = load_objects(node(), config_map(**parts), require_applications=False)
    assert [q.name for q in result.cluster.queues] == ["root", "root.a"]


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"data": {"queues.yaml": 3}}, "found 3"),
        ({"data": {"queues.yaml": ""}}, "0 YAML documents"),
        ({"data": {"queues.yaml": "a: ["}}, "bad YAML"),
        ({"data": {"queues.yaml": "a: 1\n---\nb: 1"}}, "2 YAML documents"),
        ({"data": {"queues.yaml.gz": "%%%"}}, "not base64"),
        ({"data": {"queues.yaml.gz": "YWJj"}}, "not gzip"),
        ({"data": {"queues.yaml.gz": PACKED[:24]}}, "cut off"),
        ({"binaryData": {"queues.yaml": "/w=="}}, "UTF-8"),
    ],
)
def test_a_bad_config_map_is_refused(parts: dict[str, dict[str, str]], says: str, refuse: Refuse) -> None:
    assert says in str(refuse(node(), config_map(**parts)))


def test_the_configs_win_over_the_defaults(load_objects: Load) -> None:
    defaults = config_map("yunikorn-defaults", data={"queues.yaml": root("[{name: b}]")})
    result = load_objects(node(), defaults, config_map(data={"queues.yaml": QUEUES}), require_applications=False)
    assert result.cluster.queues.find("root.a")
    assert any("yunikorn-configs is taken" in w.text for w in result.warnings)


def test_two_configurations_are_refused(refuse: Refuse) -> None:
    error = refuse(node(), config_map(data={"queues.yaml": QUEUES}), queues=QUEUES)
    assert "a second queue configuration" in str(error)


def test_other_config_maps_are_passed_over(load_objects: Load) -> None:
    result = load_objects(node(), config_map("kube-root-ca.crt", data={"ca.crt": "x"}), gang())
    assert any("ConfigMap without queues.yaml" in w.text for w in result.warnings)


def test_the_same_place_in_the_file_and_in_its_config_map(write: Callable[..., object], tmp_path: object) -> None:
    lines = ["partitions:", "- queues:", "  - name: a", "    resources:", "      max: {vcore: 1x}"]
    write("bare.yaml", "\n".join(lines))
    text = "kind: ConfigMap\nmetadata: {name: c}\ndata:\n  queues.yaml: |\n" + "".join(
        f"    {line}\n" for line in lines
    )
    write("map.yaml", text)
    places = []
    for name in ("bare.yaml", "map.yaml"):
        with pytest.raises(ManifestError) as caught:
            load(f"{tmp_path}/{name}")
        places.append((caught.value.line, caught.value.column))
    assert places == [(5, 20), (9, 24)]
