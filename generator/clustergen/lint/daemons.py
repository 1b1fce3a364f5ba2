"""Who the daemons are: controllers, users, directories, ports."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.directories import SPOOL, STATE, refusal
from clustergen.diagnostics import Severity
from clustergen.lint.finding import Fix, LintFinding
from clustergen.lint.site import Site, delete_line
from clustergen.slurmconf.config import Setting
from clustergen.slurmrules.conf import integer
from clustergen.slurmrules.keys import unread

OLD_HOSTS = ("ControlMachine", "ControlAddr", "BackupController", "BackupAddr")
_SHARED_DIRECTORIES = "/home", "/nfs", "/shared", "/mnt", "/scratch", "/gpfs", "/lustre"
_LOCAL_DIRECTORIES = "/var/", "/run/"


def release(site: Site) -> Iterator[LintFinding]:
    """A release whose keys nobody has read yet."""
    if remark := unread(site.release):
        yield site.warning(remark.code, site.directory.main, remark.message, remark.hint)


def names(site: Site) -> Iterator[LintFinding]:
    """A name for the cluster, and a controller."""
    if site.slurm is None or not site.complete:
        return
    if site.setting("ClusterName") is None:
        message = "ClusterName is not set; no daemon or command of Slurm starts"
        yield site.error("slurm-key-lacking", site.directory.main, message, "write ClusterName=…")
    if site.setting("SlurmctldHost", "ControlMachine") is None:
        message = "SlurmctldHost is not set; no daemon or command of Slurm starts"
        yield site.error("slurm-key-lacking", site.directory.main, message, "write SlurmctldHost=name(address)")


def controllers(site: Site) -> Iterator[LintFinding]:
    """SlurmctldHost names each controller once, on a line of its own."""
    seen: dict[str, Setting] = {}
    for setting in site.slurm.settings("SlurmctldHost") if site.slurm else ():
        name = setting.text.partition("(")[0].strip()
        if "," in name:
            message = "SlurmctldHost lists several controllers, which Slurm reads as one host name"
            hint = "write one SlurmctldHost line per controller, the primary first"
            yield site.error("slurm-value-wrong", setting, message, hint)
        elif name in seen:
            message = f"controller '{name}' is already defined on line {seen[name].key_at.line}; no daemon starts"
            yield site.error("host-duplicate", setting, message)
        seen[name] = setting


def old_names(site: Site) -> Iterator[LintFinding]:
    """Dependencies of ControlMachine and related keys, and those of them that have no effect."""
    old = {key: site.setting(key) for key in OLD_HOSTS}
    if site.setting("SlurmctldHost") is not None:
        for key, setting in old.items():
            if setting is not None:
                message = f"'{key}' is ignored because SlurmctldHost is set; Slurm logs an error"
                fix = delete_line(setting)
                yield site.finding(
                    "slurm-key-ignored", Severity.WARNING, setting, message, "delete it", key=True, fix=fix
                )
        return
    machine, backup = old["ControlMachine"], old["BackupAddr"]
    if machine and "," in machine.text and old["ControlAddr"] is None:
        message = "several hosts require ControlAddr; no daemon starts without it"
        hint = "write one SlurmctldHost=name(address) line per controller"
        yield site.error("slurm-value-wrong", machine, message, hint)
    if backup is not None and old["BackupController"] is None:
        message = "BackupAddr requires BackupController; no daemon starts without it"
        hint = "add a second SlurmctldHost=name(address) line"
        yield site.error("slurm-value-wrong", backup, message, hint, key=True)


def old_hosts(site: Site) -> Iterator[LintFinding]:
    """ControlMachine and related keys, which one SlurmctldHost line per controller replaces."""
    if site.slurm is None or site.slurm.settings("SlurmctldHost"):
        return
    for name, address in (OLD_HOSTS[:2], OLD_HOSTS[2:]):
        host, at = site.setting(name), site.setting(address)
        if host is None:
            continue
        line = f"SlurmctldHost={host.text}" + (f"({at.text})" if at and at.text != host.text else "")
        message = f"'{name}' is an old name, undocumented since 25.05"
        first = site.setting("ControlMachine")
        in_order = first is not None and (host.file, host.key_at) >= (first.file, first.key_at)
        plain = "," not in host.text and host.value_at.line == host.key_at.line and in_order
        span = host.key_at.column, host.value_at.end_column + host.pair.quoted
        fix = Fix(host.file, host.key_at.line, *span, line) if plain else None
        yield site.finding("slurm-key-old-name", Severity.INFO, host, message, f"write {line}", key=True, fix=fix)
        if at is not None:
            what = f"write {line}"
            deletion = delete_line(at) if plain else None
            message = f"'{address}' is an old name, undocumented since 25.05"
            yield site.finding("slurm-key-old-name", Severity.INFO, at, message, what, key=True, fix=deletion)


def users(site: Site) -> Iterator[LintFinding]:
    if site.slurm is None or not site.complete:
        return
    if site.setting("SlurmUser") is None:
        yield site.warning(
            "slurm-user-root",
            site.directory.main,
            "SlurmUser is not set, so slurmctld runs as root",
            "add SlurmUser=slurm; since 23.11 the systemd unit runs slurmctld as slurm, which does not start otherwise",
        )
    user = site.setting("SlurmdUser")
    if (
        user
        and user.text.lower() not in ("root", "0")
        and {"cgroup"} & {site.plugin("ProctrackType"), *site.plugins("TaskPlugin")}
    ):
        yield site.warning("slurm-value-harmful", user, "cgroups require slurmd to run as root", "remove SlurmdUser")


def directories(site: Site) -> Iterator[LintFinding]:
    """State and spool that get lost, or in each other's way."""
    state, spool = site.setting("StateSaveLocation"), site.setting("SlurmdSpoolDir")
    for setting, use in ((state, STATE), (spool, SPOOL)):
        reason = refusal(use, setting.text) if setting and setting.text.startswith("/") else None
        if setting and reason:
            yield site.warning("slurm-directory-unsafe", setting, reason.message, reason.hint)
    if spool is None:
        return
    directory, hint = spool.text.rstrip("/"), "write SlurmdSpoolDir=/var/spool/slurmd"
    if state and directory == state.text.rstrip("/"):
        message = (
            "SlurmdSpoolDir is the directory with slurmctld's state; if both run on one host, or the directory is"
            " shared, one"
            " deletes the other's files"
        )
        yield site.warning("slurm-directory-unsafe", spool, message, hint)
    elif state and directory.startswith(state.text.rstrip("/") + "/"):
        message = "SlurmdSpoolDir is inside StateSaveLocation"
        if f"{hint}/".startswith(f"write SlurmdSpoolDir={state.text.rstrip('/')}/"):
            hint = f"write StateSaveLocation={STATE.example}"
        yield site.warning("slurm-directory-unsafe", spool, message, hint)
    if spool.text.startswith(_SHARED_DIRECTORIES) and "%n" not in spool.text and "%h" not in spool.text:
        message = "this looks like a shared directory, but every node requires its own"
        yield site.warning("slurm-directory-unsafe", spool, message, "use a local directory, or add %n to its name")


def shared_state(site: Site) -> Iterator[LintFinding]:
    """Two controllers need one state."""
    state = site.setting("StateSaveLocation")
    several = site.slurm is not None and len(site.slurm.settings("SlurmctldHost")) > 1
    if state and several and state.text.startswith(_LOCAL_DIRECTORIES):
        message = "two controllers require a shared state directory, but this one looks local"
        yield site.warning("state-not-shared", state, message, "use a directory on a file system that both mount")


def passwords(site: Site) -> Iterator[LintFinding]:
    """slurm.conf is read by the commands of every user."""
    for key in ("AccountingStoragePass", "JobCompPass"):
        setting = site.setting(key)
        if setting and setting.text and not setting.text.startswith("/"):  # the socket of a munge daemon
            message = f"{setting.key} is a password in slurm.conf, which all users can read"
            hint = "delete it: the database password is StoragePass in slurmdbd.conf"
            if key == "JobCompPass":
                hint = "use a database user who may only insert into the job table"
            yield site.warning("slurm-secret-readable", setting, message, hint, key=True)


def ports(site: Site) -> Iterator[LintFinding]:
    """One port for two daemons, where both may run."""
    ctld, slurmd = site.setting("SlurmctldPort"), site.setting("SlurmdPort")
    low, _, high = site.text("SlurmctldPort").partition("-")
    mine, first, last = integer(site.text("SlurmdPort")), integer(low), integer(high or low)
    place = slurmd or ctld
    if place and mine is not None and first is not None and last is not None and first <= mine <= last:
        yield site.warning(
            "port-twice", place, f"slurmctld and slurmd both listen on port {mine}; on one host only one of them starts"
        )
