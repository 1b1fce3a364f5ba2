"""Alerts on hot GPUs: up to Ampere by the limit of the model, from Ada on by the margin that the GPU reports."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.gpu_health import max_operating_c
from clustergen.cluster.dcgm import DEFAULT_LIMIT_C, DEGREES_BELOW, Dcgm, dcgm_types, exports, reports
from clustergen.cluster.model import Cluster
from clustergen.render.alerts import WHERE, Alert, Severity, for_types, one_of

_MARGIN = "DCGM_FI_DEV_GPU_TEMP_LIMIT"
_DEFAULT = " The threshold is a default: no limit of this model is known, and the GPU reports no margin."
_MARGIN_VALUE = (
    " Value: {{ $value }} C, the margin that is left; with drivers before R570, which report none, the temperature."
)
_TEXTS: dict[str, tuple[str, Severity, str, str]] = {
    "GpuHot": (
        "5m", "warning",
        "The GPU approaches the temperature at which it throttles.",
        "Look at its neighbours: one hot GPU is a heat sink or fan, a hot node is air flow, a hot rack is the room.",
    ),
    "GpuVeryHot": (
        "1m", "critical",
        "The GPU is at its limit: it throttles, and shuts down if it gets hotter.",
        "Drain the node and check fans, filters, coolant and the room before it returns to service.",
    ),
}  # fmt: skip


def alerts(cluster: Cluster) -> Iterator[Alert]:
    dcgm = cluster.of(Dcgm)
    for name, threshold, below in (("GpuHot", dcgm.hot_c, DEGREES_BELOW), ("GpuVeryHot", dcgm.very_hot_c, 0)):
        alike: dict[tuple[int, bool, bool], list[str]] = {}
        for kind in dcgm_types(cluster).values():
            if kind.gpus:
                limit = max_operating_c().get(kind.gpus.model.id)
                has_margin = threshold is None and exports(cluster, _MARGIN) and reports(kind, _MARGIN)
                is_default = threshold is None and limit is None
                key = (threshold or (limit or DEFAULT_LIMIT_C) - below, has_margin, is_default)
                alike.setdefault(key, []).append(kind.name)
        for (above, has_margin, is_default), names in alike.items():
            which = f'{{job="dcgm",node_type{one_of(names)}}}'
            margin = f"max without (hpc_job) ({_MARGIN}{which})"
            temperature = f"max without (hpc_job) (DCGM_FI_DEV_GPU_TEMP{which}) > {above} < 200"
            if has_margin:
                # 0 is the limit itself; above 100 is a blank value.
                condition = f"{margin} < {below}" if below else f"{margin} <= 0"
                expr = f"{condition}\nor\n({temperature}\nunless on (instance, gpu)\n{margin} < 100)"
                summary = f"{WHERE} is {'near' if below else 'at'} its temperature limit"
                yield _alert(name, expr, summary, names, _MARGIN_VALUE)
            else:
                yield _alert(
                    name, temperature, f"{WHERE} is at {{{{ $value }}}} C", names, _DEFAULT if is_default else ""
                )


def _alert(name: str, expr: str, summary: str, names: list[str], remark: str) -> Alert:
    wait, severity, meaning, runbook = _TEXTS[name]
    return Alert(
        name, expr, wait, severity, summary=summary, meaning=meaning + remark, action=runbook, labels=for_types(names)
    )
