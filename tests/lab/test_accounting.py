"""A manifest whose slurmdbd or database is outside of the cluster, in a lab."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clustergen import compile as compiler
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.lab.model import Lab, Wish
from clustergen.lab.prepare import prepare
from clustergen.lab.work import Work
from strategies.trees import manifest

pytestmark = pytest.mark.slow

ELSEWHERE = "10.9.0.5"


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLUSTERGEN_LAB", str(tmp_path / "labs"))
    return tmp_path


def lab(directory: Path, roles: list[str], accounting: dict[str, Any]) -> Lab:
    """The lab of a cluster with two controllers in one entry."""
    heads = {"name": "head[1-2]", "type": "service", "address": "10.0.0.[1-2]", "roles": roles}
    nodes = [heads, {"name": "c[3-4]", "type": "gpu", "address": "10.0.0.[13-14]"}]
    document = manifest(nodes=nodes)
    document["slurm"]["accounting"] = accounting
    shared = {"type": "nfs", "server": "10.0.0.9", "path": "/state", "mount": "/state", "clients": roles[:1]}
    document["slurm"]["state_location"] = "/state/slurmctld"
    document["storage"] = {"state": shared}
    place = directory / "manifest.yaml"
    place.write_text(json.dumps(document), encoding="utf-8")
    compiled = compiler.validate(place)
    assert compiled.ok, compiled.diagnostics
    return prepare(compiled, place, "books", Wish())


def has(lab: Lab, words: str) -> bool:
    return words in lab.work.substitutions.read_text(encoding="utf-8")


def test_the_first_controller_replaces_the_slurmdbd_of_another_cluster(directory: Path) -> None:
    made = lab(directory, ["slurm-controller"], {"slurmdbd": ELSEWHERE})
    assert (made.cluster.slurm.controllers, made.cluster.slurm.accounting_hosts) == (("head1", "head2"), ("head1",))
    assert has(made, "in place of one outside of the manifest")


def test_the_slurmdbd_of_another_lab_stays(directory: Path) -> None:
    other = Work("other")
    other.make()
    other.manifest.touch()
    other.known_hosts.write_text(f"{ELSEWHERE} ssh-ed25519 AAAA\n", encoding="utf-8")
    made = lab(directory, ["slurm-controller"], {"slurmdbd": ELSEWHERE})
    assert (made.cluster.of(Accounting).slurmdbd, made.cluster.slurm.accounting_hosts) == (ELSEWHERE, ())
    assert not has(made, "another cluster")


def test_one_node_has_slurmdbd_and_its_database_in_place_of_a_database_elsewhere(directory: Path) -> None:
    made = lab(directory, ["slurm-controller", "slurm-accounting"], {"database_host": ELSEWHERE, "password": True})
    assert (made.cluster.slurm.controllers, made.cluster.slurm.accounting_hosts) == (("head1", "head2"), ("head1",))
    accounting = made.cluster.of(Accounting)
    assert (accounting.database_is_local, accounting.has_password) == (True, False)
    assert has(made, "the accounting database on the first node with slurmdbd")
