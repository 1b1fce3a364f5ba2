"""promtool reads Prometheus' files; Prometheus takes its arguments and serves the runbooks."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.verify.check import Check, Question, Reader, paths
from clustergen.verify.daemon import READY_SECONDS, VERSION, refused, starts
from clustergen.verify.programs import Answer

COMPONENT = "monitoring"
# Prometheus answers with status 500 and the reason where a template does not expand.
_SERVES = r"""
printf 'GET /consoles/%s HTTP/1.0\r\n\r\n' "$(basename "$1")" >/tmp/request
echo >/tmp/empty.yml
: >/tmp/log
"$program" --config.file=/tmp/empty.yml --storage.tsdb.path=/tmp/data --web.listen-address=127.0.0.1:9090 \
  --web.console.templates="$(dirname "$1")" >/tmp/log 2>&1 &
daemon=$!
for _ in $(seq 1 $((seconds * 20))); do
  if grep -q "Server is ready to receive web requests" /tmp/log; then break; fi
  kill -0 $daemon 2>/dev/null || break
  sleep 0.05
done
{ exec 3<>/dev/tcp/127.0.0.1/9090 && cat /tmp/request >&3 && timeout 20 cat <&3 >/tmp/answer; } 2>>/tmp/log
{ kill -9 $daemon && wait $daemon; } 2>/dev/null
head -1 /tmp/answer | grep -q ' 200 ' && exit 0
tail -1 /tmp/answer >&2 || tail -3 /tmp/log >&2
exit 1
"""


def _lint(answer: Answer, _question: Question) -> Iterator[str]:
    if "lint error" in answer.err + answer.out:
        yield "lint: " + " ".join(" ".join(answer.err.split()).split()[:60])
    rules = sum(int(line.split()[1]) for line in answer.lines if line.strip().endswith("rules found"))
    if rules:
        yield f"{rules} rules"


CHECKS = (
    Check(
        name="promtool",
        what="Prometheus: configuration, rules, targets",
        parser="promtool check config",
        proves="Every key is valid, every rule's expression parses and its templates expand, every targets file can "
        "be read. Unit tests of the rules on generated series check that alerts fire.",
        reads=paths("/etc/prometheus/prometheus.yml", "/etc/prometheus/rules/*", "/etc/prometheus/sd/*"),
        ask=Reader("promtool", VERSION, '"$program" check config /etc/prometheus/prometheus.yml', refused, _lint),
    ),
    Check(
        name="prometheus",
        what="Prometheus: its arguments",
        parser="prometheus",
        proves="Prometheus starts with these arguments and the tree's configuration and becomes ready. bash reads the "
        "file in place of systemd, which has no program for that.",
        reads=paths("/etc/default/prometheus", "/etc/systemd/system/prometheus.service"),
        ask=starts("prometheus", "Server is ready to receive web requests"),
    ),
    Check(
        name="runbooks",
        what="Prometheus: runbooks of the alerts",
        parser="prometheus",
        proves="Prometheus serves the page as a console template, which expands without an error.",
        reads=paths("/etc/prometheus/consoles/*"),
        ask=Reader("prometheus", VERSION, f"seconds={READY_SECONDS}\n{_SERVES}"),
    ),
)
