"""Every parser passes what is right and fails what is wrong, in its own words."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from clustergen import compile as compiler
from clustergen.features.nccl.library import nccl_names
from clustergen.render.write import write
from clustergen.verify.check import no_parser
from clustergen.verify.checks import CHECKS
from clustergen.verify.rows import Row
from clustergen.verify.run import verify
from strategies.inventories import GOLDEN
from strategies.trees import COMPUTE, MANIFEST

ROOT = Path(__file__).parents[2]
CLUSTERS = {
    **{path.parent.name: path for path in sorted(ROOT.glob("inventories/*/manifest.yaml"))},
    **{path.stem: path for path in sorted(ROOT.glob("tests/fixtures/verify/*.yaml"))},
}
READABLE = tuple(check for check in CHECKS if check.ask is not no_parser)

Trees = Callable[[str], Path]


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Trees:
    """The tree of a cluster, rendered once."""
    made: dict[str, Path] = {}

    def tree(name: str) -> Path:
        if name not in made:
            compiled = compiler.validate(CLUSTERS[name])
            assert compiled.ok, compiled.diagnostics
            result, diagnostics = compiler.render(compiled, CLUSTERS[name])
            assert result is not None, diagnostics
            made[name] = tmp_path_factory.mktemp(name) / "rendered"
            write(result, made[name])
        return made[name]

    return tree


def rows_of(tree: Path, check: str) -> list[Row]:
    return verify(tree, [one for one in CHECKS if one.name == check])


# What reads much the same in each cluster, and takes most of the time; only `make long` asks it of all of them.
ALIKE = {
    *("acceptance", "ansible-config", "ansible-inventory", "ansible-playbook", "bash", "cloud-init", "python"),
    *("shellcheck", "systemd units"),
}
OTHERS = sorted({*CLUSTERS} - {*GOLDEN})


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize(
    ("cluster", "omitted"),
    [
        *((name, set()) for name in GOLDEN),
        *((name, ALIKE) for name in OTHERS),
        *(pytest.param(name, set(), marks=pytest.mark.long) for name in OTHERS),
    ],
    ids=lambda value: value if isinstance(value, str) else f"without-{len(value)}",
)
def test_every_parser_passes_every_cluster(rendered: Trees, cluster: str, omitted: set[str]) -> None:
    assert omitted <= {check.name for check in CHECKS}
    checks = [check for check in CHECKS if check.name not in omitted] if omitted else CHECKS
    rows = verify(rendered(cluster), checks)
    assert [(row.parser, row.files, row.words) for row in rows if row.status in ("failed", "not run")] == []
    assert all(row.version for row in rows if row.status == "passed")


def append(text: str) -> Callable[[str], str]:
    return lambda old: f"{old.rstrip()}\n{text}\n"


def put(pattern: str, new: str) -> Callable[[str], str]:
    def change(old: str) -> str:
        text, count = re.subn(pattern, new, old, count=1)
        assert count, f"{pattern} is not there"
        return text

    return change


UNITS = "etc/systemd/system"
RULES = "etc/clustergen-firewall"
CLOUD = "etc/cloud/cloud.cfg.d/99-clustergen.cfg"
PROFILES = "etc/clustergen-network/management"
GRAFANA = "etc/grafana/provisioning"
# (check, cluster, file below an overlay or in the tree, change, what the parser says)
BROKEN = [
    ("corosync", "rocky", "etc/corosync/corosync.conf", put("aes256", "aes257"), "Invalid cipher type"),
    ("pacemaker", "rocky", "etc/clustergen-failover/cib.xml", put('score="50"', 'score="often"'), "often"),
    ("pacemaker", "rocky", "etc/clustergen-failover/cib.xml", put("cidr_netmask", "netmask"), "no parameter netmask"),
    (
        "pacemaker",
        "rocky",
        "etc/clustergen-failover/cib.xml",
        put('name="stonith-enabled" value="true"', 'name="stonith-enabled" value="false"'),
        "when nfs1 fails",
    ),
    ("cachefilesd", "roce", "etc/cachefilesd.conf", append("culltable 30"), "cull table size"),
    ("NUT", "roce", "etc/clustergen/nut/upsmon.conf", append("MINSUPLIES 1"), "MINSUPLIES"),
    ("NUT", "roce", "etc/clustergen/nut/upsd.users", put("upsmon primary", "upsmom primary"), "ACCESS-DENIED"),
    ("NUT", "roce", "etc/clustergen/nut/ups.conf", put("secName", "secNam"), "secNam"),
    ("NUT", "roce", "etc/clustergen/nut/upssched.conf", append("ATT ONLINE * EXECUTE online"), "ATT ONLINE"),
    ("modules", "roce", "etc/lmod/modules/cuda/13.0.lua", append("prepend_pth('PATH', '/x')"), "prepend_pth"),
    ("jupyterhub", "roce", "etc/clustergen/notebooks.json", put('"hub_port"', '"hub_prt"'), "hub_port"),
    (
        "sudoers",
        "roce",
        "etc/sudoers.d/clustergen-jupyterhub",
        append("jupyterhub ALL=(ALL NOPASSWD: ALL"),
        "syntax error",
    ),
    ("SSSD", "rocky", "etc/sssd/sssd.conf", append("enumerat = true"), "Attribute 'enumerat' is not allowed"),
    ("ceph specification", "rocky", "etc/ceph/*.spec.yaml", put("data_devices", "data_disks"), "data_disks"),
    (
        "beegfs-mgmtd",
        "rocky",
        "etc/beegfs/beegfs-mgmtd.toml",
        append("quota-enabled = true"),
        "quota-enabled is not a key",
    ),
    ("pictures", "ml-training", "facility/racks.svg", put("</defs>", "</def>"), "racks.svg: not drawn"),
    ("ansible-inventory", "roce", "inventory/hosts.ini", append("[broken"), "hosts.ini"),
    ("ansible-inventory", "roce", "inventory/group_vars/all.yml", append("a: [1"), "flow sequence"),
    ("ansible-playbook", "roce", "site.yml", put("k: clustergen.cluster.site", "k: clustergen.cluster.sight"), "sight"),
    ("ansible-config", "roce", "ansible.cfg", put(r"\[defaults\]", "[defaults]\nforkss = 1"), "forkss"),
    ("slurm", "home-3090", "etc/slurm/slurm.conf", append("SlurmctldTimeuot=60"), "SlurmctldTimeuot"),
    ("slurm", "ml-training", "etc/slurm/slurm.conf", append("SlurmctldTimeuot=60"), "SlurmctldTimeuot"),
    ("slurm", "roce", "etc/slurm/slurm.conf", append("SlurmctldTimeuot=60"), "SlurmctldTimeuot"),
    ("slurm", "roce", "etc/slurm/cgroup.conf", append("ConstrainNothing=yes"), "ConstrainNothing"),
    ("slurm", "racks", "etc/slurm/mpi.conf", append("PMIxTimeout=soon"), "PMIxTimeout"),
    ("slurm", "roce", "etc/slurm/acct_gather.conf", append("EnergyNothing=1"), "EnergyNothing"),
    ("slurm", "roce", "etc/slurm/topology.yaml", put("nodes: .*", "nodes: zz1"), 'lookup failure for node "zz1"'),
    ("slurm", "roce", "etc/slurm/slurmdbd.conf", append("StorageHots=db"), "StorageHots"),
    ("slurm", "roce", "etc/slurm/gres.conf", put("h100", "h200"), "h200"),
    ("slurm", "ml-training", "etc/slurm/topology.conf", append("SwitchName=x Nodes=c9"), "c9"),
    ("slurm", "dgx-a100-mig", "etc/slurm/plugstack.conf", append("sometimes /usr/lib/x.so"), "sometimes"),
    ("slurm", "roce", "etc/clustergen/accounts.json", put('"name": "GrpTRES"', '"name": "GrpTers"'), "GrpTers"),
    (
        "slurm",
        "home-3090",
        "usr/local/share/doc/cluster/jobs/array.sh",
        put("gpus-per-node=.*", "gpus-per-node=h100:1"),
        "array.sh: allocation failure: Requested node configuration is not available",
    ),
    ("slurm hardware", "ml-training", "etc/slurm/gres.conf", put("0-63", "0-31"), "mismatching Cores or Links"),
    (
        "slurm hardware",
        "ml-training",
        "etc/slurm/slurm.conf",
        put("gpu:h100:8", "gpu:h200:8"),
        "detected GPUs are being",
    ),
    (
        "slurm hardware",
        "dgx-a100-mig",
        "etc/slurm/slurm.conf",
        put("Sockets=8", "Sockets=2"),
        "Sockets=2, slurmd finds 8",
    ),
    ("slurm hardware", "dgx-a100-mig", "etc/slurm/slurm.conf", put("3g.20gb:", "4g.20gb:"), "config-only GPU"),
    ("bash", "roce", "etc/slurm/prolog", append("if true; then"), "syntax error"),
    ("shellcheck", "roce", "etc/slurm/prolog", append("echo $nothing"), "SC2154"),
    ("promtool", "roce", "etc/prometheus/rules/gpu.yml", put(r"expr: ", "expr: sum(by "), "gpu.yml"),
    ("promtool", "roce", "etc/prometheus/prometheus.yml", append("scrape_intervall: 1m"), "scrape_intervall"),
    ("promtool", "roce", "etc/prometheus/sd/node.yml", append("- targetz: [a]"), "targetz"),
    ("promtool", "home-3090", "etc/prometheus/prometheus.yml", append("scrape_intervall: 1m"), "scrape_intervall"),
    ("amtool", "roce", "etc/prometheus/alertmanager.yml", put("receiver: .*", "receiver: nowhere"), "nowhere"),
    ("prometheus", "roce", "etc/default/prometheus", put('ARGS="', 'ARGS="--web.nothing '), "web.nothing"),
    ("prometheus", "midrange-weka", f"{UNITS}/prometheus.service", put("--web", "--wbe"), "--wbe"),
    ("runbooks", "roce", "etc/prometheus/consoles/runbooks.html", put("<ul>", "<ul>{{ queri }}"), "queri"),
    ("alertmanager", "roce", "etc/default/prometheus-alertmanager", put('ARGS="', 'ARGS="--no '), "--no"),
    ("grafana settings", "home-3090", "etc/grafana/grafana.ini", append("[server]"), "already exists"),
    (
        "grafana provisioning",
        "home-3090",
        f"{GRAFANA}/alerting/clustergen.yaml",
        put("Version: 1", "Version: 2"),
        "not 1",
    ),
    ("dashboards", "home-3090", "etc/grafana/dashboards/node.json", put(r'"w": \d+', '"w": 30'), "24 columns"),
    (
        "queries",
        "home-3090",
        "etc/grafana/dashboards/node.json",
        put(r'"expr": "', '"expr": "sum(by '),
        "could not parse",
    ),
    ("blackbox exporter", "roce", "etc/prometheus-exporters/blackbox.yml", append("modulez: {}"), "modulez"),
    (
        "blackbox exporter arguments",
        "roce",
        "etc/default/prometheus-blackbox-exporter",
        put('ARGS="', 'ARGS="--no '),
        "--no",
    ),
    ("IPMI exporter", "roce", "etc/default/prometheus-ipmi-exporter", put('ARGS="', 'ARGS="--no '), "--no"),
    ("SNMP exporter", "roce", "etc/prometheus-exporters/snmp.yml", append("modulez: {}"), "modulez"),
    ("SNMP exporter", "roce", "etc/default/prometheus-snmp-exporter", put('ARGS="', 'ARGS="--no '), "--no"),
    ("python", "ml-training", "usr/local/sbin/clustergen-usage-report", append("if True"), "SyntaxError"),
    ("acceptance", "home-3090", "acceptance/reframe.yaml", append("nothing: 1"), "nothing"),
    ("node exporter", "roce", "etc/default/prometheus-node-exporter", put('ARGS="', 'ARGS="--no '), "--no"),
    ("systemd units", "roce", f"{UNITS}/home.mount", append("Nothing=1"), "Unknown key"),
    ("systemd units", "roce", f"{UNITS}/home.mount", put("Where=.*", "Where=/elsewhere"), "Where="),
    (
        "systemd units",
        "roce",
        f"{UNITS}/nvidia-persistenced.service.d/50-clustergen.conf",
        append("Nothing=1"),
        "Unknown key",
    ),
    (
        "systemd units",
        "ml-training",
        f"{UNITS}/clustergen-slurm-metrics.service",
        put(r"ExecStart=\S+", "ExecStart=/usr/local/sbin/clustergen-nothing"),
        "clustergen-nothing is not executable",
    ),
    ("systemd manager", "roce", "etc/systemd/system.conf.d/50-clustergen.conf", append("Nothing=1"), "Unknown key"),
    ("systemd logind", "roce", "etc/systemd/logind.conf.d/50-clustergen.conf", append("Nothing=1"), "Unknown key"),
    ("systemd journald", "roce", "etc/systemd/journald.conf.d/50-clustergen.conf", append("Nothing=1"), "Unknown key"),
    ("systemd networkd", "roce", "etc/systemd/networkd.conf.d/50-clustergen.conf", append("Nothing=1"), "Unknown key"),
    ("sysusers", "roce", "etc/sysusers.d/clustergen-slurm.conf", append("q nothing"), "clustergen-slurm.conf"),
    ("tmpfiles", "roce", "etc/tmpfiles.d/clustergen-slurmd.conf", append("d /x 0799 root root -"), "0799"),
    (
        "tmpfiles",
        "roce",
        "etc/tmpfiles.d/clustergen-slurmd.conf",
        append("d /x 0755 nobody-here root -"),
        "nobody-here",
    ),
    ("modules-load", "roce", "etc/modules-load.d/clustergen-nvidia.conf", append("nvidia_fs # a driver"), "nvidia_fs"),
    ("udev", "dgx-a100-mig", "etc/udev/rules.d/60-rdma-persistent-naming.rules", append('ACTON=="x"'), "ACTON"),
    ("hosts", "roce", "etc/hosts", put(r"10\.0\.0\.11 ", "10.0.0.12 "), "g1: Ansible has 10.0.0.11"),
    ("hosts", "roce", "etc/hosts", append("10.0.0.999 somebody"), "lines name hosts"),
    ("chrony", "roce", "etc/chrony/chrony.conf", append("serverr pool"), "Invalid directive"),
    ("sysctl", "roce", "etc/sysctl.d/90-clustergen.conf", append("kernel.panic 10"), "invalid syntax"),
    ("modprobe", "roce", "etc/modprobe.d/clustergen-nvidia.conf", append("optoins nvidia a=1"), "optoins"),
    (
        "kernel options",
        "ml-training",
        "etc/default/grub.d/*.cfg",
        append('GRUB_CMDLINE_LINUX="quiet"'),
        "are lost: quiet",
    ),
    ("rsyslog", "roce", "etc/rsyslog.d/60-clustergen-forward.conf", append('action(type="omrelpp")'), "omrelpp"),
    ("rsyslog", "plain", "etc/rsyslog.d/50-*.conf", put("bulkMode", "bulkModes"), "bulkModes"),
    ("updates", "roce", "etc/apt/apt.conf.d/*", put('Package-Lists "1";', "Package-Lists {"), "Syntax error"),
    (
        "held packages",
        "roce",
        "etc/apt/preferences.d/clustergen-holds",
        put("release a=now", "nonsense"),
        "pin type nonsense",
    ),
    ("logrotate", "roce", "etc/logrotate.d/slurmd", put("weekly", "weakly"), "weakly"),
    (
        "NetworkManager",
        "midrange-weka",
        "etc/NetworkManager/conf.d/*.conf",
        append("nothing=1"),
        "unknown key 'nothing'",
    ),
    ("netplan", "roce", "etc/clustergen-network/*/*.yaml", put("dhcp4", "dhcp44"), "dhcp44"),
    ("netplan", "roce", "etc/clustergen-network/storage/*.yaml", put("@address@/", "10.2.0.9/"), "10.2.0.11 is not"),
    ("ifupdown", "roce", "etc/clustergen-network/*/clustergen-management", put("static", "statick"), "no method"),
    (
        "ifupdown",
        "roce",
        "etc/clustergen-network/*/clustergen-storage",
        put("@address@/", "10.2.0.9/"),
        "10.2.0.1 is not",
    ),
    ("NetworkManager profiles", "rocky", f"{PROFILES}/*bond0.nmconnection", put("/24", "/240"), "/240"),
    ("NetworkManager profiles", "rocky", f"{PROFILES}/*bond0.nmconnection", put("miimon", "miimonn"), "miimonn"),
    ("NetworkManager profiles", "rocky", f"{PROFILES}/*eno1.nmconnection", put("auto.*-pri", "auto-pri"), "auto-pri"),
    ("nftables", "roce", f"{RULES}/ports.d/slurm_compute.nft", put("@compute", "@computing"), "computing"),
    ("rules for DCGM", "roce", "etc/clustergen/dcgm.nft", put("type uid", "type user"), "type user"),
    ("nftables", "rocky", f"{RULES}/main.nft", put("policy drop", "policy deny"), "deny"),
    ("firewalld", "rocky", "etc/firewalld/zones/clustergen.xml", put("<source ", "<sourse "), "sourse"),
    ("firewalld", "rocky", "etc/firewalld/zones/clustergen.xml", put("10.0.0.0/24", "10.0.0.0/240"), "10.0.0.0/240"),
    ("docker", "roce", "etc/docker/daemon.json", put("log-driver", "log-drive"), "log-drive"),
    ("podman", "roce", "etc/containers/storage.conf", put("rootless_storage_path", "rootless_path"), "rootless_path"),
    ("podman", "roce", "etc/containers/registries.conf.d/*.conf", append("insecur = true"), "insecur"),
    ("podman", "roce", "etc/containers/containers.conf.d/*.conf", put('cgroups = "d', 'cgroup = "d'), "cgroup is not"),
    ("mariadb", "roce", "etc/mysql/mariadb.conf.d/90-slurm.cnf", append("innodb_nothing = 1"), "innodb_nothing"),
    ("sshd", "roce", "etc/ssh/sshd_config.d/*.conf", append("Nothing yes"), "Bad configuration option: Nothing"),
    ("pam", "roce", "etc/pam.d/sshd", append("account required pam_nothing.so"), "pam_nothing"),
    ("pam", "roce", "etc/security/limits.d/50-clustergen.conf", append("nothing here"), "invalid line"),
    ("findmnt", "dgx-a100-mig", "etc/enroot/mounts.d/50-clustergen.fstab", append("nothing"), "parse error"),
    ("exportfs", "roce", "etc/exports.d/clustergen-home.exports", put(" -rw,", " -rw,nothing,"), "nothing"),
    ("nfsconf", "roce", "etc/nfs.conf.d/50-clustergen.conf", put(r"\[nfsd\]", ""), "not in nfsconf --dump"),
    ("ceph", "roce", "etc/ceph/*.conf", append("[global"), "parse error"),
    ("opensm", "dgx-a100-mig", "etc/opensm/opensm.conf", append("nothing 1"), "Unrecognized token"),
    ("opensm", "dgx-a100-mig", "etc/opensm/partitions.conf", append("nothing=here : all ;"), "PARSE"),
    ("opensm", "rocky", "etc/rdma/opensm.conf", append("nothing 1"), "Unrecognized token"),
    ("ucx", "roce", "etc/ucx/ucx.conf", append("UCX_NOTHING=1"), "UCX_NOTHING"),
    ("open mpi", "ml-training", "etc/openmpi/openmpi-mca-params.conf", append("btl_nothing = 1"), "btl_nothing"),
    ("nccl", "roce", "etc/nccl.conf", append("NCCL_IB_HAC=mlx5_0"), "NCCL_IB_HAC"),
    ("yaml", "dgx-a100-mig", "etc/nvidia-mig-manager/*.yaml", append("a: [1"), "while parsing"),
    ("cloud-init", "roce", CLOUD, append("a: [1"), "while parsing"),
    ("cloud-init", "roce", CLOUD, put("manage_etc_hosts", "manage_etc_host"), "manage_etc_host"),
    ("cloud-init", "roce", CLOUD, put("false", "true"), "rewrites /etc/hosts"),
    ("cloud-init user data", "roce", "cloud-init/*.yaml", put("write_files", "write_file"), "write_file"),
    ("cloud-init user data", "roce", "cloud-init/*.yaml", put("0755", "0644"), "clustergen-pull differs"),
    ("cloud-init seed", "roce", "cloud-init/network-config.gpu", put("mii-monitor", "mii-monitors"), "mii-monitors"),
    ("cloud-init seed", "roce", "cloud-init/network-config.gpu", put("@storage@", "10.9.9.9"), "10.2.0.11 is not"),
    ("cloud-init seed", "roce", "cloud-init/network-config.server", put("@storage@", "@bmc@"), "KeyError: 'bmc'"),
    ("cloud-init seed", "roce", "cloud-init/nodes", put("10.0.0.2 ", "10.0.0.x "), "10.0.0.x"),
    ("cloud-init seed", "rocky", "cloud-init/network-config.diskless", put("mode: active-", "mode: in-"), "in-backup"),
    ("warewulf", "rocky", "warewulf/nodes.conf", put("image name", "container name"), "container name is not a field"),
    ("warewulf", "rocky", "warewulf/nodes.conf", put('hwaddr: ".*"', "hwaddr: 5"), "hwaddr: 5 is no mac"),
    ("warewulf", "rocky", "warewulf/nodes.conf", put("rocky.gpu_node", "rocky.gpu"), "no files of group gpu"),
    (
        "netbox",
        "ml-training",
        "facility/cables.csv",
        put("compute01,dcim.interface,[^,]+", "compute01,x,p9"),
        "port p9",
    ),
    ("netbox", "ml-training", "facility/cables.csv", put(r"(\n[^\n]+)\n", r"\1\1\n"), "has two cables"),
    ("bill", "ml-training", "facility/bom.csv", put(",,,,8,0,8,", ",,,,8,0,9,"), "8 and 0 spares are not 9"),
    ("netbox", "ml-training", "facility/racks.csv", put("rack1", "rack9"), "no rack rack1"),
    ("netbox", "ml-training", "facility/devices.csv", put("MQM8700", "MQM8701"), "no device type MQM8701"),
    ("fabric plan", "ml-training", "facility/cables.csv", put("side_b_name", "side_b_port"), "'side_b_name'"),
    ("dcgm counters", "roce", "etc/dcgm-exporter/clustergen-counters.csv", append("DCGM_FI_X, gauge"), "2 fields"),
    ("dcgm counters", "roce", "etc/dcgm-exporter/clustergen-counters.csv", append("DCGM_FI_X, gague, x"), "'gague'"),
    ("xml", "roce", "etc/nccl-topo.xml", append("<pci>"), "line"),
    ("values", "ml-training", "etc/clustergen/usage-report.json", append("}"), "Extra data"),
    ("bash", "ml-training", "etc/clustergen/kernel-metrics.sh", append("names=("), "kernel-metrics.sh"),
    ("html", "home-3090", "usr/local/share/doc/cluster/guide.html", put("</h1>", ""), "mismatched tag"),
]


@pytest.mark.real
def test_two_alertmanagers_with_public_addresses_start(tmp_path: Path) -> None:
    """Without its own address each would look for a private one."""
    nodes = [
        {"name": "head", "type": "service", "address": "141.5.4.1", "roles": ["slurm-controller"]},
        {"name": "mon[1-2]", "type": "service", "address": "141.5.4.[2-3]", "roles": ["monitoring"]},
        {**COMPUTE, "address": "141.5.4.[11-14]"},
    ]
    manifest_path = tmp_path / "manifest.yaml"
    networks = {"management": {"cidr": "141.5.4.0/24"}}
    manifest_path.write_text(json.dumps({**MANIFEST, "nodes": nodes, "networks": networks}), encoding="utf-8")
    tree, result = compiler.render(compiler.validate(manifest_path), manifest_path)
    assert tree is not None, result
    write(tree, tmp_path / "rendered")
    rows = rows_of(tmp_path / "rendered", "alertmanager")
    assert [(row.status, row.words) for row in rows] == [("passed", ())]
    assert len(rows[0].files) == 2


@pytest.mark.real
@pytest.mark.parametrize(
    ("cluster", "notes"),
    [
        (
            "superpod-h100",
            ["fabric: 2,040 cables; opensm identifies a fat tree", "storage: 584 cables; opensm identifies a fat tree"],
        ),
        ("ml-training", ["fabric: 14 cables; no switch above another"]),
        ("roce", []),
    ],
)
def test_planned_infiniband_networks_come_up(rendered: Trees, cluster: str, notes: list[str]) -> None:
    (row,) = rows_of(rendered(cluster), "fabric plan")
    assert row.status == ("passed" if notes else "no parser")
    assert list(row.words) == notes or not notes


@pytest.mark.real
@pytest.mark.many
@pytest.mark.parametrize(
    ("check", "cluster", "path", "change", "words"),
    BROKEN,
    ids=[f"{case[0]}-{case[2].split('/')[-1]}" for case in BROKEN],
)
def test_every_parser_says_what_is_wrong(
    rendered: Trees, tmp_path: Path, check: str, cluster: str, path: str, change: Callable[[str], str], words: str
) -> None:
    tree = tmp_path / "rendered"
    shutil.copytree(rendered(cluster), tree, copy_function=os.link)
    items = [*tree.glob(path), *tree.glob(f"overlays/*/{path}")]
    assert items, f"{cluster} has no {path}"
    for file in items:
        shutil.copy(file, copy := file.with_name("copy"))  # the other links keep their content
        copy.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")
        copy.replace(file)
    rows = rows_of(tree, check)
    failed = [row for row in rows if row.status == "failed"]
    assert failed, rows
    assert any(words in word for row in failed for word in row.words), failed
    assert any(str(file.relative_to(tree)) in row.files for row in failed for file in items), failed


def test_every_check_with_a_parser_has_been_seen_to_fail() -> None:
    assert {case[0] for case in BROKEN} | {"tree"} == {check.name for check in READABLE}


# --- what is not here -------------------------------------------------------------------------------------------------


WITHOUT_PROGRAMS = {
    "tree",
    "ansible-inventory",
    "ansible-playbook",
    "ansible-config",
    "yaml",
    "values",
    "dcgm counters",
    "xml",
    "html",
    "beegfs-mgmtd",
    "netbox",
    "bill",
    "grafana settings",
    "grafana provisioning",
    "dashboards",
    "warewulf",
}


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(
    "check",
    [c.name for c in CHECKS if c.ask is not no_parser and c.name not in {*WITHOUT_PROGRAMS, "systemd networkd"}],
)
def test_without_its_program_a_check_is_not_run_and_says_why(rendered: Trees, bare: Path, check: str) -> None:
    cluster = {
        "udev": "ml-training",
        "kernel options": "ml-training",
        "opensm": "dgx-a100-mig",
        "fabric plan": "ml-training",
        "queries": "ml-training",
        "NetworkManager": "midrange-weka",
        "SSSD": "rocky",
        "ceph specification": "rocky",
        "corosync": "rocky",
        "pacemaker": "rocky",
        "firewalld": "rocky",
        "NetworkManager profiles": "rocky",
        "acceptance": "home-3090",
        "python": "ml-training",
    }.get(check, "roce")
    row, *of_types = rows_of(rendered(cluster), check)
    assert {one.status for one in (row, *of_types)} == {"not run"}
    assert row.version == ""
    assert str(bare) in row.words[0] or "run clustergen setup " in row.words[0], row


@pytest.mark.slow
def test_a_library_that_cannot_be_read_is_not_run(rendered: Trees, bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLUSTERGEN_LIBNCCL", str(bare / "libnccl.so.2"))
    (row,) = rows_of(rendered("roce"), "nccl")
    assert row.status == "not run"
    assert "No such file" in row.words[0]


def test_lists_of_nccl_names_that_setup_wrote_come_after_the_library_that_the_user_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "libnccl.so.2"
    library.write_bytes(b"\0NCCL_DEBUG\0NCCL version 2.99.1\0")
    monkeypatch.setenv("CLUSTERGEN_LIBNCCL", str(library))
    monkeypatch.setenv("CLUSTERGEN_PARSERS", str(tmp_path))
    lists = tmp_path / "libnccl"
    lists.mkdir()
    for version in ("2.21.5", "2.27.7"):
        (lists / f"{version}.names").write_text("NCCL_DEBUG\nNCCL_IB_HCA\n")
    assert [(one.release, sorted(one.names)) for one in nccl_names()] == [
        ("2.99", ["NCCL_DEBUG"]),
        ("2.21", ["NCCL_DEBUG", "NCCL_IB_HCA"]),
        ("2.27", ["NCCL_DEBUG", "NCCL_IB_HCA"]),
    ]


@pytest.mark.real
def test_slurm_of_an_older_release_is_not_asked(rendered: Trees, tmp_path: Path) -> None:
    tree = tmp_path / "rendered"
    shutil.copytree(rendered("ml-training"), tree)
    variables = tree / "inventory/group_vars/all.yml"
    variables.write_text(variables.read_text(encoding="utf-8").replace('"24.11"', '"26.11"'), encoding="utf-8")
    row, *of_types = rows_of(tree, "slurm")
    assert [one.status for one in (row, *of_types)] == ["not run"] * 2
    assert "the tree requires Slurm 26.11" in row.words[0]
    assert "24.11.5" in row.words[0]


@pytest.mark.real
def test_names_that_another_release_of_nccl_lacks_are_no_failure(
    rendered: Trees, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "libnccl.so.2"
    # Data with letters in it stands before the first string of a section, without a zero between them.
    library.write_bytes(b"\0\0004BNCCL_SOCKET_IFNAME\0no NCCL_IB_HCA\0junk NCCL version 2.99.1\0")
    monkeypatch.setenv("CLUSTERGEN_LIBNCCL", str(library))
    monkeypatch.setenv("CLUSTERGEN_PARSERS", str(tmp_path))
    (row,) = rows_of(rendered("roce"), "nccl")
    assert (row.status, row.version) == ("not run", "2.99.1")
    assert row.words[0] == "the tree requires NCCL 2.27, which is not available"
    assert "NCCL_IB_HCA: libnccl 2.99.1 does not contain this name" in row.words
    assert not any("NCCL_SOCKET_IFNAME" in words for words in row.words)
