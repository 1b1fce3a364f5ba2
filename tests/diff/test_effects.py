"""Every row of slurm_effects.tsv: a manifest is changed, and the verdict is read, for three releases of Slurm."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
import yaml

from clustergen.catalogue.tables import rows
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diff.arguments import Side, read
from clustergen.diff.messages import verdict
from clustergen.diff.plan import Plan, plan
from clustergen.diff.release import path_between
from clustergen.diff.snapshot import Snapshot
from clustergen.diff.step import UPGRADE

RELEASES = ("22.05", "24.11", "26.05")
INVALID = "the release does not know it"
_GPU = {
    "cpu": {"sockets": 2, "cores_per_socket": 32, "threads_per_core": 2},
    "memory": "1TiB",
    "gpus": {"model": "h100-sxm", "count": 8, "numa": [0, 0, 0, 0, 1, 1, 1, 1], "gres_type": "h100"},
}
_MANIFEST: dict[str, Any] = {
    "name": "small",
    "os": "debian-13",
    "networks": {"management": {"cidr": "10.0.0.0/24", "domain": "cluster.local"}},
    "node_types": {"gpu": _GPU},
    "nodes": [
        {"name": "head", "type": "service", "address": "10.0.0.1", "roles": ["slurm-controller", "slurm-accounting"]},
        {"name": "spare", "type": "service", "address": "10.0.0.2", "roles": ["login"]},
        {"name": "c[1-4]", "type": "gpu", "address": "10.0.0.[11-14]"},
    ],
    "slurm": {
        "build": "schedmd",
        "state_shared": True,
        "partitions": {"all": {"nodes": "c[1-4]", "default": True}, "few": {"nodes": "c1"}},
    },
}
_ETC = "site/slurm_node/etc/slurm"
_HELPERS = "Feature=mig Helper=/usr/local/sbin/mig\n"

Edits = Mapping[str, Any]
"""A dotted path of the manifest → its value; a path below site/ → the text of that file."""


class Case(NamedTuple):
    """One row, by its first columns, and a change that it is about."""

    file: str
    block: str
    key: str
    what: str
    new: Edits
    expected: tuple[str, str, str]
    """All effects of the change, by release."""
    old: Edits = {}  # noqa: RUF012 - a NamedTuple's default
    verdict: str = ""
    """Words that the verdict has for each release that takes the change."""

    @property
    def name(self) -> str:
        return " ".join(word for word in self[:4] if word)


CTLD, BOTH, RECONFIGURE = "restart-slurmctld", "restart-slurm", "reconfigure"
DRAIN = ("drain restart-slurm", "drain reconfigure", "drain reconfigure")
LATER = (CTLD, RECONFIGURE, RECONFIGURE)
TWICE = "restart-slurm restart-slurmctld"
LATER_DRAIN = (TWICE, "drain reconfigure", "drain reconfigure")
COUNT = (f"drain {TWICE}", "drain reconfigure", "drain reconfigure")
LATER_BOTH = (BOTH, RECONFIGURE, RECONFIGURE)
ALL_DOWN = "refuse restart-slurm restart-slurmdbd"
LOST = ("refuse restart-slurm",) * 3


def _option(key: str, value: object, expected: tuple[str, str, str], what: str = "", **more: Any) -> Case:
    return Case("slurm.conf", "", key, what, {f"slurm.options.{key}": value}, expected, **more)


def _field(key: str, path: str, value: object, expected: tuple[str, str, str], what: str = "", **more: Any) -> Case:
    return Case("slurm.conf", "", key, what, {f"slurm.{path}": value}, expected, **more)


def _always(effects: str) -> tuple[str, str, str]:
    return (effects, effects, effects)


def _file(name: str, old: str, new: str) -> dict[str, Any]:
    path = f"{_ETC}/{name}"
    return {"new": {path: new}, "old": {path: old}}


def _edited(name: str, edit: tuple[str, str], **paths: Any) -> Edits:
    """A file of ours that a site replaces, with one text in place of another."""
    return {f"replace:slurm_node/etc/slurm/{name}": edit, **paths}


SLURMD = "restart-slurmd"
LATER_SLURMD = (SLURMD, RECONFIGURE, RECONFIGURE)
_ALL_RESTART = ("restart-slurm restart-slurmdbd",) * 2
_ONE_SWITCH = {"slurm.topology": {"plugin": "tree", "lines": [{"SwitchName": "s", "Nodes": "c[1-4]"}]}}
_BASIC_PRIORITY = ("PriorityType=priority/multifactor", "PriorityType=priority/basic")
_FEWER_TRES = ("AccountingStorageTRES=gres/gpu,", "AccountingStorageTRES=")
_AFFINITY_ONLY = ("TaskPlugin=task/cgroup,task/affinity", "TaskPlugin=task/affinity")
_NO_ACCOUNTING = {"nodes.0.roles": ["slurm-controller"]}
_UNTYPED = {"node_types.gpu.gpus.gres_type": False}
_TYPED = {"node_types.gpu.gpus.gres_type": "h100"}
_CONTAINER_FILE = {f"{_ETC}/job_container.conf": "AutoBasePath=true\nBasePath=/var/tmp/jobs\n"}
_IPMI = {"slurm.options": {"AcctGatherEnergyType": "acct_gather_energy/ipmi"}}
_NO_ACCOUNTING_HERE = {**_NO_ACCOUNTING, "slurm.accounting.slurmdbd": "other.example.org"}
_VACATED = ("vacate restart-slurm", "vacate reconfigure", "vacate reconfigure")

CASES = [
    Case(
        "slurm.conf",
        "",
        "",
        "added",
        {"nodes.1.roles": ["login"]},
        _always("restart-slurmd"),
        {"nodes.1.roles": ["monitoring"]},
    ),
    Case("slurm.conf", "", "", "removed", {"nodes.1.roles": ["monitoring"]}, _always("restart-slurmd")),
    Case("slurm.conf", "", "AccountingStorageEnforce", "", {"slurm.accounting.enforce": ["limits"]}, LATER),
    Case("slurm.conf", "", "CredType", "", _edited("slurm.conf", ("cred/munge", "cred/none")), LATER_BOTH),
    _option("JobContainerType", "job_container/tmpfs", (CTLD, RECONFIGURE, RECONFIGURE), old=_CONTAINER_FILE),
    Case("slurm.conf", "", "MaxJobCount", "", {"slurm.scheduler.max_jobs": 70000}, LATER),
    Case(
        "slurm.conf",
        "",
        "MaxJobCount",
        "lowered",
        {"slurm.scheduler.max_jobs": 5000},
        (CTLD, "refuse restart-slurmctld", "refuse restart-slurmctld"),
    ),
    _option("MaxNodeCount", 100, LATER),
    _option("PowerPlugin", "power/cray_aries", (CTLD, "none", "none")),
    _field("ProctrackType", "resources.process_tracking", "linuxproc", LATER),
    _option("SchedulerType", "sched/builtin", LATER),
    _field("SelectTypeParameters", "resources.select_parameters", ["CR_CPU_Memory"], LATER),
    Case(
        "slurm.conf",
        "",
        "SlurmctldHost",
        "first",
        {"nodes.0.roles": ["slurm-accounting"], "nodes.1.roles": ["slurm-controller"]},
        LOST,
        verdict="not while jobs run",
    ),
    Case("slurm.conf", "", "SlurmctldHost", "", {"nodes.1.roles": ["slurm-controller"]}, LATER),
    Case(
        "slurm.conf",
        "",
        "SlurmctldHost",
        "address",
        {"nodes.0.address": "10.0.0.3"},
        _always("drain restart-slurm"),
        verdict="drains 4 nodes (c[1-4])",
    ),
    Case("slurm.conf", "", "SlurmctldPort", "", {"slurm.ports": {"slurmctld": 7817}}, _always("drain restart-slurm")),
    Case("slurm.conf", "", "SlurmdPort", "", {"slurm.ports": {"slurmd": 7818}}, _always(BOTH)),
    Case(
        "slurm.conf",
        "",
        "SlurmctldPort",
        "gained",
        _edited("slurm.conf", ("SlurmctldPort=6817", "SlurmctldPort=6817-6818")),
        _always(BOTH),
    ),
    Case(
        "slurm.conf",
        "PartitionName",
        "*",
        "kept",
        {"slurm.options.ReconfigFlags": "KeepPartInfo", "slurm.partitions.few.max_time": "1h"},
        _always(RECONFIGURE),
        old={"slurm.options.ReconfigFlags": "KeepPartInfo"},
    ),
    Case(
        "slurm.conf",
        "",
        "StateSaveLocation",
        "",
        {"slurm.state_location": "/srv/slurm"},
        _always("move-state restart-slurmctld"),
    ),
    Case(
        "slurm.conf",
        "",
        "StateSaveLocation",
        "nested",
        {"slurm.state_location": "/var/lib/slurm/slurmctld/state"},
        _always("refuse restart-slurmctld"),
        verdict="not while jobs run",
    ),
    Case("slurm.conf", "", "SlurmctldParameters", "enable_configless", {"slurm.configless": True}, LATER),
    Case(
        "slurm.conf",
        "",
        "SchedulerParameters",
        "no_backup_scheduling",
        {"slurm.scheduler.parameters": ["no_backup_scheduling"]},
        LATER,
    ),
    Case(
        "slurm.conf", "", "GresTypes", "", _edited("slurm.conf", ("GresTypes=gpu", "GresTypes=gpu,shard")), LATER_BOTH
    ),
    _option("PluginDir", "/opt/slurm/lib", LATER_BOTH),
    _field(
        "SelectType",
        "resources.select",
        "cons_tres",
        (BOTH, INVALID, INVALID),
        "select/cons_res to select/cons_tres",
        old={"slurm.resources.select": "cons_res"},
        verdict="no job is lost",
    ),
    Case(
        "slurm.conf",
        "",
        "SelectType",
        "",
        _edited("slurm.conf", ("select/cons_tres", "select/linear")),
        LOST,
        verdict="all job records are lost",
    ),
    _option("CoreSpecPlugin", "core_spec/cray_aries", ("restart-slurmd", "none", "none")),
    Case(
        "slurm.conf",
        "",
        "AuthType",
        "",
        {"slurm.auth": "slurm"},
        (INVALID, ALL_DOWN, ALL_DOWN),
        verdict="every daemon and command must stop",
    ),
    _option("AuthInfo", "ttl=60", _always(BOTH)),
    _option("AuthAltTypes", "auth/jwt", _always(BOTH)),
    _option("HashPlugin", "hash/sha3", (INVALID, *_ALL_RESTART)),
    _option("CommunicationParameters", "EnableIPv6", _always(BOTH), "EnableIPv6"),
    _option("CommunicationParameters", "DisableIPv4", _always(BOTH), "DisableIPv4"),
    _option("CommunicationParameters", "NoInAddrAny", _always(BOTH), "NoInAddrAny"),
    _option("CommunicationParameters", "NoCtldInAddrAny", _always(CTLD), "NoCtldInAddrAny"),
    _option("AuthAltParameters", "jwt_key=/etc/slurm/jwt.key", LATER),
    _field("AccountingStorageHost", "accounting.slurmdbd", "dbd.example.org", LATER, old=_NO_ACCOUNTING_HERE),
    _option("MaxJobId", 5000, _always("refuse restart-slurmctld"), "few ids"),
    _option("FirstJobId", 67043000, _always("refuse restart-slurmctld"), "few ids"),
    Case("slurm.conf", "", "TopologyPlugin", "", _ONE_SWITCH, LATER_BOTH),
    _option("RoutePlugin", "route/topology", (BOTH, INVALID, INVALID), old=_ONE_SWITCH),
    _option("NodeFeaturesPlugins", "node_features/helpers", LATER_BOTH, old={f"{_ETC}/helpers.conf": _HELPERS}),
    Case("slurm.conf", "", "PriorityType", "", _edited("slurm.conf", _BASIC_PRIORITY), LATER),
    _option("JobCompType", "jobcomp/filetxt", LATER),
    Case("slurm.conf", "", "MaxArraySize", "", {"slurm.scheduler.max_array": 50}, LATER),
    Case("slurm.conf", "", "AccountingStorageTRES", "", _edited("slurm.conf", _FEWER_TRES), LATER),
    Case("slurm.conf", "", "AccountingStorageType", "", _NO_ACCOUNTING, LATER),
    Case(
        "slurm.conf",
        "",
        "AccountingStorageType",
        "* to accounting_storage/slurmdbd",
        {"nodes.0.roles": ["slurm-controller", "slurm-accounting"]},
        (CTLD, "new-cluster-id restart-slurmctld", "new-cluster-id restart-slurmctld"),
        _NO_ACCOUNTING,
    ),
    Case("slurm.conf", "", "TaskPlugin", "", _edited("slurm.conf", _AFFINITY_ONLY), LATER_SLURMD),
    _field("SlurmdLogFile", "log_files.slurmd", "/var/log/slurm/other.log", LATER_SLURMD),
    _option("AcctGatherEnergyType", "acct_gather_energy/gpu", LATER_SLURMD),
    _option("SwitchType", "switch/hpe_slingshot", DRAIN, verdict="drains 4 nodes (c[1-4])"),
    _field("JobAcctGatherType", "accounting.gather", "linux", (DRAIN[0], RECONFIGURE, RECONFIGURE)),
    _option("BurstBufferType", "burst_buffer/lua", LATER, old={f"{_ETC}/burst_buffer.lua": "-- empty"}),
    Case("slurm.conf", "", "SlurmUser", "", {"slurm.user": "slurm2"}, _always(BOTH)),
    _option("SlurmdUser", "root2", _always("restart-slurmd")),
    Case("slurm.conf", "", "ClusterName", "", {"slurm.cluster_name": "other"}, LOST),
    _field(
        "SlurmdSpoolDir",
        "spool_directory",
        "/srv/slurmd",
        _always("drain restart-slurmd"),
        verdict="drains 4 nodes (c[1-4])",
    ),
    Case(
        "slurm.conf",
        "NodeName",
        "*",
        "removed",
        {"nodes.2.name": "c[1-3]", "nodes.2.address": "10.0.0.[11-13]", "slurm.partitions.all.nodes": "c[1-3]"},
        DRAIN,
        verdict="drains 1 node (c4)",
    ),
    Case(
        "slurm.conf",
        "NodeName",
        "*",
        "added",
        {"nodes.2.name": "c[1-5]", "nodes.2.address": "10.0.0.[11-15]", "slurm.partitions.all.nodes": "c[1-5]"},
        LATER_BOTH,
        verdict="no job is lost",
    ),
    Case("slurm.conf", "NodeName", "Feature", "", {"node_types.gpu.features": ["fast"]}, LATER),
    Case("slurm.conf", "NodeName", "Weight", "", {"node_types.gpu.weight": 7}, _always(RECONFIGURE)),
    Case("slurm.conf", "NodeName", "Reason", "", {"nodes.2.slurm_options": {"Reason": "new"}}, _always(RECONFIGURE)),
    Case("slurm.conf", "NodeName", "State", "", {"nodes.2.state": "DRAIN"}, _always(RECONFIGURE)),
    Case(
        "slurm.conf",
        "NodeName",
        "State",
        "down",
        {"nodes.2.state": "DOWN"},
        _always("vacate reconfigure"),
        verdict="no running job is lost, but pending jobs may wait or fail (ReqNodeNotAvail)",
    ),
    Case("slurm.conf", "NodeName", "State", "fail", _edited("slurm.conf", ("State=UNKNOWN", "State=FAIL")), LATER),
    Case("slurm.conf", "NodeName", "State", "future", {"nodes.2.state": "FUTURE"}, _VACATED),
    Case("slurm.conf", "NodeName", "Port", "", {"nodes.2.slurm_options": {"Port": 7000}}, _always(BOTH)),
    Case("slurm.conf", "NodeName", "NodeAddr", "", {"nodes.2.address": "10.0.0.[21-24]"}, DRAIN),
    Case(
        "slurm.conf",
        "DownNodes",
        "",
        "added",
        _edited("slurm.conf", ("ClusterName=small", "ClusterName=small\nDownNodes=c1 State=DOWN")),
        _always("vacate reconfigure"),
        verdict="drains 1 node (c1)",
    ),
    Case(
        "slurm.conf",
        "DownNodes",
        "State",
        "",
        _edited("slurm.conf", ("ClusterName=small", "ClusterName=small\nDownNodes=c1 State=DOWN")),
        _always("vacate reconfigure"),
        _edited("slurm.conf", ("ClusterName=small", "ClusterName=small\nDownNodes=c1 State=DRAIN")),
    ),
    Case(
        "slurm.conf",
        "NodeName",
        "TRESWeights",
        "",
        {"nodes.2.slurm_options": {"TRESWeights": "CPU=2.0"}},
        _always(RECONFIGURE),
    ),
    Case("slurm.conf", "NodeName", "Sockets", "", {"node_types.gpu.cpu.sockets": 4}, DRAIN),
    Case("slurm.conf", "NodeName", "CoresPerSocket", "", {"node_types.gpu.cpu.cores_per_socket": 16}, DRAIN),
    Case("slurm.conf", "NodeName", "Boards", "", _edited("slurm.conf", ("Sockets=2", "Boards=2 Sockets=2")), DRAIN),
    Case("slurm.conf", "NodeName", "Gres", "type", {"node_types.gpu.gpus.gres_type": "nvidia_h100"}, LATER_DRAIN),
    Case("slurm.conf", "NodeName", "Gres", "type added", _TYPED, LATER_BOTH, _UNTYPED),
    Case("gres.conf", "*", "Type", "set", _TYPED, LATER_BOTH, _UNTYPED),
    Case("gres.conf", "*", "Flags", "", {"slurm.gres_options": {"Flags": "no_gpu_env"}}, LATER_SLURMD),
    Case(
        "slurm.conf",
        "NodeName",
        "Gres",
        "count",
        {"node_types.gpu.gpus.count": 4, "node_types.gpu.gpus.numa": [0, 0, 1, 1]},
        COUNT,
    ),
    Case(
        "slurm.conf",
        "NodeName",
        "CoreSpecCount",
        "",
        {"node_types.gpu.reserved": {"cores": 2}},
        (TWICE, RECONFIGURE, RECONFIGURE),
    ),
    Case(
        "slurm.conf",
        "NodeName",
        "CPUSpecList",
        "",
        _edited("slurm.conf", ("Sockets=2", "CPUSpecList=0-1 Sockets=2")),
        (TWICE, RECONFIGURE, RECONFIGURE),
    ),
    Case("slurm.conf", "NodeName", "*", "", {"node_types.gpu.memory": "2TiB"}, LATER_BOTH),
    Case(
        "slurm.conf",
        "PartitionName",
        "TRESBillingWeights",
        "",
        {"slurm.partitions.few.billing": {"cpu": 100.0}},
        _always(RECONFIGURE),
    ),
    Case(
        "slurm.conf",
        "PartitionName",
        "*",
        "removed",
        {"slurm.partitions": {"all": {"nodes": "c[1-4]", "default": True}}},
        _always("cancel-jobs reconfigure"),
        verdict="cancels the jobs of partition few",
    ),
    Case(
        "gres.conf",
        "*",
        "Cores",
        "",
        {"node_types.gpu.gpus.numa": [1, 1, 1, 1, 0, 0, 0, 0]},
        _always(f"{CTLD} restart-slurmd"),
    ),
    Case("gres.conf", "*", "Type", "", {"node_types.gpu.gpus.gres_type": "nvidia_h100"}, LATER_DRAIN),
    Case(
        "gres.conf", "*", "File", "", {"node_types.gpu.gpus.count": 4, "node_types.gpu.gpus.numa": [0, 0, 1, 1]}, DRAIN
    ),
    Case(
        "gres.conf",
        "*",
        "MultipleFiles",
        "",
        {"slurm.gres_lines": [{"Name": "gpu", "Type": "h100", "MultipleFiles": "/dev/nvidia[0-2]"}]},
        DRAIN,
        {"slurm.gres_lines": [{"Name": "gpu", "Type": "h100", "MultipleFiles": "/dev/nvidia[0-1]"}]},
    ),
    Case(
        "gres.conf",
        "*",
        "Count",
        "",
        {"slurm.gres_lines": [{"Name": "gpu", "Type": "h100", "Count": 9}]},
        COUNT,
        {"slurm.gres_lines": [{"Name": "gpu", "Type": "h100", "Count": 8}]},
    ),
    Case(
        "gres.conf",
        "*",
        "AutoDetect",
        "",
        _edited("gres.conf", ("# gpu: 8", "AutoDetect=off\n# gpu: 8")),
        LATER_SLURMD,
    ),
    Case("gres.conf", "*", "*", "", _edited("gres.conf", (" Flags=", " Links=0,1,1,1 Flags=")), _always(RECONFIGURE)),
    Case(
        "cgroup.conf",
        "",
        "CgroupSlice",
        "",
        {"slurm.cgroup_options": {"CgroupSlice": "jobs.slice"}},
        (INVALID, INVALID, "refuse restart-slurmd"),
    ),
    Case(
        "cgroup.conf",
        "",
        "CgroupPlugin",
        "",
        {"slurm.cgroup_options": {"CgroupPlugin": "cgroup/v1"}},
        _always("drain restart-slurmd"),
    ),
    Case("cgroup.conf", "*", "*", "", {"slurm.cgroup_options": {"ConstrainSwapSpace": "no"}}, _always(RECONFIGURE)),
    Case(
        "slurmdbd.conf",
        "",
        "AuthType",
        "",
        {"slurm.auth": "slurm"},
        (INVALID, ALL_DOWN, ALL_DOWN),
    ),
    Case(
        "slurmdbd.conf",
        "*",
        "*",
        "",
        {"slurm.accounting.options": {"CommitDelay": 1}},
        _always("restart-slurmdbd"),
        verdict="restarts slurmdbd",
    ),
    Case(
        "topology.conf",
        "*",
        "*",
        "",
        {"slurm.topology.lines": [{"SwitchName": "s", "Nodes": "c[1-3]"}]},
        _always(RECONFIGURE),
        {"slurm.topology.lines": [{"SwitchName": "s", "Nodes": "c[1-4]"}]},
    ),
    Case(
        "topology.yaml",
        "*",
        "*",
        "",
        {
            "slurm.topology": {
                "plugin": "block",
                "format": "yaml",
                "block_sizes": [2],
                "blocks": {"a": "c[1-2]", "b": "c[3-4]"},
            }
        },
        (INVALID, INVALID, RECONFIGURE),
        {"slurm.topology": {"plugin": "block", "format": "yaml", "block_sizes": [4], "blocks": {"a": "c[1-4]"}}},
    ),
    Case(
        "job_container.conf",
        "*",
        "*",
        "",
        expected=_always("drain restart-slurmd"),
        **_file("job_container.conf", "BasePath=/a\n", "BasePath=/b\n"),
    ),
    Case(
        "namespace.yaml",
        "*",
        "*",
        "",
        expected=_always("drain restart-slurmd"),
        **_file("namespace.yaml", "auto_base_path: true\n", "auto_base_path: false\n"),
    ),
    Case(
        "acct_gather.conf",
        "*",
        "*",
        "",
        {"slurm.acct_gather_options": {"EnergyIPMIFrequency": 20}, **_IPMI},
        _always(BOTH),
        {"slurm.acct_gather_options": {"EnergyIPMIFrequency": 10}, **_IPMI},
    ),
    Case(
        "oci.conf",
        "*",
        "*",
        "",
        expected=_always("restart-slurmd"),
        **_file("oci.conf", "IgnoreFileConfigJson=no\n", "IgnoreFileConfigJson=yes\n"),
    ),
    Case("plugstack.conf", "*", "*", "", {"slurm.pyxis.enabled": True}, _always("restart-slurmd")),
    Case(
        "mpi.conf",
        "*",
        "*",
        "",
        {"slurm.mpi_options": {"PMIxDebug": 1}},
        _always(RECONFIGURE),
        {"slurm.mpi_options": {"PMIxDebug": 0}},
    ),
    Case(
        "helpers.conf",
        "*",
        "*",
        "",
        expected=_always(RECONFIGURE),
        **_file("helpers.conf", "ExecTime=5\n", "ExecTime=6\n"),
    ),
    Case("*", "*", "*", "", {"slurm.message_timeout": 60}, _always(RECONFIGURE), verdict="scontrol reconfigure"),
]


def _document(release: str, edits: Edits) -> dict[str, Any]:
    data = deepcopy(_MANIFEST)
    data["slurm"]["version"] = release
    for path, value in edits.items():
        if path.startswith(("site/", "replace:")):
            if path.startswith("replace:"):
                data.setdefault("site", {}).setdefault("replaces", []).append(path.removeprefix("replace:"))
            continue
        parent: Any = data
        *parents, last = path.split(".")
        for part in parents:
            parent = parent[int(part)] if isinstance(parent, list) else parent.setdefault(part, {})
        parent[int(last) if isinstance(parent, list) else last] = value
    return data


def _side(directory: Path, release: str, edits: Edits) -> Side:
    directory.mkdir()
    path = directory / "manifest.yaml"
    path.write_text(yaml.safe_dump(_document(release, {}), sort_keys=False), encoding="utf-8")
    for name, value in edits.items():
        if name.startswith("replace:"):
            target = name.removeprefix("replace:")
            text = _unchanged(release).files[f"overlays/{target}"].text
            assert value[0] in text
            name, value = f"site/{target}", text.replace(*value)
        if name.startswith("site/"):
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(value, encoding="utf-8")
    path.write_text(yaml.safe_dump(_document(release, edits), sort_keys=False), encoding="utf-8")
    return Side(str(path), "", path)


@cache
def _unchanged(release: str) -> Snapshot:
    with TemporaryDirectory() as directory:
        result = read(_side(Path(directory) / "base", release, {})).snapshot
    assert result is not None
    return result


def planned(directory: Path, release: str, old: Edits, new: Edits) -> Plan | None:
    """The plan of a changed manifest; None where it is invalid."""
    before = read(_side(directory / "old", release, old)).snapshot if old else _unchanged(release)
    after = read(_side(directory / "new", release, {**old, **new})).snapshot
    return None if before is None or after is None else plan(before, after)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_effects_of_a_change(case: Case, release: str, tmp_path: Path) -> None:
    expected = case.expected[RELEASES.index(release)]
    result = planned(tmp_path, release, case.old, case.new)
    if expected == INVALID:
        assert result is None
        return
    assert result is not None
    taken = {
        " ".join(effect.kind for effect in change.effects)
        for change in result.changes
        if case.file in ("*", change.file.rpartition("/")[2])
        and (case.key in ("*", "") or change.key == case.key)
        and _is(change.kind, case)
        and (change.effect.kind != "none" or change.key)
    }
    assert taken == {expected}
    assert case.verdict in verdict(result)
    assert result.steps


def _is(kind: str, case: Case) -> bool:
    if case.file != "slurm.conf":
        return kind != "file" or case.file in ("job_container.conf", "namespace.yaml")
    if case.what in ("added", "removed") and not case.block:
        return kind == "file"
    return kind == {"NodeName": "node", "PartitionName": "partition", "DownNodes": "down nodes"}.get(case.block, "key")


def test_every_row_of_the_table_has_a_case() -> None:
    table = {(row["file"], row["block"], row["key"], row["what"]) for row in rows("slurm_effects.tsv")}
    releases = {row for row in table if row[1] == "release"}
    covered = {case[:4] for case in CASES}
    # A node's boards are told as sockets, however they are written.
    assert table - releases - covered == {("slurm.conf", "NodeName", "SocketsPerBoard", "")}
    assert covered <= table


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "taken", "words"),
    [
        ("22.05", "23.11", "restart-slurm restart-slurmdbd", "cannot be undone"),
        ("22.05", "24.11", "refuse restart-slurm restart-slurmdbd", "Upgrade through 23.11, then 24.11"),
        ("24.11", "26.05", "restart-slurm restart-slurmdbd", "cannot be undone"),
        ("22.05", "26.05", "refuse restart-slurm restart-slurmdbd", "Upgrade through 23.11, then 25.05, then 26.05"),
        ("24.11", "22.05", "refuse restart-slurm restart-slurmdbd", "restore both"),
        ("26.05", "24.11", "refuse restart-slurm restart-slurmdbd", "restore both"),
    ],
)
def test_another_release(old: str, new: str, taken: str, words: str, tmp_path: Path) -> None:
    before = _unchanged(old)
    after = read(_side(tmp_path / "new", new, {})).snapshot
    assert after is not None
    values = plan(before, after)
    (change,) = (change for change in values.changes if change.kind == "release")
    assert " ".join(effect.kind for effect in change.effects) == taken
    assert words in change.reason
    assert [value.label for value in values.causes[change]] == ["slurm.version"]
    upgrades = [step.text.split(":")[0] for step in values.steps if step.play == UPGRADE]
    way = path_between(SlurmRelease(old), SlurmRelease(new))
    assert upgrades == [f"upgrade Slurm to {release}" for release in way]
    assert "from before the upgrade" in values.steps[0].text if new < old else "back up" in values.steps[0].text


def test_a_release_without_a_way() -> None:
    assert path_between(SlurmRelease("20.11"), SlurmRelease("26.05")) != ()
    assert path_between(SlurmRelease("19.05"), SlurmRelease("24.11")) == ()
