"""The value that a hint proposes is accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.compile import validate
from strategies.findings import TINY, changed

FABRIC = changed(
    TINY,
    (
        "  management: {cidr: 10.0.0.0/24}\n",
        "  management: {cidr: 10.0.0.0/24}\n  fabric: {type: infiniband, rate: NDR, plan: {leaf: qm9700}}\n",
    ),
)
NFS = changed(TINY, ("slurm:", "storage: {home: {type: nfs, server: nas, path: /home, mount: /home}}\nslurm:"))
RACK = changed(TINY, ("slurm:", 'racks: {r1: {nodes: "gpu[1-4]", power: 9kW}}\nslurm:'))
RAILS = changed(FABRIC, ("plan: {leaf: qm9700}", 'switches: [{name: "leaf[0-7]", rail: 0-7, nodes: "gpu[1-4]"}]'))
H100 = (
    "the NVIDIA H100 80GB HBM3 has 1g.10gb (7), 1g.10gb+me (1), 1g.20gb (4), 2g.20gb (3), 3g.40gb (2), 4g.40gb (1),"
    " 7g.80gb (1)"
)
DGX = (
    "use one of, by GPU: A100 (dgx-a100-40, dgx-a100-80, dgx-station-a100), B200 (dgx-b200), B300 (dgx-b300),"
    " GB200 (dgx-gb200), GB300 (dgx-gb300), H100 (dgx-h100), H200 (dgx-h200), V100 (dgx1-v100, dgx2)"
)
MIG = changed(TINY, ("{system: dgx-h100}", "{system: dgx-h100, gpus: {mig: half}}"))
PLAN = changed(MIG, ("slurm:", "gpu: {mig_plans: {half: PLAN}}\nslurm:"))
SPLIT = "write mig: split, and gpu: {mig_plans: {split: {profiles: {%s}}}} at the top level; " + H100
HINTS = {
    **{
        f"mig: {value}": (MIG, ("mig: half", f"mig: {value}"), "type-wrong", SPLIT % profiles)
        for value, profiles in {
            "true": "3g.40gb: 2",
            "{}": "3g.40gb: 2",
            "1g.10gb": "1g.10gb: 7",
            "[1g.10gb]": "1g.10gb: 7",
            "{profiles: {2g.20gb: 3}}": "2g.20gb: 3",
        }.items()
    },
    "threads of a node as those of a core": (
        TINY,
        ("{system: dgx-h100}", "{system: dgx-h100, cpu: {threads_per_core: 64}}"),
        "value-out-of-range",
        "write 1 to 8: Hardware threads of a core: 2 with hyper-threading, 1 without",
    ),
    "a MIG plan that is nowhere": (
        MIG,
        ("half", "full"),
        "mig-plan-unknown",
        f"write gpu: {{mig_plans: {{full: {{profiles: {{3g.40gb: 2}}}}}}}} at the top level; {H100}",
    ),
    **{
        f"plan {value}": (PLAN, ("PLAN", value), code, f"write half: {{profiles: {{{profiles}}}}}; {H100}")
        for value, code, profiles in (
            ("", "type-wrong", "3g.40gb: 2"),
            ("{}", "key-missing", "3g.40gb: 2"),
            ("{profiles: {}}", "value-out-of-range", "3g.40gb: 2"),
            ("{1g.10gb: 7}", "key-missing", "1g.10gb: 7"),
            ("[3g.40gb, 3g.40gb]", "type-wrong", "3g.40gb: 2"),
            ("{profiles: 1g.10gb}", "type-wrong", "1g.10gb: 1"),
            ("{profiles: {1g.10gb: 8}}", "value-out-of-range", "1g.10gb: 7"),
        )
    },
    **{
        f"plan {value}": (PLAN, ("PLAN", value), code, f"write profiles: {{{profiles}}}; {H100}")
        for value, code, profiles in (
            ("{profiles: {1g.5gb: 7}}", "mig-profile-unknown", "1g.10gb: 7"),
            ("{profiles: {3g.40gb: 3}}", "mig-layout-impossible", "3g.40gb: 2"),
        )
    },
    **{
        f"system: {name}": (TINY, ("system: dgx-h100", f"system: {name}"), "system-unknown", hint)
        for name, hint in {
            "hgx": "use one of hgx-a100-8, hgx-b200-8, hgx-b300-8, hgx-h100-8, hgx-h200-8",
            "dgx": DGX,
            "DGX": DGX,
            "dgx-h": "use one of dgx-h100, dgx-h200",
            "DGX A100": "use one of dgx-a100-40, dgx-a100-80",
            "h100": "use one of dell-xe9680, dgx-h100, hgx-h100-8, hpe-xd670, smc-821ge-tnhr",
            "supermicro": "use one of smc-111gl-nhr, smc-821ge-tnhr",
        }.items()
    },
    "a number for a rate": (FABRIC, ("rate: NDR", "rate: 400"), "rate-malformed", "write NDR or 400Gb/s"),
    "a number of two rates": (FABRIC, ("rate: NDR", "rate: 200"), "rate-malformed", "write HDR or 200Gb/s"),
    "a number of an Ethernet rate": (FABRIC, ("rate: NDR", "rate: 25"), "rate-malformed", "write 25Gb/s"),
    "a number that is no InfiniBand rate": (FABRIC, ("rate: NDR", "rate: 300"), "rate-malformed", "write 300Gb/s"),
    "a number for a RoCE rate": (
        FABRIC,
        ("type: infiniband, rate: NDR, plan: {leaf: qm9700}", "type: roce, rate: 400, plan: {leaf: sn5600}"),
        "rate-malformed",
        "write 400Gb/s",
    ),
    "a rate with its number": (FABRIC, ("rate: NDR", "rate: NDR400"), "rate-malformed", "write NDR"),
    "another name of a fabric": (FABRIC, ("infiniband", "ib"), "value-not-allowed", "write infiniband"),
    "a daemon for a role": (TINY, ("[slurm-controller]", "[slurmctld]"), "value-not-allowed", "write slurm-controller"),
    "a number of an operating system": (TINY, ("debian-12", "13"), "value-not-allowed", "did you mean 'debian-13'?"),
    "a range of addresses without brackets": (
        TINY,
        ('"10.0.0.[11-14]"', "10.0.0.11-14"),
        "address-count",
        'write "10.0.0.[11-14]"',
    ),
    "a range of names without brackets": (
        TINY,
        ('"gpu[1-4]"', "gpu1-4"),
        "address-count",
        'write "gpu[1-4]"',
    ),
    "a share in percent": (
        TINY,
        ('{version: "24.11"}', '{version: "24.11", accounts: {a: {fairshare: 50%}}}'),
        "type-wrong",
        "write 50",
    ),
    "runtimes as a list": (
        TINY,
        ("slurm:", "containers: [docker, apptainer]\nslurm:"),
        "type-wrong",
        "write {docker: {}, apptainer: {}}",
    ),
    "a zero before a number": (
        TINY,
        ("{system: dgx-h100}", "{system: dgx-h100, cpu: {threads_per_core: 02}}"),
        "type-wrong",
        "write 2",
    ),
    "a mount as a text": (
        TINY,
        ("slurm:", "storage: {home: 'filer:/home'}\nslurm:"),
        "type-wrong",
        "write {type: nfs, server: filer, path: /home, …}",
    ),
    "a mount as a word": (
        TINY,
        ("slurm:", "storage: {home: filer}\nslurm:"),
        "type-wrong",
        "write a section that begins with type: 'lustre', 'beegfs', 'nfs', 'weka', 'cephfs', 'storage_scale' or"
        " 'local'",
    ),
    "resources as Slurm has them": (
        changed(TINY, ("{system: dgx-h100}", "{cpu: {cores_per_socket: 8}, memory: 64GiB}")),
        ("64GiB}", "64GiB, gres: 'gpu:h100:8'}"),
        "type-wrong",
        "write gpus: {model: h100-sxm, count: 8} in the node type",
    ),
    "a plan by its kind": (
        TINY,
        ("networks:", "networks:\n  fabric: {type: infiniband, rate: NDR, plan: fat-tree}"),
        "type-wrong",
        "write {leaf: QM9700}: a plan is a fat tree",
    ),
    "a section in one of its neighbours": (
        TINY,
        ("slurm:", "monitoring: {alertmanager: {receivers: {ops: {email: [a@x.org]}}}}\nslurm:"),
        "type-wrong",
        "move receivers to monitoring",
    ),
    "loops in a limit of the room": (
        TINY,
        ("slurm:", "facility: {cooling: {loops: {a: {cdus: {capacity: 1300}}}}}\nslurm:"),
        "unit-wrong",
        "move loops to facility",
    ),
    "a key to the left of its neighbours": (
        changed(TINY, ("{system: dgx-h100}", "\n    system: dgx-h100\n  memory: 2TiB\n    rack_units: 8")),
        ("  memory", "  memory"),
        "yaml-syntax",
        "indent it by 4 spaces",
    ),
    "MIG of a GPU that has none": (
        TINY,
        ("{system: dgx-h100}", "{system: l40s-8, gpus: {mig: slices}}"),
        "mig-plan-unknown",
        "remove it: the NVIDIA L40S does not support MIG",
    ),
    "the limit of a partition as an option": (
        TINY,
        ('{version: "24.11"}', '{version: "24.11", options: {MaxTimeLimit: 7-0}}'),
        "slurm-key-unknown",
        "set max_time of a partition",
    ),
    "apparent power": (
        TINY,
        ("slurm:", "facility: {cooling: 500kVA}\nslurm:"),
        "unit-wrong",
        "write the power, as 475kW with a factor of 0.95",
    ),
    "no MIG by a word": (
        TINY,
        ("{system: dgx-h100}", "{system: dgx-h100, gpus: {mig: off}}"),
        "mig-plan-unknown",
        "remove it: without a plan GPUs are whole",
    ),
    "a number as a switch": (
        TINY,
        ('{version: "24.11"}', '{version: "24.11", partitions: {a: {nodes: all, hidden: 1}}}'),
        "type-wrong",
        "write true",
    ),
    "a CDU without a unit": (
        TINY,
        ("slurm:", "facility: {loops: {a: {cdus: {capacity: 1300}}}}\nslurm:"),
        "unit-wrong",
        "write 1300kW",
    ),
    "a CDU in watts": (
        TINY,
        ("slurm:", "facility: {loops: {a: {cdus: {capacity: 1300000}}}}\nslurm:"),
        "unit-wrong",
        "write 1300000W",
    ),
    "a setting of firmware in other words": (
        TINY,
        ("{system: dgx-h100}", "{system: dgx-h100, firmware: {sr_iov: disabled}}"),
        "value-not-allowed",
        "write off",
    ),
    "users of a partition": (
        TINY,
        ('{version: "24.11"}', '{version: "24.11", partitions: {a: {nodes: all, allow_users: [alice]}}}'),
        "key-unknown",
        "write allow_groups or allow_accounts: Slurm has no list of users",
    ),
    "a missing type of nodes": (TINY, ("type: h100, ", ""), "key-missing", "add type: 'h100' or 'service'"),
    "a list's value under the wrong section": (
        TINY,
        ('{version: "24.11"}', '{version: "24.11", select_parameters: CR_Core}'),
        "key-unknown",
        "move 'select_parameters' to slurm.resources, as a list: [CR_Core]",
    ),
    "a product with its maker": (TINY, ("dgx-h100", "NVIDIA DGX H200"), "system-unknown", "write dgx-h200"),
    "a board in capitals": (TINY, ("dgx-h100", "HGX-H200-8"), "system-unknown", "write hgx-h200-8"),
    "a GPU that no system has": (
        TINY,
        ("dgx-h100", "A40"),
        "system-unknown",
        "state cpu, memory and gpus: {model: a40, count: …}: a40 is a GPU",
    ),
    "a GPU that no system has, as the catalogue has it": (
        TINY,
        ("dgx-h100", "a40"),
        "system-unknown",
        "state cpu, memory and gpus: {model: a40, count: …}: a40 is a GPU",
    ),
    "a product without its maker": (TINY, ("dgx-h100", "PowerEdge XE9680"), "system-unknown", "write dell-xe9680"),
    "another version": (
        TINY,
        ("debian-12", "rocky-10"),
        "value-not-allowed",
        "install rocky-9 on the nodes: the catalogue has no packages and paths of rocky-10",
    ),
    "another version of a rebuild": (
        TINY,
        ("debian-12", "almalinux-8"),
        "value-not-allowed",
        "install almalinux-9 on the nodes: the catalogue has no packages and paths of almalinux-8",
    ),
    "another distribution": (
        TINY,
        ("debian-12", "sles-15"),
        "value-not-allowed",
        "use 'debian-12', 'debian-13', 'ubuntu-22.04', 'ubuntu-24.04', 'almalinux-9', 'rhel-9' or 'rocky-9'",
    ),
    "another spelling of a version": (
        TINY,
        ("debian-12", "Debian 12"),
        "value-not-allowed",
        "write debian-12",
    ),
    "all nodes in Slurm's spelling": (
        TINY,
        ('{version: "24.11"}', '{version: "24.11", partitions: {p: {nodes: ALL}}}'),
        "node-unknown",
        "write all for every node that runs slurmd",
    ),
    "a typo in a mount option of any file system": (
        TINY,
        (
            'slurm: {version: "24.11"}\n',
            'slurm: {version: "24.11"}\nstorage:\n'
            "  home: {type: nfs, server: f, path: /e, mount: /home, options: [noatimee]}\n",
        ),
        "mount-option-unknown",
        "did you mean 'noatime'?",
    ),
    "a count for a section": (
        TINY,
        ("{system: dgx-h100}", "{system: dgx-h100, gpus: 8}"),
        "type-wrong",
        "write {count: 8}",
    ),
    "memory with a unit for a number of MiB": (
        TINY,
        ("{system: dgx-h100}", "{system: dgx-h100, real_memory: 300GB}"),
        "type-wrong",
        "write 286102: the field is a number of MiB",
    ),
    "memory with a wrong unit for a number of MiB": (
        TINY,
        ("{system: dgx-h100}", '{system: dgx-h100, real_memory: "300 gigs"}'),
        "type-wrong",
        "write a number of MiB",
    ),
    "an NFS export as mount has it": (
        NFS,
        ("server: nas, path: /home", "server: 10.0.0.9:/home"),
        "text-malformed",
        "write server: 10.0.0.9, path: /home",
    ),
    "an NFS export beside its path": (
        NFS,
        ("server: nas", "server: '[2001:db8::5]:/export/'"),
        "text-malformed",
        'write server: "2001:db8::5", path: /export',
    ),
    "a rack's power without a unit": (RACK, ("power: 9kW", "power: 40"), "unit-wrong", "write 40kW"),
    "power that no source confirms": (
        changed(RACK, ("{system: dgx-h100}", "{system: hgx-b200-8}")),
        ("power: 9kW", "power: 30kW"),
        "rack-power",
        "measure it and state power: {max: …} of node type h100, or keep at most 2 devices of 14.5 kW, spread"
        " the nodes over more racks, or set a power limit on their GPUs",
    ),
    "a rack's power as a section": (RACK, ("power: 9kW", "power: {max: 40kW}"), "unit-wrong", "write 40kW"),
    "a rack's power in a list": (RACK, ("power: 9kW", "power: [40]"), "unit-wrong", "write 40kW or 40W"),
    "a node's power as a value": (
        TINY,
        ("{system: dgx-h100}", "{system: dgx-h100, power: 10.2kW}"),
        "type-wrong",
        "write {max: 10.2kW}",
    ),
    "a section as a switch": (
        TINY,
        ("slurm:", "monitoring: {ipmi: true}\nslurm:"),
        "type-wrong",
        "write {}, or a section with port, interval",
    ),
    "a section that is switched off": (
        TINY,
        ("slurm:", "monitoring: {ipmi: false}\nslurm:"),
        "type-wrong",
        "remove the line",
    ),
    "a ratio": (
        TINY,
        ("networks:", "networks:\n  fabric: {type: roce, plan: {leaf: sn5600, oversubscription: '2:1'}}"),
        "type-wrong",
        "write 2",
    ),
    "a value beside true and false": (
        TINY,
        ("slurm:", "host: {firewall: iptables}\nslurm:"),
        "value-not-allowed",
        "did you mean 'nftables'?",
    ),
    "accounts without slurmdbd": (
        TINY,
        ('"24.11"}', '"24.11", accounts: {}, qos: {a: {}}}'),
        "accounting-missing",
        "add slurm-accounting to the roles of head",
    ),
    "a UPS as a number": (
        TINY,
        ("slurm:", "facility: {ups: 80}\nslurm:"),
        "type-wrong",
        "write {power: 80kW}",
    ),
    "power of the machine room": (
        TINY,
        ("slurm:", "facility: {power: 40}\nslurm:"),
        "key-unknown",
        "write racks.<name>.power for a rack, ups.power for a UPS, or cooling: 40kW for the room",
    ),
    "a breaker with its unit": (
        RACK,
        ("power: 9kW", "circuits: [{volts: 400, amps: 32A}]"),
        "type-wrong",
        "write 32: the field is a number of amperes",
    ),
    "a weight with its unit": (
        RACK,
        ("power: 9kW", "weight: 1200kg"),
        "type-wrong",
        "write 1200: the field is a number of kg",
    ),
    "an apparent power with its unit": (
        TINY,
        ("slurm:", "facility: {ups: {power: 30kW, apparent: 40kVA}}\nslurm:"),
        "type-wrong",
        "write 40000: the field is a number of VA",
    ),
    "fewer rails than switches": (
        RAILS,
        ("rail: 0-7", "rail: 0-6"),
        "rail-count",
        "write rail: 0-7, or an entry for each pod",
    ),
    "descending rails": (RAILS, ("rail: 0-7", "rail: 7-0"), "rail-count", "write rail: 0-7, or an entry for each pod"),
    "rails of one switch": (RAILS, ("leaf[0-7]", "leaf0"), "rail-count", "write rail: 0"),
    "rails as a host list": (
        RAILS,
        ("rail: 0-7", 'rail: "[0-7]"'),
        "text-malformed",
        "write a rail from 0 to 63, or a range: 0-7",
    ),
    "a network inside another": (
        TINY,
        ("10.0.0.0/24}", "10.0.0.0/24}\n  storage: {cidr: 10.0.0.128/25}"),
        "networks-overlap",
        "use a network outside 10.0.0.0/24 in place of 10.0.0.128/25, or make 10.0.0.0/24 smaller",
    ),
    "a network around another": (
        TINY,
        ("10.0.0.0/24}", "10.0.0.0/24}\n  storage: {cidr: 10.0.0.0/8}"),
        "networks-overlap",
        "use a network outside 10.0.0.0/8 in place of 10.0.0.0/24, or make 10.0.0.0/8 smaller",
    ),
    "an Ethernet leaf": (
        FABRIC,
        ("leaf: qm9700", "leaf: sn5600"),
        "switch-fabric",
        "use 'qm9700' or 'qm9790'",
    ),
    "a slow leaf": (FABRIC, ("leaf: qm9700", "leaf: qm8700"), "switch-too-slow", "use 'qm9700' or 'qm9790'"),
    "a leaf of one rate": (FABRIC, ("leaf: qm9700", "leaf: q3400"), "switch-one-rate", "use 'qm9700' or 'qm9790'"),
    "a listed Ethernet switch": (
        FABRIC,
        ("plan: {leaf: qm9700}", 'switches: [{name: leaf1, model: sn5600, nodes: "gpu[1-4]"}]'),
        "switch-fabric",
        "use 'qm9700' or 'qm9790'",
    ),
    "one address too few": (TINY, ("[11-14]", "[11-13]"), "address-count", 'write "10.0.0.[11-14]"'),
    "a node type of login nodes": (
        TINY,
        (
            "nodes:\n",
            "  login: {memory: 64GiB}\nnodes:\n  - {name: l1, type: login, address: 10.0.0.9, roles: [login]}\n",
        ),
        "hardware-incomplete",
        "write type: service for machines that run no jobs, or set system to one of clustergen catalogue systems, or"
        " add cpu: {sockets: 2, cores_per_socket: 32}",
    ),
    "a server that is called much like a node": (
        NFS,
        ("- {name: head, ", "- {name: nas1, type: service, address: 10.0.0.9, roles: [nfs-server]}\n  - {name: head, "),
        "nfs-server-idle",
        "write server: nas1 in storage.home, not nas; or remove the role",
    ),
    "a host list without its end": (TINY, ('"gpu[1-4]"', '"gpu[1-4"'), "hostlist-syntax", "write gpu[1-4]"),
    "a list that is one word": (
        NFS,
        ("path: /home,", "path: /home, clients: gpu,"),
        "type-wrong",
        "write a list of slurm-controller, slurm-accounting, slurm-compute, login, monitoring, log-collector,"
        " nfs-server, subnet-manager, lnet-router",
    ),
    "typographic quotes": (TINY, ('"gpu[1-4]"', "“gpu[1-4]”"), "yaml-syntax", 'write "gpu[1-4]"'),
    "a no-break space before one of several keys": (
        TINY,
        ("  management", "\u00a0 management: {}\n  bmc"),
        "yaml-syntax",
        "replace it with a space",
    ),
    "an address in use": (
        TINY,
        ("address: 10.0.0.1,", "address: 10.0.0.12,"),
        "address-duplicate",
        "use unused addresses, such as 10.0.0.15 to 10.0.0.18",
    ),
    "an address of one host in use": (
        TINY,
        ("nodes:\n", "nodes:\n  - {name: login, type: service, address: 10.0.0.1}\n"),
        "address-duplicate",
        "use an unused address, such as 10.0.0.2",
    ),
    "the router's address": (
        TINY,
        ("/24}", "/24, gateway: 10.0.0.1}"),
        "address-reserved",
        "use an unused address, such as 10.0.0.2",
    ),
    "no address left": (
        TINY,
        ("10.0.0.0/24", "10.0.0.8/29"),
        "address-outside-network",
        "use an address from 10.0.0.9 to 10.0.0.14",
    ),
    "another system of a vendor": (
        TINY,
        ("dgx-h100", "dell-r760xa"),
        "system-unknown",
        "the catalogue's dell systems: dell-xe8545, dell-xe9680; run clustergen catalogue systems for all names, or"
        " define it under catalogue.systems, or set cpu, memory and gpus here",
    ),
}


@pytest.mark.parametrize("name", HINTS)
def test_hint(name: str, tmp_path: Path) -> None:
    text, edit, code, hint = HINTS[name]
    path = tmp_path / "manifest.yaml"
    path.write_text(changed(text, edit))
    hints = [(item.code, item.hint) for item in validate(path).diagnostics if item.code == code]
    assert hints[:1] == [(code, hint)]
    if code != "type-wrong":
        assert "type-wrong" not in [item.code for item in validate(path).diagnostics]


def test_a_network_without_free_addresses(tmp_path: Path) -> None:
    text = changed(TINY, ("10.0.0.0/24", "10.0.0.0/30"), ("gpu[1-4]", "gpu1"), ("10.0.0.[11-14]", "10.0.0.1"))
    text += "host: {hosts_file: false}\n"
    path = tmp_path / "manifest.yaml"
    path.write_text(changed(text, ("nodes:\n", "nodes:\n  - {name: login, type: service, address: 10.0.0.2}\n")))
    assert [item.hint for item in validate(path).diagnostics if item.code == "address-duplicate"] == [
        "use a larger network: 10.0.0.0/30 has no unused address"
    ]
