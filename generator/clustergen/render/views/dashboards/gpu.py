"""GPUs of some nodes: load, heat, power, throttling, errors, links; and the GPUs of one job."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.dcgm import nvlink_counters
from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.views.alerts.cluster import BUSY_PERCENT
from clustergen.render.views.alerts.heat import limits
from clustergen.render.views.alerts.model import BLANK_COUNT, JOB_INFO, gpus_in_jobs, job_form, maps_jobs
from clustergen.render.views.dashboards.model import (
    ANY_IS_BAD,
    CHOSEN,
    Dashboard,
    Panel,
    Row,
    Step,
    Target,
    Variable,
    at_least,
    at_most,
    graph,
    stat,
)

_NAME = "{{instance}} GPU {{gpu}}"
_BY = "max by (instance, gpu)"


@record
class Gpus:
    """GPUs that panels show: `matchers` of their samples, and `job` of the series of jobs, where samples name none."""

    matchers: str
    job: str = ""

    def value(self, metric: str, below: int | str) -> str:
        """The metric by GPU, without DCGM's blank values, which are not `below`."""
        value = f"{_BY} ({metric}{{{self.matchers}}} < {below})"
        return f"({value} and on (instance, gpu) {JOB_INFO}{{{self.job}}})" if self.job else value

    def present(self) -> str:
        """Series with the labels instance and gpu, of the GPUs of a job."""
        return f"{JOB_INFO}{{{self.job}}}" if self.job else f"DCGM_FI_DEV_GPU_TEMP{{{self.matchers}}}"


OF_NODE = Gpus(CHOSEN)


def gpus(cluster: Cluster) -> Dashboard:
    node = Variable("instance", "Node", "DCGM_FI_DEV_GPU_TEMP", "instance")
    rows = (
        *([jobs_of(cluster, OF_NODE)] if maps_jobs(cluster) else []),
        _load(OF_NODE, "Load", _NAME),
        _heat(cluster, OF_NODE, _NAME),
        Row("Errors", tuple(_errors())),
        Row("Links", tuple(_links())),
    )
    return Dashboard("gpu", "GPUs", "GPUs of a node: load, heat, power, throttling, errors, links.", rows, (node,))


def _of_job(cluster: Cluster) -> tuple[Gpus, tuple[Variable, ...]]:
    """The GPUs of the chosen job. A series of jobs is joined with samples of the job's nodes, not with those of all."""
    if job_form(cluster) == "label":
        return Gpus('hpc_job=~"$job"'), (Variable("job", "Job", gpus_in_jobs(cluster), "hpc_job"),)
    job = 'hpc_job=~"$job"'
    nodes = Variable("instance", "Nodes of the job", f"{JOB_INFO}{{{job}}}", "instance", has_all=True)
    return Gpus(CHOSEN, job), (Variable("job", "Job", JOB_INFO, "hpc_job"), nodes)


def job(cluster: Cluster) -> Dashboard | None:
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
            Row(
                "Summary",
                (
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
            ),
            jobs_of(cluster, chosen),
            _load(chosen, "GPUs of the job", name),
            _heat(cluster, chosen, name),
            Row(
                "Nodes of the job",
                (
                    graph(
                        "CPU",
                        Target(f"node:cpu_busy:ratio {nodes}", "{{instance}}"),
                        unit="percentunit",
                        minimum=0,
                        maximum=1,
                        width=12,
                        links=(("instance", "node"),),
                    ),
                    graph(
                        "Memory",
                        Target(f"node:memory_used:ratio {nodes}", "{{instance}}"),
                        unit="percentunit",
                        minimum=0,
                        maximum=1,
                        width=12,
                        links=(("instance", "node"),),
                    ),
                ),
            ),
        ),
        variables,
    )


def jobs_of(cluster: Cluster, chosen: Gpus) -> Row:
    """The jobs that have the GPUs, each with a link to its page."""
    by = "max by (instance, gpu, hpc_job)"
    utilisation = f"DCGM_FI_DEV_GPU_UTIL{{{chosen.matchers}"
    if job_form(cluster) == "label":
        held = f'{by} ({utilisation},hpc_job!=""}} < 101)'
    else:
        jobs = f"{JOB_INFO}{{{chosen.job or chosen.matchers}}}"
        held = f"{by} ({jobs} * on (instance, gpu) group_left () {_BY} ({utilisation}}} < 101))"
    expr = f'sum by (instance, gpu, job) (label_replace({held}, "job", "$1", "hpc_job", "(.*)"))'
    table = Panel(
        "Jobs and their GPUs",
        "table",
        (Target(expr, "Utilisation", "percent"),),
        links=(("job", "job"), ("instance", "node")),
        help="The prolog records the job of each GPU; a click on a job shows all of its GPUs.",
    )
    return Row("Jobs", (table,))


def utilisation(chosen: Gpus, name: str) -> Panel:
    """Of the chosen GPUs; `name` is the legend of each."""
    return graph(
        "Utilisation",
        Target(chosen.value("DCGM_FI_DEV_GPU_UTIL", 101), name),
        unit="percent",
        minimum=0,
        maximum=100,
    )


def power(chosen: Gpus, name: str) -> Panel:
    """As `utilisation`."""
    return graph(
        "Power",
        Target(chosen.value("DCGM_FI_DEV_POWER_USAGE", BLANK_COUNT), name),
        unit="watt",
        minimum=0,
    )


def _load(chosen: Gpus, title: str, name: str) -> Row:
    bytes_per_mib = 1048576
    return Row(
        title,
        (
            utilisation(chosen, name),
            graph(
                "Tensor cores",
                Target(chosen.value("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", 2), name),
                unit="percentunit",
                minimum=0,
                help="Share of time in which tensor cores work.",
            ),
            graph(
                "Memory bandwidth",
                Target(chosen.value("DCGM_FI_PROF_DRAM_ACTIVE", 2), name),
                unit="percentunit",
                minimum=0,
                help="Share of time in which memory moves data.",
            ),
            graph(
                "Memory used",
                Target(f"{chosen.value('DCGM_FI_DEV_FB_USED', BLANK_COUNT)} * {bytes_per_mib}", name),
                unit="bytes",
                minimum=0,
            ),
            graph(
                "PCIe",
                Target(chosen.value("DCGM_FI_PROF_PCIE_RX_BYTES", BLANK_COUNT), f"{name} received"),
                Target(f"-{chosen.value('DCGM_FI_PROF_PCIE_TX_BYTES', BLANK_COUNT)}", f"{name} sent"),
                unit="Bps",
            ),
            graph(
                "SM clock",
                Target(f"{chosen.value('DCGM_FI_DEV_SM_CLOCK', BLANK_COUNT)} * 1e6", name),
                unit="hertz",
            ),
        ),
    )


def _heat(cluster: Cluster, chosen: Gpus, name: str) -> Row:
    warning, critical = limits(cluster)
    return Row(
        "Heat and power",
        (
            graph(
                "Temperature",
                Target(chosen.value("DCGM_FI_DEV_GPU_TEMP", 200), name),
                unit="celsius",
                steps=at_least(warning, critical),
                help="The lines are the thresholds of the alerts on temperature.",
            ),
            graph(
                "Margin to the limit",
                Target(chosen.value("DCGM_FI_DEV_GPU_TEMP_LIMIT", 200), name),
                unit="celsius",
                steps=at_most(5, 0),
                help="Degrees until the GPU throttles, as the driver reports from R570 on.",
            ),
            graph("Memory temperature", Target(chosen.value("DCGM_FI_DEV_MEMORY_TEMP", 200), name), unit="celsius"),
            power(chosen, name),
        ),
    )


def _errors() -> Iterator[Panel]:
    for title, metric, meaning in (
        ("Time throttled by heat", "gpu:thermal_violation_ns:max", "Share of time."),
        ("Time throttled by power", "gpu:power_violation_ns:max", "Share of time."),
    ):
        yield graph(
            title,
            Target(f"rate({metric}{{{CHOSEN}}}[$__rate_interval]) / 1e9", _NAME),
            unit="percentunit",
            minimum=0,
            help=meaning,
        )
    for title, expr in (
        ("Uncorrectable memory errors", f"increase(gpu:ecc_dbe:max{{{CHOSEN}}}[$__range])"),
        ("Memory rows to remap", f"{_BY} (DCGM_FI_DEV_ROW_REMAP_PENDING{{{CHOSEN}}} < {BLANK_COUNT})"),
    ):
        yield Panel(title, "bargauge", (Target(expr, _NAME),), steps=ANY_IS_BAD, minimum=0)
    yield graph(
        "Xids",
        Target(f"max by (instance, gpu, xid) (DCGM_EXP_XID_ERRORS_COUNT{{{CHOSEN}}})", f"{_NAME} Xid {{{{xid}}}}"),
        minimum=0,
        help="Errors in the last five minutes, by number.",
    )


def _links() -> Iterator[Panel]:
    yield graph(
        "PCIe packets sent again",
        Target(f"rate(gpu:pcie_replay:max{{{CHOSEN}}}[$__rate_interval])", _NAME),
        unit="eps",
        minimum=0,
    )
    names = [f"gpu:nvlink_{name}:max" for name in dict.fromkeys(row.name for row in nvlink_counters())]
    yield graph(
        "NVLink errors",
        *(
            Target(f"increase({name}{{{CHOSEN}}}[1h])", f"{_NAME} {name.split(':')[1].removeprefix('nvlink_')}")
            for name in names
        ),
        minimum=0,
        help="In an hour, by counter of the GPU's generation.",
    )
