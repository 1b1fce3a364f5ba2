"""A real Prometheus answers every query of every panel, variable and alert with data of the exporters' formats."""

from __future__ import annotations

import json
import re
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen import compile as compiler
from clustergen.render.views import dashboards as views
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies import exporter_pages as pages
from strategies.trees import COMPUTE, GPU, HEAD, lay_out, manifest, node_files, text_of, tree_of

DIRECTORY = Path(__file__).parent
MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
SERVER = {**HEAD, "roles": [*HEAD["roles"], "nfs-server", "login"]}
HOME = {
    "type": "nfs", "server": "head", "path": "/export/home", "mount": "/home",
    "export": {"zfs": {"disks": ["/dev/sda", "/dev/sdb"], "layout": "mirror"}},
}  # fmt: skip
SCRATCH = {"type": "local", "mount": "/scratch", "device": "/dev/md/scratch", "filesystem": "ext4"}
A100 = {"system": "dgx-a100-80", "nics": GPU["nics"]}
HOPPER = {"system": "dgx-h100", "nics": GPU["nics"]}
B200 = {"system": "dgx-b200", "nics": GPU["nics"]}
ROCE = {"management": {"cidr": "10.0.0.0/24"}, "fabric": {"type": "roce", "rate": "400Gb/s"}}
SWITCHED = {
    "management": {"cidr": "10.0.0.0/24"},
    "fabric": {"type": "infiniband", "rate": "NDR", "switches": [{"name": "leaf1", "nodes": "c[1-4]"}]},
}
_SENSOR = 'entPhySensorValue{{instance="cdu-a",entPhysicalIndex="{}"}}'
SENSORS = {
    "inlet": {"series": 'ipmi_temperature_celsius{name="Coolant Inlet"}', "high": 45},
    "outlet": {"series": _SENSOR.format(12), "scale": 0.1, "high": 60},
    "flow": {"series": _SENSOR.format(13), "low": 100},
}
RACKS = {"r1": {"nodes": "c[1-4]"}}
VARIANTS: dict[str, dict[str, Any]] = {
    "infiniband, Slurm's endpoint": {
        "slurm": {"version": "25.11"},
        "storage": {"home": HOME, "scratch": SCRATCH},
        "nodes": [
            SERVER,
            {**MONITOR, "roles": ["monitoring", "log-collector"]},
            {**COMPUTE, "addresses": {"bmc": "10.0.9.[11-14]"}},
        ],
        "racks": RACKS,
        "networks": {**SWITCHED, "bmc": {"cidr": "10.0.9.0/24"}},
        "monitoring": {
            "ipmi": {},
            "smart": True,
            "blackbox": {"web": ["https://portal.example.org/"]},
            "snmp": {
                "devices": {
                    "ups-a": {"address": "10.0.9.201", "module": "ups_mib", "auth": "site"},
                    "pdu-a": {"address": "10.0.9.202", "module": "apc_rpdu2", "auth": "site"},
                    "cdu-a": {"address": "10.0.9.204", "module": "entity_sensor", "auth": "site"},
                }
            },
            "expires": {"L": "2027-03-31"},
        },
        "facility": {"loops": {"direct": {"racks": "r1", "share": "70%", "sensors": SENSORS}}},
        "logs": {"tls": {"ca": "/etc/ca.pem", "certificate": "/etc/ssl/node.pem", "key": "/etc/key.pem"}},
        "reports": {"period": "month"},
    },
    "RoCE, the script, jobs as series": {
        "monitoring": {"dcgm": {"job_label_limit": 0}},
        "networks": ROCE,
        "node_types": {"gpu": A100, "new": B200},
        "nodes": [SERVER, MONITOR, COMPUTE, {"name": "b1", "type": "new", "address": "10.0.0.20"}],
        "storage": {"home": {**HOME, "export": {}}},
    },
}
WRONG = (
    "sum(node_memory_MemAvailable_byte)",
    'up{jobs="node"}',
    "cluster:gpus:counts",
    'DCGM_FI_DEV_GPU_TEMP{Instance=~"c1"}',
)
SELECTOR = re.compile(r"(?<![\w:])((?:[a-z]+:)?[a-zA-Z_][\w:]*)(\{[^}]*\})?")
RANGES = {"$__rate_interval": "5m", "$__range_s": "3600", "$__range": "1h"}


def dashboards(tree: Any) -> dict[str, Any]:
    place = "/etc/grafana/dashboards/"
    return {
        path.removeprefix(place): json.loads(file.content)
        for path, file in node_files(tree, "mon").items() if path.startswith(place)
    }  # fmt: skip


def queries(tree: Any) -> dict[str, list[str]]:
    """Query → the panels and annotations that ask it."""
    result: dict[str, list[str]] = {}
    for name, page in dashboards(tree).items():
        asked = [(panel["title"], target["expr"]) for panel in page["panels"] for target in panel.get("targets", ())]
        for title, expr in asked:
            for variable, text in RANGES.items():
                expr = expr.replace(variable, text)
            result.setdefault(expr, []).append(f"{name}: {title}")
    return result


def labels(tree: Any) -> dict[str, set[str]]:
    """Query → labels that its series must have: those of legends and links, and what it sums by."""
    result: dict[str, set[str]] = {}
    for page in dashboards(tree).values():
        for panel in page["panels"]:
            links = [link["url"] for link in panel.get("fieldConfig", {}).get("defaults", {}).get("links", ())]
            linked = set(re.findall(r"__field\.labels\.(\w+)", " ".join(links)))
            for target in panel.get("targets", ()):
                expr = target["expr"]
                for variable, text in RANGES.items():
                    expr = expr.replace(variable, text)
                by = re.search(r"\bby \(([\w, ]+)\)", expr)
                named = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) | linked
                if by and re.match(r"(?:topk\(\d+, )?(?:sort\()?\w+ by ", expr):
                    named |= set(by[1].split(", "))
                result.setdefault(expr, set()).update(named)
    return result


def variables(tree: Any) -> list[tuple[str, str, str]]:
    """Variable, its label and series, of all pages: a series can contain the variables before it."""
    choices = {}
    for page in dashboards(tree).values():
        for variable in page["templating"]["list"]:
            series, label = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"]).groups()
            choices[variable["name"], label, series] = None
    return list(choices)


def rules(tree: Any) -> list[dict[str, Any]]:
    texts = [file.content for path, file in node_files(tree, "mon").items() if "/rules/" in path]
    return [rule for text in texts for group in yaml.safe_load(text)["groups"] for rule in group["rules"]]


def selectors(expr: str, names: set[str]) -> list[str]:
    """The series that an alert reads: with the labels that it names, whatever their values are."""
    rows = []
    for name, matchers in SELECTOR.findall(re.sub(r'"(?:[^"\\]|\\.)*"', '"x"', expr)):
        if name in names:
            labels = re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers)
            rows.append(f"{name}{{{','.join(label + '!=' + chr(34) * 2 for label in labels)}}}")
    return rows


LIMIT = re.compile(r" (?:==|!=|<=|>=|<|>) -?[\w.]++(?!\()")
UNION = re.compile(r"\s+or\s+(?:(?:on|ignoring) \([^)]*\)\s+)?")


def operands(expr: str) -> list[str]:
    """The expression with each operand of each `or` alone, without limits: another one would hide that it is empty."""
    masked = re.sub(r'"(?:[^"\\]|\\.)*"|\{[^}]*\}', lambda text: "_" * len(text[0]), expr)
    union = UNION.search(masked)
    if union is None:
        for limit in reversed(list(LIMIT.finditer(masked))):
            expr = expr[: limit.start()] + expr[limit.end() :]
        return [expr]
    depths = list(accumulate((char == "(") - (char == ")") for char in masked))
    depth = depths[union.start()]
    edges = [at for at, char in enumerate(masked) if depths[at] < depth or (char in "(," and depths[at] == depth)]
    begin = max((at + 1 for at in edges if at < union.start()), default=0)
    end = min((at for at in edges if at >= union.end()), default=len(expr))
    sides = (expr[begin : union.start()].strip(), expr[union.end() : end].strip())
    return [part for side in sides if "vector(0)" not in side for part in operands(expr[:begin] + side + expr[end:])]


def test_each_operand_of_a_union_is_asked_alone() -> None:
    assert operands('max by (a) (b{c=" or "} > 0 or topk(2, d or e == 1)) or vector(0)') == [
        'max by (a) (b{c=" or "})', "max by (a) (topk(2,d))", "max by (a) (topk(2,e))",
    ]  # fmt: skip


def targets(tree: Any) -> dict[str, list[dict[str, str]]]:
    """Job → the labels that Prometheus adds, for one target per group."""
    config = yaml.safe_load(text_of(tree, "mon", "/etc/prometheus/prometheus.yml"))
    labels = {}
    for job in config["scrape_configs"]:
        groups = yaml.safe_load(text_of(tree, "mon", f"/etc/prometheus/sd/{job['job_name']}.yml"))
        labels[job["job_name"]] = [
            {
                "instance": group["targets"][0].partition(":")[0],
                **{name: text for name, text in group["labels"].items() if not name.startswith("__")},
                "job": job["job_name"],
            }
            for group in groups
        ]
    return labels


def plan(tree: Any) -> dict[str, Any]:
    jobs = targets(tree)
    series = {"node": [*pages.systemd(), *pages.textfiles(), *pages.state(), *pages.kernel()], "dcgm": []}
    made = rules(tree)
    read = " ".join(rule["expr"] for rule in made) + " ".join(queries(tree))
    if "clustergen_roce" in read:
        series["node"] += pages.roce()
    if "slurm-nodes" in jobs:
        series["slurm-nodes"] = list(pages.slurm())
    else:
        series["node"] += pages.script()
    lists = {line: None for host in ("c1", "b1") if (files := node_files(tree, host))
             for path, file in files.items() if path.endswith("counters.csv")
             for line in file.content.decode().splitlines()}  # fmt: skip
    if "node-ipmi" in jobs:
        series["node-ipmi"] = list(pages.ipmi())
    if "snmp" in jobs:
        series["snmp"] = list(pages.snmp())
    series["dcgm"] = list(pages.dcgm("\n".join(lists), label="clustergen_gpu_job_info" not in read))
    if "clustergen_logs" in read:
        series["node"] += [*pages.logs(), *pages.usage(), *pages.disks()]
    series |= {job: list(pages.probes(int(job != "probe-bmc"))) for job in jobs if job.startswith("probe-")}
    recordings = [(rule["record"], rule["expr"]) for rule in made if "record" in rule]
    names = {name for name, _ in recordings}
    second = [pair for pair in recordings if any(name in pair[1] for name in names)]
    first = [pair for pair in recordings if pair not in second]
    metrics = names | set(
        re.findall(
            r"\b(?:node|DCGM|slurm|ipmi|probe|clustergen|prometheus|alertmanager)_\w+|\b(?:ups|rPDU2)[A-Z]\w+|\bup\b",
            read,
        )
    ) - {
        "node_type",
        "node_types",
    }
    alerts = [text for rule in made if "alert" in rule for text in selectors(rule["expr"], metrics)]
    unions = [part for text in (*queries(tree), *(expr for _, expr in recordings)) for part in operands(text)]
    return {
        "targets": jobs,
        "series": {job: "\n".join(lines) for job, lines in series.items()},
        "alerts": pages.ALERTS,
        "recordings": [part for part in (first, second) if part],
        "labels": variables(tree),
        "queries": [*queries(tree), *alerts, *unions, *WRONG],
    }


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_query_of_dashboards_and_alerts_has_an_answer(variant: str, tmp_path: Path) -> None:
    receivers = {"receivers": {"hook": {"webhook": "http://127.0.0.1:9/x"}}}
    monitoring = {"grafana": {}, **receivers, **VARIANTS[variant].get("monitoring", {})}
    tree = tree_of(manifest(**{**VARIANTS[variant], "monitoring": monitoring}), tmp_path)
    root = root_with("promtool")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    work = plan(tree)
    mounts = " ".join(f"{entry['mount']}:{entry['type']}" for entry in VARIANTS[variant]["storage"].values())
    box = sandbox.Sandbox(
        root, files=((lay_out(tree, "c1", tmp_path / "c1"), "/"), (lay_out(tree, "mon", tmp_path / "mon"), "/"))
    )
    notes = {"plan.json": json.dumps(work), "exporter.sh": (DIRECTORY / "exporter.sh").read_text(encoding="utf-8"),
             "driver.py": (DIRECTORY / "driver.py").read_text(encoding="utf-8")}  # fmt: skip
    done = sandbox.run(
        box, ["python3", "/run/clustergen/driver.py"], timeout=900, notes=notes,
        env={"MOUNTS": mounts, "DEVICES": "mlx5_0 mlx5_1"},
    )  # fmt: skip
    assert done.code == 0, done.stdout + done.stderr
    answers = json.loads(done.files["answers.json"])
    assert all(values for *_, values in answers["labels"]), answers["labels"]
    asked = queries(tree)
    counts = answers["queries"]
    assert {query: counts[query] for query in WRONG} == dict.fromkeys(WRONG, 0)
    empty = {query: (counts[query], asked.get(query, "an alert, or an operand of `or`")) for query in work["queries"]
             if query not in WRONG and (isinstance(counts[query], str) or not counts[query])}  # fmt: skip
    assert not empty, "\n".join(f"{query}: {why}" for query, why in empty.items())
    lacking = {
        query: names.difference(*(answers["names"][part] for part in operands(query)))
        for query, names in labels(tree).items()
    }
    assert not {query: names for query, names in lacking.items() if names}


@pytest.mark.slow
def test_every_query_of_a_dashboard_is_kept_for_some_cluster(tmp_path: Path) -> None:
    """A panel whose metric no exporter has is left out: a misspelt one would never be seen."""
    made, kept = set[tuple[str, str, str | int]](), set[tuple[str, str, str | int]]()
    for number, changes in enumerate((*VARIANTS.values(), {"node_types": {"gpu": HOPPER}})):
        monitoring = {"grafana": {}, "receivers": {"hook": {"webhook": "http://127.0.0.1:9/x"}}}
        data = manifest(**{"nodes": [SERVER, MONITOR, COMPUTE], **changes,
                           "monitoring": {**monitoring, **changes.get("monitoring", {})}})  # fmt: skip
        (directory := tmp_path / str(number)).mkdir()
        (directory / "manifest.yaml").write_text(json.dumps(data), encoding="utf-8")
        cluster = compiler.validate(directory / "manifest.yaml").cluster
        assert cluster is not None
        for pages_, names in ((views.complete(cluster), made), (views.dashboards(cluster), kept)):
            names |= {
                (page.slug, panel.title, target.legend or number)
                for page in pages_ for row in page.rows for panel in row.panels
                for number, target in enumerate(panel.targets)
            }  # fmt: skip
    assert made - kept == set()
