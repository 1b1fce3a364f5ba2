"""Accounting as resolved: slurmdbd, its database and the memory that it gets, and what is recorded of jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clustergen.cluster.slurm.model import Options
from clustergen.manifest.model import Manifest
from clustergen.records import record
from clustergen.units import Age

PASSWORD_FILE = "/etc/slurm/slurmdbd.secret.conf"
"""With the line StoragePass=…, put on the node when the tree is applied."""
UNKNOWN_MIB = 65536
"""Memory assumed for a node of which nothing is known."""
_LEAST_MIB = 2048  # slurmdbd logs an error below half of the 4 GiB that Slurm's accounting guide recommends
LOCAL = "localhost"


@record
class Accounting:
    """slurmdbd and its database. `slurmdbd`: a host of another cluster's."""

    slurmdbd: str | None
    database_host: str
    database_port: int | None  # None: the manifest has none
    database_name: str
    database_user: str
    database_is_local: bool  # MariaDB runs on the slurmdbd node
    has_password: bool  # not by the socket, where the account is the password
    enforce: tuple[str, ...]  # AccountingStorageEnforce
    tres: tuple[str, ...]  # AccountingStorageTRES
    store: tuple[str, ...]  # AccountingStoreFlags
    purge: Mapping[str, Age]  # kind of record → age at which it is removed
    gather: str  # JobAcctGatherType
    gather_frequency_s: int
    gather_parameters: tuple[str, ...]  # JobAcctGatherParams
    energy: str  # AcctGatherEnergyType
    private: tuple[str, ...]  # PrivateData
    options: Options  # further keys of slurmdbd.conf


def shares_node_with_jobs(manifest: Manifest, roles: Sequence[Sequence[str]]) -> bool:
    """True if nodes run both jobs and the database; `roles` are those of each of their entries."""
    both = {"slurm-accounting", "slurm-compute"}
    is_local = manifest.slurm is not None and manifest.slurm.accounting.database_host == LOCAL
    return is_local and any(both.issubset(each) for each in roles)


def own_pool_mib(memory_mib: int) -> int:
    """InnoDB's buffer pool on a node without jobs, in MiB: a twentieth of its memory, from 4 to 16 GiB, at most a
    quarter.
    """
    return min(16384, max(min(4096, memory_mib // 4), memory_mib // 20))


def shared_pool_mib(memory_mib: int) -> int:
    """The pool on a node that also runs jobs, in MiB: 2 GiB, on small nodes an eighth of the memory."""
    return min(_LEAST_MIB, memory_mib // 8)
