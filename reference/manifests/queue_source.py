"""Finds the queue configuration among the user's objects: a bare queues.yaml, or the ConfigMap that carries it.

YuniKorn's ConfigMaps are ``yunikorn-defaults`` and ``yunikorn-configs``, which overrides it; the data key is
``queues.yaml``, or ``queues.yaml.gz`` with gzip data in base64.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Final

from reference.manifests.document import Field, embedded_yaml
from reference.manifests.files import decode
from reference.manifests.notices import Notices
from reference.manifests.queues import QueueConfig, default_queues, read_queue_config

KEY: Final = "queues.yaml"
CONFIG_MAP: Final = "yunikorn-configs"
_MAX_BYTES: Final = 2**24
_PARTS: Final = (("data", KEY), ("data", KEY + ".gz"), ("binaryData", KEY), ("binaryData", KEY + ".gz"))


def carried_config(config_map: Field) -> Field | None:
    """The member of a ConfigMap that holds queues.yaml, or None."""
    for part, key in _PARTS:
        data = config_map.get(part)
        if data is not None and data.get(key) is not None:
            return data.get(key)
    return None


def find_queues(configs: list[Field], config_maps: list[Field], notices: Notices) -> QueueConfig:
    """The queues of bare configurations and of ConfigMaps that carry one; one queue without limits where there is none.

    Raises ManifestError where there are several.
    """
    if len(config_maps) > 1:
        names = [m.need("metadata", "metadata with a name").need("name", "a name").string() for m in config_maps]
        if names.count(CONFIG_MAP) == 1:
            config_maps = [config_maps[names.index(CONFIG_MAP)]]
            notices.add(config_maps[0], f"of several ConfigMaps with queues.yaml, {CONFIG_MAP} is taken")
    sources = configs + config_maps
    if not sources:
        notices.add_general("no queues.yaml: one queue without limits, root.default, is taken")
        return default_queues()
    if len(sources) > 1:
        files = f"{sources[0].document.file} and {sources[1].document.file}"
        raise sources[1].error("one queues.yaml", f"a second queue configuration ({files})")
    return read_queue_config(configs[0] if configs else _unpacked(config_maps[0]), notices)


def _unpacked(config_map: Field) -> Field:
    host = carried_config(config_map)
    assert host is not None
    text = host.string()
    if host.path[-2] == "binaryData" or str(host.path[-1]).endswith(".gz"):
        data = _base64(host, text)
        text = decode(_gunzip(host, data) if str(host.path[-1]).endswith(".gz") else data, host.document.file)
    documents = embedded_yaml(host, text)
    if len(documents) != 1:
        raise host.error("one YAML document", f"{len(documents)} YAML documents")
    return documents[0]


def _base64(host: Field, text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise host.error("base64", f"text that is not base64 ({error})") from None


def _gunzip(host: Field, packed: bytes) -> bytes:
    try:
        decoder = zlib.decompressobj(wbits=31)
        data = decoder.decompress(packed, _MAX_BYTES)
    except zlib.error as error:
        raise host.error("gzip data in base64", f"data that is not gzip ({error})") from None
    if not decoder.eof:
        raise host.error(f"a whole gzip file of at most {_MAX_BYTES >> 20} MiB", "one that is cut off or larger")
    return data
