"""Probes and sensors: who is asked, by whom, and under which name; a real exporter answers a real Prometheus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies import exporter_pages, simulated_bmc
from strategies.trees import COMPUTE, GPU, HEAD, codes_of, lay_out, manifest, node_files, text_of, tree_of

MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
WITH_BMC = {**COMPUTE, "addresses": {"bmc": "10.0.9.[11-14]"}}
NETWORKS = {"management": {"cidr": "10.0.0.0/24"}, "bmc": {"cidr": "10.0.9.0/24"}}
PAGE = "https://portal.example.org/"
DCGM_PORT = {"node_exporter": {"port": 5555}}
SNMP = {"devices": {"ups-a": {"address": "10.0.9.201", "module": "ups_mib", "auth": "public"}}}


def probed(**monitoring: Any) -> dict[str, Any]:
    return manifest(nodes=[HEAD, MONITOR, WITH_BMC], networks=NETWORKS, monitoring=monitoring)


def targets(tree: Any, job: str) -> list[str]:
    groups = yaml.safe_load(text_of(tree, "mon", f"/etc/prometheus/sd/{job}.yml"))
    return [target for group in groups for target in group["targets"]]


@pytest.mark.slow
def test_each_exporter_has_its_targets(tmp_path: Path) -> None:
    tree = tree_of(probed(ipmi={"port": 9999}, blackbox={"web": [PAGE]}), tmp_path)
    assert targets(tree, "node-ipmi") == [f"c{number}:9999" for number in range(1, 5)]
    assert targets(tree, "probe-bmc") == [f"c{number}-bmc:443" for number in range(1, 5)]
    assert targets(tree, "probe-ssh") == ["head:22", "mon:22", *(f"c{number}:22" for number in range(1, 5))]
    assert targets(tree, "probe-web") == [PAGE]
    assert "localhost:9115" in text_of(tree, "mon", "/etc/default/prometheus-blackbox-exporter")


@pytest.mark.slow
def test_ipmi_without_a_bmc_leaves_nothing_in_the_tree(tmp_path: Path) -> None:
    without = manifest(nodes=[HEAD, MONITOR, COMPUTE], monitoring={"ipmi": {}}, host={"firewall": "nftables"})
    tree = tree_of(without, tmp_path)
    assert not [file.path for file in tree if "ipmi" in file.path or "sensors" in file.path]
    assert not [file.path for file in tree if "firewall" in file.path and b"9290" in file.content]


# A server that answers as sshd does, the exporters of a node and of the monitoring, and Prometheus with its rules.
# A second IPMI exporter has no BMC. Only the times between scrapes are shortened.
PROGRAMS = r"""
cd /tmp
python3 - <<'PY' &
import socket
server = socket.create_server(("10.0.0.11", 22))
while True:
    client, _ = server.accept()
    client.sendall(b"SSH-2.0-OpenSSH_10.0\r\n")
    client.close()
PY
bash /run/clustergen/ipmi.sh 2>ipmi.log &
prometheus-ipmi-exporter --config.file=/etc/prometheus-exporters/ipmi.yml --web.listen-address=:9291 2>none.log &
. /etc/default/prometheus-blackbox-exporter
prometheus-blackbox-exporter $ARGS 2>blackbox.log &
sed -i -E 's/(scrape_(interval|timeout): ).*/\11s/' /etc/prometheus/prometheus.yml
prometheus --config.file=/etc/prometheus/prometheus.yml --web.listen-address=127.0.0.1:9090 2>prometheus.log &
python3 /run/clustergen/asks.py
kill $(jobs -p)
"""
ASKS = r"""
import json, pathlib, time, urllib.error, urllib.parse, urllib.request

def page(url):
    for _ in range(600):
        try:
            return urllib.request.urlopen(url, timeout=60).read().decode()
        except urllib.error.URLError:
            time.sleep(0.1)

def series(query):
    url = "http://127.0.0.1:9090/api/v1/query?" + urllib.parse.urlencode({"query": query})
    return json.loads(page(url))["data"]["result"]

directory = pathlib.Path("/run/clustergen")
queries = json.loads((directory / "queries.json").read_text())
for _ in range(600):
    is_complete = all(len(series(query)) == 2 for query in queries["complete"])
    if is_complete and all(series(queries["alerts"][name]) for name in queries["firing"]):
        break
    time.sleep(0.1)
pages = {name: page(f"http://127.0.0.1:{port}/metrics") for name, port in (("bmc", 9290), ("none", 9291))}
answers = {name: [(row["metric"], row["value"][1]) for row in series(text)] for name, text in queries["alerts"].items()}
answers |= {query: [(row["metric"], row["value"][1]) for row in series(query)] for query in queries["complete"]}
(directory / "answers.json").write_text(json.dumps({"pages": pages, "answers": answers}))
"""


@pytest.mark.real
@pytest.mark.slow
def test_prometheus_scrapes_probes_and_sensors(tmp_path: Path) -> None:
    """It asks the exporter of probes, which finds sshd on one host of two, and that of a BMC with failed sensors."""
    root = root_with("promtool")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    thresholds = {"air_inlet": 22, "fan_speed": 9000}
    monitoring = {
        "blackbox": {"bmc": False, "interval": 15}, "ipmi": {}, "scrape_interval": 5, "thresholds": thresholds
    }  # fmt: skip
    series = 'ipmi_temperature_celsius{name=~"Coolant.*"}'
    loop = {"racks": "r1", "share": "70%", "sensors": {"inlet": {"series": series, "high": 46, "low": 10}}}
    rooms = {"racks": {"r1": {"nodes": "c[1-4]"}}, "facility": {"loops": {"direct": loop}}}
    tree = tree_of({**probed(**monitoring), **rooms}, tmp_path)
    texts = [text_of(tree, "mon", f"/etc/prometheus/rules/{name}.yml") for name in ("sensors", "cooling")]
    rules = [rule for text in texts for rule in yaml.safe_load(text)["groups"][0]["rules"]]
    probes, bmcs = 'probe_success{instance=~"c1|c2"}', 'ipmi_up{job="node-ipmi",rack="r1",collector="ipmi"}'
    firing = {
        "BmcSensorCritical": {"GPU7 Temp"}, "BmcSensorWarning": {"Fan Redundancy"},
        "PowerSupplyFailed": {"PS2 Status", "PS Redundancy"}, "RackFeedLost": {"r1"}, "AirInletHot": {"r1"},
        "FanSlow": {"FAN1"}, "CoolantInletHot": {"Coolant Inlet"},
    }  # fmt: skip
    alerts = {rule["alert"]: rule["expr"] for rule in rules}
    queries = {"complete": [probes, bmcs], "alerts": alerts, "firing": list(firing)}
    notes = {**simulated_bmc.notes(), "asks.py": ASKS, "queries.json": json.dumps(queries)}
    places = [lay_out(tree, host, tmp_path / host) for host in ("mon", "c1")]
    box = sandbox.Sandbox(
        root, files=tuple((place, "/") for place in places), hosts="127.0.0.1 localhost\n10.0.0.11 c1\n10.0.0.12 c2\n",
        addresses=("10.0.0.11", "10.0.0.12"), is_one_user=True,
    )  # fmt: skip
    done = sandbox.run(box, ["/bin/bash", "-c", PROGRAMS], timeout=300, notes=notes)
    assert "answers.json" in done.files, done.stdout + done.stderr
    result = json.loads(done.files["answers.json"])
    answers = result["answers"]
    assert {(row["instance"], value) for row, value in answers[probes]} == {("c1", "1"), ("c2", "0")}
    names = {alert: {row.get("name", row.get("rack")) for row, _ in answers[alert]} for alert in queries["alerts"]}
    assert names == firing | {name: set() for name in ("BmcUnreadable", "CoolantInletCold", "CoolantSensorSilent")}
    expected = set("\n".join(exporter_pages.ipmi()).splitlines())
    lines = set(result["pages"]["bmc"].splitlines())
    assert expected <= lines, expected - lines
    assert 'ipmi_up{collector="ipmi"} 0' in result["pages"]["none"].splitlines()


@pytest.mark.slow
def test_nothing_is_asked_unless_the_manifest_wants_it(tmp_path: Path) -> None:
    tree = tree_of(probed(), tmp_path)
    assert not [path for host in ("mon", "c1") for path in node_files(tree, host) if "exporters" in path]


@pytest.mark.parametrize(
    ("monitoring", "code"),
    [
        ({"blackbox": {"web": ["ftp://x/"]}}, "text-malformed"),
        ({"blackbox": {"web": ["https://user:pass@x/"]}}, "secret-in-manifest"),
        ({"blackbox": {"interval": 1}}, "value-out-of-range"),
        ({"blackbox": {"port": 9090}}, "port-twice"),
        ({"ipmi": {"port": 9100}}, "port-twice"),
        ({"ipmi": {"password": "x"}}, "key-unknown"),
        ({"targets": {"probe-ssh": ["x:1"]}}, "scrape-job-clash"),
    ],
)
def test_bad_values_are_reported(monitoring: dict[str, Any], code: str, tmp_path: Path) -> None:
    assert code in codes_of(probed(**monitoring), tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"node_types": {"gpu": {**GPU, "gpus": {"model": "rtx-3090", "count": 2}}}, "monitoring": DCGM_PORT},
        {"os": "debian-12", "monitoring": {"enabled": False, "snmp": SNMP}},
    ],
    ids=["DCGM leaves GeForce out", "nothing is monitored"],
)
def test_services_that_do_not_run_are_not_judged(changes: dict[str, Any], tmp_path: Path) -> None:
    codes = codes_of(manifest(nodes=[HEAD, MONITOR, COMPUTE], **changes), tmp_path)
    assert not {"port-twice", "exporter-not-packaged"} & {*codes}
