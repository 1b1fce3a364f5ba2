"""The guide for users of this cluster: sections that the Markdown and the HTML page print alike.

In a sentence, text between backquotes is code. No text of the manifest can contain one (`Phrase`, names, paths).
"""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.job_site import JobSite, job_site, users_groups
from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.views.jobs.guide_tables import (
    account_table,
    partition_table,
    qos_table,
    storage_table,
    template_table,
    unfit_table,
)
from clustergen.render.views.jobs.scripts import job_scripts
from clustergen.render.views.tables import Table

_FIRST = ("array", "pytorch-srun", "jupyter")


@record
class Part:
    """A section: sentences, then commands, then tables. `after`: sentences below the commands."""

    title: str
    sentences: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()


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
        _partitions(cluster, site),
        _accounts(cluster),
        _storage(cluster, site),
        _templates(cluster),
        *_servers(cluster, site),
        *_reachable(cluster),
        _pending(),
    )
    return Guide(cluster.name, cluster.manifest.description or "", tuple(part for part in parts if part))


def directory(cluster: Cluster) -> str:
    stated = cluster.manifest.user_guide
    return stated.directory.rstrip("/") if stated else ""


def _login(cluster: Cluster) -> Part:
    domain = cluster.manifest.networks.management.domain
    hosts = [host for group in users_groups(cluster) for host in group.hosts]
    names = [f"{host}.{domain}" if domain else host for host in hosts]
    contact = cluster.manifest.user_guide.contact if cluster.manifest.user_guide else None
    others = f"You can also log in on {_code(names[1:4])}." if names[1:] else ""
    only = cluster.manifest.host.ssh_adopt and not any(group.has("slurm-compute") for group in users_groups(cluster))
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
    enforced = "associations" in cluster.manifest.slurm.accounting.enforce
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
    tmpdir = cluster.manifest.slurm.scripts.tmpdir
    local = (
        f"Each job has its own directory on the node's local disk, `$TMPDIR` below `{tmpdir.rstrip('/')}`. It is "
        "empty when the job starts and deleted when the job ends."
        if tmpdir
        else ""
    )
    shared = (
        "Home directories are the same on all nodes."
        if site.shared
        else "Home directories are not shared: files of the login node do not exist on compute nodes."
    )
    return Part("Storage", tuple(filter(None, (shared, local))), tables=(table,) if table.rows else ())


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
            *missing,
        ),
        tables=(installed, *((unfit,) if unfit.rows else ())),
    )


def _servers(cluster: Cluster, site: JobSite) -> Iterator[Part]:
    scripts = job_scripts(cluster)
    names = [f"{name}.sh" for name in ("jupyter", "vllm", "triton", "dask", "ray") if name in scripts]
    if not names:
        return
    yield Part(
        "Servers of a job",
        (
            f"{_listed(names)}: the server answers you alone. The job writes a token, or a key with its certificate, "
            "to a new directory below your home directory that only you can open, and removes it at its end. Do not "
            "copy them to a place that others can read.",
            *(
                ("`ray.sh` requires Ray 2.52 or later, with the same version on all nodes.",)
                if "ray" in scripts
                else ()
            ),
            *(
                (
                    "To open a notebook on your own computer, submit `jupyter.sh`. When the job runs, its output has "
                    "the two commands with the names of your job: a tunnel, which you leave open while you work, and "
                    "one that prints the token for the page in the browser.",
                )
                if "jupyter" in scripts
                else ()
            ),
        ),
        (
            (
                "sbatch jupyter.sh",
                "cat jupyter-JOBID.out",
                f"ssh -N -L PORT:NODE:PORT $USER@{site.login}",
                f"ssh $USER@{site.login} cat DIRECTORY/token",
            )
            if "jupyter" in scripts
            else ()
        ),
        (
            *(
                (
                    f"The output of {_listed(certified)} has the commands for a node and for your own computer, where "
                    "you need a copy of the key.",
                )
                if (certified := [f"{name}.sh" for name in ("vllm", "triton") if name in scripts])
                else ()
            ),
            "A job whose port is in use ends with a message that names another: `JOB_PORT=21000 sbatch …`.",
        ),
    )


def _reachable(cluster: Cluster) -> Iterator[Part]:
    """What no option of the programs can close."""
    scripts = job_scripts(cluster)
    warnings: dict[tuple[str, ...], list[str]] = {}
    for name, script in scripts.items():
        if script.warning:
            warnings.setdefault(script.warning, []).append(f"{name}.sh")
    if not warnings:
        return
    alone = (
        "On one node, `pytorch-podman.sh` closes these ports: its container has a network of its own."
        if "pytorch-podman" in scripts
        else ""
    )
    yield Part(
        "What other users can reach",
        (
            *(f"{_listed(names)}: {' '.join(warning)}" for warning, names in warnings.items()),
            "A node of your own (`--exclusive`) changes nothing: jobs on other nodes and users of the login nodes "
            "reach the ports over the network, also behind the nodes' firewall. Let programs exchange tensors alone, "
            "and load checkpoints with `weights_only=True`.",
            *filter(None, (alone,)),
        ),
    )


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (_code(names[:-1]), f"`{names[-1]}`")))


def _pending() -> Part:
    return Part(
        "When a job does not start",
        ("`squeue` shows the reason in its last column.",),
        ("squeue --me --start", "scontrol show job JOBID", "sbatch --test-only pytorch-srun.sh"),
        (
            "`Resources` and `Priority`: the job waits for nodes, or for jobs with a higher priority. "
            "`Dependency`: it waits for another job. Reasons that begin with `QOS` or `Assoc` are limits of the tables "
            "above. `--test-only` checks a script and estimates its start without submitting it.",
        ),
    )


def _code(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
