"""Systems: their parts exist, their rows add up."""

from pathlib import Path

import pytest

from clustergen.catalogue import cabling, facility, hardware, netbox, products, systems
from clustergen.records import fields
from strategies.pages import blocks

GUIDE = Path(__file__).parents[2] / "docs" / "catalogue.md"
(BLOCK,) = blocks(GUIDE, "yaml", "system")
ADDED = systems.read_system("our-nvl", BLOCK.text)
ALL = [system for ident in systems.system_ids() if (system := systems.system(ident)) is not None]
REAL = [system for system in ALL if system.id != "custom"]
WITH_GUIDE = [*REAL, ADDED]


def span(text: str) -> set[int]:
    numbers: set[int] = set()
    for part in text.split(","):
        low, _, high = part.partition("-")
        numbers |= set(range(int(low), int(high or low) + 1))
    return numbers


def test_the_systems_that_manifests_rely_on_are_there() -> None:
    names = "dgx-a100-40 dgx-a100-80 dgx-h100 dgx-h200 dgx-b200 hgx-h100-8 hgx-a100-8 dgx-station-a100 dgx1-v100 dgx2"
    names += " smc-821ge-tnhr dell-xe9680 gb200-nvl72-tray ws-4x3090 ws-2xa6000 custom"
    assert set(names.split()) <= set(systems.system_ids())


def test_names_do_not_collide() -> None:
    for system in ALL:
        for name in (system.id, system.name, *system.aliases):
            assert systems.system(name) is system
    assert systems.system("dgx-h1000") is None
    assert systems.system("DGX_H100") is systems.system("dgx-h100")


@pytest.mark.parametrize("system", REAL, ids=lambda s: s.id)
def test_a_product_is_known_with_its_maker_and_without(system: systems.System) -> None:
    names = {products.letters(name): ident for name, ident in systems.system_names().items()}
    assert products.product_system(f"Maker's {system.name}, 8U") == names[products.letters(system.name)]
    if sum(products.letters(system.name)[1:] in name for name in names) == 1:
        assert products.product_system(system.name[1:]) == system.id


@pytest.mark.parametrize("system", WITH_GUIDE, ids=lambda s: s.id)
def test_the_gpu_exists_and_every_one_has_a_row(system: systems.System) -> None:
    assert system.gpu in hardware.gpus()
    assert set(system.gpu_options) <= set(hardware.gpus())
    assert [row.ordinal for row in system.gpus] == list(range(system.gpu_count))


@pytest.mark.parametrize("system", WITH_GUIDE, ids=lambda s: s.id)
def test_cores_of_gpus_lie_on_their_socket(system: systems.System) -> None:
    cpu = system.cpu
    assert cpu.cores == cpu.sockets * cpu.cores_per_socket > 0
    assert cpu.cores_per_socket % cpu.numa_per_socket == 0
    for row in system.gpus:
        assert span(row.cores) <= span(cpu.cores_of_socket(row.socket))
        if row.numa is not None:
            assert row.socket == row.numa // cpu.numa_per_socket
            assert span(row.cores) == span(cpu.cores_of_numa(row.numa))
        if row.cpus:
            assert len(span(row.cpus)) == len(span(row.cores)) * cpu.threads_per_core
            assert {number % cpu.cores for number in span(row.cpus)} == span(row.cores)


@pytest.mark.parametrize("system", WITH_GUIDE, ids=lambda s: s.id)
def test_every_socket_with_gpus_on_a_two_socket_system(system: systems.System) -> None:
    assert {row.socket for row in system.gpus} == set(range(system.cpu.sockets))


@pytest.mark.parametrize("system", WITH_GUIDE, ids=lambda s: s.id)
def test_ports_exist_and_serve_gpus_of_the_system(system: systems.System) -> None:
    names = [port.rdma for port in system.nics if port.rdma]
    assert len(names) == len(set(names))
    for port in system.nics:
        assert port.role in {"compute", "storage", "inband", "management", "bmc"}
        assert not port.nic or port.nic in hardware.nics()
        assert set(port.gpus) <= set(range(system.gpu_count))
        assert (port.numa or 0) < system.cpu.numa_nodes
    compute = system.nics_of("compute")
    if compute:
        rdma_of_gpus = {gpu: port.rdma for port in compute for gpu in port.gpus}
        assert rdma_of_gpus == {row.ordinal: row.rdma for row in system.gpus}


@pytest.mark.parametrize("system", [s for s in REAL if s.nics], ids=lambda s: s.id)
def test_cages_hold_as_many_ports_as_their_connector_has(system: systems.System) -> None:
    labels = [port.label for port in system.nics]
    assert "" not in labels
    assert len(labels) == len(set(labels))
    cages: dict[str, list[systems.SystemNic]] = {}
    for port in system.nics:
        cages.setdefault(port.cage, []).append(port)
    for ports in cages.values():
        (connector,) = {port.connector for port in ports}
        assert len(ports) == cabling.connectors()[connector].ports
        assert len({port.role for port in ports}) == 1


def test_twin_cages_of_a_dgx_h100_join_the_rails_that_the_guide_prints() -> None:
    system = systems.system("dgx-h100")
    assert system is not None
    rails: dict[str, set[int]] = {}
    for port in system.nics_of("compute"):
        rails.setdefault(port.cage, set()).update(port.gpus)
    assert rails == {"OSFP1": {4, 7}, "OSFP2": {5, 6}, "OSFP3": {1, 2}, "OSFP4": {0, 3}}


@pytest.mark.parametrize("system", WITH_GUIDE, ids=lambda s: s.id)
def test_figures_of_machine_rooms_are_plausible(system: systems.System) -> None:
    if system.heat_btu_h is not None and system.power_max_w is not None:
        ratio = system.heat_btu_h / facility.heat_btu_h(system.power_max_w)
        assert 0.99 < ratio < 1.12  # DGX H100's guide prints 11 % more heat than power
    if system.airflow_cfm is not None and system.power_max_w is not None:
        assert 90 < system.airflow_cfm / system.power_max_w * 1000 <= 150
    if system.psu is not None:
        assert system.psu.inlet in {"", *netbox.power_connectors()}
    assert 0 <= (system.liquid_share_pct or 0) <= 100


@pytest.mark.parametrize("system", [s for s in ALL if s.links], ids=lambda s: s.id)
def test_links_are_a_symmetric_matrix_within_the_links_of_the_gpu(system: systems.System) -> None:
    matrix = [[int(cell) for cell in line.split(",")] for line in system.links]
    size = system.gpu_count
    assert [len(line) for line in matrix] == [size] * size
    gpu = hardware.gpus()[system.gpu or ""]
    for i in range(size):
        assert matrix[i][i] == -1
        assert [matrix[i][j] for j in range(size)] == [matrix[j][i] for j in range(size)]
        assert sum(matrix[i]) + 1 <= (gpu.nvlink_links or 0)
    assert system.fabric in {"mesh", "pairs"}


def test_compute_ports_of_a_dgx_h100_leave_the_storage_ports_out() -> None:
    system = systems.system("dgx-h100")
    assert system is not None
    assert [port.rdma for port in system.nics_of("compute")] == [f"mlx5_{n}" for n in (0, 3, 4, 5, 6, 9, 10, 11)]
    assert {port.rdma for port in system.nics_of("storage")} == {"mlx5_1", "mlx5_7"}
    assert {"mlx5_2", "mlx5_8"} <= {port.rdma for port in system.nics_of("inband")}  # the bond of the user guide
    assert system.psu == systems.Psu(installed=6, watt=3300, redundant=2, inlet="C20", volts=(200, 240))
    assert system.power_max_w == 10200


def test_a_dgx_a100_has_four_numa_nodes_in_a_socket_and_pairs_of_gpus_on_every_second() -> None:
    system = systems.system("dgx-a100")
    assert system is not None
    assert [row.numa for row in system.gpus] == [3, 3, 1, 1, 7, 7, 5, 5]
    assert system.gpu == "a100-sxm-80"


def test_gpus_of_a_described_server_are_spread_over_its_sockets() -> None:
    cpu = systems.Cpu(sockets=2, cores_per_socket=48, threads_per_core=2)
    spread = systems.spread_gpus(cpu, 4)
    assert [(row.ordinal, row.socket, row.cores) for row in spread] == [
        (0, 0, "0-47"),
        (1, 0, "0-47"),
        (2, 1, "48-95"),
        (3, 1, "48-95"),
    ]
    assert systems.spread_gpus(systems.Cpu(0, 0), 4) == ()
    ports = systems.spread_nics("connectx-7", 2, 400, 4)
    assert [(port.rdma, port.gpus) for port in ports] == [("mlx5_0", (0, 1)), ("mlx5_1", (2, 3))]


def test_a_guessed_layout_is_marked() -> None:
    for system in WITH_GUIDE:
        measured = bool(system.gpus) and bool(system.gpus[0].source)
        assert measured or "layout" in system.unverified


@pytest.mark.parametrize("system", [*ALL, ADDED], ids=lambda s: s.id)
def test_marks_name_parts_of_a_system(system: systems.System) -> None:
    parts = {*fields(systems.System), "layout", "assumed_nics", *(f"cpu.{field}" for field in fields(systems.Cpu))}
    parts |= {f"psu.{field}" for field in fields(systems.Psu)}
    assert system.unverified <= parts


@pytest.mark.parametrize("system", ALL, ids=lambda s: s.id)
def test_power_supplies_carry_the_system_when_the_redundant_ones_fail(system: systems.System) -> None:
    if system.psu is not None and system.psu.redundant is not None and system.power_max_w is not None:
        left = (system.psu.installed - system.psu.redundant) * system.psu.watt
        assert left >= system.power_max_w or {"power_max_w", "psu"} & system.unverified
