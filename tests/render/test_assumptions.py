"""Hardware that no source confirms, and packages that nobody serves: at validate, in README.md and in slurm.conf."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clustergen.cli import group
from clustergen.cluster.assumptions import assumptions
from clustergen.compile import render, validate
from strategies.findings import TINY, changed

B200 = changed(TINY, ("{system: dgx-h100}", "{system: hgx-b200-8}"), ("debian-12", "debian-13"))
MEASURED = changed(
    B200,
    (
        "{system: hgx-b200-8}",
        "{system: hgx-b200-8, cpu: {cores_per_socket: 64}, real_memory: 1500000,"
        " gpus: {numa: [0, 0, 0, 0, 1, 1, 1, 1]}}",
    ),
)
SERVER = "{memory: 512GiB, cpu: {cores_per_socket: 16, sockets: %s}"


def run(text: str, directory: Path) -> Result:
    (directory / "manifest.yaml").write_text(text)
    return CliRunner().invoke(group, ["validate", str(directory / "manifest.yaml")])


def rendered(text: str, directory: Path, name: str) -> str:
    path = directory / "manifest.yaml"
    path.write_text(text)
    tree, _ = render(validate(path), path)
    return next(file.content.decode() for file in tree if file.path.endswith(name))


@pytest.mark.slow
def test_unconfirmed_hardware_is_marked_everywhere(tmp_path: Path) -> None:
    result = run(B200, tmp_path)
    assert result.exit_code == 0
    words = "no source confirms 2 sockets of 56 cores and RealMemory 2034237 MiB of hgx-b200-8"
    assert f"warning[hardware-unconfirmed]: {words}" in result.stdout
    assert "manifest.yaml:6:3" in result.stdout
    stated = "cpu: {sockets: 2, cores_per_socket: 56}, real_memory: 2034237"
    assert f"run slurmd -C on a node, and set what it shows in node type h100: {stated}" in result.stdout
    assert "hardware-unconfirmed" not in run(B200.replace("hgx-b200-8", f"hgx-b200-8, {stated}"), tmp_path).stdout
    lines = rendered(B200, tmp_path, "/slurm.conf").splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("NodeName=gpu"))
    assert lines[place - 1].startswith(f"# Assumed: {words}")
    assert "Assumed: node type h100" in rendered(B200, tmp_path, "README.md")


RACKS = changed(TINY, ("dgx-h100", "dgx-gb200"), ("gpu[1-4]", "gpu[1-36]"), ("[11-14]", "[11-46]"))
SERVER_OF = TINY + "storage:\n  home: {type: nfs, server: %s, path: /home, mount: /home}\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (RACKS, "nvlink-domain-assumed"),
        (RACKS + 'racks: {r1: {nodes: "gpu[1-18]"}, r2: {nodes: "gpu[19-36]"}}\n', None),
        (SERVER_OF % "nas1", "server-name-assumed"),
        (SERVER_OF % "nas1" + "host: {extra_hosts: {10.0.0.5: [nas1]}}\n", None),
        (SERVER_OF % "nas1.example.org", None),
        (SERVER_OF % "10.0.0.5", None),
        (SERVER_OF % "head", None),
        (SERVER_OF % "nas1" + "host: {hosts_file: false}\n", None),
    ],
    ids=["rows", "racks", "a name", "extra_hosts", "a full name", "an address", "a node", "hosts of others"],
)
def test_order_of_racks_and_names_of_servers_are_assumptions(text: str, code: str | None, tmp_path: Path) -> None:
    (tmp_path / "manifest.yaml").write_text(text)
    cluster = validate(tmp_path / "manifest.yaml").cluster
    assert cluster is not None
    others = ("hardware-unconfirmed", "gpu-place-unknown", "slurm-packages-lacking")
    assert [one.code for one in assumptions(cluster) if one.code not in others] == ([code] if code else [])


@pytest.mark.parametrize(
    ("change", "is_reported"),
    [
        (("roles: [slurm-controller]", "roles: [login]"), True),  # a rule's error
        (("cidr:", "cidre:"), True),  # a typo that is put right to judge the rest
        (("{system: hgx-b200-8}", "{system: hgx-b200-8, gpus: {numa: [0, 9]}}"), False),  # within the node type
    ],
)
def test_unconfirmed_hardware_is_reported_beside_errors(
    change: tuple[str, str], is_reported: bool, tmp_path: Path
) -> None:
    output = run(changed(B200, change), tmp_path).stdout
    assert "error[" in output
    assert ("warning[hardware-unconfirmed]" in output) is is_reported


def test_a_render_warns_too(tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(changed(B200, ("debian-13", "ubuntu-24.04")))
    result = CliRunner().invoke(group, ["render", str(path)])
    assert result.exit_code == 0
    assert "warning[hardware-unconfirmed]" in result.stdout
    assert "warning[slurm-packages-lacking]" in result.stdout


def test_values_of_the_manifest_are_no_assumptions(tmp_path: Path) -> None:
    assert "warning" not in run(MEASURED, tmp_path).stdout
    assert "Assumed" not in rendered(MEASURED, tmp_path, "/slurm.conf") + rendered(MEASURED, tmp_path, "README.md")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "places"),
    [
        ("{system: hgx-b200-8}", "the NUMA nodes of the 8 GPUs of 'h100' are assumed: 0, 0, 0, 0, 1, 1, 1, 1"),
        (SERVER % "2}, gpus: {model: L40S, count: 3}", "the NUMA nodes of the 3 GPUs of 'h100' are assumed: 0, 0, 1"),
        (SERVER % "2}, gpus: {model: L40S, count: 1}", "the NUMA node of the GPU of 'h100' is assumed: 0"),
        (
            SERVER % "2, numa_per_socket: 2}, gpus: {model: L40S, count: 2}",
            "the sockets of the 2 GPUs of 'h100' are assumed: 0, 1",
        ),
        (SERVER % "2}, gpus: {model: L40S, count: 2, numa: [1, 1]}", ""),
        (SERVER % "2}, gpus: {model: L40S, count: 2, autodetect: nvml}", ""),
        (SERVER % "1}, gpus: {model: L40S, count: 2}", ""),
        ("{system: dgx-h100}", ""),
    ],
)
def test_assumed_places_of_gpus_are_marked(tmp_path: Path, kind: str, places: str) -> None:
    text = changed(TINY, ("{system: dgx-h100}", kind))
    marks = [f"# Assumed: {places}; run nvidia-smi topo -m on a node and set gpus.numa"] if places else []
    findings = [line for line in run(text, tmp_path).stdout.splitlines() if "gpu-place-unknown" in line]
    assert [line.partition("]: ")[2] for line in findings] == [places] * bool(places)
    lines = rendered(text, tmp_path, "/gres.conf").splitlines()
    assert [line.partition("gpus.numa")[0] + "gpus.numa" for line in lines if "Assumed" in line] == marks
    assert ("Assumed: GPUs of node type h100" in rendered(text, tmp_path, "README.md")) is bool(places)


def test_a_program_gets_them_too(tmp_path: Path) -> None:
    (tmp_path / "manifest.yaml").write_text(changed(B200, ("debian-13", "ubuntu-24.04")))
    result = CliRunner().invoke(group, ["validate", str(tmp_path / "manifest.yaml"), "--format", "json"])
    assert result.exit_code == 0
    codes = [outcome["code"] for outcome in json.loads(result.stdout)["diagnostics"]]
    assert {"hardware-unconfirmed", "slurm-packages-lacking"} <= set(codes)


def test_a_release_without_packages_is_a_warning(tmp_path: Path) -> None:
    """Debian 12 has Slurm 22.05; `build: schedmd` says that the site builds its own."""
    result = run(TINY, tmp_path)
    assert "no distribution package of Slurm 24.11 exists for debian-12" in result.stdout
    assert "clustergen explain slurm-packages-lacking" in result.stdout
    assert "Assumed: Slurm's packages" in rendered(TINY, tmp_path, "README.md")
    stated = changed(TINY, ('version: "24.11"', 'version: "24.11", build: schedmd'))
    assert "warning" not in run(stated, tmp_path).stdout
