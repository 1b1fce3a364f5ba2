"""A directory of files as Slurm means it: the value that counts, and where it stands."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from clustergen.catalogue.slurm import key_tables
from clustergen.slurmconf.config import Config, Setting
from clustergen.slurmconf.directory import ConfigDirectory, open_directory


def directory(tmp_path: Path, **files: str) -> ConfigDirectory:
    for name, text in files.items():
        (tmp_path / name.replace("_", ".")).write_text(text)
    return open_directory(tmp_path, key_tables)


def slurm_conf(tmp_path: Path, text: str) -> Config:
    config = directory(tmp_path, slurm_conf=text).config("slurm.conf")
    assert config is not None
    return config


def texts(settings: list[Setting]) -> list[str]:
    return [one.text for one in settings]


def test_the_last_value_counts_and_knows_its_place(tmp_path: Path) -> None:
    config = slurm_conf(
        tmp_path, "SlurmctldTimeout=1\nSlurmctldHost=a\nSlurmctldHost=b(10.0.0.1)\n slurmctldtimeout = 20 \n"
    )
    last = config.value("SlurmctldTimeout")
    assert last is not None
    assert (last.file, last.text, last.key) == ("slurm.conf", "20", "slurmctldtimeout")
    assert last.key_at == (4, 2, 18)
    assert last.value_at == (4, 21, 23)
    assert texts(config.settings("slurmctldhost")) == ["a", "b(10.0.0.1)"]
    assert config.value("SelectType") is None


def test_default_lines_add_up_and_count_from_where_they_stand(tmp_path: Path) -> None:
    config = slurm_conf(
        tmp_path,
        "NodeName=n0\nNodeName=DEFAULT CPUs=4 RealMemory=100\nNodeName=n[1-2] CPUs=8\n"
        "nodename=default RealMemory=200 Feature=a\nNodeName=n3\n",
    )
    nodes = config.entries("NodeName")
    assert [
        (node.names, node.text("CPUs"), node.text("RealMemory"), node.text("Features", "Feature")) for node in nodes
    ] == [
        ("n0", None, None, None),
        ("n[1-2]", "8", "100", None),
        ("n3", "4", "200", "a"),
    ]
    assert nodes[1].hosts() == ["n1", "n2"]
    inherited = nodes[2].value("CPUs")
    assert inherited is not None
    assert inherited.key_at.line == 2
    assert nodes[2].own_value("CPUs") is None
    assert [(one.key, one.text) for one in nodes[2].settings()] == [
        ("CPUs", "4"),
        ("RealMemory", "200"),
        ("Feature", "a"),
    ]
    assert len(config.default_lines("NodeName")) == 2


def test_some_keys_are_not_inherited(tmp_path: Path) -> None:
    config = slurm_conf(tmp_path, "PartitionName=DEFAULT ExclusiveUser=YES MaxTime=60\nPartitionName=a Nodes=ALL\n")
    partition = config.entries("PartitionName")[0]
    assert partition.text("ExclusiveUser") is None
    assert partition.text("MaxTime") == "60"


def test_an_absolute_name_is_looked_up_in_the_copy_of_its_directory(tmp_path: Path) -> None:
    place = directory(
        tmp_path, slurm_conf="Include /opt/slurm/etc/nodes.conf\nInclude /etc/passwd\n", nodes_conf="NodeName=n1\n"
    )
    config = place.config("slurm.conf")
    assert config is not None
    assert [node.file for node in config.entries("NodeName")] == ["/opt/slurm/etc/nodes.conf"]
    assert place.where("/opt/slurm/etc/nodes.conf") == tmp_path / "nodes.conf"
    assert [problem.kind for line in config.lines for problem in line.problems] == ["include-outside"]
    assert place.texts["/opt/slurm/etc/nodes.conf"] == "NodeName=n1\n"
    assert place.text("plugstack.conf") is None


def test_no_link_leads_out_of_the_directory(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared/slurm.conf").write_text("ClusterName=a\n")
    (tmp_path / "shared/secret").write_text("x")
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/slurm.conf").symlink_to(tmp_path / "shared/slurm.conf")
    (tmp_path / "etc/gres.conf").write_text("Include secret\nInclude same.conf\n")
    (tmp_path / "etc/secret").symlink_to(tmp_path / "shared/secret")
    (tmp_path / "etc/beside.conf").write_text("AutoDetect=off\n")
    (tmp_path / "etc/same.conf").symlink_to("beside.conf")
    directory = open_directory(tmp_path / "etc", key_tables)
    with pytest.raises(OSError, match=r"outside the directory, a link to .*shared"):
        directory.config("slurm.conf")
    config = directory.config("gres.conf")
    assert config is not None
    [problem] = config.lines[0].problems
    assert "outside the directory" in problem.message
    assert config.text("AutoDetect") == "off"


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (os.mkfifo, "it is a pipe"),
        (lambda place: place.symlink_to("gone"), "a link to .*gone, which does not exist"),
        (lambda place: place.symlink_to("/srv/puppet/gres.conf"), "outside the directory, a link to /srv/puppet"),
        (lambda place: place.symlink_to(place.name), "its symbolic links form a loop"),
    ],
)
def test_a_file_that_cannot_be_read_is_not_absent(make: Callable[[Path], None], why: str, tmp_path: Path) -> None:
    make(tmp_path / "gres.conf")
    files = directory(tmp_path)
    assert files.has("gres.conf")
    with pytest.raises(OSError, match=why):
        files.config("gres.conf")


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "gres.conf").mkdir()
    assert directory(tmp_path).config("gres.conf") is None


@pytest.mark.parametrize("name", ["slurmdbd.conf", "gres.conf"])
def test_other_files_are_read_when_asked_for(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("AutoDetect=off\n")
    place = open_directory(tmp_path, key_tables)
    assert place.config("slurm.conf") is None
    assert place.has(name)
    assert place.config(name) is place.config(name) is not None
