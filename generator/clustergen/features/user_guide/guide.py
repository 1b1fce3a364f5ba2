"""The guide for users of this cluster: sections that the Markdown and the HTML page print alike.

In a sentence, text between backquotes is code. No text of the manifest can contain one (`Phrase`, names, paths).
"""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import CleanedDirectories, GuidePart, PrivateDirectories
from clustergen.cluster.groups import users_groups
from clustergen.cluster.host import NodeLogins
from clustergen.cluster.model import Cluster
from clustergen.cluster.site import Description
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.job_site import JobSite
from clustergen.cluster.slurm.jobs import Scripts
from clustergen.features.user_guide.guide_servers import reachable, servers
from clustergen.features.user_guide.guide_symptoms import symptoms
from clustergen.features.user_guide.guide_tables import (
    Part,
    account_table,
    partition_table,
    qos_table,
    storage_table,
    template_table,
    unfit_table,
)
from clustergen.features.user_guide.guide_training import training
from clustergen.features.user_guide.job_site import job_site
from clustergen.features.user_guide.resolved import UserGuide
from clustergen.features.user_guide.scripts import LIBRARY, job_scripts
from clustergen.records import record

_FIRST = ("array", "pytorch-srun", "jupyter")


@record
class Guide:
    """The page."""

    name: str
    description: str
    parts: tuple[Part, ...]


def guide(cluster: Cluster) -> Guide | None:
    site = job_site(cluster)
    if site is None:
        return None
    parts = (
        _login(cluster),
        _first_job(cluster, site),
        *_training(cluster),
        *training(cluster, site),
        _partitions(cluster, site),
        _accounts(cluster),
        _storage(cluster, site),
        _templates(cluster),
        *_of_features(cluster),
        *servers(cluster, site),
        *reachable(cluster),
        symptoms(cluster, site),
    )
    return Guide(cluster.name, cluster.of(Description).text, tuple(part for part in parts if part))


def _of_features(cluster: Cluster) -> Iterator[Part]:
    for part in cluster.needs(GuidePart):
        yield Part(part.title, part.sentences, part.commands, part.after)


def directory(cluster: Cluster) -> str:
    return cluster.of(UserGuide).directory


def _login(cluster: Cluster) -> Part:
    domain = cluster.networks.management.domain
    hosts = [host for group in users_groups(cluster) for host in group.hosts]
    names = [f"{host}.{domain}" if domain else host for host in hosts]
    contact = cluster.of(UserGuide).contact
    others = f"You can also log in on {_code(names[1:4])}." if names[1:] else ""
    only = cluster.of(NodeLogins).needs_job and not any(group.has("slurm-compute") for group in users_groups(cluster))
    adopt = "You can log in to a compute node only while one of your jobs runs there." if only else ""
    return Part(
        "Log in",
        tuple(filter(None, ("Use the name and the key that you gave the operators.", others, adopt))),
        (f"ssh {names[0]}", "sinfo"),
        tuple(filter(None, ("`sinfo` lists the partitions and the state of their nodes.", _help(contact)))),
    )


def _help(contact: str | None) -> str:
    return f"Help: {contact}." if contact else ""


def _first_job(cluster: Cluster, site: JobSite) -> Part | None:
    name = next((name for name in _FIRST if name in job_scripts(cluster)), None)
    if name is None:
        return None
    return Part(
        "First job",
        ("Copy the job templates to a directory of your own, and submit the smallest one.",),
        (
            f"cp -r {directory(cluster)}/jobs ~/jobs",
            "cd ~/jobs",
            *((f"sbatch --wait {name}.sh", f"cat {name}-*.out") if name != "jupyter" else (f"sbatch {name}.sh",)),
        ),
        (
            f"Slurm starts the job on nodes of partition `{site.partition.name}` and writes its output to the "
            "directory from which it was submitted. With `--wait`, `sbatch` returns when the job has ended; without "
            "it, `sbatch` returns at once, and `squeue --me` shows the state of the job.",
        ),
    )


def _training(cluster: Cluster) -> Iterator[Part]:
    script = job_scripts(cluster).get("pytorch-srun")
    if script is None:
        return
    gpus = f" with {script.gpus} GPUs each" if script.gpus > 1 else " with one GPU each" if script.gpus else ""
    count = f"{script.nodes} nodes" if script.nodes > 1 else "one node"
    yield Part(
        f"Train on {count}",
        (
            "Install PyTorch once, into a virtual environment that all nodes see. Then submit the template for "
            f"PyTorch: it starts one process per GPU on {count}{gpus}, and runs the example `train.py`. With its CUDA "
            "libraries, PyTorch takes 5 to 6 GB of your home directory.",
        ),
        (
            "python3 -m venv ~/venv",
            "~/venv/bin/pip install torch numpy",
            "cd ~/jobs",
            "sbatch --wait pytorch-srun.sh",
            "cat pytorch-srun-*.out",
        ),
        (
            "The last line of the output names the number of processes and the loss. To run your own program: "
            "`sbatch pytorch-srun.sh my_training.py --epochs 10`.",
        ),
    )


def _partitions(cluster: Cluster, site: JobSite) -> Part:
    return Part(
        "Partitions and limits",
        (
            "A job without `--time` gets DefaultTime. A job without `--partition` goes to the default partition.",
            "CPUs and memory per GPU are what a job gets for each GPU that it requests, unless it asks for other "
            "amounts. A job that takes more than that share leaves GPUs idle that no other job can use.",
        ),
        (
            (f"srun --partition={site.partition.name} --gpus={_typed(site, 1)} --pty bash",)
            if site.gpus
            else (f"srun --partition={site.partition.name} --pty bash",)
        ),
        ("This command opens a shell on a compute node.",),
        (partition_table(cluster),),
    )


def _typed(site: JobSite, count: int) -> str:
    return f"{site.gres}:{count}" if site.gres else str(count)


def _accounts(cluster: Cluster) -> Part | None:
    tables = tuple(table for table in (account_table(cluster), qos_table(cluster)) if table.rows)
    if not tables:
        return None
    enforced = "associations" in cluster.of(Accounting).enforce
    required = (
        "You need an account: without one, Slurm rejects your jobs with `Invalid account or account/partition "
        "combination specified`. Ask the operators to add you."
        if enforced
        else "Jobs run without an account, too; usage is then recorded for none."
    )
    return Part(
        "Accounts and QOS",
        (
            required,
            "A job runs under your default account and its default QOS. `--account` and `--qos` select others that you "
            "may use.",
        ),
        ("sacctmgr show associations user=$USER format=account,qos,defaultqos", "sshare", "sacct"),
        ("The commands list your accounts and QOS, your share of the cluster, and your jobs of today.",),
        tables,
    )


def _storage(cluster: Cluster, site: JobSite) -> Part:
    table = storage_table(cluster, site)
    tmpdir = cluster.of(Scripts).tmpdir
    local = (
        f"Each job has its own directory on the node's local disk, `$TMPDIR` below `{tmpdir.rstrip('/')}`. It is "
        "empty when the job starts and deleted when the job ends."
        if tmpdir
        else ""
    )
    shared = (
        "Home directories are the same on all nodes."
        if site.shared
        else "Home directories are not shared: files of the login node do not exist on compute nodes. Slurm writes the "
        "output of a job on its first compute node: `scontrol show job JOBID` shows it as BatchHost."
    )
    return Part(
        "Storage", tuple(filter(None, (shared, local, *_temporary(cluster)))), tables=(table,) if table.rows else ()
    )


def _temporary(cluster: Cluster) -> Iterator[str]:
    """The fate of files in /tmp: those of a job's own directories, and those that all jobs of a node see."""
    private = [path.rstrip("/") for each in cluster.needs(PrivateDirectories) for path in each.paths]
    if private:
        yield (
            f"Each job has its own {_listed(private)}, also if several jobs run on a node. It is empty when the job "
            "starts and deleted when it ends: copy results to your home directory before."
        )
    if "/tmp" in private:
        yield "`--output=/tmp/FILE` writes to the `/tmp` of the node instead, which jobs do not see."
    cleaned = [path for each in cluster.needs(CleanedDirectories) for path in each.paths]
    if rest := [path for path in cleaned if path not in private]:
        yield f"Files in {_listed(rest)} of a node can be deleted when you have no job there."


def _listed(names: list[str]) -> str:
    *others, last = (f"`{name}`" for name in names)
    return f"{', '.join(others)} and {last}" if others else last


def _templates(cluster: Cluster) -> Part:
    installed, unfit = template_table(cluster), unfit_table(cluster)
    if not installed.rows:
        none = "No job template is installed: the last column shows what this cluster lacks."
        return Part("Job templates", (none,), tables=(unfit,) if unfit.rows else ())
    missing = (
        ("The templates of the second table are not installed, because this cluster cannot run them.",)
        if unfit.rows
        else ()
    )
    return Part(
        "Job templates",
        (
            f"The templates are in `{directory(cluster)}/jobs`. Options on the command line override those in the "
            "file: `sbatch --time=4:00:00 pytorch-srun.sh`.",
            "Install what the last column names into the virtual environment `~/venv`; `VENV` selects another one: "
            "`VENV=~/other sbatch ray.sh my_program.py`.",
            f"The commands that a template runs are in `{LIBRARY}`. To change them, copy that file to a directory that "
            "all nodes see, and name your copy in the template.",
            *missing,
        ),
        tables=(installed, *((unfit,) if unfit.rows else ())),
    )


def _code(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
