"""The lines of gres.conf, with keys as the catalogue writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from clustergen.catalogue.slurm_meanings import spelled
from clustergen.hostlist import names_of
from clustergen.importer.originals import Originals
from clustergen.slurmconf.scalars import files_of

DEVICE = re.compile(r"/dev/nvidia([0-9]{1,3})")
_NVIDIAS = ("nvml", "nvidia")


def device_lines(originals: Originals) -> list[dict[str, str]]:
    conf = originals.configs.get("gres.conf")
    return [
        {key: pair.value for pair in line.pairs for key in spelled("gres.conf", "NodeName", pair.key)}
        for line in (conf.lines if conf else ())
        if line.pairs
    ]


class Devices:
    """The lines of gres.conf by the nodes of slurm.conf that read them."""

    def __init__(self, originals: Originals) -> None:
        nodes = {host for entry in originals.conf.entries("NodeName") for host in names_of(entry.names)}
        self.lines = device_lines(originals)
        self._everywhere = [index for index, line in enumerate(self.lines) if "NodeName" not in line]
        self._of: dict[str, list[int]] = {}
        for index, line in enumerate(self.lines):
            for host in names_of(line.get("NodeName", "")):
                if host in nodes:
                    self._of.setdefault(host, []).append(index)

    def of(self, hosts: Iterable[str]) -> list[dict[str, str]]:
        """The lines that one of the hosts reads, in order."""
        indexes = {index for host in hosts for index in self._of.get(host, ())}
        return [self.lines[index] for index in sorted((*self._everywhere, *indexes))]

    def are_nvidias(self, host: str) -> bool:
        """True if a host's GPUs are said to be NVIDIA's: by their device files, or by how they are found."""
        lines = self.of([host])
        gpus = (line for line in lines if line.get("Name", "").lower() == "gpu")
        files = [file for line in gpus for file in files_of(line.get("File", ""))]
        detected = any(line.get("AutoDetect", "").lower() in _NVIDIAS for line in lines)
        return all(map(DEVICE.fullmatch, files)) and bool(files or detected)
