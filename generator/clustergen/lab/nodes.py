"""Containers as nodes: each with its own name, address, systemd, ssh host key and device files."""

from __future__ import annotations

import ipaddress
import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from clustergen.cluster.host import HostsFile
from clustergen.cluster.model import Cluster, NodeType
from clustergen.diagnostics import ClustergenError
from clustergen.lab import mig, substitutions
from clustergen.lab.confine import boot, confined
from clustergen.lab.engine import Engine
from clustergen.lab.file_systems import shared_directories
from clustergen.lab.scale import Document
from clustergen.lab.subnet import gateway
from clustergen.lab.work import Work
from clustergen.records import record

LABEL = "clustergen.lab"
_SUBNET = "clustergen.subnet"
_SHARED = "/var/lib/clustergen-lab"  # of a node: the directories in place of file systems, as in adapt.sh
_ANEW = "run clustergen lab down {0}, then clustergen lab up"
_FILES = Path(__file__).parent / "files"
_NAMESPACE_IDS = "namespace_ids.py"
_AT_ONCE = 4
_WATCHERS = 7  # inotify instances of a node when all its services run


@record
class Node:
    """One container. `directories`: (file system, mount point) of the shared ones in it. `users`: who may log in, with
    their numbers. `names`: lines of /etc/hosts, where the tree has no such file. `gpus`: device files /dev/nvidia*.
    """

    host: str
    address: str
    image: str
    type: NodeType
    directories: tuple[tuple[str, str], ...]
    users: Mapping[str, int]
    names: str
    gpus: int


def container(work: Work, host: str) -> str:
    return f"{work.name}-{host}"


def network(work: Work) -> str:
    return f"clustergen-lab-{work.name}"


def nodes(work: Work, cluster: Cluster, images: Mapping[str, str], mounted: Sequence[str] = ()) -> Iterator[Node]:
    """The containers of a cluster. `mounted`: file systems that they mount, all others are shared directories."""
    users = work.user_numbers(substitutions.people(cluster))
    has_names = cluster.manages("host") and cluster.of(HostsFile).is_rendered
    names = "" if has_names else "\n".join(f"{address} {host}" for host, address in cluster.address.items())
    directories, devices = shared_directories(cluster, mounted), substitutions.device_files(cluster)
    for group in filter(lambda group: group.addresses, cluster.groups):
        image = images.get(group.type.os.id, "")
        for host, address in zip(group.hosts, group.addresses, strict=True):
            places = sorted(directories.get(host, ()), key=lambda pair: pair[1])  # what is mounted in others is last
            yield Node(
                host=host,
                address=address,
                image=image,
                type=group.type,
                directories=tuple(places),
                users=users,
                names=names,
                gpus=devices.get(host, 0),
            )


def _subnet(cluster: Cluster) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    return ipaddress.ip_network(str(cluster.networks.management.cidr))


def require_free_network(cluster: Cluster) -> None:
    """Raises ClustergenError where this machine uses the manifest's management subnet already."""
    subnet = _subnet(cluster)
    for other in _routes():
        if other.version == subnet.version and other.overlaps(subnet):
            raise ClustergenError(
                f"the management network {subnet} is in use on this machine ({other})",
                "run clustergen lab up --subnet 10.99.0.0/24 to use another network",
            )


def make_network(engine: Engine, work: Work, cluster: Cluster, document: Document) -> None:
    """A bridge with the manifest's management subnet."""
    bridge = gateway(document, {address for group in cluster.groups for address in group.addresses})
    labels = ("--label", f"{LABEL}={work.name}", "--label", f"{_SUBNET}={_subnet(cluster)}")
    engine.run("network", "create", "--subnet", str(_subnet(cluster)), "--gateway", bridge, *labels, network(work))


def require_same_network(engine: Engine, work: Work, cluster: Cluster) -> None:
    """Raises ClustergenError where the manifest's management subnet has changed since the lab's network was made."""
    words = ("network", "inspect", "--format", f'{{{{index .Labels "{_SUBNET}"}}}}', network(work))
    made = engine.run(*words, check=False).stdout.strip()
    if "/" in made and made != str(_subnet(cluster)):
        message = f"lab {work.name} has the management network {made}, the manifest {_subnet(cluster)}"
        raise ClustergenError(message, _ANEW.format(work.name))


def _routes() -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    done = subprocess.run(["ip", "-j", "route"], capture_output=True, text=True, timeout=10, check=False)
    routes = []
    for route in json.loads(done.stdout or "[]"):
        if route.get("dst", "default") != "default":
            routes.append(ipaddress.ip_network(route["dst"], strict=False))
    return routes


def _room(count: int) -> None:
    """Every systemd watches files, and Linux lets a user have so many watchers (128 as a rule) on all of the machine;
    a container that gets none ends without a word. Raises ClustergenError where they would not do for so many nodes.
    """
    import ctypes
    import os

    libc = ctypes.CDLL(None)
    needed = count * _WATCHERS
    got: list[int] = []
    while len(got) < needed and (made := libc.inotify_init1(0)) >= 0:
        got.append(made)
    for made in got:
        os.close(made)
    if len(got) < needed:
        raise ClustergenError(
            f"{count} more nodes require about {needed} inotify instances; this machine has {len(got)} left",
            "run sysctl fs.inotify.max_user_instances=1024 as root, or start fewer nodes with --scale 1",
        )


def start(
    engine: Engine,
    work: Work,
    nodes: Sequence[Node],
    view: Path | None,
    report: Callable[[str], None],
    devices: Sequence[str] = (),
) -> None:
    """Starts the containers, some at a time, and prepares each; `report` hears of every node that is ready.
    `devices`: of this machine, for all nodes.
    """
    _room(len(nodes))
    _forget(work, {node.address for node in nodes})
    key = work.key.with_suffix(".pub").read_text(encoding="utf-8").strip()
    hosts = dict(_recorded(work))

    def one(node: Node) -> None:
        _run(engine, work, node, view, devices)
        hosts[node.address] = _prepare(engine, work, node, key)
        report(node.host)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        started = [pool.submit(one, node) for node in nodes]
        try:
            for done in started:
                done.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    lines = [f"{address} {key}\n" for address, key in sorted(hosts.items())]
    work.known_hosts.write_text("".join(lines), encoding="utf-8")


def wake(engine: Engine, stopped: Sequence[Mapping[str, str]], report: Callable[[str], None]) -> None:
    """Starts nodes again that were stopped, as they were."""
    _room(len(stopped))
    ready = "until systemctl --quiet is-active ssh.service sshd.service; do sleep 0.1; done"
    for row in stopped:
        engine.run("unpause" if row["state"] == "paused" else "start", row["name"])
        engine.run("exec", row["name"], "sh", "-c", f"timeout 60 sh -c '{ready}'", timeout=70)
        report(row["node"])


def halt(engine: Engine, work: Work) -> int:
    """Stops the running nodes of a lab, as a machine that is switched off; how many there were."""
    names = [row["name"] for row in running(engine, work) if row["state"] == "running"]
    if names:
        engine.run("stop", "--time", "10", *names, timeout=60 + 15 * len(names))
    return len(names)


def prepared(work: Work) -> set[str]:
    """Addresses of the nodes that came up."""
    return {address for address, _ in _recorded(work)}


def _recorded(work: Work) -> Iterator[tuple[str, str]]:
    if work.known_hosts.exists():
        for line in work.known_hosts.read_text(encoding="utf-8").splitlines():
            address, _, key = line.partition(" ")
            yield address, key


def _forget(work: Work, addresses: set[str]) -> None:
    lines = [f"{address} {key}\n" for address, key in _recorded(work) if address not in addresses]
    work.known_hosts.write_text("".join(lines), encoding="utf-8")


def _run(engine: Engine, work: Work, node: Node, view: Path | None, devices: Sequence[str]) -> None:
    arguments = [
        "run", "--detach", "--name", container(work, node.host), "--hostname", node.host,
        "--label", f"{LABEL}={work.name}", "--label", f"clustergen.node={node.host}",
        "--network", network(work), "--ip", node.address,
    ]  # fmt: skip
    if engine.sets_mac:
        arguments += ["--mac-address", _mac(node.address)]
    arguments += [*confined(engine), *(f"--device={device}" for device in devices)]
    work.make_shared(name for name, _ in node.directories)
    arguments += ["--volume", f"{work.shared}:{_SHARED}"]
    arguments += ["--volume", f"{_FILES / _NAMESPACE_IDS}:/usr/local/lib/clustergen-lab/{_NAMESPACE_IDS}:ro"]
    if view:
        arguments += ["--volume", f"{view}:/usr/local/lib/cgroup2-view.so:ro"]
    if node.gpus:
        arguments += ["--volume", f"{_FILES / 'nvidia-smi'}:/usr/bin/nvidia-smi:ro"]
    first, *words = boot(engine)
    engine.run(*arguments, "--entrypoint", first, node.image, *words)  # an image of the user's may have another


def _mac(address: str) -> str:
    """A hardware address that goes with the address: the others still know it when a node is made anew."""
    last = ipaddress.ip_address(address).packed[-4:]
    return ":".join(f"{byte:02x}" for byte in b"\x02\x42" + last)


def _prepare(engine: Engine, work: Work, node: Node, key: str) -> str:
    """Makes a new container a node; its ssh host key."""
    name = container(work, node.host)
    script = f"{_script('adapt.sh')}\n{_script('prepare.sh')}".encode()
    settings = _environment({**_answers(node), "KEY": key, "UNMOUNT": "yes"})
    done = engine.run("exec", "-i", *settings, name, "sh", "-s", stdin=script, check=False)
    keys = [line for line in done.stdout.splitlines() if line.startswith("ssh-")]
    if done.returncode or not keys:
        alive = any(row["name"] == name and row["state"] == "running" for row in running(engine, work))
        logs = engine.run("logs", "--tail", "1", name, check=False)
        output = (done.stderr if alive else logs.stdout + logs.stderr or "its first process ended").strip()
        raise ClustergenError(
            f"{node.host} did not come up: {output.splitlines()[-1] if output else done.returncode}",
            f"use an image with systemd, an ssh server and Python: {node.image}",
        )
    return " ".join(keys[-1].split()[:2])


def adapt(
    engine: Engine, work: Work, nodes: Sequence[Node], report: Callable[[str], None], *, unmount: bool = False
) -> list[Node]:
    """Gives running nodes the shared directories, users and GPUs of the manifest, and reports each change; the nodes
    that have directories of an earlier manifest mounted, which only `unmount` takes from them.

    Raises ClustergenError where a node cannot have them because it was made without.
    """

    def one(node: Node) -> tuple[Node, list[str]]:
        work.make_shared(name for name, _ in node.directories)
        settings = _environment({**_answers(node), "UNMOUNT": "yes" if unmount else ""})
        words = ("exec", "-i", *settings, container(work, node.host), "sh", "-s")
        done = engine.run(*words, stdin=_script("adapt.sh").encode(), check=False)
        if done.returncode:
            reason = (done.stderr.strip() or str(done.returncode)).splitlines()[-1]
            raise ClustergenError(f"{node.host} cannot follow the manifest: {reason}", _ANEW.format(work.name))
        return node, done.stdout.splitlines()

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = list(pool.map(one, nodes))
    for node, lines in answers:
        if changes := [line for line in lines if not line.startswith("stale ")]:
            report(f"{node.host}: {', '.join(changes)}")
    return [node for node, lines in answers if any(line.startswith("stale ") for line in lines)]


def _script(name: str) -> str:
    return (_FILES / name).read_text(encoding="utf-8")


def _environment(answers: Mapping[str, str]) -> list[str]:
    return [word for name, value in answers.items() for word in ("--env", f"{name}={value}")]


def _answers(node: Node) -> dict[str, str]:
    """The variables of adapt.sh."""
    gpus = node.type.gpus
    return {
        "MOUNTS": "\n".join(f"{name} {mount}" for name, mount in node.directories),
        "NAMES": node.names,
        "USERS": " ".join(f"{name}:{number}" for name, number in node.users.items()),
        "GPUS": str(node.gpus),
        "GPU_MODEL": gpus.model.nvml_name if gpus else "GPU" if node.gpus else "",
        "NVLINKS": " ".join(map(str, gpus.wired_links)) if gpus else "",
        "MIG": " ".join(f"{part.gpu}:{part.profile}:{part.minors[0]}" for part in mig.instances(gpus)),
    }


def running(engine: Engine, work: Work | None = None) -> list[dict[str, str]]:
    """The containers of one lab, or of all: [{"name", "lab", "node", "state"}]."""
    match = f"label={LABEL}={work.name}" if work else f"label={LABEL}"
    label = "index .Labels" if engine.name == "podman" else ".Label"
    form = f'{{{{.Names}}}}\t{{{{{label} "{LABEL}"}}}}\t{{{{{label} "clustergen.node"}}}}\t{{{{.State}}}}'
    done = engine.run("ps", "--all", "--filter", match, "--format", form)
    rows = [line.split("\t") for line in done.stdout.splitlines() if line.strip()]
    containers = [dict(zip(("name", "lab", "node", "state"), row, strict=True)) for row in rows]
    # podman of some releases has the sentence of .Status here: "Up 3 minutes ago", "Exited (130) 4 seconds ago".
    states = {"up": "running"}
    first = [(row["state"].lower().split() or [""])[0] for row in containers]
    return [{**row, "state": states.get(state, state)} for row, state in zip(containers, first, strict=True)]


def remove(engine: Engine, work: Work) -> int:
    """Removes the containers and the network of a lab, and nothing else; how many containers there were."""
    names = [row["name"] for row in running(engine, work)]
    discard(engine, names)
    ours = engine.run("network", "ls", "--filter", f"label={LABEL}={work.name}", "--format", "{{.Name}}").stdout.split()
    for name in ours:
        engine.run("network", "rm", name, check=False)
    return len(names)


def discard(engine: Engine, names: Sequence[str]) -> None:
    if names:
        at_once = ("--time", "0") if engine.name == "podman" else ()  # docker's --force never waits
        engine.run("rm", "--force", *at_once, "--volumes", *names, timeout=120)
