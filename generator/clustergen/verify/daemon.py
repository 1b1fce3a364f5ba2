"""Daemons that are started with the arguments of a node's files."""

from __future__ import annotations

from clustergen.verify.check import Question, Reader
from clustergen.verify.programs import Answer

VERSION = "$program --version | head -1"
READY_SECONDS = 50  # it takes one; more where the machine has other things to do

# Starts a daemon as its unit does, with the arguments that the node's files give, until it says that it is ready.
_STARTS = r"""
set -f
unit=/etc/systemd/system/$(basename "$program").service
for file; do
  case $file in
    *.service) arguments=$(sed -nE 's/^ExecStart=\S+ //p' "$file") && arguments=${arguments/'$ARGS'/$ARGS} ;;
    *) . "$file" && arguments=$ARGS ;;
  esac
done
mkdir -p /var/lib/prometheus/node-exporter /var/lib/prometheus/alertmanager /run/systemd
cd /var/lib/prometheus
: >/tmp/log
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


def starts(program: str, ready: str) -> Reader:
    """A reader that starts a daemon until its log has the words `ready`."""
    return Reader(
        program,
        VERSION,
        f"seconds={READY_SECONDS} ready='{ready}'\n{_STARTS}",
        whole=True,
    )


def refused(answer: Answer, _question: Question) -> list[str]:
    """promtool writes what it finds wrong to stderr, in lines that mean little without the file's name above them."""
    return [line for line in answer.lines if line.strip() and "SUCCESS" not in line] if answer.code else []
