"""Asks the real slurmd which GPUs its AutoDetect=nvml detects on nodes of some hardware, and whether gres.conf agrees.

slurmd's NVML plugin calls nvml.c, a library of ours that answers from a text file; hwloc reads the processors from a
variable. Nothing else is needed for `slurmd -G`, so slurm.conf shrinks to what it reads: the nodes, and how it counts
sockets. Nodes with lines per device are asked with AutoDetect=nvml beside these lines, and slurmd compares the two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from clustergen.records import record
from clustergen.slurmconf import Line
from clustergen.verify import sandbox
from clustergen.verify.programs import TIMEOUT
from clustergen.verify.simulated_hardware import AS_SOCKET, NVML_PLUGIN, Node, Settings, libraries, texts
from clustergen.verify.slurm_daemons import cgroup_plugin
from clustergen.verify.slurm_roots import SlurmInstall

_NODE_KEYS = ("sockets", "boards", "socketsperboard", "corespersocket", "threadspercore", "cpus", "procs", "gres")
_AUTODETECT = re.compile(r"\bAutoDetect\s*=\s*\w+", re.IGNORECASE)
_LATE = 124  # exit status of the script when an answer takes longer
_LIMIT = 50  # seconds for one slurmd -G, which takes less than one

_COMPLAINT = re.compile(r"(?:^|\s)((?:fatal|error|warning): .*|Node reconfigured socket/core boundaries.*)")
_LISTED = re.compile(r"(?:^|\s)(Gres Name=gpu (?:Type=(?:\(null\)|(\S+)) )?Count=(\d+)\b.*)")
_DETECTED = re.compile(r"\b(\d+) GPU system device\(s\) detected")
_SEEN = re.compile(r"\sCPUs:(\d+) Boards:(\d+) Sockets:(\d+) CoresPerSocket:(\d+) ThreadsPerCore:(\d+)")
_NOT_LOADED = re.compile(r"We were configured with nvml functionality, but that lib wasn't found.*")
_OF_THE_SANDBOX = re.compile(r"_nvml_get_mem_freqs|fetch_config|plugstack")


@record
class Detected:
    """The answer of slurmd for a node: complaints in its own words, and how many GPUs it listed of each type."""

    complaints: tuple[str, ...]
    types: Mapping[str, int]


def has_plugin(install: SlurmInstall) -> bool:
    """True if this Slurm has the NVML plugin."""
    return install.has_plugin(NVML_PLUGIN)


def detect(install: SlurmInstall, slurm_conf: str, gres_conf: str, nodes: Sequence[Node]) -> dict[str, Detected]:
    """By node. `slurm_conf` and `gres_conf` are the files' texts. Raises SandboxError where nothing can be run here."""
    settings = Settings.read(slurm_conf, gres_conf)
    notes = {
        "detect_gpus.sh": Path(__file__).with_name("detect_gpus.sh").read_text(encoding="utf-8"),
        "slurm.conf": _slurm_conf(settings, nodes),
        "gres.conf": _gres_conf(settings, gres_conf, nodes),
        "cgroup.conf": f"CgroupPlugin={cgroup_plugin(install.release)}\n",
        "devices": "".join(f"{device}\n" for node in nodes for device in node.hardware.devices),
        "nodes": "".join(f"{number} {node.name}\n" for number, node in enumerate(nodes)),
    }
    if any(node.hardware.cpus for node in nodes):
        notes |= libraries()
    for number, node in enumerate(nodes):
        notes |= {f"{number}.{name}": text for name, text in texts(settings, node).items()}
    box = sandbox.Sandbox(install.path)  # slurmd drops groups, which takes a range of ids
    script = ["/bin/bash", "/run/clustergen/detect_gpus.sh"]
    done = sandbox.run(box, script, timeout=TIMEOUT, env={"LIMIT": str(_LIMIT)}, notes=notes)
    if done.code in (None, _LATE):
        raise sandbox.SandboxError("slurmd -G ran out of time")
    if done.code != 0:
        raise sandbox.SandboxError(done.stderr.strip() or f"detect_gpus.sh: exit status {done.code}")
    logs = [done.files.get(f"{number}.log", "") for number in range(len(nodes))]
    if refused := next((match[0] for match in map(_NOT_LOADED.search, logs) if match), None):
        raise sandbox.SandboxError(refused)
    return {
        node.name: _judged(node, log, None if settings.overrides else settings.node(node.name))
        for node, log in zip(nodes, logs, strict=True)
    }


def _judged(node: Node, log: str, line: Line | None) -> Detected:
    complaints: dict[str, None] = {}
    listed: dict[str, tuple[str, int]] = {}  # releases say it on stderr, in the log file, or in both
    for text in log.splitlines():
        if match := _LISTED.search(text):
            listed[match[1]] = match[2] or "", int(match[3])
        elif (match := _COMPLAINT.search(text)) and not _OF_THE_SANDBOX.search(text):
            complaints[match[1]] = None
    types: Counter[str] = Counter()
    for name, count in listed.values():
        types[name] += count
    seen = next(iter(_SEEN.findall(log)), None)
    if seen is None:
        complaints.setdefault("slurmd -G did not come to the processors", None)
    elif line is not None:
        complaints |= dict.fromkeys(_processors(line, seen))
    gpus = len(node.hardware.cpus)
    detected = next(map(int, _DETECTED.findall(log)), 0)
    if detected != gpus:
        complaints[f"detects {detected} GPUs of {gpus}"] = None
    elif types.total() != node.count:
        complaints[f"lists {types.total()} GPUs and MIG instances of {node.count}"] = None
    return Detected(tuple(complaints), types)


def _processors(line: Line, seen: tuple[str, ...]) -> Iterator[str]:
    """Where slurm.conf has other numbers than slurmd sees."""
    cpus, boards, sockets, cores, threads = seen
    for key, value in (
        ("CPUs", cpus),
        ("Boards", boards),
        ("Sockets", sockets),
        ("CoresPerSocket", cores),
        ("ThreadsPerCore", threads),
    ):
        stated = line.get(key)
        if stated is not None and stated != value and not (key == "CPUs" and int(value) == int(stated) * int(threads)):
            yield f"slurm.conf has {key}={stated}, slurmd finds {value}"


def _slurm_conf(settings: Settings, nodes: Sequence[Node]) -> str:
    parameters = ",".join(word for word in AS_SOCKET if word in settings.parameters)
    output = [
        "ClusterName=verify\nSlurmctldHost=verify\nSlurmUser=root\nAuthType=auth/none\nCredType=cred/none",
        "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSlurmdSpoolDir=/var/spool/slurmd/%n",
        f"GresTypes={settings.types}",
        f"SlurmdParameters={parameters}" if parameters else "",
    ]
    for node in nodes:
        line = settings.node(node.name)
        pairs = [pair for pair in line.pairs if pair.key.lower() in _NODE_KEYS] if line else []
        output.append(" ".join([f"NodeName={node.name}", *(f"{pair.key}={pair.value}" for pair in pairs)]))
    return "\n".join([*output, "PartitionName=all Nodes=ALL", ""])


def _gres_conf(settings: Settings, text: str, nodes: Sequence[Node]) -> str:
    """With AutoDetect=nvml for every node with GPUs, in place of any other method; off where no node has any."""
    names = [node.name for node in nodes if node.hardware.cpus and not settings.detects(node.name)]
    method = "nvml" if any(node.hardware.cpus for node in nodes) else "off"
    return "".join(
        [*(f"NodeName={name} AutoDetect=nvml\n" for name in names), _AUTODETECT.sub(f"AutoDetect={method}", text)]
    )
