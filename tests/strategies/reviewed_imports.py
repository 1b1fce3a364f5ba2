"""Outputs of `import` about directories in which much is unusual, old or wrong."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import chdir
from pathlib import Path

from strategies.unusual import Outputs, run

_MACHINES = """\
NodeName=n[1-8] CPUs=4 Boards=1 SocketsPerBoard=1 RealMemory=4000 Feature=NDR
NodeName=g[1-2] CPUs=224 RealMemory=1000000 Gres=gpu:h100:2,fpga:1 NodeAddr=10.0.0.[1-2]
"""
_OLD = f"""\
ClusterName=Hall
ControlMachine=head
BackupController=spare
SlurmUser=slurm
# password=Kd8gQ2mVx71LpZ
JobCompPass=Kd8gQ2mVx71LpZ
FastSchedule=2
SlurmdParameters=shutdown_on_reboot
CacheGroups=1
CredType=cred/munge
SchedulerParameters=bf_continue,preempt_youngest_first
PreemptMode=REQUEUE
PreemptType=preempt/partition_prio
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=10.9.9.9
AccountingStoragePort=7000
PrivateData=jobs,users
Prolog=/etc/slurm/prolog.sh
MaxJobCount=5000
MaxJobCount=6000
TaskPluginParam=autobind=threads
PriorityWeightAge=100
PriorityType=priority/basic
TopologyPlugin=topology/tree
GresTypes=gpu,fpga
{_MACHINES}NodeName=a_b! CPUs=4
NodeName=m[1-2] CPUs=8 Weight=1-3 NodeAddr=10.0.0.[5-7]
NodeSet=big Nodes=n[1-2,
NodeSet=small Feature=NDR
PartitionName=p Nodes=ALL TRESBillingWeights=CPU=x Default=YES
PartitionName=p! Nodes=n1
PartitionName=q Nodes=small,nobody AllowAccounts=art
Include nothing.conf
"""
_ACCOUNTED = f"""\
ClusterName=Hall
SlurmctldHost=head
SlurmUser=slurm
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=head
AccountingStorageEnforce=limits,qos
GresTypes=gpu,fpga
{_MACHINES}PartitionName=p Nodes=n[1-8] AllowQos=normal,urgent AllowAccounts=art,lost QOS=urgent
"""
_DUMP = """\
# To edit this file start with a cluster line for the new cluster
Cluster - 'hall':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'art':Description='art: it`s old':Fairshare=lots:GrpTRES=gres/gpu=1.5,cpu=4:QOS='normal,other':DefaultQOS='other'
Account - 'art':Description='again':Fairshare=1
Account - 'no way':Fairshare=1
Account - 'empty':Fairshare=1:QOS='':GrpTRES=cpu=4:Strange=5
Parent - 'no way'
Account - 'below':Fairshare=1
Parent - 'art'
User - 'ada':DefaultAccount='art':Fairshare=1:QOS='urgent'|x
User - 'bob':DefaultAccount='art':Coordinator='art,no way':DefaultWCKey='x':AdminLevel='Operator':Fairshare=7:WCKeys='a'
User - 'eve':DefaultAccount='art':Fairshare=1:WCKeys='b'
User - 'tim':DefaultAccount='art':Fairshare=1:WCKeys='c':GrpTRES=cpu=4
User - 'tom':DefaultAccount='art':Fairshare=1:WCKeys='d'
Parent - 'root'
User - 'amy':DefaultAccount='root':Fairshare=1
"""
_QOS = """\
QOS - 'normal':Description='Normal QOS default'
QOS - 'urgent':Description='urgent':GraceTime=120:MaxWallDurationPerJob=2880:Preempt='nobody':Flags='DenyOnLimit,Odd'
QOS - 'no good':Description='x'
"""
_TABLE = "Name|Priority|GraceTime|Preempt|PreemptMode|Flags|UsageFactor|GrpTRES|GrpJobs|MaxTRES|MaxWall|\nnormal|0|\n"
_TREE = "SwitchName=a1 Nodes=n[1-4]\nSwitchName=a2 Nodes=n[5-8]\n"
_SHAPED = """\
ClusterName=Hall
SlurmctldHost=head
SlurmUser=slurm
TopologyPlugin=topology/%s
NodeName=n[1-8] Procs=4 RealMemory=4000 Feature=FDR,EDR
PartitionName=p Nodes=n[1-8]
"""
_YAML = """\
- topology: hall
  cluster_default: true
  %s
"""
_BLOCKS = 'block: {block_sizes: [4, %s], blocks: [{block: b1, nodes: "n[1-4]"}, {block: b2, nodes: "n[5-8]%s"}]}'
_DIRECTORIES: dict[str, tuple[dict[str, str | bytes], tuple[str, ...]]] = {
    "old": (
        {
            "slurm.conf": _OLD,
            "slurmdbd.conf": "DbdHost=localhost\nDbdPort=7001\nSlurmUser=slurm\nStorageType=accounting_storage/mysql\n"
            "StoragePass=Kd8gQ2mVx71LpZ\nStoragePort=x\nPrivateData=jobs\n",
            "gres.conf": "AutoDetect=off\nNodeName=g1 Name=gpu Type=h100 File=/dev/nvidia0 Links=-1,4 Cores=0-55\n"
            "NodeName=g1 Name=gpu Type=h100 File=/dev/nvidia1 Links=4,-1 Cores=x\nNodeName=g[1-2] Name=fpga Count=1\n",
            "topology.conf": _TREE,
            "prolog.sh": "#!/bin/sh\nexport TOKEN=Kd8gQ2mVx71LpZ90aQ\n",
        },
        ("--slurm-version", "23.02"),
    ),
    "odd accounts": (
        {
            "slurm.conf": _ACCOUNTED,
            "slurmdbd.conf": "DbdHost=db\nDbdBackupHost=head\nStorageType=accounting_storage/mysql\nPrivateData=jobs\n",
            "dump": (_QOS + _DUMP).replace("again", "Öl").encode("latin-1"),
        },
        ("--accounts", "conf/dump"),
    ),
    "accounts without QOS": ({"slurm.conf": _ACCOUNTED, "dump": _DUMP}, ("--accounts", "conf/dump")),
    "accounts without slurmdbd": (
        {"slurm.conf": _ACCOUNTED.replace("storage/slurmdbd", "storage/none"), "dump": _DUMP, "qos": _TABLE},
        ("--accounts", "conf/dump"),
    ),
    "blocks": (
        {"slurm.conf": _SHAPED % "block", "topology.yaml": _YAML % (_BLOCKS % ("8", "")), "topology.conf": _TREE},
        ("--slurm-version", "25.05"),
    ),
    **{
        f"a topology of {title}": ({"slurm.conf": _SHAPED % "tree", "topology.yaml": text}, ("--slurm-version", "26.05"))
        for title, text in {
            "blocks without sizes": _YAML % (_BLOCKS % ("x", "")),
            "an empty block": _YAML % (_BLOCKS % ("8", ',n[1-4]"}, {block: b3, nodes: "')),
            "strange nodes": _YAML % (_BLOCKS % ("8", ",x1")),
            "nothing": _YAML % "flat: true",
            "no name": _YAML % "tree: {switches: [{nodes: n1}]}",
            "no YAML": "- [\n",
        }.items()
    },
    **{
        f"switches that {title}": ({"slurm.conf": _SHAPED % plugin, "topology.conf": text}, ())
        for title, (plugin, text) in {
            "are blocks": ("tree", "BlockName=b1 Nodes=n[1-8]\nBlockSizes=4\n"),
            "are listed twice": ("tree", f"{_TREE}SwitchName=a1 Nodes=n1\n"),
            "have too much": ("tree", "SwitchName=a1 Nodes=n[1-8] Switches=a2\nSwitchName=a2\n"),
            "have nothing": ("tree", "SwitchName=a1 Nodes=n[1-8]\nSwitchName=a2\n"),
            "have strange nodes": ("tree", f"{_TREE}SwitchName=a3 Nodes=x1\n"),
            "have a node twice": ("tree", f"{_TREE}SwitchName=a3 Nodes=n1\n"),
            "are not connected": ("tree", _TREE),
            "are well": ("tree", f"{_TREE}SwitchName=t Switches=a[1-2]\n"),
            "are unknown": ("tree", f"{_TREE}SwitchName=t Switches=a[1-3]\n"),
            "share a leaf": ("tree", f"{_TREE}SwitchName=t Switches=a[1-2]\nSwitchName=u Switches=a1\n"),
            "have strange keys": ("tree", f"{_TREE}SwitchName=t Switches=a[1-2] Speed=4\n"),
            "have no block": ("block", "BlockName=b1 Nodes=n[1-4]\nBlockName=b2\nBlockSizes=4\n"),
        }.items()
    },
}  # fmt: skip


def of_imports() -> Outputs:
    with tempfile.TemporaryDirectory() as directory, chdir(directory):
        for title, (files, words) in _DIRECTORIES.items():
            shutil.rmtree("conf", ignore_errors=True)
            Path("conf").mkdir()
            for name, content in files.items():
                (Path("conf") / name).write_bytes(content if isinstance(content, bytes) else content.encode())
            yield f"import: {title}", run("import", "conf", *words)[1]
