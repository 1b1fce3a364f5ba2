"""GPUs of some nodes: load, heat, power, throttling, errors, links; and panels that other pages share."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.dcgm import nvlink_counters
from clustergen.cluster.dcgm import JOB_INFO, dcgm_types, job_form, limits, maps_jobs
from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.alerts import BLANK_COUNT
from clustergen.render.dashboards import (
    ANY_IS_BAD,
    CHOSEN,
    NODE_PAGE,
    Dashboard,
    PageRow,
    Panel,
    Row,
    Target,
    Variable,
    at_least,
    at_most,
    graph,
    row,
    table,
)

_NAME = "{{instance}} GPU {{gpu}}"
_BY = "max by (instance, gpu)"
_MIB = 1048576


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


def dashboard(cluster: Cluster) -> Dashboard | None:
    if not dcgm_types(cluster):
        return None
    node = Variable("instance", "Node", "DCGM_FI_DEV_GPU_TEMP", "instance")
    jobs = jobs_of(cluster, OF_NODE).panels if maps_jobs(cluster) else ()
    rows = (
        row("Now", _table(cluster, OF_NODE), *jobs),
        load(OF_NODE, "Load", _NAME),
        heat(cluster, OF_NODE, _NAME),
        row("Errors and links", *_errors(), *_links()),
    )
    return Dashboard(
        "gpu", "GPUs", "GPUs of a node: load, heat, power, throttling, errors, links.", rows, (node,), place=30
    )


def rows(cluster: Cluster) -> tuple[PageRow, ...]:
    of_node = utilisation(OF_NODE, _NAME), temperature(cluster, OF_NODE, _NAME), power(OF_NODE, _NAME)
    jobs = jobs_of(cluster, OF_NODE).panels if maps_jobs(cluster) else ()
    return (PageRow("node", row("GPUs", *of_node, *jobs), after="Networks"),)


def _table(cluster: Cluster, chosen: Gpus) -> Panel:
    """A line for each GPU, as nvidia-smi has it: one that the driver lost is missing here."""
    most = max(kind.gpus.count for kind in dcgm_types(cluster).values() if kind.gpus)
    errors = f"{_BY} (increase(gpu:ecc_dbe:max{{{chosen.matchers}}}[$__range]))"
    return table(
        "GPUs",
        Target(chosen.value("DCGM_FI_DEV_GPU_UTIL", 101), "Utilisation", "percent"),
        Target(chosen.value("DCGM_FI_DEV_GPU_TEMP", 200), "Temperature", "celsius", at_least(*limits(cluster))),
        Target(chosen.value("DCGM_FI_DEV_POWER_USAGE", BLANK_COUNT), "Power", "watt"),
        Target(f"{chosen.value('DCGM_FI_DEV_FB_USED', BLANK_COUNT)} * {_MIB}", "Memory", "bytes"),
        Target(errors, "Memory errors", steps=ANY_IS_BAD),
        Target(chosen.value("DCGM_FI_DEV_ROW_REMAP_PENDING", BLANK_COUNT), "Rows to remap", steps=ANY_IS_BAD),
        width=24,
        height=min(3 + most, 12),
        links=NODE_PAGE,
        help="Memory errors: uncorrectable ones in the time range. A GPU that is missing here is lost to the driver.",
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
    return row(
        "Jobs",
        table(
            "Jobs and their GPUs",
            Target(expr, "Utilisation", "percent"),
            links=(("job", "job"), ("instance", "node")),
            help="The prolog records the job of each GPU; a click on a job shows all of its GPUs.",
        ),
    )


def utilisation(chosen: Gpus, name: str) -> Panel:
    """Of the chosen GPUs; `name` is the legend of each."""
    return graph("Utilisation", Target(chosen.value("DCGM_FI_DEV_GPU_UTIL", 101), name), unit="percent", maximum=100)


def power(chosen: Gpus, name: str) -> Panel:
    """The panels of power, built as `utilisation` is."""
    return graph("Power", Target(chosen.value("DCGM_FI_DEV_POWER_USAGE", BLANK_COUNT), name), unit="watt")


def temperature(cluster: Cluster, chosen: Gpus, name: str) -> Panel:
    """The panels of temperature, built as `utilisation` is."""
    return graph(
        "Temperature",
        Target(chosen.value("DCGM_FI_DEV_GPU_TEMP", 200), name),
        unit="celsius",
        steps=at_least(*limits(cluster)),
        help="The lines are the thresholds of the alerts on temperature.",
        minimum=None,
    )


def load(chosen: Gpus, title: str, name: str) -> Row:
    return row(
        title,
        utilisation(chosen, name),
        graph(
            "Tensor cores",
            Target(chosen.value("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", 2), name),
            unit="percentunit",
            help="Share of time in which tensor cores work.",
        ),
        graph(
            "Memory bandwidth",
            Target(chosen.value("DCGM_FI_PROF_DRAM_ACTIVE", 2), name),
            unit="percentunit",
            help="Share of time in which memory moves data.",
        ),
        graph(
            "Memory used",
            Target(f"{chosen.value('DCGM_FI_DEV_FB_USED', BLANK_COUNT)} * {_MIB}", name),
            unit="bytes",
        ),
        graph(
            "PCIe",
            Target(chosen.value("DCGM_FI_PROF_PCIE_RX_BYTES", BLANK_COUNT), f"{name} received"),
            Target(f"-{chosen.value('DCGM_FI_PROF_PCIE_TX_BYTES', BLANK_COUNT)}", f"{name} sent"),
            unit="Bps",
            minimum=None,
        ),
        graph(
            "SM clock",
            Target(f"{chosen.value('DCGM_FI_DEV_SM_CLOCK', BLANK_COUNT)} * 1e6", name),
            unit="hertz",
            minimum=None,
        ),
    )


def heat(cluster: Cluster, chosen: Gpus, name: str) -> Row:
    return row(
        "Heat and power",
        temperature(cluster, chosen, name),
        graph(
            "Margin to the limit",
            Target(chosen.value("DCGM_FI_DEV_GPU_TEMP_LIMIT", 200), name),
            unit="celsius",
            steps=at_most(5, 0),
            help="Degrees until the GPU throttles, as the driver reports from R570 on.",
            minimum=None,
        ),
        graph(
            "Memory temperature",
            Target(chosen.value("DCGM_FI_DEV_MEMORY_TEMP", 200), name),
            unit="celsius",
            minimum=None,
        ),
        power(chosen, name),
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
            help=meaning,
        )
    yield graph(
        "Xids in five minutes",
        Target(f"max by (instance, gpu, xid) (DCGM_EXP_XID_ERRORS_COUNT{{{CHOSEN}}})", f"{_NAME} Xid {{{{xid}}}}"),
        help="By number.",
    )


def _links() -> Iterator[Panel]:
    yield graph(
        "PCIe packets sent again", Target(f"rate(gpu:pcie_replay:max{{{CHOSEN}}}[$__rate_interval])", _NAME), unit="eps"
    )
    names = [f"gpu:nvlink_{name}:max" for name in dict.fromkeys(row.name for row in nvlink_counters())]
    yield graph(
        "NVLink errors in an hour",
        *(
            Target(f"increase({name}{{{CHOSEN}}}[1h])", f"{_NAME} {name.split(':')[1].removeprefix('nvlink_')}")
            for name in names
        ),
        help="By counter of the GPU's generation.",
    )
