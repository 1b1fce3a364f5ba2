"""clustergen-network on a node with ifupdown: real interfaces, the real ifup, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import COMPUTE, HEAD, lay_out, manifest, tree_of

pytestmark = [pytest.mark.real, pytest.mark.slow]
MANAGEMENT = {"cidr": "10.0.0.0/24", "interface": "eno1", "gateway": "10.0.0.254", "configure": True}
OLD = "auto eno1\niface eno1 inet static\n    address 10.9.9.9/24\n"
# There is no systemd in the sandbox: what the timer would run is called by hand.
BEGIN = r"""
set -u
mount -t sysfs sysfs /sys
for name in systemctl systemd-run; do
  printf '#!/bin/sh\necho "$0 $*" >>/tmp/calls\n' >/usr/bin/$name && chmod 755 /usr/bin/$name
done
mkdir -p /run/network /etc/network/interfaces.d
printf 'auto lo\niface lo inet loopback\nsource /etc/network/interfaces.d/*\n' >/etc/network/interfaces
ip link add eno1 type veth peer name far && ip link set far up
addresses() { ip -4 -o addr show dev eno1 | awk '{ printf "%s ", $4 }'; }
"""


def on_node(directory: Path, script: str, program: str = "ifup", **management: Any) -> list[str]:
    """Lines that a script prints on a node whose system has this program."""
    networks = {"management": {**MANAGEMENT, **management}, "fabric": {"type": "infiniband", "rate": "NDR"}}
    node = lay_out(tree_of(manifest(networks=networks, nodes=[HEAD, COMPUTE]), directory), "c1", directory / "node")
    root = root_with(program)
    assert root is not None, f"clustergen setup parsers makes the root with {program}"
    box = sandbox.Sandbox(
        root,
        files=tuple((node / part, f"/{part}") for part in ("etc", "usr")),
        hosts=(node / "etc/hosts").read_text(),
        hostname="c1",
    )
    done = sandbox.run(box, ["/bin/bash", "-c", f"{BEGIN}{script}"], timeout=300)
    assert done.code == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_an_unconfirmed_change_is_undone_and_a_confirmed_one_stays(tmp_path: Path) -> None:
    lines = on_node(
        tmp_path,
        f"""
site=/etc/network/interfaces.d/site
printf '{OLD}' >$site && ifup eno1 2>/dev/null
files() {{ ls /etc/network/interfaces.d | tr '\\n' ' '; }}
run() {{ clustergen-network "$@" >>/tmp/log 2>&1; echo "$1 $? $(addresses)$(files)"; }}
export CLUSTERGEN_NETWORK_REPLACE=yes
run apply 60
run apply 60
run rollback
run confirm
run apply 60
run boot
run apply 60
run confirm
run rollback
run apply 60
grep -c on-active=60 /tmp/calls
ip route show default | cut -d ' ' -f 1-3
""",
    )
    before, after = "10.9.9.9/24 site ", "10.0.0.11/24 clustergen-management "
    assert lines == [
        f"apply 0 {after}",
        f"apply 2 {after}",  # the first waits to be confirmed
        f"rollback 0 {before}",
        f"confirm 2 {before}",  # nothing waits
        f"apply 0 {after}",
        "boot 0 10.0.0.11/24 site ",  # before the network is up: files only
        f"apply 0 {after}",
        f"confirm 0 {after}",
        f"rollback 0 {after}",
        f"apply 0 {after}",  # no change
        "3",
        "default via 10.0.0.254",
    ]


def test_a_disk_that_is_full_by_now_does_not_keep_the_node_from_its_network(tmp_path: Path) -> None:
    script = f"""
cp -a /etc /tmp/etc && mount -t tmpfs -o size=64m tmpfs /etc && cp -a /tmp/etc/. /etc/
mkdir -p /etc/state /var/lib/clustergen && mount --bind /etc/state /var/lib/clustergen
printf '{OLD}' >/etc/network/interfaces.d/site && ifup eno1 2>/dev/null
files() {{ ls /etc/network/interfaces.d | tr '\n' ' '; tr -s ' \n' ' ' </etc/network/interfaces.d/site; }}
export CLUSTERGEN_NETWORK_REPLACE=yes
for undo in rollback boot; do
  clustergen-network apply 60 >/dev/null 2>&1; echo $?
  dd if=/dev/zero of=/etc/filler bs=4k status=none 2>/dev/null
  clustergen-network $undo >/dev/null 2>&1; echo "$undo $? $(files)$(ls /var/lib/clustergen/network | grep -c pending)"
  [ $undo = boot ] || addresses
  rm /etc/filler
done
"""
    before = "site auto eno1 iface eno1 inet static address 10.9.9.9/24 0"
    assert on_node(tmp_path, script) == ["0", f"rollback 0 {before}", "10.9.9.9/24 0", f"boot 0 {before}"]


def test_a_file_with_spaces_in_its_name_is_set_aside_and_comes_back(tmp_path: Path) -> None:
    """The pending change is on disk before a file changes, and the confirmation before it is reported."""
    lines = on_node(
        tmp_path,
        f"""
mkdir /tmp/here && cd /tmp/here && touch site
printf '#!/bin/sh\nls /var/lib/clustergen/network /etc/network/interfaces.d |
  grep -E "pending$|site|-man" | tr "\\n" " " \
  >>/tmp/synced; echo "$2" >>/tmp/synced; exec /usr/bin/sync "$@"\n' >/usr/sbin/sync && chmod 755 /usr/sbin/sync
printf '{OLD}' >'/etc/network/interfaces.d/the site'
export CLUSTERGEN_NETWORK_REPLACE=yes
clustergen-network apply 60 >/dev/null 2>&1; ls /etc/network/interfaces.d /tmp/here
clustergen-network rollback >/dev/null 2>&1; ls /etc/network/interfaces.d
clustergen-network apply 60 >/dev/null 2>&1; clustergen-network confirm >/dev/null
cat /tmp/synced
""",
    )
    state, directory = "/var/lib/clustergen/network", "/etc/network"
    applied = [f"the site {state}", f"the site pending {state}", f"clustergen-management pending {directory}"]
    assert lines[:6] == [
        "/etc/network/interfaces.d:", "clustergen-management", "", "/tmp/here:", "site", "the site"
    ]  # fmt: skip
    synced = [line.replace("/interfaces.d", "") for line in lines[6:]]
    assert synced[:3] == applied
    assert synced[-1] == f"clustergen-management {state}"


def test_the_rollback_of_the_timer_waits_for_a_slow_change(tmp_path: Path) -> None:
    """The timer fires once: a rollback that gives up would leave the node with a network that nobody confirmed."""
    script = f"""
printf '{OLD}' >/etc/network/interfaces.d/site && ifup eno1 2>/dev/null
sed -i 's/flock -w 90/flock -w 0/' /usr/local/sbin/clustergen-network
CLUSTERGEN_NETWORK_REPLACE=yes clustergen-network apply 60 >/dev/null 2>&1; addresses; echo
lock=/var/lib/clustergen/network/lock
flock $lock sh -c 'until [ -e /tmp/go ]; do sleep 0.05; done' &
while flock -n $lock true; do sleep 0.02; done
clustergen-network confirm 2>&1 | cut -d : -f 1,2
(sleep 0.3; touch /tmp/go) &
clustergen-network rollback >/dev/null 2>&1; echo $?; addresses
"""
    assert on_node(tmp_path, script) == [
        "10.0.0.11/24 ",
        "ERROR: another clustergen-network runs",
        "0",
        "10.9.9.9/24 ",
    ]


def test_an_address_that_no_interface_has_after_the_activation_is_undone_at_once(tmp_path: Path) -> None:
    """ifup ends without an error although a command of the interface has failed."""
    lines = on_node(
        tmp_path,
        f"""
printf '{OLD}' >/etc/network/interfaces.d/site && ifup eno1 2>/dev/null
echo 'ip addr del 10.0.0.11/24 dev "$IFACE" || true' | sed '1i #!/bin/sh' >/etc/network/if-up.d/lost
chmod 755 /etc/network/if-up.d/lost
CLUSTERGEN_NETWORK_REPLACE=yes clustergen-network apply 60 >/dev/null 2>/tmp/log; echo $?
addresses; echo; ls /etc/network/interfaces.d; grep -E '^(after|ERROR)' /tmp/log
""",
    )
    assert lines[:3] == ["2", "10.9.9.9/24 ", "site"]
    assert lines[3:] == [
        "after 10 seconds, eno1 does not have 10.0.0.11",
        "ERROR: the new configuration could not be activated; the files before are back",
    ]


def test_addresses_that_no_file_has_return(tmp_path: Path) -> None:
    script = """
ip link set eno1 up; ip addr add 10.9.9.9/24 dev eno1; ip route add default via 10.9.9.1
clustergen-network apply 60 >/dev/null 2>&1; addresses
clustergen-network rollback >/dev/null 2>&1; addresses; ip route show default
"""
    assert on_node(tmp_path, script) == ["10.0.0.11/24 10.9.9.9/24 default via 10.9.9.1 dev eno1 "]


def test_another_interface_does_not_keep_the_address(tmp_path: Path) -> None:
    """The node would be reachable by it until it boots, and the change be confirmed. A rollback puts it back."""
    script = """
ip link add eno2 type veth peer name far2; ip link set eno2 up; ip link set far2 up
ip addr add 10.0.0.11/24 dev eno2; ip route add default via 10.0.0.254 dev eno2
both() { ip -4 -o addr show to 10.0.0.11 | awk '{ printf "%s ", $2 }'; ip route show default; }
clustergen-network apply 60 >/dev/null 2>&1; both
clustergen-network rollback >/dev/null 2>&1; both
"""
    default = "default via 10.0.0.254 dev"
    assert on_node(tmp_path, script) == [f"eno1 {default} eno1 onlink ", f"eno2 {default} eno2 "]


def test_cloud_init_writes_no_files_once_a_change_is_confirmed(tmp_path: Path) -> None:
    """The real cloud-init boots two machines: with the files of its package, and after the change."""
    script = """
off=/etc/cloud/cloud.cfg.d/99-clustergen-network.cfg
mkdir -p /etc/netplan /var/lib/clustergen/network /var/lib/cloud/seed/nocloud && cd /var/lib/cloud/seed/nocloud
echo '#cloud-config' >user-data
printf 'version: 2\nethernets: {eno1: {dhcp4: true}}\n' >network-config
boot() {
  echo "instance-id: $1" >meta-data
  cloud-init init --local >/dev/null 2>&1
  echo "$1 $? $(find /etc/systemd/network /etc/netplan /etc/network -name '*cloud-init*' -delete -print | wc -l)"
}
confirm() {
  touch /var/lib/clustergen/network/pending /var/lib/clustergen/network/active
  clustergen-network confirm >/dev/null; ls $off 2>/dev/null | wc -l
}
boot one
confirm
boot two
rm $off; sed -i '/management/d' /etc/clustergen-network/interfaces
confirm
"""
    assert on_node(tmp_path, script, "cloud-init") == ["one 0 1", "1", "two 0 0", "0"]


@pytest.mark.parametrize(
    ("prepare", "management", "words"),
    [
        (
            f"printf '{OLD}' >/etc/network/interfaces.d/site",
            {},
            "configure the same interfaces: /etc/network/interfaces.d/site",
        ),
        ("ip link delete eno1", {}, "no interface eno1; it has"),
        ("sed -i '/ c1/d' /etc/hosts", {}, "c1 does not resolve to an address"),
        ("printf '127.0.1.1 c1\\n' >/etc/hosts", {}, "c1 resolves to 127.0.1.1"),
        ("true", {"interface": "eno2"}, "no interface eno2; it has"),
    ],
    ids=["other file", "no interface", "no address", "loopback", "other interface"],
)
def test_it_refuses_what_is_not_as_expected(
    tmp_path: Path, prepare: str, management: dict[str, Any], words: str
) -> None:
    script = f"{prepare}\nclustergen-network apply 60 2>&1; echo $?; ls /var/lib/clustergen/network | grep -c pending"
    lines = on_node(tmp_path, f"{script} || true", **management)
    assert words in lines[-3]
    assert lines[-2:] == ["2", "0"], "nothing was changed"
