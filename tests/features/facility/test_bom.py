"""The bill of materials against the bill of NVIDIA's reference architecture, and its counting rules."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from clustergen.catalogue.cabling import choices
from clustergen.facility.model import Cable, End
from clustergen.features.facility import checks
from clustergen.features.facility.bill import bill, pieces
from clustergen.verify.files import Entry
from facility.test_cables import superpod
from strategies.inventories import compiled
from strategies.trees import codes_of, manifest, tree_of


def bill_of(data: dict[str, Any], directory: Any) -> list[dict[str, str]]:
    text = tree_of(data, directory).files["facility/bom.csv"].content.decode()
    return list(csv.DictReader(io.StringIO(text)))


def spread_superpod() -> dict[str, Any]:
    """127 DGX H100 with a rack for each switch, so far apart that all links are optical."""
    data = superpod(racks="s[01-48]")
    data["racks"] = {**data["racks"], "s[01-48]": {"units": 48, "row": "s"}}
    data["facility"] = {"cabling": {"overhead": 4}}
    return data


@pytest.fixture(scope="module")
def spread(tmp_path_factory):
    return bill_of(spread_superpod(), tmp_path_factory.mktemp("spread"))


@pytest.mark.slow
def test_the_bill_of_four_scalable_units(spread):
    """Reference architecture of the DGX SuperPOD with H100: 2040 fibres, 1536 modules in switches, 508 in systems."""
    counts = {row["part"]: int(row["count"]) for row in spread if row["category"] == "module"}
    assert counts == {"MMA4Z00-NS": 1536, "MMA4Z00-NS-FLT": 508}
    assert sum(int(row["count"]) for row in spread if row["category"] == "fibre") == 2040
    assert {row["category"] for row in spread} == {"system", "switch", "module", "fibre", "rack", "cord"}
    by_item = {row["item"]: int(row["count"]) for row in spread if row["category"] in ("system", "switch", "rack")}
    assert by_item == {"dgx-h100": 127, "service": 1, "qm9700": 48, "rack-48u": 83}
    assert [(row["item"], row["count"]) for row in spread if row["category"] == "cord"] == [
        ("cord-c14", "96"),
        ("cord-c20", str(127 * 6)),
    ]


@pytest.mark.slow
def test_spares_and_prices(spread, tmp_path):
    data = spread_superpod()
    data["facility"] |= {
        "spares": "2%",
        "prices": {"currency": "EUR", "items": {"dgx-h100": 1000, "mma4z00-ns": 10, "mm-ndr-fibre": 2}},
    }
    rows = bill_of(data, tmp_path)
    module = next(row for row in rows if row["item"] == "mma4z00-ns")
    assert (module["count"], module["spares"], module["order"]) == ("1536", "31", "1567")
    assert (module["price"], module["cost"], module["currency"]) == ("10.00", "15670.00", "EUR")
    fibres = [int(row["order"]) for row in rows if row["category"] == "fibre"]
    assert all(int(row["spares"]) >= 0.02 * int(row["count"]) for row in rows if row["category"] == "fibre")
    assert rows[-1]["category"] == "total"
    assert float(rows[-1]["cost"]) == 127_000 + 15_670 + 2 * sum(fibres)


@pytest.mark.slow
def test_a_price_of_one_length_goes_first(tmp_path):
    data = spread_superpod()
    lengths = {row["length"] for row in bill_of(data, tmp_path) if row["category"] == "fibre"}
    one = min(lengths, key=float)
    data["facility"]["prices"] = {"currency": "EUR", "items": {"mm-ndr-fibre": 2, f"mm-ndr-fibre-{float(one):g}m": 1}}
    prices = {row["length"]: row["price"] for row in bill_of(data, tmp_path) if row["category"] == "fibre"}
    assert prices == {length: "1.00" if length == one else "2.00" for length in lengths}


def link(number: int, cage: str, medium: Any, to: tuple[str, int, str], length: float = 1.0) -> Cable:
    host, port, switch_cage = to
    a = End(host or "node", f"p{number}", number, cage, "qsfp112")
    b = End("leaf", str(port), port, switch_cage, "osfp-twin")
    return Cable("fabric", "infiniband", 0, a, b, medium.gbit, length, length, medium)


@pytest.mark.parametrize(
    ("gbit", "ends", "links", "copper"),
    [
        # Straight copper between twin cages carries two links in one assembly.
        (400, ("osfp-twin", "osfp-twin"), 2, 1),
        # A splitter has its one plug in the switch cage and two at the nodes.
        (400, ("osfp-twin", "qsfp112"), 2, 1),
        (400, ("osfp-twin", "qsfp112"), 1, 1),
        # HDR: one link, one cable.
        (200, ("qsfp56", "qsfp56"), 2, 2),
    ],
)
def test_assemblies(gbit, ends, links, copper):
    medium = choices(gbit, "infiniband", *ends)[0]
    assert not medium.fibre
    twin = ends[0] == ends[1] == "osfp-twin"
    cables = [
        link(n, "1" if twin else str(n), medium, ("node" if twin else f"n{n}", n, "1")) for n in range(1, links + 1)
    ]
    assert {piece.category: count for piece, count in pieces(cables).items()} == {"cable": copper}


def test_a_splitter_fibre_serves_two_nodes_of_one_switch_port():
    medium = next(one for one in choices(200, "infiniband", "osfp-twin", "qsfp112") if one.fibre)
    assert medium.is_splitter
    cables = [link(1, "1", medium, (f"n{n}", (n + 1) // 2, "1"), 5.0 + n) for n in range(1, 5)]
    fibres = {piece.length_m: count for piece, count in pieces(cables).items() if piece.category == "fibre"}
    assert fibres == {7.0: 1, 9.0: 1}
    modules = {piece.part: count for piece, count in pieces(cables).items() if piece.category == "module"}
    assert modules == {"MMA4Z00-NS": 1, "MMA1Z00-NS400": 4}


def test_machines_that_do_not_exist_yet_are_not_bought(tmp_path):
    data = manifest(racks={"r1": {"nodes": "head"}})
    data["nodes"][1] |= {"state": "FUTURE"}
    assert [row["item"] for row in bill_of(data, tmp_path) if row["category"] == "system"] == ["service"]


def test_trays_are_bought_as_the_rack_that_they_are_sold_in(tmp_path):
    racks = {"r[1-2]": {"nodes": "c[1-20]", "units": 48}}
    data = manifest(node_types={"gpu": {"system": "gb200-nvl72-tray"}}, racks=racks)
    data["nodes"][1] |= {"name": "c[1-20]", "address": "10.0.0.[11-30]"}
    rows = [(row["item"], row["count"], row["note"]) for row in bill_of(data, tmp_path) if row["category"] == "system"]
    assert rows == [
        ("gb200-nvl72-rack", "2", "20 trays of node type gpu, 18 in a rack"),
        ("service", "1", "node type service has no catalogue system"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prices", "codes"),
    [
        ({"items": {"dgx-h100": 400_000}, "budget": 50_000_000}, ["over-budget"]),
        ({"items": {"dgx-h100": 300_000}, "budget": 50_000_000}, ["budget-incomplete"]),
        ({"items": {"dgx-h100": 300_000}}, []),
        ({"items": {"dgx-h10": 300_000}}, ["price-unused"]),
        # 127 systems for 38.1 to 50.8 million, and with 5 % and 19 % for 47.6 to 63.5 million.
        ({"items": {"dgx-h100": {"low": 300_000, "high": 400_000}}, "budget": 50_000_000}, ["over-budget"]),
        ({"items": {"dgx-h100": 300_000}, "contingency": "5%", "tax": "19%", "budget": 47_600_000}, ["over-budget"]),
        (
            {"items": {"dgx-h100": 300_000}, "contingency": "5%", "tax": "19%", "budget": 47_700_000},
            ["budget-incomplete"],
        ),
        ({"items": {"dgx-h100": {"low": 2, "high": 1}}}, ["price-range"]),
    ],
)
def test_prices_are_checked(prices, codes, tmp_path):
    data = spread_superpod()
    data["facility"]["prices"] = {"currency": "EUR", **prices}
    about_prices = [code for code in codes_of(data, tmp_path) if code != "rack-empty"]
    assert about_prices == codes


def test_home_clusters_have_no_bill(tmp_path):
    assert "facility/bom.csv" not in tree_of(manifest(), tmp_path).files


def test_the_note_of_a_system_is_the_configuration_to_order(tmp_path):
    """Fields of the node type beside its system; empty if it has none."""
    gpu = {
        "system": "hgx-h100-8",
        "cpu": {"model": "Xeon Platinum 8592+", "sockets": 2, "cores_per_socket": 64},
        "memory": "1.5TiB",
        "nics": [{"device": "mlx5_0", "model": "cx7"}, {"device": "mlx5_1", "model": "cx7"}],
        "disks": [{"device": "nvme0n1", "size": "3.84TB"}, {"device": "nvme1n1", "size": "7.68TB", "use": "scratch"}],
        "power": {"psus": 6, "psu": "3kW"},
    }
    rows = bill_of(manifest(node_types={"gpu": gpu}, racks={"r1": {"nodes": "c[1-4]"}}), tmp_path)
    notes = {row["item"]: row["note"] for row in rows if row["category"] == "system"}
    assert notes["hgx-h100-8"] == (
        "node type gpu; with 2 x Xeon Platinum 8592+ (64 cores), 1.5TiB, NIC ports 2 x cx7,"
        " disks 1 x 3.84TB (system) + 1 x 7.68TB (scratch), 6 power supplies of 3kW"
    )
    assert notes["service"] == "node type service has no catalogue system"


@pytest.mark.slow
def test_the_pdus_of_the_reference_architecture() -> None:
    """RA-11333-001, bill of materials: 96 PDUs in 32 compute racks."""
    cluster = compiled("superpod-h100")[0].cluster
    assert cluster is not None
    (pdu,) = [item for item in bill(cluster) if item.item == "raritan-px3-5878i2r"]
    assert (pdu.count, pdu.part) == (96, "Raritan PX3-5878I2R-P1Q2R1A15D5")
    assert "6 x C13 and 18 x C19" in pdu.description


PRICES = {
    "currency": "EUR",
    "items": {
        "dgx-h100": {"low": 250_000, "high": 300_000},
        "service": 8000,
        "connectx-7": {"low": 1500, "high": 2000},
    },
    "contingency": "5%",
    "tax": "19%",
}


def four(**prices: Any) -> dict[str, Any]:
    data = manifest(node_types={"gpu": {"system": "dgx-h100"}}, racks={"r1": {"nodes": "c[1-4]"}})
    return {**data, "facility": {"prices": {**PRICES, **prices}}}


def test_sums_carry_both_bounds_and_what_comes_on_top(tmp_path):
    """Four systems, a head and 40 adapters: (1,068,000 to 1,288,000) x 1.05 x 1.19."""
    rows = {row["category"]: row for row in bill_of(four(), tmp_path) if row["cost"]}
    assert (rows["system"]["price"], rows["adapter"]["count"]) == ("8000.00", "40")
    bounds = {name: (float(rows[name]["cost"]), float(rows[name]["cost_high"])) for name in SUMS}
    assert bounds["lines"] == (1_068_000, 1_288_000)
    assert bounds["contingency"] == (53_400, 64_400)
    assert bounds["tax"] == pytest.approx((1_121_400 * 0.19, 1_352_400 * 0.19))
    assert bounds["total"] == pytest.approx((1_121_400 * 1.19, 1_352_400 * 1.19))


SUMS = ("lines", "contingency", "tax", "total")


def test_adapters_are_a_line_once_they_have_a_price(tmp_path):
    rows = bill_of(four(items={"dgx-h100": 1}), tmp_path)
    assert "adapter" not in {row["category"] for row in rows}


def test_ports_of_one_card_are_one_adapter(tmp_path):
    nics = [
        {"device": "mlx5_0", "interface": "enp65s0f0np0", "model": "cx6-dx", "network": "management"},
        {"device": "mlx5_1", "interface": "enp65s0f1np1", "model": "cx6-dx", "network": "management"},
        {"device": "mlx5_2", "interface": "ibp1s0", "model": "cx7"},
    ]
    data = four(items={"connectx-6-dx": 1, "connectx-7": 1})
    data["node_types"]["gpu"]["nics"] = nics
    counts = {row["item"]: row["count"] for row in bill_of(data, tmp_path) if row["category"] == "adapter"}
    assert counts == {"connectx-6-dx": "4", "connectx-7": "4"}


@pytest.mark.slow
def test_the_report_has_flops_for_the_price_of_a_node_and_the_network_apart(tmp_path):
    """989.4 TFLOPS x 8 for 250,000 to 300,000."""
    page = tree_of(four(), tmp_path).files["facility/README.md"].content.decode()
    row = next(line for line in page.splitlines() if line.startswith("| gpu | fp16 "))
    assert "| 26.4 TFLOPS to 31.7 TFLOPS |" in row or "| 26.4 TFLOPS to 31.6 TFLOPS |" in row
    assert "| network: adapters, switches, cables | 60,000.00 to 80,000.00 |" in page
    assert "| tax, 19 % |" in page


def test_billing_takes_the_middle_of_a_range(tmp_path):
    middle = tree_of(four(items={"dgx-h100": 275_000}), tmp_path).files["overlays/slurm_node/etc/slurm/slurm.conf"]
    ranged = tree_of(four(items={"dgx-h100": {"low": 250_000, "high": 300_000}}), tmp_path)
    assert ranged.files["overlays/slurm_node/etc/slurm/slurm.conf"].content == middle.content


@pytest.mark.parametrize(
    ("old", "new"), [(",19 %", ",19 %"), ("1,068", "x"), ("1068000.00", "1068001.00"), ("1288000.00", "1.00")]
)
def test_verify_adds_up_both_bounds(old, new, tmp_path):
    text = tree_of(four(), tmp_path).files["facility/bom.csv"].content.decode()
    wrong = text.replace(old, new)
    entries = [Entry("facility/bom.csv", wrong.encode())]
    assert bool(list(checks._bill_complaints(entries))) == (wrong != text)
