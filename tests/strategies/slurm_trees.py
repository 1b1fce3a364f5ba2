"""Slurm's files of a rendered tree, read with the project's parser of Slurm's grammar."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clustergen.catalogue.slurm import files as known_files
from clustergen.catalogue.slurm import keys
from clustergen.render.tree import Tree
from clustergen.slurmconf import Line, parse
from strategies.trees import GPU as GPU_TYPE
from strategies.trees import HEAD, MANIFEST, text_of, tree_of

GPU: dict[str, Any] = GPU_TYPE
CPU: dict[str, Any] = {"cpu": {"sockets": 2, "cores_per_socket": 16, "threads_per_core": 2}, "memory": "256GiB"}


def tables(file: str) -> dict[str, list[str]]:
    """The keys of that file, of any release."""
    return {block: [key.key for key in keys(file, block)] for block in ("", *known_files()[file])}


def lines(tree: Tree, host: str, file: str = "slurm.conf") -> list[Line]:
    """The lines of a file in /etc/slurm; AssertionError where Slurm could not read one."""
    result = parse(text_of(tree, host, f"/etc/slurm/{file}"), file, key_tables=tables(file))
    assert not [problem for line in result for problem in line.problems]
    return [line for line in result if line.pairs]


def settings(tree: Tree, host: str = "head", file: str = "slurm.conf") -> dict[str, str]:
    """The keys with lines of their own; AssertionError where one is there twice, other than those that may be."""
    values: dict[str, str] = {}
    for line in lines(tree, host, file):
        if line.key in ("nodename", "partitionname", "nodeset", "switchname", "blockname", "slurmctldhost"):
            continue
        pair = line.pairs[0]
        assert pair.key not in values, f"{pair.key} is there twice"
        values[pair.key] = pair.value
    return values


def block(tree: Tree, opening: str, host: str = "head", file: str = "slurm.conf") -> dict[str, dict[str, str]]:
    """Lines that a key opens, by its value: `block(tree, "PartitionName")["gpu"]["MaxTime"]`."""
    return {result["value"]: result["pairs"] for result in _opened(tree, opening, host, file)}


def opened(tree: Tree, opening: str, host: str = "head", file: str = "slurm.conf") -> list[dict[str, str]]:
    """The same as a list, for files where a value comes several times."""
    return [result["pairs"] for result in _opened(tree, opening, host, file)]


def _opened(tree: Tree, opening: str, host: str, file: str) -> Iterator[dict[str, Any]]:
    for line in lines(tree, host, file):
        if line.key == opening.lower():
            yield {"value": line.pairs[0].value, "pairs": {pair.key: pair.value for pair in line.pairs}}


def words(value: str) -> dict[str, str]:
    """A list of words, with their values: `bf_window=1440,bf_continue`."""
    return dict(word.partition("=")[::2] for word in value.split(","))


def cluster(directory: Path, release: str = "24.11", /, **changes: Any) -> Tree:
    """The small manifest with that release; `slurm` is merged, other sections are replaced."""
    slurm = {"version": release, "build": "schedmd", **changes.pop("slurm", {})}
    return tree_of({**MANIFEST, "slurm": slurm, **changes}, directory)


def gpu_type(**gpus: Any) -> dict[str, Any]:
    """The small manifest's GPU type with other GPUs."""
    return {"gpu": {**GPU, "gpus": {**GPU["gpus"], **gpus}}}


def roles(*names: str, name: str = "head", address: str = "10.0.0.1") -> dict[str, Any]:
    return {**HEAD, "name": name, "address": address, "roles": list(names)}
