"""Node types: one for all NodeName lines of the same hardware, by systems and GPUs of the catalogue where they fit."""

from __future__ import annotations

import re
from typing import Any

from clustergen.adopt.draft import Draft, Origin, Value
from clustergen.adopt.hardware import Gpus, gpus_of, system_of
from clustergen.adopt.settings import option_value
from clustergen.catalogue import hardware as parts
from clustergen.diagnostics import ManifestPath
from clustergen.plan.values import gres_of

_CPU = {"cores_per_socket": "CoresPerSocket", "threads_per_core": "ThreadsPerCore"}
_MOST_THREADS, _MOST = 8, 4096


class Types:
    """The node types of the draft, by what their lines say."""

    def __init__(self, draft: Draft, *, numa_as_socket: bool) -> None:
        self._draft = draft
        self._numa_as_socket = numa_as_socket
        self._types: dict[tuple[tuple[str, str], ...], str] = {}
        self._names: set[str] = {"service"}
        self._sizes: set[tuple[str, int]] = set()

    def named(self, host: str, found: dict[str, str], origins: list[Origin]) -> str:
        """The node type of a line: its name. `found`: the keys of its hardware, as the catalogue writes them."""
        key = tuple(sorted((name, text.lower()) for name, text in found.items()))
        if key not in self._types:
            self._types[key] = self._describe(host, found, origins)
        return self._types[key]

    def _describe(self, host: str, found: dict[str, str], origins: list[Origin]) -> str:
        """A new node type: what is known of its hardware, and the rest as it is."""
        left = dict(found)
        number = {key: _number(left.get(key)) for key in ("CPUs", "Boards", "Sockets", "SocketsPerBoard", "RealMemory")}
        cores, threads = (_number(left.get(_CPU[name])) or 1 for name in _CPU)
        boards = number["Boards"] or 1
        sockets = number["Sockets"] or (number["SocketsPerBoard"] or 0) * boards
        sockets = sockets or max(1, (number["CPUs"] or 1) // (cores * threads))
        memory = number["RealMemory"] or 1
        gres = left.get("Gres", "")
        counts = gres_of(gres)
        gpus = gpus_of(counts)
        whole = system_of(host, sockets, cores, threads, memory, gpus, self._numa_as_socket)
        name = self._name(host, gpus.written if gpus else "", memory)
        here = ("node_types", name)
        # Slurm resets a number of CPUs that is none of these.
        if number["CPUs"] == sockets * cores * threads or (number["CPUs"] == sockets and cores == threads == 1):
            left.pop("CPUs", None)
        if boards == 1:
            for word in ("Boards", "Sockets", "SocketsPerBoard"):
                left.pop(word, None)
        if sockets > _MOST:
            left["Sockets"] = str(sockets)
        if whole is not None:
            words = f"Recognised by its processors, GPUs and memory: {whole.name}."
            self._put((*here, "system"), whole.id, origins, comments=[words])
            if whole.cpu.numa_per_socket > 1:
                self._put((*here, "numa_as_socket"), self._numa_as_socket, origins)
        unsaid = [] if number["RealMemory"] else ["slurm.conf does not say: to Slurm it is 1 MiB."]
        self._put((*here, "real_memory"), memory, origins, comments=unsaid, needed=True)
        if number["RealMemory"]:
            left.pop("RealMemory")
        for field_name, value in (("sockets", sockets), ("cores_per_socket", cores), ("threads_per_core", threads)):
            most = _MOST_THREADS if field_name == "threads_per_core" else _MOST
            if whole is None:
                self._put((*here, "cpu", field_name), min(value, most), origins, needed=True)
            if value <= most and _number(left.get(_CPU.get(field_name, ""), "")) is not None:
                left.pop(_CPU[field_name])
        for key, field_name, most, unit in (
            ("CoreSpecCount", "cores", 512, ""),
            ("MemSpecLimit", "memory", 1 << 40, "MiB"),
        ):
            reserved = _number(left.get(key))
            if reserved is not None and 0 < reserved <= most:
                hatch = [((*here, "slurm_options", key), reserved)]
                written: Value = f"{reserved}{unit}" if unit else reserved
                self._put((*here, "reserved", field_name), written, origins, hatch=hatch)
                left.pop(key)
        if gpus is not None and (whole is not None or gpus.model is not None):
            self._draft.gpu_types.add(name)
            fits = len(counts) == 1 and "(" not in gres and "no_consume" not in gres.lower() and gpus.count <= 64
            raw: list[tuple[ManifestPath, Value]] = [((*here, "slurm_options", "Gres"), gres)] if fits else []
            if whole is None:
                self._gpus(name, gpus, origins, raw)
            elif gpus.written:
                self._put((*here, "gpus", "gres_type"), gpus.written, origins, hatch=raw)
            if fits and gpus.written:
                left.pop("Gres", None)
        for key, text in left.items():
            if text:
                self._put((*here, "slurm_options", key), option_value(text), origins)
        return name

    def _put(self, path: ManifestPath, value: Value, origins: list[Origin], **more: Any) -> None:
        """A value of a node type; what the file says of the line belongs to the nodes."""
        self._draft.set(path, value, origins, claim=False, **more)

    def _gpus(self, name: str, gpus: Gpus, origins: list[Origin], hatch: list[tuple[ManifestPath, Value]]) -> None:
        assert gpus.model is not None
        here = ("node_types", name, "gpus")
        said = []
        if not gpus.certain:
            family = ", ".join(other.id for other in parts.gpus().values() if other.gres_type == gpus.written)
            said.append(f"CHECK: several GPUs are called {gpus.written} ({family}).")
            words = f"node type {name}: {gpus.written} is taken for {gpus.model.id}; it may be any of {family}"
            self._draft.note("choice", words)
        self._put((*here, "model"), gpus.model.id, origins, comments=said)
        self._put((*here, "count"), min(gpus.count, 64), origins, hatch=hatch)
        self._put((*here, "gres_type"), gpus.written, origins)

    def _name(self, host: str, gpu: str, memory: int) -> str:
        """By what the site calls such nodes; where that is taken, by what tells them apart."""
        stem = re.sub(r"[^a-z0-9_-]", "-", re.sub(r"[0-9]+.*$", "", host.lower().partition(".")[0])).strip("-_")
        stem = stem if re.match(r"[a-z]", stem) else "node"
        short = re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")
        size = max(1, round(memory / 1024))
        told = (stem, size) not in self._sizes
        self._sizes.add((stem, size))
        tries = [stem, *([f"{stem}-{short}"] if short else []), *([f"{stem}-{size}g"] if told else [])]
        tries += [f"{stem}-{number}" for number in range(2, 10_000)]
        name = next(text[:60] for text in tries if text[:60] not in self._names)
        self._names.add(name)
        return name


def _number(text: str | None) -> int | None:
    good = text is not None and text.isascii() and text.isdigit() and len(text) < 16
    return int(text) if good and text else None
