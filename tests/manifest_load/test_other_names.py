"""Hints for names that people know from Slurm, sacctmgr and guides, and that the manifest has another name for."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from pydantic.fields import FieldInfo

from clustergen import compile as compiler
from clustergen.catalogue.other_names import OtherName
from clustergen.catalogue.roles import Role
from clustergen.catalogue.tables import table
from clustergen.cli.init import STARTER
from clustergen.diagnostics.model_path import entry_of, places_of_keys, section_of
from clustergen.manifest.base import NOT_EMPTY, Section
from clustergen.manifest.model import Manifest

ROWS = tuple(table("other_names.tsv", OtherName))


@cache
def starter() -> Any:
    return yaml.safe_load(STARTER.read_text(encoding="utf-8"))


def hints(path: str, value: Any = "x") -> list[str | None]:
    """Hints if the starter manifest has a value at `path`; an entry of nodes is named by its number."""
    data = copy.deepcopy(starter())
    *above, name = path.split(".")
    section = data
    for part in above:
        section = section[int(part)] if isinstance(section, list) else section.setdefault(part, {})
    section[name] = value
    text = yaml.safe_dump(data, sort_keys=False).encode()
    return [one.hint for one in compiler.validate(Path("m.yaml"), raw=text).diagnostics if one.code == "key-unknown"]


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        # Slurm's keys, as slurm.conf has them or with _
        ("slurm.MaxJobCount", "write slurm.scheduler.max_jobs"),
        ("slurm.max_job_count", "write slurm.scheduler.max_jobs"),
        ("slurm.select_type", "write slurm.resources.select"),
        ("slurm.prolog", "write slurm.scripts.prolog"),
        ("slurm.slurmctld_host", "remove it: clustergen derives SlurmctldHost from the role slurm-controller"),
        (
            "slurm.accounting.host",
            "write slurmdbd, for the slurmdbd of another cluster; for one here give a node the role slurm-accounting",
        ),
        ("slurm.licenses", "write Licenses under slurm.options: it is a key of slurm.conf"),
        ("slurm.MaxTime", "write slurm.partitions.<name>.max_time"),
        ("slurm.RealMemory", "write node_types.<name>.memory"),
        ("slurm.max_concurrent_jobs", "set the limit in a QOS: slurm.qos.NAME.max_jobs_per_user"),
        ("slurm.bf_max_job_test", "add bf_max_job_test to slurm.scheduler.parameters"),
        ("slurm.priority.type", "leave it out: this section stands for PriorityType=priority/multifactor"),
        ("slurm.priority.weight_fairshare", "write slurm.priority.weights.fairshare"),
        ("slurm.priority.decay_half_life", "write half_life"),
        ("slurm.preemption.type", "write by"),
        ("slurm.topology.type", "write plugin"),
        ("slurm.accounting.storage_host", "write database_host"),
        ("slurm.partitions.batch.MaxTime", "write max_time"),
        ("slurm.partitions.batch.preempt_mode", "write preempt"),
        ("node_types.gpu.RealMemory", "write memory"),
        ("node_types.gpu.tmp_disk", "write TmpDisk under slurm_options of a node type: it is a key of a NodeName line"),
        ("nodes.1.RealMemory", "write node_types.<name>.memory"),
        ("nodes.1.Feature", "write features"),
        # sacctmgr's
        ("slurm.qos.normal.GrpTRES", "write group_tres"),
        ("slurm.qos.normal.MaxTRESPU", "write max_tres_per_user"),
        ("slurm.qos.normal.LimitFactor", "write it under options, as LimitFactor"),
        ("slurm.accounts.a.GrpTRESMins", "write group_tres_minutes"),
        ("slurm.accounts.a.user_limits.u.MaxJobs", "write max_jobs"),
        # everyday words
        ("node_types.gpu.cores", "write cpu: {sockets: 2, cores_per_socket: 16}, as slurmd -C shows them"),
        ("slurm.qos.normal.max_tres", "write max_tres_per_job, max_tres_per_user or group_tres"),
        ("slurm.partitions.batch.time_limit", "write max_time"),
        ("nodes.1.ip", "write address"),
        (
            "slurm.partitions.batch.max_gpus_per_user",
            "write max_tres_per_user: {gres/gpu: 8} in a QOS, and qos of this partition",
        ),
        ("slurm.accounts.a.max_tres", "write group_tres for the account, max_tres_per_job for a job"),
        ("node_types.gpu.threads", "write cpu.threads_per_core: 2 with hyperthreading, 1 without"),
        ("slurm.reserved", "write node_types.<name>.reserved"),
        ("ldap", "write identity"),
        ("containers.enroot", "write slurm.pyxis, which installs enroot"),
        # the same key in another section, the nearest one
        ("node_types.gpu.mig", "move 'mig' to node_types.gpu.gpus"),
        ("nodes.1.bmc", "move 'bmc' to nodes.addresses"),
        ("qos", "move 'qos' to slurm"),
        # the first word of keys, and a common word that another section has
        ("health.gpu", "write gpu_count or gpu_settings"),
        ("health.preemption", "move 'preemption' to slurm"),
        # variables of NCCL and UCX
        ("nccl.NCCL_IB_TIMEOUT", "write env: {NCCL_IB_TIMEOUT: x}"),
        ("nccl.nccl_debug", "write debug"),
        ("ucx.UCX_TLS", "write env: {UCX_TLS: x}"),
        # nothing near
        ("slurm.partitions.batch.zzz", "run `clustergen explain slurm.partitions` to list its keys"),
        ("networks.zzz", "use one of management, bmc, fabric, storage"),
    ],
)
def test_names_of_other_tools_are_hinted_at(path: str, hint: str) -> None:
    assert hints(path) == [hint]


@pytest.mark.parametrize(
    ("role", "hint"),
    [
        ("beegfs-server", "name the node in servers of a beegfs entry: storage.<name>.servers"),
        ("beegfs-storage", "name the node in servers of a beegfs entry: storage.<name>.servers"),
        ("compute", "write slurm-compute"),
        ("dbd", "write slurm-accounting"),
        ("nfs", "did you mean 'nfs-server'?"),
        ("nfs-servr", "did you mean 'nfs-server'?"),
    ],
)
def test_roles_that_are_called_otherwise(role: str, hint: str) -> None:
    data = copy.deepcopy(starter())
    data["nodes"][0]["roles"].append(role)
    diagnostics = compiler.validate(Path("m.yaml"), raw=yaml.safe_dump(data).encode()).diagnostics
    assert [one.hint for one in diagnostics if one.code == "value-not-allowed"] == [hint]


@pytest.mark.parametrize(
    ("path", "value", "reported"),
    [
        (
            "node_types.cpu",
            {"memory": "64GiB", "sockets": 2, "cores_per_socket": 64},
            ["write cpu: {sockets: 2, cores_per_socket: 64}"] * 2,
        ),
        ("node_types.cpu", {"memory": "64GiB", "cpu.sockets": 2}, ["write cpu: {sockets: 2}"]),
        (
            "node_types.cpu",
            {"memory": "64GiB", "cpu": {"cores_per_socket": 8}, "sockets": 2},
            ["write sockets: 2 in cpu"],
        ),
        ("node_types.cpu", {"memory": "64GiB", "gpucount": 4}, ["write gpus: {count: 4}"]),
        ("slurm.scheduler", {"max_job_count": 5}, ["write max_jobs"]),
        ("slurm.qos", {"normal": {"max_gpus_per_user": 32}}, ["write max_tres_per_user: {gres/gpu: 32}"]),
        (
            "slurm.qos",
            {"normal": {"max_nodes": 2}},
            ["write max_tres_per_job, max_tres_per_user or group_tres, as {node: 2}"],
        ),
    ],
)
def test_a_hint_has_the_values_of_the_manifest(path: str, value: Any, reported: list[str]) -> None:
    assert hints(path, value) == reported


@pytest.mark.parametrize(
    ("path", "value", "code", "hint"),
    [
        ("slurm.preemption", {"type": "qos"}, "key-unknown", "write by"),
        ("networks", {"mgmt": {"cidr": "192.0.2.0/24"}}, "key-unknown", "write management"),
        (
            "storage.home",
            {"type": "nfs", "host": "10.0.0.5", "path": "/home", "mount": "/home"},
            "key-unknown",
            "write server: 10.0.0.5",
        ),
        (
            "storage.home.data_sets",
            {"directory": "data"},
            "key-unknown",
            "move it to an entry with type: local, which has this key",
        ),
        (
            "storage.home",
            {"type": "nfs", "path": "/home", "mount": "/home", "server": "10.0.0.5", "fsname": "a"},
            "key-unknown",
            "move it to an entry with type: lustre, which has this key",
        ),
        ("node_types.gpu.disks", [{"name": "nvme1n1", "size": "1TB"}], "key-unknown", "write device"),
        (
            "node_types.gpu.disks",  # not the key of gres.conf
            [{"device": "nvme1n1", "size": "1TB", "count": 4}],
            "key-unknown",
            "list each disk, as [{device: nvme0n1, size: 4TB}, {device: nvme1n1, size: 4TB}]",
        ),
        (
            "node_types.gpu.nics",
            [{"device": "mlx5_0", "count": 8}],
            "key-unknown",
            "remove it, and list each port, as [{device: mlx5_0}, {device: mlx5_1}]",
        ),
        (
            "facility.prices",
            {"currency": "EUR", "dgx-h100": 300000},
            "key-unknown",
            "move it to items: {dgx-h100: 300000}",
        ),
        ("node_types.gpu.bios", {"sr_iov": "on"}, "key-unknown", "write firmware"),
        ("ups.devices", {"a": {"racks": "r1"}}, "key-unknown", 'write feeds: "gpu[1-4]", the nodes of these racks'),
        (
            "storage.data_sets",
            {"directory": "data"},
            "key-missing",
            "move it to an entry with type: local, which has a key 'data_sets'",
        ),
        (
            "node_types.gpu.firmware",
            {"adapters": {"max_acc_out_read": 44}},
            "key-unknown",
            "did you mean 'MAX_ACC_OUT_READ'?",
        ),
        (
            "facility",
            {"loops": {"racks": "r1", "coolant": "water"}},
            "key-unknown",
            "write loops: {NAME: {racks: …, coolant: …}}",
        ),
    ],
)
def test_a_key_is_reported_once(path: str, value: Any, code: str, hint: str) -> None:
    """Not also as a missing key or a wrong value."""
    data = copy.deepcopy(starter())
    *above, name = path.split(".")
    section = data
    for part in above:
        section = section.setdefault(part, {})
    section[name] = value
    diagnostics = compiler.validate(Path("m.yaml"), raw=yaml.safe_dump(data, sort_keys=False).encode()).diagnostics
    shape = [
        one for one in diagnostics if one.code in ("key-unknown", "key-missing", "type-wrong", "value-not-allowed")
    ]
    assert [(one.code, one.hint) for one in shape] == [(code, hint)]


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        (
            "networks:\n  management: {cidr: 192.0.2.0/24, ntp: a.example.org, b.example.org}\n",
            {"write a list: ntp: [a.example.org, b.example.org]", "write [a.example.org]"},
        ),
        ("node_types:\n  gpu:\n  system: dgx-h100\n", {"indent 'system' below 'gpu'"}),
        ("node_types: {gpu: {like: dgx-h100}}\n", {"write system: dgx-h100"}),
        (
            "slurm: {version: '24.11', gres_options: {AutoDetect: nvml}}\n",
            {"write node_types.<name>.gpus.autodetect"},
        ),
    ],
)
def test_yaml_that_means_something_else(section: str, expected: set[str]) -> None:
    text = yaml.safe_dump({key: value for key, value in starter().items() if not section.startswith(key)})
    diagnostics = compiler.validate(Path("m.yaml"), raw=f"{text}{section}".encode()).diagnostics
    codes = ("key-unknown", "type-wrong", "like-invalid", "slurm-key-managed")
    assert {one.hint for one in diagnostics if one.code in codes} >= expected


def test_a_section_that_is_not_in_the_manifest_was_not_meant() -> None:
    (hint,) = hints("health.smtp")
    assert hint is not None
    assert hint.startswith("use one of enabled, ")


def test_alerts_are_no_field() -> None:
    (hint,) = hints("monitoring.alerts", [])
    assert hint is not None
    assert hint.startswith("write receivers")


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("slurm.logs", "move 'logs' to the top level of the manifest"),
        ("node_types.gpu.logs", "move 'logs' to the top level of the manifest"),
        ("monitoring.slurm", "move its keys to the section slurm at the top level of the manifest"),
        (
            "node_types.gpu.motd",
            "run `clustergen explain node_types` to list its keys; the package that adds it may be missing "
            "(clustergen features)",
        ),
        ("slurm.motd", "run `clustergen explain slurm` to list its keys"),
    ],
)
def test_a_section_that_belongs_to_the_top_or_to_a_package(path: str, hint: str) -> None:
    assert hints(path, {}) == [hint]


def test_a_switch_of_a_section_is_its_key_enabled() -> None:
    data = starter() | {"monitoring": {"dcgm": True}}
    (wrong,) = compiler.validate(Path("m.yaml"), raw=yaml.safe_dump(data).encode()).diagnostics
    assert (wrong.message, wrong.hint) == ("monitoring.dcgm must be a mapping, not true", "write {enabled: true}")


def test_a_row_is_of_a_section_that_lacks_the_name() -> None:
    for row in ROWS:
        if row.section in ("node_types.<name>.gres", "nccl.env.<name>", "ucx.env.<name>"):  # any names are its keys
            continue
        if row.section == "slurm.accounts.<name>.users":  # in a mapping in place of a list
            continue
        if row.section == "nodes.roles":  # a list, whose words are no keys
            assert not {role.replace("-", "") for role in get_args(Role)} & {*row.names}
            continue
        section = row.section.split(".") if row.section else []
        assert section_of(Manifest, tuple(section)) == row.section, row
        keys = [key for key, places in places_of_keys(Manifest).items() if row.section in places]
        assert keys, row
        assert not {key.replace("_", "") for key in keys} & {*row.names}, row
        assert all(re.fullmatch("[^A-Z_-]+", name) for name in row.names), row


def test_a_hint_names_fields_that_there_are() -> None:
    places = places_of_keys(Manifest)
    form = re.compile(r"[a-z]\w*(?:\.(?:<name>|\w+))+|[a-z]+(?:_[a-z]+)+")
    for row in ROWS:
        for word in form.findall(row.hint.replace("prometheus.yml", "")):
            *section, key = word.removesuffix(".<name>").split(".")
            inner = ".".join(filter(None, (row.section, *section)))
            assert {".".join(section), inner} & set(places[key]) or (not section and key in places), (row, word)


@pytest.mark.parametrize(("key", "value"), [("monitoring.grafana", {"grafana": None}), ("reports", None)])
def test_an_optional_section_is_stated_or_left_out(key: str, value: Any) -> None:
    """An empty `grafana:` may be meant as on or as off."""
    data = starter() | {key.partition(".")[0]: value}
    (wrong,) = compiler.validate(Path("m.yaml"), raw=yaml.safe_dump(data).encode()).diagnostics
    assert wrong.message == f"{key} must be a mapping, but is empty"


def optional_sections(model: type[Section], path: str, above: tuple[type, ...] = ()) -> Iterator[tuple[str, FieldInfo]]:
    """Path and field of each section that is off unless it is present, at any depth."""
    for name, info in model.model_fields.items():
        key = ".".join(filter(None, (path, info.alias or name)))
        inner, is_list = entry_of(info)
        if inner is None or is_list or not issubclass(inner, Section) or inner in above:
            continue
        if info.default is None:
            yield key, info
        yield from optional_sections(inner, key, (*above, inner))


def test_no_optional_section_is_silently_off() -> None:
    sections = dict(optional_sections(Manifest, ""))
    assert {"slurm.private_tmp", "containers.podman", "user_guide", "networks.bmc", "ansible.pull"} <= sections.keys()
    assert [key for key, info in sections.items() if NOT_EMPTY not in info.metadata] == []


@pytest.mark.parametrize("key", ["slurm.private_tmp", "containers.podman"])
def test_an_empty_section_says_how_it_is_enabled(key: str) -> None:
    section, _, name = key.partition(".")
    data = starter() | {section: {**starter().get(section, {}), name: None}}
    diagnostics = compiler.validate(Path("m.yaml"), raw=yaml.safe_dump(data).encode()).diagnostics
    (wrong,) = (item for item in diagnostics if item.code == "type-wrong")
    assert wrong.message == f"{key} must be a mapping, but is empty"
    assert wrong.hint == "write {} to enable it, or remove the line"
