"""The table of Slurm's keys in effect: what the rendered files have, and where the manifest sets it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from clustergen.cluster.contributions import Secret
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.keys.table import SlurmKeys, settings_of
from clustergen.compile import validate
from clustergen.slurmconf import parse
from strategies.inventories import MANIFESTS, compiled
from strategies.slurm_trees import tables
from strategies.trees import MANIFEST


def _of_table(cluster: Cluster, file: str) -> set[tuple[tuple[str, str], ...]]:
    table = cluster.of(SlurmKeys)
    rows = [row for rows in table.settings.get(file, {}).values() for row in rows]
    return {((row.key, row.value),) for row in rows} | {tuple(line.keys.items()) for line in table.lines.get(file, ())}


@pytest.mark.slow
@pytest.mark.parametrize("name", MANIFESTS)
def test_a_file_has_what_the_table_has(name: str) -> None:
    result, tree = compiled(name)
    assert result.cluster is not None
    files = {"slurm.conf", "gres.conf", "topology.conf", "cgroup.conf", "slurmdbd.conf", "mpi.conf", "acct_gather.conf"}
    seen = 0
    for path, rendered in tree.files.items():
        file = path.rpartition("/")[2]
        if file in files and "/etc/slurm/" in path:
            lines = parse(rendered.content.decode(), file, key_tables=tables(file))
            pairs = {tuple((pair.key, pair.value) for pair in line.pairs) for line in lines}
            assert {each for each in pairs if each and each[0][0] != "Include"} == _of_table(result.cluster, file), path
            seen += 1
    assert seen > 2


def test_a_key_names_the_field_or_option_that_sets_it(tmp_path: Path) -> None:
    slurm = {
        "version": "24.11",
        "build": "schedmd",
        "slurmd_timeout": 90,
        "scheduler": {"backfill_window": "2d"},
        "options": {"killWait": 60, "enforcepartlimits": "ANY"},
        "partitions": {"p": {"nodes": "all", "options": {"LLN": "YES"}}},
    }
    path = tmp_path / "manifest.yaml"
    path.write_text(json.dumps({**MANIFEST, "slurm": slurm}), encoding="utf-8")
    result = validate(path)
    assert result.cluster is not None
    conf = settings_of(result.cluster, "slurm.conf")
    expected = {
        "SlurmdTimeout": ("slurm", "slurmd_timeout"),
        "SchedulerParameters": ("slurm", "scheduler", "backfill_window"),
        "KillWait": ("slurm", "options", "killWait"),
        "MessageTimeout": None,
    }
    assert {key: row.at for key in expected if (row := conf.get(key))} == expected
    assert [(row.key, row.value) for _, row in conf.options()] == [("EnforcePartLimits", "ANY"), ("killWait", "60")]
    partition = result.cluster.of(SlurmKeys).lines["slurm.conf"][-1]
    assert partition.options == {"LLN": ("slurm", "partitions", "p", "options", "LLN")}


@pytest.mark.parametrize("change", [str, str.lower])
def test_the_key_of_jwt_is_a_secret_whatever_the_case_of_the_options(
    change: Callable[[str], str], tmp_path: Path
) -> None:
    options = {"AuthAltTypes": "auth/jwt", "AuthAltParameters": "jwt_key=/etc/slurm/jwt.key"}
    slurm = {"version": "24.11", "build": "schedmd", "options": {change(key): text for key, text in options.items()}}
    path = tmp_path / "manifest.yaml"
    path.write_text(json.dumps({**MANIFEST, "slurm": {**MANIFEST["slurm"], **slurm}}), encoding="utf-8")
    cluster = validate(path).cluster
    assert cluster is not None
    assert ("jwt", "/etc/slurm/jwt.key") in [(secret.name, secret.path) for secret in cluster.needs(Secret)]
