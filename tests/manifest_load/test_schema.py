"""The schema that editors read: it offers the catalogue's names, and refuses no valid manifest."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from clustergen.catalogue.topics import TOPICS
from clustergen.cli.init import STARTER
from clustergen.manifest.schema import json_schema, json_schema_text, model_schema
from strategies.inventories import MANIFESTS

CATALOGUE = """
name: tiny
os: debian-12
networks:
  management: {cidr: 10.0.0.0/24}
  fabric: {type: infiniband, rate: 400Gb/s, switches: [{name: leaf1, model: our-switch, nodes: n1}]}
node_types:
  box: {system: our-box, gpus: {model: Our_GPU}, nics: [{device: mlx5_0, model: our-nic}]}
nodes:
  - {name: n1, type: box, address: 10.0.0.1}
slurm: {version: "24.11"}
catalogue:
  systems: {our-box: {cpu: {cores_per_socket: 8}, memory: 64GiB, gpu: our_gpu}}
"""


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def offered(schema: dict[str, Any], model: str, field: str) -> list[str]:
    return [name for form in schema["$defs"][model]["properties"][field]["anyOf"] for name in form.get("enum", ())]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "field", "topic"),
    [
        ("NodeType", "system", "systems"),
        ("Gpus", "model", "gpus"),
        ("Nic", "model", "nics"),
        ("Switch", "model", "switches"),
        ("Fabric", "rate", "rates"),
        ("Slurm", "version", "slurm"),
    ],
)
def test_names_of_the_catalogue_are_offered(model: str, field: str, topic: str) -> None:
    schema = json_schema()
    assert offered(schema, model, field) == TOPICS[topic].ids()
    assert schema["$defs"][model]["properties"][field]["description"]


@pytest.mark.slow
@pytest.mark.parametrize("path", [STARTER, *MANIFESTS.values()], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_valid_manifests_fit(validator: Draft202012Validator, path: Path) -> None:
    validator.validate(yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.slow
def test_names_of_a_sites_own_hardware_fit(validator: Draft202012Validator) -> None:
    validator.validate(yaml.safe_load(CATALOGUE))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["DGX H100", "", 100])
def test_texts_that_no_name_can_be_do_not_fit(validator: Draft202012Validator, name: object) -> None:
    manifest = yaml.safe_load(CATALOGUE)
    manifest["node_types"]["box"]["system"] = name
    assert not validator.is_valid(manifest)


@pytest.mark.slow
def test_examples_of_fields_are_valid(validator: Draft202012Validator) -> None:
    """Editors offer them; `explain` and docs/manifest.md show them."""
    schema: dict[str, Any] = validator.schema
    wrong = []

    def look(part: Any) -> int:
        if isinstance(part, list):
            return sum(map(look, part))
        if not isinstance(part, dict):
            return 0
        examples = part.get("examples", []) if {"type", "anyOf", "$ref", "enum"} & part.keys() else []
        judge = Draft202012Validator({**part, "$defs": schema["$defs"]})
        wrong.extend(example for example in examples if not judge.is_valid(example))
        return len(examples) + sum(look(inner) for name, inner in part.items() if name != "examples")

    assert look(schema) > 200
    assert wrong == []


OVER = """
extends: ../site.yaml
name: north
node_types: {shards: {like: a100, gpus: {shards: 4}}, old: null}
networks: {fabric: {mtu: 4096}}
nodes: [{name: n1, roles: [login]}]
slurm: {partitions: {batch: {max_time: 1-0}, long: null}, fair_shore: null}
storage: {home: {mount: /home}}
"""


@pytest.mark.slow
def test_a_manifest_that_extends_a_file_states_parts_of_sections(validator: Draft202012Validator) -> None:
    """Null removes a key; a name that no section has stays a mistake, and so does a part where nothing is extended."""
    data = yaml.safe_load(OVER.replace(", fair_shore: null", ""))
    validator.validate(data)
    assert not validator.is_valid(yaml.safe_load(OVER))
    assert not validator.is_valid({key: value for key, value in data.items() if key != "extends"})


def _paths(value: Any) -> Iterator[tuple[str | int, ...]]:
    """Of each key and item."""
    rows = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in rows:
        yield (key,)
        yield from ((key, *rest) for rest in _paths(inner))


@pytest.mark.slow
@pytest.mark.parametrize("is_null", [False, True])
def test_a_key_may_be_missing_or_null_where_the_model_admits_it(validator: Draft202012Validator, is_null: bool) -> None:
    """In a manifest that extends a file, any may."""
    text, model = STARTER.read_text(encoding="utf-8"), Draft202012Validator(model_schema())
    for path in _paths(yaml.safe_load(text)):
        data: Any = yaml.safe_load(text)
        *parents, last = path
        section = reduce(lambda part, key: part[key], parents, data)
        if isinstance(section, list):
            continue
        section[last] = None
        if not is_null:
            del section[last]
        assert validator.is_valid(data) == model.is_valid(data), path
        assert validator.is_valid({"extends": "../site.yaml", **data}), path


def test_editors_read_the_schema_at_once() -> None:
    assert len(json_schema_text()) < 350_000


@pytest.mark.slow
def test_nodes_have_fields_of_their_type(validator: Draft202012Validator) -> None:
    """Not its system: that is another type."""
    data = yaml.safe_load(CATALOGUE)
    for fields, is_valid in (({"gpus": {"mig": "a"}}, True), ({"gpus": {"mgi": "a"}}, False), ({"system": "a"}, False)):
        data["nodes"][0] = {"name": "n1", "type": "box", "address": "10.0.0.1", **fields}
        assert validator.is_valid(data) == is_valid, fields
