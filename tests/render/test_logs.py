"""Central logs: a real rsyslog sends and collects, also across an outage, and the store stays within its bounds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import COMPUTE, HEAD, codes_of, lay_out, manifest, node_files, text_of, tree_of

COLLECTOR = {**HEAD, "roles": [*HEAD["roles"], "log-collector"]}
FORWARD = "/etc/rsyslog.d/60-clustergen-forward.conf"
RETENTION = "/usr/local/sbin/clustergen-log-retention"
TLS = {"ca": "/etc/tls/ca.pem", "certificate": "/etc/tls/node.pem", "key": "/etc/tls/node.key"}
HOSTS = "127.0.0.1 localhost\n10.0.0.1 head.cluster.local head\n10.0.0.11 c1.cluster.local c1\n"

# One network namespace holds the collector, 10.0.0.1, and the node, whose packets come from 10.0.0.11.
RSYSLOG = r"""
ip route replace local 10.0.0.1/32 dev lo table local src 10.0.0.11 || exit 90
mkdir -p /var/log/clustergen /run/node /etc/tls
echo 'include(file="/etc/rsyslog.d/50-clustergen-collector.conf")' >/run/collector.conf
sed 's#/etc/tls/node#/etc/tls/collector#' -i /etc/rsyslog.d/50-clustergen-collector.conf
cat >/run/node.conf <<'END'
module(load="imuxsock" SysSock.Name="/run/node/log")
global(workDirectory="/run/node")
include(file="/etc/rsyslog.d/60-clustergen-forward.conf")
END
cd /etc/tls
new=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc)
openssl req -x509 "${new[@]}" -days 36500 -subj /CN=ca -keyout ca.key -out ca.pem 2>/dev/null || exit 90
for pair in collector:head node:c1; do
  name=${pair%:*} host=${pair#*:}
  openssl req "${new[@]}" -subj "/CN=$host" -addext "subjectAltName=DNS:$host" -keyout "$name.key" -out "$name.csr"
  openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key -days 36500 -copy_extensions copy -out "$name.pem"
done 2>/dev/null
collector() { rsyslogd -n -iNONE -f /run/collector.conf & collector=$!; }
say() { logger -u /run/node/log -t "$1" -p "$2" -- "$3"; }
stored() { # WORDS: waits until the collector has them
  for _ in {1..900}; do
    grep -rqF -- "$1" /var/log/clustergen && return
    sleep 0.1
  done
  echo "not on the collector: $1" >&2
  exit 91
}
collector
rsyslogd -n -iNONE -f /run/node.conf & node=$!
until [ -S /run/node/log ]; do sleep 0.05; done
"""
END = r"""
kill $node; wait $node
kill $collector; wait $collector
cd /var/log/clustergen && grep -r '' . | sed -E 's#[0-9]{4}-[0-9]{2}-[0-9]{2}/#DAY/#; s#:[0-9]{4}-\S+#:TIME#' | sort -u
"""


def cluster(directory: Path, **logs: Any) -> Any:
    head = {**COLLECTOR, "roles": [*COLLECTOR["roles"], "monitoring"]} if "search" in logs else COLLECTOR
    return tree_of(manifest(nodes=[head, COMPUTE], **({"logs": logs} if logs else {})), directory)


def rsyslog(directory: Path, script: str, timeout: float = 300, srv: Path | None = None, **logs: Any) -> list[str]:
    """Lines that the collector stored after a script, as HOST/DAY/TOPIC.log:TIME and the rest of the line, sorted."""
    root = root_with("rsyslogd")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    place = lay_out(cluster(directory, **logs), "head", directory / "node")
    box = sandbox.Sandbox(
        root,
        files=((place, "/"), *(((srv, "/srv"),) if srv else ())),
        hosts=HOSTS,
        hostname="c1",
        addresses=("10.0.0.1", "10.0.0.11"),
        is_one_user=True,
    )
    done = sandbox.run(box, ["/bin/bash", "-c", RSYSLOG + script + END], timeout=timeout)
    assert done.code == 0, done
    return [line.removeprefix("./") for line in done.stdout.splitlines()]


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("logs", [{}, {"tls": TLS}], ids=["plain", "tls"])
def test_lines_of_a_node_arrive_also_after_an_outage(logs: dict[str, Any], tmp_path: Path) -> None:
    script = """
say slurmd daemon.info '[77.batch] done with job'
stored 'done with job'
kill $collector; wait $collector
say slurmctld daemon.info 'sched: Allocate JobId=12 NodeList=c1'
say slurm-health daemon.err 'GPU 3 is lost'
sleep 1
collector
stored 'GPU 3 is lost'
"""
    stored = rsyslog(tmp_path, script, **logs)
    assert "c1/DAY/slurm.log:TIME c1 job=77 slurmd: [77.batch] done with job" in stored
    assert "c1/DAY/slurm.log:TIME c1 job=12 slurmctld: sched: Allocate JobId=12 NodeList=c1" in stored
    assert "c1/DAY/health.log:TIME c1 slurm-health: GPU 3 is lost" in stored


@pytest.mark.real
@pytest.mark.slow
def test_topics_and_jobs_are_known_and_no_message_leaves_its_place(tmp_path: Path) -> None:
    script = """
say slurm-prolog daemon.err 'job 4711: 30-gpu failed (1): two
lines'
say slurm-epilog daemon.notice 'job 4712: 50-tmpdir: removed'
say sshd auth.info 'Accepted publickey for job 5'
python3 - <<'PY'
import socket
log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.connect("/run/node/log")
log.send(b"<3>Nov 23 08:00:00 kernel: NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.")
log.send(b"<30>Nov 23 08:00:00 ../../../../etc/passwd: from a tag")
log.send(b"<30>1 2026-11-23T08:00:00Z ../../escape slurmctld - - - from \\x1b[31m a host name")
PY
say last daemon.info 'end of the messages'
stored 'end of the messages'
"""
    stored = rsyslog(tmp_path, script)
    assert "c1/DAY/jobs.log:TIME c1 job=4711 slurm-prolog: job 4711: 30-gpu failed (1): two#012lines" in stored
    assert "c1/DAY/jobs.log:TIME c1 job=4712 slurm-epilog: job 4712: 50-tmpdir: removed" in stored
    assert "c1/DAY/system.log:TIME c1 sshd: Accepted publickey for job 5" in stored
    assert any(line.startswith("c1/DAY/kernel.log:") and "Xid (PCI:0000:1b:00): 79" in line for line in stored)
    assert any("from a tag" in line for line in stored)
    assert any("from #033[31m a host name" in line for line in stored)
    assert {line.split(":")[0] for line in stored} == {f"c1/DAY/{name}.log" for name in ("jobs", "kernel", "system")}


@pytest.mark.real
@pytest.mark.slow
def test_the_queue_of_a_node_stays_within_its_size_and_blocks_no_program(tmp_path: Path) -> None:
    script = """
kill $collector; wait $collector
python3 - <<'PY'
import socket
log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.connect("/run/node/log")
for number in range(8000):
    log.send(b"<30>Nov 23 08:00:00 flood: %d " % number + 7000 * b"x")
PY
[ "$(ls /var/spool/rsyslog | wc -l)" -gt 1 ] || { echo 'nothing was queued on disk' >&2; exit 92; }
size=$(du -sm /var/spool/rsyslog | cut -f1)
[ "$size" -le 22 ] || { echo "$size MiB on disk" >&2; exit 93; }
collector
stored 'flood: 0 '
"""
    assert rsyslog(tmp_path, script, queue_size="16MiB")


KEEP = r"""
set -e
cd /var/log/clustergen
put() { # HOST WHEN TOPIC KIB
  local directory
  directory=$1/$(date -d "$2" +%F)
  mkdir -p "$directory"
  dd if=/dev/urandom bs=1k count="$4" status=none >"$directory/$3.log"
}
"""


def kept(directory: Path, script: str, last: str = "", *, clock: str = "yes", **changes: Any) -> list[str]:
    """Files of the store after the script, as HOST/AGE/NAME KIB; AGE in days. `last`: more commands after it. `clock`:
    whether the node's clock is synchronised."""
    root = root_with("logrotate")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    place = lay_out(
        tree_of(manifest(**{"nodes": [COLLECTOR, COMPUTE], **changes}), directory), "head", directory / "node"
    )
    (place / "var/log/clustergen").mkdir(parents=True)
    (place / "usr/bin").mkdir(exist_ok=True)
    (place / "usr/bin/timedatectl").write_text(f"#!/bin/sh\necho {clock}\n")
    (place / "usr/bin/timedatectl").chmod(0o755)
    listing = r"""
find . -type f -printf '%P/%k\n' | while IFS=/ read -r host day file size; do
  age=$((($(date -ud "$(date +%F)" +%s) - $(date -ud "$day" +%s)) / 86400))
  echo "$host/$age/$file $size"
done | sort; find . -mindepth 1 -maxdepth 1 -empty"""
    words = ["/bin/bash", "-c", KEEP + script + f'logger() {{ echo "$*" >&2; }}; {RETENTION}; ' + listing + last]
    done = sandbox.run(sandbox.Sandbox(root, files=((place, "/"),), is_one_user=True), words, timeout=120)
    assert done.code == 0, done
    return [line.removeprefix("./") for line in done.stdout.splitlines()]


@pytest.mark.real
@pytest.mark.slow
def test_days_beyond_the_retention_go_and_finished_days_are_compressed(tmp_path: Path) -> None:
    script = "for age in 0 1 2 7 8; do put c1 \"$age days ago\" slurm 64; done; put gone '9 days ago' slurm 8\n"
    files = [line.rpartition(" ")[0] for line in kept(tmp_path, script, logs={"retention": "7d"})]
    assert files == ["c1/0/slurm.log", "c1/1/slurm.log", "c1/2/slurm.log.gz", "c1/7/slurm.log.gz"]


@pytest.mark.real
@pytest.mark.slow
def test_a_wrong_clock_loses_no_log(tmp_path: Path) -> None:
    """Ahead: nothing is deleted for its age. Behind: what was compressed of a day stays when the day goes on."""
    script = "put c1 '99 days ago' slurm 64; put c1 '3 days ago' slurm 64; put c1 '3 days' slurm 8\n"
    script += "file=c1/$(date -d '3 days ago' +%F)/slurm.log; gzip -c $file >$file.gz\n"
    last = "; zcat c1/*/slurm.log.gz | wc -c"
    lines = kept(tmp_path, script, last, clock="no", logs={"retention": "7d"})
    assert [line.rpartition(" ")[0] for line in lines[:-1]] == [
        "c1/-3/slurm.log", "c1/3/slurm.log.gz", "c1/99/slurm.log.gz",
    ]  # fmt: skip
    assert lines[-1] == str(3 * 64 * 1024)


@pytest.mark.real
@pytest.mark.slow
def test_a_full_disk_is_freed_before_anything_is_compressed(tmp_path: Path) -> None:
    script = (
        f"mount -t tmpfs -o size=4m tmpfs $PWD; cd $PWD; sed -i 's/^limit=[0-9]*/limit=2048/' {RETENTION}\n"
        'for age in 1 2 3; do put c1 "$age days ago" slurm 1000; done\n'
        "mkdir -p c2/$(date +%F); dd if=/dev/zero of=c2/$(date +%F)/slurm.log bs=1k status=none 2>/dev/null || true\n"
    )
    assert kept(tmp_path, script)[-1].startswith("c2/0/slurm.log")


@pytest.mark.real
@pytest.mark.slow
def test_the_store_stays_within_its_size(tmp_path: Path) -> None:
    """The oldest days go first; of today, the largest file is emptied when nothing else is left."""
    old = "sed -i 's/^limit_kib=.*/limit_kib=8192/' /etc/clustergen/log-retention.sh\n"
    old += 'for age in 1 2 3; do for host in c1 c2; do put $host "$age days ago" slurm 1024; done; done\n'
    today = f"{old}put c1 today slurm 9000; put c1 today kernel 16; put 'c 2' today slurm 16\n"
    assert kept(tmp_path, today) == ["c 2/0/slurm.log 16", "c1/0/kernel.log 16", "c1/0/slurm.log 0"]
    (tmp_path / "full").mkdir()
    full = f"{old}put c1 today slurm 5120\n"
    assert kept(tmp_path / "full", full) == ["c1/0/slurm.log 5120", "c1/1/slurm.log 1024", "c2/1/slurm.log 1024"]


@pytest.mark.real
@pytest.mark.slow
def test_the_store_and_the_hosts_that_log_most_are_measured(tmp_path: Path) -> None:
    """Of today only, and of hosts whose names would break the format of the metrics."""
    script = (
        "put c1 today slurm 64; put c1 today kernel 8; put c1 yesterday slurm 999; put 'c\\\"2' today slurm 16\n"
        "for number in {10..40}; do put c$number today slurm 4; done\n"
        "mkdir -p /var/lib/prometheus/node-exporter\n"
    )
    collector = {**COLLECTOR, "roles": [*COLLECTOR["roles"], "monitoring"]}
    last = "; cat /var/lib/prometheus/node-exporter/logs.prom; promtool check metrics </var/lib/prometheus/*/logs.prom"
    lines = kept(tmp_path, script, f"{last} >&2 || [ $? = 3 ]", nodes=[collector, COMPUTE])
    values = dict(line.rsplit(" ", 1) for line in lines if line.startswith("clustergen"))
    sizes = {name: int(value) >> 10 for name, value in values.items() if "today" in name}
    assert len(sizes) == 20
    assert 72 <= sizes['clustergen_logs_today_bytes{host="c1"}'] <= 84  # with the directory
    assert 'clustergen_logs_today_bytes{host="c2"}' in sizes
    assert values["clustergen_logs_hosts"] == "33"
    assert values["clustergen_logs_days"] == "2"


@pytest.mark.real
@pytest.mark.slow
def test_the_store_is_kept_with_the_rights_of_its_owner(tmp_path: Path) -> None:
    """On Ubuntu, rsyslog's account owns the store and can write to /var/log."""
    root = root_with("logrotate")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    place = lay_out(tree_of(manifest(nodes=[COLLECTOR, COMPUTE]), tmp_path), "head", tmp_path / "node")
    (place / "var/log/clustergen").mkdir(parents=True)
    script = f"""{KEEP}
printf '#!/bin/sh\necho yes\n' >/usr/bin/timedatectl; chmod 755 /usr/bin/timedatectl
echo kept >/srv/victim; chmod 600 /srv/victim; mkdir -p /srv/other/x/2020-01-01
put c1 '3 days ago' slurm 8; put c1 '3 days ago' kernel 8
day=$(echo c1/*); ln -s /srv/victim $day/slurm.log.gz.new; ln -s /srv/victim $day/kernel.log.gz
chown -R -h 64042:64042 /var/log/clustergen; chmod 775 /var/log
{RETENTION}; cd $day; stat -c '%n %u' *; cat /srv/victim
mv /var/log/clustergen /var/log/away; ln -s /srv/other /var/log/clustergen
{RETENTION} || ls /srv/other/x; chmod 755 /var/log
{RETENTION}; ls /srv/other
"""
    box = sandbox.Sandbox(root, files=((place, "/"),))
    done = sandbox.run(box, ["/bin/bash", "-c", script], timeout=300)
    assert done.stdout.splitlines() == [
        # What its owner may not read is not compressed, and nothing goes through the link.
        "kernel.log 64042", "kernel.log.gz 64042", "slurm.log 64042", "kept", "2020-01-01",
    ], done  # fmt: skip
    assert "refused: /var/log/clustergen leads to /srv/other: mount the file system there instead" in done.stderr


SEARCH = {"servers": ["http://127.0.0.1:9201", "http://127.0.0.1:9200/"], "user": "writer", "retention": "7d"}
QUERIES = r"""
printf %s 's3cret#"word' >/etc/clustergen/log-search.password
mkdir -p /run/curl /var/lib/prometheus/node-exporter
printf '#!/bin/sh\necho yes\n' >/usr/bin/timedatectl
printf '#!/bin/sh\n[ "$1" = kill ] && kill -HUP $(cat /run/collector.pid)\n' >/usr/bin/systemctl
chmod 755 /usr/bin/timedatectl /usr/bin/systemctl
kill $collector; wait $collector; collector; echo $collector >/run/collector.pid
today=$(date +%Y.%m.%d)
stub() {
  python3 /srv/stub.py 9200 cluster-logs-{2020.01.01,$today,2020.01.01-copy} other-2020.01.01 &
  stub=$!
}
ask() { python3 - "$@" <<'PY'
import base64, json, sys, urllib.request
key = base64.b64encode(b'writer:s3cret#"word').decode()
request = urllib.request.Request("http://127.0.0.1:9200" + sys.argv[1], headers={"Authorization": "Basic " + key})
answer = json.load(urllib.request.urlopen(request))
if "hits" in answer:
    for hit in answer["hits"]["hits"]:
        row = hit["_source"]
        print(hit["_index"], *(row.get(name) for name in ("host", "topic", "job", "severity", "program", "message")))
else:
    print(json.dumps(answer))
PY
}
soon() { # COMMAND …: repeats it until it succeeds
  for _ in {1..600}; do "$@" 2>/dev/null && return; sleep 0.1; done
  echo "never: $*" >&2
  exit 94
}
finds() { ask "/_search?q=message:$1" | sort -u | grep .; } # after an interruption, a line may be there twice
fails() { grep -qs -- "$1" /var/spool/rsyslog/clustergen-search.errors; }
keep() {
  /usr/local/sbin/clustergen-log-search "$@" 2>>/run/keep.err
  grep -v '^#' /var/lib/prometheus/node-exporter/logs_search.prom
}
"""


@pytest.mark.real
@pytest.mark.slow
def test_lines_are_found_by_a_query_and_documents_that_are_refused_are_kept(tmp_path: Path) -> None:
    """Also those that were logged while the servers were away, or answered that they are overloaded."""
    stub = Path(__file__).parents[1] / "fixtures/search_stub.py"
    place = tmp_path / "srv"
    place.mkdir()
    (place / "stub.py").write_bytes(stub.read_bytes())
    script = r"""
say slurmd daemon.info '[77.batch] before the server'
stored 'before the server'
stub; soon finds before
say slurmctld daemon.err 'refused by the index'; soon fails 'refused by'
echo overloaded >/run/search-mode; say sshd auth.info 'while overloaded'; soon fails 'while overloaded'
hostname head
echo "--overloaded"; keep
echo ok >/run/search-mode
echo "--back"; keep; finds overloaded
echo "--refused"; grep -c 'refused by the index.*mapper_parsing_exception' /var/spool/rsyslog/clustergen-search.refused
say cron daemon.info 'after the turn'; soon finds after
ask /_all
echo lenient >/run/search-mode
echo "--resent"; keep --resend; finds refused
kill $stub; wait $stub
echo "--down"; keep; hostname c1
cat /run/keep.err >&2
"""
    text = "\n".join(rsyslog(tmp_path, QUERIES + script, srv=place, search=SEARCH))
    steps = re.split(
        r"^--", re.sub(r"\d{4}(?:\.\d\d){2}(?!-copy)", "DAY", text.partition("c1/DAY/")[0]), flags=re.MULTILINE
    )
    answers = [step.replace("clustergen_logs_search_", "").splitlines() for step in steps]
    usual = ["up 1", "indexes 1"]
    assert answers[0] == ["cluster-logs-DAY c1 slurm 77 info slurmd  [77.batch] before the server"]
    assert answers[1][:4] == ["overloaded", *usual, "refused_documents 1"]
    assert answers[1][4].startswith("waiting_bytes ")
    assert answers[1][4] != "waiting_bytes 0"
    assert answers[2] == [
        "back",
        *usual,
        "refused_documents 1",
        "waiting_bytes 0",
        "cluster-logs-DAY c1 system None info sshd  while overloaded",
    ]
    assert answers[3][:3] == ["refused", "1", "cluster-logs-DAY c1 system None info cron  after the turn"]
    servers = json.loads(answers[3][3])
    assert servers["indexes"] == ["cluster-logs-2020.01.01-copy", "cluster-logs-DAY", "other-DAY"]
    assert servers["templates"]["cluster-logs"]["index_patterns"] == ["cluster-logs-*"]
    assert answers[4] == [
        "resent", *usual, "refused_documents 0", "waiting_bytes 0",
        "cluster-logs-DAY c1 slurm None err slurmctld  refused by the index",
    ]  # fmt: skip
    assert answers[5] == ["down", "up 0", "refused_documents 0", "waiting_bytes 0"]


@pytest.mark.parametrize(("hosts", "conditions"), [(("head",), 0), (("head", "logs"), 1)])
def test_one_collector_sends_to_the_search(hosts: tuple[str, ...], conditions: int, tmp_path: Path) -> None:
    second = {**COLLECTOR, "name": "logs", "address": "10.0.0.9", "roles": ["log-collector"]}
    search = {"servers": ["https://search:9200"], "ca": "/etc/tls/search.pem"}
    nodes = [COLLECTOR, *([second] if "logs" in hosts else []), COMPUTE]
    tree = tree_of(manifest(nodes=nodes, logs={"search": search}), tmp_path)
    for host in hosts:
        text = text_of(tree, host, "/etc/rsyslog.d/50-clustergen-collector.conf")
        assert text.count('if $$myhostname == "head" then action(') == conditions
        assert 'tls.caCert="/etc/tls/search.pem"' in text
        assert "pwd=" not in text
    assert "/etc/clustergen/log-search.json" not in node_files(tree, "c3")


def test_every_node_sends_to_every_collector(tmp_path: Path) -> None:
    second = {**COLLECTOR, "name": "logs", "address": "10.0.0.9", "roles": ["log-collector"]}
    tree = tree_of(manifest(nodes=[COLLECTOR, second, COMPUTE], logs={"tls": TLS, "port": 6514}), tmp_path)
    for host in ("head", "logs", "c3"):
        text = text_of(tree, host, FORWARD)
        assert text.count('port="6514"') == text.count('tls="on"') == 2
        assert 'tls.permittedPeer=["logs", "logs.cluster.local"]' in text
    assert "/etc/rsyslog.d/50-clustergen-collector.conf" not in node_files(tree, "c3")


def test_without_a_collector_there_are_no_files(tmp_path: Path) -> None:
    assert not [path for path in node_files(tree_of(manifest(), tmp_path), "head") if "rsyslog" in path]


@pytest.mark.parametrize(
    ("logs", "code"),
    [
        ({"retention": "12h"}, "value-out-of-range"),
        ({"retention": "0d"}, "value-out-of-range"),
        ({"retention_size": "10MiB"}, "value-out-of-range"),
        ({"queue_size": "1MiB"}, "value-out-of-range"),
        ({"queue_size": "1"}, "unit-wrong"),
        ({"port": 0}, "value-out-of-range"),
        ({"port": 22}, "port-twice"),
        ({"tls": {"ca": "/etc/ca.pem"}}, "key-missing"),
        ({"tls": {**TLS, "key": 'x"'}}, "text-malformed"),
        ({"tls": {**TLS, "key": "/etc/../key"}}, "path-malformed"),
        ({"server": "x"}, "key-unknown"),
        ({"search": {**SEARCH, "retention": "12h"}}, "value-out-of-range"),
        ({"search": {**SEARCH, "index": "Logs"}}, "text-malformed"),
        ({"search": {**SEARCH, "servers": []}}, "value-out-of-range"),
        ({"search": {**SEARCH, "servers": ["https://search"]}}, "text-malformed"),
        ({"search": {**SEARCH, "servers": ["http://u:p@search:9200"]}}, "secret-in-manifest"),
    ],
)
def test_bad_values_are_reported(logs: dict[str, Any], code: str, tmp_path: Path) -> None:
    assert code in codes_of(manifest(nodes=[COLLECTOR, COMPUTE], logs=logs), tmp_path)
