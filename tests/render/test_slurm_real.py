"""Real slurmctld, slurmdbd and slurmd of three releases read the rendered files without an error."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from clustergen.verify.slurm_daemons import read_config
from clustergen.verify.slurm_roots import SlurmInstall
from strategies.slurm_trees import CPU, GPU, cluster, gpu_type, roles, settings
from strategies.trees import COMPUTE, HEAD, lay_out

pytestmark = pytest.mark.real

# What slurmd says of a machine without cgroups, and of scripts that lie on other nodes than the controller.
OF_THE_MACHINE = re.compile(r"Resource spec: |health_check")
MANAGEMENT = {"management": {"cidr": "10.0.0.0/16"}}


def no_complaint(install: SlurmInstall, directory: Path, *gpu_nodes: str, **changes: Any) -> None:
    """The controller's files of a cluster are read; each of the nodes lists GPUs and registers with all of them."""
    release = ".".join(install.version.split(".")[:2])
    slurm = {"mpi_default": "pmi2", **changes.pop("slurm", {})}  # forky's build has no PMIx
    tree = cluster(directory, release, slurm=slurm, **changes)
    report = read_config(
        install, lay_out(tree, tree.groups["slurm_controller"][0], directory / "root"), nodes_for_gres=gpu_nodes
    )
    assert report.started, report.complaints
    assert [output for output in report.complaints if not OF_THE_MACHINE.search(output)] == []
    for node in gpu_nodes:
        assert "Gres Name=gpu" in report.gres[node]


def up(*names: str) -> list[dict[str, Any]]:
    return [{"to": name, "links": 8} for name in names]


def test_an_infiniband_cluster_with_two_controllers_and_a_tree(slurm: SlurmInstall, tmp_path: Path) -> None:
    switches = [
        {"name": "leaf1", "nodes": "c[1-32]", "uplinks": up("spine[1-2]")},
        {"name": "leaf2", "nodes": "c[33-64]", "uplinks": up("spine[1-2]")},
        {"name": "spine[1-2]"},
    ]
    no_complaint(
        slurm,
        tmp_path,
        "c1",
        networks={**MANAGEMENT, "fabric": {"type": "infiniband", "rate": "NDR", "switches": switches}},
        node_types={"gpu": {"system": "hgx-h100-8", "reserved": {"memory": "64GiB"}}},
        nodes=[
            roles("slurm-controller", name="h[1-2]", address="10.0.0.[1-2]"),
            roles("slurm-accounting", name="db", address="10.0.0.3"),
            {"name": "c[1-64]", "type": "gpu", "address": "10.0.1.[1-64]"},
        ],
        storage={
            "s": {"type": "nfs", "server": "10.0.0.9", "path": "/s", "mount": "/state", "clients": ["slurm-controller"]}
        },
        slurm={
            "state_location": "/state/slurm",
            "partitions": {
                "low": {"nodes": "all", "default": True, "priority_tier": 1, "grace_time": "2min"},
                "high": {"nodes": "half", "priority_tier": 2, "preempt": "off", "max_time": "2-0"},
            },
            "node_sets": {"half": "c[1-32]"},
            "preemption": {"by": "partition", "exempt_time": "30min"},
            "accounting": {
                "private": ["jobs"],
                "purge": {"job": "24months", "step": "6months"},
                "store": ["job_script"],
            },
        },
    )


def test_a_small_cluster_without_gpus_and_without_accounting(slurm: SlurmInstall, tmp_path: Path) -> None:
    nodes = [roles("slurm-controller"), {"name": "n[1-2]", "type": "cpu", "address": "10.0.0.[31-32]"}]
    no_complaint(slurm, tmp_path, networks=MANAGEMENT, node_types={"cpu": CPU}, nodes=nodes)


def test_gpus_without_accounting(slurm: SlurmInstall, tmp_path: Path) -> None:
    no_complaint(slurm, tmp_path, "c1", nodes=[roles("slurm-controller"), COMPUTE])


def test_one_machine_is_everything(slurm: SlurmInstall, tmp_path: Path) -> None:
    machine = roles("slurm-controller", "slurm-accounting", "slurm-compute", name="titan")
    kind = {"server": {"system": "ws-4x3090"}}
    no_complaint(slurm, tmp_path, "titan", networks=MANAGEMENT, node_types=kind, nodes=[{**machine, "type": "server"}])


def test_nvlinks_of_bridges_and_meshes(slurm: SlurmInstall, tmp_path: Path) -> None:
    kinds = {"pair": {"system": "ws-2xa6000"}, "mesh": {"system": "dgx1-v100"}}
    nodes = [HEAD, *({"name": f"{k}[1-2]", "type": k, "address": f"10.0.{n}.[1-2]"} for n, k in enumerate(kinds, 1))]
    no_complaint(slurm, tmp_path, "pair1", "mesh1", networks=MANAGEMENT, node_types=kinds, nodes=nodes)


def test_numa_nodes_as_sockets(slurm: SlurmInstall, tmp_path: Path) -> None:
    no_complaint(slurm, tmp_path, "c1", networks=MANAGEMENT, node_types={"gpu": {"system": "dgx-a100-80"}})


@pytest.mark.many
@pytest.mark.parametrize("sharing", [{"shards": 8}, {"mps": 100}])
def test_shared_gpus(sharing: dict[str, Any], slurm: SlurmInstall, tmp_path: Path) -> None:
    no_complaint(slurm, tmp_path, "c1", node_types=gpu_type(**sharing))


def test_other_gres(slurm: SlurmInstall, tmp_path: Path) -> None:
    gres = {"localtmp": "900GiB", "license": 4, "nic": {"files": "/dev/infiniband/uverbs[0-3]", "type": "cx7"}}
    types = {"gpu": {**GPU, "gres": gres}, "cpu": {**CPU, "gres": {"fpga": {"files": "/dev/fpga[0-1]"}}}}
    nodes = [HEAD, COMPUTE, {"name": "p[1-2]", "type": "cpu", "address": "10.0.0.[31-32]"}]
    no_complaint(slurm, tmp_path, "c1", node_types=types, nodes=nodes)


def test_preemption_by_qos_with_limits(slurm: SlurmInstall, tmp_path: Path) -> None:
    qos = {"high": {"priority": 10, "preempt": ["normal"]}, "big": {"max_tres_per_job": {"gres/gpu": 8}}}
    parts = {"main": {"nodes": "all", "default": True, "allow_qos": ["normal", "high"], "qos": "big"}}
    preemption = {"by": "qos", "mode": "requeue"}
    no_complaint(slurm, tmp_path, "c1", slurm={"qos": qos, "partitions": parts, "preemption": preemption})


@pytest.mark.parametrize(
    ("preemption", "mode"),
    [
        ({"by": "qos", "within": True}, "REQUEUE,WITHIN"),
        ({"by": "qos", "mode": "cancel", "gang": True}, "CANCEL,GANG"),
        ({"by": "off", "gang": True}, "GANG"),
    ],
)
def test_modes_of_preemption(
    preemption: dict[str, Any], mode: str, current_slurm: SlurmInstall, tmp_path: Path
) -> None:
    qos = {"high": {"priority": 10, "preempt": ["normal"]}}
    parts = {"main": {"nodes": "all", "default": True, "allow_qos": ["normal", "high"], "oversubscribe": "force:2"}}
    slurm = {"preemption": preemption, "qos": qos, "partitions": parts}
    assert settings(cluster(tmp_path, slurm=slurm))["PreemptMode"] == mode
    no_complaint(current_slurm, tmp_path, slurm=slurm)


@pytest.mark.many
@pytest.mark.parametrize("form", ["conf", "yaml"])
def test_blocks(form: str, slurm: SlurmInstall, tmp_path: Path) -> None:
    first = slurm.version.startswith("22.05")
    if first or (form == "yaml" and slurm.version.startswith("24.11")):
        plugin = {"plugin": "tree"}  # what this release has in place of blocks
    else:
        plugin = {"plugin": "block", "format": form}
    leaves = [{"name": f"leaf{n}", "nodes": f"c{n}", "uplinks": up("spine")} for n in (1, 2, 3, 4)]
    networks = {**MANAGEMENT, "fabric": {"type": "infiniband", "rate": "NDR", "switches": [*leaves, {"name": "spine"}]}}
    no_complaint(slurm, tmp_path, "c1", networks=networks, slurm={"topology": plugin})


def test_a_configless_cluster_with_keys_of_its_own(slurm: SlurmInstall, tmp_path: Path) -> None:
    no_complaint(
        slurm,
        tmp_path,
        "c1",
        slurm={
            "configless": True,
            "ports": {"slurmctld": 7817, "slurmd": 7818, "slurmdbd": 7819},
            "options": {"KillWait": 60, "MailDomain": "two words # and more", "SlurmctldSyslogDebug": "quiet"},
            "cgroup_options": {"AllowedSwapSpace": 5},
            "mpi_options": {"PMIxTimeout": 60},
            "accounting": {"options": {"CommitDelay": 1}},
        },
    )


def test_limits_of_the_sandbox_are_no_complaint(slurm: SlurmInstall, tmp_path: Path) -> None:
    """A database outside of the cluster, counters of energy, and a plugin whose file slurmctld hands out."""
    no_complaint(
        slurm,
        tmp_path,
        "c1",
        nodes=[
            roles("slurm-controller"),
            roles("slurm-accounting", name="db[1-2]", address="10.0.0.[2-3]"),
            COMPUTE,
        ],
        slurm={
            "configless": True,
            "pyxis": {},
            "accounting": {"database_host": "db.example.org", "energy": "rapl"},
        },
    )


def test_slurmdbd_of_another_cluster(current_slurm: SlurmInstall, tmp_path: Path) -> None:
    nodes = [roles("slurm-controller"), COMPUTE]
    no_complaint(current_slurm, tmp_path, "c1", nodes=nodes, slurm={"accounting": {"slurmdbd": "dbd.example.org"}})


def test_slurms_own_authentication(slurm: SlurmInstall, tmp_path: Path) -> None:
    client_ids = {"options": {"AuthInfo": "use_client_ids"}}
    with_slurm = {"auth": "slurm", **client_ids, "accounting": client_ids}
    auth = {} if slurm.version.startswith("22.05") else with_slurm  # which has munge only
    no_complaint(slurm, tmp_path, "c1", slurm={"configless": True, **auth})


@pytest.mark.many
def test_ten_thousand_nodes_in_one_line(slurm: SlurmInstall, tmp_path: Path) -> None:
    many = {"name": "n[00001-10240]", "type": "gpu", "address": "10.[1-40].0.[0-255]"}
    networks = {"management": {"cidr": "10.0.0.0/8"}}
    no_complaint(slurm, tmp_path, "n05000", networks=networks, nodes=[HEAD, many], node_types=gpu_type())


def test_cores_of_a_storage_client_are_kept_from_jobs(slurm: SlurmInstall, tmp_path: Path) -> None:
    """CPUSpecList as slurmctld of each release reads it: both threads of 4 cores of 64, and 60 cores for jobs."""
    weka = {"type": "weka", "mount": "/w", "backends": ["10.0.0.9"], "filesystem": "f", "clients": ["slurm-compute"]}
    release = ".".join(slurm.version.split(".")[:2])
    tree = cluster(
        tmp_path,
        release,
        node_types={"gpu": {**GPU, "reserved": {"cores": 2}}},
        nodes=[HEAD, COMPUTE],
        storage={"data": {**weka, "interfaces": ["ibp24s0"]}},
        slurm={"mpi_default": "pmi2"},
    )
    report = read_config(slurm, lay_out(tree, "head", tmp_path / "root"))
    assert report.passed, report.complaints
    assert "CPUEfctv=120 CPUTot=128" in report.nodes["c1"]
    assert "CoreSpecCount=4 CPUSpecList=60-63,124-127" in report.nodes["c1"]
