"""Outputs of commands in formats and circumstances that the other cases do not have: differences on disk, wrong cabling,
arguments that cannot be.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

from strategies.fabric_faults import FAULTS
from strategies.fabric_nets import cluster_of, planned_net, superpod
from strategies.unusual import MANIFESTS, Outputs, run

_FORMATS = ("text", "json", "github", "sarif")


def of_stale_trees() -> Outputs:
    """`render --check` of a tree that someone edited, with a few differences and with many."""
    with tempfile.TemporaryDirectory() as directory, chdir(directory):
        text = MANIFESTS["plain"].read_text(encoding="utf-8")
        Path("manifest.yaml").write_text(text, encoding="utf-8")
        run("render")
        files = [path for path in sorted(Path("rendered").rglob("*")) if path.is_file() and path.suffix != ".json"]
        first, second, third, fourth = files[:4]
        first.write_text(f"mine\n{first.read_text(encoding='utf-8')}", encoding="utf-8")
        second.unlink()
        third.write_text(f"{third.read_text(encoding='utf-8')}<<<<<<< a\n=======\n>>>>>>> b\n", encoding="utf-8")
        fourth.chmod(0o700)
        for each in _FORMATS:
            yield f"few: {each}", run("render", "--check", "--format", each)[1]
        for path in files[4:40]:
            path.write_text("", encoding="utf-8")
        files[41].unlink()
        files[41].mkdir()
        for each in _FORMATS:
            yield f"many: {each}", run("render", "--check", "--format", each)[1]
        Path("manifest.yaml").write_text(text.replace("name: ", "name: x", 1), encoding="utf-8")
        yield "edited", run("verify", "rendered", "--list")[1]
        yield "another one", run("render", "-o", "elsewhere", "manifest.yaml", "manifest.yaml")[1]


def of_fabrics() -> Outputs:
    """`fabric check` of a pod in which all faults were made, and of one in which no cable is where it was planned."""
    with tempfile.TemporaryDirectory() as directory, chdir(directory):
        manifest = superpod(64, plan="leaf: qm9700, unit: 32")
        Path("manifest.yaml").write_text(manifest, encoding="utf-8")
        planned = planned_net(cluster_of(manifest))
        few, many = planned.copy(), planned.copy()
        for name in ("switch-missing", "fabric-node-missing", "cable-port", "rail-swapped", "cable-crossed", "adapter-unnamed"):
            FAULTS[name][0](few)
        for adapter in many.adapters[:240]:
            many.cut((adapter, 1))
        for name, net in {"few": few, "many": many}.items():
            Path("fabric.txt").write_text(net.discovered(), encoding="utf-8")
            for each in ("text", "json", "github", "markdown"):
                yield f"{name}: {each}", run("fabric", "check", "fabric.txt", "--format", each)[1]


def of_arguments() -> Outputs:
    """Commands in the directory of a small cluster."""
    with tempfile.TemporaryDirectory() as directory, chdir(directory):
        Path("manifest.yaml").write_text(MANIFESTS["plain"].read_text(encoding="utf-8"), encoding="utf-8")
        shutil.copytree(MANIFESTS["plain"].parents[1] / "hand_written", "conf")
        for words in _COMMANDS:
            yield words, run(*words.split())[1]


_COMMANDS = (
    *("explain a b c", "explain clustergen.lock.json", "explain rendered/README.md", "explain MaxTime.x", "explain Hosts.txt"),
    *("explain manifest.yaml /etc/hosts:9-3", "explain manifest.yaml /etc/hosts:1-900", "explain manifest.yaml /etc/hosts:x"),
    *("explain gpu-missing --format json", "explain node-unreachable", "explain node-unreachable --format json"),
    *("explain address", "explain host.nosuch", "explain NAME", "explain --format json", "explain nosuch.conf"),
    *("plan -- --limit x", "plan --against nodes --format markdown", "plan --trial --format json", "plan --against nodes --checks"),
    *("lint conf --diff --format json", "lint nosuch", "lint conf --registration", "init x.txt", "init conf/slurm.conf"),
    *("init conf", "adopt", "adopt conf -o /proc/x", "import conf -o conf/slurm.conf", "diff manifest.yaml manifest.yaml"),
    *("resolve --section no", "setup parsers nosuch", "verify conf", "proof conf", "proof nosuch", "facility estimate --gpus x"),
    *("lab up nosuch", "lab up --set x", "lab up --set a=b --scale x", "lab shell", "lab down", "lab list", "lab apply"),
)


CASES: dict[str, Callable[[], Outputs]] = {
    "stale trees": of_stale_trees,
    "fabrics": of_fabrics,
    "arguments": of_arguments,
}
