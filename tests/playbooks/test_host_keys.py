"""The playbook that gathers host keys, so that nodes know each other."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from strategies.played_nodes import Cluster


def made(place: Path, kind: str) -> str:
    """A new public key."""
    command = ["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", str(place)]
    subprocess.run(command, check=True, timeout=300)
    return place.with_suffix(".pub").read_text(encoding="ascii").strip()


@pytest.mark.slow
def test_the_file_has_the_keys_of_all_nodes_and_nothing_else(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, ["liar", "silent"])
    keys = {name: made(tmp_path / f"key-{name}", "ed25519") for name in ("head", "good1", "n1", "n2")}
    keys["good2"] = made(tmp_path / "key-good2", "ecdsa")
    lines = {name: [key] for name, key in keys.items() if name != "n2"}
    lines["n1"] += [f"head {keys['n1']}", f"@cert-authority * {keys['n1']}", "ssh-ed25519 {{lookup('pipe','id')}}"]
    for name, rows in lines.items():
        answer = {"changed": True, "rc": 0, "stdout": "\n".join(rows), "stderr": "", "cmd": "cat"}
        cluster.set_answer(f"{name}.command", answer)
    (cluster.answers / "n2.command").write_text("no answer", encoding="utf-8")
    file = tmp_path / "site/all/etc/ssh/ssh_known_hosts"
    file.parent.mkdir(parents=True)
    bare = {name: " ".join(key.split()[:2]) for name, key in keys.items()}
    file.write_text(f"n2,10.0.0.22 {bare['n2']}\ngone,10.0.0.9 {bare['n1']}\n", encoding="ascii")

    code, output, _ = cluster.play("-e", f"file={file}", playbook="clustergen.cluster.host_keys")
    assert code == 2, output  # n2 did not answer
    addresses = {"good1": 11, "good2": 12, "head": 1, "n1": 21, "n2": 22}
    first, *rest = file.read_text(encoding="ascii").splitlines()
    assert first.startswith("# ")
    assert rest == [f"{name},10.0.0.{last} {bare[name]}" for name, last in addresses.items()], output
    for name in (*addresses, "10.0.0.12"):
        subprocess.run(["ssh-keygen", "-F", name, "-f", str(file)], check=True, timeout=300, capture_output=True)
