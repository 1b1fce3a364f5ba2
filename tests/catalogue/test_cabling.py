"""Connectors, cables and transceivers: every port of the catalogue can be cabled, and lengths and reach agree."""

import pytest

from clustergen.catalogue import cabling, hardware, systems

CONNECTORS = cabling.connectors()
FABRICS = ("infiniband", "ethernet")
SWITCHES = [switch for switch in hardware.switches().values() if switch.fabric in FABRICS]


def media_at(gbit: int, fabric: str, connector: str) -> set[str]:
    """Media that join a cage with any other at that rate."""
    return {medium.id for other in CONNECTORS for medium in cabling.choices(gbit, fabric, connector, other)}


@pytest.mark.parametrize("connector", CONNECTORS.values(), ids=lambda c: c.id)
def test_a_cage_takes_its_own_plug_first(connector: cabling.Connector) -> None:
    assert connector.plugs[0] == connector.id
    assert set(connector.plugs) <= set(CONNECTORS)
    assert connector.ports in (1, 2)


@pytest.mark.parametrize("cable", cabling.cables().values(), ids=lambda c: c.id)
def test_a_cable_has_plugs_or_transceivers_and_its_links_fit(cable: cabling.Cable) -> None:
    assert cable.medium in cabling.media()
    assert set(cable.fabrics) <= set(FABRICS)
    assert cable.gbits
    assert cable.reach_m > 0
    assert all(length <= cable.reach_m for length in cable.stock_m)
    assert list(cable.stock_m) == sorted(set(cable.stock_m))
    modules = cabling.transceivers().get(cable.id, ())
    if cable.plug_a:
        assert {cable.plug_a, cable.plug_b} <= set(CONNECTORS)
        assert not modules
        assert not cable.fibre
        assert cable.family
        assert cable.ports_a == cable.links
        assert cable.ports_b == (1 if cable.is_splitter else cable.links)
    else:
        assert modules
        assert cable.fibre
        assert len({module.connector for module in modules}) == len(modules)
        for module in modules:
            assert module.connector in CONNECTORS
            assert module.ports % cable.links == 0 or module.ports == 1
    assert cable.is_splitter == (cable.links > 1 and cable.ports_b in (None, 1))


def test_every_family_of_transceivers_is_a_cable() -> None:
    assert set(cabling.transceivers()) <= set(cabling.cables())


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda s: s.id)
def test_ports_of_a_switch_fill_its_cages_and_can_be_cabled(switch: hardware.Switch) -> None:
    assert switch.cages is not None
    assert switch.ports_per_cage is not None
    assert switch.port_gbit is not None
    assert switch.ports == switch.cages * switch.ports_per_cage
    assert switch.ports_per_cage <= CONNECTORS[switch.cage].ports
    assert cabling.choices(switch.port_gbit, switch.fabric, switch.cage, switch.cage)
    assert bool(switch.uplink_ports) == bool(switch.uplink_gbit) == bool(switch.uplink_cage)
    if switch.uplink_gbit:
        assert cabling.choices(switch.uplink_gbit, switch.fabric, switch.uplink_cage, switch.uplink_cage)
    if switch.power_typ_w and switch.power_max_w:
        assert switch.power_typ_w < switch.power_max_w


@pytest.mark.parametrize("nic", [n for n in hardware.nics().values() if n.connector], ids=lambda n: n.id)
def test_every_connector_of_an_adapter_can_be_cabled(nic: hardware.Nic) -> None:
    rates = {int(layout.partition("x")[2]) for layout in nic.port_layouts}
    fabrics = ["infiniband"] * bool(nic.infiniband) + ["ethernet"] * nic.ethernet
    for connector in (nic.connector, *nic.connector_options):
        media = {rate: {m for fabric in fabrics for m in media_at(rate, fabric, connector)} for rate in rates}
        assert any(media.values()), connector


@pytest.mark.parametrize("ident", systems.system_ids())
def test_every_port_of_a_system_can_be_cabled(ident: str) -> None:
    system = systems.system(ident)
    assert system is not None
    for port in system.nics:
        assert port.gbit is not None
        assert port.link in ("", *FABRICS)
        fabrics = [port.link] if port.link else FABRICS
        assert {m for fabric in fabrics for m in media_at(port.gbit, fabric, port.connector)}, port.label


@pytest.mark.parametrize("gbit", sorted({gbit for cable in cabling.cables().values() for gbit in cable.gbits}))
@pytest.mark.parametrize("fabric", FABRICS)
def test_choices_are_alike_from_both_ends(gbit: int, fabric: str) -> None:
    order = cabling.media()
    for a in CONNECTORS:
        for b in CONNECTORS:
            forth, back = cabling.choices(gbit, fabric, a, b), cabling.choices(gbit, fabric, b, a)
            assert [medium.id for medium in forth] == [medium.id for medium in back]
            ranks = [order.index(medium.medium) for medium in forth]
            assert ranks == sorted(ranks)
            for medium, turned in zip(forth, back, strict=True):
                cable = cabling.cables()[medium.id]
                if not cable.is_splitter or cable.plug_a != cable.plug_b:  # else end a has the single plug
                    ends = (medium.module_a, medium.ports_a, medium.watts_a)
                    assert ends == (turned.module_b, turned.ports_b, turned.watts_b)
                assert medium.stock_m
                assert medium.gbit == gbit


@pytest.mark.parametrize(
    ("gbit", "fabric", "a", "b", "expected"),
    [  # what NVIDIA's bills of material and tables of cables name for these pairs
        (400, "infiniband", "osfp-twin", "osfp-twin", "dac-ndr-twin acc-ndr-twin mm-ndr sm-ndr sm-ndr-500m sm-ndr-2km"),
        (400, "infiniband", "osfp-twin", "osfp-twin-flat", "acc-ndr-twin-flat mm-ndr sm-ndr sm-ndr-500m"),
        (400, "ethernet", "osfp-twin", "qsfp112", "dac-ndr-split-qsfp112 mm-ndr sm-ndr"),
        (200, "infiniband", "osfp-twin", "qsfp56", "dac-ndr-hdr aoc-ndr-hdr"),
        (200, "infiniband", "qsfp56", "osfp", ""),  # a QSFP56 plug fits no OSFP cage
        (400, "ethernet", "qsfp-dd", "qsfp112", ""),
    ],
)
def test_choices_between_two_cages(gbit: int, fabric: str, a: str, b: str, expected: str) -> None:
    assert [medium.id for medium in cabling.choices(gbit, fabric, a, b)] == expected.split()


def test_modules_of_a_superpod_are_those_of_its_bill_of_material() -> None:
    (fibre,) = (m for m in cabling.choices(400, "infiniband", "osfp-twin", "osfp-twin-flat") if m.id == "mm-ndr")
    assert (fibre.module_a, fibre.module_b, fibre.fibre) == ("MMA4Z00-NS", "MMA4Z00-NS-FLT", "MFP7E10-N")
    assert (fibre.ports_a, fibre.ports_b, fibre.links, fibre.watts_a) == (2, 2, 1, 17)
    assert fibre.netbox_type == "mmf-om4"


@pytest.mark.parametrize(
    ("switch", "gbit", "expected"), [("qsfp56", 200, "qsfp112"), ("osfp-twin", 400, "osfp"), ("qsfp28", 400, "osfp")]
)
def test_an_adapter_with_several_cages_has_the_one_that_its_switch_asks_for(
    switch: str, gbit: int, expected: str
) -> None:
    nic = hardware.nics()["connectx-7"]
    sold = (nic.connector, *nic.connector_options)
    assert cabling.fitting_connector(sold, switch, gbit, "infiniband") == expected


def test_a_length_is_taken_from_stock() -> None:
    dac, *_ = cabling.choices(400, "infiniband", "osfp-twin", "osfp-twin")
    assert [cabling.stock_length(metres, dac) for metres in (0, 1, 1.01, 2, 2.01)] == [1, 1, 2, 2, None]
    for metres in (-0.1, float("nan")):
        with pytest.raises(ValueError, match="not a length"):
            cabling.stock_length(metres, dac)


def test_an_unknown_connector_is_an_error_and_an_empty_one_fits_nothing() -> None:
    with pytest.raises(ValueError, match="'qsfp114' is not a connector; known are rj45, "):
        cabling.choices(200, "infiniband", "qsfp56", "qsfp114")
    assert cabling.choices(200, "infiniband", "qsfp56", "") == ()
