"""The commands that site.yml runs on a host are those of the steps that `clustergen diff` prints, in their order.

The plays and tasks are those of site.yml, read from its files; the plan of a run, its actions and modules are the real
ones. Only files and programs of the hosts are not there: commands are recorded.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2
import pytest
import yaml

from ansible_collections.clustergen.cluster.plugins.action import ask, put, settle
from ansible_collections.clustergen.cluster.plugins.module_utils import effects, journal
from ansible_collections.clustergen.cluster.plugins.modules import node_put
from ansible_collections.clustergen.cluster.plugins.plugin_utils.effects import emptied_by, judge
from ansible_collections.clustergen.cluster.plugins.plugin_utils.plan import NOBODY, Asked, make_plan
from clustergen.catalogue.effects import severities
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diff.change import Change
from clustergen.diff.packages import PACKAGES, UNIT
from clustergen.diff.slurm import slurm_changes
from clustergen.diff.step import Step, Work
from clustergen.diff.steps import EMPTY, steps
from clustergen.render.effects import read
from clustergen.slurmconf.scalars import hosts_of
from strategies.recorded_node import Node

PLAYBOOKS = Path(__file__).parents[2] / "playbooks/ansible_collections/clustergen/cluster/playbooks"
UNITS = {
    "head": ["slurmctld.service"],
    "db": ["slurmdbd.service"],
    "c1": ["slurmd.service"],
    "c2": ["slurmd.service"],
    "login": [],
    "rtr": [],
}
ROLES = {
    "head": "slurm_controller",
    "db": "slurm_accounting",
    "c1": "slurm_compute",
    "c2": "slurm_compute",
    "login": "login",
    "rtr": "lnet_router",
}
CONF, ACCOUNTS = "/etc/slurm/slurm.conf", "/etc/clustergen/accounts.json"
SLURM = """ClusterName=c
SlurmctldHost=head
StateSaveLocation=/var/spool/slurmctld
GresTypes=gpu
NodeName=c[1-2] CPUs=4 RealMemory=1000 Gres=gpu:8
PartitionName=all Nodes=c[1-2] MaxTime=60
PartitionName=old Nodes=c[1-2]
"""
OF_SLURM = {
    "partition": ("PartitionName=old Nodes=c[1-2]\n", ""),
    "limit": ("MaxTime=60", "MaxTime=90"),
    "devices": ("gpu:8", "gpu:4"),
    "down": ("Gres=gpu:8", "Gres=gpu:8 State=DOWN"),
    "plugin": ("GresTypes", "SelectType=select/linear\nGresTypes"),
    "auth": ("GresTypes", "TaskPlugin=task/affinity\nGresTypes"),
    "accounting": ("GresTypes", "AccountingStorageType=accounting_storage/slurmdbd\nGresTypes"),
    "state": ("/var/spool/slurmctld", "/srv/slurmctld"),
}
"""Name → an edit of slurm.conf."""
OF_FILES = {
    "create": "create",
    "daemon-reload": "daemon-reload",
    "sysctl": "sysctl",
    "start": "start:new.mount",
    "run": "run:u.service",
    "remount": "remount:home.mount",
    "unmount": "remount:old.mount",
    "drain": "drain:mig.service",
    "reload": "reload:r.service",
    "restart": "restart:s.service",
    "stop": "stop:grafana.service",
    "reboot": "reboot",
    "window": "window:data.mount",
    "load-accounts": "load-accounts",
    "driver": "reboot",
    "slurmd": "restart-slurmd",
    "slurmdbd": "restart-slurmdbd",
    "none": "none",
    "after": "after:slurmd.service",
    "export": "reload:e.service",
}
"""Name → the effect of a changed file, unit or package."""
PLACES = {"load-accounts": "head", "slurmdbd": "db"}
"""Effects that only one host has."""
COMMANDS = {
    "create": "systemd-sysusers",
    "daemon-reload": "systemctl daemon-reload",
    "sysctl": "sysctl --system --quiet --ignore",
    "start": "systemctl start {what}",
    "run": "systemctl restart {what}",
    "remount": "systemctl restart {what}",
    "window": "systemctl restart {what}",
    "unmount": "systemctl disable --now --quiet {what}",
    "restart": "systemctl restart {what}",
    "reload": "systemctl reload {what}",
    "stop": "systemctl disable --now {what}",
    "reboot": "reboot",
    "resume": "resumed",
    "install": "install {what}",
    "restart-slurmctld": "systemctl restart slurmctld.service",
    "load-accounts": "clustergen-accounts",
    "restart-slurmd": "systemctl restart slurmd.service",
    "reconfigure": "scontrol reconfigure",
    "restart-slurmdbd": "systemctl restart slurmdbd.service",
    "drain": "systemctl restart {what}",
    "stop-slurm": "systemctl stop {{unit}}",
    "new-cluster-id": "new-cluster-id",
    "move-state": "move-state",
}
"""Step → what a host runs for it."""
_PARTS = "^systemd-tmpfiles|^clustergen-accounts names$"
"""Commands that belong to the step of another."""
_OF_SLURM = r"systemctl (re)?start slurm|scontrol|move-state|new-cluster-id"
_RELOAD = "systemctl daemon-reload"
_UNITS = {"start", "unmount", "remount", "window"}
"""Whose files are units, which systemd has to read as well."""


def change(name: str, host: str) -> Change:
    """A change in the form of `clustergen diff`."""
    effect = read(OF_FILES[name])
    kind = {"stop": UNIT, "driver": PACKAGES}.get(name, "file")
    old, new = (None if name == "start" else "x"), (None if name in ("unmount", "stop", "export") else "driver-2")
    return Change(
        file="" if kind != "file" else target_of(name),
        kind=kind,
        old=old,
        new=new,
        nodes=PLACES.get(name, host),
        effects=(effect,),
        reason="",
    )


def target_of(name: str) -> str:
    """The file of the tree whose change has the effect."""
    unit = {"start": "new.mount", "unmount": "old.mount", "window": "data.mount", "remount": "home.mount"}.get(name)
    if name == "export":
        return "/etc/exports.d/clustergen-old.exports"
    return f"/etc/systemd/system/{unit}" if unit else f"/etc/{name}"


def answer(
    host: str, names: Iterable[str], slurm: str, release: str = "24.11", pending: Iterable[str] = ()
) -> dict[str, Any]:
    """The fact that the action `ask` makes of a host whose files differ so, and whose journal has these effects."""
    moves = {"window": "remount:data.mount", "start": "remount:new.mount"}
    files = {
        target_of(name): {"effect": moves.get(name, OF_FILES[name])} for name in names if name not in ("stop", "driver")
    }
    leftovers = {
        target: entry["effect"] for target, entry in files.items() if target.endswith(("/old.mount", ".exports"))
    }
    files = {target: entry for target, entry in files.items() if target not in leftovers}
    contents = {CONF: (SLURM, slurm)} if host in ("head", "c1", "c2") else {}
    if slurm != SLURM and contents:
        files[CONF] = {"effect": "reconfigure"}
    state = {
        "differs": [{"target": t, "what": ["content"], "there": not t.endswith("new.mount")} for t in files],
        "leftovers": list(leftovers),
        "effects_of": leftovers,
        "pending": list(pending),
        "running": UNITS[host],
        "units": {"new.mount": {}} if "start" in names else {},
    }
    units = [*UNITS[host], *(["new.mount"] if "start" in names else [])]
    inside = {target_of("window"): OF_FILES["window"]}
    verdict = judge(host, {"all", ROLES[host]}, release, files, state, contents, units, "head", inside=inside)
    if "driver" in names:
        verdict.replace("reboot", True)
    if "stop" in names:
        verdict.stop(["grafana.service"])
    nodes = ["c1", "c2"]
    return {
        **ask._of_effects(verdict),
        "behind": True,
        "files": list(files),
        "leftovers": list(leftovers),
        "boot": {"at_once": False},
        "clients": [],
        "drained": [],
        "elsewhere": {},
        "empties": emptied_by(nodes, release, contents) if host == "head" else [],
        "vacates": emptied_by(nodes, release, contents, ("vacate",)) if host == "head" else [],
        "units": units,
        "without": [],
        "start": list(state["units"]),
        "paths": [],
        "serving": host in nodes,
        "controlling": host == "head",
        "host": host,
        "last_run": "none",
        "packages": [],
        "absent": [],
        "booting": [],
        "secrets": {},
        "replaces": ["nvidia"] if "driver" in names else [],
        "replaced_secrets": [],
    }


class Run:
    """Carries out the plays of site.yml after the plan, and records what each host runs."""

    def __init__(self, facts: dict[str, dict[str, Any]], directory: Path, last: str = "") -> None:
        self.facts, self.directory = facts, directory
        self.hosts: list[str] = []
        self.drained = set(facts["head"]["drained"])
        self.plan, _, wrong = make_plan(facts, Asked(["head"], facts, facts, routers=["rtr"]))
        assert not wrong
        self.nodes = {host: Node(*fact["units"], "r.service", "e.service") for host, fact in facts.items()}
        for host, fact in facts.items():
            self.nodes[host].active -= set(fact["start"])
        for play in playbook("site.yml")[1:]:
            self.play(play)
            if play["name"] == last:
                return

    def value(self, text: Any, host: str = "localhost") -> Any:
        """Of a template or a bare expression."""
        return expression(text)(
            ansible_facts={"clustergen": self.facts.get(host)},
            hostvars={"localhost": {"ansible_facts": {"clustergen_plan": self.plan}}},
            inventory_hostname=host,
            ansible_play_hosts=self.hosts,
            ansible_play_hosts_all=self.hosts,
            clustergen_jobs={"jobs": 0},
        )

    def play(self, play: dict[str, Any]) -> None:
        pattern = self.value(play["hosts"])
        if pattern == NOBODY:
            return
        self.hosts = pattern.split(",")
        for host in self.hosts:
            for task in play["tasks"]:
                self.task(task, host, first=host == self.hosts[0])

    def task(self, task: dict[str, Any], host: str, *, first: bool) -> None:
        conditions = task.get("when", [])
        conditions = conditions if isinstance(conditions, list) else [conditions]
        if (task.get("run_once") and not first) or not all(self.value(condition, host) for condition in conditions):
            return
        if "ansible.builtin.include_tasks" in task:
            for each in playbook(f"tasks/{Path(task['ansible.builtin.include_tasks']).name}"):
                self.task(each, host, first=first)
        elif arguments := task.get("clustergen.cluster.slurm_nodes"):
            nodes = arguments["nodes"]
            nodes = self.value(nodes, host) if isinstance(nodes, str) else [self.value(name, host) for name in nodes]
            for name in nodes if arguments["state"] != "jobs" else ():
                self.nodes[name].commands.append(arguments["state"])
                if arguments["state"] == "resumed":
                    self.drained.discard(name)
                elif name not in self.plan["kept"]:
                    self.drained.add(name)
        elif arguments := task.get("clustergen.cluster.put"):
            self.put(host, arguments["phase"])
        elif arguments := task.get("clustergen.cluster.settle"):
            self.settle(host, arguments)
        elif "ansible.builtin.reboot" in task:
            self.nodes[host].commands.append("reboot")
        elif task.get("ansible.builtin.include_role", {}).get("tasks_from") == "replace":
            self.nodes[host].commands.append("install driver-2")

    def put(self, host: str, phase: str) -> None:
        if phase in ("users", "trial"):
            return
        fact = self.facts[host]
        removed = [target for target in fact["leftovers"] if phase != "waiting" and put._removes(phase, target, fact)]
        node = self.node(host)
        node.params = {
            "effects": put.ActionModule._effects(None, phase, fact, self.variables(host)),
            "remove": removed,
            "tree": "",
            "units": put._units(phase, fact),
            "record": {},
            "replaces": phase == "live",
        }
        worker = effects.Worker(node)
        state, left = node_put.planned(node.params)
        node_put.exchange(node, [], state, left, {})
        node_put.carry_out(worker, removed, node.params["units"])
        assert not worker.failed

    def settle(self, host: str, arguments: dict[str, Any]) -> None:
        arguments = {
            key: self.value(value, host) if isinstance(value, str) else value for key, value in arguments.items()
        }
        task = SimpleNamespace(args=arguments, async_val=0, check_mode=False)
        action = settle.ActionModule(task, SimpleNamespace(_shell=SimpleNamespace(tmpdir="")), None, None, None, None)
        node = self.node(host)

        def module(_name: str, request: dict[str, Any], _variables: Any) -> dict[str, Any]:
            worker = effects.Worker(node)
            if request["stop"]:
                effects.stop(worker, request["units"])
            else:
                effects.slurm(worker, request["effects"], request["units"])
            assert not worker.failed
            return {"done": worker.done}

        action.ask = module
        action.run(task_vars=self.variables(host))

    def variables(self, host: str) -> dict[str, Any]:
        return {
            "inventory_hostname": host,
            "group_names": [ROLES[host]],
            "ansible_facts": {"clustergen": self.facts[host]},
            "hostvars": {"localhost": {"ansible_facts": {"clustergen_plan": self.plan}}},
        }

    def node(self, host: str) -> Node:
        """The host, with a journal of its own."""
        journal.DIRECTORY, journal.PLACE = str(self.directory), str(self.directory / f"{host}.json")
        return self.nodes[host]

    def ran(self, host: str) -> list[str]:
        commands: list[str] = self.nodes[host].commands
        return commands


@cache
def expression(text: str) -> Any:
    environment = jinja2.Environment()
    environment.filters |= {
        "bool": bool,
        "intersect": lambda one, other: [name for name in one if name in other],
        "difference": lambda one, other: [name for name in one if name not in other],
    }
    text = text.strip()
    return environment.compile_expression(text[2:-2] if text.startswith("{{") else text, undefined_to_none=False)


@cache
def playbook(name: str) -> Any:
    return yaml.safe_load((PLAYBOOKS / name).read_text(encoding="utf-8"))


def printed(names: Iterable[str], host: str, slurm: str, release: str) -> dict[str, list[str]]:
    """Host → the commands of the steps that `clustergen diff` prints for it."""
    of_slurm = slurm_changes({CONF: SLURM}, {CONF: slurm}, SlurmRelease(release))
    changes = [*of_slurm, *(change(name, host) for name in names)]
    work = Work(
        changes=changes,
        added=(),
        removed=(),
        controllers=("head",),
        accounting=("db",),
        compute=("c1", "c2"),
        routers=("rtr",),
        systems=(),
        release=None,
    )
    commands: dict[str, list[str]] = {name: [] for name in UNITS}
    for step in steps(work):
        for name in hosts_of(step.hosts) if step.hosts else UNITS:
            commands[name] += [command.format(unit="".join(UNITS[name])) for command in _commands(step)]
    return commands


def _commands(step: Step) -> Iterator[str]:
    if step.parts:
        parts = [command for part in step.parts for command in _commands(part)]
        yield from ["drained", *parts, "resumed"] if step.kind == "turn" else parts
    elif step.play == EMPTY:
        yield "drained"
    elif step.kind in COMMANDS:
        command = COMMANDS[step.kind].format(what=step.what)
        yield command.replace("restart", "start") if step.text.startswith("start ") else command


@pytest.fixture(autouse=True)
def hosts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No file of this machine is read or written."""
    monkeypatch.setattr("os.fsync", lambda _file: None)
    accounts = tmp_path / "clustergen-accounts"
    accounts.touch()
    monkeypatch.setattr(effects, "ACCOUNTS", str(accounts))
    monkeypatch.setattr(effects, "slurm_log", lambda _unit: None)
    monkeypatch.setattr(effects, "tmpfiles", lambda: ["systemd-tmpfiles", "--create"])
    monkeypatch.setattr(effects, "listens", lambda _port: True)
    monkeypatch.setattr(effects, "_move_state", lambda worker, _old: not worker.module.commands.append("move-state"))
    monkeypatch.setattr(
        effects, "_forget_cluster_id", lambda worker: not worker.module.commands.append("new-cluster-id")
    )
    monkeypatch.setattr(node_put.overlay, "remove", lambda _target: None)
    for name in ("DIRECTORY", "PLACE"):  # which `Run` sets
        monkeypatch.setattr(journal, name, "")


def differing(names: tuple[str, ...], host: str, tmp_path: Path, release: str = "24.11") -> dict[str, Any]:
    """Host → what is printed and what runs, where they are not the same."""
    slurm = SLURM
    for name in names:
        if name in OF_SLURM:
            slurm = slurm.replace(*OF_SLURM[name])
    of_files = [name for name in names if name in OF_FILES]
    places = {name: PLACES.get(name, host) for name in of_files}
    facts = {one: answer(one, [name for name in of_files if places[name] == one], slurm, release) for one in UNITS}
    for each in tmp_path.glob("*.json"):
        each.unlink()
    run = Run(facts, tmp_path)
    steps_of = printed(of_files, host, slurm, release)
    result = {}
    for one, commands in steps_of.items():
        ran = [
            command
            for command in (each.replace(f"{tmp_path}/", "") for each in run.ran(one))
            if not re.search(_PARTS, command)
        ]
        if _UNITS.intersection(names):
            ran, commands = ([each for each in side if each != _RELOAD] for side in (ran, commands))
        if ran != commands:
            result[one] = {"printed": commands, "ran": ran}
    return result


NAMES = (*OF_FILES, *OF_SLURM)


def test_every_kind_of_effect_is_among_them() -> None:
    kinds = {read(effect).kind for effect in OF_FILES.values()}
    for edit in OF_SLURM.values():
        changes = slurm_changes({CONF: SLURM}, {CONF: SLURM.replace(*edit)}, SlurmRelease("24.11"))
        kinds |= {effect.kind for each in changes for effect in each.effects}
    assert set(severities()) - kinds == set()


@pytest.mark.parametrize("host", ["c1", "login", "rtr"])
@pytest.mark.parametrize("count", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_each_step_and_each_pair_runs_as_it_is_printed(count: int, host: str, tmp_path: Path) -> None:
    cases = itertools.combinations(NAMES, count)
    assert {case: which for case in cases if (which := differing(case, host, tmp_path))} == {}


@pytest.mark.parametrize("others", [(), ("limit", "slurmd"), ("state", "load-accounts"), ("plugin",)])
def test_slurmctld_of_an_old_release_restarts_again_after_slurmd(others: tuple[str, ...], tmp_path: Path) -> None:
    assert differing(("devices", *others), "c1", tmp_path, "22.05") == {}
    facts = {host: answer(host, [], SLURM.replace(*OF_SLURM["devices"]), "22.05") for host in UNITS}
    run = Run(facts, tmp_path / "again")
    assert run.ran("head") == ["systemctl restart slurmctld.service"] * 2
    assert run.ran("c1") == ["drained", "systemctl restart slurmd.service", "resumed"]


def test_a_run_that_ended_before_the_second_restart_is_made_up_for(tmp_path: Path) -> None:
    facts = {host: answer(host, [], SLURM) | {"behind": host == "head"} for host in UNITS}
    facts["head"]["effects"] = ["restart-slurmctld:again"]
    run = Run(facts, tmp_path)
    assert [run.ran("head"), run.ran("c1")] == [["systemctl restart slurmctld.service"], []]


@pytest.mark.parametrize(
    ("edit", "release"),
    [
        ("devices", "22.05"),
        ("devices", "24.11"),
        ("down", "24.11"),
        ("limit", "24.11"),
        ("accounting", "24.11"),
        ("state", "24.11"),
    ],
)
def test_a_run_that_ends_after_any_play_is_carried_on_by_the_next(edit: str, release: str, tmp_path: Path) -> None:
    """No command of Slurm's daemons is left out, and none runs twice. Drained nodes are resumed at the end."""
    slurm = SLURM.replace(*OF_SLURM[edit])
    names = [play["name"] for play in playbook("site.yml")]
    facts = {host: answer(host, [], slurm, release) for host in UNITS}

    def commands(pattern: str, *runs: Run) -> dict[str, list[str]]:
        ran = {host: [command for run in runs for command in run.ran(host)] for host in UNITS}
        return {host: [each for each in ran[host] if re.match(pattern, each)] for host in UNITS}

    def last_commands(*runs: Run) -> dict[str, list[str]]:
        return {host: ran[-1:] for host, ran in commands(f"{_OF_SLURM}|drained|resumed", *runs).items()}

    whole = Run(facts, tmp_path / "whole")
    assert any(commands(_OF_SLURM, whole).values())
    for last in names[1:]:
        directory = tmp_path / last
        first = Run(facts, directory, last)
        following = dict(facts)
        if names.index(last) >= names.index("Files"):
            for host in UNITS:
                first.node(host)
                pending = journal.read()["pending"]
                following[host] = answer(host, [], SLURM, release, pending) | {"behind": bool(pending)}
        drained = sorted(first.drained)
        following["head"] |= {"drained": drained, "behind": following["head"]["behind"] or bool(drained)}
        second = Run(following, directory)
        assert commands(_OF_SLURM, first, second) == commands(_OF_SLURM, whole), last
        assert last_commands(first, second) == last_commands(whole), last
        assert second.drained == set(), last


@pytest.mark.slow
@pytest.mark.parametrize("host", ["c1", "login", "rtr"])
def test_more_of_them_together_run_as_they_are_printed(host: str, tmp_path: Path) -> None:
    drawn = random.Random(28)
    cases = [tuple(drawn.sample(NAMES, drawn.randint(3, 8))) for _ in range(100)]
    # A window is a remount to the node, which carries out several in the order of their files.
    cases = [case for case in cases if not {"window", "remount"} <= set(case)]
    assert {case: which for case in cases if (which := differing(case, host, tmp_path))} == {}


def test_a_node_that_missed_an_earlier_change_is_drained_and_resumed_once(tmp_path: Path) -> None:
    """Its files alone differ: slurmctld, which has the new ones, tells it nothing."""
    facts = {host: answer(host, [], SLURM) for host in UNITS}
    facts["c1"] = answer("c1", ["remount", "reboot"], SLURM.replace(*OF_SLURM["devices"]))
    mounted = ["systemctl restart home.mount", "reboot"]
    assert Run(facts, tmp_path).ran("c1") == ["drained", *mounted, "systemctl restart slurmd.service", "resumed"]
