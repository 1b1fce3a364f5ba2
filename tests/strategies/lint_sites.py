"""Small mistakes in files of Slurm, for the checks of lint that no fragment shows, and what lint finds in both.

The findings are in fixtures/reviewed/lint.txt.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from clustergen.catalogue.versions import SlurmRelease
from clustergen.lint.run import lint
from strategies.lint_fragments import FRAGMENTS
from strategies.lint_reports import CGROUP, GPU_NODES, GPUS, HEAD, NODES, PARTITIONS

Files = Mapping[str, str | None]
"""Name → text; None is a link to a device."""
_SLURMDBD = "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=db\n"
_DBD = "DbdHost=db\nSlurmUser=slurm\nStorageType=accounting_storage/mysql\n"
_GRES = "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1]\n"
_TREE, _BLOCK = "TopologyPlugin=topology/tree\n", "TopologyPlugin=topology/block\n"
_PREEMPTION = "PreemptType=preempt/partition_prio\n"
_LOW = "PartitionName=low Nodes=ALL PriorityTier=2\n"


def _conf(plus: str = "", nodes: str = NODES, parts: str = PARTITIONS, **files: str) -> Files:
    return {"slurm.conf": HEAD + plus + nodes + parts, **{name.replace("_", "."): text for name, text in files.items()}}


def _gpus(gres_conf: str, plus: str = "", nodes: str = GPU_NODES) -> Files:
    return _conf(GPUS + plus, nodes, gres_conf=gres_conf, cgroup_conf=CGROUP)


def _yaml(text: str, **more: str) -> Files:
    return {**_conf(**more), "topology.yaml": text}


SITES: dict[str, tuple[str, Files]] = {
    "a release that nobody has read": ("26.11", _conf()),
    "slurmdbd without a host": ("24.11", _conf("AccountingStorageType=accounting_storage/slurmdbd\n")),
    "preemption by QOS that nothing enforces": (
        "24.11",
        _conf(_SLURMDBD + "PreemptType=preempt/qos\nPreemptMode=CANCEL\n"),
    ),
    "depth that counts without slurmdbd": ("24.11", _conf("PriorityFlags=DEPTH_OBLIVIOUS\n")),
    "a partition with brackets": ("24.11", _conf(parts=PARTITIONS + "PartitionName=p[1-2] Nodes=ALL\n")),
    "a plugin without its file": ("24.11", _conf("BurstBufferType=burst_buffer/lua\n")),
    "a QOS of a partition that nothing enforces": ("24.11", _conf(_SLURMDBD, parts=PARTITIONS.strip() + " QOS=big\n")),
    "requeued jobs that are not requeued": (
        "24.11",
        _conf(_PREEMPTION + "PreemptMode=REQUEUE\nJobRequeue=0\n", parts=PARTITIONS + _LOW),
    ),
    "suspended jobs with GPUs": (
        "24.11",
        _gpus("AutoDetect=nvml\n", _PREEMPTION + "PreemptMode=SUSPEND,GANG\n", GPU_NODES + _LOW),
    ),
    "preemption of one partition only": (
        "24.11",
        _conf("PreemptMode=OFF\n", parts=PARTITIONS.strip() + " PreemptMode=CANCEL\n"),
    ),
    "constraints without task/cgroup": (
        "24.11",
        _conf("TaskPlugin=task/affinity\n", cgroup_conf="ConstrainCores=yes\n"),
    ),
    "memory that is not handed out": (
        "24.11",
        _conf(
            "TaskPlugin=task/cgroup\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n",
            cgroup_conf="ConstrainRAMSpace=yes\n",
        ),
    ),
    "cores that are not constrained": ("24.11", _conf("TaskPlugin=task/cgroup\n", cgroup_conf="ConstrainCores=no\n")),
    "no cgroups where slurm.conf needs them": (
        "24.11",
        _conf("ProctrackType=proctrack/cgroup\n", cgroup_conf="CgroupPlugin=disabled\n"),
    ),
    "the old address of a controller": (
        "24.11",
        {"slurm.conf": "ClusterName=c\nControlMachine=a\nControlAddr=10.0.0.1\nSlurmUser=slurm\n" + NODES + PARTITIONS},
    ),
    "slurmd as another user": ("24.11", _conf("ProctrackType=proctrack/cgroup\nSlurmdUser=slurm\n")),
    "the spool inside the state": ("24.11", _conf("SlurmdSpoolDir=/var/spool/slurmctld/d\n")),
    "a spool that nodes share": ("24.11", _conf("SlurmdSpoolDir=/shared/slurmd\n")),
    "a GRES that is no entry": ("24.11", _gpus(_GRES, nodes=NODES.strip() + " Gres=gpu:a100:2,gpu:a:b:c:d\n")),
    "too many lines to compare": (
        "24.11",
        _gpus(
            "Name=gpu Type=a100 File=/dev/nvidia0\n" * 1000
            + "".join(f"NodeName=n{number} Name=gpu Type=a100 File=/dev/nvidia1\n" for number in range(1, 1000)),
            nodes=GPU_NODES.replace("n[1-4]", "n[1-999]"),
        ),
    ),
    "shared GPUs without gres.conf": (
        "24.11",
        _conf("GresTypes=gpu,shard\nTaskPlugin=task/cgroup\n", NODES.strip() + " Gres=gpu:2,shard:8\n", cgroup_conf=CGROUP),
    ),
    "GPUs without gres.conf": ("24.11", _conf(GPUS, GPU_NODES, cgroup_conf=CGROUP)),
    "GPUs without ConstrainDevices": ("24.11", _conf(GPUS, GPU_NODES, gres_conf=_GRES, cgroup_conf="# nothing\n")),
    "GPUs of whole nodes": ("24.11", _gpus(_GRES, "SelectType=select/linear\n")),
    "GPUs that are not counted": ("24.11", _gpus(_GRES, _SLURMDBD)),
    "a bracket that is part of a name": ("24.11", _gpus("NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia0]\n")),
    "a line without a name": ("24.11", _gpus(_GRES + "NodeName=n1 Count=1\n")),
    "detection behind a name": ("24.11", _gpus(_GRES + "Name=gpu Type=a100 AutoDetect=off File=/dev/nvidia[0-1]\n")),
    "two ways of detection": (
        "24.11",
        _gpus("NodeName=n[1-4] AutoDetect=nvml\nNodeName=n1 AutoDetect=off\n"),
    ),
    "nodes of gres.conf that are no list": ("24.11", _gpus(_GRES + "NodeName=n[1-4 Name=gpu File=/dev/nvidia3\n")),
    "a shared GPU twice": (
        "24.11",
        _conf(
            "GresTypes=gpu,mps\nTaskPlugin=task/cgroup\n",
            NODES.strip() + " Gres=gpu:a100:2,mps:200\n",
            gres_conf=_GRES + "NodeName=n[1-4] Name=mps Count=100 File=/dev/nvidia0\n" * 2,
            cgroup_conf=CGROUP,
        ),
    ),
    "cores on one of two lines": (
        "24.11",
        _gpus(
            "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia0 Cores=0-7\n"
            "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia1\n"
        ),
    ),
    "no memory": ("24.11", _conf(nodes=NODES.replace("64000", "0"))),
    "a yes that is UP": ("24.11", _conf(parts=PARTITIONS.replace("Default=YES", "Default=YES Hidden=UP"))),
    "a node twice on a line": ("24.11", _conf(nodes=NODES.replace("n[1-4]", "n[1-4],n2"))),
    "host names that nobody reads": ("24.11", _conf(nodes=NODES.replace("n[1-4]", "n[1-4] NodeHostname=a[1-4"))),
    "a route without a tree": ("22.05", _conf("RoutePlugin=route/topology\n")),
    "linear selection in a tree": (
        "24.11",
        _conf(_TREE + "SelectType=select/linear\n", topology_conf="SwitchName=a Nodes=n[1-4]\n"),
    ),
    "cores for linear selection": ("24.11", _conf("SelectType=select/linear\nSelectTypeParameters=CR_Core\n")),
    "a most of nodes for linear selection": ("24.11", _conf("SelectType=select/linear\nMaxNodeCount=100\n")),
    "shards of whole nodes": ("24.11", _conf("GresTypes=gpu,shard\nSelectType=select/linear\n")),
    "shards without GPUs": ("24.11", _conf("GresTypes=shard\n")),
    "X11 without cgroups": ("24.11", _conf("PrologFlags=X11\nProctrackType=proctrack/linuxproc\n")),
    "steps of their own manager": ("24.11", _conf("SlurmctldParameters=enable_stepmgr\n")),
    "a private /tmp without Contain": ("24.11", _conf("JobContainerType=job_container/tmpfs\n")),
    "two that kill for memory": (
        "24.11",
        _conf(
            "TaskPlugin=task/cgroup\nJobAcctGatherParams=OverMemoryKill\nSelectTypeParameters=CR_Core_Memory\n",
            cgroup_conf="ConstrainRAMSpace=yes\n",
        ),
    ),
    "profiles without a place": ("24.11", _conf("AcctGatherProfileType=acct_gather_profile/hdf5\n")),
    "groups that nobody names": ("24.11", _conf("MCSPlugin=mcs/group\n")),
    "certificates that no script signs": ("25.11", _conf("CertmgrType=certmgr/script\n")),
    "a filter that lacks functions": (
        "24.11",
        {**_conf("CliFilterPlugins=lua\n"), "cli_filter.lua": "function slurm_cli_pre_submit() end\n"},
    ),
    "functions from elsewhere": ("24.11", {**_conf("JobSubmitPlugins=lua\n"), "job_submit.lua": "dofile('/a.lua')\n"}),
    "helpers of an old release": (
        "22.05",
        _conf("NodeFeaturesPlugins=node_features/helpers\n", helpers_conf="Feature=a,b Helper=/a\n"),
    ),
    "helpers of nothing": (
        "22.05",
        _conf("NodeFeaturesPlugins=node_features/helpers\n", helpers_conf="BootTime=3\n"),
    ),
    "device files with text after the brackets": (
        "22.05",
        _gpus("NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1]p\n"),
    ),
    "a block smaller than the first": (
        "24.11",
        _conf(_BLOCK, topology_conf="BlockName=a Nodes=n[1-3]\nBlockName=b Nodes=n4\n"),
    ),
    "a block without nodes": (
        "24.11",
        _conf(_BLOCK, topology_conf="BlockName=a Nodes=n[1-4]\nBlockName=b\nBlockSizes=4\n"),
    ),
    "a job script that is not here": ("24.11", _conf("JobSubmitPlugins=lua\n")),
    "a prolog that is not here": ("26.05", _conf("PrologSlurmctld=prolog.sh\n")),
    "an action without a place": ("26.05", _conf("PowerAction=off Program=/bin/off\n")),
    "an action without a program": ("26.05", _conf("PowerAction=off Location=slurmd\n")),
    "another plugstack that is not here": ("24.11", _conf("PlugStackConfig=/etc/slurm/other.conf\n")),
    "lines of plugstack.conf": (
        "24.11",
        _conf(
            plugstack_conf="needed /usr/lib/a.so\nrequired\noptional /usr/lib/a\ninclude\ninclude /opt/x.conf\n"
            "include ../x.conf\ninclude gone.conf\ninclude plugstack.conf\n"
        ),
    ),
    "files of a plugstack that include each other": (
        "24.11",
        {
            **_conf(plugstack_conf="include a.conf\n"),
            "a.conf": "include b.conf\n",
            "b.conf": "include a.conf\nrequired\n",
        },
    ),
    "a plugstack.conf that nobody can read": (
        "24.11",
        {**_conf("PlugStackConfig=/etc/slurm/other.conf\n"), "other.conf": None},
    ),
    "an empty slurmdbd.conf": ("24.11", {"slurmdbd.conf": "# nothing\n"}),
    "a database that is none": ("24.11", {"slurmdbd.conf": _DBD.replace("accounting_storage/mysql", "mysql")}),
    "ports of slurmdbd that differ": ("24.11", {**_conf(_SLURMDBD), "slurmdbd.conf": _DBD + "DbdPort=7000\n"}),
    "a hash that slurmdbd does not load": ("24.11", {**_conf(_SLURMDBD + "HashPlugin=hash/sha3\n"), "slurmdbd.conf": _DBD}),
    "a password that others read": ("24.11", {"slurmdbd.conf": _DBD + "StoragePass=s3cret\n"}),
    "a kill that is too early": ("24.11", _conf("MessageTimeout=100\nUnkillableStepTimeout=60\n")),
    "a health check that never runs": ("24.11", _conf("HealthCheckProgram=/usr/sbin/nhc\n")),
    "blocks in a tree": ("24.11", _conf(_TREE, topology_conf="BlockName=a Nodes=n[1-4]\n")),
    "no switches": ("24.11", _conf(_TREE, topology_conf="# nothing\n")),
    "no blocks": ("24.11", _conf(_BLOCK, topology_conf="# nothing\n")),
    "a long name of a switch": ("24.11", _conf(_TREE, topology_conf=f"SwitchName={'a' * 64} Nodes=n[1-4]\n")),
    "a switch below two": (
        "24.11",
        _conf(
            _TREE,
            topology_conf="SwitchName=a Nodes=n[1-4]\nSwitchName=b Switches=a\nSwitchName=c Switches=a\nSwitchName=d Switches=b,c\n",
        ),
    ),
    "a QOS that a daemon looks for": ("26.05", _conf(parts=PARTITIONS.strip() + " QOS=big\n")),
    "a port that only root may have": ("24.11", _conf("SlurmctldPort=817\n")),
    "ports of srun with those of a daemon": ("24.11", _conf("SrunPortRange=6817-6900\n")),
    "a doubled sign": ("24.11", _conf("MailDomain==a\n")),
    "GPUs without cgroup.conf": ("24.11", _conf(GPUS, GPU_NODES, gres_conf=_GRES)),
    "device files that nobody reads": ("24.11", _gpus("NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[a-b]\n")),
    "links without the GPU itself": ("24.11", _gpus(_GRES.strip() + " Links=0,16\n")),
    "some cores of a socket": ("24.11", _gpus(_GRES.strip() + " Cores=0-3\n")),
    "nodes of a switch that are no list": ("24.11", _conf(_TREE, topology_conf="SwitchName=a Nodes=n[1-4\n")),
    "switches that are no list": (
        "24.11",
        _conf(_TREE, topology_conf="SwitchName=a Nodes=n[1-4]\nSwitchName=b Switches=a[1\n"),
    ),
    "a partition for one user and one topology": (
        "26.05",
        _conf(parts=PARTITIONS.strip() + " ExclusiveTopo=YES ExclusiveUser=YES\n"),
    ),
    "a health check that overlaps": (
        "26.05",
        _conf("HealthCheckProgram=/usr/sbin/nhc\nHealthCheckInterval=30\nHealthCheckTimeout=60\n"),
    ),
    "a small block": ("23.11", _conf(_BLOCK, topology_conf="BlockName=a Nodes=n[1-2]\nBlockName=b Nodes=n[3-4]\nBlockSizes=4\n")),
    "a size that is none": ("24.11", _conf(_BLOCK, topology_conf="BlockName=a Nodes=n[1-4]\nBlockSizes=four\n")),
    "YAML that nobody reads": ("26.05", _yaml("- [\n")),
    "a topology of no kind": ("26.05", _yaml("- topology: a\n")),
    "a topology without a name": ("26.05", _yaml("- flat: true\n")),
    "a topology twice": ("26.05", _yaml("- {topology: a, flat: true}\n- {topology: a, flat: true}\n")),
    "a switch without a name": ("26.05", _yaml("- {topology: a, tree: {switches: [{nodes: 'n[1-4]'}]}}\n")),
    "keys and lists that nobody reads": (
        "26.05",
        _yaml("- {topology: a, tree: {switches: [{switch: s, node: n1, nodes: [n1, n2]}]}}\n"),
    ),
    "topologies that are no list": ("26.05", _yaml("topology: a\n")),
    "a topology that is no mapping": ("26.05", _yaml("- a\n")),
    "a topology that is not defined": (
        "26.05",
        _yaml("- {topology: a, flat: true}\n", parts=PARTITIONS.strip() + " Topology=b\n"),
    ),
    "a topology of a later release": ("25.05", _yaml("- {topology: a, ring: {rings: []}}\n")),
    "a default that is neither": ("26.05", _yaml("- {topology: a, flat: true, cluster_default: maybe}\n")),
    "nodes and children": (
        "26.05",
        _yaml("- {topology: a, tree: {switches: [{switch: s, nodes: 'n[1-4]', children: t}, {switch: t, nodes: n1}]}}\n"),
    ),
    "a tree of nothing": ("26.05", _yaml("- {topology: a, tree: {switches: []}}\n")),
    "a block without a name": ("26.05", _yaml("- {topology: a, block: {blocks: [{nodes: 'n[1-4]'}], block_sizes: [4]}}\n")),
}  # fmt: skip


def rows() -> dict[str, tuple[str, Files]]:
    names = {ascii(one.name)[1:-1]: one for one in FRAGMENTS}
    fragments = {
        f"fragment {name}": ("24.11", {"slurm.conf": one.slurm_conf, **one.files}) for name, one in names.items()
    }
    return {**SITES, **fragments}


def findings(release: str, files: Files) -> str:
    """A line for each finding: severity, place, code, message and hint."""
    with tempfile.TemporaryDirectory() as directory:
        return _findings(release, files, Path(directory))


def _findings(release: str, files: Files, directory: Path) -> str:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        if text is None:
            path.symlink_to("/dev/null")
        else:
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
    lines = []
    for one in lint(directory, SlurmRelease(release)).diagnostics:
        lines.append(f"{one.severity} {one.place} {one.code}: {one.message}" + (f" | {one.hint}" if one.hint else ""))
    text = "".join(f"{line}\n" for line in lines) or "nothing\n"
    return text.replace(f"{directory}/", "").replace(str(directory), ".")
