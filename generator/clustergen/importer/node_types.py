"""Node types: one for all NodeName lines of the same hardware, by systems and GPUs of the catalogue where they fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from clustergen.catalogue import hardware as parts
from clustergen.catalogue.systems import System
from clustergen.diagnostics import ManifestPath
from clustergen.importer.draft import Draft, Origin, Value
from clustergen.importer.forms import fits
from clustergen.importer.hardware import Gpus, gpus_of, system_of
from clustergen.importer.mig import Layout, plan_name
from clustergen.importer.naming import Kind, kind, names_of
from clustergen.importer.settings import option_value
from clustergen.manifest.base import SlurmName
from clustergen.slurmrules.values import mebibytes

_CPU = {"cores_per_socket": "CoresPerSocket", "threads_per_core": "ThreadsPerCore"}
_Key = tuple[tuple[str, str], ...]
_MOST_THREADS, _MOST, _MOST_GPUS = 8, 4096, 64


class Types:
    """The node types of the draft, by what their lines say."""

    def __init__(self, draft: Draft, *, numa_as_socket: bool, nvidia: Callable[[str], bool]) -> None:
        """`nvidia`: whether gres.conf says of a host that its GPUs are NVIDIA's."""
        self._draft = draft
        self._nvidia = nvidia
        self._numa_as_socket = numa_as_socket
        self._names: dict[_Key, str] = {}
        self._described: set[str] = set()

    def expect(self, lines: Iterable[tuple[list[str], dict[str, str]]]) -> None:
        """The hosts and the keys of the hardware of all lines: names are given when all are known."""
        kinds: dict[_Key, Kind] = {}
        for hosts, keys in lines:
            number, sockets, cores, threads = _counted(keys)
            one = kinds.setdefault(_key(keys), kind(keys, sockets * cores * threads, number["RealMemory"] or 1))
            one.hosts += hosts
        self._names = dict(zip(kinds, names_of(list(kinds.values())), strict=True))

    def named(self, host: str, keys: dict[str, str], origins: list[Origin]) -> str:
        """The node type of a line: its name. `keys`: the keys of its hardware, as the catalogue writes them."""
        name = self._names[_key(keys)]
        if name not in self._described:
            self._described.add(name)
            self._describe(name, host, keys, origins)
        return name

    def _describe(self, name: str, host: str, keys: dict[str, str], origins: list[Origin]) -> None:
        """A new node type: what is known of its hardware, and the rest as it is."""
        left = dict(keys)
        number, sockets, cores, threads = _counted(left)
        boards = number["Boards"] or 1
        stated = left.get("RealMemory", "")
        meant = None if number["RealMemory"] else mebibytes(stated)
        memory = number["RealMemory"] or meant or 1
        gres = left.get("Gres", "")
        gpus = gpus_of(gres)
        whole = system_of(host, sockets, cores, threads, memory, gpus, self._numa_as_socket)
        path = ("node_types", name)
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
            self._put((*path, "system"), whole.id, origins, comments=[words])
            if whole.cpu.numa_per_socket > 1:
                self._put((*path, "numa_as_socket"), self._numa_as_socket, origins)
        unsaid = [] if number["RealMemory"] else ["CHECK: slurm.conf has no RealMemory, so Slurm assumes 1 MiB."]
        if meant:
            words = f"slurm.conf has RealMemory={stated}, which Slurm cannot read: it requires MiB without a unit"
            unsaid = [f"CHECK: {words}."]
            line = next((one for one in origins if one.key.lower() == "realmemory"), origins[0])
            self._draft.note("meant", f"{words}; real_memory: {meant}", line.place, f"RealMemory {line.name}")
        self._put((*path, "real_memory"), memory, origins, comments=unsaid, needed=True)
        if number["RealMemory"] or meant:
            left.pop("RealMemory")
        for field_name, value in (("sockets", sockets), ("cores_per_socket", cores), ("threads_per_core", threads)):
            most = _MOST_THREADS if field_name == "threads_per_core" else _MOST
            if whole is None:
                self._put((*path, "cpu", field_name), min(value, most), origins, needed=True)
            if value <= most and _number(left.get(_CPU.get(field_name, ""), "")) is not None:
                left.pop(_CPU[field_name])
        self._reserve(name, left, origins)
        is_known = gpus is not None and (whole is not None or gpus.model is not None or self._unknown(host, gpus))
        if gpus is not None and is_known and self._gpus(name, gpus, whole, origins, gres):
            left.pop("Gres", None)
        for key, text in left.items():
            if text:
                self._put((*path, "slurm_options", key), option_value(text), origins)

    def _reserve(self, name: str, left: dict[str, str], origins: list[Origin]) -> None:
        """Cores and memory that Slurm keeps for itself; what the manifest can state leaves `left`."""
        for key, field_name, most, unit in (
            ("CoreSpecCount", "cores", 512, ""),
            ("MemSpecLimit", "memory", 1 << 40, "MiB"),
        ):
            reserved = _number(left.get(key))
            if reserved is not None and 0 < reserved <= most:
                passthrough = [(("node_types", name, "slurm_options", key), reserved)]
                value: Value = f"{reserved}{unit}" if unit else reserved
                self._put(("node_types", name, "reserved", field_name), value, origins, passthrough=passthrough)
                left.pop(key)

    def _put(self, path: ManifestPath, value: Value, origins: list[Origin], **more: Any) -> None:
        """A value of a node type; what the file says of the line belongs to the nodes."""
        self._draft.set(path, value, origins, claim=False, **more)

    def _gpus(self, name: str, gpus: Gpus, whole: System | None, origins: list[Origin], gres: str) -> bool:
        """True if they say all that the Gres value does; each of them knows that value, in case that one does not."""
        path = ("node_types", name, "gpus")
        layouts = gpus.layouts(whole.gpu_count if whole else None)
        count = gpus.count + len(layouts or ())
        each = gpus.shares(count)
        is_complete = gpus.is_complete and layouts is not None and count <= _MOST_GPUS and each is not None
        if gpus.model is None and whole is None and not is_complete:
            return False
        self._draft.gpu_types.add(name)
        raw: list[tuple[ManifestPath, Value]] = [((*path[:2], "slurm_options", "Gres"), gres)] if is_complete else []
        if whole is None:
            self._model(name, gpus, origins)
            self._put((*path, "count"), min(count, _MOST_GPUS), origins, passthrough=raw)
        if gpus.type_text or (is_complete and not gpus.instances):
            self._put((*path, "gres_type"), gpus.type_text or False, origins, passthrough=raw if whole else ())
        if is_complete and each:
            self._put((*path, "shards" if gpus.shards else "mps"), each, origins, passthrough=raw)
        if is_complete and layouts:
            self._split(name, gpus, layouts, origins, raw)
        return is_complete

    def _unknown(self, host: str, gpus: Gpus) -> bool:
        """True if they are GPUs that the manifest takes without knowing what they are."""
        alone = gpus.instances is None and gpus.is_complete and gpus.count <= _MOST_GPUS
        return alone and fits(gpus.type_text or "gpu", SlurmName) and self._nvidia(host)

    def _model(self, name: str, gpus: Gpus, origins: list[Origin]) -> None:
        path = ("node_types", name, "gpus", "model")
        if gpus.model is None:
            comments = [
                "CHECK: Slurm's files do not contain the GPU model; use one of the catalogue, or define your own."
            ]
            self._put(path, "unknown", origins, comments=comments)
            self._draft.note("choice", f"node type {name}: Slurm's files do not contain its GPU model")
            return
        comments = []
        if not gpus.certain:
            likely = gpus.instances.models if gpus.instances else parts.gpus().values()
            called = gpus.type_text or "by these types"
            family = ", ".join(other.id for other in likely if gpus.instances or other.gres_type == gpus.type_text)
            comments.append(f"CHECK: {called} matches several GPUs ({family}).")
            words = f"node type {name}: clustergen assumes {gpus.model.id} for {called}; it can be any of {family}"
            self._draft.note("choice", words)
        self._put(path, gpus.model.id, origins, comments=comments)

    def _split(
        self,
        name: str,
        gpus: Gpus,
        layouts: tuple[Layout, ...],
        origins: list[Origin],
        raw: list[tuple[ManifestPath, Value]],
    ) -> None:
        plans = [plan_name(layout) for layout in layouts]
        for plan, layout in zip(plans, layouts, strict=True):
            self._draft.set(("gpu", "mig_plans", plan, "profiles"), dict(layout), claim=False)
        assert gpus.instances is not None
        if gpus.instances.prefix is not None:
            path = ("node_types", name, "gpus", "mig_prefix")
            self._put(path, gpus.instances.prefix or False, origins, passthrough=raw)
        same = len(set(plans)) == 1 and not gpus.count
        first = gpus.count if gpus.whole_first else 0
        words = "Slurm's files do not contain the MIG layout of each GPU; the nodes will be split as written here"
        self._put(
            ("node_types", name, "gpus", "mig"),
            plans[0] if same else dict(enumerate(plans, first)),
            origins,
            passthrough=raw,
            comments=[f"CHECK: {words}."],
        )
        self._draft.note("choice", f"node type {name}: {words}")


def _key(keys: dict[str, str]) -> _Key:
    return tuple(sorted((name, text.lower()) for name, text in keys.items()))


def _counted(keys: dict[str, str]) -> tuple[dict[str, int | None], int, int, int]:
    """The numbers of a line, and its sockets, cores and threads as Slurm makes them of these."""
    number = {key: _number(keys.get(key)) for key in ("CPUs", "Boards", "Sockets", "SocketsPerBoard", "RealMemory")}
    cores, threads = (_number(keys.get(_CPU[name])) or 1 for name in _CPU)
    sockets = number["Sockets"] or (number["SocketsPerBoard"] or 0) * (number["Boards"] or 1)
    return number, sockets or max(1, (number["CPUs"] or 1) // (cores * threads)), cores, threads


def _number(text: str | None) -> int | None:
    good = text is not None and text.isascii() and text.isdigit() and len(text) < 16
    return int(text) if good and text else None
