"""Slurm's own files before slurmdbd, slurmctld and slurmd of the tree's release, all of them started for real."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.slurm.accounting import PASSWORD_FILE
from clustergen.records import replace
from clustergen.verify.check import Check, Trial, paths, place_of
from clustergen.verify.checks.slurm_hardware import nodes_by_type, options_of
from clustergen.verify.files import Entry
from clustergen.verify.newer_slurm import Prepared, prepare
from clustergen.verify.node_roots import NodeRoot
from clustergen.verify.programs import TIMEOUT
from clustergen.verify.registration import complaints
from clustergen.verify.rows import Row
from clustergen.verify.sandbox import SandboxError
from clustergen.verify.simulated_hardware import Node, not_simulated
from clustergen.verify.slurm_daemons import SlurmReport, read_config
from clustergen.verify.slurm_roots import SlurmInstall, for_release, installs, next_newer, parsers_directory

_CONF = "/etc/slurm/slurm.conf"
_GRES = "/etc/slurm/gres.conf"
_MPI = "/etc/slurm/mpi.conf"
_PLUGINS = "Slurm: third-party plugins"
_ABSENT = re.compile(r"plugstack\.conf: (\S+) is not in this root")
_PAIR = re.compile(r"(\w+)\s*=\s*(\S+)")

_ACCOUNTS = ("/usr/local/sbin/clustergen-accounts", "/etc/clustergen/accounts.json")
_WHAT = {
    "slurmctld": "Slurm: the controller's files",
    "slurmdbd": "Slurm: the accounting daemon's file",
    "slurmd": "Slurm: the nodes' files",
    "sacctmgr": "Slurm: QOS, accounts and users",
    "sackd": "Slurm: options on login nodes",
    "sbatch": "Slurm: job templates",
}
_SACKD = ("/etc/sysconfig/sackd", "/etc/default/sackd")
_JOBS = "/job-scripts"

# Which daemon's words judge a file: slurmctld those that it reads at its start, slurmd the rest.
_OF_SLURMD = ("gres.conf", "plugstack", "job_container.conf", "helpers.conf")


def _ask(check: Check, trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
    release = trial.tree.slurm_release
    install = for_release(release) or next_newer(release)
    nodes = dict(nodes_by_type(trial))
    if install is None:
        installed = ", ".join(one.version for one in installs()) or "none (run clustergen setup parsers)"
        lacking = (
            f"the tree requires Slurm {release or 'of no release'}; installed or in {parsers_directory()}: {installed}"
        )
        yield check.row("not run", entries, [lacking])
        yield from _registrations(check, entries, SlurmReport(False, ()), nodes, lacking)
        return
    node = _controller(trial)
    if node is None:
        yield check.row("failed", entries, [f"no node of the tree has {_CONF}"])
        return
    directory = _merged(trial, node)
    other = None if install.release == release else release
    prepared = prepare(directory, SlurmRelease(other), SlurmRelease(install.release)) if other else Prepared()
    jobs = _with_jobs(directory, entries)
    why = not_simulated()
    try:
        report = read_config(
            install,
            directory,
            node.hosts_text or None,
            [one.name for one in nodes.values() if why and one.hardware.cpus],
            simulated=() if why else tuple(nodes.values()),
            jobs=tuple(jobs),
            sackd=next((options_of("sackd", entry.text) for entry in entries if entry.target in _SACKD), ())
            if install.has_program("sackd")
            else (),
            timeout=TIMEOUT,
        )
    except SandboxError as error:
        yield check.row("not run", entries, [str(error)], version=install.version)
        yield from _registrations(check, entries, SlurmReport(False, ()), nodes, str(error))
        return
    report = replace(report, complaints=(*prepared.complaints, *report.complaints, *_refusals(report, jobs)))
    for rows, left_out in (
        (_rows(check, entries, install, report), prepared.left_out),
        (_registrations(check, entries, report, nodes, why), ()),
    ):
        yield from (_remarked(row, install, other, left_out) if other else row for row in rows)


def _remarked(row: Row, install: SlurmInstall, release: str, left_out: Sequence[str]) -> Row:
    """A row of a newer Slurm than the tree's says so, in its line and in its words."""
    remark = (
        f"the tree requires Slurm {release}; checked with {install.version}, the next newer release available;"
        f" the catalogue checks the keys and values of {release}"
    )
    names = {path.rpartition("/")[2] for path in row.files}
    about_files = [note for note in left_out if note.partition(":")[0] in names]
    return replace(row, what=f"{row.what} (for {release})", words=(remark, *about_files, *row.words))


def _controller(trial: Trial) -> NodeRoot | None:
    """The first controller's root, else any that has slurm.conf."""
    having = [node for node in trial.nodes if _CONF in node.files]
    first = trial.tree.controllers[:1]
    return next((node for node in having if first and first[0] in node.hosts), having[0] if having else None)


def _merged(trial: Trial, node: NodeRoot) -> Path:
    """The controller's root with every other file of Slurm's: those of the accounting host, and of nodes alone."""
    directory = trial.scratch / "slurm"
    shutil.copytree(node.directory, directory)
    for other in trial.nodes:
        for target in other.files:
            place = directory / target.lstrip("/")
            if target.startswith("/etc/slurm/") and not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(other.directory / target.lstrip("/"), place)
    _with_password(directory)
    return directory


def _with_jobs(directory: Path, entries: Sequence[Entry]) -> dict[str, str]:
    """Copies the job scripts into the root; their names in the tree by their paths there."""
    jobs = {}
    for number, entry in enumerate(entry for entry in entries if is_job(place_of(entry), entry.text)):
        path = directory / _JOBS.lstrip("/") / f"{number}.sh"
        entry.write(path)
        jobs[f"{_JOBS}/{number}.sh"] = entry.path.rpartition("/")[2]
    return jobs


def _refusals(report: SlurmReport, jobs: Mapping[str, str]) -> Iterator[str]:
    for path, answer in report.jobs.items():
        result, _, words = answer.partition(" ")
        if result != "passed":
            yield f"sbatch: {jobs[path]}: {words.partition(' ')[2]}"


def _with_password(directory: Path) -> None:
    """Adds the file that brings the database's password, which is made when the tree is applied."""
    file, secret = directory / "etc/slurm/slurmdbd.conf", directory / PASSWORD_FILE.lstrip("/")
    if file.is_file() and not secret.exists() and f"Include {PASSWORD_FILE}\n" in file.read_text(encoding="utf-8"):
        secret.write_text("StoragePass=verify\n", encoding="utf-8")


def _registrations(
    check: Check, entries: Sequence[Entry], report: SlurmReport, nodes: Mapping[str, Node], why: str
) -> Iterator[Row]:
    """A row for each node type."""
    read = [entry for entry in entries if entry.target in (_CONF, _GRES)]
    for kind, node in nodes.items():
        hardware = node.hardware
        size = f"{hardware.sockets} × {hardware.cores} cores"
        if hardware.cpus:
            size = f"{len(hardware.cpus)} × {hardware.gpu.removeprefix('NVIDIA ') or 'GPU'}"
        if report.started and not why:
            registration = report.registered[node.name]
            summary = f"{node.name}: {registration.summary}"
            row = check.judged(read, list(complaints(node, registration)), [summary], report.version)
        else:
            row = check.row("not run", read, [why or "slurmctld did not start, see its row"], report.version)
        yield replace(row, parser="slurmd", what=f"slurmd registers: {kind} ({size})")


def _rows(check: Check, entries: Sequence[Entry], install: SlurmInstall, report: SlurmReport) -> Iterator[Row]:
    words: dict[str, list[str]] = {daemon: [] for daemon in _WHAT}
    for complaint in report.complaints:
        daemon = complaint.partition(":")[0].replace("accounts", "sacctmgr")
        words[daemon if daemon in words else "slurmctld"].append(complaint)
    if not report.started and not words["slurmctld"]:
        words["slurmctld"].append("slurmctld: did not reach 'Running as primary controller'")
    mpi = [entry for entry in entries if entry.target == _MPI] if not install.has_plugin("mpi_pmix*.so") else []
    if mpi:
        row = check.row("no parser", mpi, ["this Slurm is built without PMIx, which reads these keys"])
        yield replace(row, parser="slurmctld with PMIx", what=_PLUGINS)
    fetching = [entry for entry in entries if entry.target in _SACKD] if not install.has_program("sackd") else []
    if fetching:
        row = check.row("no parser", fetching, [f"{install.path} has no sackd: run clustergen setup parsers"])
        yield replace(row, parser="sackd", what=_WHAT["sackd"])
    absent = [match[1] for note in report.omitted if (match := _ABSENT.match(note))]
    unread = [e for e in entries if "plugstack" in e.path and any(plugin in e.text for plugin in absent)]
    if unread:
        absences = [f"{plugin} is in no distribution; slurmd is checked without it" for plugin in absent]
        yield replace(check.row("no parser", unread, absences), parser="slurmd with these plugins", what=_PLUGINS)
    read = [entry for entry in entries if entry not in (*mpi, *fetching, *unread)]
    files = {daemon: [entry for entry in read if _daemon_of(place_of(entry)) == daemon] for daemon in words}
    for daemon, daemon_files in files.items():
        if not daemon_files:
            continue
        program = f"{daemon} --test-only" if daemon == "sbatch" else daemon
        parser = f"{program} {install.kind}" if install.kind != "root" else program
        about = [note for note in report.omitted if _daemon_of(note.partition(":")[0]) == daemon]
        if daemon in ("slurmd", "sacctmgr", "sackd", "sbatch") and not report.started:
            row = check.row("not run", daemon_files, ["slurmctld did not start, see its row"], version=report.version)
            yield replace(row, parser=parser, what=_WHAT[daemon])
            continue
        if daemon == "slurmd":
            about += [f"{node}: {len(listed.splitlines())} GRES" for node, listed in report.gres.items()]
        yield replace(
            check.judged(daemon_files, words[daemon], about, report.version), parser=parser, what=_WHAT[daemon]
        )


def _daemon_of(place: str) -> str:
    if place in _ACCOUNTS:
        return "sacctmgr"
    if place in _SACKD:
        return "sackd"
    if not place.startswith("/etc/"):
        return "sbatch"
    name = place.removeprefix("/etc/slurm/")
    if name == "slurmdbd.conf":
        return "slurmdbd"
    return "slurmd" if name.startswith(_OF_SLURMD) else "slurmctld"


_IS_CONF = paths("/etc/slurm/*.conf", "/etc/slurm/*.yaml", "/etc/slurm/*.conf.d/*", *_ACCOUNTS, *_SACKD)


def is_job(place: str, text: str) -> bool:
    """True if a file is a job script."""
    return not place.startswith("/etc/") and "\n#SBATCH " in text


def _reads(place: str, text: str) -> bool:
    return (_IS_CONF(place, text) and place != "/etc/slurm/oci.conf") or is_job(place, text)


CHECKS = (
    Check(
        name="slurm",
        what="Slurm",
        parser="slurmctld, slurmdbd, slurmd, sackd, sacctmgr, sbatch",
        proves="The daemons of the tree's release start without complaints: slurmdbd with a database, slurmctld until"
        " it is the primary controller and responds, and slurmd for one node of each type until it has registered. It"
        " has the options that the node's unit reads: a configless node reads what slurmctld hands out. A login node"
        " gets it through sackd, and scontrol then reaches slurmctld. The hardware of that node is simulated:"
        " processors by hwloc, GPUs by an NVML library, device files of all GRES, memory and TmpDisk by a preloaded"
        " library, all as the manifest and the catalogue have them, never as slurm.conf has them. slurmctld accepts"
        " the node with its GPUs, and slurmd logs neither an error nor a warning. TmpDisk is compared where the"
        " manifest has the disks of the type, health checks do not run, and a Slurm without the NVML plugin reads"
        " lines of gres.conf in place of AutoDetect. The accounts script runs twice, and the second run changes"
        " nothing. If the release is not installed, the next newer one reads the files, and the catalogue checks keys"
        " and values. For slurmd, cgroup values are replaced and third-party plugins are omitted. Slurm ignores"
        " unknown keys of mpi.conf and topology.yaml. `sbatch --test-only` finds a place for each job template on idle"
        " nodes, for a user of the accounts where there are any. No job runs.",
        reads=_reads,
        ask=_ask,
    ),
)
