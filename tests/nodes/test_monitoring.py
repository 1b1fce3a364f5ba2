"""Prometheus sees what the manifest has, Slurm's state reaches it, and an alert fires when a node goes."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

HOSTS = ("slurm-head", "monitor1", "login1", "compute01", "compute02", "compute03")


def asked(lab: Lab, path: str, port: int = 9090) -> Any:
    """Answer of Prometheus, or Alertmanager, on the monitoring node."""
    # Python is what every node has.
    return json.loads(lab.out("monitor1", fetches(path, port)))


def fetches(path: str, port: int = 9090) -> str:
    url = f"http://localhost:{port}{path}"
    return f"python3 -c 'import urllib.request as u; print(u.urlopen(\"{url}\", timeout=10).read().decode())'"


def until(lab: Lab, path: str, accepts: Any, port: int = 9090) -> Any:
    """The first answer that `accepts` accepts; AssertionError with the last one after five minutes.

    After a restart, Prometheus answers nothing at first, or 503.
    """
    end = time.monotonic() + 300
    while True:
        done = lab.run("monitor1", fetches(path, port))
        if done.returncode == 0 and accepts(answer := json.loads(done.stdout)):
            return answer
        assert time.monotonic() < end, done.stdout + done.stderr
        time.sleep(1)


def health(answer: Any) -> dict[tuple[str, str], str]:
    """(job, address) → up, down or unknown."""
    return {
        (one["labels"]["job"], one["discoveredLabels"]["__address__"]): one["health"]
        for one in answer["data"]["activeTargets"]
    }


def test_all_targets_are_there_and_those_with_an_exporter_are_up(lab: Lab) -> None:
    expected = {("node", f"{host}:9100"): "up" for host in HOSTS}
    expected |= {("prometheus", "monitor1:9090"): "up", ("alertmanager", "monitor1:9093"): "up"}
    answer = until(lab, "/api/v1/targets?state=active", lambda answer: health(answer) == expected)
    labels = {one["discoveredLabels"]["__address__"]: one["labels"] for one in answer["data"]["activeTargets"]}
    assert labels["compute01:9100"]["node_type"] == "h100"
    assert labels["compute01:9100"]["instance"] == "compute01"
    assert labels["compute01:9100"]["rack"] == "rack1"


def test_the_state_of_slurm_is_measured(lab: Lab) -> None:
    def value(answer: Any) -> list[float]:
        return [float(one["value"][1]) for one in answer["data"]["result"]]

    expected = {
        "slurm_nodes": [3],
        "slurm_nodes_down": [0],
        'count(up{job="node"} == 1)': [6],
        "count(node_textfile_scrape_error == 1)": [],
    }
    for query, values in expected.items():  # each from a scrape of its own
        until(lab, f"/api/v1/query?query={quote(query)}", lambda answer, values=values: value(answer) == values)


def test_rules_are_loaded_and_evaluated(lab: Lab) -> None:
    answer = asked(lab, "/api/v1/rules")
    groups = {group["name"]: group["rules"] for group in answer["data"]["groups"]}
    assert {"gpu", "node", "slurm", "fabric", "storage", "meta"} <= set(groups)
    assert [
        (rule["name"], rule["lastError"]) for rules in groups.values() for rule in rules if rule.get("lastError")
    ] == []


def test_an_alert_fires_when_a_node_goes_and_ends_when_it_is_back(lab: Lab) -> None:
    def down(alerts: Any) -> bool:
        return any(
            one["labels"]["alertname"] == "NodeDown" and one["labels"]["instance"] == "compute03" for one in alerts
        )

    lab.engine("stop", "--time", "2", "{compute03}")
    try:
        # Prometheus has sent it to Alertmanager, which notifies people.
        alerts = until(lab, "/api/v2/alerts", down, 9093)
        alert = next(one for one in alerts if one["labels"]["alertname"] == "NodeDown")
        assert alert["labels"]["severity"] == "critical"
        assert alert["annotations"]["summary"] == "compute03 does not respond"
        assert {one["name"] for one in alert["receivers"]} == {"operators"}
    finally:
        lab.engine("start", "{compute03}")
    until(
        lab, "/api/v1/alerts",
        lambda answer: not any(one["labels"]["alertname"] == "NodeDown" for one in answer["data"]["alerts"]),
    )  # fmt: skip
    lab.idle()


HOOK = r"""
import http.server, json

class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        open("/run/hook.json", "ab").write(body + b"\n")
        self.send_response(200)
        self.end_headers()

http.server.HTTPServer(("localhost", 9999), Hook).serve_forever()
"""


def test_a_slurmd_that_is_stopped_reaches_a_receiver_with_runbook(lab: Lab) -> None:
    """From the daemon to an HTTP request; only the waits of the rule and of its group are shortened."""
    rules, routes = "/etc/prometheus/rules/node.yml", "/etc/prometheus/alertmanager.yml"
    lab.out("monitor1", f"cat >/run/hook.py <<'END'{HOOK}END")
    lab.out("monitor1", "systemd-run --quiet --unit=test-hook --collect python3 /run/hook.py")
    lab.out("monitor1", f"cp -p {rules} /run/node.yml && sed -i 's/for: \"10m\"/for: 10s/' {rules}")
    # Services that the lab lacks may have been reported by the same group just before.
    lab.out(
        "monitor1", f"cp -p {routes} /run/routes.yml && sed -i 's/group_interval: 5m/group_interval: 10s/' {routes}"
    )
    lab.out("monitor1", "systemctl reload prometheus prometheus-alertmanager")
    try:
        lab.out("compute02", "systemctl stop slurmd")
        labels = '"alertname":"NodeServiceStopped"[^}]*"instance":"compute02"[^}]*"name":"slurmd[.]service"'
        text = lab.waits("monitor1", "cat /run/hook.json", labels)
        # Other alerts may be sent before, and this one again with them.
        alert = next(
            alert
            for line in filter(None, text.splitlines())
            for alert in json.loads(line)["alerts"]
            if (alert["labels"].get("name"), alert["labels"].get("instance")) == ("slurmd.service", "compute02")
        )
        assert alert["annotations"]["summary"] == "slurmd.service does not run on compute02"
        assert alert["annotations"]["runbook"].startswith("systemctl status slurmd.service says since when")
        page, _, anchor = alert["annotations"]["runbook_url"].partition("#")
        fetch = f"import urllib.request as u; print(u.urlopen('{page}', timeout=20).read().decode())"
        assert f'<h3 id="{anchor}">' in lab.out("monitor1", f'python3 -c "{fetch}"')
    finally:
        lab.out("compute02", "systemctl start slurmd")
        lab.out("monitor1", f"mv /run/node.yml {rules}; mv /run/routes.yml {routes}; systemctl stop test-hook")
        lab.out("monitor1", "systemctl reload prometheus prometheus-alertmanager")
    lab.idle()


def test_an_apply_is_marked_with_its_time(lab: Lab) -> None:
    """The node exporter has the time at which the playbook last changed the node."""
    changed = float(lab.out("compute01", "stat -c %Y /var/lib/clustergen/state.json"))
    query = "/api/v1/query?query=" + quote('clustergen_apply_time_seconds{instance="compute01"}')

    def is_marked(answer: Any) -> bool:
        return [float(one["value"][1]) for one in answer["data"]["result"]] == [changed]

    until(lab, query, is_marked)
