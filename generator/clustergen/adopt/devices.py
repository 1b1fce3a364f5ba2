"""The lines of gres.conf, with keys as the catalogue writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clustergen.adopt.originals import Originals
from clustergen.catalogue.slurm_meanings import spelled
from clustergen.hostlist import HostlistError, expand
from clustergen.plan.values import files_of

DEVICE = re.compile(r"/dev/nvidia([0-9]{1,3})")
_NVIDIAS = ("nvml", "nvidia")


def device_lines(originals: Originals) -> list[dict[str, str]]:
    conf = originals.configs.get("gres.conf")
    return [
        {key: pair.value for pair in line.pairs for key in spelled("gres.conf", "NodeName", pair.key)}
        for line in (conf.lines if conf else ())
        if line.pairs
    ]


def is_of(line: Mapping[str, str], hosts: set[str]) -> bool:
    """Whether a line is read by one of the hosts."""
    try:
        return "NodeName" not in line or not hosts.isdisjoint(expand(line["NodeName"]))
    except HostlistError:
        return False


def of_nvidia(originals: Originals, host: str) -> bool:
    """Whether a host's GPUs are said to be NVIDIA's: by their device files, or by how they are found."""
    own = [line for line in device_lines(originals) if is_of(line, {host})]
    files = [file for line in own if line.get("Name", "").lower() == "gpu" for file in files_of(line.get("File", ""))]
    found = any(line.get("AutoDetect", "").lower() in _NVIDIAS for line in own)
    return all(map(DEVICE.fullmatch, files)) and bool(files or found)
