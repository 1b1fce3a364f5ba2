"""Shutdown by UPS, played with NUT's own daemons: dummy-ups in place of the UPS, three nodes in one sandbox, and
stand-ins for Slurm's commands and `shutdown`. Times are shorter than rendered, in the same order.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from clustergen.features.ups.checks import CHECKS
from clustergen.records import replace
from clustergen.render.tree import Tree
from clustergen.render.write import write
from clustergen.verify import sandbox
from clustergen.verify.check import Reader
from clustergen.verify.run import verify
from clustergen.verify.slurm_roots import root_with
from strategies.trees import COMPUTE, GPU, HEAD, manifest, runnable, tree_of

SERVICE = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
HOSTS = ("head", "mon", "c1")
PROGRAM = "/usr/local/sbin/clustergen-ups"
SHORTER = (
    (r"(START-TIMER \S+) \d+", r"\1 15"),
    (r"POLLFREQ(ALERT)? \d+", r"POLLFREQ\1 1"),
    (r"DEADTIME \d+", "DEADTIME 15"),
    (r"HOSTSYNC \d+", "HOSTSYNC 20"),
    (r"FINALDELAY 40", "FINALDELAY 4"),  # compute nodes
    (r"FINALDELAY 160", "FINALDELAY 8"),  # services
    (r"FINALDELAY 120", "FINALDELAY 1"),  # the server
    (r"maxretry = 3", "maxretry = 3\npollinterval = 1"),
    (
        r"\[(.*)\]\n  driver = .*\n  port = .*\n(  community.*\n)?",
        r"[\1]\n  driver = dummy-ups\n  port = /run/\1.dev\n",
    ),
)
PRELUDE = r"""
set -u
mkdir -p /run/nut /run/bin
say() { echo "$*" >>/run/log; }
power() { # the driver reads the file again where its time differs, in seconds
  [ ! -e /run/$1.dev ] || sleep 1
  echo "ups.status: $2" >/run/$1.new; mv /run/$1.new /run/$1.dev
}
cat >/run/bin/scontrol <<'END'
#!/bin/bash
echo "scontrol $*" >>/run/log
case $* in *state=drain*) echo "UPS on battery" >/run/reason ;; *state=resume*) echo none >/run/reason ;; esac
END
printf '#!/bin/bash\necho "c1|$(cat /run/reason)"\n' >/run/bin/sinfo
printf '#!/bin/bash\necho 7\n' >/run/bin/squeue
printf '#!/bin/bash\necho "systemctl $*" >>/run/log\n' >/run/bin/systemctl
printf '#!/bin/bash\necho "stop $1" >>/run/log\n' >/run/bin/stop
chmod 755 /run/bin/*
echo none >/run/reason
: >/run/log
for ups in $UPS; do power $ups OL; done
for host in head mon c1; do
  mkdir -p /nodes/$host/nut /nodes/$host/run
  export NUT_CONFPATH=/nodes/$host/nut NUT_STATEPATH=/run/nut
  python3 /nodes/$host/usr/local/sbin/clustergen-ups configure || exit
  if [ $host = head ]; then
    for ups in $UPS; do /usr/lib/nut/dummy-ups -a $ups -u root >/run/driver.out 2>&1 || cat /run/driver.out; done
    /usr/lib/nut/upsd -u root >/run/upsd.out 2>&1 || cat /run/upsd.out
  fi
  # Each has its PID in /run/nut.
  unshare --mount sh -c "[ $host = head ] || mount --bind /nodes/$host/run /run/nut; exec /usr/lib/nut/upsmon -p -F" \
    >/run/upsmon-$host.out 2>&1 &
done
for _ in {1..600}; do [ "$(upsc -c ups-a@localhost 2>/dev/null | wc -l)" = 3 ] && break; sleep 0.1; done
wait_for() { for _ in {1..600}; do grep -q -- "$1" /run/log && return; sleep 0.1; done; say "no $1"; }
"""
LOW = r"""
power ups-a OB
wait_for state=drain
power ups-a OL
wait_for state=resume
say === battery low
power ups-a 'OB LB'
wait_for 'stop head'
"""
LONG = r"""
power ups-a OB
wait_for 'stop c1'
sleep 9 # longer than services wait for
power ups-a OL
wait_for nut-server
"""


def nodes(tree: Tree, directory: Path) -> Path:
    """The nodes' files below `nodes/`, with shorter times, passwords, and paths that lead there."""
    for host in HOSTS:
        base = f"/nodes/{host}"
        changes = {"/etc/clustergen": f"{base}/etc/clustergen", "/etc/nut": f"{base}/nut"}
        place = directory / base.lstrip("/")
        runnable(tree, host, PROGRAM, place)
        for path in (file for file in place.rglob("*") if file.is_file()):
            text = path.read_text(encoding="utf-8").replace(str(place), base)
            for old, new in changes.items():
                text = text.replace(old, new) if f"{base}{old}" not in text else text
            for pattern, new in SHORTER if path.parent.name == "nut" else ():
                text = re.sub(pattern, new, text)
            text = text.replace("/sbin/shutdown -h +0", f"/run/bin/stop {host}")
            text = text.replace("socket.gethostname()", repr(host))
            text = text.replace('"PATH"] = "', '"PATH"] = "/run/bin:')
            path.write_text(text, encoding="utf-8")
        for name in ("primary", "secondary", "community"):
            (place / "etc/clustergen/nut" / name).write_text(f"{name}1", encoding="ascii")
    return directory


def played(data: dict[str, Any], script: str, directory: Path) -> list[str]:
    root = root_with("upsd")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    place = nodes(tree_of(data, directory), directory / "files")
    names = " ".join(data["ups"]["devices"])
    box = sandbox.Sandbox(root, files=((place, "/"),), hosts="127.0.0.1 localhost head mon c1\n", is_one_user=True)
    done = sandbox.run(box, ["/bin/bash", "-c", f"UPS='{names}'\n{PRELUDE}{script}cat /run/log"], timeout=300)
    assert done.code == 0, done
    return done.stdout.splitlines()


@pytest.mark.real
def test_power_that_is_back_in_time_resumes_nodes_and_a_low_battery_stops_them_in_order(tmp_path: Path) -> None:
    devices = {"ups-a": {"address": "10.0.9.201", "feeds": "head,mon,c1"}}
    log = played(manifest(nodes=[HEAD, SERVICE, COMPUTE], ups={"grace": 40, "devices": devices}), LOW, tmp_path)
    middle = log.index("=== battery low")
    assert log[:middle] == [
        "scontrol update nodename=c1 state=drain reason=UPS on battery",
        "scontrol update nodename=c1 state=resume",
    ]
    assert "scontrol requeue 7" in log[middle:]
    assert [line for line in log if line.startswith(("stop", "no "))] == ["stop c1", "stop mon", "stop head"]
    assert log.index("scontrol requeue 7") < log.index("stop c1")


@pytest.mark.real
@pytest.mark.long
def test_a_long_outage_stops_nodes_that_the_other_ups_does_not_carry(tmp_path: Path) -> None:
    """Four of six power supplies of c1 carry it, and each UPS feeds three."""
    types = {"gpu": {**GPU, "power": {"psus": 6, "redundant": 2}}}
    devices = {
        "ups-a": {"address": "10.0.9.201", "feeds": "head,mon,c1"},
        "ups-b": {"address": "10.0.9.202", "feeds": "head,mon,c1"},
    }
    ups = {"grace": 40, "devices": devices}
    log = played(manifest(nodes=[HEAD, SERVICE, COMPUTE], node_types=types, ups=ups), LONG, tmp_path)
    assert [line for line in log if line.startswith(("stop", "no "))] == ["stop c1"]
    assert log.index("scontrol requeue 7") < log.index("stop c1") < log.index("systemctl restart nut-server.service")


SLOW = r"""
mv /usr/lib/nut/upsmon /usr/lib/nut/upsmon.real
printf '#!/bin/bash\nsleep 1.5; exec /usr/lib/nut/upsmon.real "$@"\n' >/usr/lib/nut/upsmon
chmod 755 /usr/lib/nut/upsmon
"""


@pytest.mark.real
@pytest.mark.slow
def test_verify_passes_where_upsmon_is_slow(tmp_path: Path) -> None:
    """It starts as late as on a busy machine."""
    devices = {"ups-a": {"address": "10.0.9.201", "feeds": "head"}}
    write(tree_of(manifest(nodes=[HEAD, SERVICE, COMPUTE], ups={"devices": devices}), tmp_path), tmp_path / "rendered")
    (check,) = CHECKS
    assert isinstance(check.ask, Reader)
    slow = replace(check, ask=replace(check.ask, script=SLOW + check.ask.script))
    rows = [row for row in verify(tmp_path / "rendered", [slow]) if row.parser == check.parser]
    assert {(row.status, row.words) for row in rows} == {("passed", ())}
