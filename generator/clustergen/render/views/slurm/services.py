"""What systemd is told of Slurm's daemons: drop-ins, options, the account, folders, and log rotation."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.builds import from_distribution
from clustergen.cluster.model import Cluster
from clustergen.manifest.storage import Mount
from clustergen.records import record
from clustergen.render.effects import CREATE, DAEMON_RELOAD, Effect, restart
from clustergen.render.formats import CONF
from clustergen.render.registry import File
from clustergen.render.views.slurm.daemons import LOGS, SPOOL, port, state_location
from clustergen.render.views.slurm.slurmdbd import is_local

_DROP_IN = "50-clustergen.conf"


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
    """A folder of the manifest's own, which may lie on a shared file system."""
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


@record
class Options:
    servers: str
    """Controllers that hand out the configuration; empty where it lies in /etc/slurm."""


@record
class User:
    user: str
    uid: int


@record
class Folders:
    """Lines of tmpfiles.d: path, mode, and owner."""

    folders: tuple[tuple[str, str, str], ...]


@record
class Log:
    log: str
    daemon: str


def _munge(cluster: Cluster) -> bool:
    return cluster.manifest.slurm.auth == "munge"


def slurmd(cluster: Cluster, os: OperatingSystem) -> Slurmd:
    slurm = cluster.manifest.slurm
    stuck = slurm.configless and from_distribution(cluster, os) and os.yes("slurmd_unit_needs_conf")
    return Slurmd(_munge(cluster), stuck, cluster.manifest.host.nofile)


def slurmctld(cluster: Cluster) -> Slurmctld:
    local = set(cluster.controllers) & set(cluster.accounting_hosts)
    slurm = cluster.manifest.slurm
    return Slurmctld(_munge(cluster), slurm.state_location, _state_is_mounted(cluster), slurm.user, bool(local))


def slurmdbd(cluster: Cluster, os: OperatingSystem) -> Slurmdbd:
    return Slurmdbd(_munge(cluster), os.fact("mariadb_unit") if is_local(cluster) else None)


def wait_for_mount(_: Cluster, name: str, entry: Mount) -> dict[str, WaitForMount]:
    wanted = entry.required and "slurm-compute" in entry.clients
    return {name: WaitForMount(entry.mount)} if wanted else {}


def options(cluster: Cluster, _: OperatingSystem) -> Options:
    slurmctld_port = port(cluster, "slurmctld")
    hosts = cluster.controllers if cluster.manifest.slurm.configless else ()
    return Options(",".join(f"{cluster.address.get(host, host)}:{slurmctld_port}" for host in hosts))


def user(cluster: Cluster) -> User | None:
    slurm = cluster.manifest.slurm
    return User(slurm.user, slurm.uid) if cluster.controllers else None


def controller_folders(cluster: Cluster) -> Folders:
    """A state folder on a mounted file system is not made here: at boot it would land below the mount."""
    name = cluster.manifest.slurm.user
    state = state_location(cluster)
    return Folders(((LOGS, "0755", name), *([] if _state_is_mounted(cluster) else [(state, "0700", name)])))


def _state_is_mounted(cluster: Cluster) -> bool:
    state = f"{state_location(cluster)}/"
    return any(state.startswith(f"{entry.mount.rstrip('/')}/") for entry in cluster.manifest.storage.values())


def compute_folders(cluster: Cluster) -> Folders:
    """The folder for scratch belongs to root: nobody else can put a name there before the prolog does."""
    scratch = cluster.manifest.slurm.scripts.tmpdir
    own = [(scratch, "0755", "root")] if scratch else []
    return Folders(((LOGS, "0755", cluster.manifest.slurm.user), (SPOOL, "0755", "root"), *own))


def accounting_folders(cluster: Cluster) -> Folders:
    return Folders(((LOGS, "0755", cluster.manifest.slurm.user),))


def slurmctld_log(_: Cluster) -> Log:
    return Log(f"{LOGS}/slurmctld.log", "slurmctld")


def slurmd_log(_: Cluster) -> Log:
    return Log(f"{LOGS}/slurmd.log", "slurmd")


def slurmdbd_log(_: Cluster) -> Log:
    return Log(f"{LOGS}/slurmdbd.log", "slurmdbd")


def _drop_in(group: str, unit: str) -> str:
    return f"{group}/etc/systemd/system/{unit}.service.d/{_DROP_IN}"


_FOLDERS = "slurm_compute/etc/tmpfiles.d/clustergen-slurmd.conf"
_ROTATE = "slurm_compute/etc/logrotate.d/slurmd"

FILES: tuple[File, ...] = (
    File(_drop_in("slurm_controller", "slurmctld"), slurmctld, Effect("restart-slurmctld")),
    File(_drop_in("slurm_compute", "slurmd"), slurmd, Effect("restart-slurmd"), per="os"),
    File(_drop_in("slurm_accounting", "slurmdbd"), slurmdbd, Effect("restart-slurmdbd"), per="os"),
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
    File("slurm_controller/etc/tmpfiles.d/clustergen-slurmctld.conf", controller_folders, CREATE, source=_FOLDERS),
    File(_FOLDERS, compute_folders, CREATE),
    File("slurm_accounting/etc/tmpfiles.d/clustergen-slurmdbd.conf", accounting_folders, CREATE, source=_FOLDERS),
    File("slurm_controller/etc/logrotate.d/slurmctld", slurmctld_log, source=_ROTATE),
    File(_ROTATE, slurmd_log),
    File("slurm_accounting/etc/logrotate.d/slurmdbd", slurmdbd_log, source=_ROTATE),
)
