"""Plugins of slurm.conf that need a key, a file or another plugin, or exclude one."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.slurm_values import token
from clustergen.lint.finding import LintFinding
from clustergen.lint.site import Site, bare
from clustergen.slurmconf.scalars import TRUE
from clustergen.slurmrules.combinations import UNITS

_CONTAIN = "write PrologFlags=Contain"
_BOTH_TASKS = "write TaskPlugin=task/cgroup,task/affinity"
_PROFILES = {"hdf5": "ProfileHDF5Dir", "influxdb": "ProfileInfluxDBHost"}
"""What keeps profiles of jobs → the key of acct_gather.conf without which it stops."""


def select(site: Site) -> Iterator[LintFinding]:
    """The consumable resources, and settings that depend on them."""
    plugin, parameters = site.setting("SelectType"), site.setting("SelectTypeParameters")
    kind = site.plugin("SelectType")
    parts = [word for word in site.words("SelectTypeParameters") if word in UNITS and word != "cr_memory"]
    if parameters and kind == "linear" and parts:
        yield site.error(
            "slurm-value-wrong",
            parameters,
            "select/linear allocates whole nodes; slurmctld does not start with CPUs, cores or sockets",
            "write SelectType=select/cons_tres" + ("" if plugin else ", the default since 23.11"),
        )
    words = [word for word in parameters.text.split(",") if word] if parameters else []
    readable = words or site.has("empty-select-parameters")
    if parameters and kind.startswith("cons") and not parts and readable and all(map(_is_parameter, words)):
        message = f"select/{kind} allocates CPUs, cores or sockets; slurmctld does not start without one of them"
        yield site.error("slurm-value-wrong", parameters, message, "write SelectTypeParameters=CR_Core_Memory")
    if plugin and kind == "linear" and site.plugin("TopologyPlugin") == "tree" and site.has("linear-without-tree"):
        message = "select/linear and topology/tree exclude each other; no daemon starts with both"
        yield site.error("slurm-value-wrong", plugin, message, "write SelectType=select/cons_tres")
    if kind != "cons_tres" and (most := site.setting("MaxNodeCount")) and site.has("max-node-count-with-cons-tres"):
        message = "MaxNodeCount requires select/cons_tres; no daemon starts without it"
        yield site.error("slurm-value-wrong", most, message, key=True)


def _is_parameter(word: str) -> bool:
    return token("SelectTypeParameters", word) is not None


def route(site: Site) -> Iterator[LintFinding]:
    """Messages along the tree of switches need one; later releases route them so by TopologyParam."""
    setting = site.setting("RoutePlugin")
    by_tree = site.plugin("RoutePlugin") == "topology" and site.has("route-topology")
    if setting and by_tree and site.plugin("TopologyPlugin") != "tree":
        message = "route/topology requires TopologyPlugin=topology/tree; slurmctld does not start without it"
        yield site.error("slurm-value-wrong", setting, message, "delete it, or write topology.conf")


def shared_gpus(site: Site) -> Iterator[LintFinding]:
    """Settings that GPU sharing needs, and a selection plugin that supports it."""
    types, setting = site.words("GresTypes"), site.setting("GresTypes")
    if setting is None or not {"mps", "shard"} & set(types):
        return
    if "gpu" not in types:
        yield site.error(
            "slurm-value-wrong",
            setting,
            "mps and shard require gpu in GresTypes; slurmctld does not start without it",
            f"write GresTypes=gpu,{','.join(types)}",
        )
    elif site.plugin("SelectType") != "cons_tres":
        message = "mps and shard require select/cons_tres; slurmctld does not start without it"
        yield site.error("slurm-value-wrong", setting, message, "write SelectType=select/cons_tres")


def containment(site: Site) -> Iterator[LintFinding]:
    """Settings that keep a job's processes together from its start."""
    flags, setting = site.words("PrologFlags"), site.setting("PrologFlags")
    contains = bool({"contain", "x11"} & set(flags))
    track = site.plugin("ProctrackType")
    if setting and "x11" in flags and track == "linuxproc":
        message = "X11 and proctrack/linuxproc exclude each other; no daemon starts with both"
        yield site.error("slurm-value-wrong", setting, message, "write ProctrackType=proctrack/cgroup")
    elif setting and contains and track != "cgroup":
        message = "PrologFlags=Contain requires proctrack/cgroup for pam_slurm_adopt; Slurm logs an error"
        yield site.warning("slurm-value-harmful", setting, message, "write ProctrackType=proctrack/cgroup")
    if contains:
        return
    for key in ("JobContainerType", "NamespaceType"):
        spaces = site.setting(key)
        if (
            spaces
            and bare(spaces.text).lower() != "none"
            and (spaces.text or site.has("empty-namespace-needs-contain"))
        ):
            message = f"{key} requires PrologFlags=Contain; no daemon starts without it"
            yield site.error("slurm-value-wrong", spaces, message, _CONTAIN)
    manager = site.setting("SlurmctldParameters")
    if manager and "enable_stepmgr" in site.words("SlurmctldParameters") and site.has("stepmgr-needs-contain"):
        message = "enable_stepmgr requires PrologFlags=Contain; slurmctld does not start without it"
        yield site.error("slurm-value-wrong", manager, message, _CONTAIN)


def memory_twice(site: Site) -> Iterator[LintFinding]:
    """One watch over the memory of jobs: the kernel's, or Slurm's own."""
    gather, cgroup = site.setting("JobAcctGatherParams"), site.directory.config("cgroup.conf")
    held = cgroup.value("ConstrainRAMSpace", "ConstrainSwapSpace") if cgroup else None
    constrained = held is not None and held.text.lower() in TRUE and "cgroup" in map(bare, site.words("TaskPlugin"))
    if gather and constrained and "overmemorykill" in site.words("JobAcctGatherParams"):
        message = "cgroup.conf already constrains memory; no daemon starts with OverMemoryKill as well"
        yield site.error("slurm-value-wrong", gather, message, "delete OverMemoryKill")


def gathering(site: Site) -> Iterator[LintFinding]:
    """Settings for the measurement of jobs."""
    gather = site.setting("JobAcctGatherType")
    if gather and site.plugin("JobAcctGatherType") == "linux" and site.plugin("ProctrackType") == "pgid":
        message = "with proctrack/pgid Slurm gathers job usage by a much slower method; it logs a warning"
        yield site.warning("slurm-value-harmful", gather, message, "write ProctrackType=proctrack/cgroup")
    profile = site.setting("AcctGatherProfileType")
    key = _PROFILES.get(site.plugin("AcctGatherProfileType"))
    config = site.directory.config("acct_gather.conf")
    if profile and key and (config is None or config.value(key) is None):
        message = f"'{profile.text}' requires {key} in acct_gather.conf; no daemon starts without it"
        yield site.error("slurm-key-lacking", profile, message, f"add {key}=… to acct_gather.conf")


def parameters(site: Site) -> Iterator[LintFinding]:
    """Plugins and words that stop without what they need."""
    groups = site.setting("MCSPlugin")
    if groups and site.plugin("MCSPlugin") == "group" and site.setting("MCSParameters") is None:
        message = "mcs/group requires MCSParameters; no daemon starts without it"
        yield site.error("slurm-value-wrong", groups, message, "write MCSParameters=enforced:group1|group2")
    params = site.setting("TaskPluginParam")
    for word in ("oomkillstep", "slurmdspecoverride"):
        without = "cgroup" not in map(bare, site.words("TaskPlugin")) and site.has("task-words-need-cgroup")
        if params and without and word in site.words("TaskPluginParam"):
            message = f"{word} requires task/cgroup; no daemon starts without it"
            yield site.error("slurm-value-wrong", params, message, _BOTH_TASKS)
    certificates = site.setting("CertmgrType")
    script = site.plugin("CertmgrType") == "script" and site.has("certmgr-script-checked")
    if certificates and script and "sign_csr_script" not in site.words("CertmgrParameters"):
        message = "certmgr/script requires sign_csr_script in CertmgrParameters; slurmctld does not start without it"
        yield site.error("slurm-value-wrong", certificates, message, "write CertmgrParameters=sign_csr_script=…")


def scripts(site: Site) -> Iterator[LintFinding]:
    """Files that Slurm expects beside slurm.conf."""
    submit = site.setting("JobSubmitPlugins")
    if submit and "lua" in map(bare, site.words("JobSubmitPlugins")) and not site.directory.has("job_submit.lua"):
        message = "job_submit.lua is not next to slurm.conf; slurmctld does not start if it is missing on the host too"
        yield site.warning("slurm-key-lacking", submit, message)
    for key in ("PrologSlurmctld", "EpilogSlurmctld"):
        for program in site.slurm.settings(key) if site.slurm and site.has("programs-by-name") else ():
            if program.text and not program.text.startswith("/") and not site.directory.has(program.text):
                message = (
                    f"'{program.text}' is not next to slurm.conf; slurmctld does not start if it is missing on"
                    " the host too"
                )
                yield site.warning(
                    "slurm-key-lacking", program, message, "write an absolute path, or put the file next to slurm.conf"
                )


def power_actions(site: Site) -> Iterator[LintFinding]:
    for action in site.slurm.entries("PowerAction") if site.slurm else ():
        place = action.own_value("Location")
        if place is None or place.text.lower() not in ("slurmctld", "slurmd"):
            message = f"PowerAction '{action.names}' has no Location; no daemon starts"
            yield site.error("slurm-value-wrong", place or action, message, "add Location=slurmctld or Location=slurmd")
        elif not action.text("Program"):
            message = f"PowerAction '{action.names}' has no Program; no daemon starts"
            yield site.error("slurm-value-wrong", action, message, "write Program=/path")


CHECKS = (route, select, shared_gpus, containment, memory_twice, gathering, parameters, scripts, power_actions)
