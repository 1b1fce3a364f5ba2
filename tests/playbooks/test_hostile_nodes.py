"""Malicious nodes: the control host's memory stays bounded, and no other node is affected."""

from __future__ import annotations

import base64
import json
import re
import zlib
from functools import cache
from pathlib import Path

import pytest

from strategies.played_nodes import GOOD, Answer, Cluster, differs, packed

pytestmark = pytest.mark.slow

MAX_RSS = 300 << 20
ESCAPES = "\x1b[2K\x1b[1A\x1b]0;forged\x07\x1b[32m n1 ok\x1b[0m\r\x08\x9b2J\u202e\u2066\u200e"
TEMPLATE = "{{ lookup('pipe', 'touch /tmp/clustergen-was-here') }}"

CONTROLS = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"


def bomb(mib: int) -> str:
    engine = zlib.compressobj(9)
    content = b"".join(engine.compress(b"#" * (1 << 20)) for _ in range(mib)) + engine.flush()
    return base64.b64encode(content).decode()


def conf(text: str) -> Answer:
    return differs(packed(text.encode()))


MANY = "".join(f"NodeName=z{i}[1-65000] Gres=gpu:{i}\nPartitionName=p{i} Nodes=z{i}[1-65000]\n" for i in range(400))


@cache
def lies() -> dict[str, Answer]:
    """Changes to an otherwise good answer."""
    return {
        "bomb": differs(bomb(200)),
        "half-an-old-file": differs(packed(b"x" * 9999)[:-40]),
        "no-base64": differs("!!!!"),
        "old-file-too-large": differs(packed(b"#" * 300_000)),
        "many-hosts": conf(MANY),
        "long-line": conf("NodeName=" + "a" * 200_000),
        "many-lines": conf("a=b\n" * 60_000),
        "twice": {"differs": differs(None)["differs"] * 2},
        "not-asked-for": differs(None, "/etc/shadow"),
        "no-target": {"differs": [{"what": ["content"], "before": None}]},
        "differs-is-text": {"differs": "x"},
        "what-is-a-list-of-lists": differs(None, what=[["content"]]),
        "old-file-is-a-number": differs(7),  # type: ignore[arg-type]
        "many-names": {"packages": ["x" * 1000] * 2000},
        "long-name": {"host": "h" * 5000},
        "control-characters": {"host": "h\x1b[2J"},
        "host-is-a-list": {"host": ["c1"]},
        "clock-is-text": {"clock": "x"},
        "clock-is-huge": {"clock": 1e300},
        "clock-is-nan": {"clock": float("nan")},
        "another-clock": {"clock": 1},
        "many-leftovers": {"leftovers": [f"/x/{i}" for i in range(50_000)]},
        "leftover-is-no-path": {"leftovers": ["x\ny"]},
        "half-a-mount": {"mounts": {"/etc/systemd/system/x.mount": packed(b"x" * 999)[:-8]}},
        "effect-of-another-kind": {"pending": ["run:x.service; reboot"]},
        "unknown-effect": {"pending": ["format-disks"]},
        "pending-is-a-mapping": {"pending": {"reboot": 1}},
        "unit-not-asked-for": {"units": {"evil.service": {"load": "", "active": False, "enabled": False}}},
        "unit-is-text": {"units": {"munge.service": "x"}},
        "no-secrets": {"secrets": {}},
        "secret-is-no-digest": {"secrets": {"/etc/munge/munge.key": "x" * 64}},
        "running-something-else": {"running": ["evil.service"]},
        "root-is-a-number": {"root": 1},
        "os-is-missing": {"os": None},
        "another-os": {"os": {"id": "x", "version": "0", "codename": "", "machine": "x86_64"}},
        "free-is-huge": {"free": {"/": {"mib": 10**40, "inodes": 1}}},
        "another-node": {"host": "n1"},
        "template-in-a-name": {"last_run": TEMPLATE, "leftovers": ["/x" + TEMPLATE], "host": TEMPLATE},
    }


@cache
def whole() -> dict[str, bytes]:
    """Whole answers."""
    return {
        "facts": json.dumps({"changed": False, "ansible_facts": {"clustergen": {"x": 1}, "slurm_controllers": ["n1"],
                             "cluster_jobs_may_be_lost": True, "ansible_connection": "local"}}).encode(),
        "facts-and-failed": json.dumps(
            {"failed": True, "msg": "no", "ansible_facts": {"clustergen": {"x": 1}}}).encode(),
        "escapes": json.dumps({"failed": True, "msg": ESCAPES}).encode(),
        "template": json.dumps({"failed": True, "msg": TEMPLATE, "exception": TEMPLATE}).encode(),
        "unreachable": json.dumps({"unreachable": True, "msg": ESCAPES}).encode(),
        "good-and-noise": b"@GOOD@" + f"\n  n1 ok: forged {ESCAPES}\n".encode(),
        "deep": b'{"a":' + b"[" * 100_000,
        "deep-and-closed": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        "list": b"[1, 2]",
        "nothing": b"",
        "noise": bytes(range(256)) * 40,
        "long-integer": b'{"a": ' + b"9" * 100_000 + b"}",
        "many-keys": json.dumps({f"k{i}": i for i in range(200_000)}).encode(),
        "many-lists": b'{"a": [' + b"[]," * 2_500_000 + b"[]]}",
        "many-texts": json.dumps({**GOOD, "packages": ["x" * 1000] * 20_000}).encode(),
    }  # fmt: skip


FLOODS = {"flood": 500}  # MiB


def recap(output: str) -> dict[str, dict[str, int]]:
    rows = re.findall(r"^(\w+) +: (ok=.*)$", output.partition("PLAY RECAP")[2], re.MULTILINE)
    return {host: {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", text)} for host, text in rows}


MESSAGES = {
    "bomb": "an old file is larger than 262144 bytes",
    "half-an-old-file": "an old file cannot be unpacked",
    "many-hosts": "lists of 52,000,000 hosts",
    "long-line": "a line of 200009 characters",
    "many-lines": "60000 lines",
    "twice": "has /etc/slurm/slurm.conf twice",
    "another-clock": "its clock is",
    "another-node": "its hostname is n1, not",
    "another-os": "runs x 0 but the manifest states",
    "escapes": r"\x1b[2K\x1b[1A\x1b]0;forged\x07\x1b[32m n1 ok\x1b[0m",
    "unreachable": r"\x1b[2K",
    "flood": "it answered with more than 64 MiB, which were not read",
    "many-lists": "its answer takes more than 64 MiB",
    "many-texts": "it answered with 19 MiB, more than 8",
    "good-and-noise": r"warning: Module invocation had junk after the JSON data: n1 ok: forged \x1b[2K",
}


def test_every_wrong_answer_fails_its_own_host_alone(tmp_path: Path) -> None:
    assert len(lies()) + len(whole()) + len(FLOODS) >= 40
    cluster = Cluster(tmp_path, [*lies(), *whole(), *FLOODS])
    good = json.loads((cluster.answers / "node_state").read_text(encoding="utf-8"))
    for name, lie in lies().items():
        cluster.set_answer(f"{cluster.host_of[name]}.node_state", {**good, "host": cluster.host_of[name], **lie})
    for name, content in whole().items():
        text = json.dumps({**good, "host": cluster.host_of[name]}).encode()
        (cluster.answers / f"{cluster.host_of[name]}.node_state").write_bytes(content.replace(b"@GOOD@", text))
    for name, size in FLOODS.items():
        (cluster.answers / f"{cluster.host_of[name]}.node_state.flood").write_text(str(size), encoding="ascii")
    code, output, rss = cluster.play("--check", "--diff")
    assert rss < MAX_RSS
    rows = recap(output)
    assert set(rows) == set(cluster.all)
    assert code != 0
    for host in ("head", "good1", "good2"):
        assert rows[host]["failed"] == rows[host]["unreachable"] == 0
    believed = [name for name, host in cluster.host_of.items() if not rows[host]["failed"] + rows[host]["unreachable"]]
    assert believed == ["good-and-noise"]
    assert re.search(r"^  good\[1-2\],head,n\d+ +ok: up to date$", output, re.MULTILINE)
    for name, words in MESSAGES.items():
        assert re.search(rf"^  {cluster.host_of[name]} .*{re.escape(words)}", output, re.MULTILINE), name
    assert "Traceback" not in output
    # No text of a node is a command for the terminal, a line of another host, or a template.
    assert re.search(CONTROLS, output) is None
    assert not re.search("^  n1 ok: forged", output, re.MULTILINE)
    assert not Path("/tmp/clustergen-was-here").exists()


# -- answers that are well-formed, in a run that changes nodes ---------------------------------------------------------

STALE = "ClusterName=small\nSlurmctldHost=head\nSelectType=select/linear\nNodeName=n[1-9] CPUs=1 Gres=gpu:1\n"
LATER: dict[str, tuple[str, bytes | int]] = {  # a lie → the module that is answered with it, and the answer
    "put-flood": ("node_put", 500),
    "put-facts": ("node_put", json.dumps({"changed": True, "done": ["x"] * 10**6, "ansible_facts": {"x": 1}}).encode()),
    "put-escapes": ("node_put", json.dumps({"failed": True, "msg": f"a\n  good1 failed: {ESCAPES}"}).encode()),
    "put-nothing": ("node_put", b"\0" * 1000),
    "put-hang": ("node_put", 0),
    "settle-flood": ("node_settle", 500),
    "settle-list": ("node_settle", json.dumps({"changed": True, "done": {"a": 1}}).encode()),
    "unit-flood": ("systemd_service", 500),  # a module of Ansible
    "unit-text": ("systemd_service", json.dumps({"changed": False, "rc": 0, "stdout": "x" * (3 << 20)}).encode()),
    "unit-facts": ("systemd_service", json.dumps({"changed": False, "rc": 0, "ansible_facts": {
        "clustergen": {"behind": 7}, "cluster_jobs_may_be_lost": True, "slurm_controllers": ["n1"]}}).encode()),
}  # fmt: skip


LATER_MESSAGES = {
    "stale": "3 jobs are on this node, and this change would lose them: key SelectType",
    "put-flood": "it answered with more than 64 MiB, which were not read",
    "put-facts": "the answer.done has 1000000 items, more than 2000",
    "put-escapes": r"a good1 failed: \x1b[2K",
    "put-nothing": "No start of json char found",
    "put-hang": "30",
    "settle-flood": "it answered with more than 64 MiB, which were not read",
    "settle-list": "the answer.done is not a list",
    "unit-flood": "it answered with more than 64 MiB, which were not read",
    "unit-text": "it answered with 3 MiB, more than 2",
    "unit-facts": "'withheld'",
}


def test_a_wrong_answer_in_the_middle_of_a_run_fails_its_own_host_alone(tmp_path: Path) -> None:
    """n1 has an old SelectType: in a controller's file, it refuses the run. The others lie after the first question."""
    cluster = Cluster(tmp_path, ["stale", *LATER])
    good = json.loads((cluster.answers / "node_state").read_text(encoding="utf-8"))
    behind = good | differs(packed(b"# old\n"), "/etc/hosts") | {"pending": ["restart-slurmd"]}
    cluster.set_answer("node_state", behind)
    drained = ["good1", cluster.host_of["put-flood"], "left"]
    cluster.set_answer("head.node_state", behind | {"running": ["slurmctld.service"], "drained": drained})
    cluster.set_answer("n1.node_state", good | conf(STALE))
    for name, (module, content) in LATER.items():
        place = f"{cluster.host_of[name]}.{module}"
        if module == "systemd_service":  # a role brings the key that a node lacks, and restarts munge
            lacking = behind | {"secrets": dict.fromkeys(good["secrets"])}
            cluster.set_answer(f"{cluster.host_of[name]}.node_state", lacking)
        if isinstance(content, int):
            (cluster.answers / f"{place}.flood").write_text(str(content), encoding="ascii")
        else:
            (cluster.answers / place).write_bytes(content)
    cluster.set_answer("node_put", {"changed": True, "put": ["/etc/hosts"], "removed": [], "done": [], "not_asked": []})
    cluster.set_answer("node_settle", {"changed": True, "done": ["restart-slurmd"]})
    cluster.set_answer("node_secret", {"changed": True})
    cluster.set_answer("head.node_secret", {"changed": False, "content": "eA=="})
    cluster.set_answer("run_mark", {"changed": False, "other": None})
    cluster.set_answer("slurm_nodes", {"changed": False, "jobs": 3, "drained": [], "others": {}, "jobs_left": []})
    code, output, rss = cluster.play("-e", "cluster_step_timeout=30")
    assert rss < MAX_RSS
    assert code != 0
    failed = {host for host, row in recap(output).items() if row["failed"] + row["unreachable"]}
    assert failed == set(cluster.host_of.values())
    for name, words in LATER_MESSAGES.items():
        assert re.search(rf"^  {cluster.host_of[name]} +failed: .*{re.escape(words)}", output, re.MULTILINE), name
    assert re.search(r"^  good\[1-2\] +changed: restart-slurmd$", output, re.MULTILINE)
    assert re.search(CONTROLS, output) is None
    assert re.search(r"^  head +ok: 14 of 14 hosts need changes; last, one at a time: n1$", output, re.MULTILINE)
    log = (cluster.answers / "asked").read_text(encoding="utf-8").splitlines()
    assert "n1 node_put" not in log
    jobs, resume = (place for place, line in enumerate(log) if line == "head slurm_nodes")
    assert log.index("good1 node_settle") < jobs < resume
    assert log[-1] == "head run_mark"  # the next run may begin


VERSIONS: dict[str, Answer] = {
    "another-program": {"versions": {"evil": "24.11.5"}, "running": []},
    "no-version": {"versions": {"slurmd": "$(reboot)"}, "running": []},
    "failed": {"failed": True, "msg": ESCAPES},
    "stale": {"versions": {"slurmd": "24.11.5"}, "running": []},
}


def test_a_node_with_wrong_answers_does_not_end_an_upgrade(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, list(VERSIONS))
    for name, answer in VERSIONS.items():
        cluster.set_answer(f"{cluster.host_of[name]}.slurm_versions", {"changed": False, **answer})
    cluster.set_answer("slurm_versions", {"changed": False, **VERSIONS["stale"]})
    cluster.set_answer("slurm_convert", {"changed": False, "seconds": 0})
    cluster.set_answer("slurm_ready", {"changed": False, "answers": True})
    daemons = {"slurmctld": "24.11.5", "slurmdbd": "24.11.5"}
    cluster.set_answer("head.slurm_versions", {"changed": False, "versions": daemons, "running": list(daemons)})
    good = json.loads((cluster.answers / "node_state").read_text(encoding="utf-8"))
    cluster.set_answer("n4.node_state", {**good, "host": "n4", **conf(STALE)})
    cluster.set_answer("run_mark", {"changed": False, "other": None})
    code, output, _ = cluster.play(playbook="clustergen.cluster.upgrade")
    assert code != 0
    rows = recap(output)
    assert {host for host, row in rows.items() if row["failed"] + row["unreachable"]} == {"n1", "n2", "n3", "n4"}
    assert re.search(
        r"^  n4 +failed: not upgraded: .* changes that lose its jobs: key SelectType", output, re.MULTILINE
    )
    assert "not reached, and not upgraded: n[1-3]" in output
