"""Job templates: which of them this cluster can run, the #SBATCH options of each, and why others are left out."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.job_templates import TemplateKind, job_facts, template_kinds
from clustergen.cluster.contributions import JobImage
from clustergen.cluster.interfaces import management_interface
from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.cluster.slurm.job_site import JobSite
from clustergen.cluster.slurm.jobs import Resources
from clustergen.features.user_guide.job_site import job_site, precision, runtimes, service_site, unfit
from clustergen.features.user_guide.resolved import UserGuide
from clustergen.records import record
from clustergen.units import Duration

LIBRARY = "/usr/local/lib/clustergen/job.sh"
"""Functions that job scripts call."""
_CPUS_OF_A_SERVICE = 4
_TRANSFER_MIB = 8192  # for lists of files, and for encryption

_MEETING = (
    "The port at which the processes of PyTorch meet has no authentication, nor have connections of NCCL and Gloo.",
    "Other users of the cluster can reach them, end the job, and read or change what the processes exchange.",
)
_WARNINGS = {
    "": (),
    "torch": (*_MEETING, "If your program exchanges Python objects, not just tensors, they may run code as you."),
    "vllm": (*_MEETING, "Processes of vLLM exchange Python objects, so these users may run code as you."),
    "tensorflow": (
        "The port at which the processes of TensorFlow meet has no authentication.",
        "Other users of the cluster can reach it, end the job, change data, and may run operations as you.",
    ),
    "mpi": (
        "MPI does not authenticate the connections between processes.",
        "Over TCP, other users of the cluster can reach them, end the job, and read or change messages.",
    ),
}


_ARGUMENTS = {
    "array": ("Your program", "python3 my_program.py"),
    "transfer": ("The source, with a slash at its end for what is in it, and the target", "/data/set/ /scratch/set/"),
    "mpi": ("Your program and its arguments", "./my_program input.dat"),
    "triton": ("The model repository", "~/models"),
    "triton-replicas": ("The model repository", "~/models"),
    **dict.fromkeys(
        ("vllm", "vllm-nodes", "vllm-replicas"),
        ("The model and its options", "Qwen/Qwen2.5-7B-Instruct --max-model-len 8192"),
    ),
    **dict.fromkeys(("ray", "dask"), ("Your program and its arguments", "my_program.py --epochs 10")),
}
_VLLM, _TRITON = ("vllm", "vllm-nodes", "vllm-replicas"), ("triton", "triton-replicas")
_READ_BY = {
    "gpus": ("pytorch-torchrun", "accelerate", "pytorch-podman", "ray", "dask", *_VLLM),
    "interface": (*(name for name, kind in template_kinds().items() if kind.open == "torch"), "dask", "tensorflow"),
    "image": ("pytorch-container", "pytorch-podman", *_TRITON),
    "login": ("jupyter", *_VLLM, *_TRITON),
    "mpi": ("mpi",),
    "precision": tuple(name for name, kind in template_kinds().items() if kind.program),
    "runtime": _TRITON,
}
"""The values of a function of the library, by templates."""


@record
class SbatchOption:
    """One #SBATCH line, with its reason where that is not plain. `value`: empty for a flag."""

    name: str
    value: str
    why: str = ""


@record
class Value:
    """A variable of the job script for the function that it calls."""

    name: str
    text: str


@record
class JobScript:
    """One job template."""

    name: str
    title: str
    options: tuple[SbatchOption, ...]
    nodes: int
    gpus: int  # of a node
    tasks: int  # of a node
    packages: str  # of Python, blank-separated
    warning: tuple[str, ...]  # sentences on what other users can reach
    usage: tuple[str, ...]  # lines on its arguments, and on what it needs
    values: tuple[Value, ...]
    library: str


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
    for kind in cluster.of(UserGuide).templates if cluster.has(UserGuide) else ():
        site = service_site(cluster) if kind.service else job_site(cluster)
        if site is not None:
            yield kind, site, unfit(cluster, site, kind)


def _script(cluster: Cluster, site: JobSite, kind: TemplateKind) -> JobScript:
    nodes = min(kind.most, site.nodes)
    gpus = 0 if kind.layout in ("core", "data") else min(site.gpus, 1) if kind.layout == "one" else site.gpus
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
    runtime = next(iter(runtimes(cluster)), "")
    purpose = {
        **dict.fromkeys(_TRITON, "triton" if runtime == "pyxis" else "triton-oci"),
        "pytorch-podman": "pytorch-oci",
    }.get(kind.name, "pytorch")
    values = {
        "gpus": str(gpus),
        "interface": management_interface(cluster, site.kind) or "",  # of the network that bootstraps use
        "image": images(cluster)[purpose],
        "login": site.login,
        "mpi": cluster.of(Resources).mpi_default,
        "precision": precision(site),
        "runtime": runtime,
    }
    return JobScript(
        name=kind.name,
        title=kind.title,
        options=options,
        nodes=nodes,
        gpus=gpus,
        tasks=tasks,
        packages=" ".join(kind.packages),
        warning=_WARNINGS[kind.open],
        usage=tuple(_usage(cluster, kind, runtime)),
        values=tuple(Value(name, text) for name, text in values.items() if kind.name in _READ_BY[name]),
        library=LIBRARY,
    )


@once_per_cluster
def images(cluster: Cluster) -> dict[str, str]:
    """Addresses of container images, as the runtimes of templates write them: those of record, or of the catalogue."""
    names = ("pytorch", "pytorch-oci", "triton", "triton-oci")
    stated = {image.purpose: image.address for image in cluster.needs(JobImage)}
    of_oci = {f"{name}-oci": stated[name] for name in ("pytorch", "triton") if name in stated}
    for_enroot = {name: address.replace("/", "#", 1) for name, address in stated.items()}
    return {name: job_facts()[f"{name}-image"] for name in names} | for_enroot | of_oci


def _usage(cluster: Cluster, kind: TemplateKind, runtime: str) -> Iterator[str]:
    submit = f"sbatch {kind.name}.sh"
    if kind.program:
        yield f"Your program and its arguments: {submit} my_training.py --epochs 10; without them, {kind.program}"
    elif kind.name in _ARGUMENTS:
        yield f"{_ARGUMENTS[kind.name][0]}: {submit} {_ARGUMENTS[kind.name][1]}"
    if kind.name == "array":
        yield "The program gets a last argument: the line of the task in inputs.txt, without that file its number."
        yield "A larger array: sbatch --array=0-99 array.sh. The option on the command line takes precedence."
    if kind.name == "transfer":
        yield "From or to another machine, by a key of ssh: sbatch transfer.sh you@host.example.org:set/ /scratch/set/"
        yield "More options of rsync come first: sbatch transfer.sh --delete /data/set/ /scratch/set/"
        yield "When its time ends, submit it again: it goes on. Without a comparison at the end: CHECKSUM=no sbatch …"
    if kind.packages:
        packages = " ".join(kind.packages)
        yield f"A virtual environment that all nodes see: python3 -m venv ~/venv && ~/venv/bin/pip install {packages}"
    if kind.name == "pytorch-container":
        yield "The image is imported at the first start, which takes minutes. To import it once, for all nodes:"
        yield f"srun enroot import --output ~/pytorch.sqsh docker://{images(cluster)['pytorch']}"
        yield "and then IMAGE=~/pytorch.sqsh sbatch pytorch-container.sh"
    if kind.name == "pytorch-apptainer":
        yield f"An image that all nodes see: apptainer pull ~/pytorch.sif docker://{images(cluster)['pytorch-oci']}"
    if kind.name in _TRITON and runtime == "apptainer":
        yield f"An image that all nodes see: apptainer pull ~/triton.sif docker://{images(cluster)['triton-oci']}"
    if kind.name == "vllm-replicas":
        yield "Your API instead of api.py, with an object app: API=my_api sbatch vllm-replicas.sh MODEL"
    if kind.name == "requeue":
        yield "The program ends with status 75 to be continued: the job is then queued again, under the same number."


def _longest(site: JobSite) -> str:
    most = "The partition has no limit." if site.longest is None else f"At most {Duration(site.longest * 60).slurm()}."
    return f"{most} Short jobs start earlier."


def _shares(site: JobSite, kind: TemplateKind, gpus: int, tasks: int) -> list[SbatchOption]:
    """GPUs, and each GPU's share of CPUs and memory."""
    if kind.layout == "core":
        return [SbatchOption("cpus-per-task", str(site.threads), "One core with all its threads.")]
    cpus = site.cpus_per_gpu * max(gpus, 1) // tasks
    if not gpus:
        if kind.layout in ("one", "data"):  # GPUs divide a node, but here nothing does
            few = SbatchOption("cpus-per-task", str(min(cpus, _CPUS_OF_A_SERVICE)), _few(site))
            return [few, *([SbatchOption("mem", f"{_TRANSFER_MIB}M")] if kind.layout == "data" else [])]
        return [SbatchOption("cpus-per-task", str(cpus))]
    return [
        SbatchOption("gpus-per-node", f"{site.gres}:{gpus}" if site.gres else str(gpus)),
        SbatchOption("cpus-per-task", str(cpus), f"{site.cpus_per_gpu} CPUs are the share of a GPU."),
        SbatchOption("mem-per-gpu", f"{site.mem_per_gpu_mib}M", "The share of a GPU."),
    ]


def _few(site: JobSite) -> str:
    return f"{site.cpus_per_gpu} are the share of a GPU." if site.gpus else f"A node has {site.cpus_per_gpu} for jobs."


def _special(kind: TemplateKind) -> list[SbatchOption]:
    facts = job_facts()
    if kind.name == "array":
        last, at_once = int(facts["array-tasks"]) - 1, facts["array-at-once"]
        return [SbatchOption("array", f"0-{last}%{at_once}", f"{last + 1} tasks, {at_once} at the same time.")]
    if kind.name == "transfer":
        return [
            SbatchOption("requeue", "", "Slurm may start the job again after the failure of a node: it goes on."),
            SbatchOption("open-mode", "append", "The output of all runs in one file."),
        ]
    if kind.name == "requeue":
        warning = f"{facts['signal']}@{facts['signal-seconds']}"
        return [
            SbatchOption("requeue", "", "Slurm may start the job again, also after the failure of a node."),
            SbatchOption("open-mode", "append", "The output of all runs in one file."),
            SbatchOption("signal", warning, f"The tasks get this signal {facts['signal-seconds']} s before the limit."),
        ]
    return []
