"""One part after another fails: a receiver gets exactly one alert, and after the repair that it is resolved.

Only waits and intervals are shorter than in a cluster; daemons, rules, inhibitions and notifications are real.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml

from strategies.kills import KILLS, Kill

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.long]

_FASTER = 50  # an alert that waits for ten minutes waits for twelve seconds, longer than SlurmctldUnreachable
_LONGEST_S = 15
_SCRAPE_S = 2
_PATIENCE_S = 90
_SINK = r"""
import http.server

class Sink(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open("/run/alerts.json", "ab") as file:
            file.write(body.strip() + b"\n")
        self.send_response(200)
        self.end_headers()

open("/run/alerts.json", "wb")
http.server.HTTPServer(("localhost", 9998), Sink).serve_forever()
"""
_ALERTS = "http://localhost:9090/api/v1/alerts"
_PLACE = "/etc/prometheus"
_SLURM_CONF = "/etc/slurm/slurm.conf"
_UNITS = "/run/systemd/system/clustergen-slurm-metrics"
_OFTEN = rf"""mkdir -p {_UNITS}.timer.d {_UNITS}.service.d
printf '[Timer]\nOnUnitActiveSec=1s\nAccuracySec=100ms\n' >{_UNITS}.timer.d/97-lab.conf
printf '[Unit]\nStartLimitIntervalSec=0\n' >{_UNITS}.service.d/97-lab.conf"""
_METRICS = "systemctl daemon-reload; systemctl restart clustergen-slurm-metrics.timer"


_OF_THE_MACHINE = re.compile("Fabric|NodeClock|NodeMemory|NodeSwap|NodeFilesystem|NodeInodes")
"""Alerts on the fabric, which no lab has, and on what containers share: clock, memory and disk of their machine."""


def hurried(rules: Any) -> Any:
    """Rules of a file that wait for a fraction of their time, and look back for as little; without those on what
    containers share.
    """

    def shorter(text: str, least_s: float) -> str:
        seconds = int(text[:-1]) * {"s": 1, "m": 60, "h": 3600}[text[-1]]
        return f"{max(least_s, min(seconds / _FASTER, _LONGEST_S)):.0f}s"

    for group in rules["groups"]:
        group["rules"] = [rule for rule in group["rules"] if not _OF_THE_MACHINE.match(rule.get("alert", ""))]
        for rule in group["rules"]:
            if "for" in rule:
                rule["for"] = shorter(rule["for"], 0)
            ranges = re.sub(r"(?<=\[)\d+[smh](?=\])", lambda match: shorter(match[0], 5 * _SCRAPE_S), rule["expr"])
            rule["expr"] = re.sub(r"(?<=slurm\.prom\"}\) > )300", str(4 * _SCRAPE_S), ranges)
    return rules


class Alert(NamedTuple):
    """An alert as a receiver got it, with its statuses in their order."""

    labels: dict[str, str]
    annotations: dict[str, str]
    statuses: list[str]

    def __str__(self) -> str:
        """Its name, severity, node or rack and unit, as far as it has them."""
        names = ("alertname", "severity", "instance" if "instance" in self.labels else "rack", "name")
        return " ".join(self.labels[name] for name in names if name in self.labels)


class Receiver:
    """A web server on the monitoring node, which gets all alerts."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    def notified(self) -> dict[str, Alert]:
        """All alerts so far, by fingerprint and start."""
        alerts: dict[str, Alert] = {}
        for line in self.lab.out("monitor1", "cat /run/alerts.json").splitlines():
            for one in json.loads(line)["alerts"]:
                alert = Alert(one["labels"], one["annotations"], [])
                alerts.setdefault(one["fingerprint"] + one["startsAt"], alert).statuses.append(one["status"])
        return alerts

    @staticmethod
    def firing(alerts: dict[str, Alert]) -> set[str]:
        return {str(alert) for alert in alerts.values() if alert.statuses[-1] == "firing"}

    def standing(self) -> set[str]:
        """Alerts that Prometheus lists as firing: it may send an alert that fires just after a reload a minute late."""
        alerts = json.loads(self.lab.out("monitor1", _fetch(_ALERTS)))["data"]["alerts"]
        return {str(Alert(alert["labels"], {}, [])) for alert in alerts if alert["state"] == "firing"}

    def settled(self, quiet_s: float) -> dict[str, Alert]:
        """All alerts as soon as no new one has come for some seconds."""
        last, since, end = None, time.monotonic(), time.monotonic() + _PATIENCE_S
        while time.monotonic() - since < quiet_s and time.monotonic() < end:
            time.sleep(0.5)
            states = {key: alert.statuses[-1] for key, alert in self.notified().items()}
            if states != last:
                last, since = states, time.monotonic()
        return self.notified()

    def wait(self, accepts: Callable[[dict[str, Alert]], bool]) -> None:
        end = time.monotonic() + _PATIENCE_S
        while not accepts(self.notified()) and time.monotonic() < end:
            time.sleep(0.5)


@pytest.fixture(scope="module")
def receiver(lab: Lab) -> Iterator[Receiver]:
    tree = lab.tree / "overlays/monitoring/etc/prometheus"
    names = ["alertmanager.yml", "prometheus.yml", *(f"rules/{file.name}" for file in (tree / "rules").iterdir())]
    texts = {name: (tree / name).read_text(encoding="utf-8") for name in names}
    files = {name: yaml.safe_load(text) for name, text in texts.items()}
    files = {name: hurried(data) if name.startswith("rules/") else data for name, data in files.items()}
    files["alertmanager.yml"]["receivers"] = [{"name": "sink", "webhook_configs": [{"url": "http://localhost:9998/"}]}]
    files["alertmanager.yml"]["route"] |= {
        "receiver": "sink", "routes": [], "group_wait": "1s", "group_interval": "1s",
    }  # fmt: skip
    every = f"{_SCRAPE_S}s"
    files["prometheus.yml"]["global"] |= {
        "scrape_interval": every, "scrape_timeout": every, "evaluation_interval": every,
    }  # fmt: skip
    lab.out("monitor1", f"cat >/run/sink.py <<'END'{_SINK}END")
    try:
        lab.out(
            "monitor1", "systemctl stop test-sink; systemd-run --quiet --unit=test-sink --collect python3 /run/sink.py"
        )
        lab.out("slurm-head", f"{_OFTEN}\n{_METRICS}; systemctl start clustergen-slurm-metrics")
        lab.out("slurm-head", f"sed -i s/^SlurmdTimeout=.*/SlurmdTimeout=10/ {_SLURM_CONF}; scontrol reconfigure")
        _install(lab, {name: yaml.safe_dump(data, sort_keys=False) for name, data in files.items()})
        made = Receiver(lab)
        lab.waits("monitor1", _fetch(_ALERTS), r'^(?!.*"pending").*"success"')
        made.settled(5)
        yield made
    finally:
        _install(lab, texts)
        lab.out("monitor1", "systemctl stop test-sink")
        lab.out("slurm-head", f"rm -rf {_UNITS}.timer.d {_UNITS}.service.d; {_METRICS}")
        conf = (lab.tree / f"overlays/slurm_node{_SLURM_CONF}").read_text(encoding="utf-8")
        (timeout,) = re.findall(r"(?m)^SlurmdTimeout=.*", conf)
        lab.out("slurm-head", f"sed -i 's/^SlurmdTimeout=.*/{timeout}/' {_SLURM_CONF}; scontrol reconfigure")
        lab.idle()


def _fetch(url: str) -> str:
    return f"""python3 -c "import urllib.request as u; print(u.urlopen('{url}', timeout=20).read().decode())" """


def _install(lab: Lab, files: dict[str, str]) -> None:
    script = "\n".join(f"cat >{_PLACE}/{name} <<'END'\n{text}END" for name, text in files.items())
    lab.out("monitor1", f"{script}\nsystemctl reload prometheus prometheus-alertmanager")


@pytest.mark.parametrize("kill", KILLS, ids=lambda kill: kill.id)
def test_each_failure_is_one_alert_that_is_resolved(receiver: Receiver, kill: Kill) -> None:
    lab = receiver.lab
    start = receiver.settled(3).keys()
    before = receiver.standing()

    def new(alerts: dict[str, Alert]) -> list[Alert]:
        """Alerts that fired since; an inhibited one is only reported as resolved."""
        return [
            alert
            for key, alert in alerts.items()
            if key not in start and "firing" in alert.statuses and str(alert) not in before
        ]

    try:
        lab.out(kill.host, kill.fails)
        receiver.wait(lambda alerts: bool(new(alerts)))
        receiver.settled(kill.follows_s)
    finally:
        lab.out(kill.host, kill.repairs)
    receiver.wait(lambda alerts: not {str(alert) for alert in new(alerts)} & receiver.firing(alerts))
    alerts = new(receiver.settled(3))
    assert [str(alert) for alert in alerts] == [kill.alert]
    (alert,) = alerts
    assert alert.statuses[-1] == "resolved"
    page, _, anchor = alert.annotations["runbook_url"].partition("#")
    assert f'<h3 id="{anchor}">' in lab.out("monitor1", _fetch(page))
