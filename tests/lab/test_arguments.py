"""What the verbs say before anything is started: arguments, absent labs, manifests that do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from clustergen.cli import group
from clustergen.diagnostics import ClustergenError
from clustergen.lab.run import Wish, prepare
from clustergen.lab.work import Work

MANIFEST = Path(__file__).parents[2] / "inventories/ml-training/manifest.yaml"


@pytest.fixture(autouse=True)
def _own_labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLUSTERGEN_LAB", str(tmp_path / "labs-of-this-test"))


def lab(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, ["lab", *map(str, arguments)])


def test_applying_needs_a_lab_and_leaves_no_folder() -> None:
    done = lab("apply", MANIFEST)
    assert isinstance(done.exception, ClustergenError)
    assert (done.exception.message, done.exception.exit_code) == ("no lab ml-training is up", 3)
    assert not Work("ml-training").folder.exists()


@pytest.mark.parametrize("options", [("--scale", "x"), ("--subnet", "10.0.0.0/33"), ("--scale", "h10=1")])
def test_slips_end_with_2_and_start_nothing(options: tuple[str, ...]) -> None:
    done = lab("up", MANIFEST, *options)
    assert isinstance(done.exception, ClustergenError)
    assert done.exception.exit_code == 2


def test_an_invalid_manifest_is_told_as_by_validate(tmp_path: Path) -> None:
    place = tmp_path / "manifest.yaml"
    place.write_text(MANIFEST.read_text().replace("type: h100", "type: h1000"))
    done = lab("up", place)
    assert done.exit_code == 2
    assert "error[node-type-unknown]" in done.stderr


def test_a_lab_on_paper(tmp_path: Path) -> None:
    from clustergen.compile import validate

    made = prepare(validate(MANIFEST), MANIFEST, "paper", Wish(["3"], "10.89.7.0/24"))
    assert made.cluster.hosts("slurm-compute") == ["compute01", "compute02", "compute03"]
    assert made.cluster.address["compute03"] == "10.89.7.13"
    work = made.work
    conf = (work.tree / "overlays/slurm_node/etc/slurm/slurm.conf").read_text()
    assert "SlurmdParameters=config_overrides" in conf
    assert "NodeName=compute[01-03] NodeAddr=10.89.7.[11-13]" in conf
    told = yaml.safe_load(work.inventory.read_text())["all"]["vars"]
    assert told["cluster_reboots"] is False
    assert str(work.key) == told["ansible_ssh_private_key_file"]
    assert work.key.stat().st_mode & 0o077 == 0


def test_the_list_is_printed_with_its_reasons(tmp_path: Path) -> None:
    from clustergen.compile import validate

    made = prepare(validate(MANIFEST), MANIFEST, "paper", Wish(["1"]))
    assert 3 <= len(made.substitutions) <= 8
    assert all(item.what and item.why for item in made.substitutions)
    assert len({item.what for item in made.substitutions}) == len(made.substitutions)


def test_a_cluster_without_gpus_or_fabric_has_a_shorter_list(tmp_path: Path) -> None:
    from clustergen.compile import validate

    place = tmp_path / "manifest.yaml"
    place.write_text(
        "name: plain\nos: debian-13\nnetworks: {management: {cidr: 10.3.0.0/24}}\n"
        "node_types: {cpu: {memory: 64GiB, cpu: {sockets: 1, cores_per_socket: 8, threads_per_core: 1}}}\n"
        "nodes:\n  - {name: head, type: service, address: 10.3.0.1, roles: [slurm-controller]}\n"
        '  - {name: "n[1-2]", type: cpu, address: "10.3.0.[11-12]"}\n'
        'slurm: {version: "24.11"}\n'
    )
    made = prepare(validate(place), place, None, Wish())
    words = " ".join(item.what for item in made.substitutions)
    assert "nvidia" not in words
    assert "fabric" not in words
    assert "file system" not in words
    assert "config_overrides" in words
