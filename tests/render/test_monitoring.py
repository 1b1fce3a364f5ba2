"""Monitoring: Prometheus and Alertmanager accept their files, alerts fire when they should and at no other time."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from clustergen.catalogue.dcgm import dcgm_name_known
from clustergen.catalogue.metrics import node_metrics, slurm_metrics
from clustergen.catalogue.versions import DcgmVersion
from clustergen.cli import group
from clustergen.features.slurm_metrics.needs import SCRIPT_METRICS, STATE_METRICS
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies import machines
from strategies.trees import (
    COMPUTE,
    GPU,
    HEAD,
    MANIFEST,
    codes_of,
    lay_out,
    manifest,
    node_files,
    run_script,
    runnable,
    text_of,
    tree_of,
)

PROMETHEUS = "/etc/prometheus"
COUNTERS = "/etc/dcgm-exporter/clustergen-counters.csv"
EXPORTER = "/etc/systemd/system/nvidia-dcgm-exporter.service.d/50-clustergen.conf"
METRICS = "/usr/local/sbin/clustergen-slurm-metrics"
METRICS_VALUES = "/etc/clustergen/slurm-metrics.sh"
UNIT_TESTS = Path(__file__).parent / "promtool"
PAIR = {**GPU, "gpus": {"model": "h100-sxm", "count": 2, "numa": [0, 1]}}
LINKED = {  # two GPUs with an NVLink bridge
    "system": "ws-2xa6000", "memory": "1TiB", "nics": [{**nic, "numa": 0} for nic in GPU["nics"]],
}  # fmt: skip
GENERATIONS = {
    "ampere": {"system": "dgx-a100-80", "nics": GPU["nics"]},
    "hopper": {"system": "dgx-h100", "nics": GPU["nics"]},
    "blackwell": {"system": "dgx-b200", "nics": GPU["nics"]},
    "gb200": {"system": "gb200-nvl72-tray", "nics": GPU["nics"]},
}
LOSSLESS = {"management": {"cidr": "10.0.0.0/24"}, "fabric": {"type": "roce", "rate": "400Gb/s"}}
SWITCHED = {
    "management": {"cidr": "10.0.0.0/24"},
    "fabric": {"type": "infiniband", "rate": "NDR", "switches": [{"name": "leaf1", "nodes": "c[1-4]"}]},
}
PROBED = {"monitoring": {"ipmi": {}, "blackbox": {"web": ["https://portal.example.org/"]}}}
DEVICES = {
    "ups-a": {"address": "10.0.9.201", "module": "ups_mib", "auth": "site"},
    "pdu-a": {"address": "10.0.9.202", "module": "apc_rpdu2", "auth": "site"},
}
BMC = {"bmc": {"cidr": "10.0.9.0/24"}}
OUT_OF_BAND = {**COMPUTE, "addresses": {"bmc": "10.0.9.[11-14]"}}
FEEDS = {"circuits": [{"volts": 400, "amps": 32, "phases": 3, "count": 2}], "redundant_feeds": True}
TLS = {"ca": "/etc/ssl/ca.pem", "certificate": "/etc/ssl/node.pem", "key": "/etc/ssl/private/node.key"}
FED = {"r1": {"nodes": "c[1-2]", **FEEDS}, "r2": {"nodes": "c[3-4]", **FEEDS}}
MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
MACHINES = {"networks": {**MANIFEST["networks"], **BMC}, "nodes": [HEAD, MONITOR, OUT_OF_BAND]}
COLLECTED = [HEAD, {**MONITOR, "roles": ["monitoring", "log-collector"]}, COMPUTE]
SENSORS = {
    "inlet": {"series": 'ipmi_temperature_celsius{name="Coolant Inlet"}', "high": 45, "low": 18},
    "outlet": {"series": 'entPhySensorValue{instance="cdu-a",entPhysicalIndex="12"}', "scale": 0.1, "high": 60},
    "flow": {"series": 'entPhySensorValue{instance="cdu-a",entPhysicalIndex="13"}', "low": 100},
}
COOLED = {
    **MACHINES,
    "racks": {"r1": {"nodes": "c[1-2]"}, "r2": {"nodes": "c[3-4]"}},
    "node_types": {"gpu": {"system": "dgx-h100", "nics": GPU["nics"]}},
    "facility": {"loops": {"direct": {"racks": "r1", "share": "70%", "sensors": SENSORS}}},
    "monitoring": {
        "ipmi": {},
        "snmp": {"devices": {"cdu-a": {"address": "10.0.9.204", "module": "entity_sensor", "auth": "site"}}},
        "thresholds": {"fan_speed": 2000},
    },
}
LOGIN = {"name": "login1", "type": "service", "address": "10.0.0.3", "roles": ["login"]}
SERVER = {**HEAD, "roles": [*HEAD["roles"], "login", "nfs-server"]}
HOME = {
    "type": "nfs",
    "server": "head",
    "path": "/export/home",
    "mount": "/home",
    "export": {"zfs": {"disks": ["/dev/sda", "/dev/sdb"], "layout": "mirror"}},
}


CACHED = {"type": "local", "mount": "/scratch", "device": "LABEL=scratch", "data_sets": {"size": "1TB"}}
STORE = {
    "type": "gpu",
    "roles": [],
    "in_no_partition": True,
    "address": "10.0.0.[31-32]",
    "addresses": {"bmc": "10.0.9.[31-32]"},
}
FAILOVER = {"servers": "nfs[1-2]", "device": "/dev/mapper/nfs", "directory": "/export"}
PAIR_OF_SERVERS = {
    "storage": {"home": {**HOME, "server": "10.0.0.30", "export": {}, "failover": FAILOVER}},
    "networks": {"management": {"cidr": "10.0.0.0/24", "domain": "cluster.local"}, "bmc": {"cidr": "10.0.9.0/24"}},
    "nodes": [HEAD, MONITOR, COMPUTE, {"name": "nfs[1-2]", **STORE}],
}


def monitored(**changes: Any) -> dict[str, Any]:
    return manifest(**{"nodes": [HEAD, MONITOR, COMPUTE], **changes})


def box(tree: Any, directory: Path, host: str = "mon") -> sandbox.Sandbox:
    root = root_with("promtool")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    return sandbox.Sandbox(root, files=((lay_out(tree, host, directory / "node"), "/"), (UNIT_TESTS, PROMETHEUS)))


def run_on(tree: Any, directory: Path, script: str, host: str = "mon", **notes: str) -> str:
    """The output of a shell script on the node, which must succeed. Notes are files in /run/clustergen."""
    words = ["/bin/bash", "-c", f"cd {PROMETHEUS} && {script}"]
    done = sandbox.run(box(tree, directory, host), words, timeout=300, notes=notes)
    assert done.code == 0, done
    return done.stdout + done.stderr


def loaded(tree: Any, target: str, host: str = "mon") -> Any:
    return yaml.safe_load(text_of(tree, host, target))


def rules(tree: Any) -> dict[str, dict[str, Any]]:
    """All rules by name, those of one name together."""
    values: dict[str, dict[str, Any]] = {}
    for target in node_files(tree, "mon"):
        if target.startswith(f"{PROMETHEUS}/rules/"):
            for group in loaded(tree, target)["groups"]:
                values |= {rule.get("alert") or rule["record"]: rule for rule in group["rules"]}
    return values


VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "everything": {
        "nodes": [HEAD, MONITOR, {**MONITOR, "name": "mon2", "address": "10.0.0.4"}, LOGIN, COMPUTE],
        "racks": {"r1": {"nodes": "c[1-2]"}},
        "monitoring": {
            "receivers": {
                "mail": {"email": "ops@example.org", "severities": ["critical"]},
                "hook": {"webhook": "https://hooks.example.org/x?y=1&z=%20"},
                "chat": {"slack_url_file": "/etc/prometheus/secrets/slack", "slack_channel": "#gpu-alerts"},
            },
            "smtp": "mail.example.org:587",
            "mail_from": "cluster@example.org",
            "targets": {"ipmi": ["bmc1:9290", "10.0.9.2:9290"]},
            "labels": {"site": "hall 3: row #2 {{ x }}", "cluster": "other"},
            "remote_write": ["https://store.example.org/api/v1/push"],
            "retention_size": "100GiB",
            "scrape_interval": 5,
        },
        "storage": {"home": HOME | {"server": "10.0.0.9", "export": {}}},
    },
    "several of each": {
        "node_types": {"gpu": GPU, "pair": PAIR, "linked": LINKED},
        "nodes": [
            HEAD,
            MONITOR,
            COMPUTE,
            {"name": "p1", "type": "pair", "address": "10.0.0.21"},
            {"name": "l1", "type": "linked", "address": "10.0.0.22"},
        ],
        "storage": {
            "home": HOME | {"server": "10.0.0.9", "export": {}},
            "data": HOME | {"server": "10.0.0.9", "export": {}, "path": "/export/data", "mount": "/data"},
        },
    },
    "openmetrics": {
        "slurm": {"version": "25.11"},
        "monitoring": {"scrape_interval": 120, "dcgm": {"interval": 120000}},
    },
    "no gpus": {"node_types": {"gpu": {key: value for key, value in GPU.items() if key != "gpus"}}},
    "probed": PROBED,
    "roce": {
        "networks": {"management": {"cidr": "10.0.0.0/24"}, "fabric": {"type": "roce", "rate": "200Gb/s"}},
        "monitoring": {"alertmanager": False, "dcgm": {"version": "3.1"}},
    },
    "ethernet": {
        "networks": {"management": {"cidr": "10.0.0.0/24"}, "fabric": {"type": "ethernet", "rate": "100Gb/s"}},
        "monitoring": {"node_exporter": {"port": 9101, "collectors": ["ethtool"]}, "dcgm": {"enabled": False}},
    },
}


@pytest.mark.real
@pytest.mark.parametrize("variant", VARIANTS)
def test_prometheus_and_alertmanager_accept_their_files(variant: str, tmp_path: Path) -> None:
    tree = tree_of(monitored(**VARIANTS[variant]), tmp_path)
    script = "promtool check config prometheus.yml"
    if f"{PROMETHEUS}/alertmanager.yml" in node_files(tree, "mon"):
        script += " && amtool check-config alertmanager.yml"
    text = run_on(tree, tmp_path, script)
    assert "FAILED" not in text
    assert "lint error" not in text
    assert text.count("rules found") == sum("/rules/" in target for target in node_files(tree, "mon"))


SECOND_MONITOR = {**MONITOR, "name": "mon2", "address": "10.0.0.4"}
WATCHED = {
    "remote_write": ["https://store.example.org/api/v1/push"],
    "receivers": {"outside": {"webhook": "https://outside.example.org/x", "severities": ["watchdog"]}},
}
TWO_CONTROLLERS = {
    "nodes": [HEAD, {**HEAD, "name": "head2", "address": "10.0.0.5", "roles": ["slurm-controller"]}, MONITOR, COMPUTE],
    "slurm": {"version": "25.11", "state_location": "/srv/slurm", "state_shared": True},
}
ALERT_CASES: list[tuple[str, dict[str, Any]]] = [
    ("gpu", {"node_types": {"gpu": LINKED}}),
    ("gpu-dcgm3", {"monitoring": {"dcgm": {"version": "3.1"}}}),
    *((f"gpu-{name}", {"node_types": {"gpu": kind}}) for name, kind in GENERATIONS.items()),
    ("gpu-jobs", {"monitoring": {"dcgm": {"job_label_limit": 0}}}),
    ("node", {}),
    ("slurm", {}),
    ("fabric", {}),
    ("racks", {"racks": {"r1": {"nodes": "c[1-2]"}}, "networks": SWITCHED}),
    (
        "power",
        {
            "racks": FED,
            "networks": SWITCHED | BMC,
            "nodes": [HEAD, MONITOR, OUT_OF_BAND],
            "monitoring": {"ipmi": {}},
        },
    ),
    ("roce", {"networks": LOSSLESS}),
    ("storage", {"storage": {"home": HOME}, "nodes": [SERVER, MONITOR, LOGIN, COMPUTE]}),
    ("failover", PAIR_OF_SERVERS),
    ("kernel", {}),
    ("probes", {**PROBED, **MACHINES}),
    ("snmp", {"monitoring": {"snmp": {"devices": DEVICES}}}),
    ("cooling", COOLED),
    ("disks", {"monitoring": {"smart": True}}),
    ("data-sets", {"storage": {"scratch": CACHED}}),
    ("supplies", {**PROBED, **MACHINES, "racks": {"r1": {"nodes": "c[1-2]"}, "r2": {"nodes": "c[3-4]"}}}),
    (
        "logs",
        {"logs": {"retention_size": "100GiB", "search": {"servers": ["https://search:9200"]}}, "nodes": COLLECTED},
    ),
    ("expiry", {"logs": {"tls": TLS}, "nodes": COLLECTED, "monitoring": {"expires": {"Weka 5.0": "2000-01-29"}}}),
    ("directory", {"identity": {"servers": ["ldap1"], "base": "dc=example,dc=org"}}),
    ("drift", {"drift": {"enabled": True, "interval": 3600}}),
    ("backups", {"backups": {"directory": "/backup/slurm"}}),
    ("notebooks", {"notebooks": {"group": "notebooks"}, "nodes": [SERVER, MONITOR, LOGIN, COMPUTE]}),
    ("pull", {"slurm": {"version": "24.11", "configless": True}, "ansible": {"pull": {"repository": "file:///r"}}}),
    ("meta", {}),
    ("meta-pair", {"nodes": [HEAD, MONITOR, SECOND_MONITOR, COMPUTE], "monitoring": WATCHED}),
    ("slurm-pair", TWO_CONTROLLERS),
    (
        "asleep",
        {
            **PROBED,
            "racks": {"r1": {"nodes": "c[1-2]"}},
            "slurm": {"version": "24.11", "power_saving": {"suspend_time": 600, "command": "/opt/switch"}},
        },
    ),
]
"""Name of a file in promtool/ → what its cluster has."""


@pytest.mark.real
@pytest.mark.many
@pytest.mark.parametrize(("name", "changes"), ALERT_CASES)
def test_alerts_fire_when_they_should_and_at_no_other_time(name: str, changes: dict[str, Any], tmp_path: Path) -> None:
    tree = tree_of(monitored(**changes), tmp_path)
    tests = with_labels_of_texts((UNIT_TESTS / f"{name}.yml").read_text(encoding="utf-8"), tree)
    script = "cp /run/clustergen/tests labels.yml && promtool test rules labels.yml"
    assert "SUCCESS" in run_on(tree, tmp_path, script, tests=tests)


def with_labels_of_texts(text: str, tree: Any) -> str:
    """The tests, and that no alert of theirs lacks a label that its texts contain; links contain those of summaries."""
    users: dict[str, set[str]] = {}
    for target in node_files(tree, "mon"):
        if target.startswith(f"{PROMETHEUS}/rules/"):
            every = [rule for group in loaded(tree, target)["groups"] for rule in group["rules"] if "alert" in rule]
            for rule in every:
                for label in re.findall(r"\$labels\.(\w+)", " ".join(rule["annotations"].values())):
                    assert label not in rule["labels"], f"{rule['alert']}: texts do not see the labels that it adds"
                    users.setdefault(label, set()).add(rule["alert"])
    lacking = (f'ALERTS{{alertname=~"{"|".join(sorted(names))}",{label}=""}}' for label, names in users.items())
    expr = " or ".join(lacking)
    parts = re.split(r"^(?=  - name: )", text, flags=re.MULTILINE)
    for number, part in enumerate(parts):
        times = sorted(set(re.findall(r"eval_time: (\w+)", part)))
        rows = [f"      - {{expr: '{expr}', eval_time: {time}, exp_samples: []}}" for time in times]
        parts[number] = part.replace("    promql_expr_test:\n", "\n".join(["    promql_expr_test:", *rows, ""]))
    return "".join(parts)


@pytest.mark.slow
@pytest.mark.parametrize("name", GENERATIONS)
def test_every_alert_of_a_generation_fires_in_some_test(name: str, tmp_path: Path) -> None:
    tree = tree_of(monitored(node_types={"gpu": GENERATIONS[name]}), tmp_path)
    texts = [(UNIT_TESTS / file).read_text(encoding="utf-8") for file in ("gpu.yml", f"gpu-{name}.yml")]
    fired = set(re.findall(r'alertname="(\w+)"', "".join(texts)))
    made = {
        rule["alert"] for rule in loaded(tree, f"{PROMETHEUS}/rules/gpu.yml")["groups"][0]["rules"] if "alert" in rule
    }
    assert made <= fired


@pytest.mark.slow
def test_each_generation_exports_its_own_nvlink_counters_and_no_others(tmp_path: Path) -> None:
    """In one cluster: the alerts are made of all, each node type exports what its GPUs report."""
    counters = {
        "ampere": "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL",
        "hopper": "DCGM_FI_DEV_NVLINK_ERROR_DL_RECOVERY",
        "blackwell": "DCGM_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS",
        "gb200": "DCGM_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS",
        "none": "DCGM_FI_DEV_GPU_TEMP_LIMIT",
    }
    kinds = {**GENERATIONS, "none": {**GPU, "gpus": {"model": "rtx-pro-6000-server", "count": 4}}}
    nodes = [HEAD, MONITOR] + [
        {"name": f"{name}1", "type": name, "address": f"10.0.0.{30 + index}"} for index, name in enumerate(kinds)
    ]
    tree = tree_of(monitored(node_types=kinds, nodes=nodes), tmp_path)
    read = {name for expr in _all_rules(tree, "gpu") for name in re.findall(r"DCGM_FI_\w+", expr)}
    assert set(counters.values()) <= read
    for name, field in counters.items():
        listed = {line.partition(",")[0] for line in text_of(tree, f"{name}1", COUNTERS).splitlines()}
        assert {other for other in counters.values() if other in listed and "NVLINK" in other} == {field} - {
            counters["none"]
        }
        assert ("DCGM_FI_DEV_GPU_TEMP_LIMIT" in listed) == (name != "ampere")


@pytest.mark.slow
def test_a_stated_threshold_replaces_limits_and_margins(tmp_path: Path) -> None:
    kind = GENERATIONS["hopper"]
    tree = tree_of(monitored(node_types={"gpu": kind}, monitoring={"thresholds": {"gpu_hot": 77}}), tmp_path)
    hot = [rule for rule in _all_rules(tree, "gpu") if "GPU_TEMP" in rule and "count by" not in rule]
    assert sum("TEMP_LIMIT" in rule for rule in hot) == 1  # of GpuVeryHot
    assert any("> 77 < 200" in rule for rule in hot)


LIMIT = re.compile(r"(?<![=!<>])(==|!=|<=|>=|<|>)\s*(-?[\d.e]+|\([^()]*\)|[a-z_]+\b)(?![\w:({])")


def without_limits(expr: str) -> str:
    """The expression with every comparison true: it fires for all series that it reads."""
    bare = re.sub(r"\{[^}]*\}", lambda match: "_" * len(match[0]), re.sub(r'"[^"]*"', lambda s: "_" * len(s[0]), expr))
    for match in reversed(list(LIMIT.finditer(bare))):
        expr = f"{expr[: match.start()]}> -Inf{expr[match.end() :]}"
    return expr


def unexpected(output: str) -> set[str]:
    """The alerts that promtool found and did not expect."""
    names = set()
    for pair in re.findall(r"exp: ?(.*)\n\s+got: ?(.*)", output):
        expected, actual = (set(re.findall(r"\{[^}]*\} \S+", text)) for text in pair)
        names |= set(re.findall(r'alertname="(\w+)"', " ".join(actual - expected)))
    return names


@pytest.mark.real
@pytest.mark.slow
def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_its_limit_keeps_it_silent(tmp_path: Path) -> None:
    """Without their limits, alerts fire where their cases say that none does; the cases together have every alert.

    An alert that has done so in one case is left out of the others. Without limits nearly all fire all the time, so
    they have no annotations, whose templates would take most of the time; queries of ALERTS name them.
    """
    silent, fired, limited, made = (set[str]() for _ in range(4))
    for name, changes in ALERT_CASES:
        (directory := tmp_path / name).mkdir()
        tree = tree_of(monitored(**changes), directory)
        text = (UNIT_TESTS / f"{name}.yml").read_text(encoding="utf-8")
        fired |= set(re.findall(r'alertname="(\w+)"', text))
        queries = re.sub(r"^    alert_rule_test:\n(?:      .*\n|\n)*", "", text, flags=re.MULTILINE)
        notes, names = {"tests.yml": queries.replace("rules/", "")}, set[str]()
        for path, file in node_files(tree, "mon").items():
            if not path.startswith(f"{PROMETHEUS}/rules/"):
                continue
            made |= set(re.findall(r"- alert: (\w+)", file.content.decode()))
            if Path(path).name in notes["tests.yml"]:
                document = yaml.load(file.content, yaml.CSafeLoader)
                group = document["groups"][0]
                records = [rule for rule in group["rules"] if "record" in rule]
                alerts = [rule for rule in group["rules"] if rule.get("alert", "") not in {"", *silent}]
                loose = [{**rule, "expr": without_limits(rule["expr"]), "annotations": {}} for rule in alerts]
                limits = [new for new, old in zip(loose, alerts, strict=True) if new["expr"] != old["expr"]]
                group["rules"] = records + limits
                names |= {rule["alert"] for rule in limits}
                notes[Path(path).name] = json.dumps(document)
        limited |= names
        if names:
            script = ["/bin/bash", "-c", "cd /run/clustergen && promtool test rules tests.yml"]
            done = sandbox.run(box(tree, directory), script, timeout=300, notes=notes)
            silent |= unexpected(done.stdout + done.stderr)
    assert made == fired, "a case in promtool/ expects each alert"
    assert len(made) > 100
    assert limited - silent == set(), "a case in promtool/ has a value just below the limit, and expects no alert"


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("version", ["3.0", "3.3", "4.0", "4.2", "4.5", "4.6"])
@pytest.mark.parametrize("gpus", [PAIR, LINKED])
def test_metrics_of_alerts_are_exported_and_known_to_the_release(
    version: str, gpus: dict[str, Any], tmp_path: Path
) -> None:
    spec = {"dcgm": {"version": version, "counters": ["DCGM_FI_DEV_FAN_SPEED", "DCGM_FI_DEV_GPU_TEMP"]}}
    tree = tree_of(monitored(node_types={"gpu": gpus}, monitoring=spec), tmp_path)
    lines = [line for line in text_of(tree, "c1", COUNTERS).splitlines() if line and line[0] != "#"]
    rows = list(csv.reader(lines, skipinitialspace=True, strict=True))
    assert all(len(row) == 3 and '"' not in "".join(row) for row in rows)
    names = [row[0] for row in rows]
    assert len(names) == len(set(names))
    assert {row[1] for row in rows} <= {"gauge", "counter", "label"}
    assert all(dcgm_name_known(name, DcgmVersion(version)) for name in names), version
    read = {name for rule in rules(tree).values() for name in re.findall(r"DCGM_(?:FI|EXP)_[A-Z0-9_]+", rule["expr"])}
    assert read
    assert read <= set(names)
    assert "DCGM_FI_DEV_FAN_SPEED" in names


@pytest.mark.parametrize(
    ("model", "changes", "expected"),
    [
        ("h100-sxm", {}, True),
        ("h100-sxm", {"profiling": False}, False),
        ("rtx-a6000", {}, False),
        ("rtx-3090", {"enabled": True}, False),
    ],
)
def test_profiling_counters_only_where_the_gpu_has_them(
    model: str, changes: dict[str, Any], expected: bool, tmp_path: Path
) -> None:
    kind = {**GPU, "gpus": {"model": model, "count": 2}}
    tree = tree_of(monitored(node_types={"gpu": kind}, monitoring={"dcgm": changes}), tmp_path)
    assert ("DCGM_FI_PROF_" in text_of(tree, "c1", COUNTERS)) is expected


@pytest.mark.slow
def test_geforce_is_left_to_itself_unless_the_manifest_says_otherwise(tmp_path: Path) -> None:
    kind = {**GPU, "gpus": {"model": "rtx-3090", "count": 2}}
    tree = tree_of(monitored(node_types={"gpu": kind}), tmp_path)
    assert COUNTERS not in node_files(tree, "c1")
    assert f"{PROMETHEUS}/sd/dcgm.yml" not in node_files(tree, "mon")
    assert not any("DCGM" in rule["expr"] for rule in rules(tree).values())


@pytest.mark.slow
def test_types_with_other_counters_get_files_of_their_own(tmp_path: Path) -> None:
    kinds = {"gpu": GPU, "old": {**GPU, "gpus": {"model": "rtx-a6000", "count": 4}}}
    nodes = [HEAD, MONITOR, COMPUTE, {"name": "o1", "type": "old", "address": "10.0.0.31"}]
    tree = tree_of(monitored(node_types=kinds, nodes=nodes), tmp_path)
    assert "DCGM_FI_PROF_" in text_of(tree, "c1", COUNTERS)
    assert "DCGM_FI_PROF_" not in text_of(tree, "o1", COUNTERS)
    counts = {
        match[1]: match[2]
        for rule in _all_rules(tree, "gpu")
        if (match := re.search(r'GPU_TEMP\{.*node_type="(\w+)".*?\) < (\d)$', rule, re.DOTALL))
    }
    assert counts == {"gpu": "8", "old": "4"}


def _all_rules(tree: Any, topic: str) -> list[str]:
    return [rule["expr"] for rule in loaded(tree, f"{PROMETHEUS}/rules/{topic}.yml")["groups"][0]["rules"]]


SCRATCH = {"type": "local", "mount": "/scratch", "device": "LABEL=scratch"}
TARGETS = [{"kind": "MGT", "server": "head", "device": "tank/mgt"},
           {"kind": "MDT", "index": 0, "server": "head", "device": "/dev/disk/by-id/md-uuid-1"}]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("storage", "collectors", "shown"),
    [
        (SCRATCH, [], set()),
        (SCRATCH, ["mdadm", "zfs"], {"Software RAID", "ZFS pools", "StoragePoolDegraded"}),
        ({**SCRATCH, "device": "/dev/md/scratch"}, [], {"Software RAID"}),
        ({**SCRATCH, "device": "/dev/disk/by-id/md-uuid-1:2"}, [], {"Software RAID"}),
        ({"type": "lustre", "mount": "/scratch", "mgs": ["10.0.0.1@tcp"], "targets": TARGETS}, [],
         {"Software RAID", "ZFS pools", "StoragePoolDegraded"}),
        ({"type": "nfs", "server": "filer", "path": "/dev/mdata", "mount": "/scratch"}, [], set()),
    ],
)  # fmt: skip
def test_pools_and_arrays_are_shown_where_a_cluster_has_them(
    storage: dict[str, Any], collectors: list[str], shown: set[str], tmp_path: Path
) -> None:
    monitoring = {"grafana": {}, "node_exporter": {"collectors": collectors}}
    tree = tree_of(monitored(storage={"scratch": storage}, monitoring=monitoring), tmp_path)
    text = "".join(file.content.decode() for path, file in node_files(tree, "mon").items() if "/etc/" in path)
    assert {name for name in ("Software RAID", "ZFS pools", "StoragePoolDegraded") if name in text} == shown
    assert "NodeRaidDegraded" in text


@pytest.mark.slow
@pytest.mark.parametrize("state", ["CLOUD", "FUTURE"])
def test_nodes_that_need_not_exist_are_not_scraped(tmp_path: Path, state: str) -> None:
    later = {"name": "z[1-3]", "type": "gpu", "state": state, "address": "10.0.0.[51-53]"}
    tree = tree_of(monitored(nodes=[SERVER, MONITOR, COMPUTE, later]), tmp_path)
    for job in ("node", "dcgm"):
        hosts = [target for group in loaded(tree, f"{PROMETHEUS}/sd/{job}.yml") for target in group["targets"]]
        assert any(target.startswith("c1:") for target in hosts)
        assert not any(target.startswith("z") for target in hosts)
    assert "z1" not in str(loaded(tree, f"{PROMETHEUS}/prometheus.yml"))


@pytest.mark.slow
def test_targets_carry_what_alerts_go_by(tmp_path: Path) -> None:
    tree = tree_of(monitored(**VARIANTS["everything"]), tmp_path)
    groups = loaded(tree, f"{PROMETHEUS}/sd/node.yml")
    hosts = [target for group in groups for target in group["targets"]]
    assert hosts == ["head:9100", "mon:9100", "mon2:9100", "login1:9100", *(f"c{i}:9100" for i in range(1, 5))]
    racks = {target: group["labels"].get("rack") for group in groups for target in group["targets"]}
    assert racks["c2:9100"] == "r1"
    assert racks["c3:9100"] is None
    assert all(group["labels"]["cluster"] == "other" for group in groups)
    assert groups[0]["labels"]["roles"] == "slurm-controller,slurm-accounting"
    gpus = loaded(tree, f"{PROMETHEUS}/sd/dcgm.yml")
    assert {target for group in gpus for target in group["targets"]} == {f"c{i}:9400" for i in range(1, 5)}
    assert loaded(tree, f"{PROMETHEUS}/sd/ipmi.yml")[0]["targets"] == ["bmc1:9290", "10.0.9.2:9290"]


@pytest.mark.slow
def test_an_nvlink_domain_is_a_label_of_its_trays(tmp_path: Path) -> None:
    changes = {"node_types": {"gpu": GENERATIONS["gb200"]}, "racks": {"r1": {"nodes": "c[1-2]"}}}
    groups = loaded(tree_of(monitored(**changes), tmp_path), f"{PROMETHEUS}/sd/dcgm.yml")
    labels = {target: group["labels"]["nvlink_domain"] for group in groups for target in group["targets"]}
    assert labels == {"c1:9400": "r1", "c2:9400": "r1", "c3:9400": "gpu-1", "c4:9400": "gpu-1"}


@pytest.mark.slow
def test_a_leaf_is_a_label_of_compute_nodes_alone(tmp_path: Path) -> None:
    """Alerts on a leaf count the nodes whose jobs it carries."""
    leaf = {"name": "leaf1", "nodes": "head,c[1-4]"}
    networks = {**SWITCHED, "fabric": {**SWITCHED["fabric"], "switches": [leaf]}}
    groups = loaded(tree_of(monitored(networks=networks), tmp_path), f"{PROMETHEUS}/sd/node.yml")
    leaves = {target: group["labels"].get("leaf") for group in groups for target in group["targets"]}
    assert leaves == {"head:9100": None, "mon:9100": None, **{f"c{i}:9100": "leaf1" for i in range(1, 5)}}


@pytest.mark.slow
def test_one_more_node_is_one_more_line_of_each_target_file(tmp_path: Path) -> None:
    def target_lines(count: int) -> dict[str, set[str]]:
        nodes = [HEAD, MONITOR, {"name": f"c[001-{count:03}]", "type": "gpu", "address": f"10.0.0.[11-{count + 10}]"}]
        tree = tree_of(monitored(nodes=nodes), tmp_path)
        files = node_files(tree, "mon").items()
        return {target: set(file.content.decode().splitlines()) for target, file in files}

    before, after = target_lines(200), target_lines(201)
    changed = {target: after[target] ^ lines for target, lines in before.items() if after[target] != lines}
    assert changed == {
        f"{PROMETHEUS}/sd/node.yml": {"    - c201:9100"},
        f"{PROMETHEUS}/sd/dcgm.yml": {"    - c201:9400"},
        "/etc/hosts": changed["/etc/hosts"],
    }


@pytest.mark.slow
def test_prometheus_reads_no_more_often_than_dcgm_samples(tmp_path: Path) -> None:
    spec = {"dcgm": {"interval": 30500}, "scrape_interval": 10}
    tree = tree_of(monitored(monitoring=spec), tmp_path)
    config = loaded(tree, f"{PROMETHEUS}/prometheus.yml")
    jobs = {job["job_name"]: job for job in config["scrape_configs"]}
    assert jobs["dcgm"]["scrape_interval"] == "31s"
    assert "scrape_interval" not in jobs["node"]
    assert config["global"]["scrape_timeout"] == "10s"
    assert "[5m]" in rules(tree)["GpuPcieReplays"]["expr"]


@pytest.mark.slow
def test_rates_span_at_least_four_samples(tmp_path: Path) -> None:
    tree = tree_of(monitored(monitoring={"scrape_interval": 300}), tmp_path)
    assert "[20m]" in rules(tree)["GpuPcieReplays"]["expr"]


@pytest.mark.slow
def test_slurm_has_an_endpoint_from_25_11_on_and_a_script_before(tmp_path: Path) -> None:
    old = tree_of(monitored(), tmp_path)
    assert METRICS in node_files(old, "head")
    assert not any("slurm" in job["job_name"] for job in loaded(old, f"{PROMETHEUS}/prometheus.yml")["scrape_configs"])
    assert "\ncounts=true\n" in text_of(old, "head", METRICS_VALUES)
    new = tree_of(monitored(slurm={"version": "25.11", "ports": {"slurmctld": 7817}}), tmp_path)
    assert METRICS in node_files(new, "head")
    assert "\ncounts=false\n" in text_of(new, "head", METRICS_VALUES)
    jobs = {job["job_name"]: job for job in loaded(new, f"{PROMETHEUS}/prometheus.yml")["scrape_configs"]}
    assert jobs["slurm-nodes"]["metrics_path"] == "/metrics/nodes"
    assert loaded(new, f"{PROMETHEUS}/sd/slurm-nodes.yml")[0]["targets"] == ["head:7817"]
    hidden = {"version": "25.11", "accounting": {"private": ["jobs"]}}
    private = tree_of(monitored(slurm=hidden), tmp_path)
    assert METRICS in node_files(private, "head")


ROCE_METRICS = "/usr/local/sbin/clustergen-roce-metrics"
ETHTOOL = """printf 'NIC statistics:\\n     rx_prio3_pause: 7\\n     rx_prio3_pause_duration: 2500000\\n'
printf '     tx_prio3_pause: 1\\n     tx_prio3_pause_duration: 0\\n     rx_prio3_discards: 4\\n'
printf '     rx_prio3_bytes: 9\\n'
"""
PORTS = """mount -t tmpfs tmpfs /sys/class; cd /sys/class
mkdir -p infiniband/mlx5_{0,1}/{ports/1/hw_counters,device/net/p0}
echo Ethernet >infiniband/mlx5_0/ports/1/link_layer; echo InfiniBand >infiniband/mlx5_1/ports/1/link_layer
for name in out_of_sequence packet_seq_err local_ack_timeout_err np_cnp_sent rp_cnp_handled lifespan; do
  echo 5 | tee infiniband/mlx5_{0,1}/ports/1/hw_counters/$name >/dev/null
done
mkdir -p /var/lib/prometheus/node-exporter"""


@pytest.mark.real
def test_counters_of_roce_ports_are_exported_under_the_names_that_alerts_read(tmp_path: Path) -> None:
    tree = tree_of(monitored(networks=LOSSLESS), tmp_path)
    (tmp_path / "programs/usr/sbin").mkdir(parents=True)
    (tmp_path / "programs/usr/sbin/ethtool").write_text(f"#!/bin/bash\n{ETHTOOL}", encoding="utf-8")
    (tmp_path / "programs/usr/sbin/ethtool").chmod(0o755)
    place = root_with("promtool")
    assert place is not None, "clustergen setup parsers makes the root that this test asks"
    files = ((lay_out(tree, "c1", tmp_path / "node"), "/"), (tmp_path / "programs", "/"))
    script = f"""{PORTS}; {ROCE_METRICS} && cat /var/lib/prometheus/node-exporter/roce.prom
promtool check metrics </var/lib/prometheus/node-exporter/roce.prom >&2 || [ $? = 3 ]"""
    done = sandbox.run(sandbox.Sandbox(place, files=files), ["/bin/bash", "-c", script], timeout=300)
    assert done.code == 0, done
    samples = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines() if not line.startswith("#"))
    prefix = "clustergen_roce"
    assert samples[f'{prefix}_out_of_sequence_packets_total{{device="mlx5_0"}}'] == "5"
    pause = 'device="mlx5_0",interface="p0",direction="received",priority="3"'
    assert samples[f"{prefix}_pause_seconds_total{{{pause}}}"] == "2.500000"
    assert samples[f'{prefix}_discards_total{{device="mlx5_0",interface="p0",priority="3"}}'] == "4"
    assert not any("mlx5_1" in sample or "lifespan" in sample or "bytes" in sample for sample in samples)
    read = {name for rule in rules(tree).values() for name in re.findall(rf"\b{prefix}_\w+", rule["expr"])}
    assert len(read) >= 5
    assert read <= {sample.partition("{")[0] for sample in samples}
    assert read <= set(re.findall(rf"{prefix}_\w+", (UNIT_TESTS / "roce.yml").read_text(encoding="utf-8")))


@pytest.mark.slow
def test_roce_counters_only_where_a_monitored_fabric_is_roce(tmp_path: Path) -> None:
    assert ROCE_METRICS not in node_files(tree_of(monitored(), tmp_path), "c1")
    assert ROCE_METRICS not in node_files(tree_of(manifest(networks=LOSSLESS), tmp_path), "c1")
    tree = tree_of(monitored(networks=LOSSLESS, os="rocky-9"), tmp_path)
    values = text_of(tree, "c1", "/etc/clustergen/roce-metrics.sh")
    assert "\nmetrics_file='/var/lib/node_exporter/textfile_collector/roce.prom'\n" in values
    made = {rule["alert"] for rule in loaded(tree, f"{PROMETHEUS}/rules/fabric.yml")["groups"][0]["rules"]}
    fired = re.findall(r'alertname="(\w+)"', (UNIT_TESTS / "roce.yml").read_text(encoding="utf-8"))
    assert {name for name in made if name.startswith("Roce")} == set(fired)


@pytest.mark.slow
def test_slurm_alerts_read_what_slurm_serves(tmp_path: Path) -> None:
    tree = tree_of(monitored(slurm={"version": "25.11"}), tmp_path)
    read = {name for expr in _all_rules(tree, "slurm") for name in re.findall(r"\bslurm_\w+", expr)}
    assert len(read) >= 4
    assert read <= slurm_metrics().keys()


@pytest.mark.slow
def test_each_service_that_has_to_run_is_one_that_the_exporter_reads(tmp_path: Path) -> None:
    """And on the nodes that have it: the labels of targets decide."""
    lnet = [{"name": "o2ib", "interfaces": ["ibp24s0"]}]
    lustre = {"type": "lustre", "mgs": ["10.1.0.9@o2ib"], "fsname": "x", "mount": "/x", "lnet": lnet}
    nodes = [SERVER, MONITOR, LOGIN, COMPUTE]
    changes = {"storage": {"home": HOME, "x": lustre}, "monitoring": {"grafana": {}}}
    tree = tree_of(monitored(nodes=nodes, **changes), tmp_path)
    arguments = text_of(tree, "c1", "/etc/default/prometheus-node-exporter")
    (included,) = re.findall(r"--collector.systemd.unit-include=(\S+)", arguments)
    services = {
        rule["labels"]["name"]: re.search(r'roles=~?"([^"]*)"', rule["expr"])
        for rule in loaded(tree, f"{PROMETHEUS}/rules/node.yml")["groups"][0]["rules"]
        if rule["alert"] == "NodeServiceStopped"
    }
    assert {name: match[1].split("|") if match else None for name, match in services.items()} == {
        "mariadb.service": [",".join(SERVER["roles"])], "slurmdbd.service": [",".join(SERVER["roles"])],
        "munge.service": ["login", "slurm-compute", ",".join(SERVER["roles"])], "slurmd.service": ["slurm-compute"],
        "slurmctld.service": [",".join(SERVER["roles"])], "chrony.service": None,
        "nfs-server.service": [",".join(SERVER["roles"])], "grafana-server.service": ["monitoring"],
        "lnet.service": ["login", "slurm-compute", ",".join(SERVER["roles"])],
        "zfs-zed.service": [",".join(SERVER["roles"])],
        "nvidia-persistenced.service": ["slurm-compute"], "nvidia-dcgm.service": ["slurm-compute"],
    }  # fmt: skip
    assert [name for name in services if not re.fullmatch(included, name)] == []


@pytest.mark.real
def test_each_of_two_servers_has_its_label_in_remote_stores_and_not_in_alerts(tmp_path: Path) -> None:
    tree = tree_of(monitored(nodes=[HEAD, MONITOR, SECOND_MONITOR, COMPUTE], monitoring=WATCHED), tmp_path)
    drop_in = "/etc/systemd/system/prometheus.service.d/50-clustergen.conf"
    assert "Environment=HOSTNAME=%H\n" in text_of(tree, "mon", drop_in)
    script = r"""
. /etc/default/prometheus
HOSTNAME=mon2 prometheus $ARGS --config.file=prometheus.yml --storage.tsdb.path=/tmp/data >/tmp/log 2>&1 &
for _ in {1..600}; do grep -q 'Server is ready' /tmp/log && break; sleep 0.1; done
exec 3<>/dev/tcp/127.0.0.1/9090; printf 'GET /api/v1/status/config HTTP/1.0\r\n\r\n' >&3; timeout 20 cat <&3; kill %1
"""
    text = run_on(tree, tmp_path, script)
    assert "__replica__: mon2" in text
    alone = tree_of(monitored(monitoring=WATCHED), tmp_path)
    assert "replica" not in text_of(alone, "mon", f"{PROMETHEUS}/prometheus.yml")


@pytest.mark.slow
def test_alerts_read_what_the_node_exporter_serves(tmp_path: Path) -> None:
    nodes = [SERVER, MONITOR, LOGIN, COMPUTE]
    tree = tree_of(monitored(storage={"home": HOME}, nodes=nodes), tmp_path)
    read = {name for rule in rules(tree).values() for name in re.findall(r"\bnode_(?!type)\w+", rule["expr"])}
    assert len(read) >= 15
    assert read <= node_metrics().keys()
    switched_off = re.findall(r"--no-collector\.(\w+)", text_of(tree, "c1", "/etc/default/prometheus-node-exporter"))
    assert not {node_metrics()[name].collector for name in read} & set(switched_off)


SCONTROL = """cat <<'END'
NodeName=c1 Arch=x86_64 State=IDLE Partitions=a,b CfgTRES=cpu=4,mem=9M,gres/gpu=4,gres/gpu:h100=4 Reason=x State=DOWN y
NodeName=c2 State=DOWN+DRAIN+NOT_RESPONDING+INVALID_REG Partitions=a NextState=RESUME CfgTRES=cpu=4,gres/gpu=4
NodeName=c3 State=MIXED+DRAIN ThreadsPerCore=2 CfgTRES=cpu=4
NodeName=c4 State=ALLOCATED Partitions=b CfgTRES=cpu=4
END"""
SDIAG = """cat <<'END'
Agent queue size:     3
DBD Agent queue size: 42
Main schedule statistics (microseconds):
	Last cycle:   627
Backfilling stats
	Last cycle when: Sat Nov 28 08:25:16 2026 (1795854316)
	Last cycle:   31
	Depth Mean (try depth): 4
END"""


SQUEUE = r"""case $* in
  *COMPLETING*) date -d '2 hours ago' +%Y-%m-%dT%H:%M:%S; echo NONE; date -d '1 minute ago' +%Y-%m-%dT%H:%M:%S ;;
  *)
    echo 'PENDING|a,b|ada|x|4|cpu=1,gres/gpu=4|'
    echo 'RUNNING|a|ada|x|24|cpu=24,mem=9M,gres/gpu=2,gres/gpu:h100=2|'
    echo 'CONFIGURING|b|AD\"m|y|2|cpu=2|'
    echo 'OUT_OF_MEMORY|b|ada|x|2||' ;;
esac"""
SINFO = r"""cat <<'END'
c2|drained*|root|a "quoted" \reason} 1 | with é, and "more
c2|drained*|root|the same node in another partition
c3|draining|slurm|Prolog error
END"""


def metrics_run(tree: Any, directory: Path, **programs: str) -> tuple[int, Path]:
    all_programs = {"scontrol": SCONTROL, "squeue": SQUEUE, "sdiag": SDIAG, "sinfo": SINFO, **programs}
    program = runnable(tree, "head", METRICS, directory)
    values = directory / METRICS_VALUES.lstrip("/")
    values.write_text(values.read_text().replace("/var/lib/prometheus/node-exporter", str(directory)))
    done = run_script(program.read_text(), all_programs, directory)
    return done.returncode, directory / "slurm.prom"


@pytest.mark.real
def test_the_script_writes_what_prometheus_reads(tmp_path: Path) -> None:
    tree = tree_of(monitored(), tmp_path)
    code, out = metrics_run(tree, tmp_path)
    assert code == 0
    values = dict(line.rsplit(" ", 1) for line in out.read_text(encoding="utf-8").splitlines() if line[0] != "#")
    state = {name: values.pop(name) for name in list(values) if name.startswith("clustergen_")}
    reasons = [name for name in state if "_drained{" in name]
    assert reasons == [
        'clustergen_slurm_node_drained{node="c2",state="drained*",user="root",'
        'reason="a \\"quoted\\" \\\\reason} 1 | with ??, and \\"more"}',
        'clustergen_slurm_node_drained{node="c3",state="draining",user="slurm",reason="Prolog error"}',
    ]
    assert 7190 < int(state["clustergen_slurm_completing_seconds"]) < 11_000
    assert {name.partition("{")[0] for name in state} == set(STATE_METRICS)
    by_name: dict[str, dict[str, str]] = {}
    for series, value in values.items():
        name, _, labels = series.partition("{")
        by_name.setdefault(name, {})[labels.rstrip("}")] = value
    assert by_name.keys() == set(SCRIPT_METRICS)
    assert by_name.keys() <= slurm_metrics().keys()
    assert {name: rows[""] for name, rows in by_name.items() if "" in rows and rows[""] != "0"} == {
        "slurm_nodes": "4", "slurm_nodes_noresp": "1", "slurm_nodes_alloc": "1", "slurm_nodes_mixed": "1",
        "slurm_nodes_idle": "1", "slurm_nodes_down": "1", "slurm_nodes_drain": "2", "slurm_nodes_invalid_reg": "1",
        "slurm_jobs_pending": "1", "slurm_jobs_running": "2", "slurm_jobs_outofmemory": "1",
        "slurm_agent_queue_size": "3", "slurm_slurmdbd_queue_size": "42", "slurm_schedule_cycle_last": "627",
        "slurm_bf_cycle_last": "31", "slurm_bf_try_depth_mean": "4",
    }  # fmt: skip
    a, b = ('partition="a"', 'partition="b"')
    assert by_name["slurm_partition_gpus"] == {a: "8", b: "4"}
    assert by_name["slurm_partition_nodes_down"] == {a: "1", b: "0"}
    assert by_name["slurm_partition_jobs_pending"] == {a: "1", b: "1"}
    assert by_name["slurm_partition_jobs_gpus_alloc"] == {a: "2", b: "0"}
    assert by_name["slurm_user_jobs_cpus_alloc"] == {'username="ada"': "24", r'username="AD\\\"m"': "2"}
    assert by_name["slurm_account_jobs_running"] == {'account="x"': "1", 'account="y"': "1"}
    node = tmp_path / "node/tmp"
    node.mkdir(parents=True)
    (node / "slurm.prom").write_bytes(out.read_bytes())
    assert "error" not in run_on(tree, tmp_path, "promtool check metrics </tmp/slurm.prom || [ $? = 3 ]")


@pytest.mark.parametrize("dead", ["scontrol", "squeue", "sdiag", "sinfo"])
def test_a_silent_slurmctld_leaves_the_last_file_to_grow_old(dead: str, tmp_path: Path) -> None:
    tree = tree_of(monitored(), tmp_path)
    (tmp_path / "slurm.prom").write_text("old\n", encoding="utf-8")
    code, out = metrics_run(tree, tmp_path, **{dead: "exit 1"})
    assert code != 0
    assert out.read_text(encoding="utf-8") == "old\n"
    assert [path.name for path in tmp_path.glob("slurm.prom*")] == ["slurm.prom"]


@pytest.mark.real
def test_a_node_that_is_down_silences_what_follows_from_it(tmp_path: Path) -> None:
    """A real Alertmanager, told of alerts as Prometheus would tell it."""
    spec = {"receivers": {"hook": {"webhook": "http://127.0.0.1:9/x", "severities": ["critical"]}}}
    tree = tree_of(monitored(monitoring=spec), tmp_path)
    script = """
set -u
prometheus-alertmanager --config.file=alertmanager.yml --storage.path=/tmp/am --cluster.listen-address= >/tmp/log 2>&1 &
am="amtool --alertmanager.url=http://127.0.0.1:9093"
for _ in $(seq 600); do $am cluster show >/dev/null 2>&1 && break; sleep 0.1; done
add() { $am alert add "$@" cluster=small || { cat /tmp/log; exit 1; }; }
add alertname=NodeDown severity=critical topic=node instance=c1
add alertname=GpuMissing severity=critical topic=gpu instance=c1
add alertname=GpuMissing severity=critical topic=gpu instance=c2
add alertname=ProbeFailed severity=warning topic=probes instance=c1 job=probe-ssh
add alertname=SlurmNodeDown severity=warning topic=slurm instance=c1
add alertname=SlurmNodeDown severity=warning topic=slurm instance=c2
add alertname=GpuVeryHot severity=critical topic=gpu instance=c3 gpu=1
add alertname=GpuHot severity=warning topic=gpu instance=c3 gpu=1
add alertname=GpuHot severity=warning topic=gpu instance=c3 gpu=2
inhibited() { $am --output=json alert query --inhibited | grep -o '"alertname"' | wc -l; }
for _ in {1..600}; do [ "$(inhibited)" = 4 ] && break; sleep 0.1; done
labels() { tr '{' '\\n' | grep -oE '"alertname":"[^"]+".*' | sed "s/^/$1 /"; }
$am --output=json alert query --inhibited | labels inhibited
$am --output=json alert query | labels active
amtool config routes test --config.file=alertmanager.yml severity=critical
amtool config routes test --config.file=alertmanager.yml severity=warning
kill %1
"""
    text = run_on(tree, tmp_path, script)
    alert = r'"alertname":"(\w+)".*?(?:"gpu":"(\d)".*)?"instance":"(\w+)"'
    seen = {kind: sorted(re.findall(f"^{kind} {alert}", text, re.MULTILINE)) for kind in ("inhibited", "active")}
    assert seen["inhibited"] == [
        ("GpuHot", "1", "c3"), ("GpuMissing", "", "c1"), ("ProbeFailed", "", "c1"), ("SlurmNodeDown", "", "c1"),
    ], text  # fmt: skip
    assert seen["active"] == [
        ("GpuHot", "2", "c3"), ("GpuMissing", "", "c2"), ("GpuVeryHot", "1", "c3"), ("NodeDown", "", "c1"),
        ("SlurmNodeDown", "", "c2"),
    ], text  # fmt: skip
    assert "\nhook\nNobody\n" in text


CHAT = r"""
import http.server

class Chat(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        open("/run/clustergen/chat.json", "wb").write(body)
        self.send_response(200)
        self.end_headers()

http.server.HTTPServer(("127.0.0.1", 9999), Chat).serve_forever()
"""


@pytest.mark.real
@pytest.mark.slow
def test_a_chat_gets_what_is_wrong_with_links_to_runbook_and_dashboard(tmp_path: Path) -> None:
    """A real Alertmanager posts to a server in place of Slack's; only the wait of half a minute is cut."""
    spec = {"receivers": {"chat": {"slack_url_file": "/etc/prometheus/chat.url", "slack_channel": "#cluster"}}}
    tree = tree_of(monitored(monitoring=spec), tmp_path)
    script = r"""
echo http://127.0.0.1:9999/ >/tmp/url
sed 's/group_wait: 30s/group_wait: 0s/; s:/etc/prometheus/chat.url:/tmp/url:' alertmanager.yml >/tmp/config
python3 /run/clustergen/chat.py 2>/dev/null &
prometheus-alertmanager --config.file=/tmp/config --storage.path=/tmp/am --cluster.listen-address= 2>/tmp/log &
am="amtool --alertmanager.url=http://127.0.0.1:9093"
for _ in $(seq 600); do $am cluster show >/dev/null 2>&1 && break; sleep 0.1; done
$am alert add NodeDown severity=critical instance=c1 --annotation=summary="c1 does not respond" \
  --annotation=runbook_url=http://mon:9090/consoles/runbooks.html#NodeDown \
  --annotation=dashboard=http://mon:3000/d/clustergen-node?var-instance=c1
for _ in $(seq 600); do [ -s /run/clustergen/chat.json ] && break; sleep 0.1; done
kill %1 %2
cat /run/clustergen/chat.json
"""
    posted = json.loads(run_on(tree, tmp_path, script, **{"chat.py": CHAT}).splitlines()[-1])
    assert posted["channel"] == "#cluster"
    assert posted["attachments"][0]["text"].strip() == (
        "c1 does not respond: <http://mon:9090/consoles/runbooks.html#NodeDown|runbook>,"
        " <http://mon:3000/d/clustergen-node?var-instance=c1|dashboard>"
    )


def test_secrets_stay_in_files_and_free_text_stays_in_its_place(tmp_path: Path) -> None:
    tree = tree_of(monitored(**VARIANTS["everything"]), tmp_path)
    labels = loaded(tree, f"{PROMETHEUS}/prometheus.yml")["global"]["external_labels"]
    assert labels == {"cluster": "other", "site": "hall 3: row #2 {{ x }}", "__replica__": "${HOSTNAME}"}
    receivers = {one["name"]: one for one in loaded(tree, f"{PROMETHEUS}/alertmanager.yml")["receivers"]}
    chat = receivers["chat"]["slack_configs"][0]
    assert (chat["api_url_file"], chat["channel"]) == ("/etc/prometheus/secrets/slack", "#gpu-alerts")
    assert receivers["hook"]["webhook_configs"] == [{"url": "https://hooks.example.org/x?y=1&z=%20"}]


@pytest.mark.parametrize(
    "section",
    [
        {"labels": {"site": 'a"b'}},
        {"labels": {"site": "a\nb"}},
        {"targets": {"ipmi": ["bmc 1:9290"]}},
        {"targets": {"ipmi": ["bmc]\n- x"]}},
        {"remote_write": ["https://x/\nqueue_config: {}"]},
        {"dcgm": {"counters": ["DCGM_X,gauge,boo"]}},
        {"dcgm": {"job_map": "/run/a b"}},
        {"node_exporter": {"collectors": ['x" --web.config.file=y']}},
        {"retention": "30d --x"},
        {"receivers": {"x": {"webhook": "http://x/$(id)"}}},
        {"receivers": {"x": {"slack_url_file": "/a", "slack_channel": "#a: b"}}},
    ],
)
def test_values_that_would_leave_their_place_are_refused(section: dict[str, Any], tmp_path: Path) -> None:
    assert codes_of(monitored(monitoring=section), tmp_path)


def test_without_a_monitoring_node_nothing_of_it_is_made(tmp_path: Path) -> None:
    tree = tree_of(manifest(), tmp_path)
    made = [file.path for file in tree if "prometheus" in file.path or "dcgm" in file.path]
    units = "overlays/gpu_node/etc/systemd/system"
    assert sorted(made) == [  # a check that asks DCGM itself, and what keeps users away from DCGM
        "overlays/gpu_node/etc/clustergen/dcgm-health.sh",
        "overlays/gpu_node/etc/clustergen/dcgm.nft",
        "overlays/gpu_node/etc/slurm/health.d/70-dcgm",
        f"{units}/clustergen-dcgm-guard.service",
        f"{units}/nvidia-dcgm.service.d/50-clustergen.conf",
    ]
    kept = tree_of(manifest(monitoring={"dcgm": {"enabled": True}}), tmp_path)
    assert COUNTERS in node_files(kept, "c1")


@pytest.mark.slow
def test_the_exporter_asks_the_nodes_own_engine_and_maps_jobs(tmp_path: Path) -> None:
    tree = tree_of(monitored(monitoring={"dcgm": {"port": 9500, "interval": 1000}}), tmp_path)
    arguments = _arguments(text_of(tree, "c1", EXPORTER))
    assert arguments[:1] == ["/usr/bin/dcgm-exporter"]
    flags = dict(zip(arguments[1::2], arguments[2::2], strict=True))
    assert flags == {
        "-f": COUNTERS, "-a": ":9500", "-c": "1000", "-r": "localhost:5555",
        "--hpc-job-mapping-dir": "/run/dcgm-job-mapping",
    }  # fmt: skip
    assert "/run/dcgm-job-mapping 0755 root root" in text_of(tree, "c1", "/etc/tmpfiles.d/clustergen-dcgm.conf")
    for changes in (
        {"slurm": {"version": "24.11", "scripts": {"job_map": False}}},
        {"monitoring": {"dcgm": {"version": "3.1"}}},
    ):
        bare = tree_of(monitored(**changes), tmp_path)
        assert "--hpc-job-mapping-dir" not in _arguments(text_of(bare, "c1", EXPORTER))
        assert "/etc/tmpfiles.d/clustergen-dcgm.conf" not in node_files(bare, "c1")


@pytest.mark.slow
@pytest.mark.parametrize(("gpus", "form"), [(0, "label"), (-1, "info")])
def test_samples_have_the_label_of_jobs_up_to_a_number_of_gpus(gpus: int, form: str, tmp_path: Path) -> None:
    limit = 4 * 8 + gpus
    tree = tree_of(monitored(monitoring={"dcgm": {"job_label_limit": limit}}), tmp_path)
    made = {
        "label": "--hpc-job-mapping-dir" in _arguments(text_of(tree, "c1", EXPORTER)),
        "info": "\nmetrics_file='/var/" in text_of(tree, "c1", "/etc/clustergen/gpu-scripts.sh"),
    }
    assert [name for name, is_made in made.items() if is_made] == [form]
    # Only node_exporter serves the series of jobs.
    dcgm = {"enabled": True, "job_label_limit": limit}
    off = monitored(monitoring={"dcgm": dcgm, "node_exporter": {"enabled": False}})
    for without in (off, manifest(monitoring={"dcgm": dcgm})):
        files = node_files(tree_of(without, tmp_path), "c1")
        assert ("/etc/slurm/prolog.d/40-job-map" in files) == (form == "label")


def _arguments(text: str) -> list[str]:
    lines = [line.removeprefix("ExecStart=") for line in text.splitlines() if line.startswith("ExecStart=")]
    assert lines[0] == ""
    return lines[1].split()


@pytest.mark.real
@pytest.mark.parametrize(
    ("os", "host", "units"),
    [
        ("debian-13", "c1", ["nvidia-dcgm-exporter.service"]),
        ("debian-13", "mon", ["prometheus.service"]),
        ("debian-13", "head", ["clustergen-slurm-metrics.service", "clustergen-slurm-metrics.timer"]),
        ("rocky-9", "mon", ["prometheus.service", "alertmanager.service", "prometheus-node-exporter.service"]),
    ],
)
def test_systemd_accepts_units_and_drop_ins(os: str, host: str, units: list[str], tmp_path: Path) -> None:
    tree = tree_of(monitored(os=os), tmp_path)
    directory = lay_out(tree, host, tmp_path / "node")
    root = root_with("systemd-analyze")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    stands = tmp_path / "stands"
    (stands / "usr/lib/systemd/system").mkdir(parents=True)
    for name in ("nvidia-dcgm", "nvidia-dcgm-exporter", "prometheus", "prometheus-node-exporter", "slurmctld"):
        text = "[Service]\nExecStart=/usr/bin/true\n"
        (stands / f"usr/lib/systemd/system/{name}.service").write_text(text, encoding="utf-8")
    for name in ("usr/bin/dcgm-exporter", "usr/local/bin/prometheus", "usr/local/bin/alertmanager"):
        (stands / name).parent.mkdir(parents=True, exist_ok=True)
        (stands / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (stands / name).chmod(0o755)
    box = sandbox.Sandbox(root, files=((stands, "/"), (directory, "/")))
    done = sandbox.run(box, ["systemd-analyze", "verify", "--man=no", *units], timeout=300)
    assert done.code == 0, done
    assert "50-clustergen" not in done.stderr


@pytest.mark.slow
def test_arguments_reach_the_daemons_as_words(tmp_path: Path) -> None:
    """The environment file as systemd and sh read it: continuation lines go, nothing is expanded."""
    for os, env in (("debian-13", "/etc/default/"), ("rocky-9", "/etc/default/")):
        tree = tree_of(monitored(os=os), tmp_path)
        text = text_of(tree, "c1", f"{env}prometheus-node-exporter")
        words = text.partition("ARGS=")[2].replace("\\\n", " ").strip().strip('"').split()
        assert all(word.startswith("--") for word in words)
        hidden = next(word for word in words if "mount-points-exclude" in word).partition("=")[2]
        assert not re.search(hidden, "/mnt/lustre")
        assert re.search(hidden, "/var/lib/docker/overlay2")
        shown = next(word for word in words if "unit-include" in word).partition("=")[2]
        assert all(
            re.fullmatch(shown, f"{unit}.service") for unit in ("slurmd", "munge", "nvidia-dcgm", "clustergen-x")
        )
        assert not re.fullmatch(shown, "getty@tty1.service")


@pytest.mark.real
def test_shellcheck_finds_nothing(tmp_path: Path) -> None:
    tree = tree_of(monitored(networks=LOSSLESS), tmp_path)
    root = root_with("shellcheck")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    files = ((lay_out(tree, "head", tmp_path / "node"), "/"), (lay_out(tree, "c1", tmp_path / "node"), "/"))
    done = sandbox.run(sandbox.Sandbox(root, files=files), ["shellcheck", METRICS, ROCE_METRICS], timeout=300)
    assert done.code == 0, done.stdout


@pytest.mark.slow
def test_a_webhooks_url_file_is_refused_where_alertmanager_does_not_know_it(tmp_path: Path) -> None:
    spec = {"receivers": {"hook": {"webhook_url_file": "/etc/prometheus/secrets/hook"}}}
    assert codes_of(monitored(os="debian-12", monitoring=spec), tmp_path) == ["alertmanager-too-old"]
    tree = tree_of(monitored(monitoring=spec), tmp_path)
    hook = loaded(tree, f"{PROMETHEUS}/alertmanager.yml")["receivers"][1]["webhook_configs"]
    assert hook == [{"url_file": "/etc/prometheus/secrets/hook"}]


@pytest.mark.parametrize(
    ("smtp", "stated", "rendered"),
    [
        ("mail.example.org:25", None, None),
        ("mail.example.org:25", False, False),
        ("localhost:25", None, False),
        ("localhost:25", True, None),
    ],
)
def test_mail_is_sent_without_tls_where_the_manifest_says_it(
    tmp_path: Path, smtp: str, stated: bool | None, rendered: bool | None
) -> None:
    """Alertmanager's default is true."""
    mail = {"receivers": {"ops": {"email": "ops@example.org"}}, "smtp": smtp, "mail_from": "cluster@example.org"}
    tls = {} if stated is None else {"smtp_require_tls": stated}
    tree = tree_of(manifest(nodes=[HEAD, MONITOR, COMPUTE], monitoring={**mail, **tls}), tmp_path)
    assert loaded(tree, f"{PROMETHEUS}/alertmanager.yml")["global"].get("smtp_require_tls") == rendered


@pytest.mark.real
def test_metrics_of_drift_are_in_prometheus_format(tmp_path: Path) -> None:
    (tmp_path / "manifest.yaml").write_text(machines.MANIFEST, encoding="utf-8")
    machines.record(tmp_path / "facts", gpu2={"nvidia-smi.csv": machines.smi(3), "nvidia-smi-q.xml": None})
    file = tmp_path / "drift.prom"
    words = ["drift", str(tmp_path / "manifest.yaml"), "--facts", str(tmp_path / "facts"), "--metrics", str(file)]
    assert CliRunner().invoke(group, words).exit_code == 1
    lines = file.read_text(encoding="ascii").splitlines()
    assert 'clustergen_drift_findings{severity="error",kind="gpu-missing"} 1' in lines
    assert 'clustergen_drift_findings{severity="warning",kind="kernel-differs"} 0' in lines
    assert 'clustergen_drift_nodes{state="affected"} 1' in lines
    tree = tree_of(monitored(), tmp_path)
    script = "promtool check metrics <<'END' || [ $? = 3 ]\n" + file.read_text(encoding="ascii") + "END"
    assert "error" not in run_on(tree, tmp_path, script).replace('severity="error"', "")


@pytest.mark.slow
def test_drift_runs_only_where_it_is_enabled(tmp_path: Path) -> None:
    paths = ("/usr/local/sbin/clustergen-drift", f"{PROMETHEUS}/rules/drift.yml")
    enabled = tree_of(monitored(drift={"enabled": True}), tmp_path)
    assert paths[0] in node_files(enabled, "head")
    assert paths[1] in node_files(enabled, "mon")
    off = tree_of(monitored(), tmp_path)
    assert not {*node_files(off, "head"), *node_files(off, "mon")} & set(paths)


def test_without_slurm_drift_runs_on_the_monitoring_node(tmp_path: Path) -> None:
    data = {key: value for key, value in monitored(drift={}).items() if key not in ("slurm", "health")}
    data["nodes"] = [
        {**node, "roles": [role for role in node.get("roles", ()) if not role.startswith("slurm-")] or None}
        for node in data["nodes"]
    ]
    tree = tree_of(data, tmp_path)
    assert "/usr/local/sbin/clustergen-drift" in node_files(tree, "mon")
    assert "/usr/local/sbin/clustergen-drift" not in node_files(tree, "head")
    assert "On the monitoring node" in text_of(tree, "mon", f"{PROMETHEUS}/rules/drift.yml")


DRIFT_RUNS = {"drift": ("1", "2 nodes differ", 0), "no drift": ("0", "no drift", 0), "broken manifest": ("2", "", 3)}


@pytest.mark.slow
@pytest.mark.parametrize("case", DRIFT_RUNS)
def test_the_script_of_drift_fails_only_where_nothing_was_compared(case: str, tmp_path: Path) -> None:
    """Its two programs are played: they are those of the site's own installation."""
    code, output, expected = DRIFT_RUNS[case]
    programs, cluster = tmp_path / "bin", tmp_path / "cluster"
    (cluster / "rendered").mkdir(parents=True)
    programs.mkdir()
    compare = f"echo x 1 >{tmp_path}/metrics; echo '{output}'; exit {code}"
    for name, text in (("ansible-playbook", "exit 0"), ("clustergen", compare)):
        (programs / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    spec = {"enabled": True, "directory": str(cluster), "programs": str(programs)}
    tree = tree_of(monitored(drift=spec), tmp_path)
    script = runnable(
        tree, "head", "/usr/local/sbin/clustergen-drift", tmp_path,
        {"/var/lib/clustergen-drift": tmp_path, "/var/lib/prometheus/node-exporter": tmp_path},
    )  # fmt: skip
    done = subprocess.run(["bash", str(script)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == expected
    assert output in done.stdout
    for name in ("report.txt", "clustergen-drift.prom"):
        assert (tmp_path / name).exists() is (expected == 0)
