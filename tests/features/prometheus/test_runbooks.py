"""Every alert leads to its runbook and its dashboard, and both of them to the next place to look."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urlsplit
from xml.etree import ElementTree

import pytest
import yaml

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.inventories import MANIFESTS, texts
from strategies.trees import COMPUTE, HEAD, lay_out, manifest, node_files, text_of, tree_of

PLACE = "/etc/grafana/dashboards/"
PAGE = "/etc/prometheus/consoles/runbooks.html"
MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring", "log-collector"]}
WITH_BMC = {**COMPUTE, "addresses": {"bmc": "10.0.9.[11-14]"}}
NETWORKS = {
    "management": {"cidr": "10.0.0.0/24"},
    "bmc": {"cidr": "10.0.9.0/24"},
    "fabric": {"type": "roce", "rate": "400Gb/s"},
}
FEEDS = {"circuits": [{"volts": 400, "amps": 32, "phases": 3, "count": 4}], "redundant_feeds": True}
SENSORS = {
    "inlet": {"series": "cduSupply", "high": 45, "low": 18},
    "outlet": {"series": "cduReturn", "high": 60},
    "flow": {"series": "cduFlow", "low": 100},
}
EVERYTHING: dict[str, Any] = {
    "nodes": [HEAD, MONITOR, WITH_BMC],
    "networks": NETWORKS,
    "racks": {"r1": {"nodes": "c[1-4]", **FEEDS}},
    "drift": {"enabled": True},
    "facility": {"loops": {"direct": {"racks": "r1", "share": "70%", "sensors": SENSORS}}},
    "reports": {},
    "monitoring": {
        "grafana": {},
        "smart": True,
        "ipmi": {},
        "blackbox": {"web": ["https://portal.example.org/"]},
        "snmp": {
            "devices": {
                "ups-a": {"address": "10.0.9.201", "module": "ups_mib", "auth": "site"},
                "pdu-a": {"address": "10.0.9.202", "module": "apc_rpdu2", "auth": "site"},
            }
        },
        "expires": {"Weka": "2027-03-31"},
    },
}


def alerts(files: dict[str, str]) -> list[dict[str, Any]]:
    texts = [text for path, text in files.items() if "/rules/" in path]
    return [
        rule for text in texts for group in yaml.safe_load(text)["groups"] for rule in group["rules"] if "alert" in rule
    ]


def sections(page: str) -> dict[str, list[str]]:
    """Alert → its first steps, in the order of the page."""
    steps: dict[str, list[str]] = {}
    name = ""
    plain = re.sub(r"\{\{.*?\}\}", "", page)
    for element in ElementTree.fromstring(plain).iter():
        if element.tag == "h3":
            name = element.attrib["id"]
        elif element.tag == "ol":
            steps[name] = ["".join(item.itertext()) for item in element]
    return steps


def check(files: dict[str, str]) -> None:
    (page,) = (text for path, text in files.items() if path.endswith("/consoles/runbooks.html"))
    slugs = {Path(path).stem for path in files if "/grafana/dashboards/" in path}
    steps = sections(page)
    begins = re.findall(r"</h3>\s*<p>(.{13})", page)
    assert begins == ["Still works: "] * len(steps)
    rules = alerts(files)
    assert set(steps) == {rule["alert"] for rule in rules}
    for rule in rules:
        notes = rule["annotations"]
        url, anchor = urldefrag(notes["runbook_url"])
        assert urlsplit(url).path == "/consoles/runbooks.html"
        assert anchor == rule["alert"]
        assert len(steps[anchor]) == 3
        if slugs:
            link = urlsplit(re.sub(r"\{\{ \$labels\.(\w+) \}\}", r"<\1>", notes["dashboard"]))
            slug = link.path.removeprefix("/d/clustergen-")
            assert slug in slugs, rule["alert"]
            # Each variable of the link is one of the page, and has the value of the label of the same meaning.
            pairs = [pair.split("=") for pair in link.query.split("&") if pair]
            variables = {row["name"] for row in json.loads(files[f"{PLACE}{slug}.json"])["templating"]["list"]}
            assert {name.removeprefix("var-") for name, _ in pairs} <= variables, rule["alert"]
            assert set(map(tuple, pairs)) <= {("var-instance", "<instance>"), ("var-job", "<hpc_job>")}


@pytest.mark.slow
def test_every_alert_has_a_runbook_with_three_steps_and_a_dashboard(tmp_path: Path) -> None:
    tree = tree_of(manifest(**EVERYTHING), tmp_path)
    check({path: file.content.decode() for path, file in node_files(tree, "mon").items()})


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("example", MANIFESTS)
def test_every_alert_of_the_examples_has_a_runbook(example: str) -> None:
    of_monitoring = {path: text for path, text in texts(example).items() if path.startswith("overlays/monitoring")}
    check({f"/etc{path.rpartition('/etc')[2]}": text for path, text in of_monitoring.items()})


PROGRAMS = {
    "of the system": "cat chronyc curl df du findmnt grep ip journalctl ls lspci openssl ps rdma ssh systemctl timeout",
    "of Slurm": "sacctmgr scontrol sdiag sinfo slurmd squeue",
    "of NVIDIA": "dcgmi mlnx_qos mlxlink nvidia-smi",
    "of packages that the tree installs": "bmc-device ibqueryerrors ibstat ibtracert ipmi-sel ipmi-sensors perfquery"
    " promtool smartctl",
    "of what a site may add": "lldptool",
    "of what is monitored": "clustergen-failover crm_mon mdadm zpool",
}


@pytest.mark.slow
def test_every_command_of_a_runbook_can_be_pasted(tmp_path: Path) -> None:
    """Placeholders aside: bash parses it, and its program is on the node."""
    failover = {"servers": "nfs[1-2]", "device": "/dev/mapper/nfs", "directory": "/export"}
    zfs = {"zfs": {"disks": ["/dev/sda"], "layout": "stripe"}}
    home = {"type": "nfs", "path": "/export/home", "mount": "/home"}
    changes = {
        "networks": {**NETWORKS, "management": {"cidr": "10.0.0.0/24", "domain": "cluster.local"}},
        "storage": {
            "home": {**home, "server": "10.0.0.30", "failover": failover},
            "data": {**home, "server": "mon", "path": "/export/data", "mount": "/data", "export": zfs},
        },
        "nodes": [
            HEAD,
            {**MONITOR, "roles": [*MONITOR["roles"], "nfs-server"]},
            WITH_BMC,
            {"name": "nfs[1-2]", "type": "gpu", "roles": [], "in_no_partition": True, "address": "10.0.0.[31-32]",
             "addresses": {"bmc": "10.0.9.[31-32]"}},
        ],
    }  # fmt: skip
    tree = tree_of(manifest(**{**EVERYTHING, **changes}), tmp_path)
    page = re.sub(r"\{\{.*?\}\}", "", text_of(tree, "mon", PAGE))
    commands = {"".join(code.itertext()) for code in ElementTree.fromstring(page).iter("code")}
    assert len(commands) > 40
    script = "\n".join(re.sub(r"<(\w+)>", r"\1", command) for command in sorted(commands))
    parsed = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, timeout=300, check=False)
    assert parsed.stderr == ""
    assert {command.split()[0] for command in commands} <= set(" ".join(PROGRAMS.values()).split())


@pytest.mark.real
@pytest.mark.slow
def test_prometheus_serves_the_page_that_lists_what_fires_and_the_linked_targets(tmp_path: Path) -> None:
    """A real Prometheus with a rule that always fires, named as one of the page."""
    root = root_with("promtool")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    tree = tree_of(manifest(**EVERYTHING), tmp_path)
    script = r"""
cat >/tmp/rules.yml <<'END'
groups:
  - name: x
    rules:
      - {alert: NodeDown, expr: vector(1), labels: {severity: critical, instance: "c1<b>"}}
END
printf 'global: {evaluation_interval: 100ms}\nrule_files: [/tmp/rules.yml]\n' >/tmp/p.yml
prometheus --config.file=/tmp/p.yml --storage.tsdb.path=/tmp/data --web.listen-address=127.0.0.1:9090 2>/tmp/log &
for _ in {1..300}; do
  python3 -c 'import urllib.request as u
print(u.urlopen("http://127.0.0.1:9090/consoles/runbooks.html", timeout=20).read().decode())' >/tmp/page 2>/dev/null
  grep -q 'class="critical"><a' /tmp/page && break
  sleep 0.2
done
cat /tmp/page; echo ==
python3 -c 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=20).read().decode())' "$TARGETS"
kill %1
"""
    box = sandbox.Sandbox(root, files=((lay_out(tree, "mon", tmp_path / "node"), "/"),))
    monitoring = text_of(tree, "mon", f"{PLACE}monitoring.json")
    (targets,) = re.findall(r'"(http[^"]*)\$\{__value.text\}"', monitoring)
    url, anchor = urldefrag(targets)
    address = {"TARGETS": url.replace("//mon:", "//127.0.0.1:")}
    page, _, other = sandbox.run(box, ["/bin/bash", "-c", script], timeout=150, env=address).stdout.partition("\n==\n")
    assert "<h1>Targets</h1>" in other
    template = root / "usr/share/prometheus/web/templates/targets.html"  # the first target appears after five seconds
    assert f'id="{anchor}{{{{$job}}}}"' in template.read_text(encoding="utf-8")
    (line,) = re.findall(r'<li class="critical">(.*?)</li>', page, re.DOTALL)
    assert line.split("\n") == [
        '<a href="#NodeDown">NodeDown</a>',
        '<a href="http://mon:3000/d/clustergen-node?var-instance=c1%3cb%3e">c1&lt;b&gt;</a>',
        "",
        "",
    ]
    assert set(sections(page)) == set(sections(text_of(tree, "mon", PAGE)))
