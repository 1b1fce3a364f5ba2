"""How long the overview's queries take on a real Prometheus with the series of 1,024 nodes: by hand, not part of
`make benchmark`.

    .venv/bin/python benchmarks/dashboards.py

Backfills six hours, a sample each minute, of what the overview reads: recorded series of nodes and of the cluster,
`up`, alerts, and Slurm's counts. Each query is a range query over the six hours as Grafana's panel sends it, or an
instant query for a table.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from manifests import large

from clustergen import compile as compiler
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with

NODES = 1024
SCRIPT = r"""
import json, subprocess, time, urllib.parse, urllib.request
END, STEP, COUNT = 1_700_000_000, 60, 361
plan = json.load(open("/run/clustergen/plan.json"))
with open("/tmp/samples.om", "w") as file:
    for series in plan["series"]:
        times = range(END - STEP * (COUNT - 1), END + 1, STEP)
        file.writelines(f"{series} {50 + (when // STEP) % 7} {when}\n" for when in times)
    file.write("# EOF\n")
blocks = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "--quiet", "/tmp/samples.om", "/tmp/data"]
subprocess.run(blocks, check=True)
open("/tmp/empty.yml", "w").close()
daemon = subprocess.Popen(["prometheus", "--config.file=/tmp/empty.yml", "--storage.tsdb.path=/tmp/data",
    "--storage.tsdb.retention.time=100y", "--web.listen-address=127.0.0.1:9090"], stderr=open("/tmp/log", "w"))
def asked(path, **parameters):
    data = urllib.parse.urlencode(parameters).encode() or None
    with urllib.request.urlopen("http://127.0.0.1:9090" + path, data, timeout=300) as answer:
        return answer.read()
for _ in range(600):
    try:
        asked("/-/ready")
        break
    except OSError:
        time.sleep(0.1)
times = {}
for _ in range(3):
    for title, expr, instant in plan["queries"]:
        start = time.perf_counter()
        if instant:
            data = asked("/api/v1/query", query=expr, time=END)
        else:
            data = asked("/api/v1/query_range", query=expr, start=END - 6 * 3600, end=END, step=30)
        times.setdefault(f"{title}: {' '.join(expr.split())[:90]}", []).append(time.perf_counter() - start)
        assert json.loads(data)["data"]["result"], expr
daemon.kill()
json.dump({title: sorted(values)[1] for title, values in times.items()}, open("/run/clustergen/times.json", "w"))
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "manifest.yaml"
        path.write_text(large(NODES, 1) + "monitoring: {grafana: {}}\n", encoding="utf-8")
        compiled = compiler.validate(path)
        tree, _ = compiler.render(compiled, path)
    assert tree is not None
    files = {file.target: file.content for file in tree if file.target}
    page = json.loads(files["/etc/grafana/dashboards/overview.json"])
    asked = [
        (panel["title"], target["expr"], target["instant"])
        for panel in page["panels"]
        for target in panel.get("targets", ())
    ]
    nodes = [f'instance="gpu{number:05d}",node_type="h0"' for number in range(1, NODES + 1)]
    recorded = {name for _, expr, _ in asked for name in _names(expr)}
    series = [f"{name}{{{node}}}" for name in sorted(recorded) if name.startswith("node:") for node in nodes]
    series += [f'up{{job="{job}",{node}}}' for job in ("node", "dcgm") for node in nodes]
    series += [f"{name}{{}}" for name in sorted(recorded) if name.startswith(("cluster:", "slurm_"))]
    series += [
        f'ALERTS{{alertname="{name}",alertstate="firing",severity="{severity}",{node}}}'
        for name, severity in (("GpuAllocatedIdle", "warning"), ("NodeDown", "critical"))
        for node in nodes[:100]
    ]
    root = root_with("promtool")
    assert root is not None, "clustergen setup parsers installs Prometheus"
    plan = json.dumps({"series": series, "queries": asked})
    done = sandbox.run(sandbox.Sandbox(root), ["python3", "-c", SCRIPT], timeout=1200, notes={"plan.json": plan})
    assert done.code == 0, done
    times = json.loads(done.files["times.json"])
    lines = [f"{len(series)} series of {NODES} nodes; seconds, median of 3"]
    lines += [f"{seconds:7.3f}  {title}" for title, seconds in sorted(times.items(), key=lambda pair: -pair[1])]
    lines += [f"{sum(times.values()):7.3f}  all {len(times)} queries, one after the other"]
    sys.stdout.write("\n".join([*lines, ""]))


def _names(expr: str) -> set[str]:
    from clustergen.render.views.dashboards.exported import metrics_of

    return metrics_of(expr)


if __name__ == "__main__":
    main()
