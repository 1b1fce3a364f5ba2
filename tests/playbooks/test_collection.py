"""The collection is the package's: one version, a trial and an effect for what the tree can hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from ansible_collections.clustergen.cluster.plugins.module_utils import effects as carried_out
from ansible_collections.clustergen.cluster.plugins.plugin_utils import effects as judged
from clustergen import __version__

ROOT = Path(__file__).parents[2]
COLLECTION = ROOT / "playbooks/ansible_collections/clustergen/cluster"
LOCKS = sorted(ROOT.glob("inventories/*/rendered/clustergen.lock.json"))


def test_the_collection_has_the_packages_version() -> None:
    assert yaml.safe_load((COLLECTION / "galaxy.yml").read_text(encoding="utf-8"))["version"] == __version__


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.parts[-3])
def test_every_effect_of_the_trees_is_carried_out_by_somebody(lock: Path) -> None:
    told = {
        entry["effect"] for entry in json.loads(lock.read_text(encoding="utf-8"))["files"].values() if "effect" in entry
    }
    kinds = {judged.kind(effect) for effect in told}
    assert kinds - set(carried_out._ORDER) - judged.SLURM_KINDS - judged.EMPTYING == {"none"}
