"""Nodes that pull: what the program accepts from git, and what it runs; real git and ssh-keygen, no Ansible."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from strategies.trees import COMPUTE, HEAD, calls, manifest, node_files, run_script, text_of, tree_of

SCRIPT = "/usr/local/sbin/clustergen-pull"
SIGNERS = "/etc/clustergen/pull-signers"
MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
HOST = {"hostname": "echo c1.cluster.local"}
PGP = """#!/bin/sh
cat >/dev/null
echo '-----BEGIN PGP SIGNATURE-----
-----END PGP SIGNATURE-----
[GNUPG:] GOODSIG 0123456789ABCDEF vendor
[GNUPG:] VALIDSIG 0123456789ABCDEF0123456789ABCDEF01234567
[GNUPG:] TRUST_ULTIMATE 0 pgp'
echo '[GNUPG:] SIG_CREATED D 22 8 00 1700000000 0123456789ABCDEF0123456789ABCDEF01234567' >&2
"""
PULLED = {**HOST, "ansible-pull": 'printf "%s\\n" "$PYTHONPATH" "$ANSIBLE_CONFIG" >&2'}


class Site(NamedTuple):
    """A repository with a branch `main`, the program of a node that follows it, and a key that it accepts."""

    directory: Path
    text: str

    def commit(self, name: str, *, signed: bool = True) -> str:
        """The hash of a new commit."""
        words = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "gpg.format=ssh"]
        words += ["-c", f"user.signingkey={self.directory / 'key'}", "commit", "-q", "--allow-empty", "-m", name]
        git(self.directory / "repository", *words, *(["-S"] if signed else []))
        return git(self.directory / "repository", "rev-parse", "HEAD")

    def pull(self, **programs: str) -> subprocess.CompletedProcess[str]:
        return run_script(self.text, {**PULLED, **programs}, self.directory)

    @property
    def commits(self) -> list[str]:
        """What Ansible got, in order."""
        return [call for call in calls(self.directory) if call.startswith("ansible-pull")]


def git(directory: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(directory), *words], capture_output=True, text=True, timeout=30, check=True)
    return done.stdout.strip()


def site(directory: Path, *, signed: bool) -> Site:
    keygen = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "release", "-f", str(directory / "key")]
    subprocess.run(keygen, check=True, timeout=30, stdin=subprocess.DEVNULL)
    repository = directory / "repository"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    pull = {"repository": f"file://{repository}", "programs": "/usr/sbin"}
    if signed:
        pull["signers"] = [(directory / "key.pub").read_text(encoding="utf-8").strip()]  # type: ignore[assignment]
    slurm = {"version": "24.11", "configless": True}
    tree = tree_of(manifest(nodes=[HEAD, MONITOR, COMPUTE], slurm=slurm, ansible={"pull": pull}), directory)
    text = text_of(tree, "c1", SCRIPT).replace("/var/lib/clustergen-pull", str(directory / "state"))
    text = text.replace("/etc/clustergen/", f"{directory}/").replace(
        "/var/lib/prometheus/node-exporter", str(directory)
    )
    if signed:
        (directory / "pull-signers").write_text(text_of(tree, "c1", SIGNERS), encoding="utf-8")
    return Site(directory, text)


@pytest.mark.slow
def test_only_signed_commits_that_follow_each_other_reach_ansible(tmp_path: Path) -> None:
    one = site(tmp_path, signed=True)
    first = one.commit("first")
    done = one.pull()
    assert done.returncode == 0, done.stderr
    assert f"{tmp_path}/state/checkout/lib\n{tmp_path}/state/checkout/rendered/ansible.cfg" in done.stderr
    assert "--limit c1 -e cluster_reboots=false rendered/pull.yml" in one.commits[0]
    metrics = (tmp_path / "clustergen-pull.prom").read_text(encoding="utf-8")
    assert f'clustergen_pull_info{{commit="{first}"}} 1' in metrics

    # A key of another kind is none of the signers, whatever root's keyring says of it.
    pgp = tmp_path / "pgp"
    pgp.write_text(PGP, encoding="utf-8")
    pgp.chmod(0o755)
    words = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", f"gpg.program={pgp}"]
    git(tmp_path / "repository", *words, "commit", "-q", "--allow-empty", "-S", "-m", "by a key in root's keyring")
    assert "has no accepted signature" in one.pull(gpg=PGP).stderr
    git(tmp_path / "repository", "reset", "-q", "--hard", first)
    one.commit("by somebody else", signed=False)
    refused = one.pull()
    assert refused.returncode == 1
    assert "has no accepted signature" in refused.stderr
    git(tmp_path / "repository", "reset", "-q", "--hard", first)
    second = one.commit("second")
    assert one.pull().returncode == 0
    git(tmp_path / "repository", "reset", "-q", "--hard", first)
    rolled_back = one.pull()
    assert rolled_back.returncode == 1
    assert f"commit {first} does not follow {second}, which this node has" in rolled_back.stderr
    assert len(one.commits) == 2
    assert git(tmp_path / "state/repository.git", "rev-parse", "accepted") == second


@pytest.mark.slow
def test_an_interrupted_run_does_not_stop_the_next_ones(tmp_path: Path) -> None:
    one = site(tmp_path, signed=False)
    one.commit("first")
    (tmp_path / "state/repository.git").mkdir(parents=True)  # `git init` was killed
    first = one.pull()
    assert first.returncode == 0, first.stderr
    for lock in ("repository.git/refs/heads/candidate.lock", "checkout/.git/index.lock"):
        (tmp_path / "state" / lock).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "state" / lock).touch()
    second = one.pull(**{"ansible-pull": "umask >&2; ls $(dirname $0)/../state/checkout/.git >&2"})
    assert second.returncode == 0, second.stderr
    assert "0022" in second.stderr
    assert "index.lock" not in second.stderr


@pytest.mark.slow
def test_a_failed_run_leaves_the_mark_of_the_last_good_one(tmp_path: Path) -> None:
    one = site(tmp_path, signed=False)
    first = one.commit("first")
    (tmp_path / "secrets.yml").write_text("secrets_given: {}\n", encoding="utf-8")
    assert one.pull().returncode == 0
    assert f"-e @{tmp_path}/secrets.yml" in one.commits[0]
    one.commit("second")
    assert one.pull(**{"ansible-pull": "exit 2"}).returncode == 2
    assert (tmp_path / "state/commit").read_text(encoding="utf-8").strip() == first
    assert first in (tmp_path / "clustergen-pull.prom").read_text(encoding="utf-8")
    lock = f'exec 8>{tmp_path}/state/lock; flock 8; exec "$@"'
    held = subprocess.run(
        ["bash", "-c", lock, "-", "bash", str(tmp_path / "script")],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert held.returncode == 1
    assert "another run of clustergen-pull is active" in held.stderr


def test_only_nodes_that_nobody_depends_on_pull(tmp_path: Path) -> None:
    store = {"name": "store", "type": "gpu", "address": "10.0.0.9"}
    nodes = [HEAD, COMPUTE, store, {**store, "name": "mix", "address": "10.0.0.8", "roles": ["slurm-compute", "login"]}]
    servers = {"management": "store", "metadata": "store", "storage": "store", "storage_directories": ["/data"]}
    data = {"type": "beegfs", "version": "8.2", "mount": "/mnt/data", "mgmtd": "10.0.0.9", "servers": servers}
    tree = tree_of(
        manifest(
            nodes=nodes,
            storage={"data": data},
            slurm={"version": "24.11", "configless": True},
            ansible={"pull": {"repository": "git@git.example.org:cluster.git"}},
        ),
        tmp_path,
    )
    assert tree.groups["pull_node"] == ("c1", "c2", "c3", "c4")
    assert all(SCRIPT not in node_files(tree, host) for host in ("head", "store", "mix"))
