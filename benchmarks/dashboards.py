"""How long the queries of all dashboards take on a real Prometheus with the series of 1,024 nodes: by hand, not part of
`make benchmark`.

    .venv/bin/python benchmarks/dashboards.py [PAGE …]

Backfills six hours of the series that the dashboards read: pages of the exporters, as the tests have them, for each
node. Series that a panel reads of all nodes have a sample each minute, and so have those of the chosen node and of the
chosen job's; the others have one each hour. Each query is a range query over the six hours as Grafana's panel
sends it, or an instant query for a table.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import yaml
from manifests import large

from clustergen import compile as compiler
from clustergen.render.views.dashboards.exported import metrics_of
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies import exporter_pages as pages

DIRECTORY = Path(__file__).parent
NODES = 1024
GPUS = 8
JOB_NODES = 8  # of the chosen job, which are the first
REST = """\
  bmc: {cidr: 172.16.0.0/16}
"""
MONITORING = """\
monitoring:
  grafana: {}
  ipmi: {}
  smart: true
  blackbox: {web: ["https://portal.example.org/"]}
  snmp:
    devices:
      ups-a: {address: 10.0.9.201, module: ups_mib, auth: site}
      pdu-a: {address: 10.0.9.202, module: apc_rpdu2, auth: site}
  receivers: {hook: {webhook: "http://127.0.0.1:9/x"}}
logs: {}
reports: {period: month}
storage:
  home: {type: nfs, server: head, path: /export/home, mount: /home, export: {}}
"""
VALUES = {"$__rate_interval": "2m", "$__range_s": "21600", "$__range": "6h"}
SCRIPT = r"""
import json, re, subprocess, time, urllib.error, urllib.parse, urllib.request
END, STEP, COUNT = 1_700_000_000, 60, 361
plan = json.load(open("/run/clustergen/plan.json"))
def asked(url, **parameters):
    data = urllib.parse.urlencode(parameters).encode() or None
    try:
        with urllib.request.urlopen(url, data, timeout=300) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:  # a query that reads too much
        return error.read()
def started(command, url):
    daemon = subprocess.Popen(command, stdout=open("/tmp/log", "a"), stderr=subprocess.STDOUT)
    for _ in range(1200):
        try:
            asked(url)
            return daemon
        except OSError:
            time.sleep(0.1)
    raise SystemExit(open("/tmp/log").read()[-3000:])
exporter = started(["bash", "/run/clustergen/exporter.sh"], "http://127.0.0.1:9100/metrics")
page = asked("http://127.0.0.1:9100/metrics").decode()
exporter.kill()
seen = set()
def written(file, text, labels, dense, chosen):
    for line in text.splitlines():
        sample = re.match(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)", line)
        if not sample or sample[1] not in plan["metrics"]:
            continue
        names = set(re.findall(r'(\w+)="', sample[2] or ""))
        rest = [f'{key}="{text}"' for key, text in labels.items() if key not in names]
        head = sample[1] + "{" + ",".join(filter(None, (sample[2], *rest))) + "} "
        if head in seen:
            continue
        seen.add(head)
        every = 1 if chosen or sample[1] in dense else 60
        value = float(sample[3])
        times = [(index, END - STEP * (COUNT - 1 - index)) for index in range(0, COUNT, every)]
        file.writelines(f"{head}{value + index} {when}\n" for index, when in times)
dense = set(plan["dense"])
with open("/tmp/samples.om", "w") as file:
    for number, node in enumerate(plan["nodes"]):
        for job, text in plan["pages"].items():
            labels = {"instance": node, "node_type": "h0", "job": job}
            chosen = number < plan["chosen"]
            job_label = f'hpc_job="{40 if chosen else 100 + number}"'
            text = (text + (page if job == "node" else "")).replace('hpc_job="40"', job_label)
            written(file, text, labels, dense, chosen)
    for job, text in plan["single"].items():
        written(file, text, {"instance": "head", "job": job}, dense, True)
    file.write("# EOF\n")
blocks = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "--quiet", "/tmp/samples.om", "/tmp/data"]
subprocess.run(blocks, check=True, stdout=subprocess.DEVNULL)
open("/tmp/empty.yml", "w").close()
daemon = started(["prometheus", "--config.file=/tmp/empty.yml", "--storage.tsdb.path=/tmp/data",
    "--storage.tsdb.retention.time=100y", "--web.listen-address=127.0.0.1:9090"], "http://127.0.0.1:9090/-/ready")
times, empty = {}, []
for _ in range(3):
    for title, expr, instant in plan["queries"]:
        start = time.perf_counter()
        if instant:
            data = asked("http://127.0.0.1:9090/api/v1/query", query=expr, time=END)
        else:
            data = asked("http://127.0.0.1:9090/api/v1/query_range", query=expr, start=END - 6 * 3600, end=END, step=30)
        name = f"{title}: {' '.join(expr.split())[:110]}"
        times.setdefault(name, []).append(time.perf_counter() - start)
        answer = json.loads(data)
        if answer["status"] != "success" or not answer["data"]["result"]:
            empty.append(f"{name}: {answer.get('error', 'no data')}")
daemon.kill()
medians = {name: sorted(values)[1] for name, values in times.items()}
result = {"series": len(seen), "times": medians, "empty": sorted(set(empty))}
json.dump(result, open("/run/clustergen/times.json", "w"))
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "manifest.yaml"
        manifest = large(NODES, 1).replace("node_types:\n", f"{REST}node_types:\n", 1)
        manifest = manifest.replace(
            "type: h0, address:", 'type: h0, addresses: {bmc: "172.16.[1-4].[0-255]"}, address:'
        )
        path.write_text(
            manifest.replace("monitoring]}", "monitoring, nfs-server, log-collector]}") + MONITORING, encoding="utf-8"
        )
        compiled = compiler.validate(path)
        assert compiled.ok, [diagnostic.message for diagnostic in compiled.diagnostics]
        tree, _ = compiler.render(compiled, path)
        assert tree is not None
        files = {file.target: file.content.decode() for file in tree if file.target}
        box = Path(directory) / "etc"
        box.mkdir()
        for target in ("default/prometheus-node-exporter", "slurm/prolog.d/40-job-map"):
            (box / target).parent.mkdir(parents=True, exist_ok=True)
            (box / target).write_text(files[f"/etc/{target}"], encoding="utf-8")
        root = root_with("promtool")
        assert root is not None, "clustergen setup parsers installs Prometheus"
        plan = planned(files, set(sys.argv[1:]))
        notes = {
            "plan.json": json.dumps(plan),
            "exporter.sh": (DIRECTORY.parent / "tests/dashboards/exporter.sh").read_text(),
        }
        env = {"MOUNTS": "/home:nfs4", "DEVICES": " ".join(f"mlx5_{n}" for n in range(8))}
        command = ["python3", "-c", SCRIPT]
        done = sandbox.run(sandbox.Sandbox(root, files=((box, "/etc"),)), command, timeout=3000, notes=notes, env=env)
    assert done.code == 0, done.stderr[-3000:]
    result = json.loads(done.files["times.json"])
    times = result["times"]
    lines = [f"{result['series']} series of {NODES} nodes; seconds, median of 3"]
    lines += [f"{seconds:7.3f}  {title}" for title, seconds in sorted(times.items(), key=lambda pair: -pair[1])]
    for page in plan["pages of queries"]:
        every = [seconds for title, seconds in times.items() if title.startswith(f"{page}/")]
        lines.append(
            f"{sum(every):7.3f}  all {len(every)} queries of {page}, one after the other; slowest {max(every):.3f}"
        )
    lines += [f"         {name}" for name in result["empty"]]
    sys.stdout.write("\n".join([*lines, ""]))


def planned(files: dict[str, str], only: set[str]) -> dict[str, Any]:
    """Pages of the exporters of one node, the nodes, and the queries with the variables that a browser fills in."""
    place = "/etc/grafana/dashboards/"
    queries, dense, read, names = [], set(), set(), []
    for target, text in files.items():
        slug = target.removeprefix(place).removesuffix(".json")
        if not target.startswith(place) or (only and slug not in only):
            continue
        page = json.loads(text)
        names.append(slug)
        chosen = {"instance": "gpu00001", "job": "40"}
        if slug == "job":
            chosen["instance"] = "|".join(f"gpu{n:05d}" for n in range(1, JOB_NODES + 1))
        for panel in page["panels"]:
            for row in panel.get("targets", ()):
                expr = row["expr"]
                if not re.search(r"\$(instance|job)\b", expr):
                    dense |= metrics_of(expr)
                read |= metrics_of(expr)
                for name, value in {**VALUES, **{f"${name}": value for name, value in chosen.items()}}.items():
                    expr = expr.replace(name, value)
                queries.append((f"{slug}/{panel['title']}", expr, row["instant"]))
    rules = [
        rule
        for target, text in files.items()
        if "/rules/" in target
        for group in yaml.safe_load(text)["groups"]
        for rule in group["rules"]
    ]
    recorded = [rule["record"] for rule in rules if "record" in rule]
    scraped = ["up 1\nscrape_duration_seconds 0.1\nscrape_samples_scraped 900"]
    node = [*scraped, *pages.systemd(), *pages.textfiles(), *pages.kernel(), *pages.disks()]
    node += [f"{name} 0.4" for name in recorded if name.startswith("node:")]
    counters = files["/etc/dcgm-exporter/clustergen-counters.csv"]
    lines = [line for line in pages.dcgm(counters, label=False) if 'gpu="0"' in line]
    lines += [f'{name}{{gpu="0"}} 3' for name in recorded if name.startswith("gpu:")]
    dcgm = [line.replace('gpu="0"', f'gpu="{gpu}"') for line in lines for gpu in range(GPUS)]
    slurm = [*pages.script(), *pages.state(), *pages.logs(), *pages.usage(), *scraped]
    cluster = [f"{name} 5" for name in recorded if ":" in name and name.split(":")[0] not in ("node", "gpu")]
    alerts = [
        f'ALERTS{{alertname="{name}",alertstate="firing",severity="{severity}",instance="gpu{number:05d}"}} 1'
        for name, severity in (("GpuAllocatedIdle", "warning"), ("NodeDown", "critical"))
        for number in range(1, 101)
    ]
    jobs = [f'clustergen_gpu_job_info{{gpu="{gpu}",hpc_job="40"}} 1' for gpu in range(GPUS)]
    return {
        "queries": queries,
        "pages of queries": names,
        "metrics": sorted(read),
        "dense": sorted(dense),
        "chosen": JOB_NODES,
        "nodes": [f"gpu{number:05d}" for number in range(1, NODES + 1)],
        "pages": {
            "node": "\n".join([*node, *jobs]) + "\n",
            "dcgm": "\n".join([*scraped, *dcgm]),
            "node-ipmi": "\n".join([*scraped, *pages.ipmi()]),
            "probe-ssh": "\n".join([*scraped, *pages.probes(1)]),
        },
        "single": {"node": "\n".join([*slurm, *cluster, *alerts]), "snmp": "\n".join(pages.snmp())},
    }


if __name__ == "__main__":
    main()
