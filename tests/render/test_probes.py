"""Probes and sensors: who is asked, by whom, and under which name; a real exporter answers a real Prometheus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import COMPUTE, HEAD, codes_of, lay_out, manifest, node_files, text_of, tree_of

MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
WITH_BMC = {**COMPUTE, "addresses": {"bmc": "10.0.9.[11-14]"}}
NETWORKS = {"management": {"cidr": "10.0.0.0/24"}, "bmc": {"cidr": "10.0.9.0/24"}}
PAGE = "https://portal.example.org/"


def probed(**monitoring: Any) -> dict[str, Any]:
    return manifest(nodes=[HEAD, MONITOR, WITH_BMC], networks=NETWORKS, monitoring=monitoring)


def targets(tree: Any, job: str) -> list[str]:
    groups = yaml.safe_load(text_of(tree, "mon", f"/etc/prometheus/sd/{job}.yml"))
    return [target for group in groups for target in group["targets"]]


def test_each_exporter_has_its_targets(tmp_path: Path) -> None:
    tree = tree_of(probed(ipmi={"port": 9999}, blackbox={"web": [PAGE]}), tmp_path)
    assert targets(tree, "node-ipmi") == [f"c{number}:9999" for number in range(1, 5)]
    assert targets(tree, "probe-bmc") == [f"c{number}-bmc:443" for number in range(1, 5)]
    assert targets(tree, "probe-ssh") == ["head:22", "mon:22", *(f"c{number}:22" for number in range(1, 5))]
    assert targets(tree, "probe-web") == [PAGE]
    assert "localhost:9115" in text_of(tree, "mon", "/etc/default/prometheus-blackbox-exporter")


@pytest.mark.real
@pytest.mark.slow
def test_a_probe_of_sshd_has_the_name_of_its_host(tmp_path: Path) -> None:
    """Prometheus asks the exporter, which asks a server that answers as sshd does; another host has none."""
    root = root_with("promtool")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    tree = tree_of(probed(blackbox={"bmc": False, "interval": 15}, scrape_interval=5), tmp_path)
    place = lay_out(tree, "mon", tmp_path / "node")
    script = r"""
cd /tmp
python3 - <<'PY' &
import socket
server = socket.create_server(("10.0.0.11", 22))
while True:
    client, _ = server.accept()
    client.sendall(b"SSH-2.0-OpenSSH_10.0\r\n")
    client.close()
PY
. /etc/default/prometheus-blackbox-exporter
prometheus-blackbox-exporter $ARGS 2>blackbox.log &
prometheus --config.file=/etc/prometheus/prometheus.yml --web.listen-address=127.0.0.1:9090 2>prometheus.log &
for _ in {1..1200}; do
  promtool query instant http://127.0.0.1:9090 'sort(sum by (instance) (probe_success{instance=~"c1|c2"}))' >answer 2>&1
  [ "$(grep -c instance= answer)" = 2 ] && break
  sleep 0.1
done
cat answer
kill %1 %2 %3
"""
    hosts = "127.0.0.1 localhost\n10.0.0.11 c1\n10.0.0.12 c2\n"
    box = sandbox.Sandbox(
        root, files=((place, "/"),), hosts=hosts, addresses=("10.0.0.11", "10.0.0.12"), is_one_user=True
    )
    done = sandbox.run(box, ["/bin/bash", "-c", script], timeout=300)
    values = [(line.split(" ")[0], line.split(" ")[2]) for line in done.stdout.splitlines()]
    assert values == [('{instance="c2"}', "0"), ('{instance="c1"}', "1")], done


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
