"""The printed model: valid by its schema, folded, the same for manifests that mean the same, and whole origins."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from click.testing import CliRunner, Result
from hypothesis import given, settings

from clustergen import compile as compiler
from clustergen.cli import group
from clustergen.cluster.document import document, schema, section_names
from clustergen.cluster.model import Cluster
from clustergen.cluster.resolve import resolve
from clustergen.diagnostics import CODES, ClustergenError, Finding, Severity
from clustergen.explain.fields import Fields
from clustergen.explain.manifests import Original
from clustergen.explain.origin import Value, flat, origins
from clustergen.hostlist import expand
from clustergen.manifest.model import Manifest
from clustergen.rules import check
from strategies.inventories import MANIFESTS
from strategies.manifests import manifests
from strategies.pages import ROOT
from strategies.trees import manifest

FIXTURES = sorted((ROOT / "tests" / "fixtures" / "verify").glob("*.yaml"))


@cache
def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema())


def cluster_of(data: dict[str, Any]) -> Cluster:
    return resolve(Manifest.model_validate(compiler.frozen(data)), lambda _: None)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, ["resolve", *map(str, arguments)])


@pytest.mark.slow
@pytest.mark.parametrize("path", [*MANIFESTS.values(), *FIXTURES], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_yaml_and_json_are_valid_by_the_schema(path: Path) -> None:
    text, data = run(path), run(path, "--format", "json")
    assert (text.exit_code, data.exit_code) == (0, 0), text.output + data.output
    fields = json.loads(data.stdout)
    validator().validate(fields)
    del fields["version"]
    assert yaml.load(text.stdout, yaml.CSafeLoader) == fields


@pytest.mark.slow
@given(manifests())
def test_every_manifest_has_a_valid_document(data: dict[str, Any]) -> None:
    validator().validate(document(cluster_of(data)))


@pytest.mark.slow
def test_a_schema_refuses_what_is_no_document() -> None:
    good = document(cluster_of(manifest()))
    for wrong in ({**good, "more": 1}, {**good, "name": 1}, {key: value for key, value in good.items() if key != "os"}):
        assert not validator().is_valid(wrong)


def test_hosts_are_folded_and_none_is_lost() -> None:
    compiled = compiler.validate(MANIFESTS["ml-training"])
    assert compiled.cluster is not None
    groups = document(compiled.cluster)["groups"]
    assert isinstance(groups, list)
    for entry, group_ in zip(groups, compiled.cluster.groups, strict=True):
        assert (tuple(expand(entry["hosts"])), entry["type"]) == (group_.hosts, group_.type.name)
        assert tuple(expand(entry["addresses"])) == group_.addresses
    assert groups[-1]["hosts"] == "compute[01-08]"


def _reordered(data: dict[str, Any]) -> dict[str, Any]:
    return dict(reversed(data.items()))


def _expanded(data: dict[str, Any]) -> dict[str, Any]:
    changed = deepcopy(data)
    for entry in changed["nodes"]:
        for field in ("name", "address"):
            if field in entry:
                entry[field] = ",".join(expand(entry[field]))
    return changed


def _with_defaults(data: dict[str, Any]) -> dict[str, Any]:
    """With the default of each unset field of `facility`, `ucx` and `nccl` as the schema has it."""
    more = {"facility": {"cabling": {"rack_pitch": 0.6, "slack": 0.6}, "power_factor": 0.95, "spares": "0%"}}
    return {**data, **more, "ucx": {"enabled": True}, "nccl": {"topology_file": "off"}}


def _meaning(value: Any) -> Any:
    """Without what says where and whether the manifest has it."""
    if isinstance(value, dict):
        kept = {key: inner for key, inner in value.items() if not re.search(r"(^|_)(at|stated)$", key)}
        return {key: _meaning(inner) for key, inner in kept.items()}
    return [_meaning(inner) for inner in value] if isinstance(value, list) else value


def _respelled(data: Any) -> Any:
    """With quantities in their smallest units: 512GiB as bytes, 2d as seconds."""
    if isinstance(data, dict):
        return {key: _respelled(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_respelled(value) for value in data]
    for match in [re.fullmatch(r"(\d+)(GiB|TB|kW|d|h|min)", data)] if isinstance(data, str) else []:
        if match:
            size, unit = _SMALLEST[match[2]]
            return f"{int(match[1]) * size}{unit}"
    return data


_SMALLEST = {
    "GiB": (1 << 30, "B"),
    "TB": (10**12, "B"),
    "kW": (1000, "W"),
    "d": (86400, "s"),
    "h": (3600, "s"),
    "min": (60, "s"),
}
_SECTIONS = {
    "racks": {"rack1": {"power": "40kW", "cooling": "40kW"}},
    "slurm": {
        "version": "24.11",
        "partitions": {"p": {"nodes": "all", "max_time": "2d", "grace_time": "2min", "max_memory_per_node": "64GiB"}},
        "qos": {"normal": {"max_wall": "12h", "max_tres_per_job": {"mem": "16GiB", "cpu": 4}}},
    },
    "facility": {"estimates": {"checkpoint": "2TB", "all_reduce": ["1GiB"]}},
}


@pytest.mark.parametrize("change", [_reordered, _expanded, _with_defaults, _respelled])
def test_the_same_in_other_words_is_the_same_model(change: Any) -> None:
    data = manifest(**({} if change is _with_defaults else _SECTIONS))
    changed = change(data)
    assert json.dumps(changed) != json.dumps(data)
    assert _meaning(document(cluster_of(changed))) == _meaning(document(cluster_of(data)))


@pytest.mark.slow
@settings(max_examples=20)
@given(manifests())
def test_every_manifest_in_other_words_is_the_same_model(data: dict[str, Any]) -> None:
    expected = _meaning(document(cluster_of(data)))
    assert _meaning(document(cluster_of(_respelled(_expanded(_reordered(data)))))) == expected
    assert _meaning(document(cluster_of({**data, "name": f"{data['name']}x"}))) != expected


_UNITS = r"(ms|us|s|minutes|days|years|w|va|kg|m|c|percent|gbit|mhz|bytes|kib|mib|rpm|per_minute|(bytes|bits)_per_s)"
_QUANTITY = re.compile(
    "_(time|timeout|interval|period|window|age|delay|latency|retention|duration|life|wall|size|sizes|memory|mem|free"
    "|capacity|power|cooling|psu|speed|rate|bandwidth|frequency|clock|temperature|pitch|weight|mtu|request)_"
)
_WITHOUT_UNIT = {
    "block_sizes": "numbers of nodes",
    "capacity": "a number of nodes",
    "effective_time": "a fraction of the wall time",
    "free_ports": "a number of ports",
    "mtu": "bytes in every tool",
    "port_mtu": "bytes in every tool",
    "power_factor": "a ratio",
    "weight": "Slurm's order of nodes",
}
"""Number fields with the name of a quantity → why they have no unit."""
_TEXTS = {"Accounting.purge": "a month has no fixed length"}
"""Fields whose value is a text with a unit → why."""
_FREE = re.compile(r"^slurm_keys|purge|options|env\b")
"""Values as a file of Slurm or the site has them."""
_NUMBER_WITH_UNIT = re.compile(
    r"[0-9.]+ ?([muµ]?s|sec|min|minutes?|h|hours?|d|days?|weeks?|months?|years?|[kKMGTP]i?B(/s)?|B|[kMGT]b(it)?/s|[kM]?"
    r"W|k?VA|%|°?C|k?g|m|[kMG]?Hz)|([0-9]+-)?[0-9]+:[0-9:]+|UNLIMITED"
)


def _properties() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Record, name and schema of each field."""
    whole = schema()
    records = {"Cluster": whole, **whole["$defs"]}
    for record, definition in records.items():
        yield from ((record, name, field) for name, field in definition["properties"].items())


def _kinds(field: Any) -> Iterator[str]:
    if isinstance(field, dict):
        yield from [field["type"]] if isinstance(field.get("type"), str) else []
        field = list(field.values())
    for inner in field if isinstance(field, list) else ():
        yield from _kinds(inner)


@pytest.mark.slow
def test_a_number_that_is_a_quantity_has_its_unit_in_its_name() -> None:
    numbers = {name for _, name, field in _properties() if {"integer", "number"} & set(_kinds(field))}
    unnamed = {name for name in numbers if _QUANTITY.search(f"_{name}_") and not re.search(f"_({_UNITS}|at)$", name)}
    assert unnamed == _WITHOUT_UNIT.keys()


@pytest.mark.slow
def test_no_field_has_a_text_with_a_unit() -> None:
    quantities = {f"{record}.{name}" for record, name, field in _properties() if "examples" in json.dumps(field)}
    assert quantities == _TEXTS.keys()


@pytest.mark.slow
@pytest.mark.parametrize("path", [*MANIFESTS.values(), *FIXTURES], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_printed_text_is_a_number_with_a_unit(path: Path) -> None:
    compiled = compiler.validate(path)
    assert compiled.cluster is not None
    texts = {name: yaml.safe_load(text) for name, text in flat(document(compiled.cluster), "")}
    assert {
        name: text
        for name, text in texts.items()
        if isinstance(text, str) and _NUMBER_WITH_UNIT.fullmatch(text) and not _FREE.search(name)
    } == {}


@pytest.mark.slow
def test_every_field_has_a_description() -> None:
    bare = [
        f"{record}.{name}" for record, name, field in _properties() if not field.get("description", "$ref" in field)
    ]
    assert bare == []
    assert all(record["description"] for record in schema()["$defs"].values())


def test_unknown_facts_of_a_node_type_are_null() -> None:
    kinds: Any = document(cluster_of(manifest()))["node_types"]
    service = next(kind for kind in kinds if kind["name"] == "service")
    small = next(kind for kind in kinds if kind["name"] != "service")
    assert {name: service[name] for name in ("sockets", "cores", "memory_mib", "real_memory_mib", "job_cores")} == {
        "sockets": None,
        "cores": None,
        "memory_mib": None,
        "real_memory_mib": None,
        "job_cores": None,
    }
    assert small["cores"] > 0 < small["memory_mib"]


def test_internal_values_are_not_printed() -> None:
    printed = document(cluster_of(manifest()))
    groups: Any = printed["groups"]
    assert "named_rows" not in printed
    assert {"index", "folded", "entry"}.isdisjoint(groups[0])


def test_a_section_is_printed_alone() -> None:
    path = MANIFESTS["ml-training"]
    assert yaml.safe_load(run(path, "--section", "facility").stdout).keys() == {"cluster_version", "facility"}


def test_a_model_that_cannot_be_printed_says_so(tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(yaml.safe_dump(manifest(nodes="all")), encoding="utf-8")
    done = run(path, "--partial")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("nothing is printed: ")
    refused = run(path, "--partial", "--origin")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--origin is for valid manifests" in refused.stderr


@pytest.mark.slow
def test_sections_have_names_of_their_own() -> None:
    for path in MANIFESTS.values():
        compiled = compiler.validate(path)
        assert compiled.cluster is not None
        names = section_names(compiled.cluster)
        assert len(names) == len(set(names))


@pytest.mark.slow
def test_ten_thousand_nodes_are_no_list_of_them(tmp_path: Path) -> None:
    data = manifest(monitoring={}, logs={})
    for entry in data["nodes"]:
        if entry["type"] != "service":
            entry.update(name="n[00001-10240]", address="10.[0-39].0.[0-255]")
    data["networks"]["management"]["cidr"] = "10.0.0.0/8"

    def longest(value: Any) -> int:
        if isinstance(value, dict | list):
            below = value.values() if isinstance(value, dict) else value
            return max([len(value), *map(longest, below)])
        return len(value) if isinstance(value, str) else 0

    assert longest(document(cluster_of(data))) < 200


@pytest.mark.parametrize(
    ("section", "hint"),
    [("facilty", "did you mean 'facility'?"), ("nodes", "write groups"), ("x9", "name one of name, os, ")],
)
def test_an_unknown_section_names_others(section: str, hint: str) -> None:
    done = run(MANIFESTS["home-3090"], "--section", section)
    assert isinstance(done.exception, ClustergenError)
    assert done.exception.exit_code == 2
    assert (done.exception.hint or "").startswith(hint)
    assert done.stdout == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "left_out"),
    [
        ({"slurm": {"version": "24.11", "partitions": {"p": {"nodes": "nobody"}}}}, []),  # a rule refuses it
        ({"gpu": {"compute_mode": "shared"}}, ["gpu.compute_mode"]),
        ({"slurm": {"version": "24.11", "partition": {}}}, []),  # a misspelt key
        ({"logs": "yes", "storage": ["home"]}, ["logs", "storage"]),
        ({"catalogue": {"gpus": 1}}, ["catalogue.gpus"]),
    ],
)
def test_an_invalid_manifest_is_printed_on_request_alone(
    change: dict[str, Any], left_out: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(yaml.safe_dump(manifest(**change)), encoding="utf-8")
    refused = run(path)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "error" in refused.stderr
    shown = run(path, "--partial", "--format", "json")
    assert shown.exit_code == 2
    fields = json.loads(shown.stdout)
    validator().validate(fields)
    assert (fields["is_partial"], fields["left_out"]) == (True, left_out)
    assert fields["groups"][1]["hosts"]
    assert shown.stderr == refused.stderr


def test_a_manifest_with_a_secret_is_never_printed(tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"
    data = manifest(slurm={"version": "24.11", "options": {"AuthInfo": secret}})
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    for options in ((), ("--partial",), ("--partial", "--format", "json")):
        done = run(path, *options)
        assert done.exit_code == 2
        assert done.stdout == ""
        assert secret not in done.output


@cache
def _origins(section: str) -> dict[str, Value]:
    return {value.path: value for value in origins(compiler.validate(MANIFESTS["home-3090"]), section)}


def _origin(path: str) -> Value:
    """Studies the value's section alone: all together take half a minute."""
    return _origins(re.split(r"[.[]", path)[0])[path]


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("seed", range(30))
def test_values_that_change_the_model_are_among_the_origins(seed: int) -> None:
    """Ten random edits of a manifest: each value that becomes another one names the field, or one around or in it."""
    compiled = compiler.validate(MANIFESTS["home-3090"])
    assert compiled.cluster is not None
    original = Original(compiled.source.data)
    fields = Fields(original)
    before = dict(flat(document(compiled.cluster), ""))
    random_ = random.Random(seed)
    edits = [
        (field, edit) for field in fields.all if field.kind in ("value", "default") for edit in fields.edits(field)
    ]
    for field, edit in random_.sample(edits, 10):
        findings: list[Finding] = []
        try:
            changed = original.edited([edit])
            cluster = resolve(changed, findings.append)
        except ValueError:  # no manifest
            continue
        if any(CODES[finding.code].severity is Severity.ERROR for finding in [*findings, *check(cluster, changed)]):
            continue
        after = dict(flat(document(cluster), ""))
        differing = {path for path in before.keys() & after.keys() if before[path] != after[path]}
        unnamed = {path for path in differing if not _names(_origin(path), field.name)}
        assert not unnamed, (field.name, edit)


@pytest.fixture(scope="module")
def placed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Value]:
    """Values of the small manifest with racks and a mount; those of an example take twenty times as long."""
    nfs = {"type": "nfs", "server": "10.0.0.9", "path": "/export", "mount": "/home", "clients": ["slurm-compute"]}
    racks = {"rack1": {"nodes": "c[1-2],head"}, "rack2": {"nodes": "c[3-4]"}}
    path = tmp_path_factory.mktemp("placed") / "manifest.yaml"
    path.write_text(yaml.safe_dump(manifest(racks=racks, facility={"pue": 1.4}, storage={"home": nfs})), "utf-8")
    compiled = compiler.validate(path)
    assert compiled.ok, compiled.diagnostics
    return {value.path: value for name in ("facility", "racks", "storage") for value in origins(compiled, name)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "origin", "first"),
    [
        ("facility.pue", "written", "facility.pue"),
        ("facility.power_factor", "default", "facility.power_factor"),
        ("racks[0].name", "written", "racks.rack1"),
        ("racks[1].position", "default", "racks.rack2.position"),
        ("storage.entries.home.clients", "written", "storage.home.clients[0]"),
        ("storage.entries.home.read_only", "default", "storage.home.read_only"),
        ("storage.entries.home.port", "catalogue", "storage.home.port"),
        ("storage.entries.home.mount_type", "derived", "storage.home"),
    ],
)
def test_an_origin_names_what_the_value_depends_on(
    path: str, origin: str, first: str, placed: dict[str, Value]
) -> None:
    value = placed[path]
    causes = [cause.path for cause in (*value.stated, *value.defaults)]
    assert (value.origin, (causes or [""])[0]) == (origin, first)
    assert all(cause.place and cause.place.line for cause in value.stated)


@pytest.mark.slow
def test_the_existence_of_an_entry_is_no_origin_of_its_values(tmp_path: Path) -> None:
    """A field that is unset is a default, be it of an entry that is written; a catalogue row names its source."""
    path = tmp_path / "manifest.yaml"
    qos = {"normal": {"priority": 100}, "high": {"preempt": ["normal"]}}
    changed = manifest(slurm={"version": "24.11", "partitions": {"p": {"nodes": "all"}}, "qos": qos, "accounts": {}})
    changed["node_types"] = {"gpu": {"system": "dgx-h100"}}
    for entry in changed["nodes"]:
        entry["type"] = "gpu" if entry["type"] == "small" else entry["type"]
    path.write_text(yaml.safe_dump(changed), encoding="utf-8")
    compiled = compiler.validate(path)
    assert compiled.ok, compiled.diagnostics
    values = {value.path: value for value in (*origins(compiled, "associations"), *origins(compiled, "node_types"))}
    assert {
        name: values[f"associations.qos.normal.{name}"].origin for name in ("priority", "max_wall_s", "group_tres")
    } == {
        "priority": "written",
        "max_wall_s": "default",
        "group_tres": "default",
    }
    assert [cause.path for cause in values["associations.qos.normal.max_wall_s"].defaults] == [
        "slurm.qos.normal.max_wall"
    ]
    model = values["node_types[0].cpu_model"]
    assert model.origin == "catalogue"
    assert [row.name for row in model.catalogue] == ["dgx-h100"]
    assert model.catalogue[0].sources


def test_the_text_of_an_origin_is_yaml() -> None:
    fields = {"a": "off", "b": "24.11", "c": "x: y # z", "d": ["1", "true"], "e": "", "f": {}, "g": None}
    assert {path: yaml.safe_load(text) for path, text in flat(fields, "")} == fields


def _names(value: Value, field: str) -> bool:
    causes = [cause.path for cause in (*value.stated, *value.defaults)]
    return any(_holds(cause, field) or _holds(field, cause) for cause in causes)


def _holds(outer: str, inner: str) -> bool:
    return inner == outer or inner.startswith((f"{outer}.", f"{outer}["))


@pytest.mark.slow
def test_a_schema_speaks_json() -> None:
    """Comments of the source are its descriptions, in words of JSON; a property has those of the one it overrides."""
    definitions = schema()["$defs"]
    assert definitions["NodeGroup"]["properties"]["hosts"]["format"] == "host-list"
    assert definitions["Partition"]["properties"]["max_time_minutes"]["description"] == "null: unlimited"
    assert definitions["Nfs"]["properties"]["sources"]["description"]
    assert not re.search(r"\b(None|True|False)\b", json.dumps(definitions))
