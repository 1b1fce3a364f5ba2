"""Values as other tools write them: the hint has the one that is meant, and it is accepted in its place."""

from __future__ import annotations

import time

import pytest

from clustergen.diagnostics import Severity
from strategies.findings import TINY, changed, diagnosed

CLUSTER = changed(TINY, ("[slurm-controller]", "[slurm-controller, slurm-accounting, monitoring]"))
ACCOUNT = 'slurm: {version: "24.11", accounts: {ml: {users: [ada], group_tres: %s}}}'
QOS = 'slurm: {version: "24.11", accounts: {}, qos: {normal: {%s}}}'
PARTITION = 'slurm: {version: "24.11", accounts: {}, partitions: {all: {nodes: all, default: true, %s}}}'
MANAGEMENT = "networks: {management: {cidr: 10.0.0.0/24, %s}}"
TYPE = "node_types: {h100: {system: dgx-h100, %s}}"
MIG = f"gpu: {{mig_plans: {{half: {{profiles: {{3g.40gb: 2}}}}}}}}\n{TYPE % 'gpus: {%s}'}"
NFS = "storage: {home: {type: nfs, server: nas, path: /home, mount: /home, %s}}"
LUSTRE = "storage: {work: {type: lustre, mount: /work, mgs: [%s]}}"
MAIL = "monitoring: {smtp: 'mail.example.org:25', mail_from: a@example.org, receivers: {ops: {email: %s}}}"
LOOP = "racks: {r1: {nodes: 'gpu[1-4]'}}\nfacility: {loops: {a: {racks: r1, rise: 10, cdus: {capacity: %s}}}}"
DELIVERY = "facility: {deliveries: {first: {types: [h100], warranty: 5, bought: %s}}}"
RUN = "facility: {estimates: {training: {a: {parameters: 70B, token_count: 1T, %s}}}}"
SLURM = 'slurm: {version: "24.11", accounts: {}, %s}'
ROWS = {
    "os": ("os: %s", "debian12", "debian-12"),
    "arch": ("arch: %s", "amd64", "x86_64"),
    "city": ("host: {timezone: %s}", "Berlin", "Europe/Berlin"),
    "old zone": ("host: {timezone: %s}", "US/Eastern", "America/New_York"),
    "host by name": ("host: {extra_hosts: {%s}}", "l.example.org: 10.0.0.50", "10.0.0.50: [l.example.org]"),
    "line of ntp.conf": (MANAGEMENT % "ntp: [%s]", "server ntp.example.org iburst", "ntp.example.org"),
    "line of ntp.conf for a list": (MANAGEMENT % "ntp: %s", "server ntp.example.org iburst", "[ntp.example.org]"),
    "names with blanks": (MANAGEMENT % "ntp: %s", "a.example.org b.example.org", "[a.example.org, b.example.org]"),
    "netmask": ("networks: {management: {%s}}", "network: 10.0.0.0, netmask: 255.255.255.0", "cidr: 10.0.0.0/24"),
    "licence by date": ("monitoring: {expires: {%s}}", "2027-03-31: Licence", 'Licence: "2027-03-31"'),
    "page": ("monitoring: {blackbox: {web: %s}}", "example.org", "[https://example.org]"),
    "days first": (DELIVERY, "31.03.2026", "2026-03-31"),
    "months first": (DELIVERY, "03/31/2026", "2026-03-31"),
    "thousands": ("facility: {prices: {currency: EUR, items: {dgx-h100: %s}}}", "'300.000'", "300000"),
    "megawatts": (LOOP, "1.3", "1.3MW"),
    "GPUs as in --gres": (ACCOUNT, '"gpu=8"', "{gres/gpu: 8}"),
    "GPUs with a colon": (ACCOUNT, "gres/gpu:h100:8", "{gres/gpu:h100: 8}"),
    "list of TRES": (ACCOUNT, '"cpu=64,mem=100G"', '{cpu: 64, mem: "100GiB"}'),
    "weights": (PARTITION % "billing: %s", "'CPU=1.0,Mem=0.25G'", '{CPU: 1.0, Mem: "0.25G"}'),
    "ports": (SLURM % "srun_ports: %s", "[60001, 63000]", "60001-63000"),
    "plugin": (SLURM % "topology: {plugin: %s}", "topology/flat", "flat"),
    "exponent": (SLURM % "priority: {weights: {age: %s}}", "1e5", "100000"),
    "model": (TYPE % "gpus: %s", "h100-sxm", "{model: h100-sxm}"),
    "clock": (TYPE % "gpus: {graphics_clock: %s}", "1980MHz", "1980"),
    "cores": (TYPE % "reserved: %s", "4", "{cores: 4}"),
    "CPUs": (TYPE % "cpu: %s", "2x56x2", "{sockets: 2, cores_per_socket: 56, threads_per_core: 2}"),
    "port of an adapter": (TYPE % "nics: [{device: '%s', interface: ib0}]", "mlx5_0:1", "mlx5_0"),
    "rack units": (TYPE % "rack_units: %s", "8U", "8"),
    "GPUs by name": (MIG % "mig: %s", "{gpu0: half, gpu1: half}", "{0: half, 1: half}"),
    "instances": ("gpu: {mig_plans: {%s}}", "half: {MIG-3g.40gb: 2}", "half: {profiles: {3g.40gb: 2}}"),
    "switch of NCCL": ("nccl: {env: {NCCL_IB_DISABLE: %s}}", "true", "1"),
    "amount of a mount option": (NFS % "options: ['%s']", "rsize=1M", "rsize=1048576"),
    "address of an MGS": (LUSTRE, "10.0.0.30", "10.0.0.30@o2ib"),
    "MGS as for mount": (LUSTRE, "'10.0.0.30@tcp:/work'", "10.0.0.30@tcp"),
    "LDAP's URL": ("identity: {base: 'dc=a', servers: ['%s']}", "ldaps://l.example.org:636", "l.example.org:636"),
    "list for a section": ("user_guide: %s", "[{contact: help}]", "{contact: help}"),
    "circuit": ("racks: {r1: {circuits: %s}}", "{volts: 400, amps: 32}", "[{volts: 400, amps: 32}]"),
    "program for an area": ("manage: [slurm, %s]", "grafana", "monitoring"),
    "MAC with dashes": ("nodes: [{macs: [%s], name: g, type: h100}]", "AA-BB-CC-DD-EE-FF", "aa:bb:cc:dd:ee:ff"),
    "mapping for a list": (MANAGEMENT % "ntp: %s", "{server: ntp.example.org}", "[ntp.example.org]"),
    "mode of a bond": (MANAGEMENT % "interface: bond0, bond: {ports: [a, b], mode: %s}", "LACP", "802.3ad"),
    "name of a disk": (TYPE % "disks: [%s]", "nvme0n1", '{device: nvme0n1, size: "3.84TB"}'),
    "path of a disk": (TYPE % "disks: [{size: 1TB, device: %s}]", "/dev/nvme0n1", "nvme0n1"),
    "channel": ("monitoring: {receivers: {a: {slack_url_file: /x, slack_channel: %s}}}", "alerts", '"#alerts"'),
    "router with a prefix": (MANAGEMENT % "gateway: %s", "10.0.0.254/24", "10.0.0.254"),
    "domain as a URL": (MANAGEMENT % "domain: %s", "https://Cluster.local/", "cluster.local"),
    "login": ('slurm: {version: "24.11", accounts: {ml: {users: [%s]}}}', "Ada@example.org", "ada"),
    "name before an address": (MAIL, "Ops <o@example.org>", "o@example.org"),
    "mail server": ("monitoring: {smtp: '%s'}", "smtp://mail.example.org:25", "mail.example.org:25"),
    "variable in lower case": ("nccl: {env: {%s: 1}}", "nccl_ib_disable", "NCCL_IB_DISABLE"),
    "list for a variable": ("ucx: {env: {UCX_TLS: %s}}", "[rc, cuda]", '"rc,cuda"'),
    "price": ("facility: {prices: {currency: EUR, gpu_hour: %s}}", "2.50 EUR", "2.5"),
    "two numbers": (RUN % "gpus: %s", "8-32", "[8, 32]"),
    "no duration": (SLURM % "power_saving: {suspend_time: %s}", "never", "1min"),
    "contact": ("user_guide: %s", "help@example.org", '{contact: "help@example.org"}'),
    "system": ("node_types: {h100: %s}", "dgx-h100", "{system: dgx-h100}"),
    "types as a list": ("node_types: %s", "[{name: h100, system: dgx-h100}]", "{h100: {system: dgx-h100}}"),
    "networks as a list": (
        "networks: %s",
        "[{name: management, cidr: 10.0.0.0/24}]",
        "{management: {cidr: 10.0.0.0/24}}",
    ),
    "receivers": ("monitoring: {receivers: %s}", "[ops@example.org]", '{ops: {email: "ops@example.org"}}'),
    "disks by name": (TYPE % "disks: %s", "{nvme0n1: 3.84TB}", '[{device: nvme0n1, size: "3.84TB"}]'),
    "ports by name": (TYPE % "nics: %s", "{mlx5_0: ndr, mlx5_1: ndr}", "[{device: mlx5_0}, {device: mlx5_1}]"),
    "host and port": ("monitoring: {smtp: %s}", "{host: mail.example.org, port: 25}", '"mail.example.org:25"'),
    "mount options": (NFS % "options: %s", "{rsize: 1048576, hard: true}", "[rsize=1048576, hard]"),
    "release of Slurm": ("slurm: %s", "24.11", '{version: "24.11"}'),
    "number of a limit": (ACCOUNT, "8", "{gres/gpu: 8}"),
    "priority": (SLURM % "qos: {high: %s}", "10", "{priority: 10}"),
    "server by name": ("identity: {base: 'dc=a', servers: %s}", "{a: l.example.org}", "[l.example.org]"),
    "range": ("notebooks: {group: users, gpus: %s}", "0-2", "[0, 1, 2]"),
}


def manifest(sections: str) -> str:
    """The small cluster with these sections in place of those that it has."""
    blocks = {block.partition(":")[0]: block for text in (CLUSTER, sections) for block in _blocks(text)}
    return "\n".join(blocks.values()) + "\n"


def _blocks(text: str) -> list[str]:
    return [block.replace("\0", "\n  ") for block in text.replace("\n  ", "\0").splitlines()]


@pytest.mark.many
@pytest.mark.parametrize("name", ROWS)
def test_what_a_hint_says_to_write_is_accepted(name: str) -> None:
    sections, wrong, meant = ROWS[name]
    listed = diagnosed(manifest(sections % wrong))
    code = next(item.code for item in listed if f"write {meant}" in (item.hint or "").replace("mig: ", ""))
    errors = [item for item in diagnosed(manifest(sections % meant)) if item.severity is Severity.ERROR]
    assert code not in [item.code for item in errors], errors


LIMITS = {
    "all nodes": (ACCOUNT, "{gres/gpu: 33}", "limit-above-cluster", "gres/gpu: 32 or less"),
    "memory": (ACCOUNT, "{mem: 1000TiB}", "limit-above-cluster", "mem: "),
    "nodes": (ACCOUNT, "{node: 5}", "limit-above-cluster", "node: 4 or less"),
    "a partition": (PARTITION, "max_nodes: 5", "limit-above-cluster", "max_nodes: 4 or less, or remove it"),
    "a node": (QOS, "max_tres_per_node: {gres/gpu:h100: 9}", "limit-above-cluster", "gres/gpu:h100: 8 or less"),
    "a minimum": (QOS, "min_tres_per_job: {gres/gpu: 33}", "partition-sizes", "gres/gpu: 32 or less"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_above_what_the_nodes_have(name: str) -> None:
    sections, value, code, hint = LIMITS[name]
    listed = {item.code: item.hint or "" for item in diagnosed(manifest(sections % value))}
    assert listed.get(code, "").startswith(f"write {hint}"), listed
    fits = value.replace("33", "32").replace("1000", "1").replace("5", "4").replace("9", "8")
    assert code not in [item.code for item in diagnosed(manifest(sections % fits))]


@pytest.mark.parametrize(
    ("sections", "code", "hint"),
    [
        (SLURM % "options: {SlurmctldParameters: enable_configless}", "slurm-key-managed", "slurm.configless: true"),
        ("ups: {devices: {u: {address: 10.0.0.11, feeds: head}}}", "address-duplicate", "its own network card"),
        (
            "monitoring: {snmp: {devices: {pdu: {address: 10.0.0.1, module: apc_rpdu2, auth: public}}}}",
            "address-duplicate",
            "its own network card",
        ),
        (
            QOS.replace("accounts: {}", "accounts: {ml: {users: {ada: admin}}}") % "",
            "type-wrong",
            "coordinators: [ada]",
        ),
        (NFS % "quotas: [{user: ada, hard: 100GB}]", "key-unknown", 'space: "100GB"'),
        ("racks: {r: {nodes: 'gpu[1-4]', places: [gpu1]}}", "type-wrong", "{gpu1: …}"),
        (TYPE % "nics: {count: 8}", "type-wrong", "{device: …}"),
        (TYPE % "nics: 8", "type-wrong", "{device: …}"),
    ],
)
def test_what_cannot_be_pasted_says_what_to_do(sections: str, code: str, hint: str) -> None:
    listed = {item.code: item.hint or "" for item in diagnosed(manifest(sections))}
    assert hint in listed.get(code, ""), listed


def test_an_option_for_configless_beside_the_field_is_accepted() -> None:
    text = manifest(SLURM % "configless: true, options: {SlurmctldParameters: enable_configless}")
    assert "slurm-key-managed" not in [item.code for item in diagnosed(text)]


@pytest.mark.parametrize(("sections", "part"), [(ACCOUNT, "a"), (TYPE % "gpus: %s", "h100-"), (TYPE % "cpu: %s", "2x")])
def test_a_text_of_a_hundred_kilobytes_takes_no_minutes(sections: str, part: str) -> None:
    text = manifest(sections % f"'{part * (100_000 // len(part))}'")
    before = time.process_time()
    assert "type-wrong" in [item.code for item in diagnosed(text)]
    assert time.process_time() - before < 5  # 90 s where each place of the text is tried to its end
