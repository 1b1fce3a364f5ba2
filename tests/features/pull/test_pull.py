"""Nodes that pull: what the program accepts from git, and what it runs; real git and ssh-keygen, no Ansible."""

from __future__ import annotations

import base64
import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, NamedTuple

import pytest

from clustergen.compile import validate
from strategies.trees import COMPUTE, HEAD, calls, manifest, node_files, run_script, runnable, tree_of

ROOT = Path(__file__).parents[3]
DAY = 86400
SCRIPT = "/usr/local/sbin/clustergen-pull"
SIGNERS = "/etc/clustergen/pull-signers"
MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
HOST = {"hostname": "echo c1.cluster.local"}
COMMENT = 'Jörg\'s laptop, "since" 2026 (#2) \\ %h $HOME'
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

    def commit(self, name: str, *, signed: bool = True, branch: str = "main", age: int = 0) -> str:
        """The hash of a new commit. `branch`: the one that its message names, empty for none; `age` in seconds."""
        trailer = f"clustergen-branch: {branch}"
        words = ["commit", "-q", "--allow-empty", "-m", name, *(["--trailer", trailer] if branch else [])]
        self.git(*words, *(["-S"] if signed else []), age=age)
        return self.git("rev-parse", "HEAD")

    def git(self, *words: str, age: int = 0) -> str:
        """Git in the repository, as the person who signs."""
        configured = {"user.name": "a", "user.email": "a@example.org", "gpg.format": "ssh"}
        configured["user.signingkey"] = str(self.directory / "key")
        options = [word for name, value in configured.items() for word in ("-c", f"{name}={value}")]
        return git(self.directory / "repository", *options, *words, age=age)

    def offer(self, raw: bytes) -> str:
        """The branch at a commit with these bytes."""
        command = ["git", "-C", str(self.directory / "repository"), "hash-object", "-t", "commit", "-w", "--literally"]
        done = subprocess.run([*command, "--stdin"], input=raw, capture_output=True, timeout=300, check=True)
        name = done.stdout.decode().strip()
        self.git("reset", "-q", "--hard")
        (self.directory / "repository/.git/refs/heads/main").write_text(f"{name}\n", encoding="utf-8")
        return name

    def raw(self, commit: str) -> bytes:
        command = ["git", "-C", str(self.directory / "repository"), "cat-file", "commit", commit]
        return subprocess.run(command, capture_output=True, timeout=300, check=True).stdout

    def add(self, size: int) -> None:
        """A new file of random bytes, which no pack makes smaller, for the next commit."""
        name = f"blob{time.time_ns()}"
        (self.directory / "repository" / name).write_bytes(os.urandom(size))
        self.git("add", name)

    def pull(self, *arguments: str, **programs: str) -> subprocess.CompletedProcess[str]:
        return run_script(self.text, {**PULLED, **programs}, self.directory, *arguments)

    def refusal(self, *arguments: str) -> str:
        """Why it applies nothing."""
        before = len(self.commits)
        done = self.pull(*arguments)
        assert done.returncode == 1, done.stderr
        assert len(self.commits) == before
        return done.stderr.partition("refused: ")[2]

    def applies(self, *arguments: str) -> bool:
        before = len(self.commits)
        done = self.pull(*arguments)
        assert done.returncode == 0, done.stderr
        return len(self.commits) == before + 1

    @property
    def commits(self) -> list[str]:
        """Commits that Ansible applied, in order."""
        return [call for call in calls(self.directory) if call.startswith("ansible-pull")]


def git(directory: Path, *words: str, age: int = 0) -> str:
    environment = {**os.environ, "GIT_COMMITTER_DATE": f"@{int(time.time()) - age} +0000"}
    command = ["git", "-C", str(directory), *words]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=True, env=environment
    ).stdout.strip()


def fetch_from(directory: Path, url: str) -> None:
    values = directory / "etc/clustergen/pull.sh"
    text, count = re.subn("^url=.*$", f"url={url}", values.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert count == 1
    values.write_text(text, encoding="utf-8")


def site(directory: Path, *, signed: bool) -> Site:
    keygen = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", COMMENT, "-f", str(directory / "key")]
    subprocess.run(keygen, check=True, timeout=300, stdin=subprocess.DEVNULL)
    repository = directory / "repository"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    pull = {"repository": f"file://{repository}", "programs": "/usr/sbin"}
    if signed:
        pull["signers"] = [(directory / "key.pub").read_text(encoding="utf-8").strip()]  # type: ignore[assignment]
    slurm = {"version": "24.11", "configless": True}
    tree = tree_of(manifest(nodes=[HEAD, MONITOR, COMPUTE], slurm=slurm, ansible={"pull": pull}), directory)
    elsewhere = {"/var/lib/clustergen-pull": directory / "state", "/var/lib/prometheus/node-exporter": directory}
    text = runnable(tree, "c1", SCRIPT, directory, elsewhere).read_text(encoding="utf-8")
    return Site(directory, text)


KEYS = {"ssh-ed25519": ("ed25519",), "ssh-rsa": ("rsa", "-b", "2048"), "ecdsa-sha2-nistp521": ("ecdsa", "-b", "521")}


def problem_of(directory: Path, **fields: object) -> str:
    """The error of a manifest that pulls with these fields; empty where it is valid."""
    pull = {"repository": "file:///r", **fields}
    path = directory / "manifest.yaml"
    data = manifest(ansible={"pull": pull}, slurm={"version": "24.11", "configless": True})
    path.write_text(json.dumps(data), encoding="utf-8")
    return "".join(one.message for one in validate(path).diagnostics if one.severity == "error")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KEYS)
def test_a_signer_is_a_key_that_ssh_keygen_reads(kind: str, tmp_path: Path) -> None:
    name, *size = KEYS[kind]
    keygen = ["ssh-keygen", "-q", "-t", name, *size, "-N", "", "-C", COMMENT, "-f", str(tmp_path / "key")]
    subprocess.run(keygen, check=True, timeout=300, stdin=subprocess.DEVNULL)
    line = (tmp_path / "key.pub").read_text(encoding="utf-8").strip()
    assert line.startswith(f"{kind} ")
    assert line.endswith(COMMENT)
    assert problem_of(tmp_path, signers=[line]) == ""
    _, encoded, _ = line.split(" ", 2)
    other = next(one for one in KEYS if one != kind)
    for wrong in (f"{kind} AAAA", f"{kind} {encoded[:-8]}", f"{other} {encoded}", f"{kind} {encoded[1:]}"):
        assert "is not a public SSH key" in problem_of(tmp_path, signers=[wrong]), wrong


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
def test_a_signed_commit_of_another_branch_is_refused(tmp_path: Path) -> None:
    """Also one whose author forgot to name a branch, or names it where Git reads no trailer."""
    one = site(tmp_path, signed=True)
    one.commit("next release", branch="testing")
    hint = "sign one with git commit -S --trailer 'clustergen-branch: main'"
    refusal = one.refusal()
    assert "is for branch 'testing', not for main" in refusal
    assert hint in " ".join(refusal.split())
    one.commit("clustergen-branch: main\n\nno trailer", branch="")
    assert "is for branch '', not for main" in one.refusal()
    one.commit("two\n\nclustergen-branch: testing", branch="main")
    assert "not for main" in one.refusal()
    one.commit("of this branch")
    assert one.applies()


@pytest.mark.slow
def test_the_signature_of_a_commit_covers_those_below_it(tmp_path: Path) -> None:
    """The person who signs a commit signs its tree and its history, whoever wrote it."""
    one = site(tmp_path, signed=True)
    one.commit("by somebody else", signed=False, branch="")
    one.commit("of another branch", branch="testing")
    one.commit("signed")
    assert one.applies()
    one.commit("by somebody else", signed=False, branch="")
    one.commit("signed")
    assert one.applies()


@pytest.mark.slow
def test_bounds_of_an_old_commit_on_a_node_without_history(tmp_path: Path) -> None:
    one = site(tmp_path, signed=True)
    old = one.commit("old", age=31 * DAY)
    assert "too old for the first on this node (ansible.pull.max_age)" in one.refusal()
    assert "the branch is at" in one.refusal("--accept", "0" * 40)
    assert one.applies("--accept", old)
    one.commit("still the oldest", age=30 * DAY)
    assert one.applies()
    newest = one.commit("newer")
    assert one.applies()

    # Without its repository the node still has the date of the newest commit that it accepted.
    shutil.rmtree(tmp_path / "state/repository.git")
    one.git("reset", "-q", "--hard", old)
    one.commit("a day old", age=DAY)
    assert "older than the newest that this node had" in one.refusal()
    one.git("reset", "-q", "--hard", newest)
    assert one.applies()
    one.commit("by a clock that is wrong", age=-2 * DAY)
    assert "which is yet to come: check the clocks" in one.refusal()


@pytest.mark.slow
def test_going_back_on_purpose(tmp_path: Path) -> None:
    """By a new commit on top, for all nodes; or by name on one node, if it has a signature and the branch is there."""
    one = site(tmp_path, signed=True)
    first = one.commit("first", age=2 * DAY)
    assert one.applies()
    bad = one.commit("a mistake", age=DAY)
    assert one.applies()
    one.git("revert", "--no-edit", "--no-commit", bad)
    one.commit("back")
    assert one.applies()
    one.git("reset", "-q", "--hard", first)
    assert f"clustergen-pull --accept {first}" in one.refusal()
    assert "usage: clustergen-pull [--accept COMMIT]" in one.refusal("--force")
    assert one.applies("--accept", first)
    assert one.applies()
    later = one.commit("later", age=DAY)
    assert one.applies()
    one.git("reset", "-q", "--hard", first)
    unsigned = one.commit("unsigned", signed=False)
    assert "has no accepted signature" in one.refusal("--accept", unsigned)
    one.git("reset", "-q", "--hard", later)
    one.commit("a clock that is slow", age=DAY + 3600)
    assert "older than the newest that this node had" in one.refusal()


def stored(directory: Path) -> dict[str, int]:
    """Names and sizes of the files in which the program keeps commits."""
    state = directory / "state"
    files = [each for each in state.rglob("*") if each.is_file() and each.name not in {"FETCH_HEAD", "lock"}]
    return {str(each.relative_to(state)): each.stat().st_size for each in files}


@pytest.mark.slow
def test_nothing_of_a_refused_commit_is_kept(tmp_path: Path) -> None:
    """Without a signature, too large, or without its history; accepted commits are not fetched again."""
    one = site(tmp_path, signed=True)
    one = one._replace(text=one.text.replace("\nlimit=2097152 ", "\nlimit=512 "))
    one.add(300_000)
    first = one.commit("first")
    assert one.applies()
    one.add(300_000)
    second = one.commit("second")
    assert one.applies()
    before = stored(tmp_path)
    for _ in range(2):
        one.add(200_000)
        one.commit("unsigned", signed=False)
        assert "has no accepted signature" in one.refusal()
        one.git("reset", "-q", "--hard", second)
    one.add(700_000)
    one.commit("large")
    assert "It may add at most 512 KiB" in one.refusal()
    git(tmp_path, "clone", "-q", "--bare", "--depth", "1", f"file://{tmp_path}/repository", "shallow")
    fetch_from(tmp_path, f"file://{tmp_path}/shallow")
    shallow = one._replace(text=one.text.replace("\nlimit=512 ", "\nlimit=2048 "))
    assert "the server has no complete history of the branch" in shallow.refusal()
    assert stored(tmp_path) == before
    refs = git(tmp_path / "state/repository.git", "for-each-ref", "--format=%(refname) %(objectname)")
    assert refs == f"refs/heads/accepted {second}"
    assert git(tmp_path / "state/repository.git", "rev-list", "accepted").split() == [second, first]


@pytest.mark.slow
def test_an_archive_that_unpacks_to_much_fills_no_memory(tmp_path: Path) -> None:
    one = site(tmp_path, signed=False)
    (tmp_path / "repository/zeros").write_bytes(bytes(48 << 20))
    one.git("add", "zeros")
    one.commit("few bytes")
    one.git("repack", "-adq")  # the other side sends the object as it is
    small = one._replace(text=one.text.replace("\nmemory=4194304 ", "\nmemory=40000 "))
    assert "the fetch failed" in small.refusal()
    assert one.applies()


@pytest.mark.slow
def test_a_server_of_plain_files_fills_no_disk(tmp_path: Path) -> None:
    """It sends many small files, and then nothing for minutes: the fetch ends all the same."""
    one = site(tmp_path, signed=False)
    for _ in range(4):
        one.add(150_000)
    one.commit("first")
    one.git("update-server-info")
    sent: list[int] = []
    end = threading.Event()

    class Files(http.server.SimpleHTTPRequestHandler):
        def copyfile(self, source: IO[bytes], outputfile: IO[bytes]) -> None:  # type: ignore[override]
            if sum(sent) > 350_000:
                end.wait(60)
            content = source.read()
            outputfile.write(content)
            sent.append(len(content))

        def log_message(self, *_: object) -> None:
            pass

    serve = functools.partial(Files, directory=str(tmp_path / "repository/.git"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        fetch_from(tmp_path, f"http://127.0.0.1:{server.server_port}/")
        small = one._replace(text=one.text.replace("\nlimit=2097152 ", "\nlimit=300 "))
        reason = small.refusal()
        assert sum(sent) > 350_000
        end.set()
        assert "It may add at most 300 KiB" in reason
        assert not (tmp_path / "state/candidate.git").exists()
        assert one.applies()
        server.shutdown()


def signature(raw: bytes) -> tuple[bytes, bytes, bytes]:
    """Headers before the signature, its header, and the message with the empty line before it."""
    headers, _, message = raw.partition(b"\n\n")
    start = headers.index(b"gpgsig ")
    return headers[:start], headers[start:] + b"\n", b"\n" + message


BEGIN = b"-----BEGIN SSH SIGNATURE-----\n "
END = b" -----END SSH SIGNATURE-----\n"
VARIANTS: dict[str, Callable[[bytes], bytes]] = {
    "a signature of another kind": lambda signed: signed + b"gpgsig-sha256 junk\n",
    "the same before it": lambda signed: b"gpgsig-sha256 junk\n" + signed,
    "a header that git skips": lambda signed: signed + b"gpgsig2 junk\n more\n",
    "its signature twice": lambda signed: signed + signed,
    "text after the signature": lambda signed: signed.replace(END, END + b" junk\n"),
    "an empty line after the signature": lambda signed: signed.replace(END, END + b" \n"),
    "a space in the signature": lambda signed: signed.replace(BEGIN, BEGIN + b" "),
    "a NUL after the signature": lambda signed: signed.replace(END, END[:-1] + b"\0\n"),
    "text before the signature": lambda signed: signed.replace(b"gpgsig ", b"gpgsig junk\n "),
}


@pytest.mark.slow
def test_a_commit_that_differs_where_its_signature_does_not_cover_it_is_refused(tmp_path: Path) -> None:
    """Git would accept it, and a node with such a commit refuses the honest one that follows the original."""
    one = site(tmp_path, signed=True)
    one.commit("first")
    assert one.applies()
    honest = one.commit("honest")
    reasons = {}
    for name, change in VARIANTS.items():
        before, signed, message = signature(one.raw(honest))
        assert change(signed) != signed
        one.offer(before + change(signed) + message)
        done = one.pull()
        reasons[name] = done.stderr.rpartition("refused: ")[2] if done.returncode == 1 else "applied"
    expected = ("has headers that git commit -S does not write", "has no accepted signature")
    assert not {name: reason for name, reason in reasons.items() if not any(each in reason for each in expected)}
    one.git("update-ref", "refs/heads/main", honest)
    one.git("reset", "-q", "--hard")
    # Covered by the signature: a signed tag that is merged, and another encoding.
    one.git("checkout", "-q", "-b", "vendor")
    one.git("commit", "-q", "--allow-empty", "-m", "of a vendor")
    one.git("tag", "-s", "-m", "of a vendor", "v1")
    one.git("checkout", "-q", "main")
    words = ["-m", "merge", "-m", "clustergen-branch: main"]
    one.git("-c", "i18n.commitEncoding=ISO-8859-1", "merge", "-q", "--no-ff", "-S", *words, "v1")
    assert re.search(rb"\nencoding ISO-8859-1\nmergetag object .*\ngpgsig ", one.raw("HEAD"), re.DOTALL)
    assert one.applies()


ORDER = 2**252 + 27742317777372353535851937790883648493


def same_content(raw: bytes) -> bytes:
    """The commit with another valid signature: OpenSSH's Ed25519 accepts a scalar plus the order of the group."""
    before, signed, message = signature(raw)
    lines = signed.split(b"\n ")
    blob = base64.b64decode(b"".join(lines[1:-1]))
    scalar = int.from_bytes(blob[-32:], "little") + ORDER
    text = base64.b64encode(blob[:-32] + scalar.to_bytes(32, "little"))
    return before + b"\n ".join([lines[0], text, lines[-1]]) + message


@pytest.mark.slow
def test_another_signature_of_the_same_content_locks_no_node_out(tmp_path: Path) -> None:
    one = site(tmp_path, signed=True)
    one.commit("first")
    assert one.applies()
    honest = one.commit("honest")
    following = one.commit("following")
    changed = one.offer(same_content(one.raw(honest)))
    assert one.applies()
    assert git(tmp_path / "state/repository.git", "rev-parse", "accepted") == changed
    one.git("update-ref", "refs/heads/main", following)
    assert one.applies()


@pytest.mark.slow
def test_the_guides_commands_sign_what_nodes_accept(tmp_path: Path) -> None:
    page = (ROOT / "docs/scale.md").read_text(encoding="utf-8")
    (setup,) = re.findall(r"^```sh sign\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    one = site(tmp_path, signed=True)
    one.git("config", "user.name", "a")
    one.git("config", "user.email", "a@example.org")
    script = setup.replace("~/.ssh/release", str(tmp_path / "key"))
    subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path / "repository", check=True, timeout=300)
    git(tmp_path / "repository", "commit", "-q", "--allow-empty", "-m", "more memory for jobs")
    (check,) = re.findall(r"^```sh check\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    check = check.replace(f"rendered/overlays/pull_node{SIGNERS}", str(tmp_path / "etc/clustergen/pull-signers"))
    subprocess.run(["bash", "-e", "-c", check], cwd=tmp_path / "repository", check=True, timeout=300)
    assert one.applies()
    git(tmp_path / "repository", "checkout", "-q", "-b", "testing")
    git(tmp_path / "repository", "commit", "-q", "--allow-empty", "-m", "an idea")
    git(tmp_path / "repository", "checkout", "-q", "main")
    git(tmp_path / "repository", "merge", "-q", "--ff-only", "testing")
    assert "is for branch 'testing', not for main" in one.refusal()
    git(tmp_path / "repository", "reset", "-q", "--hard", "HEAD~")
    git(tmp_path / "repository", "merge", "-q", "--no-ff", "--no-edit", "testing")
    assert one.applies()


@pytest.mark.slow
def test_an_interrupted_run_does_not_stop_the_next_ones(tmp_path: Path) -> None:
    one = site(tmp_path, signed=False)
    one.commit("first")
    (tmp_path / "state/repository.git").mkdir(parents=True)  # `git init` was killed
    first = one.pull()
    assert first.returncode == 0, first.stderr
    packs = ("repository.git/objects/pack/tmp_pack_", "checkout/.git/objects/pack/tmp_pack_", "candidate.git/x")
    left = [tmp_path / "state" / name for name in (*packs, "repository.git/HEAD.lock", "checkout/.git/index.lock")]
    for each in left:
        each.parent.mkdir(parents=True, exist_ok=True)
        each.touch()
    second = one.pull(**{"ansible-pull": "umask >&2; ls $(dirname $0)/../state/checkout/.git >&2"})
    assert second.returncode == 0, second.stderr
    assert "0022" in second.stderr
    assert "index.lock" not in second.stderr
    assert not [each for each in left if each.exists()]


@pytest.mark.slow
def test_a_failed_run_leaves_the_mark_of_the_last_good_one(tmp_path: Path) -> None:
    one = site(tmp_path, signed=False)
    first = one.commit("first")
    (tmp_path / "etc/clustergen/secrets.yml").write_text("secrets_given: {}\n", encoding="utf-8")
    assert one.pull().returncode == 0
    assert f"-e @{tmp_path}/etc/clustergen/secrets.yml" in one.commits[0]
    one.commit("second")
    assert one.pull(**{"ansible-pull": "exit 2"}).returncode == 2
    assert (tmp_path / "state/commit").read_text(encoding="utf-8").strip() == first
    assert first in (tmp_path / "clustergen-pull.prom").read_text(encoding="utf-8")
    lock = f'exec 8>{tmp_path}/state/lock; flock 8; exec "$@"'
    held = subprocess.run(
        ["bash", "-c", lock, "-", "bash", str(tmp_path / "script")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert held.returncode == 1
    assert "another run of clustergen-pull is active" in held.stderr


@pytest.mark.slow
def test_only_nodes_without_dependants_pull(tmp_path: Path) -> None:
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


@pytest.mark.slow
@pytest.mark.parametrize("branch", ["main", "release/24.11", "a..b", "main.lock", "a./b", "a/b.lock/c", "x.", "a//b"])
def test_a_branch_is_one_that_git_accepts(branch: str, tmp_path: Path) -> None:
    result = subprocess.run(["git", "check-ref-format", "--branch", branch], check=False, timeout=300)
    assert (problem_of(tmp_path, branch=branch) == "") == (result.returncode == 0)


@pytest.mark.parametrize("repository", ["git@host:-x", "git@-host:x", "ssh://-host/x", "https://-h/x", "ext::sh -c id"])
def test_a_repository_is_no_option_of_a_program(repository: str, tmp_path: Path) -> None:
    assert problem_of(tmp_path, repository=repository)
