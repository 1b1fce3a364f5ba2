"""Files of every node: names that glibc resolves, a clock that chronyd accepts, kernel settings without repeats."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from clustergen.compile import validate
from clustergen.features.hosts_file.files import hosts
from clustergen.features.kernel_settings.files import tcp_buffer
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import COMPUTE, GPU, HEAD, codes_of, lay_out, manifest, node_files, text_of, tree_of

CHRONY = "/etc/chrony/chrony.conf"
TIMEZONE = "/etc/tmpfiles.d/clustergen-timezone.conf"
SYSCTL = "/etc/sysctl.d/90-clustergen.conf"
NETWORKS = {
    "management": {"cidr": "10.0.0.0/24", "domain": "cluster.local"},
    "bmc": {"cidr": "10.9.0.0/24", "domain": "bmc.cluster.local"},
    "storage": {"cidr": "10.5.0.0/24", "rate": "100Gb/s"},
    "fabric": {"type": "infiniband", "rate": "NDR", "cidr": "10.1.0.0/16"},
}
EVERYWHERE = {
    **COMPUTE,
    "addresses": {
        "bmc": "10.9.0.[11-14]",
        "storage": "10.5.0.[11-14]",
        "fabric": ["10.1.0.[11-14]", "10.1.1.[11-14]"],
    },
}


def root(program: str) -> Path:
    path = root_with(program)
    assert path is not None, f"clustergen setup parsers makes the root with {program}"
    return path


def lines_of(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


def sysctls(text: str) -> dict[str, str]:
    rows = [line.split("=", 1) for line in text.splitlines() if line and not line.startswith("#")]
    keys = [key.strip() for key, _ in rows]
    assert len(keys) == len(set(keys)), "a key stands twice"
    return {key.strip(): value.strip() for key, value in rows}


# --- names ------------------------------------------------------------------------------------------------------------


def test_every_address_has_its_name(tmp_path: Path) -> None:
    tree = tree_of(manifest(networks=NETWORKS, nodes=[HEAD, EVERYWHERE]), tmp_path)
    values = {name: address for address, *names in lines_of(text_of(tree, "c2", "/etc/hosts")) for name in names}
    assert values["c2.cluster.local"] == values["c2"] == "10.0.0.12"
    assert values["c3-bmc.bmc.cluster.local"] == values["c3-bmc"] == "10.9.0.13"
    assert values["c4-st"] == "10.5.0.14"
    assert (values["c1-ib0"], values["c1-ib1"]) == ("10.1.0.11", "10.1.1.11")
    assert values["localhost"] == "::1", "the last of both families"
    assert "head-ib0" not in values
    assert not any(address.startswith("127.0.1") for address in values.values())


@pytest.mark.real
def test_glibc_reads_the_hosts_file(tmp_path: Path) -> None:
    extra = {"10.7.0.1": ["filer", "filer.site.example.org"]}
    data = manifest(networks=NETWORKS, nodes=[HEAD, EVERYWHERE], host={"extra_hosts": extra})
    text = text_of(tree_of(data, tmp_path), "c1", "/etc/hosts")
    asked = ["head", "c1.cluster.local", "c2-bmc", "c3-ib1", "filer.site.example.org"]
    box = sandbox.Sandbox(root("chronyd"), hosts=text, hostname="c1")
    done = sandbox.run(box, ["getent", "hosts", *asked], timeout=300)
    assert done.code == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        "10.0.0.1",
        "10.0.0.11",
        "10.9.0.12",
        "10.1.1.13",
        "10.7.0.1",
    ]


def test_rails_of_roce_are_called_otherwise(tmp_path: Path) -> None:
    networks = {**NETWORKS, "fabric": {"type": "roce", "rate": "400Gb/s", "cidr": "10.1.0.0/16"}}
    tree = tree_of(manifest(networks=networks, nodes=[HEAD, EVERYWHERE]), tmp_path)
    assert ["10.1.1.12", "c2-r1"] in lines_of(text_of(tree, "head", "/etc/hosts"))


def test_a_site_with_its_own_dns(tmp_path: Path) -> None:
    files = node_files(tree_of(manifest(host={"hosts_file": False}), tmp_path), "c1")
    assert "/etc/hosts" not in files
    assert "/etc/cloud/cloud.cfg.d/99-clustergen.cfg" not in files


@pytest.mark.slow
def test_ten_thousand_nodes(tmp_path: Path) -> None:
    """A hundred thousand lines, each with its own node's address."""
    many = {
        **COMPUTE,
        "name": "n[00001-10240]",
        "address": "10.0.[1-64].[1-160]",
        "addresses": {"bmc": "10.9.[1-64].[1-160]", "fabric": [f"10.{20 + rail}.[1-64].[1-160]" for rail in range(2)]},
    }
    networks: dict[str, Any] = {
        "management": {"cidr": "10.0.0.0/16", "domain": "big.example.org"},
        "bmc": {"cidr": "10.9.0.0/16"},
        "fabric": {"type": "infiniband", "rate": "NDR", "rails": ["10.20.0.0/16", "10.21.0.0/16"]},
    }
    path = tmp_path / "manifest.yaml"
    path.write_text(json.dumps(manifest(networks=networks, nodes=[HEAD, many])))
    compiled = validate(path)
    assert compiled.ok, compiled.diagnostics
    assert compiled.cluster is not None
    view = hosts(compiled.cluster)
    assert view is not None
    lines = [line for section in view["sections"] for line in section.lines.splitlines()]
    assert len(lines) == 1 + 4 * 10240
    assert lines[10240].split() == ["10.0.64.160", "n10240.big.example.org", "n10240"]
    assert lines[-1].split() == ["10.9.64.160", "n10240-bmc"]


# --- time -------------------------------------------------------------------------------------------------------------


def chronyd_reads(directory: Path, config: str) -> str:
    """Settings that chronyd reads from its files; it exits with an error for anything that it does not know."""
    box = sandbox.Sandbox(root("chronyd"), files=((directory / "etc", "/etc"),), empty=("/etc/chrony",), hostname="n")
    done = sandbox.run(box, ["chronyd", "-p", "-f", config], timeout=300)
    assert done.code == 0, done.stderr + done.stdout
    return done.stdout


@pytest.mark.real
@pytest.mark.parametrize(("os", "config"), [("debian-13", CHRONY), ("rocky-9", "/etc/chrony.conf")])
def test_chronyd_accepts_it(tmp_path: Path, os: str, config: str) -> None:
    management = {"cidr": "10.0.0.0/24", "ntp": ["ntp1.example.org", "ntp2.example.org"]}
    head = {**HEAD, "name": "head[1-2]", "address": "10.0.0.[1-2]", "roles": ["slurm-controller"]}
    data = manifest(os=os, networks={"management": management}, nodes=[head, COMPUTE])
    data["slurm"] = {"version": "24.11", "build": "schedmd", "state_location": "/shared/state"}
    data["storage"] = {
        "state": {
            "type": "nfs",
            "server": "filer",
            "path": "/state",
            "mount": "/shared",
            "clients": ["slurm-controller"],
        }
    }
    tree = tree_of(data, tmp_path)
    client = chronyd_reads(lay_out(tree, "c1", tmp_path / "client"), config)
    assert re.findall(r"^server (\S+)", client, re.MULTILINE) == ["head1", "head2"]
    assert "allow" not in client
    server = chronyd_reads(lay_out(tree, "head2", tmp_path / "server"), config)
    assert set(re.findall(r"^server (\S+)", server, re.MULTILINE)) == {
        "head1",
        "head2",
        "ntp1.example.org",
        "ntp2.example.org",
    }
    assert "local stratum 10 orphan" in server
    assert "allow 10.0.0.0/24" in server


@pytest.mark.real
@pytest.mark.slow
def test_a_controller_does_not_follow_itself(tmp_path: Path) -> None:
    """chronyd with our files, alone: it serves by its own clock, and its own line in chrony.conf selects nothing."""
    directory = lay_out(tree_of(manifest(), tmp_path), "head", tmp_path / "head")
    box = sandbox.Sandbox(
        root("chronyd"),
        files=((directory / "etc", "/etc"),),
        hosts="10.0.0.1 head",
        hostname="head",
        addresses=("10.0.0.1",),
    )
    script = """
        sed -i 's/iburst/& minpoll 0 maxpoll 0/' /etc/chrony/chrony.conf
        mkdir -p /run/chrony /var/lib/chrony; chmod 750 /run/chrony
        chronyd -x -d -u root >/run/clustergen/log 2>&1 &
        for _ in {1..900}; do # eight answers, and then its own clock
          chronyc -n sources 2>/dev/null | grep -q ' 377 ' && chronyc -n tracking | grep -q 7F7F0101 && break; sleep 0.2
        done
        chronyc -n sources; chronyc -n tracking; kill %1; wait
    """
    done = sandbox.run(box, ["/bin/bash", "-c", script], timeout=300)
    assert re.search(r"^\^\? 10\.0\.0\.1\b.* 377 ", done.stdout, re.MULTILINE), (
        "asked, answered, and not used: " + done.stdout
    )
    assert "Stratum         : 10" in done.stdout, done.stdout + done.stderr + done.files.get("log", "")
    assert "7F7F0101" in done.stdout


def test_one_machine_keeps_its_distributions_clock(tmp_path: Path) -> None:
    alone = {"name": "titan", "type": "gpu", "address": "10.0.0.1", "roles": ["slurm-controller", "slurm-compute"]}
    data = manifest(networks={"management": {"cidr": "10.0.0.0/24"}}, nodes=[alone])
    assert CHRONY not in node_files(tree_of(data, tmp_path), "titan")
    data["networks"] = {"management": {"cidr": "10.0.0.0/24", "ntp": ["ntp.example.org"]}}
    files = node_files(tree_of(data, tmp_path), "titan")
    assert b"\nserver" not in files[CHRONY].content, "it would ask itself"
    assert b"\nserver ntp.example.org iburst" in files["/etc/chrony/conf.d/50-clustergen.conf"].content


@pytest.mark.real
def test_a_node_has_the_time_zone_of_the_manifest(tmp_path: Path) -> None:
    tree = tree_of(manifest(host={"timezone": "Asia/Kolkata"}), tmp_path)
    files = lay_out(tree, "c1", tmp_path / "node")
    box = sandbox.Sandbox(root("systemd-tmpfiles"), files=((files, "/"),))
    for create in ("true", "ln -sf /usr/share/zoneinfo/Etc/UTC /etc/localtime"):  # no link, and another one
        command = f"rm -f /etc/localtime; {create}; systemd-tmpfiles --create {TIMEZONE} && date +%z"
        assert sandbox.run(box, ["sh", "-c", command], timeout=300).stdout == "+0530\n"


def test_a_time_zone_that_the_manifest_does_not_set_is_the_nodes_own(tmp_path: Path) -> None:
    assert TIMEZONE not in node_files(tree_of(manifest(), tmp_path), "c1")


# --- kernel -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("gbit", "mib"), [(None, 16), (1, 16), (100, 16), (135, 32), (200, 32), (400, 64), (800, 64)])
def test_buffers_hold_a_millisecond(gbit: int | None, mib: int) -> None:
    assert tcp_buffer(gbit) == mib << 20


def test_tcp_grows_its_buffers_as_far_as_programs_may(tmp_path: Path) -> None:
    values = sysctls(text_of(tree_of(manifest(), tmp_path), "c1", SYSCTL))
    for way in ("rmem", "wmem"):
        assert values[f"net.ipv4.tcp_{way}"].split()[-1] == values[f"net.core.{way}_max"]


def test_stated_values_replace_defaults(tmp_path: Path) -> None:
    stated = {"net.core.rmem_max": 1048576, "kernel/pid_max": 65536, "net/ipv4/conf/eth0.100/rp_filter": 2}
    values = sysctls(text_of(tree_of(manifest(host={"sysctl": stated}), tmp_path), "c1", SYSCTL))
    assert values["net.core.rmem_max"] == "1048576"
    assert values["kernel/pid_max"] == "65536"
    assert "kernel.pid_max" not in values, "the same key in its other spelling"
    assert values["net/ipv4/conf/eth0.100/rp_filter"] == "2"
    assert int(values["net.core.wmem_max"]) > 1048576, "the others stay ours"


@pytest.mark.parametrize("value", ["1\nkernel.panic = 1", "1\rx", "a\u2028b"])
def test_values_that_would_leave_their_line(tmp_path: Path, value: str) -> None:
    assert codes_of(manifest(host={"sysctl": {"vm.swappiness": value}}), tmp_path) == ["text-malformed"]


@pytest.mark.slow
def test_settings_follow_the_cluster(tmp_path: Path) -> None:
    small = sysctls(text_of(tree_of(manifest(), tmp_path), "c1", SYSCTL))
    assert not any("gc_thresh" in key or "arp_" in key or "userns" in key for key in small)
    assert "vm.nr_hugepages" not in small
    data = manifest(networks=NETWORKS, nodes=[HEAD, EVERYWHERE], host={"hugepages": 1024})
    data["slurm"] = {"version": "24.11", "pyxis": {"enabled": True}}
    values = sysctls(text_of(tree_of(data, tmp_path), "c1", SYSCTL))
    assert values["net.ipv4.conf.all.arp_ignore"] == "1", "two rails"
    assert values["vm.nr_hugepages"] == "1024"
    assert values["-kernel.unprivileged_userns_clone"] == "1"
    assert values["net.core.rmem_max"] == str(64 << 20), "IP over NDR"
    data["os"] = "rocky-9"
    data["slurm"] |= {"build": "schedmd"}
    assert "-kernel.unprivileged_userns_clone" not in sysctls(text_of(tree_of(data, tmp_path), "c1", SYSCTL))


@pytest.mark.slow
def test_neighbours_of_a_large_cluster_are_not_forgotten(tmp_path: Path) -> None:
    networks = {"management": {"cidr": "10.0.0.0/16"}, "storage": {"cidr": "10.5.0.0/16"}}
    many = {
        **COMPUTE,
        "name": "n[0001-0600]",
        "address": "10.0.[1-6].[1-100]",
        "addresses": {"storage": "10.5.[1-6].[1-100]"},
    }
    kind = {**GPU, "nics": [{"device": "eno2", "network": "storage"}]}
    data = manifest(networks=networks, nodes=[HEAD, many], node_types={"gpu": kind})
    values = sysctls(text_of(tree_of(data, tmp_path), "head", SYSCTL))
    least, some, most = (int(values[f"net.ipv4.neigh.default.gc_thresh{number}"]) for number in (1, 2, 3))
    assert 1201 <= least < some < most
    assert "net.ipv6.neigh.default.gc_thresh1" not in values


# --- limits -----------------------------------------------------------------------------------------------------------


JOURNALD = "/etc/systemd/journald.conf.d"


@pytest.mark.parametrize(
    ("memlock", "kib", "service"), [("unlimited", "unlimited", "infinity"), ("2GiB", "2097152", "2147483648")]
)
def test_each_program_gets_its_own_unit(tmp_path: Path, memlock: str, kib: str, service: str) -> None:
    tree = tree_of(manifest(host={"memlock": memlock}), tmp_path)
    rows = lines_of(text_of(tree, "c1", "/etc/security/limits.d/50-clustergen.conf"))
    assert {(who, row[1]) for who, *row in [(r[0], r[1], r[3]) for r in rows if r[2] == "memlock"]} == {
        ("*", kib),
        ("root", kib),
    }
    assert ["*", "soft", "stack", "8192"] in rows
    assert not any(row[1:3] == ["hard", "stack"] for row in rows), "a program may still raise its own"
    text = text_of(tree, "c1", "/etc/systemd/system.conf.d/50-clustergen.conf")
    assert f"\nDefaultLimitMEMLOCK={service}\n" in text
    journal = text_of(
        tree_of(manifest(host={"journal_size": "1GiB"}), tmp_path), "c1", f"{JOURNALD}/50-clustergen.conf"
    )
    assert journal.endswith("\nSystemMaxUse=1073741824\n")


ZONE = "/etc/firewalld/zones/clustergen.xml"


@pytest.mark.parametrize(
    ("os", "firewall", "rendered"), [("rocky-9", True, True), ("rocky-9", False, False), ("debian-13", True, False)]
)
def test_the_networks_of_the_cluster_are_a_zone_where_there_is_firewalld(
    tmp_path: Path, os: str, firewall: bool, rendered: bool
) -> None:
    networks = {
        "management": {"cidr": "10.0.0.0/24"},
        "bmc": {"cidr": "10.9.0.0/24"},
        "storage": {"cidr": "10.8.0.0/24"},
        "fabric": {"type": "roce", "rate": "200Gb/s", "rails": ["10.1.0.0/24", "fd00:2::/64"]},
    }
    data = manifest(os=os, networks=networks, host={"firewall": firewall, "ssh_adopt": True})
    files = node_files(tree_of({**data, "slurm": {"version": "24.11", "build": "schedmd"}}, tmp_path), "c1")
    assert (ZONE in files) == ("/etc/systemd/system/clustergen-firewall.service" in files) == rendered
    if rendered:
        zone = ElementTree.fromstring(files[ZONE].content)
        sources = [source.get("address") for source in zone.findall("source")]
        assert sources == ["10.0.0.0/24", "10.8.0.0/24", "10.1.0.0/24", "fd00:2::/64"]
        assert str(files[ZONE].effect) == "run:clustergen-firewall.service"
