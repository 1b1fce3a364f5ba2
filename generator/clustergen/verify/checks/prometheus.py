"""Prometheus, Alertmanager and the node exporter: checkers read the files, daemons take their arguments."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.verify.check import Check, Question, Reader, paths
from clustergen.verify.programs import Answer

_VERSION = "$program --version | head -1"
_READY_SECONDS = 50  # it takes one; more where the machine has other things to do

# Starts a daemon as its unit does, with the arguments that the node's files give, until it says that it is ready.
_STARTS = r"""
set -f
unit=/etc/systemd/system/$(basename "$program").service
for file; do
  case $file in
    /etc/default/*) . "$file" && arguments=$ARGS ;;
    *.service) arguments=$(sed -nE 's/^ExecStart=\S+ //p' "$file") ;;
  esac
done
mkdir -p /var/lib/prometheus/node-exporter /var/lib/prometheus/alertmanager /run/systemd
cd /var/lib/prometheus
$program $arguments >/tmp/log 2>&1 &
daemon=$!
for _ in $(seq 1 $((seconds * 20))); do
  if grep -qE "$ready" /tmp/log; then kill -9 $daemon; exit 0; fi
  kill -0 $daemon 2>/dev/null || break
  sleep 0.05
done
kill -9 $daemon 2>/dev/null
grep -E 'level=(error|ERROR|warn|WARN)|error:' /tmp/log | tail -5 >&2 || tail -3 /tmp/log >&2
exit 1
"""


# Prometheus answers with status 500 and the reason where a template does not expand.
_SERVES = r"""
printf 'GET /consoles/%s HTTP/1.0\r\n\r\n' "$(basename "$1")" >/tmp/request
echo >/tmp/empty.yml
"$program" --config.file=/tmp/empty.yml --storage.tsdb.path=/tmp/data --web.listen-address=127.0.0.1:9090 \
  --web.console.templates="$(dirname "$1")" >/tmp/log 2>&1 &
daemon=$!
for _ in $(seq 1 $((seconds * 20))); do
  if grep -q "Server is ready to receive web requests" /tmp/log; then break; fi
  kill -0 $daemon 2>/dev/null || break
  sleep 0.05
done
{ exec 3<>/dev/tcp/127.0.0.1/9090 && cat /tmp/request >&3 && timeout 20 cat <&3 >/tmp/answer; } 2>>/tmp/log
kill -9 $daemon 2>/dev/null
head -1 /tmp/answer | grep -q ' 200 ' && exit 0
tail -1 /tmp/answer >&2 || tail -3 /tmp/log >&2
exit 1
"""


# The credentials are not in the tree; where nobody has put them, the exporter's pattern only has the modules.
_DRY_RUN = r"""
set -f
. /etc/default/prometheus-snmp-exporter
"$program" --dry-run $ARGS >/tmp/log 2>&1 && exit 0
grep -E 'level=ERROR|error:' /tmp/log | head -1 >&2 || tail -3 /tmp/log >&2
exit 1
"""


def _starts(program: str, ready: str) -> Reader:
    return Reader(
        program,
        _VERSION,
        f"seconds={_READY_SECONDS} ready='{ready}'\n{_STARTS}",
        whole=True,
    )


def refused(answer: Answer, _question: Question) -> list[str]:
    """promtool writes what it finds wrong to stderr, in lines that mean little without the file's name above them."""
    return [line for line in answer.lines if line.strip() and "SUCCESS" not in line] if answer.code else []


def _lint(answer: Answer, _question: Question) -> Iterator[str]:
    if "lint error" in answer.err + answer.out:
        yield "lint: " + " ".join(" ".join(answer.err.split()).split()[:60])
    rules = sum(int(line.split()[1]) for line in answer.lines if line.strip().endswith("rules found"))
    if rules:
        yield f"{rules} rules"


CHECKS = (
    Check(
        "promtool",
        "Prometheus: configuration, rules, targets",
        "promtool check config",
        "Every key is valid, every rule's expression parses and its templates expand, every targets file can "
        "be read. Unit tests of the rules on generated series check that alerts fire.",
        paths("/etc/prometheus/prometheus.yml", "/etc/prometheus/rules/*", "/etc/prometheus/sd/*"),
        Reader("promtool", _VERSION, '"$program" check config /etc/prometheus/prometheus.yml', refused, _lint),
    ),
    Check(
        "amtool",
        "Alertmanager: configuration",
        "amtool check-config",
        "Every key is valid, every route has its receiver, every template expands. No message is sent.",
        paths("/etc/prometheus/alertmanager.yml", "/etc/alertmanager/alertmanager.yml"),
        Reader("amtool", _VERSION, '"$program" check-config "$@"'),
    ),
    Check(
        "prometheus",
        "Prometheus: its arguments",
        "prometheus",
        "Prometheus starts with these arguments and the tree's configuration and becomes ready. bash reads the "
        "file in place of systemd, which has no program for that.",
        paths("/etc/default/prometheus", "/etc/systemd/system/prometheus.service"),
        _starts("prometheus", "Server is ready to receive web requests"),
    ),
    Check(
        "runbooks",
        "Prometheus: runbooks of the alerts",
        "prometheus",
        "Prometheus serves the page as a console template, which expands without an error.",
        paths("/etc/prometheus/consoles/*"),
        Reader("prometheus", _VERSION, f"seconds={_READY_SECONDS}\n{_SERVES}"),
    ),
    Check(
        "alertmanager",
        "Alertmanager: its arguments",
        "alertmanager",
        "Alertmanager starts with these arguments and the tree's configuration and listens. bash reads the file "
        "in place of systemd.",
        paths("/etc/default/prometheus-alertmanager", "/etc/systemd/system/alertmanager.service"),
        _starts("prometheus-alertmanager", "Listening on|TLS is disabled"),
    ),
    Check(
        "blackbox exporter",
        "blackbox exporter: probes",
        "blackbox_exporter --config.check",
        "The exporter accepts every module and key. Nothing is probed.",
        paths("/etc/prometheus-exporters/blackbox.yml"),
        Reader(
            "prometheus-blackbox-exporter",
            _VERSION,
            '"$program" --config.check --config.file=/etc/prometheus-exporters/blackbox.yml',
        ),
    ),
    Check(
        "blackbox exporter arguments",
        "blackbox exporter: its arguments",
        "prometheus-blackbox-exporter",
        "The exporter starts with these arguments and the tree's probes and listens. bash reads the file in place of "
        "systemd.",
        paths("/etc/default/prometheus-blackbox-exporter"),
        _starts("prometheus-blackbox-exporter", "Listening on|TLS is disabled"),
    ),
    Check(
        "IPMI exporter",
        "IPMI exporter: its arguments and configuration",
        "prometheus-ipmi-exporter",
        "The exporter starts with these arguments and this configuration and listens. No BMC is asked.",
        paths("/etc/default/prometheus-ipmi-exporter", "/etc/prometheus-exporters/ipmi.yml"),
        _starts("prometheus-ipmi-exporter", "Listening on|TLS is disabled"),
    ),
    Check(
        "SNMP exporter",
        "SNMP exporter: its arguments and modules",
        "prometheus-snmp-exporter --dry-run",
        "The exporter accepts these arguments, every module and key. Credentials are not in the tree, and no device is"
        " asked. bash reads the file in place of systemd.",
        paths("/etc/default/prometheus-snmp-exporter", "/etc/prometheus-exporters/snmp*.yml"),
        Reader("prometheus-snmp-exporter", _VERSION, _DRY_RUN),
    ),
    Check(
        "node exporter",
        "node exporter: its arguments",
        "prometheus-node-exporter",
        "The exporter starts with these arguments and listens. bash reads the file in place of systemd.",
        paths("/etc/default/prometheus-node-exporter"),
        _starts("prometheus-node-exporter", "Listening on|TLS is disabled"),
    ),
)
