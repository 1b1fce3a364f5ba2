"""The extension in `examples/exporter`: an exporter from another package."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from strategies.extensions import installed, run

MANIFEST = """
name: vision
os: debian-13
networks:
  management: {cidr: 10.0.0.0/24, domain: vision.example.org}
node_types:
  h100: {system: dgx-h100}
nodes:
  - {name: head, type: service, address: 10.0.0.10, roles: [slurm-controller, monitoring]}
  - {name: login1, type: service, address: 10.0.0.9, roles: [login]}
  - {name: "gpu[1-4]", type: h100, address: "10.0.0.[11-14]"}
slurm: {version: "24.11", accounts: {}}
host: {firewall: nftables}
process_exporter: {cores: 8}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory on the search path that has the package, and a rendered tree."""
    directory = installed(
        tmp_path_factory.mktemp("exporter"), "exporter", "process_exporter", "clustergen_process_exporter"
    )
    (directory / "m.yaml").write_text(MANIFEST, encoding="utf-8")
    done = run(directory, "render", "m.yaml", path=directory)
    assert done.returncode == 0, done.stdout + done.stderr
    return directory


@pytest.mark.slow
def test_it_is_scraped_reached_and_installed(place: Path) -> None:
    overlays = place / "rendered/overlays"
    prometheus = overlays / "monitoring/etc/prometheus"
    assert "- job_name: process\n" in (prometheus / "prometheus.yml").read_text(encoding="utf-8")
    assert "login1:9256" in (prometheus / "sd/process.yml").read_text(encoding="utf-8")
    assert "alert: LoginNodeBusy" in (prometheus / "rules/process.yml").read_text(encoding="utf-8")
    firewall = overlays / "login/etc/clustergen-firewall/ports.d/login.nft"
    assert "# process exporter\nadd rule inet clustergen input ip saddr @cluster tcp dport 9256 accept" in (
        firewall.read_text(encoding="utf-8")
    )
    variables = yaml.safe_load((place / "rendered/inventory/group_vars/all.yml").read_text(encoding="utf-8"))
    assert variables["cluster_packages"]["login"] == ["process_exporter"]


@pytest.mark.slow
def test_a_system_without_its_package_is_refused(place: Path, tmp_path: Path) -> None:
    (tmp_path / "rocky.yaml").write_text(MANIFEST.replace("debian-13", "rocky-9"), encoding="utf-8")
    done = run(tmp_path, "validate", "rocky.yaml", path=place)
    assert done.returncode == 2
    assert "rocky.yaml:14:1: error[exporter-not-packaged]: rocky-9 has no package of process_exporter" in done.stdout


@pytest.mark.real
def test_prometheus_accepts_its_alert_and_its_job(place: Path) -> None:
    done = run(place, "verify", "--only", "promtool", path=place)
    assert done.returncode == 0, done.stdout + done.stderr
