"""Renders small manifests, lays files out as on a node, runs scripts with stand-ins for programs that need hardware."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

from clustergen import compile as compiler
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Diagnostic
from clustergen.render.tree import RenderedFile, Tree
from strategies.findings import words
from strategies.reviewed import same_words

HEAD = {"name": "head", "type": "service", "address": "10.0.0.1", "roles": ["slurm-controller", "slurm-accounting"]}
COMPUTE = {"name": "c[1-4]", "type": "gpu", "address": "10.0.0.[11-14]"}
GPU = {
    "cpu": {"sockets": 2, "cores_per_socket": 32, "threads_per_core": 2},
    "memory": "1TiB",
    "gpus": {"model": "h100-sxm", "count": 8, "numa": [0, 0, 0, 0, 1, 1, 1, 1]},
    "nics": [
        {"device": "mlx5_0", "interface": "ibp24s0", "model": "cx7", "numa": 0},
        {"device": "mlx5_1", "interface": "ibp64s0", "model": "cx7", "numa": 1},
    ],
}
MANIFEST: dict[str, Any] = {
    "name": "small",
    "os": "debian-13",
    "networks": {
        "management": {"cidr": "10.0.0.0/24", "domain": "cluster.local", "ntp": ["ntp.example.org"]},
        "fabric": {"type": "infiniband", "rate": "NDR"},
    },
    "node_types": {"gpu": GPU},
    "nodes": [HEAD, COMPUTE],
    "slurm": {"version": "24.11", "accounts": {}},
}


def manifest(**changes: Any) -> dict[str, Any]:
    """The small manifest with other sections; a copy, which a test may change. Its accounts are sacctmgr's."""
    if isinstance(slurm := changes.get("slurm"), dict):
        changes["slurm"] = {"accounts": {}, **slurm}
    return {**deepcopy(MANIFEST), **changes}


def tree_of(data: Mapping[str, Any], directory: Path) -> Tree:
    """Its tree; AssertionError where it is not valid."""
    path, text = directory / "manifest.yaml", json.dumps(data)
    path.write_text(text, encoding="utf-8")
    is_alone = list(directory.iterdir()) == [path]  # there is no other file that the manifest could name
    return _tree_of_text(text) if is_alone else _tree(path)


@lru_cache(64)
def _tree_of_text(text: str) -> Tree:
    return _tree(Path("/nowhere/manifest.yaml"), text.encode())


def _tree(path: Path, text: bytes | None = None) -> Tree:
    compiled = compiler.validate(path, raw=text)
    assert compiled.ok, compiled.diagnostics
    tree, result = compiler.render(compiled, path)
    assert tree is not None, result
    return tree


def cluster_of(data: Mapping[str, Any], directory: Path) -> Cluster:
    """The cluster of a manifest, even if it is not valid."""
    path = directory / "manifest.yaml"
    path.write_text(json.dumps(data), encoding="utf-8")
    compiled = compiler.validate(path)
    assert compiled.cluster is not None, compiled.diagnostics
    return compiled.cluster


def diagnostics_of(data: Mapping[str, Any], directory: Path) -> Sequence[Diagnostic]:
    """All that is wrong with a manifest, in reviewed words."""
    path = directory / "manifest.yaml"
    path.write_text(json.dumps(data), encoding="utf-8")
    diagnostics = compiler.validate(path).diagnostics
    same_words(words(diagnostics).replace(str(directory), ""))
    return diagnostics


def codes_of(data: Mapping[str, Any], directory: Path) -> list[str]:
    """The codes of what is wrong with a manifest."""
    return [diagnostic.code for diagnostic in diagnostics_of(data, directory)]


def node_files(tree: Tree, host: str) -> dict[str, RenderedFile]:
    """Path on the node → file, of one host."""
    groups = {name for name, hosts in tree.groups.items() if host in hosts}
    return {file.target: file for file in tree if file.group in groups and file.target is not None}


def text_of(tree: Tree, host: str, target: str) -> str:
    return node_files(tree, host)[target].content.decode()


def lay_out(tree: Tree, host: str, directory: Path) -> Path:
    """The files of a host below a directory, with their modes."""
    for target, file in node_files(tree, host).items():
        place = directory / target.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.content)
        place.chmod(file.mode)
    return directory


_OF_CLUSTERGEN = re.compile(r"/(usr/local/s?bin/clustergen-|usr/local/lib/clustergen/|etc/clustergen/)")


def runnable(
    tree: Tree, host: str, target: str, directory: Path, changes: Mapping[str, str | Path] | None = None
) -> Path:
    """A program of a node, to be run outside of one: it, its values and what else of clustergen a node has are below a
    directory, and the paths in their texts lead there. `changes` are replaced in all of these.
    """
    for place, file in node_files(tree, host).items():
        if place == target or _OF_CLUSTERGEN.match(place):
            copy = directory / place.lstrip("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = file.content.decode()
            for old, new in (changes or {}).items():
                text = text.replace(old, str(new))
            copy.write_text(_OF_CLUSTERGEN.sub(rf"{directory}/\1", text), encoding="utf-8")
            copy.chmod(file.mode)
    return directory / target.lstrip("/")


def run_script(
    text: str, programs: Mapping[str, str], directory: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Runs a rendered script, with shell texts in place of programs; what it calls of them is in `calls`."""
    place = directory / "bin"
    place.mkdir(exist_ok=True)
    for name, body in programs.items():
        (place / name).write_text(f'#!/bin/bash\necho "{name} $*" >>"{directory}/calls"\n{body}\n', encoding="utf-8")
        (place / name).chmod(0o755)
    script = directory / "script"
    text, count = re.subn(r"^((?:export )?PATH=)", rf"\g<1>{place}:", text, count=1, flags=re.MULTILINE)
    assert count, "the script sets no PATH"
    script.write_text(text, encoding="utf-8")
    return subprocess.run(
        ["bash", str(script), *arguments], capture_output=True, text=True, timeout=120, check=False, cwd=directory
    )


def calls(directory: Path) -> list[str]:
    """Stand-ins that the script ran, in order."""
    log = directory / "calls"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []
