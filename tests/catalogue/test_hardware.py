"""GPUs, network adapters, switches and link rates."""

import pytest

from clustergen.catalogue import hardware
from clustergen.catalogue.gpu_vendors import other_vendor
from clustergen.records import replace


@pytest.mark.parametrize("gpu", hardware.gpus().values(), ids=lambda g: g.id)
def test_the_slurm_type_is_the_driver_name_in_lower_case_with_underscores(gpu: hardware.Gpu) -> None:
    assert gpu.slurm_type == gpu.nvml_name.lower().replace(" ", "_")


@pytest.mark.parametrize("gpu", hardware.gpus().values(), ids=lambda g: g.id)
def test_the_short_type_is_part_of_the_slurm_type_and_no_number(gpu: hardware.Gpu) -> None:
    assert gpu.gres_type in gpu.slurm_type
    assert not gpu.gres_type.isdigit()  # gpu:3090 would ask for 3090 GPUs


@pytest.mark.parametrize("gpu", hardware.gpus().values(), ids=lambda g: g.id)
def test_mig_and_nvlink_figures_agree(gpu: hardware.Gpu) -> None:
    assert bool(gpu.mig_family) <= bool(gpu.mig_max)
    assert (gpu.nvlink_gb_s > 0) == (gpu.nvlink_by != ("none",))
    if gpu.nvlink_links and gpu.nvlink_gen is not None and gpu.form.startswith("sxm"):
        assert gpu.nvlink_gb_s == gpu.nvlink_links * {2: 50, 3: 50, 4: 50, 5: 100}[gpu.nvlink_gen]
    for low in (gpu.power_min_w, gpu.power_default_w):
        assert low is None or (gpu.tdp_w is not None and low < gpu.tdp_w)


def test_names_do_not_collide() -> None:
    seen: dict[str, str] = {}
    for gpu in hardware.gpus().values():
        for name in (gpu.id, *gpu.aliases):
            assert seen.setdefault(name, gpu.id) == gpu.id
            assert hardware.gpu(name) is gpu


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("h100", "h100-sxm"),
        ("H100-SXM5-80GB", "h100-sxm"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm"),
        ("nvidia_h100_80gb_hbm3", "h100-sxm"),
        ("a100-40", "a100-sxm-40"),
        ("a100-sxm4-80gb", "a100-sxm-80"),
        ("a100_80gb_pcie", "a100-pcie-80"),
        ("A6000", "rtx-a6000"),
        ("3090", "rtx-3090"),
        ("t4", "t4"),
        ("tesla_t4", "t4"),
    ],
)
def test_a_gpu_is_found_by_common_spellings(name: str, expected: str) -> None:
    gpu = hardware.gpu(name)
    assert gpu is not None
    assert gpu.id == expected


def test_an_unknown_gpu_is_none() -> None:
    assert hardware.gpu("h1000") is None


def test_driver_names_that_are_often_guessed_wrong() -> None:
    types = {gpu.id: gpu.slurm_type for gpu in hardware.gpus().values()}
    assert types["a100-pcie-80"] == "nvidia_a100_80gb_pcie"
    assert types["a100-sxm-80"] == "nvidia_a100-sxm4-80gb"
    assert types["v100-sxm2-32"] == "tesla_v100-sxm2-32gb"
    assert types["b300"] == "nvidia_b300_sxm6_ac"


def test_a_site_can_make_its_own_gpu() -> None:
    gpu = hardware.Gpu(id="x1", nvml_name="NVIDIA X1", slurm_type="nvidia_x1", gres_type="x1")
    assert replace(gpu, tdp_w=5).tdp_w == 5
    assert gpu.mig_max == 0


def test_adapters_and_switches_by_alias() -> None:
    for name, expected in (("cx7", "connectx-7"), ("ConnectX-7", "connectx-7"), ("b3240", "bluefield-3-b3240")):
        nic = hardware.nic(name)
        assert nic is not None
        assert nic.id == expected
    for name, expected in (("QM9700", "qm9700"), ("quantum-2", "qm9700"), ("MQM8700-HS2F", "qm8700")):
        switch = hardware.switch(name)
        assert switch is not None
        assert switch.id == expected
    assert hardware.nic("cx10") is None
    assert hardware.switch("sb7791") is None


def test_the_switch_that_is_mistaken_for_hdr_is_edr() -> None:
    edr, hdr = hardware.switch("sb7790"), hardware.switch("qm8790")
    assert edr is not None
    assert hdr is not None
    assert (edr.ports, edr.port_gbit, edr.rate, edr.managed) == (36, 100, "EDR", False)
    assert (hdr.ports, hdr.port_gbit, hdr.rate) == (40, 200, "HDR")
    assert (hdr.ports_at(200), hdr.ports_at(100), hdr.ports_at(400)) == (40, 80, None)
    spectrum = hardware.switch("sn5400")
    assert spectrum
    assert [spectrum.ports_at(gbit) for gbit in (400, 200, 100, 50)] == [64, 128, 256, None]


def test_every_rate_that_hardware_names_is_known() -> None:
    for nic in hardware.nics().values():
        assert not nic.infiniband or hardware.link_rate(nic.infiniband) is not None
    for switch in hardware.switches().values():
        if switch.rate:
            rate = hardware.link_rate(switch.rate)
            assert rate is not None
            assert rate.gbit == switch.port_gbit


@pytest.mark.parametrize(
    ("name", "gbit"),
    [
        ("EDR", 100),
        ("hdr", 200),
        ("HDR100", 100),
        ("NDR", 400),
        ("ndr200", 200),
        ("XDR", 800),
        ("400g", 400),
        ("25GbE", 25),
    ],
)
def test_rates(name: str, gbit: int) -> None:
    rate = hardware.link_rate(name)
    assert rate is not None
    assert rate.gbit == gbit
    assert hardware.link_rate("QDR2") is None


@pytest.mark.parametrize("name", ["AMD Instinct MI300X", "mi250", "Instinct MI210", "MI300X-O", "intel-gaudi2"])
def test_gpus_of_other_makers_are_recognized(name: str) -> None:
    assert other_vendor(name) in ("AMD", "Intel")


def test_no_gpu_of_the_catalogue_counts_as_another_makers() -> None:
    names = [name for row in hardware.gpus().values() for name in (row.id, row.nvml_name, row.slurm_type, *row.aliases)]
    assert [name for name in names if other_vendor(name)] == []
    assert other_vendor("NVIDIA Graphics Device") is None
