#!/usr/bin/python3 -IS
"""Keeps the indexes of the logs in Elasticsearch or OpenSearch: template, age, and documents that were refused.

    clustergen-log-search [--resend]   --resend: also documents that the servers have refused for what they contain

rsyslog writes documents of failed requests, and refused ones, to `clustergen-search.errors`. Those that can succeed
later wait in `clustergen-search.waiting` and are sent again in the next run; the others stay in `.refused`.
"""

from __future__ import annotations

import base64
import datetime
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VALUES: dict[str, Any] = json.loads(Path("/etc/clustergen/log-search.json").read_text(encoding="utf-8"))
INDEX: str = VALUES["index"]
SPOOL = Path(VALUES["spool"])
ERRORS, TURNED, WAITING, REFUSED = (
    SPOOL / f"clustergen-search.{name}" for name in ("errors", "turned", "waiting", "refused")
)
MAX_BYTES: int = VALUES["max_bytes"]
BATCH = 500  # documents in one request
PATIENCE = 30  # seconds for an answer
KEYWORD = {"type": "keyword", "ignore_above": 1024}
TEMPLATE = {
    "index_patterns": [f"{INDEX}-*"],
    "priority": 200,
    "template": {
        "mappings": {
            "dynamic": False,
            "properties": {
                "@timestamp": {"type": "date"},
                "received": {"type": "date"},
                "message": {"type": "text"},
                **dict.fromkeys(("host", "topic", "job", "severity", "program"), KEYWORD),
            },
        }
    },
}


class NoServerError(Exception):
    """None of the servers has answered."""


def request(method: str, path: str, body: bytes | None = None, kind: str = "application/json") -> Any:
    """The answer of the first server that responds; HTTPError where it refuses, NoServerError where none responds."""
    headers = {"Content-Type": kind} if body is not None else {}
    if VALUES["user"]:
        text = f"{VALUES['user']}:{os.environ['CLUSTERGEN_PASSWORD']}"
        headers["Authorization"] = "Basic " + base64.b64encode(text.encode()).decode("ascii")
    problems = []
    for server in VALUES["servers"]:
        context = ssl.create_default_context(cafile=VALUES["ca"]) if server.startswith("https:") else None
        question = urllib.request.Request(server + path, body, headers, method=method)
        try:
            with urllib.request.urlopen(question, timeout=PATIENCE, context=context) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError:
            raise
        except (OSError, ValueError) as err:
            problems.append(f"{server}: {err}")
    raise NoServerError("; ".join(problems))


def lines_of(path: Path) -> Iterator[str]:
    if path.exists():
        with path.open(encoding="utf-8", errors="surrogateescape") as file:
            yield from file


def failed(line: str) -> list[dict[str, Any]]:
    """Documents of one of rsyslog's error records that are in no index, each with its action and the reply."""
    try:
        record = json.loads(line)
        rows = record["request"]["postdata"].splitlines()
        items = (record.get("reply") or {}).get("items")
        results = [next(iter(item.values())) for item in items] if items else [{"status": 0}] * len(rows)
    except (ValueError, KeyError, AttributeError, StopIteration):
        print(f"not an error record of rsyslog: {line[:200]!r}", file=sys.stderr)
        return []
    return [
        {"action": action, "document": document, "result": result}
        for action, document, result in zip(rows[::2], rows[1::2], results)
        if document and result.get("status") not in (200, 201)
    ]


def is_final(entry: dict[str, Any]) -> bool:
    """True if the servers refuse the document itself: another attempt has the same result."""
    status = entry["result"].get("status", 0)
    return bool(400 <= status < 500 and status not in (401, 403, 404, 408, 429))


def resend(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries that are still in no index. A refused request is divided until a document is alone."""
    left = []
    batches = [entries[first : first + BATCH] for first in range(0, len(entries), BATCH)][::-1]
    while batches:
        batch = batches.pop()
        half = len(batch) // 2
        results = send(batch)
        if half and is_final({"result": results[0]}) and all(result is results[0] for result in results):
            batches += [batch[half:], batch[:half]]
            continue
        for entry, result in zip(batch, results):
            if result.get("status") not in (200, 201):
                left.append({**entry, "result": result})
    return left


def send(batch: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The result of each document; the same object for all of them where the request as a whole has failed."""
    text = "".join(f"{entry['action']}\n{entry['document']}\n" for entry in batch)
    try:
        items = request("POST", "/_bulk", text.encode("utf-8", "surrogateescape"), "application/x-ndjson")["items"]
        return [next(iter(item.values())) for item in items]
    except urllib.error.HTTPError as err:
        print(f"documents were not accepted: {err}", file=sys.stderr)
        return [{"status": err.code, "error": str(err)}] * len(batch)
    except (NoServerError, KeyError, TypeError) as err:
        print(f"documents were not accepted: {err}", file=sys.stderr)
        return [{"status": 0}] * len(batch)


def store(path: Path, entries: list[dict[str, Any]]) -> None:
    """Replaces a file of entries; beyond the limit, the oldest are dropped."""
    rows = [json.dumps(entry) + "\n" for entry in entries]
    size, keep = 0, len(rows)
    while keep and size + len(rows[keep - 1]) <= MAX_BYTES:
        keep -= 1
        size += len(rows[keep])
    if keep:
        print(f"{keep} documents were dropped: {path} would exceed {MAX_BYTES} bytes", file=sys.stderr)
    if not rows[keep:]:
        path.unlink(missing_ok=True)
        return
    new = path.with_name(path.name + ".new")
    new.write_text("".join(rows[keep:]), encoding="utf-8")
    new.replace(path)


def sort_out(again: bool) -> int:
    """Sends documents again that rsyslog could not deliver, and returns the number of refused ones."""
    refused = [json.loads(line) for line in lines_of(REFUSED)]
    waiting = [json.loads(line) for line in lines_of(WAITING)]
    for line in lines_of(TURNED):
        waiting += failed(line)
    if again:
        waiting, refused = refused + waiting, []
    final = [entry for entry in waiting if not again and is_final(entry)]
    left = resend([entry for entry in waiting if again or not is_final(entry)])
    refused += final + [entry for entry in left if is_final(entry)]
    store(REFUSED, refused)
    store(WAITING, [entry for entry in left if not is_final(entry)])
    TURNED.unlink(missing_ok=True)
    return len(refused)


def delete_old(names: list[str]) -> int:
    """Deletes the indexes of days before the retention, and returns the number of those that stay."""
    days = VALUES["retention_days"]
    if days is None:
        return len(names)
    command = ["timedatectl", "show", "--property", "NTPSynchronized", "--value"]
    if subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() != "yes":
        print("the clock is not synchronised: no index was deleted", file=sys.stderr)
        return len(names)
    oldest = f"{INDEX}-{datetime.date.today() - datetime.timedelta(days=days):%Y.%m.%d}"
    old = [name for name in names if name < oldest]
    for name in old:
        request("DELETE", f"/{name}")
        print(f"deleted index {name}")
    return len(names) - len(old)


def work(again: bool) -> None:
    """With the rights of the spool directory's owner. Prints the metrics."""
    metrics: dict[str, int] = {"up": 0}
    refused = sort_out(again)
    try:
        request("PUT", f"/_index_template/{INDEX}", json.dumps(TEMPLATE).encode())
        answer = request("GET", f"/_cat/indices/{INDEX}-*?format=json&h=index")
        form = re.compile(re.escape(INDEX) + r"-\d{4}\.\d\d\.\d\d")
        metrics["indexes"] = delete_old([row["index"] for row in answer if form.fullmatch(row["index"])])
        metrics["up"] = 1
    except (urllib.error.HTTPError, NoServerError, ValueError, KeyError, TypeError) as err:
        print(f"the search cluster does not do what was asked: {err}", file=sys.stderr)
    metrics["refused_documents"] = refused
    queues = [path for path in SPOOL.glob("clustergen-search.*") if path.suffix[1:].isdigit()]
    metrics["waiting_bytes"] = sum(path.stat().st_size for path in (*queues, WAITING, ERRORS) if path.exists())
    for name, value in metrics.items():
        print(f"# TYPE clustergen_logs_search_{name} gauge\nclustergen_logs_search_{name} {value}")


def as_owner(*words: str) -> str:
    """Output of this program with the rights of the spool directory's owner, who can exchange what is in it."""
    owner = SPOOL.stat()
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
    if VALUES["password_file"]:
        environment["CLUSTERGEN_PASSWORD"] = Path(VALUES["password_file"]).read_text(encoding="utf-8").strip()
    done = subprocess.run(
        [sys.executable, "-IS", __file__, *words], stdout=subprocess.PIPE, text=True, check=True, env=environment,
        user=owner.st_uid, group=owner.st_gid, extra_groups=[],
    )  # fmt: skip
    return done.stdout


def main(words: list[str]) -> None:
    if words[:1] == ["--turn"]:
        if not TURNED.exists() and ERRORS.exists() and ERRORS.stat().st_size:
            ERRORS.rename(TURNED)
            print("turned")
    elif words[:1] == ["--work"]:
        work("--resend" in words)
    elif socket.gethostname().partition(".")[0] == VALUES["sender"] and SPOOL.is_dir():
        if as_owner("--turn"):
            subprocess.run(["systemctl", "kill", "--signal=HUP", "--kill-who=main", "rsyslog.service"], check=True)
            time.sleep(2)  # rsyslogd opens a new file with its next write
        printed = as_owner("--work", *words)
        metrics = [line for line in printed.splitlines(True) if "clustergen_logs_search_" in line]
        sys.stderr.write("".join(line for line in printed.splitlines(True) if line not in metrics))
        if VALUES["metrics_file"]:
            command = ["/usr/local/sbin/clustergen-write", VALUES["metrics_file"]]
            subprocess.run(command, input="".join(metrics), text=True, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
