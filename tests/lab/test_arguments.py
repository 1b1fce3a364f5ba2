"""Errors of `clustergen lab` before it starts anything: arguments, absent labs, manifests that do not fit."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from clustergen.cli import group
from clustergen.cli.init import STARTERS
from clustergen.cli.lab_nodes import current, started_from_here
from clustergen.diagnostics import ClustergenError
from clustergen.lab import faults
from clustergen.lab.model import Wish
from clustergen.lab.prepare import prepare
from clustergen.lab.work import Work, directories

MANIFEST = Path(__file__).parents[2] / "inventories/ml-training/manifest.yaml"


@pytest.fixture(autouse=True)
def _separate_labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLUSTERGEN_LAB", str(tmp_path / "labs-of-this-test"))


def lab(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, ["lab", *map(str, arguments)])


def test_applying_needs_a_lab_and_leaves_no_directory() -> None:
    done = lab("apply", MANIFEST)
    assert isinstance(done.exception, ClustergenError)
    assert (done.exception.message, done.exception.exit_code) == ("lab ml-training is not up", 3)
    assert not Work("ml-training").directory.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ("--scale", "x"), ("--subnet", "10.0.0.0/33"), ("--scale", "h10=1"), ("--set", "mirror"), ("--set", "a b=c"),
        ("--image", "rocky-9=here"), ("--image", "debian-13="), ("--slurm", "25.05"),
    ],
)  # fmt: skip
def test_slips_end_with_2_and_leave_nothing(options: tuple[str, ...]) -> None:
    done = lab("up", MANIFEST, *options)
    assert isinstance(done.exception, ClustergenError), done.output
    assert done.exception.exit_code == 2
    assert not Work("ml-training").directory.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cluster", "options", "words", "hint"),
    [
        ("a6000-quad", (), "the lab cannot build an image of ubuntu-22.04", "--os debian-13"),
        ("a6000-quad", ("--os", "debian-13"), "debian-13 has packages of 24.11", "--slurm 24.11"),
        ("midrange-weka", ("--os", "debian-13"), "requires Slurm 26.05", "--set repositories_slurm_url=URL"),
        ("midrange-weka", ("--image", "x"), "rocky-9 has packages of 22.05", "--slurm 22.05"),
    ],
)
def test_an_unusable_manifest_is_reported_first(cluster: str, options: tuple[str, ...], words: str, hint: str) -> None:
    done = lab("up", MANIFEST.parents[1] / cluster / "manifest.yaml", *options)
    assert isinstance(done.exception, ClustergenError), done.output
    assert words in done.exception.message
    assert hint in (done.exception.hint or "")
    assert done.exception.exit_code == 2
    assert not list(Work("x").directory.parent.glob("*"))


@pytest.mark.slow
def test_another_system_and_release_are_in_the_list_and_in_the_tree() -> None:
    from clustergen.compile import validate

    place = MANIFEST.parents[1] / "midrange-weka/manifest.yaml"
    made = prepare(validate(place), place, None, Wish(["1"], os="debian-13", slurm="24.11"))
    words = "\n".join(f"{item.what} ({item.why})" for item in made.substitutions)
    assert "debian-13 on all nodes (--os; the manifest has rocky-9)" in words
    assert "Slurm 24.11 as the distribution packages it (--slurm; the manifest has 26.05" in words
    assert {kind.os.id for kind in made.cluster.node_types} == {"debian-13"}
    assert str(made.cluster.slurm.release) == "24.11"


@pytest.mark.slow
def test_variables_of_the_user_reach_ansible() -> None:
    from clustergen.compile import validate

    made = prepare(validate(MANIFEST), MANIFEST, None, Wish(["1"], variables={"repositories_slurm_url": "http://x/"}))
    answer = yaml.safe_load(made.work.inventory.read_text())["all"]["vars"]
    assert answer["repositories_slurm_url"] == "http://x/"


@pytest.mark.parametrize(
    "change", [{"subnet": "10.89.8.0/24"}, {"os": "debian-12"}, {"engine": "docker"}, {"mounts": ["a"]}]
)
def test_files_of_a_lab_stay_until_it_is_down(change: dict[str, Any]) -> None:
    earlier = Wish(["2"], "10.89.7.0/24", engine="podman")
    with pytest.raises(ClustergenError) as answer:
        Wish(**change).over(earlier)
    assert answer.value.hint == "clustergen lab down first"
    assert Wish(["3"]).over(earlier) == Wish(["3"], "10.89.7.0/24", engine="podman")


def test_an_example_is_written_once_and_never_over_a_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "name a manifest or --example, not both" in lab("up", MANIFEST, "--example", "small").output
    assert "did you mean 'small'?" in lab("up", "--example", "smal").output
    assert not list(tmp_path.iterdir())
    assert isinstance(lab("up", "--example", "cpu", "--scale", "x").exception, ClustergenError)
    assert (tmp_path / "manifest.yaml").read_bytes() == STARTERS["cpu"].read_bytes()
    assert "manifest.yaml exists already" in lab("up", "--example", "small").output
    assert (tmp_path / "manifest.yaml").read_bytes() == STARTERS["cpu"].read_bytes()


def test_users_keep_their_numbers() -> None:
    work = Work("one")
    work.make()
    assert work.user_numbers(["bob", "carol"]) == {"bob": 2001, "carol": 2002}
    assert work.user_numbers(["alice", "carol"]) == {"alice": 2003, "carol": 2002}
    assert work.user_numbers(["bob"]) == {"bob": 2001}


def test_a_server_of_the_cluster_has_the_shared_directory_where_it_serves_it() -> None:
    from clustergen.compile import validate
    from clustergen.lab.file_systems import shared_directories

    compiled = validate(MANIFEST.parents[1] / "a6000-quad/manifest.yaml")
    assert compiled.cluster is not None
    directories = shared_directories(compiled.cluster)
    assert directories["head"] == [("home", "/home"), ("home", "/tank/home")]  # it also uses what it serves
    assert directories["node1"] == [("home", "/home")]


def test_an_invalid_manifest_is_reported_as_by_validate(tmp_path: Path) -> None:
    place = tmp_path / "manifest.yaml"
    place.write_text(MANIFEST.read_text().replace("type: h100", "type: h1000"))
    done = lab("up", place)
    assert done.exit_code == 2
    assert "error[node-type-unknown]" in done.stderr


@pytest.mark.slow
def test_a_lab_on_paper(tmp_path: Path) -> None:
    from clustergen.compile import validate

    made = prepare(validate(MANIFEST), MANIFEST, "paper", Wish(["3"], "10.89.7.0/24"))
    compute = ["compute01", "compute02", "compute03"]
    assert made.cluster.hosts("slurm-compute") == compute
    assert set(made.cluster.hosts()) == {"slurm-head", "monitor1", "login1", *compute}  # and no storage servers
    assert made.cluster.address["compute03"] == "10.89.7.13"
    work = made.work
    conf = (work.tree / "overlays/slurm_node/etc/slurm/slurm.conf").read_text()
    assert "SlurmdParameters=config_overrides" in conf
    assert "NodeName=compute[01-03] NodeAddr=10.89.7.[11-13]" in conf
    answer = yaml.safe_load(work.inventory.read_text())["all"]["vars"]
    assert answer["cluster_reboots"] is False
    assert str(work.key) == answer["ansible_ssh_private_key_file"]
    assert work.key.stat().st_mode & 0o077 == 0


LAYER = """\
os: debian-12
networks: {management: {cidr: 10.0.0.0/24}}
node_types:
  h100: {system: dgx-h100, gpus: {mig: slices}}
  large: {like: h100, memory: 4TiB}
gpu: {mig_plans: {slices: {profiles: {1g.10gb: 7}}}}
slurm: {version: "24.11"}
"""
UPPER = """\
extends: ../common.yaml
name: layers
nodes:
  - {name: head, type: service, address: 10.0.0.1, roles: [slurm-controller]}
  - {name: gpu1, type: large, address: 10.0.0.11}
  - {name: gpu2, type: large, address: 10.0.0.12, gpus: {mig: null}}
"""


@pytest.mark.slow
def test_a_lab_of_layers_is_one_manifest(tmp_path: Path) -> None:
    """Files that it extends, types that are like others, and nodes that remove a value of their type."""
    from clustergen.compile import validate

    (tmp_path / "a").mkdir()
    (tmp_path / "common.yaml").write_text(LAYER, encoding="utf-8")
    path = tmp_path / "a/manifest.yaml"
    path.write_text(UPPER, encoding="utf-8")
    made = prepare(validate(path), path, "layers", Wish([]))
    text = (made.work.tree / "overlays/slurm_node/etc/slurm/slurm.conf").read_text(encoding="utf-8")
    gres = dict(re.findall(r"^NodeName=(gpu\d) .*Gres=gpu:(\S+)", text, re.MULTILINE))
    assert gres == {"gpu1": "nvidia_h100_80gb_hbm3_1g.10gb:56", "gpu2": "h100:8"}


@pytest.mark.slow
def test_the_list_is_printed_with_its_reasons(tmp_path: Path) -> None:
    from clustergen.compile import validate

    made = prepare(validate(MANIFEST), MANIFEST, "paper", Wish(["1"]))
    assert 3 <= len(made.substitutions) <= 11
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


def test_verbs_without_a_lab_act_on_the_one_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ClustergenError, match="no lab is up"):
        current(None)
    for name in ("one", "two"):
        work = Work(name)
        work.make()
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.yaml").write_text(f"name: {name}\n", encoding="utf-8")
        work.write_manifest({"name": name}, tmp_path / name / "manifest.yaml")
    with pytest.raises(ClustergenError, match="2 labs are up: one, two"):
        current(None)
    monkeypatch.chdir(tmp_path / "two")
    assert current(None).name == "two"
    assert current("one").name == "one"
    assert current("../one/manifest.yaml").name == "one"
    with pytest.raises(ClustergenError, match="lab three is not up"):
        current("three")
    with pytest.raises(ClustergenError, match="lab tow is not up") as error:
        current("tow")
    assert error.value.hint == "did you mean 'two'?"


@pytest.mark.slow
def test_an_adopted_cluster_gets_the_daemons_that_it_has_already_and_a_network(tmp_path: Path) -> None:
    from clustergen.compile import validate

    originals = MANIFEST.parents[2] / "tests/fixtures/hand_written"
    words = ["adopt", str(originals), "--slurm-version", "24.11", "--os", "debian-13", "-o", str(tmp_path)]
    assert CliRunner().invoke(group, words).exit_code == 0
    place = tmp_path / "manifest.yaml"
    made = prepare(validate(place), place, None, Wish())
    assert made.cluster.managed == ("slurm", "daemons")
    assert str(made.cluster.networks.management.cidr) == "10.89.207.0/24"
    assert (made.work.tree / "overlays/slurm_compute/etc/systemd/system/slurmd.service.d").is_dir()
    assert sum(item.why.startswith(("the cluster has them", "Slurm's files")) for item in made.substitutions) == 2


def test_a_fault_names_its_nodes() -> None:
    work = Work("one")
    work.make()
    work.write_manifest({"name": "one"}, Path("manifest.yaml"))
    done = lab("fault", "kill")
    assert (done.exit_code, "name a node: clustergen lab fault kill NODE" in done.output) == (2, True)


def test_only_the_other_ends_of_a_nodes_links_are_cut() -> None:
    """eth0 of the node is 2 with the other end 7; something on top of it names 2, as does the cable of this machine."""
    links = [
        {"ifindex": 1, "ifname": "lo"},
        {"ifindex": 2, "ifname": "eth0"},
        {"ifindex": 7, "ifname": "veth0", "link_index": 2},
        {"ifindex": 8, "ifname": "veth1", "link_index": 3},
    ]
    assert faults.peers("1 1\n2 7\n3 2\n", links) == ["veth0"]


def test_the_only_lab_is_removed_only_from_its_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for directory in ("one", "elsewhere"):
        (tmp_path / directory).mkdir()
    work = Work("one")
    work.make()
    work.write_manifest({"name": "one"}, tmp_path / "one" / "manifest.yaml")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert current(None).name == "one"
    done = lab("down")
    assert isinstance(done.exception, ClustergenError)
    assert f"lab one is that of {tmp_path}/one/manifest.yaml" in done.exception.message
    assert done.exception.hint == "clustergen lab down one"
    assert work.directory.exists()
    monkeypatch.chdir(tmp_path)
    assert started_from_here().name == "one"


def test_a_directory_without_a_manifest_is_no_lab_and_can_be_removed() -> None:
    Work("rest").make()
    assert lab("list").output == ""
    with pytest.raises(ClustergenError, match="no lab is up"):
        current(None)
    assert [work.name for work in directories()] == ["rest"]


@pytest.mark.parametrize("name", ["", ".", "..", "/tmp", "../../x", "a/b", "-x", "a\nb", "a" * 64])
def test_no_name_of_a_lab_leads_out_of_the_directory_of_labs(name: str, tmp_path: Path) -> None:
    work = Work("one")
    work.make()
    (work.directory / "mine").touch()
    manifest = tmp_path / "manifest.yaml"
    manifest.write_text(f"name: {json.dumps(name)}\n", encoding="utf-8")
    named = (("down", "--name", name), ("stop", "--name", name), ("up", MANIFEST, "--name", name))
    for verb in (("down", manifest), *named):
        done = lab(*verb)
        assert isinstance(done.exception, ClustergenError), verb
        assert (work.directory / "mine").exists(), verb
