"""Servers of job templates answer their owner alone, and what stays open is named: scripts with stand-ins for programs.

`test_job_servers_real.py` attacks the real programs.
"""

from __future__ import annotations

import re
import socket
import ssl
from pathlib import Path

import pytest

from clustergen.catalogue.job_templates import template_kinds
from clustergen.render.engine import carried
from strategies.job_runs import SERVER, SERVERS, run
from strategies.job_templates import all_templates, runnable_jobs


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The templates of a cluster that can run all of them."""
    return runnable_jobs(all_templates(), tmp_path_factory.mktemp("templates"))


@pytest.mark.slow
@pytest.mark.parametrize("name", SERVERS)
def test_secrets_of_a_server_are_private_in_no_command_line_and_end_with_the_job(
    scripts: dict[str, str], tmp_path: Path, name: str
) -> None:
    job = run(scripts[f"jobs/{name}.sh"], tmp_path)
    assert job.code == 0, job.output
    assert re.search(rf"^{SERVERS[name]} ", job.calls, re.MULTILINE)
    modes = [line.split(maxsplit=2) for line in job.modes.splitlines()]
    inside = [(mode, kind) for mode, kind, path in modes if re.search(r"/(token|key\.pem)$", path)]
    assert inside
    assert set(inside) == {("600", "f")}
    tops = {mode for mode, kind, path in modes if kind == "d" and Path(path).parents[1] == tmp_path}
    assert tops == {"700"}
    secrets = [line for line in job.secrets.splitlines() if line and not line.startswith("-----")]
    assert secrets
    assert min(map(len, secrets)) > 20
    for secret in secrets:
        assert secret not in job.calls + job.output + job.environment
    assert job.left == []


IN_CONTAINERS = ("pytorch-container", "pytorch-podman", "triton", "triton-replicas")
"""Templates whose programs have a /tmp of their container."""


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in template_kinds() if name not in IN_CONTAINERS])
def test_programs_use_a_directory_that_other_users_cannot_open(
    scripts: dict[str, str], tmp_path: Path, name: str
) -> None:
    """Not a name in a shared /tmp that another user can create first, as dask-scratch-space or torchinductor_ada."""
    (tmp_path / "program").write_text(f"#!/bin/bash\n{SERVER}", encoding="utf-8")
    (tmp_path / "program").chmod(0o755)
    (tmp_path / "mine").mkdir()  # variables of the user come along with sbatch
    mine = dict.fromkeys(("private", "temporary", "each"), str(tmp_path / "mine"))
    words = {"array": ("python3", "my_program.py"), "mpi": (f"{tmp_path}/program",), "transfer": ("a/", "b/")}
    job = run(scripts[f"jobs/{name}.sh"], tmp_path, *words.get(name, ()), IMAGE=str(tmp_path), **mine)
    assert (tmp_path / "mine").exists()
    assert job.code == 0, job.output
    temporary = re.findall(r"^TMPDIR=(.*)$", job.environment, re.MULTILINE)
    assert len(temporary) == 1
    assert Path(temporary[0]).parent == tmp_path / "tmp"
    assert f"700 d {temporary[0]}\n" in job.modes
    shared = [line for line in job.calls.splitlines() if not line.startswith(("mktemp", "mkdir", "rm", "srun"))]
    assert not [line for line in shared if str(tmp_path / "tmp") in line.replace(temporary[0], "")]
    assert name != "dask" or f" --local-directory {temporary[0]}" in job.calls
    assert name != "pytorch-apptainer" or f" --bind {temporary[0]}:/tmp --env TMPDIR=/tmp " in job.calls
    assert job.left == []


@pytest.mark.slow
def test_only_the_job_s_key_opens_the_server(scripts: dict[str, str], tmp_path: Path) -> None:
    """TLS as uvicorn sets it up from the options of vLLM; the certificate holds for the node and for a tunnel's end."""
    calls = run(scripts["jobs/vllm.sh"], tmp_path).calls
    assert re.search(r"^vllm .* --ssl-ca-certs \S+/cert.pem --ssl-cert-reqs 2$", calls, re.MULTILINE)
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    server.verify_mode = ssl.CERT_REQUIRED
    server.load_verify_locations(certificate)
    for has_key in (True, False):
        client = ssl.create_default_context(cafile=str(certificate))
        if has_key:
            client.load_cert_chain(certificate, key)
            handshake(server, client)
        else:
            with pytest.raises(ssl.SSLError, match="PEER_DID_NOT_RETURN_A_CERTIFICATE"):
                handshake(server, client)


def handshake(server: ssl.SSLContext, client: ssl.SSLContext) -> None:
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = (
        client.wrap_bio(to_client, to_server, server_hostname="localhost"),
        server.wrap_bio(to_server, to_client, server_side=True),
    )
    for end in (*ends, *ends):
        try:
            end.do_handshake()
        except ssl.SSLWantReadError:
            continue


@pytest.mark.slow
def test_dask_refuses_what_is_not_encrypted_and_shows_no_page(scripts: dict[str, str], tmp_path: Path) -> None:
    job = run(scripts["jobs/dask.sh"], tmp_path)
    variables = dict(line.partition("=")[::2] for line in job.environment.splitlines() if line.startswith("DASK_"))
    comm = "DASK_DISTRIBUTED__COMM__"
    assert (variables[f"{comm}DEFAULT_SCHEME"], variables[f"{comm}REQUIRE_ENCRYPTION"]) == ("tls", "True")
    files = {name: Path(path).name for name, path in variables.items() if "__TLS__" in name}
    ends = {
        f"{comm}TLS__{end}__{part}": f"{part.lower()}.pem"
        for end in ("SCHEDULER", "WORKER", "CLIENT")
        for part in ("CERT", "KEY")
    }
    assert files == {f"{comm}TLS__CA_FILE": "cert.pem", **ends}
    assert {variables[f"DASK_DISTRIBUTED__{end}__HTTP__ROUTES"] for end in ("SCHEDULER", "WORKER")} == {"[]"}
    assert len(re.findall(r"^dask .* --no-dashboard --dashboard-address 127.0.0.1:0 ", job.calls, re.MULTILINE)) == 2


def test_a_ray_without_tokens_is_not_started(scripts: dict[str, str], tmp_path: Path) -> None:
    job = run(scripts["jobs/ray.sh"], tmp_path, OLD="yes")
    assert job.code == 1
    assert "install 2.52 or later" in job.output
    assert "ray start" not in job.calls
    assert job.left == []


@pytest.mark.parametrize("name", ["jupyter", "vllm-replicas", "triton", "ray", "tensorflow"])
def test_a_port_in_use_is_named_with_the_way_out(scripts: dict[str, str], tmp_path: Path, name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        job = run(scripts[f"jobs/{name}.sh"], tmp_path, JOB_PORT=str(port))
    assert job.code == 1
    assert f"port {port} of localhost is in use" in job.output
    assert f"JOB_PORT={port + 1} sbatch {name}.sh" in job.output
    assert job.left == []


def test_a_port_that_no_option_closes_is_named_in_script_output_and_guide(
    scripts: dict[str, str], tmp_path: Path
) -> None:
    kinds = {name: kind.open for name, kind in template_kinds().items()}
    warned = {name for name in kinds if "has no authentication" in scripts[f"jobs/{name}.sh"]}
    assert warned | {"mpi"} == {name for name, reason in kinds.items() if reason}
    assert re.search(r"^# MPI does not authenticate", scripts["jobs/mpi.sh"], re.MULTILINE)
    section = scripts["guide.md"].partition("## What other users can reach")[2].partition("\n## ")[0]
    assert {name for name in kinds if f"`{name}.sh`" in section} == {*warned, "mpi", "pytorch-podman"}
    output = run(scripts["jobs/pytorch-torchrun.sh"], tmp_path).output
    assert "The port at which the processes of PyTorch meet has no authentication" in output


def test_no_rendezvous_loads_pickles_from_a_port(scripts: dict[str, str], tmp_path: Path) -> None:
    """torchrun's c10d rendezvous, also that of --standalone, unpickles what anybody writes to its port."""
    calls = run(scripts["jobs/pytorch-torchrun.sh"], tmp_path).calls
    assert re.search(
        r"^torchrun --nnodes=2 --node-rank=0 .* --master-addr=localhost --master-port=24711 ", calls, re.MULTILINE
    )
    texts = [*scripts.values(), (carried("programs") / "jobs/job.sh").read_text(encoding="utf-8")]
    starts = [line for text in texts for line in text.splitlines() if not line.lstrip().startswith("#")]
    assert not [line for line in starts if re.search(r"--rdzv|--standalone|--network=host", line)]


def test_the_guide_has_the_commands_of_a_tunnel(scripts: dict[str, str]) -> None:
    section = scripts["guide.md"].partition("## Servers of a job")[2].partition("\n## ")[0]
    assert "ssh -N -L PORT:NODE:PORT $USER@login1" in section
    assert "ssh $USER@login1 cat DIRECTORY/token" in section
    assert "`vllm-replicas.sh`, `triton.sh` and `triton-replicas.sh` has the commands" in section
