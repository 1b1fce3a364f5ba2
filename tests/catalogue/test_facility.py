"""Figures of machine rooms, racks that are sold whole, and NetBox's names."""

import pytest

from clustergen.catalogue import cabling, facility, hardware, netbox, systems
from clustergen.catalogue.figures import figure, figures


@pytest.mark.parametrize("rack", facility.rack_systems().values(), ids=lambda r: r.id)
def test_a_rack_that_is_sold_whole_fits_its_trays_and_their_power(rack: facility.RackSystem) -> None:
    tray = systems.system(rack.system)
    assert tray is not None
    assert facility.rack_system_of(tray.id) is rack
    assert tray.nvlink_domain_nodes == rack.trays
    assert (tray.rack_units or 0) * rack.trays + rack.switch_trays + rack.shelves <= rack.rack_units
    assert tray.liquid_share_pct == rack.liquid_share_pct
    assert (tray.power_max_w or 0) * rack.trays <= rack.power_max_w < rack.power_peak_w
    assert rack.power_max_w <= rack.shelves * rack.shelf_w
    assert facility.rack_system_of("dgx-h100") is None


def test_heat_and_air_of_a_b200_are_those_of_the_guide_and_the_deck() -> None:
    system = systems.system("dgx-b200")
    assert system is not None
    assert system.power_max_w is not None
    assert system.heat_btu_h == pytest.approx(facility.heat_btu_h(system.power_max_w), abs=5)
    assert facility.airflow_cfm(system.power_max_w) == pytest.approx(2145)


def test_figures_are_found_by_key() -> None:
    assert figure("breaker_derate") == 0.8
    assert "value" in figures()["cable_slack"].unverified
    with pytest.raises(KeyError):
        figure("breaker")


@pytest.mark.parametrize("switch", hardware.switches().values(), ids=lambda s: s.id)
def test_netbox_knows_the_ports_and_inlets_of_every_switch(switch: hardware.Switch) -> None:
    assert switch.inlet in {"", *netbox.power_connectors()}
    if switch.cage and switch.port_gbit:
        assert netbox.interface_type(switch.cage, switch.fabric, switch.port_gbit) != "other"


@pytest.mark.parametrize("ident", systems.system_ids())
def test_netbox_knows_the_ports_of_every_system(ident: str) -> None:
    system = systems.system(ident)
    assert system is not None
    for port in system.nics:
        fabric = port.link or ("infiniband" if hardware.nics()[port.nic].infiniband else "ethernet")
        assert netbox.interface_type(port.connector, fabric, port.gbit or 0) != "other", port.label


def test_types_of_ports() -> None:
    assert netbox.interface_type("osfp", "infiniband", 400) == "infiniband-ndr"
    assert netbox.interface_type("qsfp28", "infiniband", 100) == "infiniband-edr"
    assert netbox.interface_type("rj45", "ethernet", 400) == "other"


def test_inlets_and_outlets_are_pairs() -> None:
    for inlet, row in netbox.power_connectors().items():
        assert int(row.outlet[1:]) == int(inlet[1:]) - 1
        assert row.netbox_port == f"iec-60320-{inlet.lower()}"


def test_the_connectors_of_netbox_are_ours() -> None:
    assert {connector for connector, _, _ in netbox._interface_types()} == set(cabling.connectors())
