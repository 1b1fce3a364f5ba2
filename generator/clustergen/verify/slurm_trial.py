"""Carries out the steps of a plan that are about Slurm on daemons of its release in the sandbox, with jobs.

All nodes share one machine, so a few values that ask it for cgroups, GPU drivers or programs of the site are taken out
of both sides, and a node has the GRES that slurm.conf counts. A cluster with accounting has a slurmdbd and its
database, with the accounts, QOS and limits of its tree; two of its users have a job, all other jobs are root's.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from clustergen.records import record, replace
from clustergen.slurmconf import parse
from clustergen.slurmconf.scalars import hosts_of
from clustergen.verify import sandbox
from clustergen.verify.slurm_daemons import cgroup_plugin, spare_slurmdbd_conf
from clustergen.verify.slurm_roots import SlurmInstall
from clustergen.verify.slurm_surroundings import Surroundings, invented_hosts, of_directory, own_addresses

KINDS = (
    "drain",
    "stop-slurm",
    "files",
    "new-cluster-id",
    "move-state",
    "restart-slurmdbd",
    "restart-slurmctld",
    "load-accounts",
    "commands",
    "new-user",
    "restart-slurmd",
    "reconfigure",
    "resume",
)
"""Steps that are carried out."""
_PROGRAM, _VALUES = "/usr/local/sbin/clustergen-accounts", "/etc/clustergen/accounts.json"
_OF_USE = re.compile(r"^(ID|Lft|ClusterName|Lineage|Usage|.*Raw)")
NODES = 4
_USERS = 2
_LEFT_OUT = re.compile(
    r"^\s*(AccountingStorage(?:BackupHost|ExternalHost|Pass|Parameters)|AcctGather\w+|JobAcctGather\w+"
    r"|ProctrackType|TaskPlugin\w*|JobContainerType|NamespaceType|SlurmdParameters|CommunicationParameters"
    r"|Slurm(?:ctl)?d(?:PidFile|SpoolDir|LogFile)|DisableRootJobs|\w*(?:Prolog|Epilog|Program)\w*|HealthCheck\w+"
    r"|JobSubmitPlugins|CliFilterPlugins|Include|RebootProgram|PriorityWeightTRES|MinJobAge)\s*=?.*$",
    re.IGNORECASE | re.MULTILINE,
)
_OF_DATABASE = re.compile(r"^\s*AccountingStor\w+\s*=?.*$", re.IGNORECASE | re.MULTILINE)
_ENFORCED = re.compile(r"^\s*AccountingStorageEnforce\s*=\s*(\S*).*$", re.IGNORECASE | re.MULTILINE)
_LIMITS = ("associations", "limits", "qos", "safe")
"""Limits of a trial's jobs, which name no wckey and are all recorded."""
_OF_ACCOUNTS = re.compile(
    r"\s+(?:QOS|AllowQos|DenyQos|AllowAccounts|DenyAccounts|AllowGroups|TRESBillingWeights)=\S+", re.IGNORECASE
)
_FILES = ("slurm.conf", "topology.conf", "topology.yaml")
_ADDED = """
ProctrackType=proctrack/linuxproc
MinJobAge=3600
SlurmdParameters=config_overrides
CommunicationParameters=NoInAddrAny
SlurmdPidFile=/run/slurmd.%n.pid
SlurmdSpoolDir=/var/spool/trial.%n
SlurmdLogFile=/var/log/slurmd.%n.log
"""
_OF_VALUES = ("value", "restarted")
_WITH_FILES = "gpu"
_GRES = re.compile(r"([\w-]+)(?::([^:,(]*[^:,(\d][^:,(]*))?:(\d+[kmgtp]?)(?=[,(]|$)", re.IGNORECASE)


@record
class TrialStep:
    """A step of the plan: its number there, its kind, and the hosts or the directories that it is about."""

    number: int
    kind: str
    about: Sequence[str]


@record
class State:
    """After one step: each node with its state and reason, each job with state and reason, the daemons that run.

    `differs`: what the database has otherwise than the new tree states it, of a step that loads accounts.
    """

    nodes: tuple[str, ...]
    jobs: tuple[str, ...]
    daemons: tuple[str, ...]
    output: str
    differs: tuple[str, ...] = ()


@record
class Report:
    """`states`: number of the step → the state after it, 0 for that before all. `jobs`: name → state, reason, restarts
    and exit code at the end, with its last line of output unless it completed, or `no record`. `values`: what slurmctld
    reports of each question. `complaints`: why it did not start. `records`: jobs that slurmdbd has as completed; None
    where the cluster has no accounting.
    """

    states: Mapping[int, State]
    jobs: Mapping[str, str]
    values: Mapping[int, str]
    complaints: tuple[str, ...] = ()
    records: int | None = None
    restarted: Mapping[int, str] = MappingProxyType({})
    """The same as `values`, of daemons that started with the new files, at the end."""
    limits: tuple[str, ...] = ()
    """Settings of accounts and QOS that slurmctld has otherwise after such a start: `qos low GrpJobs: 4 → none`."""

    @property
    def answers(self) -> bool:
        """True if slurmctld ran jobs, and runs after the last step."""
        return bool(self.jobs) and "slurmctld" in self.states[max(self.states)].daemons

    @property
    def is_good(self) -> bool:
        """True if all jobs completed, slurmctld answers, and each value and limit is in effect."""
        return self.answers and not (self.lost or self.not_in_effect or self.limits or self.differs)

    @property
    def differs(self) -> tuple[str, ...]:
        """Settings that the database has otherwise than the new tree states them."""
        return tuple(words for state in self.states.values() for words in state.differs)

    @property
    def not_in_effect(self) -> frozenset[int]:
        """Questions that a start of the daemons gives another answer to."""
        return frozenset(n for n, value in self.values.items() if self.restarted.get(n, value) != value)

    @property
    def lost(self) -> tuple[str, ...]:
        """Jobs that did not complete undisturbed, each with what became of it, and missing records of jobs."""
        lost = [f"{name}: {end}" for name, end in self.jobs.items() if not end.startswith("COMPLETED None 0 0:0")]
        completed = sum(end.startswith("COMPLETED ") for end in self.jobs.values())
        if self.records is not None and self.records < completed:
            lost.append(f"slurmdbd has records of {self.records} of {completed} jobs that completed")
        return tuple(lost)


def carry_out(
    install: SlurmInstall,
    old: Mapping[str, str],
    new: Mapping[str, str],
    hosts: str,
    steps: Sequence[TrialStep],
    questions: Sequence[tuple[str, str, str]],
    timeout: float = 400,
) -> Report:
    """Runs the steps. `old` and `new`: name below /etc/slurm → text, of the controller; `hosts`: text of /etc/hosts.

    The texts of accounts have their path as name. `questions`: what of `scontrol show`, the name or `-`, and a pattern
    of the answer. Raises SandboxError.
    """
    nodes = _chosen(old["slurm.conf"], [host for step in steps for host in step.about])
    partitions = dict(_partitions(old["slurm.conf"], nodes))
    with tempfile.TemporaryDirectory(prefix="clustergen-trial-") as directory:
        sides = [Path(directory) / name for name in ("old", "new")]
        arounds = []
        for side, files in zip(sides, (old, new), strict=True):
            side.mkdir()
            for name, text in adapted(files, install.release, accounting=install.has_database).items():
                (side / name).write_text(text, encoding="utf-8")
            arounds.append(of_directory(side, nodes))
            if arounds[-1].accounting:
                (side / "slurmdbd.conf").write_text(spare_slurmdbd_conf(arounds[-1]), encoding="utf-8")
        around, after = arounds
        hosts = hosts or invented_hosts(dict.fromkeys((*around.names, *after.names)))
        box = sandbox.Sandbox(
            root=install.path,
            files=((sides[0], "/etc/slurm"), (sides[1], "/srv/trial")),
            empty=("/etc/slurm",),
            hosts=hosts,
            hostname=around.controller,
            devices=tuple(_devices(old["slurm.conf"], new["slurm.conf"])),
            addresses=own_addresses((*around.own_names, *after.own_names, *nodes), hosts) or ("198.18.0.1",),
        )
        outcome = sandbox.run(
            box,
            ["/bin/bash", "/run/clustergen/try_steps.sh"],
            timeout=timeout,
            env={
                "STATE": _setting(old["slurm.conf"], "StateSaveLocation") or "/var/spool",
                "ACCOUNTING": "yes" if around.accounting else "no",
                **around.environment,
            },
            notes={
                **sandbox.scripts("try_steps.sh", "surroundings.sh", "database.sh"),
                "surroundings": sandbox.lines((*around.lines, *_other_accounts(around, after))),
                "nodes": sandbox.lines(nodes),
                "partitions": sandbox.lines(map(" ".join, partitions.items())),
                "steps": sandbox.lines(f"{step.number} {step.kind} {' '.join(step.about)}" for step in steps),
                "values": sandbox.lines("\t".join((str(n), *question)) for n, question in enumerate(questions)),
                **_accounts(old, new),
            },
        )
    if outcome.code is None:
        return Report({}, {}, {}, (f"the steps took longer than {timeout:g} s",))
    return _report(dict(outcome.files), outcome.stderr)


def _report(logs: Mapping[str, str], stderr: str) -> Report:
    if not logs.get("report"):
        texts = [text for name, text in logs.items() if name.startswith("slurmd.")]
        text = "".join(texts) or logs.get("slurmctld.log") or logs.get("slurmdbd.log") or logs.get("mariadbd.log", "")
        words = re.findall(r"(?:fatal|error): .*", text) or [stderr.strip()]
        return Report({}, {}, {}, tuple(dict.fromkeys(words[:5])))
    limits = other_limits(*(logs.get(name, "") for name in ("limits", "limits.restarted")))
    return replace(_read(logs["report"]), limits=limits)


def _other_accounts(around: Surroundings, after: Surroundings) -> Iterator[str]:
    """Lines for accounts of daemons that have another user on the new side."""
    users = {line.split()[1] for line in around.lines if line.startswith("account ")}
    others = [line.split()[1] for line in after.lines if line.startswith("account ")]
    return (f"account {user} {64200 + n}" for n, user in enumerate(others) if user not in users)


def _accounts(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """Notes: the program and the values of each side that has some, and users of the old one who submit jobs."""
    notes: dict[str, str] = {}
    for name, files in (("old", old), ("new", new)):
        if _PROGRAM in files and _VALUES in files:
            notes |= {f"accounts.{name}.py": files[_PROGRAM], f"accounts.{name}.json": files[_VALUES]}
    stated = json.loads(old.get(_VALUES, "{}")).get("accounts", ())
    users = {account["users"][0]: account["name"] for account in stated if account["users"]}
    return notes | {"users": "".join(f"{user} {account}\n" for user, account in islice(users.items(), _USERS))}


def adapted(files: Mapping[str, str], release: str, *, accounting: bool) -> dict[str, str]:
    """The files that daemons on one machine can read."""
    kept = {name: text for name, text in files.items() if name in _FILES}
    conf = _OF_ACCOUNTS.sub("", _LEFT_OUT.sub("", kept["slurm.conf"].replace("\\\n", " ")))
    conf = _ENFORCED.sub(_held_to if _VALUES in files else "", conf)
    kept["slurm.conf"] = (conf if accounting else _OF_DATABASE.sub("", conf)) + _ADDED
    kept["gres.conf"] = "".join(_gres(conf))
    kept["cgroup.conf"] = f"CgroupPlugin={cgroup_plugin(release)}\n"
    return kept


def _held_to(enforced: re.Match[str]) -> str:
    words = enforced[1].lower().split(",")
    kept = [word for word in _LIMITS if word in words or "all" in words]
    return f"AccountingStorageEnforce={','.join(kept)}" if kept else ""


def is_left_out(key: str) -> bool:
    """True for a key that neither side has in a trial."""
    return any(pattern.match(f" {key}=x") for pattern in (_LEFT_OUT, _OF_ACCOUNTS, _ENFORCED))


def _gres(conf: str) -> Iterator[str]:
    """A line for each GRES that slurm.conf counts, with device files for GPUs."""
    for line in parse(conf, "slurm.conf"):
        first = 0
        for name, kind, count in _GRES.findall((line.get("Gres") or "") if line.key == "nodename" else ""):
            of = f"Count={count}"
            if name == _WITH_FILES:
                of = f"File={_device(name, f'[{first}-{first + int(count) - 1}]')}"
                first += int(count)
            yield f"NodeName={line.get('NodeName')} Name={name}{f' Type={kind}' if kind else ''} {of}\n"


def _device(name: str, number: str) -> str:
    return f"/dev/trial-{name}{number}"


def _devices(*confs: str) -> Iterator[str]:
    most: dict[str, int] = {}
    for conf in confs:
        for line in parse(conf, "slurm.conf"):
            counts: dict[str, int] = {}
            for name, _, count in _GRES.findall((line.get("Gres") or "") if line.key == "nodename" else ""):
                counts[name] = counts.get(name, 0) + (int(count) if name == _WITH_FILES else 0)
            most.update({name: max(count, most.get(name, 0)) for name, count in counts.items()})
    return (_device(name, str(number)) for name, count in most.items() for number in range(count))


def _chosen(conf: str, about: Iterable[str]) -> list[str]:
    """A few nodes, those that steps are about first."""
    nodes = [
        host for line in parse(conf, "slurm.conf") if line.key == "nodename" for host in _hosts(line.get("NodeName"))
    ]
    listed = set(nodes)
    first = [host for host in about if host in listed]
    return list(dict.fromkeys([*first[: NODES - 1], *nodes, *first]))[:NODES]


def _partitions(conf: str, nodes: Sequence[str]) -> Iterator[tuple[str, str]]:
    lines = [line for line in parse(conf, "slurm.conf") if line.key == "partitionname"]
    for node in nodes:
        for line in lines:
            names = line.get("Nodes") or ""
            if (names.upper() == "ALL" or node in _hosts(names)) and (line.get("State") or "UP").upper() == "UP":
                yield node, line.get("PartitionName") or ""
                break


def _setting(conf: str, key: str) -> str | None:
    return next((line.get(key) for line in parse(conf, "slurm.conf") if line.key == key.lower()), None)


def _hosts(names: str | None) -> Sequence[str]:
    return [] if not names or names.upper() == "DEFAULT" else hosts_of(names)


def other_limits(before: str, after: str) -> tuple[str, ...]:
    """`qos low GrpJobs: 4 → none`: what differs between two outputs of `scontrol -o show assoc_mgr`."""
    old, new = _settings(before), _settings(after)
    names = dict.fromkeys((*old, *new))
    return tuple(
        f"{name}: {old.get(name, 'none')} → {new.get(name, 'none')}" for name in names if old.get(name) != new.get(name)
    )


def _settings(text: str) -> dict[str, str]:
    """Settings of accounts, users and QOS: `qos low GrpJobs` → value. Use by jobs is in parentheses behind a limit."""
    settings: dict[str, str] = {}
    for line in text.splitlines():
        line = re.sub(r"\([^()]*\)", "", line.split("Account Limits=")[0])
        words = [word.partition("=")[::2] for word in line.split() if "=" in word]
        values = dict(words)
        if "QOS" in values and line.startswith("QOS="):
            name = f"qos {values.pop('QOS')}"
        elif line.startswith("UserName="):
            name = f"user {values.pop('UserName')}"
        elif line.startswith("ClusterName=") and "Account" in values:
            name = f"account {values.pop('Account')} {values.pop('UserName', '')}".rstrip()
        else:
            continue
        for key, value in values.items():
            limit = ",".join(each for each in value.split(",") if each and not each.endswith("=N"))
            if limit in ("", "N", "None", "Not") or _OF_USE.search(key):
                continue
            if not (name.startswith("account ") and name.count(" ") == 1 and key.startswith("Max")):
                settings[f"{name} {key}"] = limit
    return settings


def _read(text: str) -> Report:
    lines = [line.split("\t", 2) for line in text.splitlines() if line.count("\t") >= 2]
    numbers = list(dict.fromkeys(int(step) for step, kind, _ in lines if step != "end" and kind not in _OF_VALUES))

    def of(step: int, kind: str) -> tuple[str, ...]:
        return tuple(words for number, what, words in lines if (number, what) == (str(step), kind))

    values, restarted = (
        {int(step): words.strip() for step, kind, words in lines if kind == each} for each in _OF_VALUES
    )
    records = [int(words) for step, kind, words in lines if (step, kind) == ("end", "records")]
    ended = dict(words.split(" ", 1) for step, kind, words in lines if (step, kind) == ("end", "job"))
    listed = {name.partition("_")[0] for name in ended}
    names = [words for step, kind, words in lines if (step, kind) == ("end", "name")]
    return Report(
        {
            n: State(
                of(n, "node"),
                of(n, "job"),
                tuple(" ".join(of(n, "daemons")).split()),
                "".join(of(n, "output")),
                of(n, "differs"),
            )
            for n in numbers
        },
        ended | {name: "no record" for name in names if name not in listed},
        values,
        records=records[0] if records else None,
        restarted=restarted,
    )
