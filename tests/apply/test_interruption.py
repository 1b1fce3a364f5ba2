"""A cancelled job: the playbook ends with clustergen, and no copy of the tree stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PLAY = """\
- hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - ansible.builtin.shell: echo $$ >{place}.new; mv {place}.new {place}; exec sleep 60
      check_mode: false
"""
# Each worker loads it, and is then as slow between one signal and the next as on a busy machine.
_SLOW = """\
import os, time
from ansible.plugins.callback import CallbackBase

def slowly(*arguments, killpg=os.killpg):
    time.sleep(0.3)
    killpg(*arguments)

os.killpg = slowly

class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "slow"
"""
_IMPORTS = "from pathlib import Path; from clustergen import child_process; from clustergen.apply import playbook"
_CALLS = {"apply": "playbook.run(Path('.'), {arguments})", "plan": "playbook.check(Path('.'), {arguments}, print)"}


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("verb", _CALLS)
def test_a_terminated_command_takes_the_playbook_along(verb: str, tmp_path: Path) -> None:
    place = tmp_path / "pid"
    (tmp_path / "site.yml").write_text(PLAY.format(place=place), encoding="utf-8")
    (tmp_path / "callbacks").mkdir()
    (tmp_path / "callbacks/slow.py").write_text(_SLOW, encoding="utf-8")
    (tmp_path / "ansible.cfg").write_text("[defaults]\ncallback_plugins = callbacks\n", encoding="utf-8")
    call = _CALLS[verb].format(arguments=["-e", "ansible_python_interpreter=/usr/bin/python3"])
    program = f"{_IMPORTS}; child_process.end_with_us(); {call}"
    with subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 300
        while not place.exists():
            assert time.monotonic() < until
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=300)
    assert "KeyboardInterrupt" in errors  # which the command line shows as `interrupted`
    until = time.monotonic() + 30
    while is_running(int(place.read_text(encoding="utf-8"))) and time.monotonic() < until:
        time.sleep(0.1)
    assert not is_running(int(place.read_text(encoding="utf-8")))
