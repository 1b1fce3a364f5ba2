"""gres.conf for itself: what slurmd reads, ignores, and stops on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from clustergen.diagnostics import Severity
from clustergen.hostlist import HostlistError, expand
from clustergen.lint.finding import LintFinding
from clustergen.lint.gres_records import SHARED, Record, count_files, count_listed, read_records
from clustergen.lint.hardware import Hardware
from clustergen.lint.hostlists import unknown_nodes, unreadable
from clustergen.lint.site import Site
from clustergen.slurmconf.config import Entry, Setting
from clustergen.slurmconf.scalars import amount
from clustergen.slurmrules import Outcome, Remark, values
from clustergen.slurmrules.conf import integer
from clustergen.slurmrules.forms import FORMS
from clustergen.units.digits import whole

_CALLED = {"File": ("File", "Files", "MultipleFiles"), "Cores": ("Cores", "CPUs")}
CORES = FORMS["cores"]
_LINKS = re.compile(r"-?[0-9]+(,-?[0-9]+)*")


def _file_names(site: Site, setting: Setting) -> Iterator[LintFinding]:
    try:
        count_listed(setting.text)
        if re.search(r"\][^,/]", setting.text) and not site.has("hostlist-suffix"):
            message = f"Slurm {site.release} does not read text after the brackets of a name; slurmd does not start"
            yield site.error("hostlist-not-for-slurm", setting, message, "list the files one by one")
    except HostlistError as err:
        if "never opened" in err.message:
            message = f"{err.message}; slurmd reads it as part of a name"
            yield site.warning("hostlist-syntax", setting, message, err.hint)
        else:
            message = f"slurmd cannot read these names and does not start: {err.message}"
            yield site.error("hostlist-syntax", setting, message, err.hint)


def undeclared_hint(site: Site, name: str) -> str:
    """The hint for a GRES that GresTypes does not name."""
    types = site.gres_types
    if name.lower() in types:
        return f"write {name.lower()}: names are case-sensitive"
    return f"write GresTypes={','.join([*islice(types, 100), name])}"


def detection(site: Site) -> Iterator[LintFinding]:
    """AutoDetect, for all nodes and for some."""
    config = site.directory.config("gres.conf")
    for setting in config.settings("AutoDetect") if config else ():
        yield from _autodetect(site, setting)
    first: dict[str, str] = {}
    for record in read_records(config)[0]:
        auto = record.entry.own_value("AutoDetect")
        if auto is None:
            continue
        yield from _autodetect(site, auto)
        if record.is_general:
            message = "AutoDetect after Name has an effect only with NodeName; slurmd logs an error"
            yield site.warning("slurm-key-ignored", auto, message, key=True)
        way = auto.text.lower()
        other = next((host for host in record.hosts() if first.setdefault(host, way) != way), None)
        if other is not None:
            message = f"'{other}' already has AutoDetect={first[other]}; slurmd does not start with two"
            yield site.error("slurm-value-wrong", auto, message)


def lines(site: Site) -> Iterator[LintFinding]:
    """Every line for itself, and its names against slurm.conf."""
    records, _ = read_records(site.directory.config("gres.conf"))
    reported: set[str] = set()
    yield from _together(site, records)
    for record in records:
        entry = record.entry
        if not record.name:
            if entry.own_value("AutoDetect") is None:
                message = "this line has no Name; slurmd ignores it"
                yield site.warning("slurm-key-ignored", entry, message, "write Name=gpu", key=True)
            continue
        if site.slurm is not None and record.name not in site.gres_types and record.name not in reported:
            reported.add(record.name)
            message = f"'{record.name}' is not in GresTypes of slurm.conf, so slurmd ignores it"
            place = entry.own_value("Name") or entry.name
            yield site.warning("gres-undeclared", place, message, undeclared_hint(site, record.name))
        yield from _line(site, record)
        yield from _links(site, record)
        yield from _cores_of(site, record)
        yield from _unknown_nodes(site, record)


def _unknown_nodes(site: Site, record: Record) -> Iterator[LintFinding]:
    if record.is_general or not site.nodes:
        return
    try:
        yield from unknown_nodes(site, record.entry.name, expand(record.entry.names), "node-unknown", does="")
    except HostlistError:
        message = "NodeName of this line is not a host list; slurmd treats the line as another node's"
        yield unreadable(site, record.entry.name, message, Severity.WARNING)


def _autodetect(site: Site, setting: Setting) -> Iterator[LintFinding]:
    for remark in values.plugins(site.release, "AutoDetect", setting.text):
        shown = Remark(
            remark.code,
            remark.message + "; slurmd logs an error and detects nothing",
            remark.hint,
            Outcome.LOGS,
            remark.at,
        )
        yield from site.remarks(setting, [shown])


def _line(site: Site, record: Record) -> Iterator[LintFinding]:
    entry = record.entry
    file, several, number = entry.own_value("File", "Files"), entry.own_value("MultipleFiles"), entry.own_value("Count")
    for setting in (file, several):
        if setting:
            yield from _file_names(site, setting)
    if file and several:
        yield site.error(
            "slurm-value-wrong",
            several,
            "File and MultipleFiles exclude each other; slurmd does not start with both",
            key=True,
        )
    if several and count_files(several.text) == 1:
        yield site.error(
            "slurm-value-wrong", several, "MultipleFiles lists only one file; slurmd does not start", "write File"
        )
    stated, listed = amount(number.text) if number else None, count_files(file.text) if file else None
    if number and stated is not None and listed is not None and stated != listed and record.name not in SHARED:
        yield site.error(
            "slurm-value-wrong",
            number,
            f"Count is {stated}, but File lists {listed}; slurmd does not start",
            "remove Count",
        )
    flags, words = entry.own_value("Flags"), _flags(record)
    if flags and "no_gpu_env" in words and any(word.endswith("_gpu_env") and word != "no_gpu_env" for word in words):
        yield site.error(
            "slurm-value-wrong", flags, "no_gpu_env excludes the other *_gpu_env flags; slurmd does not start with both"
        )


def _links(site: Site, record: Record) -> Iterator[LintFinding]:
    """A number for each GPU of the node, -1 for the line's own."""
    links = record.entry.own_value("Links")
    if links and (links.text.split(",").count("-1") != 1 or not _LINKS.fullmatch(links.text)):
        message = "Links must be numbers with one -1 for this GPU itself; slurmd ignores these and logs an error"
        yield site.warning("slurm-value-wrong", links, message, "write Links=-1,16,0,0")


def _without_threads(cores: Setting, bounds: Sequence[tuple[int, int]], total: int) -> str | None:
    """The hint for a list of CPUs as the kernel often numbers them: all first threads, and then the second ones."""
    first = [pair for pair in bounds if pair[1] < total]
    if not first or sorted((low + total, high + total) for low, high in first) != sorted(set(bounds) - set(first)):
        return None
    listed = ",".join(f"{low}-{high}" if high > low else str(low) for low, high in first)
    return f"write {cores.key}={listed}, if the numbers from {total} on are second threads of these cores (lscpu -e)"


def _cores_of(site: Site, record: Record) -> Iterator[LintFinding]:
    """The cores that a line names: they are there, and from 24.11 on whole sockets of them."""
    cores = record.entry.own_value("Cores", "CPUs")
    host = _one_host(site, record)
    if cores is None or host is None or not CORES.reads(cores.text):
        return
    total, socket = _cores(site.hosts[host]), integer(site.hosts[host].text("CoresPerSocket")) or 0
    ranges = [part.partition("-") for part in cores.text.rstrip(",").split(",")]
    bounds = [(whole(low), whole(high or low)) for low, _, high in ranges]
    highest = max(high for _, high in bounds)
    if total and highest >= total:
        yield site.warning(
            "gres-mismatch",
            cores,
            f"core {highest} does not exist: '{host}' has {total} cores; {cores.key} counts cores, not threads",
            _without_threads(cores, bounds, total) or "write core numbers from 0, as lstopo -l shows them",
        )
    elif total and socket and site.has("gres-whole-sockets"):
        named = {core for low, high in bounds for core in range(low, high + 1)}
        first = next((core - core % socket for core in sorted(named) if not _whole(named, core, socket)), None)
        if first is not None:
            last = first + socket - 1
            message = (
                f"{cores.key} lists only some of the cores {first}-{last} of a socket of '{host}'; slurmctld sets"
                " the node invalid"
            )
            yield site.warning("gres-mismatch", cores, message, f"write all cores of the socket: {first}-{last}")


def _whole(named: set[int], core: int, socket: int) -> bool:
    first = core - core % socket
    return named.issuperset(range(first, first + socket))


def _one_host(site: Site, record: Record) -> str | None:
    """A node that the line is about."""
    if not record.is_general:
        return min((host for host in record.hosts() if host in site.hosts), default=None)
    prefix = f"{record.name}:"
    return next((host for host, node in site.hosts.items() if prefix in f"{node.text('Gres') or ''}:"), None)


def _cores(node: Entry) -> int | None:
    """Cores of a node, where slurm.conf says how many its sockets have."""
    hardware = Hardware(node)
    return hardware.sockets * hardware.cores if node.value("CoresPerSocket") else None


def _together(site: Site, records: list[Record]) -> Iterator[LintFinding]:
    """Records of one name that a node reads, each against the first of them."""
    seen: dict[str, dict[str, Record]] = {}
    for record in records:
        if not record.name or not record.has_few_hosts() or (site.slurm and record.name not in site.gres_types):
            continue
        firsts = seen.setdefault(record.name, {})
        hosts = [""] if record.is_general else sorted({*record.hosts()})
        others = [firsts.get(host) or firsts.get("") for host in hosts] if not record.is_general else firsts.values()
        first = next((other for other in others if other is not None), None)
        for host in hosts:
            firsts.setdefault(host, record)
        if first is not None:
            yield from _both(site, first, record)


def _both(site: Site, first: Record, record: Record) -> Iterator[LintFinding]:
    """Two records of one name on one node: what only one of them has, and what they must not both have."""
    name, entry, where = record.name, record.entry, f"line {first.entry.line.number}"
    if _has(first, "Cores") and not _has(record, "Cores") and name not in SHARED:
        message = f"{name} has Cores on {where} but not here; Slurm logs an error"
        yield site.warning("gres-mismatch", entry, message, "set Cores on all of these lines, or on none")
    what = next((key for key in ("Type", "File") if _has(first, key) != _has(record, key)), None)
    if what is not None:
        message = f"only one of this {name} line and {where} has a {what}; slurmd does not start"
        yield site.error("gres-mismatch", entry, message, f"set {what} on all of these lines, or on none")
    elif not _has(record, "Type") and not _has(record, "File"):
        message = f"neither this {name} line nor {where} has a File or Type; slurmd does not start with two such lines"
        hint = f"write one line with Count={first.number + record.number}" if name != "gpu" else "add File to each line"
        yield site.error("gres-mismatch", entry, message, hint)
    flags = entry.own_value("Flags")
    if flags and name == "gpu" and (words := _environment(record)) and words != _environment(first):
        message = f"{', '.join(sorted(words))} does not hold for the gpu of {where}; slurmd does not start"
        yield site.error("slurm-value-wrong", flags, message, "write the same *_env flags on all gpu lines of a node")


def _environment(record: Record) -> set[str]:
    """The flags that choose environment variables, which all GPUs of a node share."""
    return {word for word in _flags(record) if word.endswith("_env")}


def _flags(record: Record) -> list[str]:
    return [word.strip(" =").lower() for word in (record.entry.text("Flags") or "").split(",")]


def _has(record: Record, key: str) -> bool:
    return record.entry.own_value(*_CALLED.get(key, (key,))) is not None
