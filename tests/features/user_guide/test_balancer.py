"""The real HAProxy shares requests between servers of a job on two nodes, as its job script starts it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.job_templates import guided, runnable_jobs

pytestmark = [pytest.mark.real, pytest.mark.slow]

# In place of vLLM: a server with its options that answers with the name of its node.
SERVER = """
import argparse, http.server, ssl
parser = argparse.ArgumentParser()
parser.add_argument("words", nargs="*")
for name in ("host", "port", "tensor-parallel-size", "ssl-certfile", "ssl-keyfile", "ssl-ca-certs", "ssl-cert-reqs"):
    parser.add_argument("--" + name)
options = parser.parse_args()
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(options.host.encode())
    def log_message(self, *words): pass
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(options.ssl_certfile, options.ssl_keyfile)
context.load_verify_locations(options.ssl_ca_certs)
context.verify_mode = ssl.VerifyMode(int(options.ssl_cert_reqs))
server = http.server.ThreadingHTTPServer((options.host, int(options.port)), Handler)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""
# In place of the API: asks the balancer, with the job's key and without one, and again when a server is gone.
CLIENT = """
import glob, http.client, os, ssl, time
host, port = os.environ["SERVER"].removeprefix("https://").split(":")
keys = os.environ["KEYS"]
def ask(has_key=True):
    context = ssl.create_default_context(cafile=keys + "/cert.pem")
    if has_key:
        context.load_cert_chain(keys + "/cert.pem", keys + "/key.pem")
    connection = http.client.HTTPSConnection(host, int(port), context=context, timeout=20)
    try:
        connection.request("GET", "/")
        return connection.getresponse().read().decode().split("\\n")[0]
    except (OSError, http.client.HTTPException) as error:
        return type(error).__name__
def until(*nodes):
    for _ in range(300):
        answers = sorted(ask() for _ in nodes)
        if answers == [*nodes]:
            break
        time.sleep(0.2)
    return answers
# A server that is late with an answer to a health check gets no requests for a while.
print("both:", *until("n1", "n1", "n1", "n2", "n2", "n2"))
print("no key:", ask(has_key=False))
os.kill(int(open("/tmp/n2.pid").read()), 9)
print("one:", *until("n1", "n1", "n1", "n1"), flush=True)
"""
STAND_INS = {
    "scontrol": "printf 'n1\\nn2\\n'",
    "srun": 'while [[ $1 == -* ]]; do shift; done; [[ $1 != mkdir && $1 != rm ]] || exec "$@"\n'
    'for node in n1 n2; do SLURMD_NODENAME=$node "$@" & done; wait',
    "vllm": 'echo $$ >/tmp/$SLURMD_NODENAME.pid; exec python3 /job/server.py "$@"',
    "python3": 'if [[ $1 == -m ]]; then exec /usr/bin/python3 /job/client.py; else exec /usr/bin/python3 "$@"; fi',
}
JOB = {"SLURM_JOB_ID": "4711", "SLURM_NNODES": "2", "SLURM_CPUS_PER_TASK": "2", "SLURMD_NODENAME": "n1", "USER": "ada"}


def test_requests_go_to_all_nodes_in_turn_and_to_those_that_are_left(tmp_path: Path) -> None:
    job = tmp_path / "job"
    (job / "bin").mkdir(parents=True)
    scripts = runnable_jobs(guided(user_guide={"templates": ["vllm-replicas"]}), tmp_path)
    text = scripts["jobs/vllm-replicas.sh"].replace(str(tmp_path / "library.sh"), "/job/library.sh")
    library = (tmp_path / "library.sh").read_text(encoding="utf-8").replace(" inter 2s ", " inter 500ms ")
    for name, content in {"job.sh": text, "library.sh": library, "server.py": SERVER, "client.py": CLIENT}.items():
        (job / name).write_text(content, encoding="utf-8")
    for name, body in STAND_INS.items():
        (job / "bin" / name).write_text(f"#!/bin/bash\n{body}\n", encoding="utf-8")
        (job / "bin" / name).chmod(0o755)
    root = root_with("haproxy")
    assert root is not None, "clustergen setup parsers has not installed haproxy"
    box = sandbox.Sandbox(
        root, files=((job, "/job"),), hosts="127.0.0.1 localhost n1\n127.0.0.2 n2\n", is_one_user=True
    )
    environment = {**JOB, "SLURM_JOB_NODELIST": "n[1-2]", "PATH": "/job/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    outcome = sandbox.run(box, ["/bin/bash", "/job/job.sh", "my/model"], timeout=300, env=environment)
    lines = dict(line.split(": ", 1) for line in outcome.stdout.splitlines() if re.match("both|no key|one", line))
    assert lines == {"both": "n1 n1 n1 n2 n2 n2", "no key": lines.get("no key", ""), "one": "n1 n1 n1 n1"}, outcome
    assert lines["no key"] in ("SSLError", "RemoteDisconnected", "ConnectionResetError")
