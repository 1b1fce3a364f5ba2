"""The collection is the package's: one version, a trial and an effect for what the tree can hold."""

from __future__ import annotations

import ast
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


def _too_new(tree: ast.AST) -> set[str]:
    """What Python 3.8 lacks, of what its grammar lets through."""
    found = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} & {"removeprefix", "removesuffix"}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = {word.arg for call in calls if getattr(call.func, "id", "") == "zip" for word in call.keywords}
    return found | {f"zip({word})" for word in named if word}


def test_what_runs_on_nodes_is_for_python_3_8() -> None:
    """Ansible reads it with the Python of the node, 3.9 on Rocky 9."""
    places = [place for part in ("modules", "module_utils") for place in (COLLECTION / "plugins" / part).glob("*.py")]
    assert places
    trees = {place.name: ast.parse(place.read_text(encoding="utf-8"), feature_version=(3, 8)) for place in places}
    assert {name: new for name, tree in trees.items() if (new := _too_new(tree))} == {}
