"""Section of the guide for users: what they see of a job that goes wrong, a command, and what its output means."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.job_templates import quota_commands
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.associations import Associations
from clustergen.cluster.slurm.job_site import JobSite
from clustergen.cluster.slurm.scheduling import Preemption
from clustergen.features.user_guide.guide_tables import Part, is_asked
from clustergen.features.user_guide.scripts import job_scripts
from clustergen.render.views.tables import Table, table_of
from clustergen.units.duration import slurm_minutes

_STEPS = "sacct -j JOBID -o jobid,state,exitcode,elapsed,maxrss,reqmem"


def symptoms(cluster: Cluster, site: JobSite) -> Part:
    names = job_scripts(cluster)
    script = next((f"{name}.sh" for name in ("pytorch-srun", "array", "jupyter") if name in names), "script.sh")
    table = table_of("Symptoms", "", _rows(cluster, site))
    return Part(
        "When something is wrong",
        (
            "`why JOBID` explains in a sentence why a job waits, how long it may still run, or how it ended, and names "
            "the command that helps. Without a number it explains all of your waiting jobs.",
        ),
        ("why", "why JOBID", f"sbatch --test-only {script}"),
        ("`--test-only` checks a script and estimates its start without submitting it.",),
        (Table(table.title, table.intro, table.columns, table.rows, frozenset({"Command"})),),
    )


def _row(symptom: str, command: str, meaning: str) -> dict[str, str]:
    return {"You see": symptom, "Command": command, "What its output means": meaning}


def _rows(cluster: Cluster, site: JobSite) -> Iterator[dict[str, str]]:
    again = (
        " requeue.sh saves a checkpoint before and queues itself again." if "requeue" in job_scripts(cluster) else ""
    )
    yield _row(
        "a job waits",
        "why JOBID",
        "The number of nodes that are free, jobs before it, or the limit that it reaches, with what is in use of it.",
    )
    if preempting := _preempting(cluster):
        yield _row(
            "a job stops and waits again, or ended as PREEMPTED",
            "sacct -D -j JOBID -o jobid,state,start,end,qos",
            f"A line per start. PREEMPTED or REQUEUED: a job of higher rank took its nodes. {preempting}{again}",
        )
    longest = "" if site.longest is None else f", in {site.partition.name} at most {slurm_minutes(site.longest)}"
    yield _row(
        "a job ended after days",
        _STEPS,
        f"TIMEOUT: it reached its time limit{longest}. Request more with --time, or let it continue from a "
        f"checkpoint.{again} NODE_FAIL: a node failed; submit it again with --requeue.",
    )
    yield _row(
        "a job ended with Killed or OUT_OF_MEMORY",
        _STEPS,
        "MaxRSS of a step near ReqMem: request more with "
        + ("--mem-per-gpu" if site.gpus else "--mem-per-cpu")
        + ", or start fewer workers that load data.",
    )
    where = "srun --jobid=JOBID --overlap --nodes=1 --ntasks=1"
    if site.gpus:
        yield _row(
            "CUDA out of memory at the start",
            f"{where} nvidia-smi",
            "Memory in use, and the processes that have it. Yours: make the batch smaller, or end what is left of an "
            "earlier step. No process of yours: name the node and the GPU to the operators.",
        )
    yield _row(
        "a job runs and prints nothing more",
        f"{where} {'nvidia-smi' if site.gpus else 'top -b -n 1 -u $USER'}",
        "100 % GPU utilization at low power on all nodes: processes wait for one that is missing. Look for the first "
        "error of any process in the output, and start again with NCCL_DEBUG=INFO. 0 %: the program waits for data."
        if site.gpus
        else "Processes without CPU time wait for files or for another process.",
    )
    yield _row(
        "a job is slow",
        f"{where} nvidia-smi -q -d PERFORMANCE"
        if site.gpus
        else "sstat -a -j JOBID -o jobid,avecpu,maxrss,avediskread",
        "A slowdown reason that is Active (HW Slowdown, HW Thermal Slowdown): name the node to the operators. None: "
        "compare the GPU utilization; below 80 % the program waits for data or for other nodes."
        if site.gpus
        else "AveCPU far below the run time: the program waits for files, or uses fewer CPUs than it requested.",
    )
    yield _row(
        "the loss is NaN after a restart",
        'python3 -c \'import torch; s = torch.load("checkpoint.pt", "cpu", weights_only=True)["model"]; '
        "print([n for n, t in s.items() if not t.isfinite().all()])'",
        "Names: the checkpoint has the NaN already; continue from an older one. []: the restart lacks state. Save and "
        "load optimizer, scheduler, gradient scaler and the position in the data as well. If NaN comes from one node "
        "only, name it to the operators.",
    )
    yield from _full(cluster)


def _preempting(cluster: Cluster) -> str:
    """Sentences on who takes nodes from whom; empty where nobody does."""
    by = cluster.of(Preemption).by
    if by == "off":
        return ""
    if by == "partition":
        tiers = sorted({one.priority_tier or 1 for one in cluster.slurm.partitions if not one.hidden}, reverse=True)
        names = [
            one.name for one in cluster.slurm.partitions if (one.priority_tier or 1) == tiers[0] and not one.hidden
        ]
        return f"Jobs of partition {', '.join(names)} take nodes from others. " if tiers[1:] else ""
    pairs = [
        f"{name} from {', '.join(qos.preempt)}" for name, qos in cluster.of(Associations).qos.items() if qos.preempt
    ]
    return f"Jobs of QOS {'; '.join(pairs)} take nodes." if pairs else ""


def _full(cluster: Cluster) -> Iterator[dict[str, str]]:
    commands = [
        command.format(mount=entry.mount)
        for entry in cluster.storage.values()
        if (command := quota_commands().get(entry.type, "")) and is_asked(cluster, entry)
    ]
    where = " by file system" if len(commands) > 1 else ""
    yield _row(
        "No space left on device, or Disk quota exceeded",
        "; ".join(dict.fromkeys(commands)) or "df -h $HOME",
        f"Your use and your limit{where}." if commands else "The space that is left for all users.",
    )
