"""The JSON of every verb: one document that begins with `version`, and nothing else on stdout."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cli.test_output import verbs
from clustergen.cli import group
from clustergen.diagnostics.document import VERSION
from strategies.diffs import LONGER, git
from strategies.diffs import MANIFEST as SMALL
from strategies.fabric_nets import cluster_of, planned_net, superpod
from strategies.machines import MANIFEST as MACHINES
from strategies.machines import record

PLANNED = superpod(4, plan="leaf: qm9700, unit: 2")
CONF = "ClusterName=c\nSlurmctldHost=h\nFoo=1\nNodeName=n CPUs=1\nPartitionName=p Nodes=n Default=YES\n"
# Verb → its arguments, in a directory with the files below; several where the documents differ.
USES = {
    "validate": ["m.yaml", "bad.yaml"],
    "resolve": ["m.yaml", "m.yaml --section nccl --origin"],
    "render": ["m.yaml --check"],
    "diff": ["m.yaml longer.yaml"],
    "plan": ["m.yaml"],
    "verify": ["rendered --only tree"],
    "lint": ["slurm.conf"],
    "import": ["slurm.conf", "slurm.conf -o new/manifest.yaml"],
    "explain": ["", "gres-mismatch", "slurm.version", "MaxTime", "m.yaml slurm.conf:1"],
    "drift": ["--facts facts machines.yaml"],
    "catalogue": ["", "gpus", "gpus h100-sxm", "l40s"],
    "features": [""],
    "fabric check": ["pod.yaml fabric.txt"],
    "facility compare": ["pod.yaml pod.yaml"],
    "facility estimate": ["pod.yaml --parameters 7B --tokens 1T"],
    "facility refresh": ["bought.yaml --on 2027-01-01"],
}


def _with_json() -> list[str]:
    items = []
    for name, command in verbs(group, click.Context(group)):
        formats = [one.type for one in command.params if one.name == "form"]
        if any(isinstance(kind, click.Choice) and "json" in kind.choices for kind in formats):
            items.append(name)
    return items


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("json")
    texts = {
        "m.yaml": SMALL,
        "longer.yaml": SMALL.replace(*LONGER),
        "bad.yaml": "name: 1\n",
        "slurm.conf": CONF,
        "pod.yaml": PLANNED,
        "fabric.txt": planned_net(cluster_of(PLANNED)).discovered(),
        "machines.yaml": MACHINES,
        "bought.yaml": PLANNED + "facility: {deliveries: {first: {types: [dgx], bought: 2022-01-01, warranty: 5}}}\n",
    }
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8")
    record(place / "facts")
    assert CliRunner().invoke(group, ["render", str(place / "m.yaml")]).exit_code == 0
    git(place, "init", "-q")
    git(place, "add", "m.yaml")
    git(place, "commit", "-qm", "one")
    return place


def test_every_verb_with_json_is_tried() -> None:
    assert _with_json() == [verb for name, _ in verbs(group, click.Context(group)) for verb in USES if verb == name]


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(("verb", "words"), [(verb, words) for verb, uses in USES.items() for words in uses])
def test_a_document_begins_with_its_version(
    verb: str, words: str, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(directory)
    done = CliRunner().invoke(group, [*verb.split(), *words.split(), "--format", "json"])
    assert done.exit_code in (0, 1, 2), done.output
    document = json.loads(done.stdout)
    assert next(iter(document.items())) == ("version", VERSION)
    assert len(document) > 1
    assert done.stdout.isascii()
    assert done.stdout.endswith("\n")
