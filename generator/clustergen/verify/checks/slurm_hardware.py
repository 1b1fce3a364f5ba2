"""Node types before the real slurmd: what it finds on their hardware, and whether slurm.conf and gres.conf agree."""

from __future__ import annotations

import platform
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from clustergen.records import replace
from clustergen.verify.check import Check, Trial, paths
from clustergen.verify.detected_gpus import Detected, detect, has_plugin
from clustergen.verify.files import Entry
from clustergen.verify.rows import Row, Status
from clustergen.verify.sandbox import SandboxError
from clustergen.verify.simulated_hardware import NVML_PLUGIN, Node
from clustergen.verify.slurm_roots import SlurmInstall, for_release, installs

_CONF = "/etc/slurm/slurm.conf"
_GRES = "/etc/slurm/gres.conf"
_MIG = "/etc/nvidia-mig-manager/clustergen.yaml"
_SLURMD = ("/etc/sysconfig/slurmd", "/etc/default/slurmd")


def _ask(check: Check, trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
    texts = {entry.target: entry.text for entry in entries}
    nodes = dict(nodes_by_type(trial))
    if _CONF not in texts or not nodes:
        yield check.row("not run", entries, ["the lock file names no hardware of compute nodes: render the tree again"])
        return
    unknown = {kind: node for kind, node in nodes.items() if node.hardware.cpus and not node.hardware.gpu}
    remarks = [f"{kind}: not asked, as the manifest has no model of its GPUs" for kind in unknown]
    nodes = {kind: node for kind, node in nodes.items() if kind not in unknown}
    status: Status = "no parser"
    release = trial.tree.slurm_release
    has_gpus = any(node.hardware.cpus for node in nodes.values())
    install = _install(release, has_gpus)
    if has_gpus and install is None:
        status, why = _no_plugin()
        remarks += [f"{kind}: not asked: {why}" for kind, node in nodes.items() if node.hardware.cpus]
        nodes = {kind: node for kind, node in nodes.items() if not node.hardware.cpus}
        has_gpus, install = False, _install(release, has_gpus=False)
    if not nodes:
        yield check.row(status, entries, remarks)
        return
    if install is None:
        yield check.row("not run", entries, ["no Slurm here: run clustergen setup parsers"])
        return
    try:
        answers = detect(install, texts[_CONF], texts.get(_GRES, ""), list(nodes.values()))
    except SandboxError as error:
        yield check.row("not run", entries, [str(error)], version=install.version)
        return
    complaints = [f"slurmd: {kind}: {words}" for kind, node in nodes.items() for words in answers[node.name].complaints]
    notes = [*(f"{kind}: {_summary(node, answers[node.name])}" for kind, node in nodes.items()), *remarks]
    row = check.judged(entries, complaints, notes, install.version)
    if install.release != release:
        absent = f"no Slurm {release} here has {NVML_PLUGIN}" if has_gpus else f"there is no Slurm {release} here"
        remark = f"checked with {install.version}: {absent}"
        row = replace(row, what=f"{row.what} (for {release})", words=(remark, *row.words))
    yield row


def _install(release: str, has_gpus: bool) -> SlurmInstall | None:
    """The tree's release, else the newest, of those that can be asked."""
    able = [one for one in installs() if not has_gpus or has_plugin(one)]
    exact = for_release(release)
    return exact if exact in able else next(iter(able), None)


def _no_plugin() -> tuple[Status, str]:
    """Why nobody here detects GPUs, and what that makes of a row without another type."""
    if platform.machine() != "x86_64":
        return "no parser", f"Debian has {NVML_PLUGIN}, which detects GPUs, for x86_64 alone"
    return "not run", f"no Slurm here has {NVML_PLUGIN}, which detects GPUs: run clustergen setup parsers"


def nodes_by_type(trial: Trial) -> Iterator[tuple[str, Node]]:
    """A node of each type by the type's name."""
    compute = set(trial.tree.inventory.groups.get("slurm_compute", ()))
    roots = {host: root for root in trial.nodes for host in root.hosts if host in compute}
    for group, hardware in trial.tree.hardware.items():
        host = next((host for host in trial.tree.inventory.groups.get(group, ()) if host in roots), None)
        if host is not None:
            files = roots[host].files
            mig = _mig(files, len(hardware.cpus))
            options = options_of("slurmd", "".join(files[file].text for file in _SLURMD if file in files))
            node_files = tuple(file for file in files if file.startswith("/etc/slurm/"))
            yield group.removeprefix("type_"), Node(host, hardware, mig, options, node_files)


def options_of(daemon: str, text: str) -> tuple[str, ...]:
    """The daemon's in a file of variables, split as systemd does."""
    values = re.findall(rf"^{daemon.upper()}_OPTIONS=(.*)", text, re.MULTILINE)
    try:
        return tuple(shlex.split(" ".join(shlex.split(" ".join(values[-1:])))))
    except ValueError:  # a quote without its end
        return tuple(" ".join(values[-1:]).split())


def _mig(files: Mapping[str, Entry], count: int) -> tuple[Mapping[str, int] | None, ...]:
    """By GPU: the instances that the node's own service makes; empty where it makes none."""
    import yaml

    if _MIG not in files:
        return ()
    try:
        document = yaml.safe_load(files[_MIG].text)
        (plan,) = document["mig-configs"].values()
        layouts: list[Mapping[str, int] | None] = [None] * count
        for part in plan:
            for gpu in range(count) if part["devices"] == "all" else part["devices"]:
                layouts[gpu] = dict(part["mig-devices"]) if part["mig-enabled"] else None
    except (yaml.YAMLError, AttributeError, IndexError, KeyError, TypeError, ValueError):
        return ()  # the file has a check of its own
    return tuple(layouts)


def _summary(node: Node, answer: Detected) -> str:
    hardware = node.hardware
    processors = f"{hardware.sockets} x {hardware.cores} cores"
    types = ", ".join(f"{count} of type {name}" if name else str(count) for name, count in answer.types.items())
    return f"{processors}; {hardware.gpu}: {types}" if types else processors


CHECKS = (
    Check(
        name="slurm hardware",
        what="Slurm: processors and GPUs that slurmd detects",
        parser="slurmd -G",
        proves="For each type of compute nodes, slurmd runs on hardware that hwloc and an NVML library of this project "
        "simulate: the sockets, cores, threads and NUMA nodes of the type, and the GPUs of the catalogue by name, "
        "count, CPU affinity, NVLinks and MIG instances. slurmd finds the processors that slurm.conf states, detects "
        "with AutoDetect=nvml as many GPUs as the type has, and agrees with the types, Cores, Links and MIG instances "
        "of slurm.conf and gres.conf, where the instances are those that MIG Manager is to make. If Slurm does not "
        "count NUMA nodes as sockets, GPUs with a line in gres.conf are next to their whole socket. L3 caches, which "
        "the catalogue does not have, are as slurm.conf counts them. Slurm 22.05 and 24.11 have the plugin; the files "
        "of another release are read by the newest of these. It does not prove that a machine has this hardware.",
        reads=paths(_CONF, _GRES),
        ask=_ask,
    ),
)
