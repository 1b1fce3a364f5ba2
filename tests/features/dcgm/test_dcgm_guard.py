"""Who reaches DCGM's host engine: the rules of a GPU node, met by connections of several accounts."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import COMPUTE, HEAD, lay_out, manifest, node_files, text_of, tree_of

UNIT = "/etc/systemd/system/clustergen-dcgm-guard.service"
DROP_IN = "/etc/systemd/system/nvidia-dcgm.service.d/50-clustergen.conf"
MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
# A server stands for nv-hostengine, which is no free software: the rules ask for port and account alone.
SCRIPT = r"""
ip link set lo up
serve() { # serve ACCOUNT PORT
  perl -MIO::Socket::INET -e '$) = $( = "$ARGV[1] $ARGV[1]"; $> = $< = $ARGV[1];
    my %place = (LocalAddr => "127.0.0.1", LocalPort => $ARGV[0]);
    my $all = IO::Socket::INET->new(%place, Listen => 5, ReuseAddr => 1) or die $!;
    open my $up, ">", "/tmp/up"; close $up; while (my $one = $all->accept) { print $one "pong\n" }' $2 $1 &
  server=$!
  until [ -e /tmp/up ]; do sleep 0.02; done; rm /tmp/up
}
ask() { # ask NAME ACCOUNT PORT [SECONDS]: whether the server answers
  local answer command="read -r word </dev/tcp/127.0.0.1/$3 && echo \$word"
  answer=$(timeout ${4:-1} setpriv --reuid $2 --regid $2 --clear-groups bash -c "$command" 2>/dev/null)
  echo "$1 ${answer:-nothing}"
}
section() { # section NAME: the commands of the unit
  sed -n "s/^$1=//p" /etc/systemd/system/clustergen-dcgm-guard.service >/tmp/commands
  bash -e /tmp/commands
}
mkdir -p /tmp; chmod 1777 /tmp
section ExecStart && echo started without the account
echo 'nvidia-dcgm:x:997:997::/:/usr/sbin/nologin' >>/etc/passwd
serve 0 5555
ask root 0 5555 60; ask user 2001 5555; ask account 997 5555
section ExecReload && echo reloaded
ask root 0 5555 60; ask user 2001 5555; ask account 997 5555 60
kill $server; wait $server 2>/dev/null
serve 2001 5555; ask impostor 0 5555; kill $server; wait $server 2>/dev/null
serve 2001 5556; ask "other port" 2001 5556 60
kill $server; nft list tables
"""


@pytest.mark.real
@pytest.mark.slow
def test_users_neither_reach_dcgm_nor_answer_for_it(tmp_path: Path) -> None:
    root = root_with("nft")
    assert root is not None, "clustergen setup parsers makes the root with nft"
    tree = tree_of(manifest(nodes=[HEAD, MONITOR, COMPUTE]), tmp_path)
    node = lay_out(tree, "c1", tmp_path / "node")
    box = sandbox.Sandbox(root, files=((node / "etc", "/etc"),))
    done = sandbox.run(box, ["/bin/bash", "-c", SCRIPT], timeout=300)
    assert done.stdout.splitlines() == [
        "started without the account",
        *("root pong", "user nothing", "account nothing"),
        "reloaded",
        *("root pong", "user nothing", "account pong"),
        "impostor nothing",
        "other port pong",
        "table inet clustergen-dcgm",
    ], done


@pytest.mark.slow
def test_dcgm_starts_only_with_its_rules(tmp_path: Path) -> None:
    tree = tree_of(manifest(nodes=[HEAD, MONITOR, COMPUTE]), tmp_path)
    assert "Requires=clustergen-dcgm-guard.service" in text_of(tree, "c1", DROP_IN)
    assert UNIT not in node_files(tree, "head")
    without = manifest(nodes=[HEAD, MONITOR, COMPUTE], monitoring={"dcgm": {"enabled": False}}, health={"dcgm": "off"})
    assert UNIT not in node_files(tree_of(without, tmp_path), "c1")
