"""NodeName lines: names, addresses, sockets and cores, memory."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.diagnostics import Severity
from clustergen.hostlist import HostlistError, count, expand
from clustergen.lint.found import Found
from clustergen.lint.hostlists import node_names
from clustergen.lint.site import Site, hosts_of, integer
from clustergen.slurmconf.folder import Entry, Setting
from clustergen.slurmconf.grammar import Line

_NOT_ON_DEFAULT = ("NodeHostname", "NodeAddr", "BcastAddr")
_MOST = 65_536


def there(site: Site) -> Iterator[Found]:
    """Nodes at all; from 23.02 on they may come by themselves."""
    if site.slurm is None or site.nodes or not site.complete:
        return
    message = (
        "no NodeName: slurmctld does not start without a node"
        if not site.since("23.02")
        else "no NodeName: no node runs jobs"
    )
    if site.setting("MaxNodeCount") is None:
        severity = Severity.WARNING if site.since("23.02") else Severity.ERROR
        hint = "slurmd -C on a node prints its line"
        yield site.found("compute-missing", severity, site.folder.main, message, hint)


def default_lines(site: Site) -> Iterator[Found]:
    for line in site.slurm.default_lines("NodeName") if site.slurm else ():
        for key in _NOT_ON_DEFAULT:
            pair = line.pair(key)
            if pair is not None:
                message = f"{pair.key} cannot stand on NodeName=DEFAULT, and no daemon starts"
                yield site.error("slurm-value-wrong", Setting(line.file, pair), message, key=True)


def names(site: Site) -> Iterator[Found]:
    """Host lists that can be read, and every node once."""
    owner: dict[str, Entry] = {}
    total = 0
    for node in site.nodes:
        if node.names.upper() in ("ALL", "DEFAULT"):
            continue
        wrong = node_names(site, node.name)
        if wrong is not None:
            yield wrong
        hosts = hosts_of(node) or []
        total += len(hosts)
        told = False
        for host in hosts:
            first = owner.setdefault(host, node)
            if first is not node and not told:
                told = True
                where = _where(first.line, node.line)
                message = f"'{host}' is a node already, by {where}; no daemon starts"
                yield site.error("host-duplicate", node, message, "every node stands on one line")
        if len(set(hosts)) < len(hosts) and not told:
            twice = next(host for index, host in enumerate(hosts) if host in hosts[:index])
            yield site.error("host-duplicate", node, f"'{twice}' stands twice in this list; no daemon starts")
    if total > _MOST:
        yield site.error("too-many-nodes", site.nodes[-1], f"{total:,} nodes; Slurm takes at most {_MOST:,}")


def _where(line: Line, other: Line) -> str:
    return f"line {line.number}" + (f" of {line.file}" if line.file != other.file else "")


def counts(site: Site) -> Iterator[Found]:
    """As many addresses, host names and ports as nodes, or one."""
    for node in site.nodes:
        hosts = hosts_of(node)
        if hosts is None:
            continue
        for key, since in (("NodeAddr", "22.05"), ("NodeHostname", "24.11"), ("Port", "22.05"), ("BcastAddr", "22.05")):
            found = node.own(key)
            if found is None or ("[" not in found.text and "," not in found.text):
                continue
            try:
                given = count(found.text)
            except HostlistError as err:
                if key != "Port":
                    yield site.error("hostlist-syntax", site.part(found, err.offset, err.length), err.message, err.hint)
                continue
            if given not in (1, len(hosts)):
                severity = Severity.ERROR if site.since(since) else Severity.WARNING
                message = f"{given} in {key} for {len(hosts)} nodes; slurmctld does not start"
                yield site.found("address-count", severity, found, message, "one for each node, in the same order")


def addresses(site: Site) -> Iterator[Found]:
    """One address for two nodes: slurmctld talks to the wrong one."""
    owner: dict[str, str] = {}
    for node in site.nodes:
        found = node.own("NodeAddr")
        hosts = hosts_of(node)
        if found is None or hosts is None:
            continue
        try:
            given = expand(found.text)
        except HostlistError:
            continue
        if len(given) == 1 and len(hosts) > 1 and node.value("Port") is None:
            message = f"one address for {len(hosts)} nodes; without a Port for each only one of them is reached"
            yield site.warning("address-duplicate", found, message)
            continue
        if node.value("Port") is not None or len(given) != len(hosts):
            continue
        for host, address in zip(hosts, given, strict=True):
            first = owner.setdefault(address, host)
            if first != host:
                yield site.warning(
                    "address-duplicate",
                    found,
                    f"{address} is the address of '{first}' already",
                    f"'{host}' needs its own",
                )
                break


class _Cpus:
    """Sockets, cores and threads as Slurm makes them out of a line."""

    def __init__(self, node: Entry) -> None:
        def number(*keys: str) -> int | None:
            for key in keys:
                found = integer(node.text(key))
                if found is not None:
                    return found
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


def hardware(site: Site) -> Iterator[Found]:
    """CPUs against sockets × cores × threads, and what is kept from jobs."""
    memory = any("memory" in word for word in site.words("SelectTypeParameters"))
    told: set[str] = set()
    for node in site.nodes:
        yield from _zeros(site, node)
        it = _Cpus(node)
        yield from _cpus(site, node, it)
        yield from _reserved(site, node, it)
        if memory and node.value("RealMemory") is None and "memory" not in told:
            told.add("memory")
            yield site.warning(
                "node-memory-missing",
                node,
                "no RealMemory: Slurm takes 1 MiB, and no job that asks for more memory starts here",
                "RealMemory=… in MiB; slurmd -C on the node prints it",
                key=True,
            )


def _zeros(site: Site, node: Entry) -> Iterator[Found]:
    for key in ("CPUs", "Procs", "Boards", "Sockets", "SocketsPerBoard", "CoresPerSocket", "ThreadsPerCore"):
        found = node.own(key)
        if found is not None and integer(found.text) == 0:
            yield site.warning("node-cpus-mismatch", found, f"{key}=0: Slurm takes 1, and logs an error")
    memory = node.own("RealMemory")
    if memory is not None and integer(memory.text) == 0:
        message = "RealMemory=0: no job that asks for memory starts here, and Slurm logs an error"
        yield site.warning("node-memory-missing", memory, message, "slurmd -C on the node prints it")


def _cpus(site: Site, node: Entry, it: _Cpus) -> Iterator[Found]:
    both = node.value("Sockets"), node.value("SocketsPerBoard")
    if both[0] and both[1]:
        yield site.warning(
            "node-cpus-mismatch",
            both[0],
            "Sockets and SocketsPerBoard exclude each other; Slurm takes SocketsPerBoard",
            "one of them",
            key=True,
        )
    boards = node.value("Boards")
    if boards and it.boards > it.sockets:
        yield site.warning(
            "node-cpus-mismatch",
            boards,
            f"{it.boards} boards and {it.sockets} socket{'s' if it.sockets > 1 else ''}: Slurm takes one board",
            "leave Boards out",
        )
    given = node.value("CPUs", "Procs")
    if given is None or not it.cpus:
        return
    if it.cpus not in (it.sockets, it.sockets * it.cores, it.all):
        yield site.warning(
            "node-cpus-mismatch",
            given,
            f"{it.cpus} CPUs, but {it.sockets} × {it.cores} × {it.threads} is {it.all}; Slurm takes that",
            f"leave CPUs out, or write CPUs={it.all}",
        )
    elif it.cpus == it.sockets and it.sockets * it.cores > it.cpus:
        message = f"{it.cpus} CPUs on {it.sockets * it.cores} cores"
        if site.since("23.02"):
            yield site.warning(
                "node-cpus-mismatch",
                given,
                f"{message}: jobs get sockets, and the other cores stay idle",
                f"leave CPUs out, or write CPUs={it.all}",
            )
        else:
            yield site.error("node-cpus-mismatch", given, f"{message}: slurmctld does not start", f"CPUs={it.all}")
    elif it.cpus > 4 and all(
        node.value(key) is None for key in ("Sockets", "SocketsPerBoard", "CoresPerSocket", "ThreadsPerCore")
    ):
        yield site.note(
            "node-cpus-mismatch",
            given,
            f"only CPUs is given: Slurm takes {it.cpus} sockets of one core, and binds jobs to the wrong cores",
            "Sockets, CoresPerSocket and ThreadsPerCore as slurmd -C prints them",
        )


def _reserved(site: Site, node: Entry, it: _Cpus) -> Iterator[Found]:
    cores, listed, kept = node.value("CoreSpecCount"), node.value("CPUSpecList"), node.value("MemSpecLimit")
    number = integer(cores.text) if cores else None
    if cores and number is not None and number >= it.sockets * it.cores:
        yield site.warning(
            "nothing-left-for-jobs",
            cores,
            f"CoreSpecCount is {number} of {it.sockets * it.cores} cores; Slurm takes 1, and logs an error",
        )
    if cores and listed and number:
        yield site.warning(
            "slurm-key-ignored", cores, "CoreSpecCount is ignored, since CPUSpecList is there", "one of them", key=True
        )
    if listed:
        highest = max((integer(part.rpartition("-")[2]) or 0 for part in listed.text.split(",")), default=0)
        total = it.cpus or it.all
        if highest >= total:
            yield site.warning(
                "slurm-value-wrong",
                listed,
                f"there is no CPU {highest} among {total}; Slurm ignores the list, and logs an error",
            )
    memory = integer(node.text("RealMemory")) or 1
    limit = integer(kept.text) if kept else None
    if kept and limit is not None and limit >= memory:
        yield site.warning(
            "nothing-left-for-jobs", kept, f"MemSpecLimit is {limit} of {memory} MiB; Slurm takes 0, and logs an error"
        )


CHECKS = (there, default_lines, names, counts, addresses, hardware)
