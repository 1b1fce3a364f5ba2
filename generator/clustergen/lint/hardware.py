"""NodeName lines: sockets, cores and threads, memory, and what is kept from jobs."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.diagnostics.words import counted
from clustergen.lint.finding import LintFinding
from clustergen.lint.site import Site
from clustergen.slurmconf.config import Entry, Setting
from clustergen.slurmrules.conf import integer

_COUNTS = ("CPUs", "Procs", "Boards", "Sockets", "SocketsPerBoard", "CoresPerSocket", "ThreadsPerCore")
_DIMMS = 16 << 10  # MiB: installed memory is a multiple, what Linux reports of it is not
_LAYOUT = ("Sockets", "SocketsPerBoard", "CoresPerSocket", "ThreadsPerCore")


class Hardware:
    """Sockets, cores and threads as Slurm makes them out of a line."""

    def __init__(self, node: Entry) -> None:
        def number(*keys: str) -> int | None:
            for key in keys:
                value = integer(node.text(key))
                if value is not None:
                    return value
            return None

        self.cpus = number("CPUs", "Procs")
        self.boards = max(1, number("Boards") or 1)
        self.own_sockets = number("Sockets")
        self.per_board = number("SocketsPerBoard")
        self.cores = max(1, number("CoresPerSocket") or 1)
        self.threads = max(1, number("ThreadsPerCore") or 1)
        per_core = self.cores * self.threads
        if self.per_board is not None:
            self.sockets = self.boards * max(1, self.per_board)
        elif self.own_sockets is not None:
            self.sockets = max(1, self.own_sockets)
        elif self.cpus and self.cpus >= per_core and self.cpus % per_core == 0:
            self.sockets = self.cpus // per_core
        else:
            self.sockets = self.boards

    @property
    def all(self) -> int:
        return self.sockets * self.cores * self.threads


def hardware(site: Site) -> Iterator[LintFinding]:
    """CPUs against sockets × cores × threads, and what is kept from jobs."""
    memory = any("memory" in word for word in site.words("SelectTypeParameters"))
    reported: set[str] = set()
    for node in site.nodes:
        yield from _zeros(site, node)
        it = Hardware(node)
        yield from _sockets(site, node, it)
        yield from _cpus(site, node, it)
        yield from _reserved(site, node, it)
        if memory and node.value("RealMemory") is None and "memory" not in reported:
            reported.add("memory")
            yield site.warning(
                "node-memory-missing",
                node,
                "RealMemory is not set: Slurm assumes 1 MiB, and no job that requests more memory starts here",
                "run slurmd -C on the node and add its RealMemory=… (MiB)",
                key=True,
            )


def _zeros(site: Site, node: Entry) -> Iterator[LintFinding]:
    for key in _COUNTS:
        setting = node.own_value(key)
        if setting is not None and integer(setting.text) == 0:
            yield site.warning("node-cpus-mismatch", setting, f"{key}=0 is not valid: Slurm uses 1 and logs an error")
    memory = node.own_value("RealMemory")
    mib = integer(memory.text) if memory else None
    if memory and mib and mib % _DIMMS == 0 and "config_overrides" not in site.words("SlurmdParameters"):
        message = f"{mib} MiB is {mib >> 10} GiB, the installed memory; Linux reports less, and the node drains"
        yield site.warning(
            "node-memory-installed", memory, message, "run slurmd -C on the node and round its value down"
        )
    if memory is not None and integer(memory.text) == 0:
        message = "RealMemory=0: no job that requests memory starts here, and Slurm logs an error"
        yield site.warning("node-memory-missing", memory, message, "run slurmd -C on the node and use its RealMemory")


def _sockets(site: Site, node: Entry, it: Hardware) -> Iterator[LintFinding]:
    sockets, boards = node.value("Sockets"), node.value("Boards")
    if sockets and node.value("SocketsPerBoard"):
        message = "Sockets and SocketsPerBoard exclude each other; Slurm uses SocketsPerBoard"
        yield site.warning("node-cpus-mismatch", sockets, message, "remove one of them", key=True)
    if boards and it.boards > it.sockets:
        message = f"{it.boards} boards but {counted(it.sockets, 'socket')}: Slurm uses one board"
        yield site.warning("node-cpus-mismatch", boards, message, "remove Boards")


def _cpus(site: Site, node: Entry, it: Hardware) -> Iterator[LintFinding]:
    """CPUs are sockets, cores or threads; all else Slurm sets right, or jobs get less than is there."""
    setting = node.value("CPUs", "Procs")
    if setting is None or not it.cpus:
        return
    cores = it.sockets * it.cores
    if it.cpus not in (it.sockets, cores, it.all):
        message = f"CPUs is {it.cpus}, but {it.sockets} × {it.cores} × {it.threads} is {it.all}, which Slurm uses"
        yield site.warning("node-cpus-mismatch", setting, message, f"remove CPUs, or write CPUs={it.all}")
    elif it.cpus == it.sockets and cores > it.cpus:
        yield _one_for_each_socket(site, setting, it)
    elif it.cpus > 4 and all(node.value(key) is None for key in _LAYOUT):
        message = (
            f"only CPUs is set: Slurm assumes {it.cpus} sockets with one core each and binds jobs to the wrong cores"
        )
        hint = "run slurmd -C on the node and add its Sockets, CoresPerSocket and ThreadsPerCore"
        yield site.note("node-cpus-mismatch", setting, message, hint)


def _one_for_each_socket(site: Site, setting: Setting, it: Hardware) -> LintFinding:
    message = f"{it.cpus} CPUs on {it.sockets * it.cores} cores"
    if not site.has("cpus-of-sockets"):
        return site.error("node-cpus-mismatch", setting, f"{message}: slurmctld does not start", f"write CPUs={it.all}")
    message = f"{message}: jobs get whole sockets, and the other cores stay idle"
    return site.warning("node-cpus-mismatch", setting, message, f"remove CPUs, or write CPUs={it.all}")


def _reserved(site: Site, node: Entry, it: Hardware) -> Iterator[LintFinding]:
    cores, listed, kept = node.value("CoreSpecCount"), node.value("CPUSpecList"), node.value("MemSpecLimit")
    number = integer(cores.text) if cores else None
    if cores and number is not None and number >= it.sockets * it.cores:
        yield site.warning(
            "nothing-left-for-jobs",
            cores,
            f"CoreSpecCount is {number} of {it.sockets * it.cores} cores; Slurm uses 1 and logs an error",
        )
    if cores and listed and number:
        yield site.warning(
            "slurm-key-ignored",
            cores,
            "CoreSpecCount is ignored because CPUSpecList is set",
            "remove one of them",
            key=True,
        )
    if listed:
        highest = max((integer(part.rpartition("-")[2]) or 0 for part in listed.text.split(",")), default=0)
        total = it.cpus or it.all
        if highest >= total:
            yield site.warning(
                "slurm-value-wrong",
                listed,
                f"CPU {highest} does not exist: the node has {total}; Slurm ignores the list and logs an error",
            )
    memory = integer(node.text("RealMemory")) or 1
    limit = integer(kept.text) if kept else None
    if kept and limit is not None and limit >= memory:
        yield site.warning(
            "nothing-left-for-jobs", kept, f"MemSpecLimit is {limit} of {memory} MiB; Slurm uses 0 and logs an error"
        )
