"""Accounting."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.base import Endpoint, Options, Section, SlurmName, Tres, Word, field, section, text
from clustergen.slurmrules.field_table import Purged
from clustergen.units import Age, Bare


class Accounting(Section):
    """slurmdbd and its database."""

    slurmdbd: Endpoint | None = field(None, "Host of another cluster's slurmdbd, without the role slurm-accounting.")
    database_host: Endpoint = field(
        "localhost", "Database host; localhost: MariaDB on the slurmdbd node, through its socket without a password."
    )
    database_name: Annotated[str, text(r"^[A-Za-z0-9_]+$", "use letters, digits and _", 63)] = field(
        "slurm_acct_db", "Database."
    )
    database_user: Annotated[str, text(r"^[A-Za-z0-9_]+$", "use letters, digits and _", 31)] = field(
        "slurm", "Database user."
    )
    password: bool | None = field(
        None,
        "Whether the database requires a password, which Ansible installs on the node; default: not for localhost.",
    )
    enforce: tuple[Literal["associations", "limits", "nojobs", "nosteps", "qos", "safe", "wckeys", "all"], ...] = field(
        ("associations", "limits", "qos", "safe"), "AccountingStorageEnforce; empty: record usage only."
    )
    tres: tuple[Tres, ...] = field((), "AccountingStorageTRES: more trackable resources than the GPUs.")
    store: tuple[Literal["job_comment", "job_env", "job_extra", "job_script"], ...] = field(
        (), "AccountingStoreFlags: what is stored about jobs."
    )
    purge: dict[Purged, Age] = field(
        {}, "Retention time of records, as {job: 24months}; kinds that are not listed are kept for ever."
    )
    gather: Literal["cgroup", "linux", "none"] = field("cgroup", "JobAcctGatherType: how task usage is sampled.")
    gather_frequency: Annotated[int, Field(ge=0, le=3600), Bare("second")] = field(
        30, "Time between samples of running tasks."
    )
    gather_parameters: tuple[Word, ...] = field((), "JobAcctGatherParams; checked by release.")
    energy: Literal["none", "gpu", "ipmi", "rapl"] = field(
        "none", "AcctGatherEnergyType: source of energy accounting; gpu keeps NVML open."
    )
    private: tuple[SlurmName, ...] = field((), "PrivateData: what users cannot see of others.")
    options: Options = field({}, "More keys of slurmdbd.conf.")


PLACES = {"slurm.accounting": (Accounting, section(Accounting, "Accounting."))}
