"""Plugins of slurm.conf that need a key, a file or another plugin, or exclude one; and cgroup.conf, which they read."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.slurm import keys
from clustergen.catalogue.slurm_values import token
from clustergen.slurmconf.scalars import TRUE
from clustergen.slurmrules.conf import Conf, Judgement, bare
from clustergen.slurmrules.remarks import Outcome, Remark

UNITS = ("cr_cpu", "cr_core", "cr_socket", "cr_memory", "cr_cpu_memory", "cr_core_memory", "cr_socket_memory")
_CONTAIN = "write PrologFlags=Contain"
_CGROUPS = "write ProctrackType=proctrack/cgroup"
_BOTH_TASKS = "write TaskPlugin=task/cgroup,task/affinity"
_PROFILES = {"hdf5": "ProfileHDF5Dir", "influxdb": "ProfileInfluxDBHost"}
"""Plugin for profiles of jobs → the key of acct_gather.conf without which it stops."""
_GATHERED = {
    "EnergyIPMI": ("AcctGatherEnergyType", "ipmi", "xcc"),
    "EnergyXCC": ("AcctGatherEnergyType", "xcc"),
    "Infiniband": ("AcctGatherInterconnectType", "ofed"),
    "Interconnect": ("AcctGatherInterconnectType", "ofed"),
    "ProfileHDF5": ("AcctGatherProfileType", "hdf5"),
    "ProfileInfluxDB": ("AcctGatherProfileType", "influxdb"),
    "Sysfs": ("AcctGatherInterconnectType", "sysfs"),
}
"""Beginning of keys of acct_gather.conf → the key of slurm.conf, and the plugins that read them."""
PLUGIN_FILES = {
    ("JobSubmitPlugins", "lua"): ("job_submit.lua", "slurmctld does not start"),
    ("CliFilterPlugins", "lua"): ("cli_filter.lua", "sbatch, salloc and srun fail"),
    ("BurstBufferType", "lua"): ("burst_buffer.lua", "slurmctld does not start"),
    ("JobContainerType", "tmpfs"): ("job_container.conf", "slurmd does not start"),
    ("NamespaceType", "tmpfs"): ("job_container.conf", "slurmd does not start"),
    ("NodeFeaturesPlugins", "helpers"): ("helpers.conf", "slurmctld does not start"),
}
"""Key and plugin → its own file, and what happens without it."""
_CONFINES = {
    "ConstrainDevices": "every job can open all devices of its node",
    "ConstrainRAMSpace": "a job can use more memory than it requested and crash other jobs",
    "ConstrainCores": "jobs can run on each other's cores",
}
CGROUP = "cgroup.conf"


def _wrong(key: str, message: str, hint: str | None = None, file: str = "slurm.conf", **more: bool) -> Judgement:
    return Judgement(key, Remark("slurm-value-wrong", message, hint, on_key=more.get("on_key", False)), file)


def _harmful(key: str, message: str, hint: str, file: str = "slurm.conf") -> Judgement:
    return Judgement(key, Remark("slurm-value-harmful", message, hint, Outcome.SILENT), file)


def _select(conf: Conf) -> Iterator[Judgement]:
    """The consumable resources, and settings that depend on them."""
    kind, parameters = conf.plugin("SelectType"), conf.stated("SelectTypeParameters")
    parts = [word for word in conf.words("SelectTypeParameters") if word in UNITS and word != "cr_memory"]
    if parameters is not None and kind == "linear" and parts:
        default = "" if conf.stated("SelectType") else ", the default since 23.11"
        message = "select/linear allocates whole nodes; slurmctld does not start with CPUs, cores or sockets"
        yield _wrong("SelectTypeParameters", message, f"write SelectType=select/cons_tres{default}")
    words = [word for word in (parameters or "").split(",") if word]
    readable = words or conf.has("empty-select-parameters")
    if parameters is not None and kind.startswith("cons") and not parts and readable and all(map(_is_parameter, words)):
        message = f"select/{kind} allocates CPUs, cores or sockets; slurmctld does not start without one of them"
        yield _wrong("SelectTypeParameters", message, "write SelectTypeParameters=CR_Core_Memory")
    tree = conf.plugin("TopologyPlugin") == "tree" and conf.has("linear-without-tree")
    if conf.stated("SelectType") and kind == "linear" and tree:
        message = "select/linear and topology/tree exclude each other; no daemon starts with both"
        yield _wrong("SelectType", message, "write SelectType=select/cons_tres")
    if kind != "cons_tres" and conf.stated("MaxNodeCount") and conf.has("max-node-count-with-cons-tres"):
        message = "MaxNodeCount requires select/cons_tres; no daemon starts without it"
        yield _wrong("MaxNodeCount", message, on_key=True)


def _is_parameter(word: str) -> bool:
    return token("SelectTypeParameters", word) is not None


def _route(conf: Conf) -> Iterator[Judgement]:
    """Messages along the tree of switches need one; later releases route them so by TopologyParam."""
    by_tree = conf.plugin("RoutePlugin") == "topology" and conf.has("route-topology")
    if conf.stated("RoutePlugin") and by_tree and conf.plugin("TopologyPlugin") != "tree":
        message = "route/topology requires TopologyPlugin=topology/tree; slurmctld does not start without it"
        yield _wrong("RoutePlugin", message, "delete it, or write topology.conf")


def _shared_gpus(conf: Conf) -> Iterator[Judgement]:
    """Settings that GPU sharing needs, and a selection plugin that supports it."""
    types = conf.words("GresTypes")
    if not {"mps", "shard"} & set(types):
        return
    if "gpu" not in types:
        message = "mps and shard require gpu in GresTypes; slurmctld does not start without it"
        yield _wrong("GresTypes", message, f"write GresTypes=gpu,{','.join(types)}")
    elif conf.plugin("SelectType") != "cons_tres":
        message = "mps and shard require select/cons_tres; slurmctld does not start without it"
        yield _wrong("GresTypes", message, "write SelectType=select/cons_tres")


def _containment(conf: Conf) -> Iterator[Judgement]:
    """Settings that keep a job's processes together from its start."""
    flags, track = conf.words("PrologFlags") if conf.stated("PrologFlags") else [], conf.plugin("ProctrackType")
    if "x11" in flags and track == "linuxproc":
        message = "X11 and proctrack/linuxproc exclude each other; no daemon starts with both"
        yield _wrong("PrologFlags", message, _CGROUPS)
    elif {"contain", "x11"} & set(flags):
        if track != "cgroup":
            message = "PrologFlags=Contain requires proctrack/cgroup for pam_slurm_adopt; Slurm logs an error"
            yield _harmful("PrologFlags", message, _CGROUPS)
    else:
        yield from _not_contained(conf)


def _not_contained(conf: Conf) -> Iterator[Judgement]:
    for key in ("JobContainerType", "NamespaceType"):
        spaces = conf.stated(key)
        is_empty = not spaces and not conf.has("empty-namespace-needs-contain")
        if spaces is not None and bare(spaces).lower() != "none" and not is_empty:
            place = key if conf.stated("PrologFlags") is None else "PrologFlags"
            yield _wrong(place, f"{key} requires PrologFlags=Contain; no daemon starts without it", _CONTAIN)
    if "enable_stepmgr" in conf.words("SlurmctldParameters") and conf.has("stepmgr-needs-contain"):
        message = "enable_stepmgr requires PrologFlags=Contain; slurmctld does not start without it"
        yield _wrong("SlurmctldParameters", message, _CONTAIN)


def _gathering(conf: Conf) -> Iterator[Judgement]:
    """Settings for the measurement of jobs, and one watch over their memory: the kernel's, or Slurm's own."""
    gather = conf.plugin("JobAcctGatherType")
    if conf.stated("JobAcctGatherType") and gather == "linux" and conf.plugin("ProctrackType") == "pgid":
        message = "with proctrack/pgid Slurm gathers job usage by a much slower method; it logs a warning"
        yield _harmful("JobAcctGatherType", message, _CGROUPS)
    profile, key = conf.stated("AcctGatherProfileType"), _PROFILES.get(conf.plugin("AcctGatherProfileType"))
    if profile and key and conf.stated(key, "acct_gather.conf") is None:
        message = f"'{profile}' requires {key} in acct_gather.conf; no daemon starts without it"
        remark = Remark("slurm-key-lacking", message, f"add {key}=… to acct_gather.conf")
        yield Judgement("AcctGatherProfileType", remark)
    held = next((text for key in ("ConstrainRAMSpace", "ConstrainSwapSpace") if (text := conf.stated(key, CGROUP))), "")
    constrained = held.lower() in TRUE and "cgroup" in conf.plugins("TaskPlugin")
    if constrained and "overmemorykill" in conf.words("JobAcctGatherParams"):
        message = "cgroup.conf already constrains memory; no daemon starts with OverMemoryKill as well"
        yield _wrong("JobAcctGatherParams", message, "delete OverMemoryKill")


def _gathered(conf: Conf) -> Iterator[Judgement]:
    """Keys of acct_gather.conf that none of the plugins in slurm.conf reads: the first of each kind."""
    file = "acct_gather.conf"
    for start, (setting, *readers) in _GATHERED.items() if conf.is_beside("slurm.conf") else ():
        if {*readers} & {*conf.plugins(setting)}:
            continue
        key = next((row.key for row in keys(file) if row.key.startswith(start) and conf.stated(row.key, file)), None)
        if key is not None:
            family = setting.removeprefix("AcctGather").removesuffix("Type").lower()
            plugin = f"{setting}=acct_gather_{family}/{readers[0]}"
            message = f"'{key}' requires {plugin} in slurm.conf; no daemon starts without it"
            yield _wrong(key, message, f"write {plugin}, or remove the key", file, on_key=True)


def _parameters(conf: Conf) -> Iterator[Judgement]:
    """Plugins and words that stop without what they need."""
    if conf.stated("MCSPlugin") and conf.plugin("MCSPlugin") == "group" and conf.stated("MCSParameters") is None:
        message = "mcs/group requires MCSParameters; no daemon starts without it"
        yield _wrong("MCSPlugin", message, "write MCSParameters=enforced:group1|group2")
    without = "cgroup" not in conf.plugins("TaskPlugin") and conf.has("task-words-need-cgroup")
    for word in ("oomkillstep", "slurmdspecoverride"):
        if without and word in conf.words("TaskPluginParam"):
            yield _wrong("TaskPluginParam", f"{word} requires task/cgroup; no daemon starts without it", _BOTH_TASKS)
    script = conf.plugin("CertmgrType") == "script" and conf.has("certmgr-script-checked")
    if conf.stated("CertmgrType") and script and "sign_csr_script" not in conf.words("CertmgrParameters"):
        message = "certmgr/script requires sign_csr_script in CertmgrParameters; slurmctld does not start without it"
        yield _wrong("CertmgrType", message, "write CertmgrParameters=sign_csr_script=…")


def missing_files(conf: Conf) -> Iterator[tuple[str, str, str]]:
    """Keys whose plugin expects a file beside slurm.conf that is not there, the file, and what the daemons do."""
    for (key, plugin), (name, does) in PLUGIN_FILES.items():
        if conf.stated(key) and plugin in conf.plugins(key) and not conf.is_beside(name):
            yield key, name, does


def _missing(conf: Conf) -> Iterator[Judgement]:
    for key, name, does in missing_files(conf):
        message = f"{name} is not next to slurm.conf; {does} if it is missing on the host too"
        yield Judgement(key, Remark("slurm-key-lacking", message, None, Outcome.SILENT))


def _tokens(conf: Conf) -> Iterator[Judgement]:
    """Tokens that one of slurmctld and slurmdbd takes."""
    key, files = "AuthAltTypes", ("slurm.conf", "slurmdbd.conf")
    if conf.stated("DbdHost", files[1]) is None or not conf.is_beside(files[0]):
        return
    having = [file for file in files if "auth/jwt" in (conf.stated(key, file) or "").lower().split(",")]
    if len(having) == 1:
        (lacking,) = {*files} - {*having}
        daemon = "slurmdbd" if lacking == files[1] else "slurmctld"
        message = f"{daemon} rejects tokens: auth/jwt is in {key} of {having[0]} alone"
        remark = Remark("slurm-value-harmful", message, f"add auth/jwt to {key} of {lacking} too", Outcome.SILENT)
        yield Judgement(key, remark, having[0])


def _cgroups(conf: Conf) -> Iterator[Judgement]:
    """cgroup.conf against slurm.conf, where there is one."""
    tasks = conf.plugins("TaskPlugin") if conf.is_beside("slurm.conf") else ["cgroup"]
    for key, why in _CONFINES.items():
        value = conf.stated(key, CGROUP)
        if value is not None and value.lower() in TRUE and "cgroup" not in tasks:
            message = f"{key} has no effect without task/cgroup in TaskPlugin of slurm.conf"
            remark = Remark("slurm-key-ignored", message, _BOTH_TASKS, Outcome.SILENT, on_key=True)
            yield Judgement(key, remark, CGROUP)
            break
        if value is not None and value.lower() not in TRUE and (key != "ConstrainDevices" or not conf.has_gpus):
            yield _harmful(key, f"without {key} {why}", f"write {key}=yes", CGROUP)
    held = (conf.stated("ConstrainRAMSpace", CGROUP) or "").lower() in TRUE and "cgroup" in tasks
    units = conf.words("SelectTypeParameters") if conf.is_beside("slurm.conf") else ["memory"]
    if held and not any("memory" in unit for unit in units):
        message = "memory is not a consumable resource: jobs have no memory limit that ConstrainRAMSpace could enforce"
        is_stated = conf.stated("SelectTypeParameters") is not None
        place = ("SelectTypeParameters", "slurm.conf") if is_stated else ("ConstrainRAMSpace", CGROUP)
        yield _harmful(place[0], message, "write SelectTypeParameters=CR_Core_Memory", place[1])
    disabled = (conf.stated("CgroupPlugin", CGROUP) or "").lower() == "disabled"
    if disabled and "cgroup" in (conf.plugin("ProctrackType"), *tasks):
        message = "slurm.conf requires cgroups; slurmd does not start without them"
        yield _wrong("CgroupPlugin", message, "write CgroupPlugin=autodetect", CGROUP)


def _gpus(conf: Conf) -> Iterator[Judgement]:
    """Without cgroups every job can open every GPU."""
    if not conf.has_gpus:
        return
    why = "every job can open all GPUs of its node, including those of other jobs"
    code = "gres-without-constraint"
    if "cgroup" not in conf.plugins("TaskPlugin"):
        yield Judgement("TaskPlugin", Remark(code, f"without task/cgroup {why}", _BOTH_TASKS, Outcome.SILENT))
    elif not conf.is_beside(CGROUP):
        message = f"cgroup.conf is not next to slurm.conf; unless the nodes have one with ConstrainDevices=yes, {why}"
        yield Judgement("", Remark(code, message, "add ConstrainDevices=yes to cgroup.conf", Outcome.ADVICE))
    elif (conf.stated("ConstrainDevices", CGROUP) or "").lower() not in TRUE:
        remark = Remark(code, f"without ConstrainDevices {why}", "write ConstrainDevices=yes", Outcome.SILENT)
        yield Judgement("ConstrainDevices", remark, CGROUP)


CHECKS = (
    _route,
    _select,
    _shared_gpus,
    _containment,
    _gathering,
    _gathered,
    _parameters,
    _missing,
    _tokens,
    _cgroups,
    _gpus,
)
