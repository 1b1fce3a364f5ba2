"""Outputs about systematic variations: of manifests, of files of Slurm, of what machines print.

Each variation changes a whole document in one way, so that a run of seconds meets rules, messages and branches that no
table of single cases lists.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

from clustergen import compile as compiler
from clustergen.catalogue.operating_systems import operating_systems
from clustergen.catalogue.slurm import releases
from clustergen.diff import show_text
from clustergen.diff.plan import plan
from clustergen.diff.show_json import as_json
from clustergen.diff.show_markdown import markdown
from clustergen.diff.snapshot import Snapshot, of_tree
from clustergen.lab import nodes
from clustergen.lab.model import Wish
from clustergen.lab.node_images import images_of, packages_of
from clustergen.lab.prepare import prepare
from clustergen.manifest.source import load
from strategies import diffs, lint_mutants, machines
from strategies.findings import changed, words
from strategies.pages import ROOT
from strategies.unusual import FIXTURES, MANIFESTS, Outputs, compiled, run

Change = Callable[[Any], Any]


# Manifests


def _without(data: Any, place: int) -> Any:
    """Each mapping and list below the sections lacks its value at that place."""
    if isinstance(data, dict):
        keys = [key for at, key in enumerate(data) if at != place or len(data) == 1]
        return {key: _without(data[key], place) for key in keys}
    if isinstance(data, list):
        return [_without(value, place) for at, value in enumerate(data) if at != place or len(data) == 1]
    return data


def _mapped(data: Any, change: Change) -> Any:
    if isinstance(data, dict):
        return {key: value if key in ("name", "version") else _mapped(value, change) for key, value in data.items()}
    return [_mapped(value, change) for value in data] if isinstance(data, list) else change(data)


def _number(change: Callable[[int], int]) -> Change:
    return lambda value: change(value) if type(value) is int else value


def _variations(data: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for section in [key for key in data if key != "name"]:
        yield f"without {section}", {key: value for key, value in data.items() if key != section}
    for place in range(6):
        kept = {key: _without(value, place) if key != "os" else value for key, value in data.items()}
        yield f"without what is at place {place} of each section", kept
    roles = dict.fromkeys(role for node in data["nodes"] for role in node.get("roles", ()))
    for role in roles:
        nodes = [{**node, "roles": [r for r in node.get("roles", ()) if r != role]} for node in data["nodes"]]
        yield f"no node is {role}", {**data, "nodes": nodes}
    for title, change in {
        "numbers are one more": _number(lambda value: value + 1),
        "numbers are one less": _number(lambda value: value - 1),
        "numbers are half": _number(lambda value: value // 2),
        "addresses are in another network": lambda v: re.sub(r"\b10\.", "172.16.", v) if isinstance(v, str) else v,
    }.items():
        yield title, _mapped(data, change)


def _releases(data: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for system in operating_systems():
        yield f"os {system}", {**data, "os": system}
    for release in releases():
        yield f"slurm {release}", {**data, "slurm": {**data["slurm"], "version": str(release)}}


_RENDERED = ("roce", "storage")


def of_manifest(name: str) -> Outputs:
    """Findings of `validate`, and trees of what it accepts; of one cluster in all releases as well."""
    data = yaml.safe_load(MANIFESTS[name].read_text(encoding="utf-8"))
    place = Path("/nowhere/manifest.yaml")
    for title, variation in (*_variations(data), *(_releases(data) if name == "storage" else ())):
        made = compiler.validate(place, raw=yaml.safe_dump(variation, sort_keys=False, width=200).encode())
        tree = compiler.render(made, place)[0] if made.ok and name in _RENDERED else None
        digest = sha256()
        for file in tree or ():
            digest.update(f"{file.path}\n".encode() + file.content)
        yield f"{name}, {title}", f"{words(made.diagnostics)}{digest.hexdigest()}"


# Files of Slurm

_PAIR = re.compile(r"([A-Za-z]+)=([^\s]*)")


def _lines(change: Callable[[str], str]) -> Change:
    return lambda text: "".join(f"{change(line)}\n" for line in text.splitlines())


_OF_LINES: dict[str, Change] = {
    "names are misspelt": _lines(lambda line: re.sub(r"=([A-Za-z][\w/]*)", r"=\1x", line)),
    "keys are misspelt": _lines(lambda line: _PAIR.sub(r"\1x=\2", line)),
    "values are empty": _lines(lambda line: re.sub(r"=\S*$", "=", line)),
    "numbers are 0": _lines(lambda line: re.sub(r"=\d+\b", "=0", line)),
    "numbers are large": _lines(lambda line: re.sub(r"=(\d+)\b", r"=\g<1>99999", line)),
    "numbers have a unit": _lines(lambda line: re.sub(r"=(\d+)\b", r"=\1k", line)),
    "nodes are others": _lines(lambda line: re.sub(r"\[(\d)", r"[9\1", line)),
    "lines stand twice": _lines(lambda line: f"{line}\n{line}"),
    "the last pair is missing": _lines(lambda line: re.sub(r"\s+\S+=\S*$", "", line)),
    "every third line is missing": lambda text: "".join(
        line for number, line in enumerate(text.splitlines(keepends=True)) if number % 3
    ),
}
_IMPORTED = ("names are misspelt", "nodes are others", "every third line is missing")


def of_slurm_files() -> Outputs:
    """`lint` and `import` of files that all have the same mistake, and `lint` of single ones."""
    sources = {"hand": FIXTURES / "hand_written"}
    sources |= {path.name: path for path in sorted((ROOT / "tests/importer/directories").iterdir())}
    texts = {
        name: {path.name: path.read_text(encoding="utf-8") for path in sorted(source.glob("*.conf"))}
        for name, source in sources.items()
    }
    texts["rocky"] = {
        Path(file.target).name: file.content.decode()
        for file in compiled("rocky")[1]
        if file.target is not None and re.fullmatch(r"/etc/slurm/\w+\.conf", file.target)
    }
    with tempfile.TemporaryDirectory() as directory, chdir(directory):
        for name, files in texts.items():
            for title, change in _OF_LINES.items():
                _write(Path("conf"), {file: change(text) for file, text in files.items()})
                yield f"lint of {name}: {title}", run("lint", "conf")[1]
                if title in _IMPORTED and name != "rocky":
                    yield f"import of {name}: {title}", run("import", "conf", "--format", "json")[1]
        mutants = lint_mutants.mutants(26)
        for mutant in (next(mutants) for _ in range(30)):
            _write(Path("conf"), mutant.files)
            yield f"lint of one mistake: {mutant.name}", run("lint", "conf")[1]


def _write(directory: Path, files: Mapping[str, str]) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    for name, text in files.items():
        (directory / name).write_text(text, encoding="utf-8")


# What machines print

_OF_OUTPUTS: dict[str, Change] = {
    "numbers are one more": lambda text: re.sub(r"\d\b", lambda match: str((int(match[0]) + 1) % 10), text),
    "numbers are 0": lambda text: re.sub(r"\b\d+\b", "0", text),
    "the end is cut off": lambda text: text[: len(text) // 2],
    "lines stand twice": _lines(lambda line: f"{line}\n{line}"),
    "words are in capitals": str.upper,
    "nothing": lambda text: "",
    "an error": lambda text: "bash: line 1: command not found\n",
    "names are others": lambda text: re.sub(r"=([a-z]\w*)", r"=x\1", text),
    "long lines": _lines(lambda line: f"{line}{'x' * 5000}"),
}


def of_facts() -> Outputs:
    """`drift` and `discover` of nodes whose programs all print something else; one file of each node per round."""
    with tempfile.TemporaryDirectory() as directory, chdir(directory):
        Path("manifest.yaml").write_text(machines.MANIFEST, encoding="utf-8")
        healthy = {name: machines.healthy(number) for number, name in enumerate(machines.NODES, 11)}
        files = [*healthy["gpu1"]]
        for title, change in _OF_OUTPUTS.items():
            for first in range(0, len(files), len(machines.NODES)):
                changes: dict[str, dict[str, str | None]] = {
                    node: {file: change(healthy[node][file])}
                    for node, file in zip(machines.NODES, files[first:], strict=False)
                }
                shutil.rmtree("facts", ignore_errors=True)
                machines.record(Path("facts"), **changes)
                for each in ("drift", "discover"):
                    yield f"{each}: {title}, {', '.join(files[first : first + 4])}", run(each, "--facts", "facts")[1]
            shown = {"scontrol-nodes": change(machines.scontrol()), "tree.json": "{}"}
            shown["scontrol-partitions"] = change(machines.scontrol_partition("main", "gpu[1-4]"))
            shutil.rmtree("facts", ignore_errors=True)
            machines.record(Path("facts"), head={**shown})
            yield f"drift: {title}, scontrol", run("drift", "--facts", "facts", "--format", "json")[1]


# Labs and differences


def of_labs() -> Outputs:
    """Labs on paper: manifests, settings, containers and images, on a machine whose abilities are fixed."""
    wishes = {
        "planned": Wish(["2"], "10.89.7.0/24"),
        "rocky": Wish(["2"], "10.89.7.0/24", os="debian-13", slurm="24.11", variables={"a": "b"}),
        "storage": Wish([], "10.89.7.0/24", installed=True),
    }
    with (
        tempfile.TemporaryDirectory() as directory,
        patch.dict(os.environ, {"CLUSTERGEN_LAB": directory}),
        patch("clustergen.lab.namespace.hybrid", return_value=True),
        patch("clustergen.lab.prepare.absent", return_value=frozenset()),
    ):
        for name, wish in wishes.items():
            made = prepare(compiled(name)[0], MANIFESTS[name], name, wish)
            work = made.work
            for file in (work.manifest, work.inventory, work.settings, work.substitutions):
                text = file.read_text(encoding="utf-8").replace(directory, "LAB").replace(str(ROOT), "ROOT")
                yield f"lab {name}: {file.name}", text
            packages = packages_of(made)
            yield f"lab {name}: packages", json.dumps([packages, packages_of(made, only_common=True)])
            images = images_of(made, wish)
            yield f"lab {name}: images", json.dumps(images)
            containers = list(nodes.nodes(work, made.cluster, images))
            lines = [(node.host, node.address, node.image, node.directories, node.gpus) for node in containers]
            yield f"lab {name}: containers", json.dumps([lines, [nodes._answers(node) for node in containers]])


def of_differences() -> Outputs:
    """`diff` of clusters in which much has changed; of the small one with the values that cause it."""
    with tempfile.TemporaryDirectory() as directory, chdir(directory):
        for name, edits in _EDITS.items():
            text = MANIFESTS[name].read_text(encoding="utf-8") if name in MANIFESTS else _SMALL
            old, new = _side("old.yaml", text), _side("new.yaml", changed(text, *edits))
            if name in MANIFESTS:  # the search for the values takes seconds
                old, new = replace(old, source=None), replace(new, source=None)
            for first, second in ((old, new), (new, old)) if name in MANIFESTS else ((old, new),):
                difference, words_ = plan(first, second), f"{name}: diff {first.name} {second.name}"
                yield words_, show_text.text(difference)
                yield f"{words_} --format json", as_json([difference], [], [])
                yield f"{words_} --format markdown", markdown([difference], [], [])


def _side(name: str, text: str) -> Snapshot:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    made = compiler.validate(path)
    tree, diagnostics = compiler.render(made, path)
    assert tree is not None, words([*made.diagnostics, *diagnostics])
    assert made.cluster is not None
    return of_tree(name, tree, made.cluster, load(path))


_SMALL = (
    diffs.MANIFEST
    + """\
  accounts: {research: {users: [alice, bob], user_limits: {alice: {max_jobs: 4}}}, teams: {parent: research}}
  qos: {high: {priority: 10}}
  node_sets: {pair: "c[1-2]"}
storage: {home: {type: nfs, server: 10.0.255.9, path: /home, mount: /home, options: [noatime]}}
nccl: {env: {NCCL_IB_TIMEOUT: 20}}
"""
)
_EDITS = {
    "small": (
        *(("c[1-4]", "c[2-5]"), ("10.0.0.[1-4]", "10.0.0.[2-5]"), ("memory: 1TiB", "memory: 2TiB"), ("c[1-2]", "c[2-3]")),
        *(("max_time: 30", "max_time: 60"), ("[alice, bob]", "[alice, carol]"), ("max_jobs: 4", "max_jobs: 5")),
        *(("priority: 10", "priority: 20"), ("parent: research", "description: all teams"), ("[noatime]", "[ro]")),
        *(("server: 10.0.255.9", "server: 10.0.255.8"), ("TIMEOUT: 20", "TIMEOUT: 22"), (", slurm-accounting]", "]")),
        *(("default: true", "default: true, priority_tier: 2"), ("type: gpu,", "type: gpu, memory: 3TiB,")),
    ),
    "planned": (
        *(("n[1-6]", "n[1-7]"), (".[11-16]", ".[11-17]"), ('n[4-6]", row: b', 'n[4-7]", row: c')),
        *(("count: 3, pumps", "count: 4, pumps"), ("warranty: 5", "warranty: 4"), ("budget: 10000000", "budget: 9000000")),
        *(("max_time: 1-0", "max_time: 2-0"), ("priority_tier: 2", "priority_tier: 3"), ("[low]", "[low, normal]")),
        *(("max_jobs: 4", "max_jobs: 3"), ("alice, bob", "alice, carol"), ("users: [bob]", "users: [carol]")),
        *(("users: {bob", "users: {carol"), ("suspend_time: 1h", "suspend_time: 2h"), ("value: 22", "value: 23")),
        *(("mount: /weka", "mount: /data"), ("LABEL=scratch", "LABEL=local"), ("[3]}", "[2]}")),
        *(("air_inlet: 32", "air_inlet: 30"), ("Berlin", "Paris"), ("nhc: true", "nhc: false"), ("max: 700W", "max: 800W")),
    ),
    "rocky": (
        *(("[11-14]", "[12-15]"), ("g[1-4]", "g[2-5]"), ("roles: [subnet-manager], in", "roles: [subnet-manager, login], in")),
        *(("30TB", "40TB"), ("oss2, device: tank/ost0", "oss1, device: tank/ost0"), ("space: 20TiB", "space: 30TiB")),
        *(("mirror: [metadata, storage]", "mirror: [metadata]"), ("mounter: fuse", "mounter: kernel")),
        *(("clients: [slurm-compute]\n    quotas: [{directory: /mnt/objects", "quotas: [{directory: /mnt/objects"),),
        *(("suspend_time: 1h", "suspend_time: 3h"), ("iommu: pt, governor: performance", "iommu: pt")),
        *(("engine: warewulf, images: {diskless: rocky-9}", "engine: warewulf, images: {diskless: rocky-9b}"),),
        *(("firewall: nftables, ", ""), ("5000-8999", "5000-9999"), ('version: "24.11"', 'version: "25.05"')),
    ),
    "storage": (
        *(('"leaf[1-2]", model: qm9700', '"leaf[1-2]", model: qm9790'), ("c[1-2],x1", "c[1-2]")),
        *(("server: head\n", "server: 10.0.0.99\n"), ("export: {networks: [10.0.0.0/24]}\n    ", "")),
        *(("end: 4MiB", "end: 8MiB"), ("user: ada, space: 1TiB", "user: bob, space: 2TiB"), ("mount: /far", "mount: /near")),
        *(("10.0.0.91@tcp", "10.0.0.92@tcp"), ('"8.2"', '"8.3"'), ("[10.0.0.21]\n    fsid", "[10.0.0.22]\n    fsid")),
        *(("os: debian-13", "os: debian-12"), ("dgx-h100", "dgx-h200"), ("LABEL=raid", "LABEL=raid0"), ("contacts: [10.0.0.70]", "contacts: [10.0.0.71]")),
    ),
}  # fmt: skip


# Commands


def of_sessions() -> Outputs:
    """Commands in a directory of a small cluster, one after the other; those of a mistake, and of files of each kind."""
    dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "2026-01-01T00:00:00Z")
    with tempfile.TemporaryDirectory() as directory, chdir(directory), patch.dict(os.environ, dates):
        for words_ in _IN_VAIN:
            yield f"in an empty directory: {words_}", run(*words_.split())[1]
        text = MANIFESTS["plain"].read_text(encoding="utf-8")
        Path("manifest.yaml").write_text(text, encoding="utf-8")
        shutil.copytree(ROOT / "tests/importer/directories/university", "conf")
        for number, words_ in enumerate(_SESSION):
            if words_ == "commit":
                for command in ("init -q", "add manifest.yaml", "commit -qm first"):
                    diffs.git(Path(), *command.split())
            elif words_ == "edit":
                Path("manifest.yaml").write_text(f"{text}nccl: {{env: {{NCCL_IB_TIMEOUT: 22}}}}\n", encoding="utf-8")
                (Path("rendered") / "README.md").write_text("mine\n", encoding="utf-8")
            else:
                yield f"{number}: {words_}", run(*words_.split())[1]
        facts = {**machines.healthy(11), "scontrol": machines.scontrol(), **_KINDS_OF_FILES}
        for name, content in facts.items():
            Path("other.yaml").write_text(content, encoding="utf-8")
            yield f"validate a file of {name}", run("validate", "other.yaml")[1]


_IN_VAIN = (
    *("validate", "render", "render --check", "diff", "plan", "resolve", "verify", "lint", "import", "adopt --next"),
    *("discover", "drift", "drift --facts facts", "fabric check manifest.yaml lldp", "facility compare a.yaml b.yaml"),
    *("facility estimate", "facility refresh", "apply", "explain manifest.yaml /etc/hosts:1", "validate no.yaml no/"),
    *("diff a b", "diff HEAD a", "verify tree", "lint no.conf", "import no", "validat", "render --chek", "init"),
)
_SESSION = (
    *("validate", "validate --statistics", "validate --format github", "validate --select none", "render", "render"),
    *("render --check", "diff rendered rendered", "explain manifest.yaml /etc/hosts", "explain manifest.yaml rendered"),
    *("commit", "explain manifest.yaml /etc/hosts:10-11", "explain /etc/hosts:10 --format json", "edit"),
    *("plan", "plan --format json", "plan --format markdown --out plan.json", "plan --against rendered", "diff HEAD ."),
    *("plan --against HEAD --checks", "apply plan.jso", "diff HEAD:./manifest.yaml . --format markdown"),
    *("render --check", "render --check --format json", "diff rendered manifest.yaml", "render", "render -o out"),
    *("resolve --section ssh --origin", "resolve --section nodes --format json", "resolve --section no"),
    *("verify --list", "verify --only no", "lint conf --statistics", "lint conf --diff", "lint conf --format sarif"),
    *("lint conf --slurm-version 9.9", "lint conf --select no", "lint conf --write-baseline --baseline base.txt"),
    *("lint conf --baseline base.txt", "lint conf --fix", "lint conf", "validate --write-baseline --baseline b.txt"),
    *("validate --baseline b.txt", "adopt conf -o adopted --os debian-13", "import conf -o i.yaml"),
    *(
        "import conf -o i.yaml --slurm-version 1",
        "explain slurm.conf:1x",
        "explain maxtime",
        "explain max_tim",
        "explain etc/slrm.conf",
    ),
    *("explain manifest.yaml /etc/nothing", "explain manifest.yaml /etc/hosts:999", "explain gpu-misssing"),
    *("explain manifest.yaml slurm.partitions", "catalogue gpus h100", "catalogue nothing", "features --format yaml"),
    *("facility estimate", "facility refresh --on 2030-01-01", "init", "init -o new --example no", "schema -o s.json"),
)
_KINDS_OF_FILES = {
    "ibnetdiscover": 'Switch\t40 "S-0002c9"\n',
    "lldpcli": '{"lldp": {}}\n',
    "lscpu": "Core(s) per socket: 4\n",
    "nvidia-smi -L": "GPU 0: NVIDIA H100 (UUID: GPU-1)\n",
    "nvidia-smi": "| NVIDIA-SMI 570 |\n",
    "nvidia-smi topo -m": "\tGPU0\tGPU1\tCPU Affinity\n",
    "ibstat": "CA 'mlx5_0'\n",
    "lsblk": '{"blockdevices": []}\n',
    "lscpu -J": '{"lscpu": []}\n',
    "dmidecode": "# dmidecode 3.5\n",
    "sacctmgr": "# To edit this file start with a cluster line for the new cluster\nCluster - 'a'\n",
    "nccl": "# mine\nNCCL_DEBUG=INFO\n",
    "ucx": "UCX_TLS=all\n",
    "plan": '{"kind": "clustergen plan"}\n',
    "slurm": "ClusterName=a\n",
    "lock": '{"format": 1}\n',
    "text": "hello\n",
}


CASES: dict[str, Callable[[], Outputs]] = {
    **{f"variations of {name}": partial(of_manifest, name) for name in MANIFESTS},
    "variations of slurm files": of_slurm_files,
    "variations of facts": of_facts,
    "labs": of_labs,
    "differences": of_differences,
    "sessions": of_sessions,
}
