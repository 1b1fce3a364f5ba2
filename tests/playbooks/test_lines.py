"""The output: readable with every ansible-core that pyproject.toml admits."""

from __future__ import annotations

import re
import time
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.clustergen.cluster.plugins.callback import lines

_PREFACE = 'Data could not be sent to remote host "10.0.0.3". Make sure this host can be reached over ssh: '
_CHANGED_KEY = (
    _PREFACE + "@@@@@@@@@@@@@@@ @ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @ @@@@@ remove with: "
    'ssh-keygen -f "/home/ann/.ssh/known_hosts" -R "10.0.0.3" Host key verification failed.'
)


@pytest.mark.parametrize("before", ["", "_"], ids=["since-2.19", "until-2.18"])
def test_outcomes_are_read_by_either_name(before: str, capsys: pytest.CaptureFixture[str]) -> None:
    callback = lines.CallbackModule()
    task = SimpleNamespace(action="clustergen.cluster.put")

    def result(host: str, **values: Any) -> Any:
        named = {"host": SimpleNamespace(get_name=lambda: host), "task": task, "result": values}
        return SimpleNamespace(**{before + name: value for name, value in named.items()})

    for host in ("n2", "n1"):
        callback.v2_runner_on_ok(result(host, changed=True, msg="1 file"))
    callback.v2_runner_on_failed(result("n3", failed=True, msg="no space"))
    callback._flush()
    output = capsys.readouterr().out
    assert "n[1-2]        changed: 1 file" in output
    assert "n3            failed: no space" in output


def test_a_failure_reports_the_state_of_all_hosts(capsys: pytest.CaptureFixture[str]) -> None:
    callback = lines.CallbackModule()
    counts = {"ok": 1, "unreachable": 0, "failures": 0, "skipped": 0}
    changed = {"n1": 2, "n2": 1, "n3": 0, "n4": 1, "localhost": 1}
    stats = SimpleNamespace(processed=changed, summarize=lambda host: {**counts, "changed": changed[host]})

    def result(host: str, action: str, **values: Any) -> Any:
        task = SimpleNamespace(action=action)
        return SimpleNamespace(host=SimpleNamespace(get_name=lambda: host), task=task, result=values)

    callback.v2_playbook_on_play_start(SimpleNamespace(get_name=lambda: "Files"))
    callback.v2_playbook_on_task_start(SimpleNamespace(get_name=lambda: "Install files"))
    nodes = "clustergen.cluster.slurm_nodes"
    callback.v2_runner_on_ok(result("head", nodes, changed=True, drained=["n1", "n2"]))
    callback.v2_runner_on_ok(result("head", nodes, changed=True, resumed=["n1"]))
    callback.v2_playbook_on_stats(stats)
    assert "drained" not in capsys.readouterr().out
    callback.v2_runner_on_failed(result("n4", "clustergen.cluster.put", failed=True, msg="no space"))
    callback.v2_playbook_on_stats(stats)
    assert capsys.readouterr().out.splitlines()[-5:] == [
        "failed at Files: Install files: n4",
        "changed as far as the run came: n[1-2]",
        "unchanged: n3",
        "still drained: n2; clustergen.cluster.resume gives up",
        "run it again once that is repaired: it goes on from here",
    ]


def test_a_play_and_its_roles_are_announced_when_they_start(capsys: pytest.CaptureFixture[str]) -> None:
    callback = lines.CallbackModule()
    role = SimpleNamespace(get_name=lambda include_role_fqcn: "packages")
    of_play, of_role = SimpleNamespace(_role=None), SimpleNamespace(_role=role)
    callback.v2_playbook_on_play_start(SimpleNamespace(get_name=lambda: "Accounts and packages"))
    for task in (of_play, of_play, of_role, of_role, of_play):
        for host in ("n1", "n2"):
            callback.v2_runner_on_start(host, task)
    callback.v2_playbook_on_play_start(SimpleNamespace(get_name=lambda: "Nodes"))
    printed = capsys.readouterr().out.splitlines()
    texts = [line.partition(" s  ")[2] for line in printed]
    assert texts == ["Accounts and packages", "Accounts and packages: packages"]
    callback.v2_runner_on_start("n1", of_play)
    assert re.fullmatch(r" +\d+ s  Nodes\n", capsys.readouterr().out)


def test_a_task_that_takes_long_is_named_with_the_hosts_that_it_runs_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    callback = lines.CallbackModule()
    task = SimpleNamespace(_role=None, get_name=lambda: "packages : Packages", action="ansible.builtin.apt")
    callback.v2_playbook_on_play_start(SimpleNamespace(get_name=lambda: "Nodes"))
    callback.v2_playbook_on_task_start(task)
    for host in ("n1", "n2", "n3", "n4"):
        callback.v2_runner_on_start(host, task)
    for number, outcome in enumerate((callback.v2_runner_on_ok, callback.v2_runner_on_skipped), 3):
        outcome(SimpleNamespace(host=SimpleNamespace(get_name=lambda n=number: f"n{n}"), task=task, result={}))
    assert re.fullmatch(r" +\d+ s  Nodes\n", capsys.readouterr().out)
    callback._end_silence()
    assert not capsys.readouterr().out, "there was no silence yet"
    monkeypatch.setattr(lines, "_SILENCE_S", 0.05)
    callback.v2_playbook_on_start(None)
    printed, limit = "", time.monotonic() + 60
    while printed.count("\n") < 2 and time.monotonic() < limit:
        time.sleep(0.05)
        printed += capsys.readouterr().out
    callback._is_over.set()
    assert re.fullmatch(r"( +\d+ s  Nodes: Packages: running on n\[1-2\]\n){2,}", printed)


def test_hosts_that_differ_in_one_file_share_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    callback = lines.CallbackModule()
    task = SimpleNamespace(action="clustergen.cluster.ask")

    def diff(name: str, after: str) -> dict[str, str]:
        return {"before": "", "after": after, "before_header": name, "after_header": name}

    for host in ("n1", "n2"):
        values = {"changed": True, "diff": [diff("/etc/hosts", "same\n"), diff("/etc/own", f"of {host}\n")]}
        callback.v2_on_file_diff(
            SimpleNamespace(host=SimpleNamespace(get_name=lambda host=host: host), task=task, result=values)
        )
    callback._flush()
    output = capsys.readouterr().out
    assert output.count("+same") == 1
    assert output.index("n[1-2]\n") < output.index("+same") < output.index("n1\n") < output.index("+of n1")


def test_a_changed_host_key_is_one_sentence_with_what_mends_it() -> None:
    drift_finding = lines._unreachable(_CHANGED_KEY)
    assert drift_finding.startswith("its host key differs from the one in known_hosts.")
    assert (
        'ssh-keygen -f "/home/ann/.ssh/known_hosts" -R "10.0.0.3", then add the new key with ssh-keyscan'
        in drift_finding
    )
    assert "@" not in drift_finding


@pytest.mark.parametrize("preface", [_PREFACE, "Failed to connect to the host via ssh: ", ""])
def test_errors_of_ssh_lose_their_preface(preface: str) -> None:
    words = "ssh: connect to host 10.0.0.3 port 22: Connection timed out"
    assert lines._unreachable(preface + words) == words


def test_text_of_a_node_moves_no_cursor_and_forges_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    callback = lines.CallbackModule()
    task = SimpleNamespace(action="clustergen.cluster.put")
    evil = "\x1b[2K\x1b[1A\r\x08\x9b2J\u202e\x07\n  n2  ok: all is well"
    host = SimpleNamespace(get_name=lambda: "n1")
    values = {"failed": True, "msg": evil, "warnings": [evil]}
    callback.v2_runner_on_failed(SimpleNamespace(host=host, task=task, result=values))
    callback.v2_runner_on_ok(SimpleNamespace(host=host, task=task, result=values | {"changed": True}))
    diff = {"before": "", "after": evil, "before_header": "x", "after_header": "x\x1b[A"}
    callback.v2_on_file_diff(SimpleNamespace(host=host, task=task, result={"changed": True, "diff": [diff]}))
    callback._flush()
    callback._display.warning(evil)
    output = capsys.readouterr()
    assert r"n1            failed: \x1b[2K\x1b[1A \x08\x9b2J\u202e\x07 n2 ok: all is well" in output.out
    for text in (output.out, output.err):
        assert not [line for line in text.splitlines() if line.startswith("  n2 ")]
        assert not set(text) & set("\x1b\r\x08\x9b\u202e\x07")
