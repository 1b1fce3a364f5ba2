"""UPS and PDUs: a real exporter asks agents that answer as they do, and a real Prometheus has their metrics by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen import compile as compiler
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import COMPUTE, HEAD, codes_of, lay_out, manifest, node_files, text_of, tree_of

AGENT = Path(__file__).parent / "snmp_agent.py"
MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
NODES = [HEAD, MONITOR, COMPUTE]
UPS = {"address": "10.0.9.201", "module": "ups_mib", "auth": "site"}
PDU = {"address": "10.0.9.202", "module": "apc_rpdu2", "auth": "site", "rack": "r1"}
CDU = {"address": "10.0.9.204", "module": "entity_sensor", "auth": "site"}
DEVICES = {"cdu-a": CDU, "ups-a": UPS, "pdu-a": PDU, "pdu-b": {**PDU, "address": "10.0.9.203"}}
OF_UPS, OF_PDU, OF_SENSOR = "1.3.6.1.2.1.33.1", "1.3.6.1.4.1.318.1.1.26", "1.3.6.1.2.1.99.1.1.1"
ANSWERS = {  # object → value; the index behind it is the exporter's label
    "10.0.9.201": {
        f"{OF_UPS}.1.2.0": 9, f"{OF_UPS}.2.1.0": 2, f"{OF_UPS}.2.2.0": 0, f"{OF_UPS}.2.3.0": 42, f"{OF_UPS}.2.4.0": 97,
        f"{OF_UPS}.4.1.0": 5, f"{OF_UPS}.4.4.1.4.1": 4200, f"{OF_UPS}.4.4.1.5.1": 61, f"{OF_UPS}.6.1.0": 9,
    },
    "10.0.9.202": {
        f"{OF_PDU}.4.3.1.5.1": 312, f"{OF_PDU}.6.3.1.4.1": 2, f"{OF_PDU}.6.3.1.4.2": 3, f"{OF_PDU}.6.3.1.5.1": 87,
        f"{OF_PDU}.6.3.1.5.2": 160,
    },
    "10.0.9.204": {  # 41.5 degrees Celsius
        f"{OF_SENSOR}.1.12": 8, f"{OF_SENSOR}.3.12": 1, f"{OF_SENSOR}.4.12": 415, f"{OF_SENSOR}.5.12": 1,
    },
    "10.0.9.203": {f"{OF_PDU}.4.3.1.5.1": 1},
}  # fmt: skip
READ = {
    'up{instance="ups-a"}': 1, 'up{instance="pdu-a", rack="r1"}': 1, 'up{instance="pdu-b", rack="r1"}': 0,
    'up{instance="cdu-a"}': 1, 'entPhySensorType{entPhysicalIndex="12", instance="cdu-a"}': 8,
    'entPhySensorPrecision{entPhysicalIndex="12", instance="cdu-a"}': 1,
    'entPhySensorValue{entPhysicalIndex="12", instance="cdu-a"}': 415,
    'entPhySensorOperStatus{entPhysicalIndex="12", instance="cdu-a"}': 1,
    'upsBatteryStatus{instance="ups-a"}': 2, 'upsSecondsOnBattery{instance="ups-a"}': 0,
    'upsEstimatedMinutesRemaining{instance="ups-a"}': 42, 'upsEstimatedChargeRemaining{instance="ups-a"}': 97,
    'upsOutputSource{instance="ups-a"}': 5, 'upsOutputPower{instance="ups-a", upsOutputLineIndex="1"}': 4200,
    'upsOutputPercentLoad{instance="ups-a", upsOutputLineIndex="1"}': 61,
    'rPDU2DeviceStatusPower{instance="pdu-a", rPDU2DeviceStatusIndex="1", rack="r1"}': 312,
    'rPDU2PhaseStatusLoadState{instance="pdu-a", rPDU2PhaseStatusIndex="1", rack="r1"}': 2,
    'rPDU2PhaseStatusLoadState{instance="pdu-a", rPDU2PhaseStatusIndex="2", rack="r1"}': 3,
    'rPDU2PhaseStatusCurrent{instance="pdu-a", rPDU2PhaseStatusIndex="1", rack="r1"}': 87,
    'rPDU2PhaseStatusCurrent{instance="pdu-a", rPDU2PhaseStatusIndex="2", rack="r1"}': 160,
}  # fmt: skip


def watched(devices: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    racks = {"r1": {"nodes": "c[1-4]"}}
    return manifest(nodes=NODES, racks=racks, monitoring={"snmp": {"devices": devices or DEVICES, **changes}})


@pytest.mark.real
@pytest.mark.slow
def test_metrics_of_devices_have_their_names(tmp_path: Path) -> None:
    """A device with another community does not answer, and is down."""
    root = root_with("prometheus-snmp-exporter")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    tree = tree_of(watched(), tmp_path)
    place = lay_out(tree, "mon", tmp_path / "node")
    agents = "\n".join(
        f"python3 /run/clustergen/agent.py {address} {'other' if address.endswith('203') else 'word'} "
        + " ".join(f"{name}={value}" for name, value in objects.items()) + " &"
        for address, objects in ANSWERS.items()
    )  # fmt: skip
    script = rf"""
cd /tmp
{agents}
printf 'auths:\n  site: {{version: 2, community: word}}\n' >/etc/prometheus-exporters/snmp-auths.yml
set -f
. /etc/default/prometheus-snmp-exporter
prometheus-snmp-exporter $ARGS 2>snmp.log &
set +f
cp -r /etc/prometheus p  # once a second in place of once a minute
sed -Ei 's/scrape_(interval|timeout): .*/scrape_\1: 1s/' p/prometheus.yml
prometheus --config.file=p/prometheus.yml --web.listen-address=127.0.0.1:9090 2>prometheus.log &
query='{{__name__=~"up|ups[A-Z].*|rPDU2.*|entPhySensor.*",job="snmp"}}'
for _ in {{1..600}}; do
  promtool query instant http://127.0.0.1:9090 "$query" >answer 2>&1
  [ "$(wc -l <answer)" -ge {len(READ)} ] && break
  sleep 0.1
done
cat answer
kill $(jobs -p)
"""
    box = sandbox.Sandbox(
        root, files=((place, "/"),), hosts="127.0.0.1 localhost\n", addresses=tuple(ANSWERS), is_one_user=True
    )
    done = sandbox.run(
        box, ["/bin/bash", "-c", script], timeout=300, notes={"agent.py": AGENT.read_text(encoding="utf-8")}
    )
    common = ('cluster="small", ', 'job="snmp", ', ', job="snmp"')
    answers = {}
    for line in done.stdout.splitlines():
        series, _, value = line.partition(" => ")
        for text in common:
            series = series.replace(text, "")
        answers[series] = int(value.split(" ")[0])
    assert answers == READ, done


@pytest.mark.slow
def test_credentials_are_a_secret_and_the_exporter_answers_prometheus_alone(tmp_path: Path) -> None:
    tree = tree_of(watched(port=9999), tmp_path)
    everything = "".join(file.content.decode() for file in node_files(tree, "mon").values())
    assert "community" not in everything
    secret = {
        "name": "snmp", "path": "/etc/prometheus-exporters/snmp-auths.yml", "mode": "0400", "owner": "prometheus",
        "effect": "restart:prometheus-snmp-exporter.service",
    }  # fmt: skip
    (row,) = (row for row in yaml.safe_load(group_vars(tree))["cluster_secrets"] if row["name"] == "snmp")
    assert secret.items() <= row.items()
    assert "localhost:9999" in text_of(tree, "mon", "/etc/default/prometheus-snmp-exporter")
    assert "replacement: localhost:9999" in text_of(tree, "mon", "/etc/prometheus/prometheus.yml")


def group_vars(tree: Any) -> str:
    return str(tree.files["inventory/group_vars/all.yml"].content.decode())


def site_file(directory: Path, text: str, group: str = "monitoring", name: str = "snmp-site.yml") -> None:
    place = directory / "site" / group / "etc/prometheus-exporters" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def rendered(directory: Path, module: str, **changes: Any) -> tuple[Any, list[Any]]:
    """The tree of one device beside the site's files, and what is reported."""
    path = directory / "manifest.yaml"
    data = {**watched({"crac-1": {**UPS, "module": module}}), **changes}
    path.write_text(json.dumps(data), encoding="utf-8")
    tree, reported = compiler.render(compiler.validate(path), path)
    return tree, list(reported)


@pytest.mark.slow
def test_a_module_of_the_site_has_no_alerts_of_its_own(tmp_path: Path) -> None:
    site_file(tmp_path, "modules: {liebert: {walk: [1.3.6.1.4.1.476]}}\n")
    tree, _ = rendered(tmp_path, "liebert")
    rules = yaml.safe_load(text_of(tree, "mon", "/etc/prometheus/rules/snmp.yml"))["groups"][0]["rules"]
    assert [rule["alert"] for rule in rules] == ["SnmpDeviceSilent"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "hint"),
    [
        ("ups_mid", "did you mean 'ups_mib'?"),
        ("leibert", "did you mean 'liebert'?"),
        ("cisco", "add the module in site/monitoring/etc/prometheus-exporters/snmp-NAME.yml"),
    ],
)
def test_a_module_that_no_file_defines_is_reported(module: str, hint: str, tmp_path: Path) -> None:
    site_file(tmp_path, "auths: {cisco: {version: 2}}\nmodules: {liebert: {walk: [1.3.6.1.4.1.476]}}\n")
    tree, (problem,) = rendered(tmp_path, module)
    assert tree is None
    assert (problem.code, problem.hint) == ("snmp-module-unknown", hint)


@pytest.mark.slow
@pytest.mark.parametrize("group", ["slurm_compute", "slurm_controller"])
def test_a_module_on_other_nodes_does_not_count(group: str, tmp_path: Path) -> None:
    site_file(tmp_path, "modules: {liebert: {walk: [1.3.6.1.4.1.476]}}\n", group)
    assert [one.code for one in rendered(tmp_path, "liebert")[1]] == ["snmp-module-unknown"]


@pytest.mark.slow
def test_a_replaced_file_has_the_modules_that_it_names(tmp_path: Path) -> None:
    site_file(tmp_path, "modules: {liebert: {walk: [1.3.6.1.4.1.476]}}\n", name="snmp.yml")
    site = {"replaces": ["monitoring/etc/prometheus-exporters/snmp.yml"]}
    assert rendered(tmp_path, "liebert", site=site)[1] == []
    assert [one.code for one in rendered(tmp_path, "ups_mib", site=site)[1]] == ["snmp-module-unknown"]


@pytest.mark.slow
def test_a_site_file_that_is_not_yaml_is_reported(tmp_path: Path) -> None:
    site_file(tmp_path, "modules: {liebert: {walk: [1.3\n")
    (problem,) = rendered(tmp_path, "liebert")[1]
    assert (problem.code, "line 2" in problem.message) == ("site-file-unreadable", True)


@pytest.mark.parametrize(
    ("devices", "code"),
    [
        ({"ups-a": {**UPS, "rack": "r7"}}, "rack-unknown"),
        ({"c1": UPS}, "host-duplicate"),
        ({"ups-a": {**UPS, "community": "word"}}, "key-unknown"),
        ({"ups-a": {**UPS, "address": "10.0.9.201/24"}}, "text-malformed"),
        ({"ups-a": {**UPS, "module": "ups mib"}}, "text-malformed"),
        ({"ups-a": {"address": "10.0.9.201", "module": "ups_mib"}}, "key-missing"),
    ],
)
def test_bad_devices_are_reported(devices: dict[str, Any], code: str, tmp_path: Path) -> None:
    assert code in codes_of(watched(devices), tmp_path)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"monitoring": {"snmp": {"devices": {}}}}, "value-out-of-range"),
        ({"monitoring": {"snmp": {"devices": DEVICES, "port": 9090}}}, "port-twice"),
        ({"os": "debian-12"}, "exporter-not-packaged"),
        ({"nodes": [HEAD, COMPUTE]}, "monitoring-missing"),
    ],
)
def test_a_section_without_effect_is_reported(changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    assert code in codes_of({**watched(), **changes}, tmp_path)
