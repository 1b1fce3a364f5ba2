"""Contributions of software for users to files of others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from clustergen.cluster.contributions import Group, GuidePart, JobImage, Package, PythonOf, Requisite, Substitution
from clustergen.cluster.model import Cluster
from clustergen.features.environment.resolved import Environment, ImagesOfRecord

GROUP = "software_node"
_ROLES = ("login", "slurm-compute")
PROGRAM = "/usr/local/sbin/clustergen-environments"


def groups(cluster: Cluster, _: Environment) -> Iterator[Group]:
    yield Group(GROUP, tuple(group for group in cluster.groups if any(map(group.has, _ROLES))))


def major(release: str) -> str:
    return release.partition(".")[0]


def packages(environment: Environment) -> Iterator[Package]:
    yield Package(GROUP, "lmod")
    for release in environment.cuda:
        yield Package(GROUP, f"cuda_toolkit_{release.replace('.', '-')}")
    for release in environment.cuda[:1]:
        if environment.cudnn:
            yield Package(GROUP, f"cudnn_{major(environment.cudnn)}-cuda-{major(release)}")
        if environment.nccl:
            yield Package(GROUP, "nccl")
    if environment.python:
        yield Package(GROUP, "virtual_environments")


def requisites(environment: Environment) -> Iterator[Requisite]:
    if environment.python:
        directory = environment.directory
        yield Requisite(
            "Python environments", (GROUP,), f"run {PROGRAM} on one node, as the account that can write to {directory}"
        )


def images(images: ImagesOfRecord) -> Iterator[JobImage]:
    for purpose, address in images.images.items():
        yield JobImage(purpose, address)


def guide(environment: Environment) -> Iterator[GuidePart]:
    names = [f"cuda/{release}" for release in environment.cuda] + list(environment.python)
    if not names:
        return
    example = next(iter(environment.python), "")
    yield GuidePart(
        "Software",
        (
            f"Modules set the paths of installed software: {', '.join(f'`{name}`' for name in names)}. A name without "
            "a release is the default one, and another release of the same software takes its place.",
        ),
        (
            "module avail",
            f"module load {names[0]}",
            *((f"module load {example}", 'python -c "import sys; print(sys.prefix)"') if example else ()),
            "module list",
        ),
        ("Load modules in the job script as well, after `#!/bin/bash -l`, and the job does not depend on your shell.",),
    )


def pythons(environment: Environment) -> Iterator[PythonOf]:
    for name, one in environment.python.items():
        for requirement in one.packages:
            package = re.split("[=[]", requirement)[0].lower()
            yield PythonOf(package, f"{environment.directory}/{name}/bin/python3")


def substitutions(environment: Environment) -> Iterator[Substitution]:
    if environment.cuda:
        yield Substitution(
            "no CUDA toolkits", "they come from NVIDIA's repository; Lmod and other modules are real", _without_cuda
        )


def _without_cuda(document: dict[str, Any]) -> None:
    environment = document["environment"]
    for name in ("cuda", "cudnn", "nccl"):
        environment.pop(name, None)
    for one in environment.get("python", {}).values():
        one.pop("cuda", None)
