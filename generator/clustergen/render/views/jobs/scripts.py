"""Job templates: which of them this cluster can run, the #SBATCH options of each, and why others are left out."""

from __future__ import annotations

from clustergen.catalogue.job_templates import TemplateKind, job_facts
from clustergen.cluster.job_site import JobSite, job_site, requested_templates, unfit
from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.records import record
from clustergen.render.views.nccl.devices import management_interface
from clustergen.units import Duration

_PAIR = 2  # nodes of a template that can use several


@record
class SbatchOption:
    """One #SBATCH line, with its reason where that is not plain."""

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
    interface: str  # of the network that bootstraps use; empty: not known
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
    site = job_site(cluster)
    if site is None:
        return {}
    kinds = [kind for kind in requested_templates(cluster) if not unfit(cluster, site, kind)]
    return {kind.name: _script(cluster, site, kind) for kind in kinds}


@once_per_cluster
def unfit_templates(cluster: Cluster) -> tuple[Unfit, ...]:
    """The requested templates that are not rendered, with the reason."""
    site = job_site(cluster)
    if site is None:
        return ()
    reasons = ((kind, unfit(cluster, site, kind)) for kind in requested_templates(cluster))
    return tuple(Unfit(kind.name, kind.title, why) for kind, why in reasons if why)


def _script(cluster: Cluster, site: JobSite, kind: TemplateKind) -> JobScript:
    nodes = 1 if kind.layout == "one" else min(_PAIR, site.nodes)
    gpus = min(site.gpus, 1) if kind.layout == "one" else site.gpus
    options = [
        SbatchOption("job-name", kind.name),
        SbatchOption("output", "%x-%A_%a.out" if kind.name == "array" else "%x-%j.out"),
        SbatchOption("partition", site.partition.name),
        *([SbatchOption("account", site.account, "the partition is for this account only")] if site.account else []),
        *([SbatchOption("qos", site.qos, "the partition does not allow the default QOS")] if site.qos else []),
        SbatchOption(
            "time", Duration(site.minutes * 60).slurm(), f"at most {_longest(site)}; short jobs start earlier"
        ),
        *_resources(site, kind, nodes, gpus),
        *_special(kind),
    ]
    return JobScript(
        kind.name, kind.title, tuple(options), nodes, gpus, management_interface(cluster, site.kind) or "", job_facts()
    )


def _longest(site: JobSite) -> str:
    minutes = site.partition.max_time_minutes
    return "as long as you like" if minutes is None else Duration(minutes * 60).slurm()


def _resources(site: JobSite, kind: TemplateKind, nodes: int, gpus: int) -> list[SbatchOption]:
    """Nodes, tasks, GPUs and each GPU's share of CPUs and memory."""
    tasks = max(gpus, 1) if kind.layout == "gpu" else 1
    cpus = site.cpus_per_gpu * max(gpus, 1) // tasks
    requested = [SbatchOption("nodes", str(nodes)), SbatchOption("ntasks-per-node", str(tasks))]
    if not gpus:
        return [*requested, SbatchOption("cpus-per-task", str(cpus))]
    typed = f"{site.gres}:{gpus}" if site.gres else str(gpus)
    return [
        *requested,
        SbatchOption("gpus-per-node", typed),
        SbatchOption("cpus-per-task", str(cpus), f"{site.cpus_per_gpu} CPUs are the share of a GPU"),
        SbatchOption("mem-per-gpu", f"{site.mem_per_gpu_mib}M", "the share of a GPU"),
    ]


def _special(kind: TemplateKind) -> list[SbatchOption]:
    facts = job_facts()
    if kind.name == "array":
        last, at_once = int(facts["array-tasks"]) - 1, facts["array-at-once"]
        return [SbatchOption("array", f"0-{last}%{at_once}", f"{at_once} at the same time")]
    return []
