"""The verbs of `clustergen lab` on an engine on paper: what they print, and the containers that are left."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from clustergen import compile as compiler
from clustergen.cli import group
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import ClustergenError
from clustergen.lab import engine as engines
from clustergen.lab import nodes, outage, run
from clustergen.lab.engine import Engine
from clustergen.lab.model import Lab, Wish
from clustergen.lab.work import Work
from strategies.played_engine import Podman
from strategies.trees import COMPUTE, HEAD, manifest

MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
NODES = [HEAD, MONITOR, {**COMPUTE, "name": "c[1-2]", "address": "10.0.0.[11-12]"}]
UNITS = {"cluster_units": {"all": ["munge.service"], "slurm_compute": ["slurmd.service"]}}
KEY = "ssh-ed25519 AAAA comment\n"


@pytest.fixture
def podman(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Podman:
    """The only engine of this machine, for a lab whose directory is below `tmp_path`."""
    podman = Podman(answer=lambda _node, script: KEY if "authorized_keys" in script else "")
    store = tmp_path / "podman"
    store.mkdir()
    engine = Engine("podman", "/usr/bin/podman", store, hybrid=False)
    monkeypatch.setenv("CLUSTERGEN_LAB", str(tmp_path))
    monkeypatch.setattr(engines, "subprocess", podman.starting())
    monkeypatch.setattr(run, "engine_of", lambda _work: engine)
    monkeypatch.setattr(nodes, "_routes", list)
    monkeypatch.setattr(nodes, "_room", lambda _count: None)  # labs of other tests may fill the machine
    return podman


def lab(text: str = json.dumps(manifest(nodes=NODES))) -> Lab:
    """The lab `small` on paper, as `prepare` leaves it, with the least of a tree."""
    work = Work("small")
    (work.tree / "inventory/group_vars").mkdir(parents=True, exist_ok=True)
    (work.tree / "inventory/group_vars/all.yml").write_text(json.dumps(UNITS), encoding="utf-8")
    work.key.with_suffix(".pub").write_text("key\n", encoding="utf-8")
    work.substitutions.write_text("  no GPUs\n    (there are none)\n", encoding="utf-8")
    document = json.loads(text)
    work.write_manifest(document, work.directory / "mine.yaml")
    return Lab(work.manifest, work, document, _cluster(text), ())


@cache
def _cluster(text: str) -> Cluster:
    cluster = compiler.validate(Path("/nowhere/manifest.yaml"), raw=text.encode()).cluster
    assert cluster is not None
    return cluster


def up(made: Lab, wish: Wish | None = None) -> list[str]:
    """The reports of `up`, those of nodes in their order."""
    reports: list[str] = []
    engine = run.engine_of(made.work)
    run.up(engine, made, wish or Wish(images={"": "image:1"}), reports.append)
    return sorted(reports)


def lab_verb(*words: str) -> tuple[int, str]:
    """Exit code and output, or the error with its hint."""
    done = CliRunner().invoke(group, ["lab", *words])
    if isinstance(done.exception, ClustergenError):
        return done.exception.exit_code, f"{done.exception.message} [{done.exception.hint}]"
    return done.exit_code, done.output


def test_containers_of_a_new_lab_are_the_nodes_of_the_manifest(podman: Podman, tmp_path: Path) -> None:
    made = lab()
    assert up(made) == ["c1", "c2", "fetching image:1", "head", "mon"]
    assert podman.networks == {"clustergen-lab-small": "10.0.0.0/24"}
    assert podman.states() == dict.fromkeys(("head", "mon", "c1", "c2"), "running")
    options = podman.containers["small-c1"].options
    pairs = {word: options[at + 1] for at, word in enumerate(options[:-1]) if word.startswith("--")}
    assert (pairs["--ip"], pairs["--mac-address"]) == ("10.0.0.11", "02:42:0a:00:00:0b")
    assert options[-3:] == ["--entrypoint", "/sbin/init", "image:1"]
    gpus = [name for name, one in podman.containers.items() if any("nvidia-smi" in word for word in one.options)]
    assert sorted(gpus) == ["small-c1", "small-c2"]
    lines = made.work.known_hosts.read_text(encoding="utf-8").splitlines()
    assert lines == [f"10.0.0.{last} ssh-ed25519 AAAA" for last in (1, 11, 12, 2)]
    assert podman.prefix[:4] == ["timeout", "-k", "5", "120"]
    assert f"{tmp_path}/podman/root" in podman.prefix


def test_another_up_starts_what_is_off_and_gives_running_nodes_what_the_manifest_adds(podman: Podman) -> None:
    made = lab()
    up(made)
    podman.containers["small-c1"].state = "paused"
    podman.containers["small-c2"].state = "exited"
    changed = {"head": "mounted /a\n", "mon": "stale /b\n"}
    podman.answer = lambda node, script: changed.get(node, "") if "fstab" in script else KEY
    assert up(made) == ["c1", "c2", "head: mounted /a"]
    assert set(podman.states().values()) == {"running"}


def test_a_node_that_was_left_half_made_is_made_again(podman: Podman) -> None:
    made = lab()
    up(made)
    nodes._forget(made.work, {"10.0.0.12"})
    assert up(made) == ["c2"]


@pytest.mark.parametrize(
    ("answer", "dead", "words"),
    [
        (lambda *_: (1, "python3: not found"), (), "did not come up: Error: python3: not found"),
        (lambda *_: KEY, ("c1", "c2", "head", "mon"), "did not come up: last words of"),
        (lambda *_: "", (), "did not come up: 0"),
    ],
)
def test_a_lab_that_does_not_come_up_leaves_nothing(
    podman: Podman, answer: Callable[[str, str], str], dead: tuple[str, ...], words: str
) -> None:
    podman.answer, podman.dead = answer, dead
    made = lab()
    with pytest.raises(ClustergenError) as error:
        up(made)
    assert words in error.value.message
    assert error.value.hint == "use an image with systemd, an ssh server and Python: image:1"
    assert (podman.containers, podman.networks, made.work.directory.exists()) == ({}, {}, False)


def test_a_lab_of_other_nodes_or_another_network_is_left_as_it_is(podman: Podman) -> None:
    up(lab())
    fewer = json.dumps(manifest(nodes=[HEAD, {**COMPUTE, "name": "d1", "address": "10.0.0.13"}]))
    with pytest.raises(ClustergenError, match=r"lab small runs with other nodes: c\[1-2\],mon"):
        up(lab(fewer))
    podman.networks["clustergen-lab-small"] = "10.9.0.0/24"
    with pytest.raises(
        ClustergenError, match=r"has the management network 10\.9\.0\.0/24, the manifest 10\.0\.0\.0/24"
    ):
        up(lab())
    assert len(podman.containers) == 4


def test_a_node_that_cannot_follow_the_manifest_is_named(podman: Podman) -> None:
    made = lab()
    up(made)
    podman.answer = lambda node, _: (1, "no such device") if node == "c2" else ""
    with pytest.raises(ClustergenError) as error:
        up(made)
    assert error.value.message == "c2 cannot follow the manifest: Error: no such device"
    assert error.value.hint == "run clustergen lab down small, then clustergen lab up"
    assert len(podman.containers) == 4


def test_apply_requires_every_node(podman: Podman) -> None:
    made = lab()
    up(made)
    podman.containers["small-c1"].state = "exited"
    del podman.containers["small-c2"]
    with pytest.raises(ClustergenError, match="nodes of the lab small are stopped: c1; missing: c2"):
        run.apply(made, [], lambda _: None)


def test_verbs_of_a_running_lab(podman: Podman) -> None:
    up(lab())
    origin = Work("small").directory / "mine.yaml"
    assert lab_verb("list") == (0, f"small                    4 of 4 nodes running   {origin}\n")
    podman.answer = lambda node, script: {"c2": "0\n1\n"}.get(node, "1\n") if "carrier" in script else "sinfo's table\n"
    podman.containers["small-c1"].state = "exited"
    assert lab_verb("status", "--substitutions")[1].splitlines() == [
        "head             10.0.0.1         running    slurm-controller, slurm-accounting",
        "mon              10.0.0.2         running    monitoring",
        "c1               10.0.0.11        exited     slurm-compute",
        "c2               10.0.0.12        cut off    slurm-compute",
        "",
        f"log in: ssh -F {Work('small').ssh_config} NODE, or clustergen lab shell NODE",
        "",
        "sinfo's table",
        "",
        "Substituted in this lab:",
        "  no GPUs",
        "    (there are none)",
    ]
    assert lab_verb("fault", "kill", "c[1-2]") == (0, "  c1: off\n  c2: off\n")
    assert podman.states() == {"head": "running", "mon": "running", "c1": "exited", "c2": "exited"}
    assert lab_verb("fault", "cut", "c1") == (3, "node c1 is off [run clustergen lab fault revive first]")
    assert lab_verb("fault", "kill", "c[1-3]") == (2, "node c3 is not in lab small [nodes: c[1-2],head,mon]")
    assert lab_verb("fault", "kill")[0] == 2
    assert lab_verb("stop") == (0, "2 nodes of small stopped\n")
    assert lab_verb("stop") == (0, "0 nodes of small stopped\n")
    code, output = lab_verb("start")
    assert (code, sorted(output.splitlines())) == (0, ["  c1", "  c2", "  head", "  mon", "4 nodes of small started"])
    hint = "running: c1, c2, head, mon"
    assert lab_verb("shell", "c9", "true") == (3, f"node c9 is not running in lab small [{hint}]")
    assert lab_verb("down", "small") == (0, "small: 4 containers removed\n")
    assert (podman.containers, podman.networks, lab_verb("list")) == ({}, {}, (0, ""))


# --- a power cut ------------------------------------------------------------------------------------------------------


class Recovery:
    """Nodes whose parts run some seconds after they are on; `never` do not. `moment` is the clock of the outage."""

    def __init__(self, podman: Podman, *never: str) -> None:
        self.podman, self.never, self.moment = podman, never, 1000.0
        self.on: dict[str, float] = {}

    def monotonic(self) -> float:
        return self.moment

    def sleep(self, seconds: float) -> None:
        self.moment += seconds

    def answer(self, node: str, script: str) -> str:
        script = unquote(script)
        since = self.on.setdefault(node, self.moment)
        is_slow = self.moment - since < 20
        if "list-units" in script:
            return "munge.service loaded active\nslurmd.service loaded active\nother.service loaded active\n"
        if "is-active ssh" in script:
            self.on[node] = self.moment
            return ""
        if "is-active" in script:
            units = script.split("is-active ")[1].split()
            return "".join(
                "inactive\n" if (is_slow and unit in self.slow) or f"{node}:{unit}" in self.never else "active\n"
                for unit in units
            )
        if "sbatch" in script:
            return "7;small\n"
        if "sinfo" in script:
            return "".join(f"{host} {'down*' if host in self.never else 'idle'}\n" for host in ("c1", "c2"))
        if "scontrol show job 7" in script:
            return "JobState=COMPLETED" if self.moment > 1200 else "JobState=PENDING"
        if "sacct" in script:
            return "COMPLETED\n"
        if "last_over_time" in script:
            return self.alerts(
                ("SlurmNodeDown", "firing", "c1", ""),
                ("NodeServiceStopped", "pending", "c2", "slurmd.service"),
                ("Old", "firing", "", ""),
            )
        if "query=ALERTS" in script:
            return self.alerts(("Old", "firing", "", ""))
        return ""

    slow = ("slurmd.service",)

    @staticmethod
    def alerts(*rows: tuple[str, str, str, str]) -> str:
        names = ("alertname", "alertstate", "instance", "name")
        return json.dumps({"data": {"result": [{"metric": dict(zip(names, row, strict=True))} for row in rows]}})


@pytest.fixture
def recovery(podman: Podman, monkeypatch: pytest.MonkeyPatch) -> Recovery:
    up(lab())
    recovery = Recovery(podman)
    podman.answer = recovery.answer
    monkeypatch.setattr(outage, "time", SimpleNamespace(monotonic=recovery.monotonic, sleep=recovery.sleep))
    return recovery


def test_a_lab_recovers_from_a_power_cut(recovery: Recovery) -> None:
    assert lab_verb("outage", "--pause", "60", "--limit", "300", "--format", "markdown") == (
        0,
        """\
  power off: c[1-2],head,mon
  power on: c[1-2],mon
  power on: head
| part | nodes | off | back after | by itself | alert |
| --- | --- | ---: | ---: | --- | --- |
| munge.service | head | 60 s | 0 s | yes | - |
| munge.service | c[1-2],mon | 0 s | 0 s | yes | - |
| slurmd.service | head | 60 s | 20 s | yes | - |
| slurmd.service | c[1-2],mon | 0 s | 20 s | yes | NodeServiceStopped (pending) |
| node in Slurm | c[1-2] | 60 s | 0 s | yes | SlurmNodeDown |
| queued job | - | 60 s | 132 s | yes | - |
| record of the job | - | 60 s | 132 s | yes | - |
""",
    )


def test_what_is_away_returns_when_all_else_has_recovered(recovery: Recovery) -> None:
    recovery.never = ("mon:slurmd.service",)
    code, output = lab_verb("outage", "--pause", "60", "--limit", "300", "--away", "c1")
    assert (
        re.sub(" {2,}", "  ", output)
        == """\
  power off: c[1-2],head,mon
  power on: c2,mon
  power on: head
  not recovered without c1
  power on: c1
part  nodes  off  back after  by itself  alert
munge.service  head  60 s  0 s  yes  -
munge.service  c2,mon  0 s  0 s  yes  -
munge.service  c1  360 s  0 s  yes  -
slurmd.service  head  60 s  20 s  yes  -
slurmd.service  mon  0 s  -  no  -
slurmd.service  c1  360 s  20 s  yes  -
slurmd.service  c2  0 s  20 s  yes  NodeServiceStopped (pending)
node in Slurm  c1  360 s  0 s  yes  SlurmNodeDown
node in Slurm  c2  60 s  0 s  yes  -
queued job  -  60 s  132 s  yes  -
record of the job  -  360 s  -  no  -
"""
    )
    assert code == 1


def test_a_unit_that_was_away_is_started_at_the_end(recovery: Recovery) -> None:
    code, output = lab_verb("outage", "--pause", "2", "--limit", "300", "--away", "head:slurmd.service")
    assert (
        re.sub(" {2,}", "  ", output)
        == """\
  waiting until slurmctld has saved its associations
  power off: c[1-2],head,mon
  power on: c[1-2],mon
  power on: head
  recovered without head:slurmd.service
part  nodes  off  back after  by itself  alert
munge.service  head  2 s  0 s  yes  -
munge.service  c[1-2],mon  0 s  0 s  yes  -
slurmd.service  head  20 s  2 s  yes  -
slurmd.service  c[1-2],mon  0 s  20 s  yes  NodeServiceStopped (pending)
node in Slurm  c[1-2]  2 s  0 s  yes  SlurmNodeDown
queued job  -  2 s  0 s  yes  -
record of the job  -  20 s  2 s  yes  -
"""
    )
    assert code == 0


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--away", "c9"), "--away c9: no node of the lab [nodes: c[1-2],head,mon]"),
        (
            ("--away", "c1:x.service"),
            "--away c1:x.service: it does not run there [units: munge.service, slurmd.service]",
        ),
        (("--away", "c2"), "--away c2: it is off [run clustergen lab fault revive c2]"),
    ],
)
def test_what_cannot_be_away_is_an_error(recovery: Recovery, words: tuple[str, ...], error: str) -> None:
    recovery.podman.containers["small-c2"].state = "exited"
    assert lab_verb("outage", *words) == (2, error)


def test_a_lab_that_accepts_no_job_keeps_its_power(recovery: Recovery) -> None:
    recovery.podman.answer = lambda node, script: "" if "sbatch" in script else recovery.answer(node, script)
    assert lab_verb("outage") == (3, "the lab's cluster accepts no job [run clustergen lab apply, then lab status]")
    assert set(recovery.podman.states().values()) == {"running"}
