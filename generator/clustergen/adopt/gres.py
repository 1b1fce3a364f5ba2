"""gres.conf by node type, where its lines say no more than which device is which GPU and where it hangs."""

from __future__ import annotations

import re

from clustergen.adopt.devices import DEVICE, device_lines, is_of
from clustergen.adopt.draft import Draft
from clustergen.adopt.machines import Machines
from clustergen.adopt.originals import Originals
from clustergen.catalogue.systems import system
from clustergen.plan.values import files_of

_RANGE = re.compile(r"([0-9]+)-([0-9]+)")
_DETECT = ("nvml", "nvidia", "off")


class _Devices:
    """What the lines of one node type say of each GPU, by the number of its device."""

    def __init__(self) -> None:
        self.cores: dict[int, str] = {}
        self.links: dict[int, str] = {}
        self.flags: set[str] = set()
        self.detect = ""


def take_gpus(draft: Draft, originals: Originals, machines: Machines) -> None:
    """Places, links and detection of the GPUs to their node types. What does not fit is told by the comparison, and the
    file then is taken line by line.
    """
    lines = device_lines(originals)
    flags: set[str] = set()
    for kind in dict.fromkeys(machine.kind for machine in machines.nodes):
        if kind not in draft.gpu_types:
            continue
        hosts = {host for machine in machines.nodes if machine.kind == kind for host in machine.hosts}
        found = _of_nodes(lines, hosts)
        flags |= found.flags
        if found.detect == "nvml" and ("node_types", kind, "gpus", "mig") in draft.items:
            continue  # as MIG has it anyway
        if found.detect in _DETECT:
            draft.set(("node_types", kind, "gpus", "autodetect"), found.detect)
        elif numa := _numa(draft, kind, found):
            draft.set(("node_types", kind, "gpus", "numa"), numa)
        links = tuple(_numbers(found.links[index]) for index in sorted(found.links))
        if links and all(links) and not found.detect:
            draft.set(("node_types", kind, "gpus", "links"), links)
    if len(flags) == 1 and "" not in flags:
        draft.set(("slurm", "gres_options", "Flags"), flags.pop())


def _of_nodes(lines: list[dict[str, str]], hosts: set[str]) -> _Devices:
    found = _Devices()
    for line in lines:
        if not is_of(line, hosts):
            continue
        if "AutoDetect" in line:
            found.detect = line["AutoDetect"].lower()
        for file in files_of(line.get("File", "")):
            if device := DEVICE.fullmatch(file):
                found.cores[int(device[1])] = line.get("Cores", "")
                if "Links" in line:
                    found.links[int(device[1])] = line["Links"]
        if "File" in line:
            found.flags.add(line.get("Flags", ""))
    return found


def _numa(draft: Draft, kind: str, found: _Devices) -> tuple[int, ...]:
    """The NUMA node of each GPU, where its cores are those of one socket as Slurm sees it."""
    cpu = {item.path[-1]: item.value for item in draft.below(("node_types", kind, "cpu"))}
    width, factor = cpu.get("cores_per_socket"), 1
    whole = draft.items.get(("node_types", kind, "system"))
    if whole is not None and (known := system(str(whole.value))) is not None:
        width, factor = known.cpu.cores_per_socket, known.cpu.numa_per_socket
        as_socket = draft.items.get(("node_types", kind, "numa_as_socket"))
        if as_socket is not None and as_socket.value:
            width, factor = width // factor, 1
    if not isinstance(width, int) or not all(found.cores.values()):
        return ()
    places = []
    for index in sorted(found.cores):
        split = _RANGE.fullmatch(found.cores[index])
        first, last = (int(split[1]), int(split[2])) if split else (-1, -1)
        if first % width or last != first + width - 1:
            return ()
        places.append(first // width * factor)
    return tuple(places)


def _numbers(text: str) -> tuple[int, ...]:
    words = text.split(",")
    return tuple(map(int, words)) if all(re.fullmatch(r"-?[0-9]{1,2}", word) for word in words) else ()
