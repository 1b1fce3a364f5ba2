"""Names and addresses: unusual but valid ones have no finding; a mistake is reported once, at its place."""

from __future__ import annotations

import pytest

from strategies.findings import TINY, changed, findings, reviewed_findings

MANAGEMENT = "  management: {cidr: 10.0.0.0/24}\n"
RAILS = changed(
    TINY,
    (
        MANAGEMENT,
        MANAGEMENT + "  fabric: {type: roce, cidr: 10.1.0.0/16, rails: [10.1.0.0/24, 10.1.1.0/24]}\n",
    ),
    ("{system: dgx-h100}", "{system: dgx-h100, nics: [{device: mlx5_0}, {device: mlx5_1}]}"),
    ('"10.0.0.[11-14]"}', '"10.0.0.[11-14]", addresses: {fabric: ["10.1.0.[1-4]", "10.1.1.[1-4]"]}}'),
)
SIX = changed(
    TINY, ("10.0.0.0/24", "fd00::/64"), ("address: 10.0.0.1,", 'address: "fd00::a",'), ("10.0.0.[11-14]", "fd00::[1-4]")
)

NAMED_AS_A_NODE = 'switches: [{name: head, model: qm9700, nodes: "gpu[1-4]"}]'

RIGHT = {
    "ipv6": SIX,
    "ipv6 with a gateway": changed(SIX, ("{cidr: fd00::/64}", '{cidr: fd00::/64, gateway: "fd00::ffff"}')),
    "rails inside the fabric's network": RAILS,
    "routers of the rails": changed(RAILS, ("rails: [", "gateways: [10.1.0.254, 10.1.1.254], rails: [")),
    "one router for all rails": changed(RAILS, ("rails: [", "gateway: 10.1.9.1, rails: [")),
    "a service machine on the fabric": changed(
        RAILS, ("address: 10.0.0.1,", "address: 10.0.0.1, addresses: {fabric: 10.1.0.99},")
    ),
    "a link of two hosts": changed(
        TINY,
        ("10.0.0.0/24", "10.0.0.0/31"),
        ("address: 10.0.0.1,", "address: 10.0.0.0,"),
        ("gpu[1-4]", "gpu1"),
        ("10.0.0.[11-14]", "10.0.0.1"),
    ),
    "BMCs in the management network": changed(
        TINY,
        (MANAGEMENT, MANAGEMENT + "  bmc: {}\n"),
        ('"10.0.0.[11-14]"}', '"10.0.0.[11-14]", addresses: {bmc: "10.0.0.[111-114]"}}'),
    ),
    "nodes of a cloud get their addresses later": changed(
        TINY,
        ('address: "10.0.0.[11-14]"}', "state: CLOUD}"),
        ('"24.11"}', '"24.11", options: {resumeprogram: /on, SuspendProgram: /off, SuspendTime: 600}}'),
    ),
    "power saving of one partition": changed(
        TINY,
        ('address: "10.0.0.[11-14]"}', "state: CLOUD}"),
        (
            '"24.11"}',
            '"24.11", options: {ResumeProgram: /on, SuspendProgram: /off},'
            " partitions: {p: {nodes: all, options: {SuspendTime: 600}}}}",
        ),
    ),
    "a network without its size": changed(TINY, ("{cidr: 10.0.0.0/24}", "{domain: cluster.test}")),
    "names of different width": changed(TINY, ("gpu[1-4]", "gpu[8-11]")),
    "a suffix that this Slurm reads": changed(TINY, ("gpu[1-4]", "gpu[1-4]-x")),
    "a host called like a role, nearly": changed(TINY, ("name: head", "name: login1")),
}

WRONG = {
    "rails in which no node has an address": (
        changed(RAILS, (', addresses: {fabric: ["10.1.0.[1-4]", "10.1.1.[1-4]"]}', "")),
        [("rail-without-addresses", '{name: "gpu[1-4]", type: h100, address: "10.0.0.[11-14]"}')],
    ),
    "nodes of a cloud that nothing starts": (
        changed(
            TINY,
            ('address: "10.0.0.[11-14]"}', "state: CLOUD}"),
            ('"24.11"}', '"24.11", options: {ResumeProgram: /on, SuspendProgram: /off, SuspendTime: -1}}'),
        ),
        [("cloud-without-power-saving", "CLOUD")],
    ),
    "logins by job on a system with SELinux": (
        changed(TINY, ("debian-12", "rocky-9"), ('"24.11"', '"24.11", build: schedmd')),
        [("ssh-adopt-selinux", "rocky-9")],
    ),
    "ipv6, twice in two spellings": (
        changed(SIX, ('"fd00::a"', '"fd00:0:0::2"')),
        [("address-duplicate", "fd00::[1-4]")],
    ),
    "ipv6 in an IPv4 network": (
        changed(TINY, ("address: 10.0.0.1,", 'address: "fd00::1",')),
        [("address-outside-network", "fd00::1")],
    ),
    "ipv6 with the number of an IPv4 address": (
        changed(TINY, ("address: 10.0.0.1,", 'address: "::a00:5",')),
        [("address-outside-network", "::a00:5")],
    ),
    "the broadcast address": (
        changed(TINY, ("address: 10.0.0.1,", "address: 10.0.0.255,")),
        [("address-reserved", "10.0.0.255")],
    ),
    "loopback": (
        changed(TINY, ("{cidr: 10.0.0.0/24}", "{}"), ("address: 10.0.0.1,", "address: 127.0.1.1,")),
        [("address-reserved", "127.0.1.1")],
    ),
    "a number too large": (changed(TINY, ("10.0.0.1,", "10.0.0.256,")), [("address-malformed", "10.0.0.256")]),
    "a router elsewhere": (
        changed(TINY, ("/24}", "/24, gateway: 10.0.1.254}")),
        [("address-outside-network", "10.0.1.254")],
    ),
    "a router with the address of its network": (
        changed(TINY, ("/24}", "/24, gateway: 10.0.0.0}")),
        [("address-reserved", "10.0.0.0")],
    ),
    "a router that is no address": (
        changed(TINY, ("/24}", "/24, gateway: 10.0.0.999}")),
        [("address-malformed", "10.0.0.999")],
    ),
    "a name server that is no address": (
        changed(TINY, ("/24}", "/24, dns: [10.0.0.53, 10.0.0.530]}")),
        [("address-malformed", "10.0.0.530")],
    ),
    "a router of a rail in another rail": (
        changed(RAILS, ("rails: [", "gateways: [10.1.1.254, 10.1.1.253], rails: [")),
        [("address-outside-network", "10.1.1.254")],
    ),
    "a rail with too few addresses says nothing of the other": (
        changed(RAILS, ('"10.1.0.[1-4]"', '"10.1.0.[1-3]"')),
        [("address-count", '"10.1.0.[1-3]"')],
    ),
    "two rails in one network": (
        changed(RAILS, ("[10.1.0.0/24, 10.1.1.0/24]", "[10.1.0.0/23, 10.1.1.0/24]")),
        [("networks-overlap", "10.1.1.0/24")],
    ),
    "a host's own address again": (
        changed(
            TINY,
            (MANAGEMENT, MANAGEMENT + "  storage: {}\n"),
            ("address: 10.0.0.1,", "address: 10.0.0.1, addresses: {storage: 10.0.0.1},"),
        ),
        [("address-duplicate", "10.0.0.1")],
    ),
    "a type that does not exist": (changed(TINY, ("type: h100,", "type: h10,")), [("node-type-unknown", "h10")]),
    "a full name": (
        changed(TINY, ("name: head", "name: head.cluster.test")),
        [("host-name-malformed", "head.cluster.test")],
    ),
    "an address for a name": (changed(TINY, ("name: head", 'name: "fe80::1"')), [("host-name-malformed", "fe80::1")]),
    "one bad name of a list": (
        changed(TINY, ("gpu[1-4]", "gpu[1-2],Gpu3,gpu4")),
        [("host-name-malformed", "Gpu3")],
    ),
    "a name twice in one list": (changed(TINY, ("gpu[1-4]", "gpu[1-3],gpu2")), [("host-duplicate", '"gpu[1-3],gpu2"')]),
    "a name of an earlier entry": (changed(TINY, ("gpu[1-4]", "gpu[1-3],head")), [("host-duplicate", "head")]),
    "a switch with the name of a node": (
        changed(TINY, (MANAGEMENT, f"{MANAGEMENT}  fabric: {{type: infiniband, rate: NDR, {NAMED_AS_A_NODE}}}\n")),
        [("host-duplicate", "head")],
    ),
    "localhost": (changed(TINY, ("name: head", "name: localhost")), [("name-reserved", "localhost")]),
    "all": (changed(TINY, ("name: head", "name: all")), [("name-reserved", "all")]),
    "a partition's list that this Slurm cannot read": (
        changed(
            TINY,
            ("gpu[1-4]", "gpu1-x,gpu2-x,gpu3-x,gpu4-x"),
            ('{version: "24.11"}', '{version: "22.05", partitions: {main: {nodes: "gpu[1-4]-x"}}}'),
        ),
        [("hostlist-not-for-slurm", "-x")],
    ),
    "a line of gres.conf": (
        changed(TINY, ('"24.11"}', '"24.11", gres_lines: [{nodename: "gpu[4-1]", Name: gpu, File: /dev/nvidia0}]}')),
        [("hostlist-not-for-slurm", "4-1")],
    ),
    "two widths": (changed(TINY, ("gpu[1-4]", "gpu[1-3],gpu04")), [("hostlist-not-for-slurm", "gpu04")]),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_manifests_have_no_finding(name: str) -> None:
    assert findings(RIGHT[name]) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_reported_once_at_its_place(name: str) -> None:
    text, expected = WRONG[name]
    assert reviewed_findings("names", name, text) == expected


def test_hundreds_of_wrong_addresses_are_one_finding() -> None:
    text = changed(TINY, ("gpu[1-4]", "gpu[1-900]"), ("10.0.0.[11-14]", "10.9.[0-8].[1-100]"))
    assert findings(text) == [("address-outside-network", "10.9.[0-8].[1-100]")]
