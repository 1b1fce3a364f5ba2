"""Runs inside the sandbox: real exporters, a backfill of what they print, a real Prometheus, and its answers.

Reads /run/clustergen/plan.json: `targets` (job → list of labels), `series` (lines of other exporters, with their job),
`recordings` (passes of name → expression), `queries`, `labels` (variable, label, series).
Writes /run/clustergen/answers.json.
Times are fixed, so that nothing depends on the clock.
"""

import json
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

END, STEP, COUNT = 1_700_000_000, 30, 121
DATA, URL = "/tmp/data", "http://127.0.0.1:9090"
SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: \d+)?$")


def fetched(url, data=None):
    with urllib.request.urlopen(url, data, timeout=300) as answer:
        return answer.read().decode()


def started(arguments, url):
    """The daemon, once it responds."""
    log = Path("/tmp/log").open("a")  # noqa: SIM115
    daemon = subprocess.Popen(arguments, stdout=log, stderr=log)
    for _ in range(1200):
        try:
            fetched(url)
            return daemon
        except OSError:
            if daemon.poll() is not None:
                break
            time.sleep(0.1)
    sys.exit(f"{arguments[0]} does not respond:\n{Path('/tmp/log').read_text()[-3000:]}")


def stopped(daemon):
    daemon.terminate()
    daemon.wait(timeout=300)


def exposed(text):
    """(name, labels, value, whether it grows) of a page of metrics."""
    counters = set(re.findall(r"^# TYPE (\S+) counter", text, re.MULTILINE))
    for line in text.splitlines():
        if sample := SAMPLE.match(line):
            yield sample[1], sample[2] or "", sample[3], sample[1] in counters


def backfilled(lines, times):
    """Blocks of samples: a counter grows by one a step."""
    write_samples(
        (name, labels, float(value) + index if grows else value, when)
        for name, labels, value, grows in lines
        for index, when in enumerate(times)
    )


def write_samples(samples):
    """Blocks of (name, labels, value, time)."""
    file = Path("/tmp/samples.om")
    with file.open("w") as out:
        out.writelines(f"{name}{{{labels}}} {value} {when}\n" for name, labels, value, when in samples)
        out.write("# EOF\n")
    run = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "--quiet", str(file), DATA]
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL, timeout=300)


def with_labels(samples, labels):
    """The samples of one target: a line that names the instance of another target is not of this one."""
    for name, sample_labels, value, grows in samples:
        names = re.findall(r'(\w+)="', sample_labels)
        if "instance" in names and f'instance="{labels["instance"]}"' not in sample_labels.split(","):
            continue
        rest = ",".join(f'{key}="{text}"' for key, text in labels.items() if key not in names)
        yield name, ",".join(filter(None, (sample_labels, rest))), value, grows


def prometheus():
    Path("/tmp/empty.yml").write_text("")
    arguments = [
        "prometheus",
        "--config.file=/tmp/empty.yml",
        f"--storage.tsdb.path={DATA}",
        "--storage.tsdb.retention.time=100y",
        "--web.listen-address=127.0.0.1:9090",
    ]
    return started(arguments, f"{URL}/-/ready")


def answer(path, **parameters):
    """Prometheus' data, or the text of its error."""
    try:
        return json.loads(fetched(f"{URL}/api/v1/{path}", urllib.parse.urlencode(parameters).encode() or None))["data"]
    except urllib.error.HTTPError as error:
        return json.loads(error.read().decode())["error"]


def recorded(expr, name):
    """The last samples of a recording rule, as its Prometheus would have them."""
    data = answer("query_range", query=expr, start=END - 10 * STEP, end=END, step=STEP)
    if isinstance(data, str):
        sys.exit(f"{name}: {data}")
    return [
        (name, ",".join(f'{key}="{text}"' for key, text in series["metric"].items() if key != "__name__"), value, when)
        for series in data["result"]
        for when, value in series["values"]
    ]


CONFIGURATION = """
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [/etc/prometheus/rules/meta.yml, /tmp/always.yml]
alerting: {alertmanagers: [{static_configs: [{targets: ["127.0.0.1:9093", "127.0.0.1:9"]}]}]}
scrape_configs: [{job_name: prometheus, static_configs: [{targets: ["127.0.0.1:9090"]}]}]
"""
ALWAYS = "groups: [{name: always, rules: [{alert: Always, expr: vector(1)}]}]"
LATE = ("prometheus_tsdb_head_samples_appended_total", "prometheus_notifications_errors_total{")


def metrics_of_prometheus(configuration):
    """Metrics that Prometheus and Alertmanager serve about themselves after a moment of work: Alertmanager with the
    configuration of the tree, Prometheus with an alert that fires and an Alertmanager that does not respond.
    """
    Path("/tmp/own.yml").write_text(CONFIGURATION)
    Path("/tmp/always.yml").write_text(ALWAYS)
    manager = started(
        [
            "prometheus-alertmanager",
            f"--config.file={configuration}/alertmanager.yml",
            "--storage.path=/tmp/am",
            "--cluster.listen-address=",
            "--web.listen-address=127.0.0.1:9093",
        ],
        "http://127.0.0.1:9093/-/ready",
    )
    server = started(
        [
            "prometheus",
            "--config.file=/tmp/own.yml",
            "--storage.tsdb.path=/tmp/own",
            "--web.listen-address=127.0.0.1:9090",
        ],
        f"{URL}/-/ready",
    )
    for _ in range(600):
        page = fetched(f"{URL}/metrics")
        if all(name in page for name in LATE):
            break
        time.sleep(0.2)
    pages = {"prometheus": page, "alertmanager": fetched("http://127.0.0.1:9093/metrics")}
    stopped(server)
    stopped(manager)
    return pages


def chosen(text, values):
    """A query with all values of each variable."""
    for name, every in values.items():
        text = text.replace(f"${name}", "|".join(every))
    return text


def main():
    plan = json.loads(Path("/run/clustergen/plan.json").read_text())
    pages = metrics_of_prometheus("/etc/prometheus")
    exporter = started(["/bin/bash", "/run/clustergen/exporter.sh"], "http://127.0.0.1:9100/metrics")
    pages["node"] = fetched("http://127.0.0.1:9100/metrics")
    exporter.kill()
    samples = []
    for job, page in pages.items():
        for labels in plan["targets"].get(job, ()):
            samples += with_labels(exposed(page), labels)
    for job, page in plan["series"].items():
        for labels in plan["targets"][job]:
            samples += with_labels(exposed(page), labels)
    for job, targets in plan["targets"].items():
        for labels in targets:
            extra = f"up {int(job != 'alertmanager')}\nscrape_duration_seconds 0.1\nscrape_samples_scraped 900"
            samples += with_labels(exposed(extra), labels)
    samples += exposed(plan["alerts"])
    times = [END - STEP * (COUNT - 1 - index) for index in range(COUNT)]
    shutil.rmtree(DATA, ignore_errors=True)
    backfilled(samples, times)
    for names in plan["recordings"]:
        server = prometheus()
        lines = [line for name, expr in names for line in recorded(expr, name)]
        stopped(server)
        write_samples(lines)
    server = prometheus()
    values = {}
    choices = []
    for name, label, series in plan["labels"]:
        match = {"match[]": chosen(series, values), "start": END - STEP * COUNT, "end": END}
        data = answer(f"label/{label}/values?" + urllib.parse.urlencode(match))
        choices.append((name, series, data))
        values[name] = sorted({*values.get(name, ()), *data})
    answers, names = {}, {}
    for query in plan["queries"]:
        data = answer("query", query=chosen(query, values), time=END)
        answers[query] = data if isinstance(data, str) else len(data["result"])
        rows = [] if isinstance(data, str) or data["resultType"] == "scalar" else data["result"]
        names[query] = sorted({name for row in rows for name in row["metric"]})
    stopped(server)
    result = {"labels": choices, "queries": answers, "names": names, "count": len(samples)}
    Path("/run/clustergen").mkdir(parents=True, exist_ok=True)
    Path("/run/clustergen/answers.json").write_text(json.dumps(result))


main()
