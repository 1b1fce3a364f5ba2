"""The kind of a file, by its name and its beginning, and the verb that reads it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from clustergen import regular_file
from clustergen.manifest import MANIFEST
from clustergen.records import record
from clustergen.render.tree import LOCK

_HEAD = 100_000
_MANIFEST_KEY = re.compile(r"^(?:name|os|networks|node_types|nodes|slurm|catalogue):(?:\s|$)", re.MULTILINE)
_FACTS = "save it as facts/NODE/{file} and run clustergen discover --facts facts"
_FABRIC = f"run clustergen fabric check {MANIFEST} {{path}}"
_LLDP = f"save it as lldp/HOST.json and run clustergen fabric check {MANIFEST} lldp"
_SLURM = f"run clustergen lint {{path}}, or clustergen import {{path}} -o {MANIFEST}"
_SLURM_KEY = r"^\s*(?:ClusterName|SlurmctldHost|ControlMachine|NodeName|PartitionName)\s*="
_IMPORT = "run clustergen import DIRECTORY --accounts {path}"
_VERIFY = "run clustergen verify {tree}"
_NCCL = f"set its variables in {MANIFEST} under nccl.env; clustergen validate checks them"
_UCX = _NCCL.replace("nccl", "ucx")


@record
class FileKind:
    """A kind of file other than a manifest."""

    title: str
    pattern: str
    hint: str
    file: str = ""
    """The file of a command's output in a directory of facts."""

    def advice(self, path: Path) -> str:
        return self.hint.format(path=path, tree=path.parent, file=self.file)

    def begins(self, head: str) -> bool:
        """True if a file with this beginning is of the kind."""
        return re.search(self.pattern, head, re.MULTILINE | re.IGNORECASE) is not None


_OF_SLURM = FileKind("a Slurm configuration file", _SLURM_KEY, _SLURM)
_KINDS = (
    FileKind(
        "output of ibnetdiscover", r'^(?:Switch|Ca|Rt)\s+\d+\s+"[SHR]-|^# Topology file: generated', _FABRIC
    ),
    FileKind("output of lldpcli", r'\A\s*\{\s*"lldp"', _LLDP),
    FileKind(
        "output of slurmd -C", r"\A(?:slurmd: .*\n)*NodeName=.*\n(?:Gres=.*\n)?UpTime=", _FACTS, "slurmd-C"
    ),
    FileKind(
        "output of scontrol show nodes", r"\ANodeName=\S+ (?:Arch|CoresPerSocket)=", _FACTS, "scontrol-nodes"
    ),
    FileKind("output of lscpu -J", r'\A\s*\{\s*"lscpu"', _FACTS, "lscpu.json"),
    FileKind("output of nvidia-smi -q -x", r"<nvidia_smi_log>", _FACTS, "nvidia-smi-q.xml"),
    FileKind("output of lscpu", r"^\s*Core\(s\) per (?:socket|cluster):", _FACTS, "lscpu"),
    FileKind("output of nvidia-smi -L", r"^GPU 0: .+ \(UUID: ", _FACTS, "nvidia-smi-L"),
    FileKind("output of nvidia-smi", r"^\| NVIDIA-SMI ", _FACTS, "nvidia-smi"),
    FileKind(
        "output of nvidia-smi topo -m", r"^\s*(?:\x1b\[4m)?\s*GPU0\s+.*(?:CPU|NIC)", _FACTS, "nvidia-smi-topo-m"
    ),
    FileKind("output of ibstat", r"^CA '\w+'$", _FACTS, "ibstat"),
    FileKind("output of lsblk", r'\A\s*\{\s*"blockdevices"', _FACTS, "lsblk.json"),
    FileKind("output of dmidecode", r"\A# dmidecode ", _FACTS, "dmidecode"),
    FileKind(
        "output of sacctmgr dump", r"^# To edit this file start with a cluster line|^Cluster - '", _IMPORT
    ),
    FileKind("an nccl.conf", r"\A(?:[ \t]*(?:#.*)?\n)*[ \t]*NCCL_\w+[ \t]*=", _NCCL),
    FileKind("a ucx.conf", r"\A(?:[ \t]*(?:#.*)?\n)*[ \t]*UCX_\w+[ \t]*=", _UCX),
    FileKind("a saved plan", r'\A\s*\{\s*"kind": "clustergen plan"', "run clustergen apply {path}"),
    _OF_SLURM,
)
"""In the order in which they are tried: output of slurmd -C also has NodeName."""
_LOCK = FileKind("the lock file of a rendered tree", r'\A\s*\{\s*"(?:format|clustergen|manifest)"', _VERIFY)


def other_kind(path: Path) -> FileKind | None:
    """The kind of a file that is no manifest; None if name and beginning do not decide it, or it cannot be read."""
    if path.name == LOCK:
        return _LOCK
    head = _beginning(path)
    if _is_manifest(head):
        return None
    if path.suffix == ".json" and _LOCK.begins(head):
        return _LOCK
    return next((kind for kind in _KINDS if kind.begins(head)), None)


def is_slurm(kind: FileKind) -> bool:
    """True if Slurm's daemons read files of this kind."""
    return kind is _OF_SLURM


def is_manifest(path: Path) -> bool:
    """True if a file begins as a manifest does."""
    return path.name != LOCK and _is_manifest(_beginning(path))


def _is_manifest(head: str) -> bool:
    return len({match[0].strip() for match in _MANIFEST_KEY.finditer(head)}) >= 2


def _beginning(path: Path) -> str:
    try:
        with regular_file.opened(path, follow_links=True) as (descriptor, _status):
            return os.read(descriptor, _HEAD).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
