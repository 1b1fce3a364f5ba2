"""The firewall: which ports a node opens to whom. The kernel judges the rules in tests/verify and tests/nodes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from clustergen import compile as compiler
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.pages import ROOT
from strategies.trees import COMPUTE, HEAD, codes_of, lay_out, manifest, node_files, tree_of

RULES = "/etc/clustergen-firewall/ports.d/"
RULE = re.compile(r"^add rule inet clustergen input (?:ip6? saddr @?(\S+) )?(\w+) dport (\S+) accept$", re.MULTILINE)
MONITORED = {**HEAD, "roles": [*HEAD["roles"], "monitoring", "login"]}


def closed(**changes: Any) -> dict[str, Any]:
    return manifest(host={"firewall": "nftables"}, **changes)


def opened(tree: Any, host: str) -> set[tuple[str, str, str]]:
    """Source ("" for anyone), protocol and ports of all rules of a node."""
    texts = [file.content.decode() for path, file in node_files(tree, host).items() if path.startswith(RULES)]
    return {match for text in texts for match in RULE.findall(text)}


@pytest.mark.slow
def test_each_group_opens_the_ports_of_its_services(tmp_path: Path) -> None:
    slurm = {"version": "24.11", "srun_ports": "60001-60100", "ports": {"slurmd": 7000}}
    tree = tree_of(closed(nodes=[MONITORED, COMPUTE], slurm=slurm), tmp_path)
    assert opened(tree, "head") == {
        *(("cluster", "tcp", port) for port in ("6817", "6819", "60001-60100", "9100")),
        ("cluster", "udp", "123"),
        *(("", "tcp", port) for port in ("9090", "9093")),
    }
    assert opened(tree, "c1") == {
        *(("cluster", "tcp", port) for port in ("7000", "9100", "9400")),
        *(("compute", protocol, "1024-65535") for protocol in ("tcp", "udp")),
        ("controllers", "tcp", "60001-60100"),
    }


@pytest.mark.slow
def test_one_machine_that_keeps_its_distributions_clock_answers_nobody(tmp_path: Path) -> None:
    alone = {"name": "titan", "type": "gpu", "address": "10.0.0.1", "roles": ["slurm-controller", "slurm-compute"]}
    ntp = {"udp", "123"}
    for management, answers in (({}, False), ({"ntp": ["ntp.example.org"]}, True)):
        data = closed(networks={"management": {"cidr": "10.0.0.0/24", **management}}, nodes=[alone])
        rules = opened(tree_of(data, tmp_path), "titan")
        assert any(ntp <= set(rule) for rule in rules) == answers


@pytest.mark.slow
def test_alertmanagers_find_each_other_where_there_are_several(tmp_path: Path) -> None:
    nodes = [HEAD, {"name": "mon[1-2]", "type": "service", "address": "10.0.0.[2-3]", "roles": ["monitoring"]}, COMPUTE]
    assert {("cluster", "tcp", "9094"), ("cluster", "udp", "9094")} < opened(
        tree_of(closed(nodes=nodes), tmp_path), "mon2"
    )


@pytest.mark.slow
def test_ports_of_exporters_on_localhost_stay_closed(tmp_path: Path) -> None:
    devices = {"ups": {"address": "10.0.9.1", "module": "ups_mib", "auth": "site"}}
    asking = {"blackbox": {"port": 9200}, "snmp": {"devices": devices}}
    tree = tree_of(closed(nodes=[MONITORED, COMPUTE], monitoring=asking), tmp_path)
    texts = [
        file.content.decode() for path, file in node_files(tree, "head").items() if path.startswith("/etc/default/")
    ]
    local = {port for text in texts for port in re.findall(r"listen-address=localhost:(\d+)", text)}
    assert local == {"9200", "9116"}
    assert not local & {port for _, _, port in opened(tree, "head")}


@pytest.mark.slow
def test_without_a_range_srun_has_that_of_the_kernel(tmp_path: Path) -> None:
    assert ("cluster", "tcp", "32768-60999") in opened(tree_of(closed(nodes=[MONITORED, COMPUTE]), tmp_path), "head")


def test_neighbouring_nodes_share_an_element(tmp_path: Path) -> None:
    nodes = [HEAD, {**COMPUTE, "name": "c[1-9]", "address": "10.0.0.[16-23,40]"}]
    text = node_files(tree_of(closed(nodes=nodes), tmp_path), "head")["/etc/clustergen-firewall/main.nft"].content
    assert re.findall(r"^ +(10\S+),$", text.decode(), re.MULTILINE) == [
        "10.0.0.0/24",
        *("10.0.0.16/29", "10.0.0.40/32"),  # compute nodes
        "10.0.0.1/32",  # the controller
    ]


@pytest.mark.parametrize("firewall", [True, False])
def test_it_is_off_unless_the_manifest_asks_for_it(tmp_path: Path, firewall: bool) -> None:
    files = node_files(tree_of(manifest(host={"firewall": firewall}), tmp_path), "head")
    assert not [path for path in files if "clustergen-firewall" in path or "nftables" in path]


def test_a_network_without_addresses_is_refused(tmp_path: Path) -> None:
    networks = {"management": {"domain": "cluster.local"}}
    nodes = [{key: value for key, value in node.items() if key != "address"} for node in (HEAD, COMPUTE)]
    data = closed(networks=networks, nodes=nodes)
    data["host"]["hosts_file"] = False
    assert "firewall-without-networks" in codes_of(data, tmp_path)


def connected(
    tree: Any,
    host: str,
    address: str,
    sources: tuple[str, ...],
    ports: tuple[int, ...],
    directory: Path,
    site: str = "",
) -> set[str]:
    """Source and port of each TCP connection that the kernel lets through to a node whose unit has started.

    With `site`, rules that nft rejects, the start fails.
    """
    node = lay_out(tree, host, directory / "node")
    (node / "etc/clustergen-firewall/ports.d/a-site.nft").write_text(site, encoding="utf-8")
    root = root_with("nft")
    assert root is not None, "clustergen setup parsers makes the root with nft"
    script = r"""
mkdir -p /run/netns
ip netns add other
ip link add eth0 type veth peer name eth0 netns other
ip addr add $1/16 dev eth0 && ip link set eth0 up
ip -n other link set eth0 up
sed -n '/^ExecStart=/,/[^\\]$/p' /etc/systemd/system/clustergen-nftables.service >/tmp/unit
sed 's/^ExecStart=//; s/[$][$]/$/g' /tmp/unit >/tmp/start
bash /tmp/start
[ $? = $4 ] || exit 1
perl -MIO::Socket::INET -MIO::Select -e '
  my $all = IO::Select->new(map { IO::Socket::INET->new(LocalPort => $_, Listen => 5) or die $_ } @ARGV);
  print "up\n"; close STDOUT;
  while (my @ready = $all->can_read) { close($_->accept) for @ready }' $3 >/tmp/up &
until grep -qs up /tmp/up; do sleep 0.02; done
for from in $2; do
  ip -n other addr flush dev eth0 && ip -n other addr add $from/16 dev eth0
  for port in $3; do
    ip netns exec other timeout 3 bash -c "exec 3<>/dev/tcp/$1/$port" 2>/dev/null && echo "$from $port" &
    attempts+=($!)
  done
  wait "${attempts[@]}"
  attempts=()
done
kill %1
"""
    box = sandbox.Sandbox(root, files=((node / "etc", "/etc"),), hostname=host)
    words = (address, " ".join(sources), " ".join(map(str, ports)), "1" if site else "0")
    done = sandbox.run(box, ["/bin/bash", "-c", script, "bash", *words], timeout=300)
    assert "No such" not in done.stderr, done.stderr
    return set(done.stdout.splitlines())


@pytest.mark.real
@pytest.mark.slow
def test_the_kernel_closes_what_is_not_listed(tmp_path: Path) -> None:
    """The rules of a compute node, met by packets from a login node, a compute node and a stranger."""
    tree = tree_of(closed(nodes=[MONITORED, COMPUTE]), tmp_path)
    sources, ports = ("10.0.0.1", "10.0.0.12", "10.0.99.9"), (22, 800, 6818, 8888, 40000)
    assert connected(tree, "c1", "10.0.0.11", sources, ports, tmp_path) == {
        *("10.0.0.1 22", "10.0.0.1 6818", "10.0.0.1 40000"),
        *("10.0.0.12 22", "10.0.0.12 6818", "10.0.0.12 8888", "10.0.0.12 40000"),
        "10.0.99.9 22",
    }


@pytest.mark.real
@pytest.mark.slow
def test_a_wrong_file_of_the_site_leaves_no_node_open(tmp_path: Path) -> None:
    tree = tree_of(closed(nodes=[MONITORED, COMPUTE]), tmp_path)
    site = "add rule inet clustergen input tcp dport 800 acept\n"
    reached = connected(tree, "c1", "10.0.0.11", ("10.0.0.1", "10.0.99.9"), (22, 800, 6818), tmp_path, site)
    assert reached == {"10.0.0.1 22", "10.0.0.1 6818", "10.0.99.9 22"}


STORAGE = {  # of the fixture rocky: host → address, open ports, closed ones
    "oss1": ("10.0.0.21", (22, 988, 3300, 6789, 6800, 7568, 8003, 8005, 8008, 8010), (111, 2049, 7569, 8443, 9283)),
    "nfs1": ("10.0.0.31", (22, 2049), (111, 988, 2224, 3121, 20048)),
}


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("host", STORAGE)
def test_clients_reach_storage_servers(host: str, tmp_path: Path) -> None:
    """Servers of Lustre, BeeGFS and Ceph, and one of an NFS pair, met by a compute node and a stranger."""
    path = ROOT / "tests/fixtures/verify/rocky.yaml"
    tree, _ = compiler.render(compiler.validate(path), path)
    address, reached, closed_ports = STORAGE[host]
    made = connected(tree, host, address, ("10.0.0.11", "10.0.99.9"), (*reached, *closed_ports), tmp_path)
    assert made == {*(f"10.0.0.11 {port}" for port in reached), "10.0.99.9 22"}
