"""Entries of storage as resolved: defaults, what other sections decide, and the printed form of each kind."""

from __future__ import annotations

from copy import deepcopy
from operator import attrgetter
from typing import Any

import jsonschema
import pytest

from clustergen.cluster.document import document, schema
from clustergen.cluster.model import Cluster
from clustergen.cluster.resolve import resolve
from clustergen.compile import frozen
from clustergen.features.storage import ORDER
from clustergen.manifest.model import Manifest
from strategies.trees import manifest

LAYOUT = {"directory": "/mnt/a", "components": [{"end": "1MiB", "stripes": 1}, {"end": "rest", "stripes": -1}]}
SERVERS = {"management": "s1", "metadata": "s2,s1", "storage": "s[1-3]", "storage_directories": ["/st"]}
DAEMONS = {"monitors": "s[1-3]", "metadata": "s1", "osds": [{"host": "s4", "devices": ["/dev/mapper/a"]}]}
ENTRIES: dict[str, dict[str, Any]] = {
    "lustre": {"mgs": ["10.1.0.9@o2ib"], "striping": [LAYOUT]},
    "beegfs": {"version": "8.2", "mgmtd": "10.0.0.9", "servers": SERVERS},
    "nfs": {"server": "10.0.0.9", "path": "/srv/a", "export": {"zfs": {"disks": ["/dev/a", "/dev/b", "/dev/c"]}}},
    "weka": {"backends": ["10.0.0.9"], "filesystem": "a"},
    "cephfs": {
        "monitors": ["10.0.0.9"],
        "fsid": "0e5b8f0c-7d0e-4a55-9f1c-0123456789ab",
        "user": "a",
        "servers": DAEMONS,
    },
    "storage_scale": {"contacts": ["10.0.0.9"], "filesystem": "a"},
    "local": {"device": "LABEL=a"},
}
PAIR = {"servers": "s[2-3]", "device": "/dev/mapper/a", "directory": "/srv"}


@pytest.fixture(scope="module")
def storage() -> jsonschema.Draft202012Validator:
    whole = schema()
    return jsonschema.Draft202012Validator({**whole["properties"]["storage"], "$defs": whole["$defs"]})


def resolved(kind: str, fabric: str = "infiniband", **more: Any) -> Cluster:
    """A cluster with two entries of one kind, `a` and `b`."""
    entries = {name: {"type": kind, "mount": f"/mnt/{name}", **ENTRIES[kind], **more} for name in "ab"}
    data = manifest(storage=entries)
    data["networks"]["fabric"] = {"type": fabric}
    return resolve(Manifest.model_validate(frozen(data)), lambda _: None)


@pytest.mark.parametrize(
    ("kind", "stated", "field", "value"),
    [
        ("lustre", {}, "version", "2.17"),  # the first for the kernel of Debian 13
        ("lustre", {"version": "2.15"}, "version", "2.15"),
        ("lustre", {}, "fsname", "b"),
        ("lustre", {}, "fsname_at", None),
        ("lustre", {"fsname": "work"}, "fsname_at", ("storage", "b", "fsname")),
        ("beegfs", {}, "rdma", True),
        ("beegfs", {"fabric": "ethernet"}, "rdma", False),
        ("beegfs", {"fabric": "ethernet", "rdma": True}, "rdma", True),
        ("beegfs", {}, "client", "beegfs-client-b"),
        ("beegfs", {}, "client_port", 8014),
        ("beegfs", {}, "secret.path", "/etc/beegfs/conn-b.auth"),
        ("beegfs", {"authentication": False}, "secret", None),
        ("beegfs", {}, "server_hosts", ("s1", "s2", "s3")),
        ("nfs", {}, "port", 2049),
        ("nfs", {"rdma": True}, "port", 20049),
        ("nfs", {"port": 3049}, "port_at", ("storage", "b", "port")),
        ("nfs", {"failover": PAIR}, "failover.shares", ("a", "b")),
        ("nfs", {"failover": PAIR}, "server_hosts", ("s2", "s3")),
        ("nfs", {}, "export.zfs.vdev_width", 3),
        ("nfs", {}, "export.zfs.layout_at", None),
        ("nfs", {}, "export.at", ("storage", "b", "export")),
        ("nfs", {"export": {}}, "export.at", None),
        ("nfs", {"options": ["nconnect=4"]}, "tcp_connections", 4),
        ("weka", {}, "cores", 2),
        ("cephfs", {}, "conf", "b"),
        ("cephfs", {}, "servers.managers", ("s1", "s2")),
        ("cephfs", {}, "server_hosts", ("s1", "s2", "s3", "s4")),
        ("local", {}, "clients", ("slurm-compute",)),
        ("local", {}, "clients_at", None),
    ],
)
def test_a_default_is_applied_unless_a_value_is_stated(
    kind: str, stated: dict[str, Any], field: str, value: object
) -> None:
    assert attrgetter(field)(resolved(kind, **stated).storage["b"]) == value


@pytest.mark.slow
@pytest.mark.parametrize("kind", ORDER)
def test_the_schema_describes_every_kind_whole(kind: str, storage: jsonschema.Draft202012Validator) -> None:
    printed: Any = document(resolved(kind), "storage")["storage"]
    assert [error.message for error in storage.iter_errors(printed)] == []
    for field in printed["entries"]["a"]:
        lacking = deepcopy(printed)
        del lacking["entries"]["a"][field]
        assert not storage.is_valid(lacking), field
