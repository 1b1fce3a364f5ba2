"""gres.conf by node type, where its lines say no more than which device is which GPU and where it hangs."""

from __future__ import annotations

import re

from clustergen.catalogue.systems import system
from clustergen.importer.devices import DEVICE
from clustergen.importer.draft import Draft
from clustergen.importer.machines import Machines
from clustergen.slurmconf.scalars import files_of
from clustergen.units.digits import whole

_RANGE = re.compile(r"([0-9]+)-([0-9]+)")
_DETECT = ("nvml", "nvidia", "off")


class _Devices:
    """The devices of each GPU in the lines of one node type, by the number of the device."""

    def __init__(self) -> None:
        self.cores: dict[int, str] = {}
        self.links: dict[int, str] = {}
        self.flags: set[str] = set()
        self.detect = ""


def import_gpus(draft: Draft, machines: Machines) -> None:
    """Places, links and detection of the GPUs to their node types. The comparison reports what does not fit, and the
    file then is taken line by line.
    """
    hosts: dict[str, list[str]] = {}
    for machine in machines.nodes:
        hosts.setdefault(machine.kind, []).extend(machine.hosts)
    flags: set[str] = set()
    for kind, members in hosts.items():
        if kind not in draft.gpu_types:
            continue
        devices = _of_lines(machines.devices.of(members))
        flags |= devices.flags
        if devices.detect == "nvml" and ("node_types", kind, "gpus", "mig") in draft.items:
            continue  # as MIG has it anyway
        if devices.detect in _DETECT:
            draft.set(("node_types", kind, "gpus", "autodetect"), devices.detect)
        elif numa := _numa(draft, kind, devices):
            draft.set(("node_types", kind, "gpus", "numa"), numa)
        links = tuple(_numbers(devices.links[index]) for index in sorted(devices.links))
        if links and all(links) and not devices.detect:
            draft.set(("node_types", kind, "gpus", "links"), links)
    if len(flags) == 1 and "" not in flags:
        draft.set(("slurm", "gres_options", "Flags"), flags.pop())


def _of_lines(lines: list[dict[str, str]]) -> _Devices:
    devices = _Devices()
    for line in lines:
        if "AutoDetect" in line:
            devices.detect = line["AutoDetect"].lower()
        for file in files_of(line.get("File", "")):
            if device := DEVICE.fullmatch(file):
                devices.cores[whole(device[1])] = line.get("Cores", "")
                if "Links" in line:
                    devices.links[whole(device[1])] = line["Links"]
        if "File" in line:
            devices.flags.add(line.get("Flags", ""))
    return devices


def _numa(draft: Draft, kind: str, devices: _Devices) -> tuple[int, ...]:
    """The NUMA node of each GPU, where its cores are those of one socket as Slurm sees it."""
    cores = draft.items.get(("node_types", kind, "cpu", "cores_per_socket"))
    width, factor = cores.value if cores is not None else None, 1
    stated = draft.items.get(("node_types", kind, "system"))
    if stated is not None and (model := system(str(stated.value))) is not None:
        width, factor = model.cpu.cores_per_socket, model.cpu.numa_per_socket
        as_socket = draft.items.get(("node_types", kind, "numa_as_socket"))
        if as_socket is not None and as_socket.value:
            width, factor = width // factor, 1
    if not isinstance(width, int) or not all(devices.cores.values()):
        return ()
    places = []
    for index in sorted(devices.cores):
        split = _RANGE.fullmatch(devices.cores[index])
        first, last = (whole(split[1]), whole(split[2])) if split else (-1, -1)
        if first % width or last != first + width - 1:
            return ()
        places.append(first // width * factor)
    return tuple(places)


def _numbers(text: str) -> tuple[int, ...]:
    words = text.split(",")
    return tuple(map(int, words)) if all(re.fullmatch(r"-?[0-9]{1,2}", word) for word in words) else ()
