"""The output: readable with every ansible-core that pyproject.toml admits."""

from __future__ import annotations

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

    def result(host: str, **found: Any) -> Any:
        named = {"host": SimpleNamespace(get_name=lambda: host), "task": task, "result": found}
        return SimpleNamespace(**{before + name: value for name, value in named.items()})

    for host in ("n2", "n1"):
        callback.v2_runner_on_ok(result(host, changed=True, msg="1 file"))
    callback.v2_runner_on_failed(result("n3", failed=True, msg="no space"))
    callback._flush()
    said = capsys.readouterr().out
    assert "n[1-2]        changed: 1 file" in said
    assert "n3            failed: no space" in said


def test_hosts_that_differ_in_one_file_share_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    callback = lines.CallbackModule()
    task = SimpleNamespace(action="clustergen.cluster.ask")

    def diff(name: str, after: str) -> dict[str, str]:
        return {"before": "", "after": after, "before_header": name, "after_header": name}

    for host in ("n1", "n2"):
        found = {"changed": True, "diff": [diff("/etc/hosts", "same\n"), diff("/etc/own", f"of {host}\n")]}
        callback.v2_on_file_diff(
            SimpleNamespace(host=SimpleNamespace(get_name=lambda host=host: host), task=task, result=found)
        )
    callback._flush()
    said = capsys.readouterr().out
    assert said.count("+same") == 1
    assert said.index("n[1-2]\n") < said.index("+same") < said.index("n1\n") < said.index("+of n1")


def test_a_changed_host_key_is_one_sentence_with_what_mends_it() -> None:
    said = lines._unreachable(_CHANGED_KEY)
    assert said.startswith("its host key is another one than known_hosts has.")
    assert 'ssh-keygen -f "/home/ann/.ssh/known_hosts" -R "10.0.0.3", and ssh-keyscan it anew' in said
    assert "@" not in said


@pytest.mark.parametrize("preface", [_PREFACE, "Failed to connect to the host via ssh: ", ""])
def test_what_ssh_says_without_its_preface(preface: str) -> None:
    words = "ssh: connect to host 10.0.0.3 port 22: Connection timed out"
    assert lines._unreachable(preface + words) == words
