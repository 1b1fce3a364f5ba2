"""The collection is the package's: one version, a trial and an effect for what the tree can hold."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import get_args

import pytest
import yaml

from ansible_collections.clustergen.cluster.plugins.module_utils import effects as carried_out
from ansible_collections.clustergen.cluster.plugins.plugin_utils import answers
from ansible_collections.clustergen.cluster.plugins.plugin_utils import effects as judged
from clustergen import __version__
from clustergen.catalogue.effects import severities, step_kinds
from clustergen.diff import steps
from clustergen.render import effects

ROOT = Path(__file__).parents[2]
COLLECTION = ROOT / "playbooks/ansible_collections/clustergen/cluster"
LOCKS = sorted(ROOT.glob("inventories/*/rendered/clustergen.lock.json"))


def test_the_collection_has_the_packages_version() -> None:
    assert yaml.safe_load((COLLECTION / "galaxy.yml").read_text(encoding="utf-8"))["version"] == __version__


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.parts[-3])
def test_every_effect_of_the_trees_is_carried_out_by_a_role(lock: Path) -> None:
    names = {
        entry["effect"] for entry in json.loads(lock.read_text(encoding="utf-8"))["files"].values() if "effect" in entry
    }
    kinds = {judged.kind(effect) for effect in names}
    by_phase = {"none", "after", "window"}  # the plan decides when their files are put
    assert kinds - set(carried_out._ORDER) - judged.SLURM_KINDS - judged.EMPTYING <= by_phase


def test_effects_have_one_order() -> None:
    """The order of steps.tsv, which `diff` reads; nodes have a copy of it."""
    assert set(get_args(effects.Kind)) == severities().keys()
    for play in (steps.PUT, steps.DRAINED):
        listed = [kind for of, kind in step_kinds() if of == play and kind in carried_out._ORDER]
        assert listed == [kind for kind in carried_out._ORDER if kind in listed]


def test_answers_of_a_module_have_a_schema_and_an_action_that_checks_it() -> None:
    modules = {place.stem for place in (COLLECTION / "plugins/modules").glob("*.py")}
    assert modules == set(answers.SCHEMAS)
    asking = " ".join(place.read_text(encoding="utf-8") for place in (COLLECTION / "plugins/action").glob("*.py"))
    sent = yaml.safe_load((COLLECTION / "meta/runtime.yml").read_text(encoding="utf-8"))["plugin_routing"]["action"]
    checked = {name for name, entry in sent.items() if entry == {"redirect": "clustergen.cluster.answer"}}
    assert {name for name in modules - checked if f'"{name}"' not in asking} == set()
    assert "_execute_module" not in asking


def _too_new(tree: ast.AST) -> set[str]:
    """Names that Python 3.8 lacks although its grammar lets them through."""
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} & {"removeprefix", "removesuffix"}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = {word.arg for call in calls if getattr(call.func, "id", "") == "zip" for word in call.keywords}
    return names | {f"zip({word})" for word in named if word}


@pytest.mark.slow
def test_programs_of_nodes_run_on_python_3_8() -> None:
    """Ansible reads it with the Python of the node, 3.9 on Rocky 9."""
    places = [place for part in ("modules", "module_utils") for place in (COLLECTION / "plugins" / part).glob("*.py")]
    assert places
    trees = {place.name: ast.parse(place.read_text(encoding="utf-8"), feature_version=(3, 8)) for place in places}
    assert {name: new for name, tree in trees.items() if (new := _too_new(tree))} == {}


def test_a_node_may_have_every_effect_left_to_do_that_the_package_knows() -> None:
    kinds = get_args(effects.Kind)
    assert [answers.EFFECT.check(kind, "pending") for kind in kinds] == list(kinds)
    for text in ("restart:chrony.service", "run:a@b-c.service", r"remount:mnt-a\x2db.mount"):
        assert answers.EFFECT.check(text, "pending") == text
    for text in ("format-disks", "run:x.service; reboot", "reboot\n", "run:" + "x" * 400):
        with pytest.raises(answers.AnswerError):
            answers.EFFECT.check(text, "pending")
