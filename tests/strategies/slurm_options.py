"""Manifests with random fields and options of Slurm, most of them valid; the same ones for the same seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from clustergen.catalogue import slurm, slurm_values
from strategies.trees import HEAD, MANIFEST, manifest

RELEASES = ("22.05", "23.02", "23.11", "24.05", "24.11", "25.05", "25.11", "26.05")
_ALL = {"nodes": "all", "default": True}
FIELDS: Mapping[str, Sequence[Any]] = {
    "accounting": (
        *({"gather": "none"}, {"gather": "linux"}, {"enforce": []}, {"gather_parameters": ["OverMemoryKill"]}),
        *({"energy": "ipmi"}, {"tres": ["gres/gpu"]}, {"enforce": ["limits"]}, {"options": {"AuthType": "auth/none"}}),
    ),
    "auth": ("slurm", "munge"),
    "cgroup_options": (
        *({"ConstrainDevices": "no"}, {"AllowedSwapSpace": 10}, {"MaxRAMPercent": 0}, {"ConstrainRAMSpace": "no"}),
        {"CgroupPlugin": "disabled"},
    ),
    "configless": (True,),
    "defaults": ("slurm",),
    "enforce_binding": (True,),
    "gres_lines": ([{"AutoDetect": "nvml"}], [{"Name": "gpu", "Type": "h100", "File": "/dev/nvidia[0-7]"}]),
    "interactive_step": (False,),
    "lines": (
        *([{"DownNodes": "zz", "State": "DOWN"}], [{"DownNodes": "c1"}], [{"MaxArraySize": 90000}]),
        [{"PowerAction": "x", "Program": "/bin/x"}],
    ),
    "message_timeout": (5, 10, 60, 100),
    "mpi_default": ("none", "pmi2"),
    "node_sets": ({"c1": "c2"}, {"s": "c[1-2]"}),
    "partitions": (
        *({"a": {**_ALL, "default_time": "1-0", "max_time": "2-0"}}, {"a": {"nodes": "all"}}, {"p[1-2]": _ALL}),
        {"a": _ALL, "b": {"nodes": "c[1-2]", "priority_tier": 5, "preempt": "cancel"}},
        *({"a": {"nodes": "c[1-2]", "min_nodes": 3}}, {"a,b": _ALL}, {"a": {**_ALL, "qos": "normal"}}),
        *({"a": {**_ALL, "oversubscribe": "force:0"}}, {"a": {**_ALL, "memory_per_node": "10GiB"}}),
        *(
            {"a": {**_ALL, "options": options}}
            for options in (
                *({"SuspendTime": 100}, {"Alternate": "zz"}, {"ExclusiveUser": "YES", "ExclusiveTopo": "YES"}),
                *({"MaxTime": "0"}, {"DenyQos": "x"}, {"TRESBillingWeights": "GPU=1"}),
            )
        ),
    ),
    "pid_files": ({"slurmctld": "/run/a.pid", "slurmd": "/run/a.pid"},),
    "ports": ({"slurmctld": 6818}, {"slurmd": 6817}, {"slurmctld": 817}, {"slurmctld": 6820, "slurmd": 6821}),
    "preemption": (
        *({"by": "partition"}, {"by": "partition", "mode": "suspend"}, {"by": "qos"}, {"by": "off", "mode": "cancel"}),
    ),
    "priority": (
        *({"half_life": 0}, {"half_life": "20min"}, {"calc_period": "1min"}, {"weights": {"age": 0}}),
        *({"max_age": "1h"}, {"max_age": "5min"}, {"weights": {"age": 4294967295}}),
    ),
    "private_tmp": ({},),
    "resources": (
        *({"select": "linear"}, {"select_parameters": ["CR_CPU"]}, {"select_parameters": ["CR_Memory"]}),
        *({"process_tracking": "linuxproc"}, {"process_tracking": "pgid"}, {"task_plugins": ["affinity"]}),
    ),
    "scheduler": (
        *({"parameters": [f"bf_max_job_{word}"]} for word in ("test=100", "user=2000", "user=10", "part=500")),
        *({"max_array": 100000}, {"max_jobs": 1000, "max_array": 4000}, {"requeue": False}),
    ),
    "slurmctld_timeout": (10, 120),
    "slurmd_timeout": (0, 10, 30, 300),
    "spool_directory": ("/var/spool/slurmd", "/var/spool/slurmd.%n", "/srv/state/x", "/home/spool"),
    "srun_ports": ("60001-63000", "6000-7000"),
    "state_location": ("/var/lib/slurm/slurmctld", "/srv/state", "/var/spool", "/var/spool/slurmctld"),
    "topology": ({"plugin": "tree"}, {"plugin": "block", "blocks": {"b": "c[1-4]"}}, {"parameters": ["TopoOptional"]}),
    "unkillable_step_timeout": (60, 120, 180, 300, 600),
    "user": ("slurm", "root"),
}
_TEXTS = ("/etc/slurm/x", "/home/x", "x", "1", "10:30", "1-0", "a=1,b=2", "lua", "YES", "9000-9010")
_NUMBERS = (0, 1, 5, 30, 60, 100, 300, 1000, 65533, "INFINITE")


def manifests(seed: int) -> Iterator[dict[str, Any]]:
    """Without an end: up to three fields and three options."""
    rng = Random(seed)
    keys = [key for key in slurm.keys("slurm.conf") if key.type != "array"]
    while True:
        fields = {name: rng.choice(FIELDS[name]) for name in rng.sample(sorted(FIELDS), rng.randint(0, 3))}
        options = {key.key: _value(key, rng) for key in rng.sample(keys, rng.randint(0, 3))}
        section = {"version": rng.choice(RELEASES), "build": "schedmd", **fields, "options": options}
        roles = ["slurm-controller", "slurm-accounting"] if rng.random() < 0.6 else ["slurm-controller"]
        data = manifest(slurm=section)
        if len(roles) == 1:
            del data["slurm"]["accounts"]
        yield {**data, "nodes": [{**HEAD, "roles": roles}, *MANIFEST["nodes"][1:]]}


def _value(key: slurm.SlurmKey, rng: Random) -> str | int | float:
    words = [f"{one.token}=10" if one.takes_value else one.token for one in slurm_values.tokens(key.key)]
    words += [one.value for one in slurm_values.plugins(key.key)]
    if words:
        return ",".join(rng.sample(words, min(rng.choice((1, 1, 2)), len(words))))
    if key.type == "boolean":
        return rng.choice(("YES", "NO"))
    return rng.choice(_NUMBERS if key.type.startswith(("uint", "long", "float")) else _TEXTS)
