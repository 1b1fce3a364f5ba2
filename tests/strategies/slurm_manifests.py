"""Manifests about Slurm's keys, scheduling and accounts: valid ones, and mistakes with their findings."""

from __future__ import annotations

import re

from strategies.findings import TINY, changed


def slurm(fields: str, *, version: str = "24.11", roles: str = "slurm-controller", more: str = "", os: str = "") -> str:
    """The small cluster with more fields of `slurm`, other roles of the head node, more sections."""
    if "slurm-accounting" in roles and not re.search(r"\baccounts:", fields):
        fields += f"{', ' if fields else ''}accounts: {{}}"
    text = changed(
        TINY,
        ("[slurm-controller]", f"[{roles}]"),
        ('{version: "24.11"}', f'{{version: "{version}"{", " if fields else ""}{fields}}}'),
    )
    return (changed(text, ("os: debian-12", f"os: {os}")) if os else text) + more


def options(text: str, **more: str) -> str:
    return slurm(f"options: {{{text}}}", **more)


BOOKS = "slurm-controller, slurm-accounting"
QOS = "qos: {high: {priority: 9, preempt: [normal]}}"

RIGHT = {
    "tokens for both": slurm(
        "options: {AuthAltTypes: auth/jwt, AuthAltParameters: jwt_key=/etc/slurm/jwt.key},"
        " accounting: {options: {AuthAltTypes: auth/jwt, AuthAltParameters: jwt_key=/etc/slurm/jwt.key}}",
        roles=BOOKS,
    ),
    # numbers as strtoul() reads them
    "a hexadecimal number": options("FirstJobId: 0x100"),
    "a number with a k for 1024": options("MaxStepCount: 40k"),
    "no limit, in any case": options("KillWait: Infinite, OverTimeLimit: UNLIMITED"),
    "a number that YAML takes for text": options('GroupUpdateTime: "32"'),
    "a boolean in each of Slurm's words": options("TrackWCKey: up, AllowSpecResourcesUsage: no, UsePAM: 0"),
    "a share with a fraction": slurm("cgroup_options: {AllowedRAMSpace: 98.5}"),
    "keys in another case": options("slurmdsyslogdebug: debug2, SLURMCTLDSYSLOGDEBUG: 5"),
    # lists
    "words with and without a value, and blanks behind commas": options(
        '"SlurmctldParameters": "idle_on_node_suspend, node_reg_mem_percent=95,rl_enable"'
    ),
    "words of the scheduler with their values": slurm(
        "scheduler: {parameters: [bf_window=10080, bf_continue, default_queue_depth=1000, max_rpc_cnt=150]}"
    ),
    "a word of the topology with a value": slurm("topology: {parameters: [SwitchAsNodeRank, TopoMaxSizeUnroll=4]}"),
    "X11 brings Contain along": options("PrologFlags: X11"),
    "flags beside Contain": options('PrologFlags: "Alloc,Contain,DeferBatch,Serial"'),
    "a path with an equals sign and a comma in MpiParams": options('MpiParams: "ports=60001-63000"'),
    "a mixed time in LogTimeFormat": options("LogTimeFormat: iso8601_ms"),
    # plugins
    "plugins without their prefix, and several": options(
        'JobSubmitPlugins: "all_partitions,require_timelimit", PrEpPlugins: "script"'
    ),
    "the plugin of a build": options("MpiDefault: pmix_v5"),
    "a namespace for jobs": options("JobContainerType: job_container/none"),
    "the new name of it": options("NamespaceType: namespace/linux", version="25.11"),
    "a /tmp of each job's own, and no jobs of root": slurm("private_tmp: {}, disable_root_jobs: true"),
    "a /tmp of each job's own in the oldest release": slurm("private_tmp: {path: /srv/tmp}", version="22.05"),
    "more directories of each job's own in the newest release": slurm(
        "private_tmp: {directories: [/tmp, /dev/shm, /var/tmp], shared: true}, build: schedmd", version="26.05"
    ),
    "a /tmp of each job's own beside Slurm's defaults": slurm(
        "defaults: slurm, state_location: /srv/state, partitions: {all: {nodes: all, default: true}}, private_tmp: {},"
        " resources: {task_plugins: [cgroup]}, cgroup_options: {ConstrainDevices: yes},"
        " scripts: {prolog: false, epilog: false, task_prolog: false}"
    ),
    # values that need quotes or escapes
    "blanks, hashes, backslashes and other alphabets": options(
        r"JobCompLoc: '/var/log/a b#c\d', Licenses: 'matlab:5,ansys:2', MailDomain: grüße.example"
    ),
    # GRES and TRES
    "flags of the GPU lines": slurm("gres_options: {Flags: nvidia_gpu_env}"),
    "limits of GPUs, of a type, and of what is always there": slurm(
        "qos: {q: {max_tres_per_user: {gres/gpu: 4, gres/gpu:h100: 4, cpu: 64, mem: 524288, node: 2, billing: 100}}}",
        roles=BOOKS,
    ),
    "limits of licences and burst buffers": slurm(
        "accounting: {tres: [license/matlab, bb/datawarp, gres/craynetwork, fs/disk]},"
        " qos: {q: {group_tres: {license/matlab: 2, gres/craynetwork: 1}}}",
        roles=BOOKS,
    ),
    "weights in Slurm's own spelling": slurm(
        'partitions: {all: {nodes: all, billing: {CPU: 0.5, Mem: 0.25, GRES/gpu: 8, "GRES/gpu:h100": 8}}}'
    ),
    "weights in priorities without slurmdbd": options('PriorityWeightTRES: "CPU=1000,Mem=2000"'),
    "weights of GPUs in priorities": options('PriorityWeightTRES: "CPU=1000,Mem=2000,GRES/gpu=3000"', roles=BOOKS),
    "limits of parts of a GPU": changed(
        slurm(
            "qos: {q: {max_tres_per_job: {gres/gpu:nvidia_h100_80gb_hbm3_3g.40gb: 2}}}",
            roles=BOOKS,
            more="gpu: {mig_plans: {half: {profiles: {3g.40gb: 2}}}}\n",
        ),
        ("{system: dgx-h100}", "{system: dgx-h100, gpus: {mig: half}}"),
    ),
    # keys that look managed and are not
    "sharing by count": slurm('partitions: {all: {nodes: all, oversubscribe: "force:4"}}'),
    "more keys of a node": changed(
        TINY, ("{system: dgx-h100}", "{system: dgx-h100, slurm_options: {TmpDisk: 1000, Reason: new}}")
    ),
    "an own prolog in place of ours": slurm("scripts: {prolog: false}, options: {Prolog: /etc/slurm/own-prolog}"),
    "an own health check": slurm(
        "options: {HealthCheckProgram: /usr/sbin/nhc, HealthCheckInterval: 300, HealthCheckNodeState: IDLE}",
        more="health: {enabled: false}\n",
    ),
    # scheduling
    "no half-life but a reset": slurm("priority: {half_life: 0, usage_reset: MONTHLY}"),
    "short periods with their unit, and usual ones without": slurm(
        "priority: {half_life: 14min, max_age: 60}, qos: {q: {exempt_time: 3600min}}", roles=BOOKS
    ),
    "use that never halves, with a period in words": slurm("priority: {half_life: 30d, calc_period: 10min}"),
    "weights just below the limit": slurm(
        "priority: {weights: {age: 0, fairshare: 4294967295, job_size: 0, partition: 0, qos: 0}}"
    ),
    "a chain of QOS": slurm(
        "qos: {high: {preempt: [mid, low]}, mid: {preempt: [low]}, low: {preempt: [normal]}}, preemption: {by: qos}",
        roles=BOOKS,
    ),
    "preemption by tier 0": slurm(
        "partitions: {a: {nodes: all, default: true}, b: {nodes: all, priority_tier: 0}}, preemption: {by: partition}"
    ),
    "nodes without BMCs in a partition that stays on": slurm(
        "partitions: {all: {nodes: all}}, power_saving: {suspend_time: 600, except_partitions: [all]}"
    ),
    "one partition without requeue": slurm(
        "partitions: {a: {nodes: all, default: true}, b: {nodes: all, priority_tier: 9, preempt: 'off'}},"
        " preemption: {by: partition, mode: cancel}, scheduler: {requeue: false}"
    ),
    "accounts in a tree, children first": slurm(
        "accounts: {lab: {parent: physics, users: [alice]}, physics: {parent: science}, science: {parent: root}}",
        roles=BOOKS,
    ),
    "accounts that sacctmgr alone knows": slurm(
        "partitions: {all: {nodes: all, allow_accounts: [physics]}}", roles=BOOKS
    ),
    "the QOS that is always there": slurm(
        "partitions: {all: {nodes: all, qos: normal, allow_qos: [normal]}}", roles=BOOKS
    ),
    "flags of a QOS": slurm("qos: {q: {flags: [DenyOnLimit, OverPartQOS, Relative, NoDecay]}}", roles=BOOKS),
    "QOS that are not enforced, without limits": slurm(
        "accounting: {enforce: [associations]}, qos: {q: {priority: 5}}", roles=BOOKS
    ),
    # releases and builds
    "a login node of an older system inside the window": changed(
        slurm("build: distribution", os="debian-13"),
        (
            "  h100: {system: dgx-h100}",
            "  h100: {system: dgx-h100}\n  old: {os: ubuntu-24.04, cpu: {cores_per_socket: 4}, memory: 8GiB}",
        ),
        ("nodes:\n", "nodes:\n  - {name: login1, type: old, address: 10.0.0.9, roles: [login]}\n"),
    ),
    "a storage server of any system": changed(
        slurm("build: distribution", os="debian-13"),
        (
            "  h100: {system: dgx-h100}",
            "  h100: {system: dgx-h100}\n  old: {os: debian-12, cpu: {cores_per_socket: 4}, memory: 8GiB}",
        ),
        ("nodes:\n", "nodes:\n  - {name: mon1, type: old, address: 10.0.0.9, roles: [monitoring]}\n"),
    ),
    "an old system with packages of the release": slurm("", version="22.05", os="ubuntu-22.04"),
    "two daemons on one port of different nodes": slurm("ports: {slurmd: 6817}"),
    "the health check in the words of the release": slurm("", version="26.05", more="health: {states: [START_ONLY]}\n"),
}

WRONG = {
    "memory of nodes beside clustergen's own of CPUs": (
        slurm("options: {DefMemPerNode: 1000}"),
        [("slurm-key-ignored", "DefMemPerNode")],
    ),
    "fields as their keys, with values that the release has and one that it had": (
        slurm(
            "options: {SelectType: select/cons_res, TaskPlugin: task/cgroup, ReturnToService: 2,"
            " PreemptMode: REQUEUE, MaxJobCount: many}"
        ),
        [("slurm-key-managed", name) for name in ("SelectType", "TaskPlugin", "ReturnToService")]
        + [("slurm-key-managed", name) for name in ("PreemptMode", "MaxJobCount")],
    ),
    "a plugin of an old guide": (
        slurm("options: {MpiDefault: openmpi}"),
        [("slurm-plugin-unknown", "openmpi")],
    ),
    "power saving without a program that starts nodes": (
        slurm("options: {SuspendTime: 600, SuspendProgram: /usr/local/sbin/off}"),
        [("slurm-key-ignored", "SuspendTime")],
    ),
    "a plugin that the processes of jobs need, in place of its field": (
        slurm("options: {ProctrackType: proctrack/linuxproc}"),
        [("slurm-key-managed", "ProctrackType"), ("slurm-value-harmful", "proctrack/linuxproc")],
    ),
    "minutes that are meant as days and as seconds": (
        slurm("priority: {half_life: 14, max_age: 3}, qos: {q: {exempt_time: 3600}}", roles=BOOKS),
        [("priority-period", "14"), ("priority-period", "3"), ("priority-period", "3600")],
    ),
    "states that stand alone": (
        slurm("", version="26.05", more="health: {states: [IDLE, START_ONLY]}\n"),
        [("slurm-value-wrong", "[IDLE, START_ONLY]")],
    ),
    "tokens that slurmdbd rejects": (
        options("AuthAltTypes: auth/jwt, AuthAltParameters: jwt_key=/etc/slurm/jwt.key", roles=BOOKS),
        [("slurm-value-harmful", "auth/jwt")],
    ),
    "an array larger than all jobs": (
        slurm("scheduler: {max_array: 100000}"),
        [("slurm-value-harmful", "100000")],
    ),
    "a node that is not waited for": (
        slurm("message_timeout: 60, unkillable_step_timeout: 180"),
        [("slurm-value-harmful", "180")],
    ),
    "a plugin without its file": (
        options("BurstBufferType: burst_buffer/lua"),
        [("slurm-key-lacking", "burst_buffer/lua")],
    ),
    "a negative number": (options("KillWait: -1"), [("slurm-value-wrong", "-1")]),
    "a number beyond its type": (options("KillWait: 70000"), [("slurm-value-wrong", "70000")]),
    "a number with a unit": (options("MaxMemPerNode: 64GB"), [("slurm-value-wrong", "64GB")]),
    "a path that is not whole": (options("BcastExclude: lib"), [("slurm-value-wrong", "lib")]),
    "an amount of time": (options("KillWait: 30s"), [("slurm-value-wrong", "30s")]),
    "a number that Slurm puts back": (options("EpilogMsgTime: 2000000"), [("slurm-value-wrong", "2000000")]),
    "a number that no daemon refuses and none has a meaning for": (
        slurm(
            "defaults: slurm, partitions: {main: {nodes: all, default: true}}, options: {ReturnToService: 3},"
            " state_location: /srv/state, resources: {task_plugins: [cgroup]}, cgroup_options: {ConstrainDevices: yes}"
        ),
        [("slurm-value-harmful", "3")],
    ),
    "a word that is no boolean": (options("TrackWCKey: y"), [("slurm-value-wrong", "y")]),
    "a level of the log": (options("SlurmctldSyslogDebug: chatty"), [("slurm-value-wrong", "chatty")]),
    "flags that exclude each other": (
        options('PrologFlags: "NoHold,Contain"'),
        [("slurm-value-wrong", '"NoHold,Contain"')],
    ),
    "flags without what ssh needs": (options("PrologFlags: Alloc"), [("slurm-value-wrong", "Alloc")]),
    "flags without what a /tmp of each job's own needs": (
        slurm("private_tmp: {}, options: {PrologFlags: Alloc}"),
        [("slurm-value-wrong", "Alloc")],
    ),
    "a /tmp of each job's own, twice": (
        slurm("private_tmp: {}, options: {JobContainerType: job_container/tmpfs}"),
        [("slurm-key-managed", "JobContainerType")],
    ),
    "directories of each job's own that an old release does not have": (
        slurm("private_tmp: {directories: [/tmp, /var/tmp], shared: true}", version="22.05"),
        [("slurm-feature-too-new", "[/tmp, /var/tmp]"), ("slurm-feature-too-new", "true")],
    ),
    "configless undone by an option": (
        slurm("configless: true, options: {SlurmctldParameters: idle_on_node_suspend}"),
        [("slurm-key-managed", "SlurmctldParameters")],
    ),
    "two units": (
        slurm("resources: {select_parameters: [CR_Core, CR_Memory]}"),
        [("slurm-value-wrong", "[CR_Core, CR_Memory]")],
    ),
    "memory that is not handed out": (
        slurm("resources: {select_parameters: [CR_Core]}"),
        [("slurm-value-harmful", "[CR_Core]")],
    ),
    "whole nodes only": (slurm("resources: {select: linear}"), [("slurm-value-wrong", "linear")]),
    "an option of years ago": (options("FastSchedule: 2"), [("slurm-value-wrong", "2")]),
    "the last of several words": (
        options('SlurmctldParameters: "rl_enable,enable_configles"'),
        [("slurm-word-unknown", "enable_configles")],
    ),
    "a word without its value": (slurm("scheduler: {parameters: [bf_window]}"), [("slurm-value-wrong", "bf_window")]),
    "a word of another key": (options("SlurmdParameters: rl_enable"), [("slurm-word-unknown", "rl_enable")]),
    "a word of a later release": (
        slurm("", version="24.11", more="health: {states: [START_ONLY]}\n"),
        [("slurm-word-unknown", "START_ONLY")],
    ),
    "a word that moved": (
        slurm("scheduler: {parameters: [kill_invalid_depend]}"),
        [("slurm-word-unknown", "kill_invalid_depend")],
    ),
    "the second of two plugins": (
        options('JobSubmitPlugins: "lua,al_partitions"'),
        [("slurm-plugin-unknown", "al_partitions")],
    ),
    "a plugin that the distribution left out": (
        options("TLSType: tls/s2n", os="debian-13"),
        [("slurm-plugin-lacking", "tls/s2n")],
    ),
    "a key of cgroup.conf": (options("ConstrainCores: yes"), [("slurm-key-unknown", "ConstrainCores")]),
    "a key of a partition": (options("MaxTime: 24:00:00"), [("slurm-key-unknown", "MaxTime")]),
    "memory of a node beside that of a GPU": (
        slurm("partitions: {all: {nodes: all, options: {DefMemPerNode: 1000}}}"),
        [("slurm-key-managed", "DefMemPerNode")],
    ),
    "CPUs without sockets": (
        changed(TINY, ("{system: dgx-h100}", "{system: dgx-h100, slurm_options: {CPUs: 256}}")),
        [("slurm-key-managed", "CPUs")],
    ),
    "limits of what is not propagated": (
        options("PropagateResourceLimits: NONE"),
        [("slurm-key-managed", "PropagateResourceLimits")],
    ),
    "the age of records": (
        slurm("accounting: {options: {PurgeJobAfter: 12months}}", roles=BOOKS),
        [("slurm-key-managed", "PurgeJobAfter")],
    ),
    "a circle of three accounts, and one that leads into it": (
        slurm("accounts: {a: {parent: b}, b: {parent: c}, c: {parent: d}, d: {parent: b}}", roles=BOOKS),
        [("account-cycle", "b")],
    ),
    "an account that is its own parent": (
        slurm("accounts: {a: {parent: a}}", roles=BOOKS),
        [("account-cycle", "a")],
    ),
    "two accounts in one name": (
        slurm("accounts: {Physics: {}, physics: {}, PHYSICS: {}}", roles=BOOKS),
        [("name-differs-in-case", "physics"), ("name-differs-in-case", "PHYSICS")],
    ),
    "root and normal in capitals": (
        slurm("accounts: {Root: {qos: [Normal]}}, qos: {Normal: {}}", roles=BOOKS),
        [("name-differs-in-case", "Root"), ("name-differs-in-case", "Normal")],
    ),
    "two QOS that chase each other": (
        slurm("qos: {a: {preempt: [b]}, b: {preempt: [a]}}, preemption: {by: qos}", roles=BOOKS),
        [("qos-preempts-itself", "a")],
    ),
    "three QOS that chase each other, and one that leads to them": (
        slurm(
            "qos: {top: {preempt: [b]}, a: {preempt: [b]}, b: {preempt: [c, low]}, c: {preempt: [a]}, low: {}},"
            " preemption: {by: qos}",
            roles=BOOKS,
        ),
        [("qos-preempts-itself", "b")],
    ),
    "preemption by QOS that is not enforced": (
        slurm(f"{QOS}, preemption: {{by: qos}}, accounting: {{enforce: [associations, limits]}}", roles=BOOKS),
        [("limits-not-enforced", "qos")],
    ),
    "a flag of a later release": (
        slurm("qos: {q: {flags: [Relative]}}", version="23.02", roles=BOOKS),
        [("qos-flag-unknown", "Relative")],
    ),
    "weights of which a job's priority overflows by one": (
        slurm("priority: {weights: {age: 0, fairshare: 4294967295, job_size: 1, partition: 0, qos: 0}}"),
        [("priority-weights", "weights")],
    ),
    "nodes without BMCs beside a partition that stays on": (
        slurm(
            'partitions: {on: {nodes: "gpu[1-2]", default: true}, off: {nodes: "gpu[3-4]"}},'
            " power_saving: {suspend_time: 600, except_partitions: [on]}"
        ),
        [("power-saving-without-bmc", "power_saving")],
    ),
    "a resource by its short name": (
        slurm("qos: {q: {group_tres: {gpu: 4}}}", roles=BOOKS),
        [("tres-unknown", "gpu")],
    ),
    "weights of what is not there": (
        slurm("partitions: {all: {nodes: all, billing: {GPU: 1}}}", roles=BOOKS),
        [("tres-unknown", "GPU")],
    ),
    "weights in priorities of what is not there": (
        options('PriorityWeightTRES: "CPU=1000,GPU=3000"', roles=BOOKS),
        [("tres-unknown", "PriorityWeightTRES")],
    ),
    "weights of GPUs without slurmdbd": (
        options('PriorityWeightTRES: "CPU=1000,GRES/gpu=3000"'),
        [("accounting-missing", '"CPU=1000,GRES/gpu=3000"')],
    ),
    "one task per core, of CPUs": (
        slurm("resources: {select_parameters: [CR_CPU_Memory, CR_ONE_TASK_PER_CORE]}"),
        [("slurm-value-wrong", "[CR_CPU_Memory, CR_ONE_TASK_PER_CORE]")],
    ),
    "tracking of a type that no node has": (
        slurm("accounting: {tres: [gres/gpu:a100]}", roles=BOOKS),
        [("tres-unknown", "gres/gpu:a100")],
    ),
    "a partition with a QOS that nobody made": (
        slurm("partitions: {all: {nodes: all, qos: nromal}}", roles=BOOKS),
        [("qos-unknown", "nromal")],
    ),
    "a partition with a QOS, and no slurmdbd": (
        slurm("partitions: {all: {nodes: all, qos: normal}}"),
        [("accounting-missing", "qos")],
    ),
    "jobs suspended in one partition only": (
        slurm(
            "partitions: {a: {nodes: all, default: true, preempt: suspend}, b: {nodes: all, priority_tier: 9}},"
            " preemption: {by: partition}"
        ),
        [("preemption-keeps-gpus", "suspend")],
    ),
    "slurmdbd older than slurmctld": (
        changed(
            slurm("build: distribution, accounts: {}", os="debian-13"),
            (
                "  h100: {system: dgx-h100}",
                "  h100: {system: dgx-h100}\n  old: {os: debian-12, cpu: {cores_per_socket: 4}, memory: 8GiB}",
            ),
            ("nodes:\n", "nodes:\n  - {name: db1, type: old, address: 10.0.0.9, roles: [slurm-accounting]}\n"),
        ),
        [("slurm-releases-apart", "debian-12")],
    ),
    "MIG where the distribution's slurmd has no NVML": (
        changed(
            slurm("", version="22.05", more="gpu: {mig_plans: {half: {profiles: {3g.40gb: 2}}}}\n"),
            ("{system: dgx-h100}", "{system: dgx-h100, gpus: {mig: half}}"),
        ),
        [("mig-type-uncertain", "half"), ("slurm-plugin-lacking", "half")],
    ),
    "slurmd and the exporter on one port": (
        slurm("ports: {slurmd: 9100}", roles="slurm-controller, monitoring"),
        [("port-twice", "9100")],
    ),
    "a controller without the shared directory": (
        changed(
            slurm(
                "state_location: /shared/slurm",
                more="storage: {s: {type: nfs, server: filer, path: /s, mount: /shared, clients: [login]}}\n",
            ),
            (
                "{name: head, type: service, address: 10.0.0.1,",
                '{name: "head[1-2]", type: service, address: "10.0.0.[1-2]",',
            ),
            ("[slurm-controller]", "[slurm-controller, nfs-server]"),
            ("server: filer", "server: head1"),
        ),
        [("state-not-shared", "/shared/slurm"), ("mount-without-clients", "[login]")],
    ),
}
