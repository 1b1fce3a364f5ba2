"""The configuration that every change starts from, and edits of it."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

from clustergen.hostlist import expand

RELEASES = ("22.05", "24.11", "26.05")
LATER = ("24.11", "26.05")
_OPTIONS = """
ClusterName=dc SlurmctldHost=ctl(10.99.7.10) SlurmUser=slurm SlurmctldPort=6817 SlurmdPort=6818
StateSaveLocation=/var/lib/slurm/slurmctld SlurmdSpoolDir=/var/lib/slurm/slurmd.%n
SlurmctldPidFile=/run/slurmctld.pid SlurmdPidFile=/run/slurmd.%n.pid
SlurmctldLogFile=/var/log/slurm/slurmctld.log SlurmdLogFile=/var/log/slurm/slurmd.%n.log
SlurmctldDebug=verbose SlurmdDebug=verbose SlurmdParameters=config_overrides ReturnToService=1
AuthType=auth/munge CredType=cred/munge MessageTimeout=8 SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory GresTypes=gpu ProctrackType=proctrack/linuxproc
JobAcctGatherType=jobacct_gather/linux MpiDefault=none DefMemPerCPU=100 SchedulerType=sched/backfill
SchedulerParameters=bf_interval=3,sched_interval=5 PriorityType=priority/multifactor MaxJobCount=5000 MinJobAge=300
KillWait=5
"""
_NODES = "Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=8000 Gres=gpu:h100:4 Feature=h100 State=UNKNOWN"
_PARTITION = "Nodes=ALL Default=YES State=UP DefaultTime=01:00:00 MaxTime=2-00:00:00"
_SLURMDBD = """
DbdHost=ctl DbdPort=6819 SlurmUser=slurm AuthType=auth/munge LogFile=/var/log/slurm/slurmdbd.log
PidFile=/run/slurmdbd.pid StorageType=accounting_storage/mysql StorageHost=localhost StorageUser=slurm StoragePass=x
StorageLoc=slurm_acct_db
"""
ACCOUNTING = {
    "AccountingStorageType": "accounting_storage/slurmdbd",
    "AccountingStorageHost": "ctl",
    "AccountingStoragePort": "6819",
}


def _pairs(text: str) -> dict[str, str]:
    return dict(word.split("=", 1) for word in text.split())


class Configuration:
    """slurm.conf as options, node lines, partitions and other lines; the other files as text."""

    def __init__(self, release: str, *, database: bool) -> None:
        self.release = release
        self.options = _pairs(_OPTIONS) | (ACCOUNTING if database else {})
        self.nodes = {"n[1-4]": {"NodeAddr": "10.99.7.[11-14]", **_pairs(_NODES)}}
        self.partitions = {"batch": _pairs(_PARTITION)}
        self.lines: list[str] = []
        self.slurmdbd = _pairs(_SLURMDBD)
        cgroup = "CgroupMountpoint=/sys/fs/cgroup\n" if release == "22.05" else "CgroupPlugin=disabled\n"
        self.files = {"gres.conf": "NodeName=n[1-4] Name=gpu Type=h100 File=/dev/nvidia[0-3]\n", "cgroup.conf": cgroup}
        self.database = database

    def edited(self, edits: tuple[Edit, ...]) -> Configuration:
        copy = deepcopy(self)
        for edit in edits:
            edit(copy)
        return copy

    def texts(self) -> dict[str, str]:
        """Name below /etc/slurm → text."""
        lines = [f"{key}={value}" for key, value in self.options.items()]
        for key, entries in (("NodeName", self.nodes), ("PartitionName", self.partitions)):
            block = [" ".join([f"{key}={name}", *(f"{k}={v}" for k, v in of.items())]) for name, of in entries.items()]
            if key == "PartitionName":  # node sets come before the partitions that name them
                lines += self.lines
            lines += block
        texts = {"slurm.conf": "\n".join(lines) + "\n", **self.files}
        if self.database:
            texts["slurmdbd.conf"] = "".join(f"{key}={value}\n" for key, value in self.slurmdbd.items())
        return texts


Edit = Callable[[Configuration], None]


def _set(values: dict[str, str], changes: dict[str, object]) -> None:
    for key, value in changes.items():
        if value is None:
            del values[key]
        else:
            values[key] = str(value)


def option(**changes: object) -> Edit:
    """Options of slurm.conf; None removes one."""
    return lambda to: _set(to.options, changes)


def dbd(**changes: object) -> Edit:
    """Options of slurmdbd.conf."""
    return lambda to: _set(to.slurmdbd, changes)


def node(**changes: object) -> Edit:
    """Keys of every node line."""

    def edit(to: Configuration) -> None:
        for line in to.nodes.values():
            _set(line, changes)

    return edit


def split(hosts: str, **changes: object) -> Edit:
    """A line of their own for some nodes, with other values or another name; without changes they are removed."""

    def edit(to: Configuration) -> None:
        apart = expand(hosts)
        ((_, line),) = to.nodes.items()
        rest = [host for host in expand("n[1-4]") if host not in apart]
        to.nodes = {",".join(rest): {**line, "NodeAddr": _addresses(rest)}}
        if changes:
            name = str(changes.get("NodeName", hosts))
            to.nodes[name] = {**line, "NodeAddr": _addresses(apart)}
            _set(to.nodes[name], {key: value for key, value in changes.items() if key != "NodeName"})

    return edit


def _addresses(hosts: list[str]) -> str:
    return ",".join(f"10.99.7.1{host[1:]}" for host in hosts)


def partition(name: str = "batch", **changes: object) -> Edit:
    """Keys of a partition, which is made where there is none of that name."""
    return lambda to: _set(to.partitions.setdefault(name, {}), changes)


def no_partition(name: str) -> Edit:
    def edit(to: Configuration) -> None:
        del to.partitions[name]

    return edit


def line(text: str) -> Edit:
    """A line of slurm.conf that is neither of an option nor of a node or partition."""
    return lambda to: to.lines.append(text)


def no_line(text: str) -> Edit:
    return lambda to: to.lines.remove(text)


def file(name: str, text: str) -> Edit:
    return lambda to: to.files.update({name: text})


def gres(hosts: str = "n[1-4]", of: str = "gpu", *, kind: str = "h100", devices: str = "0-3", more: str = "") -> Edit:
    """gres.conf with the one line."""
    typed = f" Type={kind}" if kind else ""
    return file("gres.conf", f"NodeName={hosts} Name={of}{typed} File=/dev/nvidia[{devices}] {more}".strip() + "\n")
