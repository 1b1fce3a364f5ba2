"""Drift of nodes that run: each change by hand is found; what nodes print becomes the manifest that they have."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from clustergen import compile as compiler
from clustergen.hardware.discovery import draft
from clustergen.hardware.discovery.grouping import groups
from clustergen.hardware.discovery.recordings import read
from clustergen.manifest import source
from strategies.machines import GPU, infiniband, smi

if TYPE_CHECKING:
    from tests.nodes.conftest import Document, Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]
PLAYBOOK = Path(sys.executable).parent / "ansible-playbook"
HARDWARE = ("Sockets", "CoresPerSocket", "ThreadsPerCore", "RealMemory", "Gres")


def recorded(lab: Lab, directory: Path, *options: str) -> None:
    command = [str(PLAYBOOK), "-i", str(lab.tree / "inventory/hosts.ini"), "-i", str(lab.work.inventory), *options]
    command += ["clustergen.cluster.drift", "-e", f"facts={directory}"]
    done = subprocess.run(
        command, cwd=lab.tree, env=lab.work.environment(), capture_output=True, text=True, timeout=500, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def findings(lab: Lab, directory: Path) -> set[tuple[str, str, str]]:
    """Kind, node and subject of each; what containers cannot have is not compared."""
    manifest = str(lab.work.manifest)
    command = [sys.executable, "-m", "clustergen", "drift", manifest, "--facts", str(directory), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, 1), done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return {(row["kind"], node, row["subject"]) for row in rows for node in row["nodes"]}


def readdress(lab: Lab, host: str, old: str, new: str) -> None:
    """Another management address, as by an edited file of the network; the default route stays."""
    script = (
        'route=$(ip route show default); name=$(ip -o -4 addr show to "$1" | cut -d" " -f2); '
        'ip addr del "$1/24" dev "$name"; ip addr add "$2/24" dev "$name"; ip route replace $route'
    )
    lab.engine("exec", f"{{{host}}}", "sh", "-c", script, "sh", old, new)


def test_each_change_by_hand_is_found_on_its_node(lab: Lab, tmp_path: Path) -> None:
    management = lab.addresses()["compute02"]
    other = management.rpartition(".")[0] + ".99"
    inventory = tmp_path / "readdressed.ini"
    key = f"ansible_ssh_extra_args='-o HostKeyAlias={management}'"
    inventory.write_text(f"compute02 ansible_host={other} {key}\n", encoding="utf-8")
    lab.out("compute01", "ip addr add 10.1.0.11/24 dev eth0")  # where a machine has its fabric's interface
    recorded(lab, tmp_path / "before")
    before = findings(lab, tmp_path / "before")
    try:
        lab.out("compute01", "rm /dev/nvidia7; ip addr del 10.1.0.11/24 dev eth0; ip addr add 10.1.0.99/24 dev eth0")
        lab.out("compute02", "echo '# by hand' >> /etc/nccl.conf; systemctl stop munge")
        lab.out("slurm-head", "scontrol update PartitionName=debug State=DOWN MaxTime=10")
        lab.out("slurm-head", "sacctmgr -i modify qos normal set Priority=7; sacctmgr -i add user root account=vision")
        lab.out("compute02", "touch /etc/slurm/prolog.d/99-rogue /etc/systemd/system/slurmd.service.d/zz-rogue.conf")
        lab.engine("exec", "{compute03}", "sh", "-c", "systemctl stop ssh.socket ssh.service; pkill sshd; true")
        readdress(lab, "compute02", management, other)
        recorded(lab, tmp_path / "after", "-i", str(inventory))
        changes = findings(lab, tmp_path / "after") - before
    finally:
        lab.engine("exec", "{compute03}", "systemctl", "start", "ssh.service")
        lab.out("slurm-head", "scontrol reconfigure")
        readdress(lab, "compute02", other, management)
        lab.out("compute02", "rm -f /etc/slurm/prolog.d/99-rogue /etc/systemd/system/slurmd.service.d/zz-rogue.conf")
        lab.out("compute01", "ip addr del 10.1.0.99/24 dev eth0")
        lab.out("compute01", "test -e /dev/nvidia7 || mknod -m 666 /dev/nvidia7 c 195 7")
        lab.settle()
        lab.out("slurm-head", "sacctmgr -i delete user root account=vision")
    assert "differs" not in lab.out("slurm-head", "/usr/local/sbin/clustergen-accounts check")
    assert {
        ("gpu-device", "compute01", "device files"),
        ("address-missing", "compute01", "fabric address"),
        ("address-missing", "compute02", "management address"),
        ("file-differs", "compute02", "/etc/nccl.conf"),
        ("unit-stopped", "compute02", "munge.service"),
        ("node-unreachable", "compute03", "unreachable"),
        ("accounts-differ", "slurm-head", "QOS normal Priority"),
        ("accounts-unlisted", "slurm-head", "user root in vision"),
        ("file-foreign", "compute02", "/etc/slurm/prolog.d/99-rogue"),
        ("file-foreign", "compute02", "/etc/systemd/system/slurmd.service.d/zz-rogue.conf"),
        ("slurm-partition", "slurm-head", "partition debug State"),
        ("slurm-partition", "slurm-head", "partition debug MaxTime"),
    } <= changes, sorted(changes)
    assert "slurm-partition" not in {kind for kind, *_ in before}


def hardware(text: str) -> dict[str, str]:
    """Nodes → hardware, of the compute nodes' lines of slurm.conf."""
    rows = (dict(re.findall(r"(\w+)=(\S+)", line)) for line in text.splitlines() if line.startswith("NodeName="))
    return {row["NodeName"]: " ".join(f"{key}={row.get(key)}" for key in HARDWARE) for row in rows if "Gres" in row}


def slurm_conf(files: Mapping[str, str]) -> str:
    return next(text for path, text in files.items() if path.endswith("/etc/slurm/slurm.conf"))


def discovered(document: Document, facts: Path) -> dict[str, str]:
    """The manifest with the node type and the addresses that follow from the facts."""
    parts = draft.data(groups(read(facts)))
    (name,) = parts["node_types"]
    (entry,) = parts["nodes"]
    nodes = [{**node, **entry} if node["name"] == entry["name"] else node for node in document["nodes"]]
    changed = {**document, "node_types": {**document["node_types"], **parts["node_types"]}, "nodes": nodes}
    changed["storage"] = {}  # ports of the fabric, which file systems need, do not exist in a container
    changed["slurm"] = {key: value for key, value in document["slurm"].items() if key != "scripts"}
    tree = compiler.tree_of(changed, "manifest.yaml")
    assert tree is not None, f"{name} is a valid node type"
    files = {path: file.content.decode() for path, file in tree[1].files.items() if path.endswith(".conf")}
    return hardware(slurm_conf(files))


def test_outputs_of_nodes_give_the_manifest_that_they_were_made_from(lab: Lab, tmp_path: Path) -> None:
    """slurmd of the nodes counts a machine of hwloc; memory, GPUs and port are the manifest's."""
    place = next(lab.tree.glob("overlays/*/etc/slurm/slurm.conf"))
    expected = hardware(place.read_text(encoding="utf-8"))
    (memory,) = {re.search(r"RealMemory=\d+", line)[0] for line in expected.values()}  # type: ignore[index]
    for name in [name for name in lab.addresses() if name.startswith("compute")]:
        directory = tmp_path / name
        directory.mkdir()
        line = lab.out(name, "HWLOC_SYNTHETIC='pack:2 core:64 pu:2' slurmd -C")
        (directory / "slurmd-C").write_text(re.sub(r"RealMemory=\d+", memory, line), encoding="utf-8")
        (directory / "ip.json").write_text(lab.out(name, "ip -j addr"), encoding="utf-8")
        (directory / "nvidia-smi.csv").write_text(smi(8, GPU), encoding="utf-8")
        (directory / "infiniband").write_text(infiniband((200,)), encoding="utf-8")
    assert discovered(json.loads(json.dumps(source.load(lab.work.manifest).data)), tmp_path) == expected
