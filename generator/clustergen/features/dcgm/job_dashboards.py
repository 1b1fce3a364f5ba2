"""The GPUs and nodes of one job."""

from __future__ import annotations

from clustergen.cluster.dcgm import BUSY_PERCENT, JOB_INFO, gpus_in_jobs, job_form, maps_jobs
from clustergen.cluster.model import Cluster
from clustergen.features.dcgm.dashboards import Gpus, heat, jobs_of, load
from clustergen.render.alerts import BLANK_COUNT
from clustergen.render.dashboards import CHOSEN, Dashboard, Step, Target, Variable, graph, row, stat


def _of_job(cluster: Cluster) -> tuple[Gpus, tuple[Variable, ...]]:
    """The GPUs of the chosen job. A series of jobs is joined with samples of the job's nodes, not with those of all."""
    if job_form(cluster) == "label":
        return Gpus('hpc_job=~"$job"'), (Variable("job", "Job", gpus_in_jobs(cluster), "hpc_job"),)
    job = 'hpc_job=~"$job"'
    nodes = Variable("instance", "Nodes of the job", f"{JOB_INFO}{{{job}}}", "instance", has_all=True)
    return Gpus(CHOSEN, job), (Variable("job", "Job", JOB_INFO, "hpc_job"), nodes)


def dashboard(cluster: Cluster) -> Dashboard | None:
    """None where metrics do not name the jobs of a GPU."""
    if not maps_jobs(cluster):
        return None
    chosen, variables = _of_job(cluster)
    name = "{{instance}} GPU {{gpu}}"
    nodes = f"and on (instance) {chosen.present()}"
    utilisation = chosen.value("DCGM_FI_DEV_GPU_UTIL", 101)
    power = chosen.value("DCGM_FI_DEV_POWER_USAGE", BLANK_COUNT)
    return Dashboard(
        "job",
        "Job",
        "The GPUs and nodes of one job, by its ID.",
        (
            row(
                "Summary",
                stat("GPUs", f"count(count by (instance, gpu) ({chosen.present()}))"),
                stat("Nodes", f"count(count by (instance) ({chosen.present()}))"),
                stat("Utilisation", f"avg({utilisation})", "percent"),
                stat(
                    "Idle GPUs",
                    f"count({utilisation} < {BUSY_PERCENT}) or vector(0)",
                    steps=(Step(None, "green"), Step(1, "yellow")),
                ),
                stat("Power", f"sum({power})", "watt"),
                stat(
                    "Energy",
                    f"sum(sum_over_time({power}[$__range:1m])) / 60",
                    "watth",
                    help="In the time range of the page, while the job had the GPUs.",
                ),
            ),
            jobs_of(cluster, chosen),
            load(chosen, "GPUs of the job", name),
            heat(cluster, chosen, name),
            row(
                "Nodes of the job",
                graph(
                    "CPU",
                    Target(f"node:cpu_busy:ratio {nodes}", "{{instance}}"),
                    unit="percentunit",
                    maximum=1,
                    width=12,
                ),
                graph(
                    "Memory",
                    Target(f"node:memory_used:ratio {nodes}", "{{instance}}"),
                    unit="percentunit",
                    maximum=1,
                    width=12,
                ),
            ),
        ),
        variables,
        place=40,
    )
