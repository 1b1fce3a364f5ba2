"""systemd's configuration of Slurm's daemons: drop-ins, options, the account, directories, and log rotation."""

from __future__ import annotations

import re

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.catalogue.system_paths import is_below
from clustergen.cluster.contributions import PrivateDirectories
from clustergen.cluster.directories import directory_of, of_slurm_user, own_directory
from clustergen.cluster.entry import Entry, is_needed_by_jobs
from clustergen.cluster.file_system import file_system
from clustergen.cluster.host import UserLimits
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.builds import from_distribution
from clustergen.cluster.slurm.jobs import Scripts
from clustergen.records import record
from clustergen.render.effects import CREATE, DAEMON_RELOAD, Effect, restart
from clustergen.render.file import File
from clustergen.render.formats import CONF
from clustergen.render.views.fixed import Fixed

_DROP_IN = "50-clustergen.conf"
_OF_PACKAGES = "/var/lib/slurm"
"""Debian's packages give it to SlurmUser with each release, although slurmd's spool directory is in it."""


@record
class Slurmd:
    munge: bool
    no_condition: bool
    """The unit of some packages waits for a slurm.conf, which a configless node never has."""
    nofile: int


@record
class Slurmctld:
    munge: bool
    state: str | None
    """A directory of the manifest's own, which may lie on a shared file system."""
    mounted: bool
    user: str
    slurmdbd: bool


@record
class Slurmdbd:
    munge: bool
    database: str | None


@record
class WaitForMount:
    mount: str
    unit: str
    """What is active while it is mounted; empty: its mount unit, which systemd finds by the path."""


@record
class Options:
    servers: str
    """Controllers that hand out the configuration; empty where it lies in /etc/slurm."""


@record
class User:
    user: str
    uid: int


@record
class Directories:
    """Lines of tmpfiles.d: path, mode, and owner."""

    directories: tuple[tuple[str, str, str], ...]
    files: tuple[tuple[str, str], ...] = ()
    """Log files in a directory of the system, where their daemon may not create them: path and owner."""


@record
class Log:
    log: str
    """With a `*` for the node's name."""
    daemon: str
    owner: str = ""
    """Who gets the new file, where the daemon may not create it itself."""
    user: str = ""
    """Whose directory the log is in; empty for root's."""


def _munge(cluster: Cluster) -> bool:
    return cluster.slurm.auth == "munge"


def slurmd(cluster: Cluster, os: OperatingSystem) -> Slurmd:
    stuck = cluster.slurm.configless and from_distribution(cluster, os) and os.yes("slurmd_unit_needs_conf")
    return Slurmd(_munge(cluster), stuck, cluster.of(UserLimits).nofile)


def slurmctld(cluster: Cluster) -> Slurmctld:
    slurm = cluster.slurm
    local = set(slurm.controllers) & set(slurm.accounting_hosts)
    state = slurm.state_location if slurm.state_location_at else None
    return Slurmctld(_munge(cluster), state, state_is_mounted(cluster), slurm.user, bool(local))


def slurmdbd(cluster: Cluster, os: OperatingSystem) -> Slurmdbd:
    return Slurmdbd(_munge(cluster), os.fact("mariadb_unit") if cluster.of(Accounting).database_is_local else None)


def wait_for_mount(_: Cluster, entry: Entry) -> dict[str, WaitForMount]:
    unit = file_system(entry.type).ready_unit.format(name=entry.name)
    return {entry.name: WaitForMount(entry.mount, unit)} if is_needed_by_jobs(entry) else {}


def options(cluster: Cluster, _: OperatingSystem) -> Options:
    slurmctld_port = cluster.slurm.daemons["slurmctld"].port
    hosts = cluster.slurm.controllers if cluster.slurm.configless else ()
    return Options(",".join(f"{cluster.address.get(host, host)}:{slurmctld_port}" for host in hosts))


def user(cluster: Cluster) -> User | None:
    slurm = cluster.slurm
    return User(slurm.user, slurm.uid) if cluster.slurm.controllers else None


def controller_directories(cluster: Cluster) -> Directories:
    """A state directory on a mounted file system is not made here: at boot it would land below the mount."""
    state = "" if state_is_mounted(cluster) else own_directory(cluster.slurm.state_location)
    state_directory = [(state, "0700", cluster.slurm.user)] if state else []
    return _directories(cluster, "slurmctld", state_directory)


def _directories(cluster: Cluster, daemon: str, others: list[tuple[str, str, str]]) -> Directories:
    """Those of a daemon's log and pid file, and others."""
    user = cluster.slurm.user
    log, pid = cluster.slurm.daemons[daemon].log_file, cluster.slurm.daemons[daemon].pid_file
    directories = [directory_of(log), directory_of(pid) if pid else None]
    rows = dict.fromkeys((path, "0755", user) for path in directories if path)
    return Directories((*rows, *others), ((log, user),) if directory_of(log) is None else ())


def state_is_mounted(cluster: Cluster) -> bool:
    return any(is_below(cluster.slurm.state_location, entry.mount) for entry in cluster.storage.values())


def compute_directories(cluster: Cluster) -> Directories:
    """They belong to root, as slurmd and the prolog do: nobody else can put a link there before them."""
    slurm, scratch, of_user = cluster.slurm, cluster.of(Scripts).tmpdir, of_slurm_user(cluster)
    spool, slurmd = own_directory(slurm.spool_directory), slurm.daemons["slurmd"]
    paths = [directory_of(slurmd.log_file), directory_of(slurmd.pid_file) if slurmd.pid_file else None, spool, scratch]
    paths += (directories.store for directories in cluster.needs(PrivateDirectories))
    if spool and is_below(spool, _OF_PACKAGES) and _OF_PACKAGES not in of_user:
        paths.insert(0, _OF_PACKAGES)
    rows = dict.fromkeys(path.rstrip("/") for path in paths if path)
    directories = [(path, "0755", slurm.user if path in of_user else "root") for path in rows]
    if scratch:
        directories.append((f"{scratch.rstrip('/')}/.removing", "0700", "root"))  # for epilogs to empty
    return Directories(tuple(directories))


def accounting_directories(cluster: Cluster) -> Directories:
    return _directories(cluster, "slurmdbd", [])


def slurmctld_log(cluster: Cluster) -> Log:
    return _log(cluster, "slurmctld")


def slurmd_log(cluster: Cluster) -> Log:
    return _log(cluster, "slurmd")


def slurmdbd_log(cluster: Cluster) -> Log:
    return _log(cluster, "slurmdbd")


def _log(cluster: Cluster, daemon: str) -> Log:
    path = cluster.slurm.daemons[daemon].log_file
    user = "" if daemon == "slurmd" else cluster.slurm.user
    lone = directory_of(path) is None
    return Log(re.sub("%[nh]", "*", path), daemon, user if lone else "", "" if lone else user)


def rapl(cluster: Cluster) -> Fixed | None:
    return Fixed() if cluster.of(Accounting).energy == "rapl" else None


def _drop_in(group: str, unit: str) -> str:
    return f"{group}/etc/systemd/system/{unit}.service.d/{_DROP_IN}"


_DIRECTORIES = "slurm_compute/etc/tmpfiles.d/clustergen-slurmd.conf"
_ROTATE = "slurm_compute/etc/logrotate.d/slurmd"

FILES: tuple[File, ...] = (
    File(_drop_in("slurm_controller", "slurmctld"), slurmctld, Effect("restart-slurmctld")),
    File(_drop_in("slurm_compute", "slurmd"), slurmd, Effect("restart-slurmd"), per="os"),
    File(_drop_in("slurm_accounting", "slurmdbd"), slurmdbd, Effect("restart-slurmdbd"), per="os"),
    File("slurm_compute/etc/modules-load.d/clustergen-rapl.conf", rapl, restart("systemd-modules-load.service")),
    File("mount/etc/systemd/system/slurmd.service.d/40-mount-{name}.conf", wait_for_mount, DAEMON_RELOAD),
    File(
        "slurm_compute/{os.slurm_env_dir}/slurmd",
        options,
        Effect("restart-slurmd"),
        per="os",
        format=CONF,
        source="slurm_compute/etc/default/slurmd",
    ),
    File(
        "sackd_node/{os.slurm_env_dir}/sackd",
        options,
        restart("sackd.service"),
        per="os",
        format=CONF,
        source="sackd_node/etc/default/sackd",
    ),
    File("all/etc/sysusers.d/clustergen-slurm.conf", user, CREATE),
    File(
        "slurm_controller/etc/tmpfiles.d/clustergen-slurmctld.conf", controller_directories, CREATE, source=_DIRECTORIES
    ),
    File(_DIRECTORIES, compute_directories, CREATE),
    File(
        "slurm_accounting/etc/tmpfiles.d/clustergen-slurmdbd.conf", accounting_directories, CREATE, source=_DIRECTORIES
    ),
    File("slurm_controller/etc/logrotate.d/slurmctld", slurmctld_log, source=_ROTATE),
    File(_ROTATE, slurmd_log),
    File("slurm_accounting/etc/logrotate.d/slurmdbd", slurmdbd_log, source=_ROTATE),
)
