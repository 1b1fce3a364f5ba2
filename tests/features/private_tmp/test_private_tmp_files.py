"""/tmp and /dev/shm of each job's own: the plugin by release, its file, and the directory of root that it needs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from clustergen.catalogue.versions import SlurmRelease
from clustergen.diff.slurm import slurm_changes
from strategies.job_templates import files_of, guided
from strategies.slurm_trees import cluster, settings
from strategies.trees import node_files, text_of

FILE = "/etc/slurm/job_container.conf"


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize(
    ("release", "fields", "plugin", "line"),
    [
        ("22.05", {}, "JobContainerType=job_container/tmpfs", "BasePath=/var/lib/job_container"),
        ("24.11", {"path": "/raid/tmp/"}, "JobContainerType=job_container/tmpfs", "BasePath=/raid/tmp"),
        (
            "25.11",
            {"directories": ["/tmp", "/dev/shm", "/var/tmp"], "shared": True},
            "NamespaceType=namespace/tmpfs",
            "BasePath=/var/lib/job_container Dirs=/tmp,/dev/shm,/var/tmp Shared=true",
        ),
        (
            "26.05",
            {"directories": ["/dev/shm", "/tmp"]},
            "NamespaceType=namespace/tmpfs",
            "BasePath=/var/lib/job_container",
        ),
    ],
)
def test_the_plugin_and_its_file_are_those_of_the_release(
    release: str, fields: dict[str, Any], plugin: str, line: str, tmp_path: Path
) -> None:
    tree = cluster(tmp_path, release, slurm={"private_tmp": fields})
    pairs = {f"{key}={value}" for key, value in settings(tree).items()}
    assert {pair for pair in pairs if pair.startswith(("JobContainerType", "NamespaceType"))} == {plugin}
    assert "PrologFlags=Alloc,Contain" in pairs
    assert lines_of(text_of(tree, "c1", FILE)) == ["AutoBasePath=true", line]
    directory = line.split()[0].removeprefix("BasePath=")
    assert f"d {directory} 0755 root root -" in text_of(tree, "c1", "/etc/tmpfiles.d/clustergen-slurmd.conf")


def test_without_the_field_there_is_neither(tmp_path: Path) -> None:
    tree = cluster(tmp_path)
    assert not {"JobContainerType", "NamespaceType"} & settings(tree).keys()
    assert FILE not in node_files(tree, "c1")
    assert "job_container" not in text_of(tree, "c1", "/etc/tmpfiles.d/clustergen-slurmd.conf")


def test_slurmctld_hands_the_file_out_where_nodes_have_no_configuration(tmp_path: Path) -> None:
    tree = cluster(tmp_path, slurm={"private_tmp": {}, "configless": True})
    assert FILE in node_files(tree, "head")
    assert FILE not in node_files(tree, "c1")


def test_a_cluster_that_gets_it_is_drained(tmp_path: Path) -> None:
    """Jobs that run have no namespace, and slurmd makes one for new jobs only after its restart."""
    trees = []
    for number, slurm in enumerate(({}, {"private_tmp": {}})):
        (tmp_path / str(number)).mkdir()
        tree = cluster(tmp_path / str(number), slurm=slurm)
        files = node_files(tree, "c1")
        trees.append({path: files[path].content.decode() for path in ("/etc/slurm/slurm.conf", FILE) if path in files})
    changes = slurm_changes(*trees, SlurmRelease("24.11"))
    assert {effect.kind for change in changes for effect in change.effects} >= {"drain", "restart-slurmd"}


@pytest.mark.parametrize(
    ("directories", "words", "key"),
    [
        (["/tmp", "/dev/shm"], "/tmp and /dev/shm", "(Dirs, default)"),
        (["/tmp", "/var/tmp", "/dev/shm"], "/tmp, /var/tmp and /dev/shm", "(Dirs)"),
        (["/var/tmp"], "/var/tmp", "(Dirs)"),
    ],
)
def test_comments_name_the_directories(directories: list[str], words: str, key: str, tmp_path: Path) -> None:
    tree = cluster(tmp_path, slurm={"private_tmp": {"directories": directories}, "disable_root_jobs": True})
    conf = text_of(tree, "c1", "/etc/slurm/slurm.conf")
    assert f"# each job has its own {words}\n" in conf
    assert re.search("^DisableRootJobs=YES +# root cannot submit jobs$", conf, re.MULTILINE)
    assert f"# Each job has its own {words} {key}." in text_of(tree, "c1", FILE)
    page = tree.files["README.md"].content.decode()
    assert re.search(rf"\| Private to each job +\| {words} +\|\n\| Jobs of root +\| rejected +\|", page)


@pytest.mark.slow
def test_the_users_guide_says_what_happens_to_tmp(tmp_path: Path) -> None:
    guides = {}
    for number, slurm in enumerate(({}, {"private_tmp": {}}, {"private_tmp": {"directories": ["/var/tmp"]}})):
        (tmp_path / str(number)).mkdir()
        text = files_of(guided(slurm), tmp_path / str(number))["guide.md"]
        guides[number] = [line for line in text.splitlines() if "/tmp`" in line and "TMPDIR" not in line]
    shared = "Files in {} of a node can be deleted when you have no job there."
    assert guides[0] == [shared.format("`/tmp`, `/var/tmp` and `/dev/shm`")]
    assert "Each job has its own `/tmp` and `/dev/shm`" in guides[1][0]
    assert "copy results to your home directory before" in guides[1][0]
    assert guides[1][1:] == [
        "`--output=/tmp/FILE` writes to the `/tmp` of the node instead, which jobs do not see.",
        shared.format("`/var/tmp`"),
    ]
    assert guides[2][1] == shared.format("`/tmp` and `/dev/shm`")
