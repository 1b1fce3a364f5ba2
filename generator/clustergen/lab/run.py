"""up, apply, status, down."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from clustergen import compile as compiler
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.builds import from_distribution
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.compile import Compiled
from clustergen.diagnostics import ClustergenError
from clustergen.hostlist import compress
from clustergen.lab import engine as engines
from clustergen.lab import images, namespace, substitutions
from clustergen.lab import nodes as containers
from clustergen.lab.engine import Engine
from clustergen.lab.scale import Document, parse, scaled
from clustergen.lab.subnet import moved, network
from clustergen.lab.substitutions import Substitution
from clustergen.lab.work import Work, home
from clustergen.records import fields, record
from clustergen.render import write
from clustergen.render.views.inventory import os_group
from clustergen.rules.slurm_daemons import OLDEST

Report = Callable[[str], None]


@record
class Wish:
    """What a lab is to be like. `images`: operating system or "" → an image of the user's. `variables`: for Ansible."""

    scale: Sequence[str] = ()
    subnet: str | None = None
    os: str | None = None
    images: Mapping[str, str] = {}
    engine: str | None = None
    slurm: str | None = None
    variables: Mapping[str, str] = {}

    def write(self, place: Path) -> None:
        place.write_text(json.dumps({name: getattr(self, name) for name in fields(type(self))}), encoding="utf-8")

    def over(self, earlier: Wish) -> Wish:
        """This wish, with the earlier one where it says nothing. Raises ClustergenError with exit code 2 where the lab
        is up with something else that cannot be changed."""
        for name, option in (
            ("subnet", "subnet"),
            ("os", "os"),
            ("images", "image"),
            ("engine", "engine"),
            ("slurm", "slurm"),
        ):
            asked, has = getattr(self, name), getattr(earlier, name)
            if asked and asked != has and earlier.engine:
                advice = f"with --{option} {has}" if has and name != "images" else f"without that --{option}"
                raise ClustergenError(f"the lab is already up {advice}", "clustergen lab down first", 2)
        return Wish(**{name: getattr(self, name) or getattr(earlier, name) for name in fields(Wish)})

    @classmethod
    def read(cls, place: Path) -> Wish:
        """What an earlier `up` was asked for; nothing where there was none."""
        return cls(**json.loads(place.read_text(encoding="utf-8"))) if place.exists() else cls()


@record
class Lab:
    """A lab on paper: its folder, its cluster, what is not real in it."""

    origin: Path  # the manifest that it is made from
    work: Work
    document: Document
    cluster: Cluster
    substitutions: tuple[Substitution, ...]


def store() -> Path:
    return home() / "store"


def engine_of(work: Work) -> Engine:
    """What the lab's nodes run with."""
    return engines.find(Wish.read(work.wish).engine, store())


def prepare(compiled: Compiled, manifest: Path, name: str | None, wish: Wish) -> Lab:
    """Writes the lab's manifest, its tree and its settings. Raises ClustergenError where that manifest has errors."""
    cluster = compiled.cluster
    assert cluster is not None
    work = Work(name or cluster.name)
    work.make()
    machine = substitutions.Machine(hybrid=namespace.hybrid())
    chosen = [*substitutions.asked(cluster, wish.os, wish.slurm), *substitutions.chosen(cluster, machine)]
    document = _document(compiled.source.data)
    if wish.scale:
        document = scaled(document, parse(wish.scale))
    if wish.subnet:
        document = moved(document, network(wish.subnet, f"--subnet {wish.subnet}"))
    for item in chosen:
        item.edit(document, cluster)
    work.write_manifest(document, manifest)
    made = compiler.validate(work.manifest)
    tree, diagnostics = compiler.render(made, work.manifest) if made.ok else (None, made.diagnostics)
    if tree is None or made.cluster is None:
        first = next((d for d in [*made.diagnostics, *diagnostics] if d.severity.name == "ERROR"), None)
        raise ClustergenError(f"{work.manifest}: {first.message if first else 'cannot be rendered'}", exit_code=2)
    write.write(tree, work.tree)
    lines = "".join(f"  {item.what}\n    ({item.why})\n" for item in chosen)
    work.substitutions.write_text(lines, encoding="utf-8")
    variables = substitutions.variables(made.cluster, chosen)
    variables["cluster_without_packages"] = _left_out(work, variables.get("cluster_without_packages"))
    work.write_settings({**variables, **wish.variables})
    return Lab(manifest, work, document, made.cluster, tuple(chosen))


def _purposes(work: Work) -> list[str]:
    """What the tree's nodes need packages for."""
    everything = yaml.safe_load((work.tree / "inventory/group_vars/all.yml").read_text(encoding="utf-8"))
    return sorted({purpose for listed in everything.get("cluster_packages", {}).values() for purpose in listed})


def _left_out(work: Work, patterns: Any) -> list[str]:
    return [purpose for purpose in _purposes(work) if any(fnmatchcase(purpose, glob) for glob in patterns or ())]


def _document(data: Any) -> Any:
    """A copy of a document that may be edited."""
    if isinstance(data, Mapping):
        return {str(key): _document(value) for key, value in data.items()}
    return [_document(value) for value in data] if isinstance(data, list | tuple) else data


def up(engine: Engine, lab: Lab, wish: Wish, report: Report) -> None:
    """Images, network, containers. What was made is removed again where it is interrupted or fails."""
    work = lab.work
    rows = containers.running(engine, work)
    prepared = containers.prepared(work)
    address_of = {host: address for group in lab.cluster.groups for host, address in addresses(group)}
    # What an earlier run left half made is made again; what was stopped since is started.
    half = [row for row in rows if address_of.get(row["node"]) not in {None, *prepared}]
    current = {row["node"]: row for row in rows if row not in half}
    strangers = sorted(set(current) - set(address_of))
    if strangers:
        raise ClustergenError(
            f"lab {work.name} runs with other nodes: {compress(strangers)}", "clustergen lab down first"
        )
    try:
        with namespace.in_use(engine.store):
            containers.discard(engine, [row["name"] for row in half])
            is_fresh = containers.network(work) not in engines.networks(engine)
            if is_fresh:  # before an image is built, which takes a minute
                containers.require_free_network(lab.cluster)
            chosen = _images(engine, lab, wish, report)
            if is_fresh:
                containers.make_network(engine, work, lab.cluster, lab.document)
            containers.wake(engine, [row for row in current.values() if row["state"] != "running"], report)
            view = namespace.cgroup_view(engine.store) if engine.hybrid else None
            nodes = containers.nodes(lab.cluster, chosen, substitutions.shared_folders(lab.cluster))
            containers.start(engine, work, [node for node in nodes if node.host not in current], view, report)
    except BaseException:
        if not current:
            report("cleaning up")
            discard(engine, work)
        raise


def discard(engine: Engine, work: Work) -> None:
    """Removes a lab that did not come up; another Ctrl-C has to wait."""
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _clean(engine, work)
        shutil.rmtree(work.folder, ignore_errors=True)
    finally:
        signal.signal(signal.SIGINT, heard)


def addresses(group: NodeGroup) -> Iterator[tuple[str, str]]:
    """Each host of a group with its address in the management network."""
    return zip(group.hosts, group.addresses, strict=True)


def _images(engine: Engine, lab: Lab, wish: Wish, report: Report) -> dict[str, str]:
    """The image of each operating system; those that have to be made are made side by side."""
    systems = {kind.os.id: kind.os for kind in lab.cluster.node_types}
    packages = _packages(lab)
    chosen = {name: wish.images.get(name, wish.images.get("", "")) for name in systems}
    missing = [name for name, image in chosen.items() if not image]
    for image in dict.fromkeys(filter(None, chosen.values())):
        if not images.exists(engine, image):
            report(f"fetching {image}")
            engine.run("pull", image, timeout=600)
    with ThreadPoolExecutor(2) as pool:
        made = pool.map(lambda name: (name, images.ensure(engine, systems[name], packages[name], report)), missing)
        try:
            return {**chosen, **dict(made)}
        except BaseException:
            images.abandon()
            raise


def possible(lab: Lab, wish: Wish) -> None:
    """Raises ClustergenError with exit code 2 where a node's system has no image, or no packages of Slurm's release."""
    cluster = lab.cluster
    systems = sorted({kind.os.id for kind in cluster.node_types})
    for name, image in wish.images.items():
        if not image or (name and name not in systems):
            raise ClustergenError(
                f"--image {name}={image}: not an image of {' or '.join(systems)}", "write [OS=]IMAGE", 2
            )
    for kind in cluster.node_types:
        system = kind.os
        if not (images.can_make(system) or wish.images.get(system.id) or wish.images.get("")):
            raise ClustergenError(
                f"the lab cannot build an image of {system.id}",
                f"pass --os debian-13 for all nodes, or --image {system.id}=REF, an image with systemd, ssh and Python",
                2,
            )
        minor = system.fact("slurm").rpartition(".")[0]
        if not from_distribution(cluster, system) and "repositories_slurm_url" not in wish.variables:
            built = ", built as SchedMD does" if cluster.manifest.slurm.build == "schedmd" else ""
            offer = f"pass --slurm {minor} to use those, or " if SlurmRelease(minor) >= OLDEST else ""
            raise ClustergenError(
                f"the manifest requires Slurm {cluster.release}{built}; {system.id} has packages of {minor}",
                f"{offer}pass --set repositories_slurm_url=URL, a repository with {cluster.release} for {system.id}",
                2,
            )


def _packages(lab: Lab) -> dict[str, list[str]]:
    """Operating system → packages of the distribution that an image for its nodes has downloaded."""
    folder = lab.work.tree / "inventory/group_vars"
    patterns = substitutions.variables(lab.cluster, list(lab.substitutions)).get("cluster_without_packages")
    left_out = _left_out(lab.work, patterns)
    purposes = {*images.COMMON, *_purposes(lab.work)} - set(left_out)
    packages = {}
    for kind in lab.cluster.node_types:
        place = folder / f"{os_group(kind.os)}.yml"
        names = yaml.safe_load(place.read_text(encoding="utf-8"))["os_packages"] if place.exists() else {}
        packages[kind.os.id] = sorted({package for purpose in purposes for package in names.get(purpose, ())})
    return packages


def apply(lab: Lab, arguments: Sequence[str]) -> int:
    """Runs the tree's playbook on the containers; its exit status. Raises ClustergenError where they are not up."""
    rows = containers.running(engine_of(lab.work), lab.work)
    states = {row["node"]: row["state"] for row in rows}
    hosts = [host for group in lab.cluster.groups for host in group.hosts]
    stopped = [host for host in hosts if states.get(host, "running") != "running"]
    absent = [host for host in hosts if host not in states]
    if stopped or absent:
        down = (("stopped", stopped), ("missing", absent))
        parts = [f"{state}: {compress(names)}" for state, names in down if names]
        raise ClustergenError(
            f"nodes of the lab {lab.work.name} are {'; '.join(parts)}",
            f"run clustergen lab up {lab.origin} to start them",
        )
    program = Path(sys.executable).with_name("ansible-playbook")
    command = [str(program) if program.exists() else "ansible-playbook", str(lab.work.tree / "site.yml"), *arguments]
    return subprocess.run(command, env=lab.work.environment(), cwd=lab.work.folder, check=False).returncode


def start(work: Work, report: Report) -> int:
    """Starts the containers that were stopped; how many."""
    engine = engine_of(work)
    with namespace.in_use(engine.store):
        stopped = [row for row in containers.running(engine, work) if row["state"] != "running"]
        containers.wake(engine, stopped, report)
    return len(stopped)


def down(work: Work) -> int:
    """Removes all that `up` made but images; how many containers there were."""
    engine = engine_of(work)
    count = _clean(engine, work)
    shutil.rmtree(work.folder, ignore_errors=True)
    return count


def _clean(engine: Engine, work: Work) -> int:
    count = containers.remove(engine, work)
    if engine.name == "podman" and engine.hybrid:
        namespace.release(engine.store, lambda: not containers.running(engine))
    return count
