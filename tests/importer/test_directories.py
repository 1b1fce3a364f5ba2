"""Whole directories as sites have them: what becomes of them, and that it means the same."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from clustergen.compile import render, validate
from clustergen.importer.directory import ImportResult, import_directory
from clustergen.manifest.source import load

DIRECTORIES = Path(__file__).with_name("directories")


@pytest.fixture(scope="module")
def university() -> ImportResult:
    return import_directory(DIRECTORIES / "university", version="24.11")


@pytest.fixture(scope="module")
def gpu_lab() -> ImportResult:
    return import_directory(DIRECTORIES / "gpu-lab")


def data(result: ImportResult, tmp_path: Path) -> dict:  # type: ignore[type-arg]
    path = tmp_path / "manifest.yaml"
    path.write_text(result.text, encoding="utf-8")
    outcome = load(path).data
    assert outcome is not None
    return outcome


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "version"),
    [
        *(("university", version) for version in ("22.05", "23.11", "26.05")),
        *(("gpu-lab", version) for version in ("22.05", "24.11", "26.05")),
    ],
)
def test_the_same_meaning(name: str, version: str) -> None:
    import_result = import_directory(DIRECTORIES / name, version=version)
    assert import_result.errors == ()
    assert [item.change for item in import_result.compared if not item.meant] == []
    assert import_result.same


@pytest.mark.slow
def test_keys_unknown_to_the_release_are_left_out_and_reported(tmp_path: Path) -> None:
    shutil.copytree(DIRECTORIES / "gpu-lab", tmp_path, dirs_exist_ok=True)
    with (tmp_path / "slurm.conf").open("a") as file:
        file.write("SuspendExcStates=DOWN\n")
    import_result = import_directory(tmp_path, version="22.05")
    assert import_result.errors == ()
    (item,) = [item for item in import_result.compared if item.change.key == "SuspendExcStates"]
    assert not item.meant
    assert item.change.new is None
    assert "requires Slurm 23.02 or newer" in item.why
    assert not import_result.same


@pytest.mark.slow
def test_lines_that_are_alike_are_one_entry_and_comments_keep_their_node(
    university: ImportResult, tmp_path: Path
) -> None:
    nodes = data(university, tmp_path)["nodes"]
    names = [entry["name"] for entry in nodes]
    assert names == ["head", "head2", "alt[01-12]", "neu[1-3]", "neu4", "vis[1-2]"]
    assert nodes[3] == {
        "name": "neu[1-3]",
        "type": "neu",
        "address": "10.1.1.[1-3]",
        "features": ["icelake", "ib"],
        "weight": 20,
    }
    lines = university.text.splitlines()
    assert lines[lines.index("  # Lent by the chemists until the end of next year.") + 1].startswith("  - {name: neu4,")


@pytest.mark.slow
def test_keys_become_fields_or_passthrough_options(university: ImportResult, tmp_path: Path) -> None:
    values = data(university, tmp_path)
    slurm = values["slurm"]
    assert slurm["ports"] == {"slurmctld": 7817}
    assert slurm["preemption"] == {"by": "partition", "mode": "requeue", "youngest_first": False}
    assert slurm["partitions"]["long"]["allow_groups"] == ["physik", "theorie"]
    assert slurm["partitions"]["gpu"]["oversubscribe"] == "force:2"
    assert slurm["partitions"]["admin"]["options"] == {"RootOnly": "YES"}
    assert slurm["lines"] == [{"DownNodes": "alt12", "State": "DOWN", "Reason": "power supply, ticket 4711"}]
    assert slurm["topology"]["lines"][0] == {"SwitchName": "opa1", "Nodes": "alt[01-12]", "LinkSpeed": 100}
    assert values["node_types"]["vis"]["slurm_options"]["Gres"] == "gpu:gtx970:1,gpu:gtx1060:1,mps:200"
    assert values["host"] == {"hosts_file": False, "ssh_adopt": False}


def test_comments_with_a_value_are_kept(university: ImportResult) -> None:
    text = university.text
    assert "# Physics faculty, built 2016, rack B2 of the old machine room." in text.partition("name:")[0]
    assert "  # nodes come back by themselves after the weekly power cut\n  return_to_service: 1" in text
    assert "debug5" not in text
    texts = [note.text for note in university.notes]
    assert "1 commented-out setting and the comments above it are not imported" in texts


def test_old_names_and_idle_keys_are_reported_and_differ_in_words_only(university: ImportResult) -> None:
    meant = {note.key for note in university.notes if note.kind == "meant"}
    assert {"ControlMachine", "BackupController", "FastSchedule"} <= meant
    assert {item.change.key for item in university.compared} >= {"ControlMachine", "FastSchedule"}
    assert all(item.meant for item in university.compared)


@pytest.mark.slow
def test_systems_gpus_and_their_places_are_recognised(gpu_lab: ImportResult, tmp_path: Path) -> None:
    values = data(gpu_lab, tmp_path)
    assert values["node_types"]["dgx"] == {
        "system": "dgx-h100",
        "real_memory": 2050000,
        "gpus": {"gres_type": "h100", "numa": [0, 0, 0, 0, 1, 1, 1, 1]},
        "reserved": {"memory": "16384MiB"},
    }
    assert "gres_lines" not in values["slurm"]
    assert str(gpu_lab.release) == "24.11"  # as the comment says


@pytest.mark.slow
def test_the_password_of_the_database_stays_out(gpu_lab: ImportResult, tmp_path: Path) -> None:
    assert "correct-horse" not in gpu_lab.text
    assert b"correct-horse" not in b"".join(gpu_lab.files.values())
    [note] = [note for note in gpu_lab.notes if note.kind == "secret"]
    assert "/etc/slurm/slurmdbd.secret.conf" in note.text
    accounting = data(gpu_lab, tmp_path)["slurm"]["accounting"]
    assert accounting["database_host"] == "db.example.org:3307"
    assert accounting["password"] is True


def with_job_container(directory: Path, text: str) -> Path:
    """A copy of gpu-lab with another job_container.conf."""
    shutil.copytree(DIRECTORIES / "gpu-lab", directory, dirs_exist_ok=True)
    (directory / "job_container.conf").write_text(text, encoding="utf-8")
    return directory


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("AutoBasePath=true\nBasePath=/raid/slurm\n", {"path": "/raid/slurm"}),
        (
            "basepath=/l dirs=/tmp,/var/tmp shared=1 # local\nautobasepath=yes\n",
            {"path": "/l", "directories": ["/tmp", "/var/tmp"], "shared": True},
        ),
        ("AutoBasePath=true\nBasePath=/raid/slurm/%n\n", None),
        ("AutoBasePath=true\nBasePath=/tmp/slurm\n", None),
        ("BasePath=/raid/slurm AutoBasePath=true\n", None),
        ("BasePath=/raid/slurm\n", None),  # which somebody else creates
        ("AutoBasePath=true\nBasePath=/raid/slurm InitScript=/etc/slurm/init\n", None),
        ("NodeName=dgx01 AutoBasePath=true BasePath=/a\nNodeName=dgx[02-03] AutoBasePath=true BasePath=/b\n", None),
    ],
)
def test_a_tmp_of_each_jobs_own_is_a_field_that_says_as_much_as_the_file(
    text: str, field: dict[str, Any] | None, tmp_path: Path
) -> None:
    result = import_directory(with_job_container(tmp_path / "slurm", text))
    assert result.same, result.compared
    slurm = data(result, tmp_path)["slurm"]
    assert slurm.get("private_tmp") == field
    assert ("JobContainerType" in slurm["options"]) == (field is None)
    assert ("site/slurm_conf_server/etc/slurm/job_container.conf" in result.files) == (field is None)


def test_files_without_keys_go_to_the_site(gpu_lab: ImportResult) -> None:
    assert set(gpu_lab.files) == {
        "site/slurm_conf_server/etc/slurm/plugstack.conf",
        "site/slurm_conf_server/etc/slurm/plugstack.conf.d/pyxis.conf",
        "site/slurm_compute/etc/slurm/prolog.d/10-check",
    }
    assert gpu_lab.programs == {"site/slurm_compute/etc/slurm/prolog.d/10-check"}


def test_one_node_more_is_one_word_more(gpu_lab: ImportResult, tmp_path: Path) -> None:
    """The GPUs are the type's, so that another node of it needs no line in gres.conf."""
    path = tmp_path / "manifest.yaml"
    text = gpu_lab.text.replace('"192.168.7.[11-13]"', '"192.168.7.[11-14]"').replace("dgx[01-03]", "dgx[01-04]")
    path.write_text(text, encoding="utf-8")
    for name, content in gpu_lab.files.items():
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    compiled = validate(path)
    assert compiled.ok, compiled.diagnostics
    tree, _ = render(compiled, path)
    assert tree is not None
    [gres] = [file for file in tree if file.target == "/etc/slurm/gres.conf"]
    assert gres.content.decode().count("NodeName=dgx[01-04] Name=gpu Type=h100") == 2


def test_addresses_from_a_hosts_file(tmp_path: Path) -> None:
    directory = tmp_path / "slurm"
    directory.mkdir()
    (directory / "slurm.conf").write_text(
        "ClusterName=c\nSlurmctldHost=head\nSlurmUser=slurm\nNodeName=n[1-2] CPUs=4\nPartitionName=p Nodes=ALL\n"
    )
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.1.1 head\n10.0.0.9 head.example.org head\n10.0.0.1 n1\n10.0.0.2 n2.example.org # rack\n")
    import_result = import_directory(directory, version="24.11", hosts=hosts)
    document = data(import_result, tmp_path)
    assert [entry["address"] for entry in document["nodes"]] == ["10.0.0.9", "10.0.0.[1-2]"]
    assert "hosts_file" not in document["host"]
    # Names are not looked up any more: that is another meaning, and said.
    assert {item.change.key for item in import_result.compared if not item.meant} >= {"NodeAddr"}


@pytest.mark.slow
def test_a_slurm_conf_by_its_name(tmp_path: Path) -> None:
    for file in (DIRECTORIES / "university").iterdir():
        shutil.copy(file, tmp_path / ("slurm.conf.prod" if file.name == "slurm.conf" else file.name))
    assert import_directory(tmp_path / "slurm.conf.prod", version="24.11").same
