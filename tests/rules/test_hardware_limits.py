"""Hardware that cannot be: each case has a code, and what its hint proposes validates."""

from __future__ import annotations

from pathlib import Path

import pytest

from strategies.findings import TINY, changed, judged

MIG = changed(
    TINY,
    ("{system: dgx-h100}", "{system: dgx-h100, gpus: {mig: half}}"),
    ("slurm:", "gpu: {mig_plans: {half: {profiles: {3g.40gb: 3}}}}\nslurm:"),
)
RAILS = changed(
    TINY,
    (
        "  management: {cidr: 10.0.0.0/24}\n",
        "  management: {cidr: 10.0.0.0/24}\n"
        "  fabric: {type: infiniband, rate: NDR, switches: [{name: 'leaf[0-8]', rail: 0-8, nodes: 'gpu[1-4]'}]}\n",
    ),
)
GRACE = "{system: mgx-gh200, gpus: {model: gh200-96}, tuning: {page_size: 64k}}"
TRAYS = changed(
    TINY,
    ("os: debian-12", "os: ubuntu-24.04"),
    ('"24.11"}', '"25.05", build: schedmd}'),
    ("h100: {system: dgx-h100}", "h100: {system: dgx-gb200}\n  b: {system: dgx-gb300}"),
    ("slurm:", 'racks:\n  r1: {nodes: "gpu[1-4],b[1-4]", units: 48}\nslurm:'),
    ("nodes:\n", 'nodes:\n  - {name: "b[1-4]", type: b, address: "10.0.0.[21-24]"}\n'),
)
LANES = """h100:
    memory: 256GiB
    cpu: {model: MODEL, sockets: 2, cores_per_socket: 32, threads_per_core: 2}
    gpus: {model: l40s, count: 8, numa: [0, 0, 0, 0, 1, 1, 1, 1]}
    nics: NICS
    disks: [{device: nvme0n1, size: 1TB}]"""
PORT = "{device: mlx5_%s, model: cx7, pci: '0000:1b:00.%s', numa: 0}"
CARDS = f"[{PORT % (0, 0)}, {PORT % (1, 1)}]"


def lanes(model: str, nics: str = CARDS) -> tuple[str, str]:
    return "h100: {system: dgx-h100}", LANES.replace("MODEL", model).replace("NICS", nics)


CASES = {
    "power above the range": ("{system: dgx-h100}", "{system: dgx-h100, gpus: {power_limit: 800W}}", "gpu-power-limit"),
    "power below the range": ("{system: dgx-h100}", "{system: dgx-h200, gpus: {power_limit: 100W}}", "gpu-power-limit"),
    "power of a B200 below the range": (
        "{system: dgx-h100}", "{system: dgx-b200, gpus: {power_limit: 150W}}", "gpu-power-limit",
    ),
    "power below what nobody confirmed": (
        "{system: dgx-h100}", "{system: rtx-pro-6000-8, gpus: {power_limit: 300W}}", "gpu-power-limit-doubtful",
    ),
    "a card for a board": ("{system: dgx-h100}", "{system: dgx-h100, gpus: {model: a100-pcie-80}}", "gpu-form-unfit"),
    "a module of an older board": (
        "{system: dgx-h100}", "{system: dgx-b200, gpus: {model: a100-sxm-80}}", "gpu-form-unfit",
    ),
}  # fmt: skip
REMEDIES = {
    "power above the range": ("power_limit: 800W", "power_limit: 700W"),
    "power below the range": ("power_limit: 100W", "power_limit: 200W"),
    "power of a B200 below the range": ("power_limit: 150W", "power_limit: 200W"),
    "power below what nobody confirmed": ("power_limit: 300W", "power_limit: 400W"),
    "a card for a board": ("model: a100-pcie-80", "model: h100-sxm"),
    "a module of an older board": ("model: a100-sxm-80", "model: b200"),
}
OTHERS = {
    "MIG beyond the card": (MIG, "mig-layout-impossible", "profiles: {3g.40gb: 3}", "profiles: {3g.40gb: 2}"),
    "64 KiB on x86_64": (
        changed(TINY, ("{system: dgx-h100}", "{system: dgx-h100, tuning: {page_size: 64k}}")),
        "page-size-unfit", "{page_size: 64k}", "{transparent_hugepages: madvise}",
    ),
    "64 KiB on Debian": (
        changed(TINY, ("{system: dgx-h100}", GRACE)), "page-size-not-available", "debian-12", "ubuntu-24.04",
    ),
    "a driver without this GPU": (
        changed(TINY, ("{system: dgx-h100}", '{system: dgx-b200, gpus: {driver: "535"}}')),
        "driver-unfit", 'driver: "535"', 'driver: "570"',
    ),
    "two generations in a rack": (
        TRAYS, "nvlink-domain-mixed", '  r1: {nodes: "gpu[1-4],b[1-4]", units: 48}',
        '  r1: {nodes: "gpu[1-4]", units: 48}\n  r2: {nodes: "b[1-4]", units: 48}',
    ),
    "more lanes than two Xeons have": (
        changed(TINY, lanes("Xeon Platinum 8380")), "pcie-lanes-short", "count: 8, numa: [0, 0, 0, 0, 1, 1, 1, 1]",
        "count: 6, numa: [0, 0, 0, 1, 1, 1]",
    ),
    "more GPUs than slots": (
        changed(TINY, ("{system: dgx-h100}", "{system: l40s-8, gpus: {count: 10}}")),
        "hardware-differs", "count: 10", "count: 8",
    ),
    "fewer ports than rails": (RAILS, "rail-without-port", "'leaf[0-8]', rail: 0-8", "'leaf[0-7]', rail: 0-7"),
}  # fmt: skip


def codes(text: str, directory: Path) -> dict[str, str]:
    path = directory / "manifest.yaml"
    path.write_text(text, encoding="utf-8")
    return {one.code: one.hint or "" for one in judged(path)}


@pytest.mark.parametrize("name", CASES)
def test_the_proposal_of_the_hint_is_accepted(name: str, tmp_path: Path) -> None:
    right, wrong, code = CASES[name]
    text = changed(TINY, (right, wrong))
    before, after = REMEDIES[name]
    reported = codes(text, tmp_path)
    assert after in reported[code]
    remaining = codes(text.replace(before, after), tmp_path)
    assert code not in remaining


@pytest.mark.parametrize("name", OTHERS)
def test_the_remedy_validates(name: str, tmp_path: Path) -> None:
    text, code, before, after = OTHERS[name]
    assert code in codes(text, tmp_path)
    assert before in text
    remaining = codes(text.replace(before, after), tmp_path)
    assert code not in remaining
    assert not {
        each for each in remaining if each.startswith(("gpu-power", "gpu-form", "mig-", "rail-", "page-", "pcie-"))
    }


@pytest.mark.parametrize(
    ("model", "short"),
    [
        ("Xeon Platinum 8380", True),  # 128 lanes for 128 + 16 + 4
        ("Intel Xeon Platinum 8480+", False),
        ("AMD EPYC 9654", False),
        ("Some Processor", False),
    ],
)
def test_lanes_by_processor(model: str, short: bool, tmp_path: Path) -> None:
    assert ("pcie-lanes-short" in codes(changed(TINY, lanes(model)), tmp_path)) == short


def test_ports_of_one_card_count_once(tmp_path: Path) -> None:
    """Two EPYC have 160 lanes: eight GPUs, a drive and one adapter fit, a second adapter does not."""
    two = CARDS.replace("1b:00.1", "1c:00.0")
    assert "pcie-lanes-short" not in codes(changed(TINY, lanes("EPYC 9554")), tmp_path)
    assert "pcie-lanes-short" in codes(changed(TINY, lanes("EPYC 9554", two)), tmp_path)


@pytest.mark.parametrize("system", ["l40s-8", "h200-nvl-8", "rtx-pro-6000-8", "ws-4x3090", "hgx-h100-8", "dgx-b300"])
def test_a_system_as_it_is_sold_needs_no_more_than_it_has(system: str, tmp_path: Path) -> None:
    reported = codes(changed(TINY, ("dgx-h100", system)), tmp_path)
    assert not {"pcie-lanes-short", "gpu-form-unfit"} & reported.keys()
