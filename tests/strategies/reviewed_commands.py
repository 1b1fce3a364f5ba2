"""Outputs of commands in formats and circumstances that the other cases do not have: differences on disk, wrong cabling,
arguments that cannot be.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from clustergen import compile as compiler
from clustergen.catalogue.operating_systems import operating_system
from clustergen.diagnostics import ClustergenError
from clustergen.lab import images
from clustergen.lab.model import Wish
from clustergen.lab.node_images import images_of, packages_of, possible
from clustergen.lab.prepare import prepare
from strategies.fabric_faults import FAULTS
from strategies.fabric_nets import cluster_of, planned_net, superpod
from strategies.pages import ROOT
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
        for name in (
            "switch-missing",
            "fabric-node-missing",
            "cable-port",
            "rail-swapped",
            "cable-crossed",
            "adapter-unnamed",
        ):
            FAULTS[name][0](few)
        for adapter in many.adapters[:240]:
            many.cut((adapter, 1))
        for name, net in {"few": few, "many": many}.items():
            Path("fabric.txt").write_text(net.discovered(), encoding="utf-8")
            for each in ("text", "json", "github", "markdown"):
                yield f"{name}: {each}", run("fabric", "check", "fabric.txt", "--format", each)[1]


def of_arguments() -> Outputs:
    """Commands in the directory of a small cluster."""
    with (
        tempfile.TemporaryDirectory() as directory,
        chdir(directory),
        patch.dict(os.environ, {"CLUSTERGEN_LAB": f"{directory}/lab"}),
    ):
        Path("manifest.yaml").write_text(MANIFESTS["plain"].read_text(encoding="utf-8"), encoding="utf-8")
        shutil.copytree(MANIFESTS["plain"].parents[1] / "hand_written", "conf")
        for words in _COMMANDS:
            yield words, run(*words.split())[1]


_COMMANDS = (
    *("explain a b c", "explain clustergen.lock.json", "explain MaxTime.x", "explain Hosts.txt"),
    *(
        "explain manifest.yaml /etc/hosts:9-3",
        "explain manifest.yaml /etc/hosts:1-900",
        "explain manifest.yaml /etc/hosts:x",
    ),
    *("explain gpu-missing --format json", "explain node-unreachable", "explain node-unreachable --format json"),
    *("explain address", "explain host.nosuch", "explain NAME", "explain --format json", "explain nosuch.conf"),
    *(
        "plan -- --limit x",
        "plan --against nodes --format markdown",
        "plan --trial --format json",
        "plan --against nodes --checks",
    ),
    *(
        "lint conf --diff --format json",
        "lint nosuch",
        "lint conf --register --diff",
        "init x.txt",
        "init conf/slurm.conf",
    ),
    *("init conf", "adopt", "import conf -o conf/slurm.conf", "diff manifest.yaml manifest.yaml"),
    *("resolve --section no", "verify conf", "proof conf", "proof nosuch", "facility estimate --gpus x"),
    *("lab up nosuch", "lab up --set x", "lab up --set a=b", "lab list", "lab list --format json"),
)


_OUTSIDE = """\
name: outside
os: debian-13
networks:
  management: {cidr: 10.0.0.0/24, domain: cluster.local, ntp: [ntp.example.org]}
node_types:
  a100: {system: dgx-a100-80, gpus: {mig: {0: thirds, 3: mixed}}, disks: [{device: nvme0n1, size: 4TB, use: cache}]}
  plain: {system: ws-2xa6000, disks: [{device: nvme0n1, size: 4TB, use: cache}]}
nodes:
  - {name: "head[1-2]", type: service, address: "10.0.0.[1-2]", roles: [slurm-controller, login]}
  - {name: "g[1-3]", type: a100, address: "10.0.0.[11-13]"}
  - {name: p1, type: plain, address: 10.0.0.21, roles: [slurm-compute, login]}
gpu: {mig_plans: {thirds: {profiles: {2g.20gb: 3}}, mixed: {profiles: {3g.40gb: 1, 1g.10gb: 2}}}}
host: {file_cache: {}}
environment: {cuda: ["12.8"], cudnn: "9.8", nccl: "2.27", python: {jax/0.7: {packages: [jax==0.7.0], cuda: "12.8"}}}
notebooks: {group: users}
storage:
  home: {type: nfs, server: 10.0.0.99, path: /home, mount: /home}
  objects: {type: cephfs, mount: /objects, monitors: [10.0.0.98], user: cluster, fsid: 5f0e0a52-1b5c-4b5e-9a5e-2f0e0a521b5c, mounter: kernel}
slurm:
  version: "24.11"
  accounting: {slurmdbd: db.example.org}
  state_location: /home/state
  accounts: {research: {users: [ada, bob]}}
  partitions: {batch: {nodes: all, default: true}}
  options: {MailProg: /opt/mail, Epilog: "/opt/epilog.d/*", PluginDir: /opt/plugins, JobCompType: jobcomp/none}
"""
_DATABASE = _OUTSIDE.replace("{slurmdbd: db.example.org}", "{database_host: db.example.org}").replace(
    "roles: [slurm-controller, login]", "roles: [slurm-controller, slurm-accounting, login]"
)
_WISHES = {
    "as it is": Wish(),
    "of its own system": Wish(["a100=1", "plain=1"], "10.89.7.0/24", os="debian-12", installed=True),
    "with Slurm of another release": Wish(slurm="25.05"),
    "with a system that is not built": Wish(os="rocky-9"),
    "with an image of no system": Wish(images={"rocky-9": "own:1"}),
    "with a file system of the kernel": Wish(mounts=["objects"]),
    "with no such file system": Wish(mounts=["object"]),
    "of no node type": Wish(["nosuch=1"]),
    "in no network": Wish(subnet="10.89.7.1/24"),
}


def of_labs() -> Outputs:
    """Labs on paper of clusters whose accounting is outside, on machines that can do less."""
    place = Path("/nowhere/manifest.yaml")
    with tempfile.TemporaryDirectory() as directory:
        for name, text in {"slurmdbd": _OUTSIDE, "database": _DATABASE}.items():
            compiled = compiler.validate(place, raw=text.encode())
            assert compiled.ok, compiled.diagnostics
            for title, wish in (_WISHES if name == "slurmdbd" else {"as it is": Wish()}).items():
                with (
                    patch.dict(os.environ, {"CLUSTERGEN_LAB": directory}),
                    patch("clustergen.lab.namespace.hybrid", return_value=False),
                    patch("clustergen.lab.prepare.absent", return_value={"SYS_RESOURCE"}),
                    patch("clustergen.lab.substitutions.resource.getrlimit", return_value=(4096, 1 << 20)),
                ):
                    yield f"lab {name} {title}", _lab(compiled, place, wish, title).replace(directory, "LAB")


def _lab(compiled: compiler.Compiled, manifest: Path, wish: Wish, name: str) -> str:
    """The files of a lab with its packages and images, or the reason why there is none."""
    try:
        lab = prepare(compiled, manifest, name.replace(" ", "-"), wish)
        possible(lab, wish)
    except ClustergenError as error:
        return f"{error.exit_code} {error.message} [{error.hint}]"
    lab.work.write_ssh_config({"a": "10.0.0.1"})
    files = (lab.work.manifest, lab.work.inventory, lab.work.settings, lab.work.substitutions, lab.work.ssh_config)
    texts = [file.read_text(encoding="utf-8") for file in files]
    return "\n".join([*texts, json.dumps([packages_of(lab), images_of(lab, wish)])])


_BUILDER = """\
#!/bin/sh
printf '%s\\n' "$@" >"$(dirname "$0")/arguments"
for each; do case $each in *.tar) : >"$each" ;; esac; done
cat "$(dirname "$0")/words" >&2
exit $(cat "$(dirname "$0")/status")
"""
_ENDINGS = {
    "made": (
        0,
        "I: installing\nI: running --customize-hook in shell: sh -c 'x\nI: downloading packages of the cluster\nW: x\n",
    ),
    "no network": (
        1,
        "I: installing\nE: Some index files failed\nE: Failed to fetch http://deb/x  Temporary failure\nE: end\n",
    ),
    "a full disk": (25, "I: x\ntar: y: No space left on device\nE: mmdebstrap failed to run\n"),
    "an error": (25, "I: x\nE: setup failed\nE: later\n"),
    "no error": (25, "I: x\nsegfault\n"),
    "no words": (3, ""),
    "no answer": (124, "E: x\n"),
    "no end": (137, "E: x\n"),
}


def of_images() -> Outputs:
    """The build of an image, by a program that prints the words of mmdebstrap; and the mirror of a machine."""
    system = operating_system("debian-13")
    room = SimpleNamespace(free=images._MIB << 20)
    with tempfile.TemporaryDirectory() as directory, patch("clustergen.lab.images.shutil.disk_usage", lambda _: room):
        (program := Path(directory) / "mmdebstrap").write_text(_BUILDER, encoding="utf-8")
        program.chmod(0o700)
        for name, (status, words) in _ENDINGS.items():
            Path(directory, "status").write_text(str(status), encoding="utf-8")
            Path(directory, "words").write_text(words, encoding="utf-8")
            lines: list[str] = []
            engine = SimpleNamespace(
                name="podman", store=Path(directory), run=lambda *asked, lines=lines, **_: lines.append(" ".join(asked))
            )
            with patch.dict(
                os.environ, {"PATH": f"{directory}:{os.environ['PATH']}", "CLUSTERGEN_MIRROR": "http://deb"}
            ):
                try:
                    images._make(engine, system, ["slurmd", "munge"], "image:1", lines.append)  # type: ignore[arg-type]
                except ClustergenError as error:
                    lines.append(f"{error.message} [{error.hint}]")
            lines += [
                Path(directory, "arguments").read_text(encoding="utf-8"),
                str(list(Path(directory).glob("*.tar"))),
            ]
            made = (
                "\n".join(lines).replace(directory, "LAB").replace(str(ROOT), "ROOT").replace(str(os.getpid()), "PID")
            )
            yield f"image: {name}", made
        for name, path, free in (("no program", "/nowhere", room.free), ("no room", directory, room.free - 1)):
            room.free = free
            with patch.dict(os.environ, {"PATH": path}):
                try:
                    images._make(engine, system, [], "image:1", str)  # type: ignore[arg-type]
                except ClustergenError as error:
                    yield f"image: {name}", f"{error.message} [{error.hint}]".replace(directory, "LAB")
    for name, texts in _SOURCES.items():
        with patch("clustergen.lab.images._text", lambda place, texts=texts: texts.get(str(place), "")):
            yield f"mirror: {name}", str(images.mirror())


_RELEASE, _LIST = "/etc/os-release", "/etc/apt/sources.list"
_SOURCES = {
    "of Debian": {
        _RELEASE: "NAME=x\nID=debian\n",
        _LIST: "# deb http://a/debian x\ndeb [signed-by=/k] http://b/debian/ trixie main\n",
    },
    "in the new form": {_RELEASE: "ID=debian\n", _LIST: "Types: deb\nURIs: http://c/debian\nSuites: trixie\n"},
    "of security": {_RELEASE: "ID=debian\n", _LIST: "deb http://c/debian-security x\n"},
    "of Ubuntu": {_RELEASE: "ID=ubuntu\n", _LIST: "deb http://b/debian trixie main\n"},
}


CASES: dict[str, Callable[[], Outputs]] = {
    "stale trees": of_stale_trees,
    "fabrics": of_fabrics,
    "arguments": of_arguments,
    "labs outside": of_labs,
    "images": of_images,
}
SLOW = ("stale trees", "fabrics", "arguments", "labs outside")
"""Cases of `make test` alone."""
