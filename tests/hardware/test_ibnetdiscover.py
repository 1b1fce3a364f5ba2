"""The reader of ibnetdiscover: what real fabrics print, and what is no output of it, ends in facts or in findings."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustergen.diagnostics import CODES, Diagnostic
from clustergen.hardware import ibnetdiscover
from clustergen.hardware.model import SWITCH
from clustergen.hardware.names import device_label, nic_of, switch_name
from strategies.fabric_nets import Net
from strategies.findings import placed_words, words
from strategies.reviewed import same

# As a managed switch with SHARP, a node that nobody named, a grouped chassis port and a management host print it.
MESS = """\
#
# Topology file: generated on Sun Nov 22 22:00:00 2026
#
# Initiated from node 0c42a10300aa0001 port 0c42a10300aa0002

vendid=0x2c9
devid=0xd2f2
sysimgguid=0x1c34da0300550000
switchguid=0x1c34da0300550000(1c34da0300550000)\t# Chassis 1 Slot 2
Switch\t65 "S-1c34da0300550000"\t\t# "MF0;row "a" leaf 1:MQM9700/U1" enhanced port 0 lid 3 lmc 0
[1]\t"H-0c42a10300aa0001"[1](c42a10300aa0002) \t\t# "gpu1 mlx5_0" lid 5 4xNDR
[2][ext 7]\t"H-0c42a10300aa0011"[1](c42a10300aa0012) \t\t# "MT4129 ConnectX7   Mellanox Technologies" lid 6 2xNDR
[40]\t"S-1c34da0300660000"[1]\t\t# "spine1" lid 4 4xXYZ
[65]\t"H-1c34da0300550010"[1](1c34da0300550010) \t\t# "Mellanox Technologies Aggregation Node" lid 9 4xNDR

switchguid=0x1c34da0300660000(1c34da0300660000)
Switch\t64 "S-1c34da0300660000"\t\t# "spine1" base port 0 lid 4 lmc 0
[1]\t"S-1c34da0300550000"[40]\t\t# "MF0;row "a" leaf 1:MQM9700/U1" lid 3 4xXYZ

caguid=0xc42a10300aa0001
Ca\t1 "H-0c42a10300aa0001"\t\t# "gpu1 mlx5_0"
[1](c42a10300aa0002) \t"S-1c34da0300550000"[1]\t\t# lid 5 lmc 0 "MF0;row "a" leaf 1:MQM9700/U1" lid 3 4xNDR

caguid=0xc42a10300aa0011
Ca\t2 "H-0c42a10300aa0011"\t\t# "MT4129 ConnectX7   Mellanox Technologies"
[1](c42a10300aa0012) \t"S-1c34da0300550000"[2][ext 7]\t\t# lid 6 lmc 0 "MF0;row "a" leaf 1:MQM9700/U1" lid 3 2xNDR

caguid=0x1c34da0300550010
Ca\t1 "H-1c34da0300550010"\t\t# "Mellanox Technologies Aggregation Node"
[1](1c34da0300550010) \t"S-1c34da0300550000"[65]\t\t# lid 9 lmc 0 "MF0;row "a" leaf 1:MQM9700/U1" lid 3 4xNDR
"""


def codes(raw: bytes | str) -> list[str]:
    raw = raw.encode() if isinstance(raw, str) else raw
    return [one.code for one in ibnetdiscover.read(raw, "fabric.txt")[1]]


def test_devices_ports_and_rates() -> None:
    facts, diagnostics = ibnetdiscover.read(MESS.encode(), "fabric.txt")
    assert facts is not None
    assert not diagnostics
    assert facts.is_complete
    leaf = facts.devices["S-1c34da0300550000"]
    assert (leaf.kind, leaf.name, leaf.line) == (SWITCH, 'MF0;row "a" leaf 1:MQM9700/U1', 10)
    links = {(link.a, link.b): (link.rate, link.gbit) for link in facts.links}
    assert len(links) == 4
    rates = {link.rate: link.gbit for link in facts.links}
    assert rates == {"4xNDR": 400, "2xNDR": 200, "4xXYZ": None}


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("Switch\t", "\x1b[1;32mSwitch\x1b[0m\t"),
        lambda text: f"\n\n{text}\n\n",
    ],
    ids=["CRLF", "byte order mark", "colours", "blank lines"],
)
def test_additions_of_terminals_and_editors_change_nothing(spoilt: object) -> None:
    assert callable(spoilt)
    facts, diagnostics = ibnetdiscover.read(spoilt(MESS).encode(), "fabric.txt")
    plain, _ = ibnetdiscover.read(MESS.encode(), "fabric.txt")
    assert facts is not None
    assert plain is not None
    assert not diagnostics
    assert [(link.a, link.b, link.rate) for link in facts.links] == [
        (link.a, link.b, link.rate) for link in plain.links
    ]


OTHERS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "empty"),
    "blank lines": (b" \n\n", "empty"),
    "a program": (b"\x7fELF\0\0\0\1" * 100, "not text"),
    "UTF-16": ("Ünïcode\n".encode("utf-16"), "not text"),
    "no characters": (b"\xff\xfe\xfd" * 50, "not output of ibnetdiscover"),
    "a manifest": (b"name: my-cluster\nos: debian-13\n", "not output of ibnetdiscover"),
    "a port alone": (b"[1]\t\"S-01\"[2]\t# \"leaf\" lid 1 4xNDR\n", "not output of ibnetdiscover"),
    "ibswitches": (b"Switch\t: 0x1c34da0300550000 ports 64 \"leaf\" enhanced port 0 lid 3 lmc 0\n", "ibswitches"),
    "a row": (b"CA    14  1 0x0c42a10300aa0001 4x NDR - SW    3  1 0x1c34 ( 'n1' - 'leaf' )\n", "ibnetdiscover -p"),
    "iblinkinfo": (b"CA: gpu1 mlx5_0:\n   0x0c42  5 1[  ] ==( 4X 106.25 Gbps Active/  LinkUp)==>  3\n", "iblinkinfo"),
    "ibsim": (b'Switch 64 "leaf"\n[1] "gpu1 mlx5_0"[1]\n', "ibsim"),
    "lldpcli": (b'{"lldp": {}}', "lldpcli"),
    "too many bytes": (b"x" * (ibnetdiscover.MOST_BYTES + 1), "bytes"),
    "too many lines": (b"\n" * (ibnetdiscover.MOST_LINES + 1) + b"x", "lines"),
}  # fmt: skip


def of_other(name: str) -> list[Diagnostic]:
    facts, listed = ibnetdiscover.read(OTHERS[name][0], "fabric.txt")
    assert facts is None
    return listed


@pytest.mark.parametrize("name", OTHERS)
def test_other_files_are_named_by_their_kind(name: str) -> None:
    (one,) = of_other(name)
    assert one.code == "discovery-unreadable"
    assert OTHERS[name][1] in one.message
    same("cabling", words([one]))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_a_cut_off_file_is_no_complete_fabric(share: float) -> None:
    net = Net({"leaf1": 4, "leaf2": 4, "spine1": 4})
    for number in (1, 2):
        net.join((f"gpu{number} mlx5_0", 1), (f"leaf{number}", 1))
        net.join((f"leaf{number}", 4), ("spine1", number))
    text = net.discovered()
    facts, diagnostics = ibnetdiscover.read(text[: int(len(text) * share)].encode(), "fabric.txt")
    assert facts is not None
    assert not facts.is_complete
    assert "discovery-incomplete" in [one.code for one in diagnostics]


SPOILT = {
    "messages": MESS.replace(
        "\nvendid", "\nibwarn: [12] mad_rpc: _do_madrpc failed; dport (DR path 0,1,3)\nvendid"
    ) + "error\n",
    "two ends disagree": MESS.replace('[1]\t"S-1c34da0300550000"[40]', '[1]\t"S-1c34da0300550000"[41]'),
    "a port twice": MESS.replace('[40]\t"S-', '[1]\t"S-'),
    "two outputs": MESS + MESS.replace('[1]\t"H-0c42a10300aa0001"', '[1]\t"H-0c42a10300aa0011"'),
    "cut off": MESS[: len(MESS) // 2],
}  # fmt: skip


def of_spoilt(name: str) -> list[Diagnostic]:
    return ibnetdiscover.read(SPOILT[name].encode(), "fabric.txt")[1]


@pytest.mark.parametrize("name", SPOILT)
def test_spoilt_lines_are_reported(name: str) -> None:
    """With the first of their lines."""
    same("cabling", placed_words(of_spoilt(name)))


@pytest.mark.slow
@given(st.binary(max_size=400))
def test_any_bytes_end_in_findings(raw: bytes) -> None:
    assert all(code in CODES for code in codes(raw))


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, len(MESS) - 1), st.binary(max_size=6)), max_size=4))
def test_any_damage_ends_in_findings(changes: list[tuple[int, bytes]]) -> None:
    raw = MESS.encode()
    for at, piece in changes:
        raw = raw[:at] + piece + raw[at + len(piece) :]
    assert all(code in CODES for code in codes(raw))


@pytest.mark.slow
def test_hostile_sizes_take_seconds() -> None:
    start = time.process_time()
    line = b'[1]\t"H-' + b"a" * 200
    for raw in (line * 150_000, (line + b"\n") * 150_000, b'Switch\t64 "' * 3_000_000, b"#" * ibnetdiscover.MOST_BYTES):
        codes(raw)
    assert time.process_time() - start < 20


@pytest.mark.parametrize(
    ("description", "host", "label"),
    [
        ("gpu1 mlx5_0", "gpu1", "mlx5_0"),
        ("gpu1 HCA-3", "gpu1", "HCA-3"),
        ("gpu1.example.org ibp24s0", "gpu1.example.org", "ibp24s0"),
        ("gpu1", "gpu1", ""),
    ],
)
def test_names_of_nodes(description: str, host: str, label: str) -> None:
    assert nic_of(description) == (host, label)


@pytest.mark.parametrize(
    "description", ["MT4129 ConnectX7   Mellanox Technologies", "localhost HCA-1", "localhost mlx5_0", "", "  "]
)
def test_names_without_an_adapter(description: str) -> None:
    assert nic_of(description) is None


def test_other_spellings() -> None:
    assert device_label("HCA-1") == "mlx5_0"
    assert device_label("ibp24s0") == "ibp24s0"
    assert switch_name("MF0;A09-LEAF-01:MQM9701/U1") == "A09-LEAF-01"
    assert switch_name("leaf1") == "leaf1"
    assert switch_name("Quantum Mellanox Technologies") == ""


@pytest.mark.parametrize("limit", ["MOST_LINKS", "MOST_DEVICES"])
def test_devices_and_links_have_limits(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ibnetdiscover, limit, 3)
    facts, (finding,) = ibnetdiscover.read(MESS.encode(), "fabric.txt")
    assert facts is None
    assert finding.code == "discovery-unreadable"
    assert "more than 3 " in finding.message
