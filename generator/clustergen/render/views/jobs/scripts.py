"""Job templates: which of them this cluster can run, the #SBATCH options of each, and why others are left out."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.job_templates import TemplateKind, job_facts
from clustergen.cluster.job_site import JobSite, job_site, requested_templates, service_site, unfit
from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.records import record
from clustergen.render.views.nccl.devices import management_interface
from clustergen.render.views.slurm.resources import mpi_default
from clustergen.units import Duration

_CPUS_OF_A_SERVICE = 4

_MEETING = (
    "The port at which the processes of PyTorch meet has no authentication, nor have connections of NCCL and Gloo.",
    "Other users of the cluster can reach them, end the job, and read or change what the processes exchange.",
)
_WARNINGS = {
    "": (),
    "torch": (*_MEETING, "If your program exchanges Python objects, not just tensors, they may run code as you."),
    "vllm": (*_MEETING, "Processes of vLLM exchange Python objects, so these users may run code as you."),
    "mpi": (
        "MPI does not authenticate the connections between processes.",
        "Over TCP, other users of the cluster can reach them, end the job, and read or change messages.",
    ),
}


@record
class SbatchOption:
    """One #SBATCH line, with its reason where that is not plain. `value`: empty for a flag."""

    name: str
    value: str
    why: str = ""


@record
class JobScript:
    """One job template."""

    name: str
    title: str
    options: tuple[SbatchOption, ...]
    nodes: int
    gpus: int  # of a node
    tasks: int  # of a node
    program: str  # started without an argument; empty: there is none
    packages: str  # of Python, blank-separated
    interface: str  # of the network that bootstraps use; empty: not known
    mpi: str  # plugin of srun
    login: str  # a host where users log in
    warning: tuple[str, ...]  # sentences on what other users can reach
    facts: dict[str, str]


@record
class Unfit:
    """A template that this cluster cannot run."""

    name: str
    title: str
    why: str


@once_per_cluster
def job_scripts(cluster: Cluster) -> dict[str, JobScript]:
    """Templates by name, in the order of the guide."""
    return {kind.name: _script(cluster, site, kind) for kind, site, why in _judged(cluster) if not why}


@once_per_cluster
def unfit_templates(cluster: Cluster) -> tuple[Unfit, ...]:
    """The requested templates that are not rendered, with the reason."""
    return tuple(Unfit(kind.name, kind.title, why) for kind, _, why in _judged(cluster) if why)


def _judged(cluster: Cluster) -> Iterator[tuple[TemplateKind, JobSite, str]]:
    """Requested templates, where they run, and why they cannot."""
    for kind in requested_templates(cluster):
        site = service_site(cluster) if kind.service else job_site(cluster)
        if site is not None:
            yield kind, site, unfit(cluster, site, kind)


def _script(cluster: Cluster, site: JobSite, kind: TemplateKind) -> JobScript:
    nodes = min(kind.most, site.nodes)
    gpus = 0 if kind.layout == "core" else min(site.gpus, 1) if kind.layout == "one" else site.gpus
    tasks = {"gpu": max(gpus, 1), "core": site.cores}.get(kind.layout, 1)
    options = (
        SbatchOption("job-name", kind.name),
        SbatchOption("output", "%x-%A_%a.out" if kind.name == "array" else "%x-%j.out"),
        SbatchOption("partition", site.partition.name),
        *([SbatchOption("account", site.account, "The partition is for this account only.")] if site.account else []),
        *([SbatchOption("qos", site.qos, "The partition does not allow the default QOS.")] if site.qos else []),
        SbatchOption("time", Duration(site.minutes * 60).slurm(), _longest(site)),
        SbatchOption("nodes", str(nodes)),
        SbatchOption("ntasks-per-node", str(tasks)),
        *_shares(site, kind, gpus, tasks),
        *_special(kind),
    )
    return JobScript(
        name=kind.name,
        title=kind.title,
        options=options,
        nodes=nodes,
        gpus=gpus,
        tasks=tasks,
        program=kind.program,
        packages=" ".join(kind.packages),
        interface=management_interface(cluster, site.kind) or "",
        mpi=mpi_default(cluster),
        login=site.login,
        warning=_WARNINGS[kind.open],
        facts=job_facts(),
    )


def _longest(site: JobSite) -> str:
    most = "The partition has no limit." if site.longest is None else f"At most {Duration(site.longest * 60).slurm()}."
    return f"{most} Short jobs start earlier."


def _shares(site: JobSite, kind: TemplateKind, gpus: int, tasks: int) -> list[SbatchOption]:
    """GPUs, and each GPU's share of CPUs and memory."""
    if kind.layout == "core":
        return [SbatchOption("cpus-per-task", str(site.threads), "One core with all its threads.")]
    cpus = site.cpus_per_gpu * max(gpus, 1) // tasks
    if not gpus:
        if kind.layout == "one":  # GPUs divide a node, but here nothing does
            few = min(cpus, _CPUS_OF_A_SERVICE)
            return [SbatchOption("cpus-per-task", str(few), f"A node has {site.cpus_per_gpu} for jobs.")]
        return [SbatchOption("cpus-per-task", str(cpus))]
    return [
        SbatchOption("gpus-per-node", f"{site.gres}:{gpus}" if site.gres else str(gpus)),
        SbatchOption("cpus-per-task", str(cpus), f"{site.cpus_per_gpu} CPUs are the share of a GPU."),
        SbatchOption("mem-per-gpu", f"{site.mem_per_gpu_mib}M", "The share of a GPU."),
    ]


def _special(kind: TemplateKind) -> list[SbatchOption]:
    facts = job_facts()
    if kind.name == "array":
        last, at_once = int(facts["array-tasks"]) - 1, facts["array-at-once"]
        return [SbatchOption("array", f"0-{last}%{at_once}", f"{last + 1} tasks, {at_once} at the same time.")]
    if kind.name == "requeue":
        warning = f"{facts['signal']}@{facts['signal-seconds']}"
        return [
            SbatchOption("requeue", "", "Slurm may start the job again, also after the failure of a node."),
            SbatchOption("open-mode", "append", "The output of all runs in one file."),
            SbatchOption("signal", warning, f"The tasks get this signal {facts['signal-seconds']} s before the limit."),
        ]
    return []
