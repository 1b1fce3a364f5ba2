"""MIG plans: that they fit on their GPUs, and which types Slurm detects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from clustergen.catalogue import mig as catalogue
from clustergen.cluster.gpu_settings import MigPlans
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.model import Slurm
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.diagnostics.words import on_one_line


def mig_plans(cluster: Cluster) -> Iterator[Finding]:
    """A plan must fit on each GPU that it is used for."""
    reported: set[tuple[str, str]] = set()
    for kind in cluster.node_types:
        gpus, path = kind.gpus, ("node_types", kind.name, "gpus")
        layouts = [layout for layout in gpus.mig if layout] if gpus else []
        if not gpus or not layouts:
            continue
        if not gpus.model.mig_max:
            yield Finding("mig-not-supported", (*path, "mig"), f"the {gpus.model.nvml_name} does not support MIG")
            continue
        if cluster.has(Slurm) and gpus.autodetect != "nvml":
            yield Finding(
                "mig-needs-nvml",
                (*path, "autodetect"),
                f"slurmd does not detect MIG instances with autodetect: {gpus.autodetect}",
                "set autodetect: nvml, which requires a slurmd built with NVML",
            )
        for layout in layouts:
            if (layout.plan, gpus.model.id) not in reported:
                reported.add((layout.plan, gpus.model.id))
                yield from _layout(layout.plan, Counter(layout.profiles), gpus.model.mig_family, gpus.model.nvml_name)


def mig_type_uncertain(cluster: Cluster) -> Iterator[Finding]:
    """Before 23.02.6 slurmd rounds the memory that the driver reports, so 3g.40gb may be 3g.39gb there."""
    if not cluster.has(Slurm) or cluster.slurm.release > catalogue.NAMED_BY_NVIDIA:
        return
    old = cluster.slurm.release < catalogue.NAMED_BY_NVIDIA
    for kind in cluster.node_types:
        gpus, path = kind.gpus, ("node_types", kind.name, "gpus")
        profiles = dict.fromkeys(name for layout in gpus.mig if layout for name in layout.profiles) if gpus else ()
        if not gpus or not gpus.gres_type or not profiles:
            continue
        names = ", ".join(dict.fromkeys(map(gpus.instance_type, profiles)))
        yield Finding(
            "mig-type-uncertain",
            (*path, "mig"),
            f"Slurm {cluster.slurm.release}{'' if old else ' before 23.02.6'} rounds the memory of a MIG instance to"
            " GiB, which"
            f" depends on the driver, so slurmd may detect other types than {names} and drain '{kind.name}'",
            "run `slurmd -G` on a node and compare, or use Slurm 23.11 or newer"
            if old
            else "install 23.02.6 or newer on the nodes",
        )


def mig_plan_unused(cluster: Cluster) -> Iterator[Finding]:
    plans = cluster.of(MigPlans)
    if plans.used <= set(plans.defined):  # otherwise the misspelt one is said, and probably means this one
        for name in plans.defined:
            if name not in plans.used:
                yield Finding(
                    "mig-plan-unused",
                    ("gpu", "mig_plans", name),
                    f"no node type uses MIG plan '{name}'",
                    f"set gpus: {{mig: {name}}} in a node type, or remove the plan",
                    key=True,
                )


def _layout(plan: str, profiles: Counter[str], family: str, gpu: str) -> Iterator[Finding]:
    path: ManifestPath = ("gpu", "mig_plans", plan, "profiles")
    profile_names = [profile.profile for profile in catalogue.mig_profiles(family)]
    for name in profiles:
        if name not in profile_names:
            yield Finding(
                "mig-profile-unknown",
                (*path, name),
                f"'{name}' is not a MIG profile of the {gpu}",
                _example(family, gpu, profiles),
                key=True,
            )
            return
    if reason := catalogue.mig_problem(family, profiles):
        message = f"these instances do not fit on one {gpu}: {reason}"
        yield Finding("mig-layout-impossible", path, message, _example(family, gpu, profiles))


def _example(family: str, gpu: str, similar: Iterable[str]) -> str:
    text = on_one_line(catalogue.mig_example(family, similar))
    return f"write profiles: {text}; the {gpu} has {catalogue.mig_listing(family)}"
