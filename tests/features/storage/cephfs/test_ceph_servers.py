"""Ceph servers: the specification for cephadm. tests/verify lets Ceph's own classes read it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from strategies.trees import HEAD, codes_of, manifest, text_of, tree_of

DISK = "/dev/disk/by-id/nvme-eui.0025385b11b2f3a1"
SERVERS = {
    "monitors": "ceph[1-3]",
    "metadata": "ceph[2-3]",
    "osds": [{"host": "ceph3", "devices": [DISK, "/dev/mapper/mpatha"]}, {"host": "ceph4", "devices": [DISK]}],
}


def data(**servers: Any) -> dict[str, Any]:
    entry = {
        "type": "cephfs",
        "mount": "/mnt/ceph",
        "monitors": ["10.0.0.41", "10.0.0.42", "10.0.0.43"],
        "user": "cluster",
    }
    entry |= {"fsid": "3c1a0b86-6f5e-4c59-9d0f-0d4f1f0a8f11", "filesystem": "train", "servers": {**SERVERS, **servers}}
    return manifest(
        networks={"management": {"cidr": "10.0.0.0/24", "domain": "cluster.local"}},
        node_types={"cpu": {"cpu": {"sockets": 1, "cores_per_socket": 8}, "memory": "64GiB"}},
        nodes=[
            HEAD,
            {"name": "c1", "type": "cpu", "address": "10.0.0.11"},
            {"name": "ceph[1-4]", "type": "cpu", "address": "10.0.0.[41-44]", "roles": []},
        ],
        storage={"data": entry},
    )


def test_the_specification_names_hosts_services_and_disks(tmp_path: Path) -> None:
    text = text_of(tree_of(data(), tmp_path), "ceph1", "/etc/ceph/clustergen-data.spec.yaml")
    documents = list(yaml.safe_load_all(text))
    hosts = [document for document in documents if document and document["service_type"] == "host"]
    assert [(host["hostname"], host["addr"], host.get("labels")) for host in hosts] == [
        ("ceph1", "10.0.0.41", ["_admin"]),
        ("ceph2", "10.0.0.42", ["_admin"]),
        ("ceph3", "10.0.0.43", ["_admin"]),
        ("ceph4", "10.0.0.44", None),
    ]
    services = {
        (one["service_type"], one.get("service_id")): (one["placement"]["hosts"], one.get("spec"))
        for one in documents
        if one and one["service_type"] != "host"
    }
    assert services == {
        ("mon", None): (["ceph1", "ceph2", "ceph3"], None),
        ("mgr", None): (["ceph1", "ceph2"], None),
        ("mds", "train"): (["ceph2", "ceph3"], None),
        ("osd", "ceph3"): (["ceph3"], {"data_devices": {"paths": [DISK, "/dev/mapper/mpatha"]}}),
        ("osd", "ceph4"): (["ceph4"], {"data_devices": {"paths": [DISK]}}),
    }


def test_servers_that_run_slurm_too_leave_its_ports_free(tmp_path: Path) -> None:
    document = data(osds=[{"host": host, "devices": [DISK]} for host in ("ceph4", "c1")], monitors="ceph[1-3]")
    text = text_of(tree_of(document, tmp_path), "ceph1", "/etc/ceph/clustergen-data.spec.yaml")
    settings = {
        one["service_id"]: one.get("config") for one in yaml.safe_load_all(text) if one and one["service_type"] == "osd"
    }
    assert settings == {"ceph4": None, "c1": {"ms_bind_port_min": 6821}}


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "an even number of monitors": ({"monitors": "ceph[1-2]"}, "ceph-server"),
    "a monitor that clients do not know": ({"monitors": "ceph4"}, "ceph-server"),
    "an unknown host": ({"metadata": "ceph9"}, "ceph-server"),
    "a disk twice": ({"osds": [{"host": "ceph1", "devices": [DISK, DISK]}]}, "ceph-server"),
    "a name that changes": ({"osds": [{"host": "ceph1", "devices": ["/dev/sdb"]}]}, "text-malformed"),
}


@pytest.mark.parametrize("case", BAD)
def test_servers_that_cannot_be_set_up_are_errors(case: str, tmp_path: Path) -> None:
    servers, code = BAD[case]
    assert codes_of(data(**servers), tmp_path) == [code]
